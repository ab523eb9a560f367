//! `cargo xtask soak`: what needs minutes to show itself. The tests that soak run for ten seconds
//! in CI and as long as they are told here.

use std::{fs, path::Path, process::Command};

use anyhow::{Context as _, bail};

use crate::{put_back, repository::Repository};

const HELP: &str = "\
cargo xtask soak [NAME…] [OPTIONS]

Runs the soaking tests whose name has one of these parts, all of them without one.

  --minutes N     for so long each; 5 unless told
  --rounds N      so many rounds each instead: edits 200, kills 250 (four kills each), hostile trees 500,
                  manifests, plans and journals 10,000, sources 2,000, scaling 190, many 20 are what
                  docs/evidence/attacks.md is about
  --from N        the number of the first round; a failure names its own
  --program PATH  tries this build of coalesce, instead of one that is made here
  --keep DIR      trees on which something failed, and the round that is under way

Names of the toolkit's: kills, kills_at_every_call, a_full_disk_at_every_call, edits, hostile_trees,
manifests, sources, journals, plans, caches, facts (fuzzing of both languages without a program around
them), scaling, many and entries (whether twice the file, twice the modules, twice the manifest take twice
the time), power. `put-back` alone puts errors that the runtime once had back into a copy of the sources,
and sees that its tests find each.
";

/// Test binaries with tests that soak: the names of those have `soak` in them. What is written to a
/// tree soaks without a program around it, too: `power` replays what a loss of power leaves.
const SOAKS: &[Soak] = &[
    Soak::of("core-gpu-memory", &["--test", "soak"]),
    Soak::of("core-gpu-etcd", &["--test", "slots"]),
    Soak::of("core-gpu-postgres", &["--test", "slots"]),
    Soak::of("core-gpu", &["--test", "soak"]),
    Soak::of("coalesce-tests", &["--test", "program"]),
    Soak {
        also: Some("power"),
        ..Soak::of("coalesce-apply", &["--lib"])
    },
];

/// One test binary.
struct Soak {
    package: &'static str,
    target: &'static [&'static str],
    /// Tests that soak under another name.
    also: Option<&'static str>,
}

impl Soak {
    const fn of(package: &'static str, target: &'static [&'static str]) -> Self {
        Self {
            package,
            target,
            also: None,
        }
    }
}

/// What the command line asks for.
#[derive(Default)]
struct Options {
    names: Vec<String>,
    /// Variables that the tests read, and their values.
    variables: Vec<(&'static str, String)>,
}

/// Options, and the variables that tell them to the tests.
const OPTIONS: [(&str, &str); 4] = [
    ("--rounds", "COALESCE_SOAK_ROUNDS"),
    ("--from", "COALESCE_SOAK_ROUND"),
    ("--program", "COALESCE_SOAK_PROGRAM"),
    ("--keep", "COALESCE_SOAK_KEEP"),
];

impl Options {
    fn read(words: Vec<String>) -> anyhow::Result<Self> {
        let mut options = Self::default();
        let mut minutes = 5.0_f64;
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .with_context(|| format!("{word} needs a value"))
            };
            if word == "--minutes" {
                minutes = value()?.parse().context("--minutes takes a number")?;
            } else if let Some((_, variable)) = OPTIONS.iter().find(|(name, _)| *name == word) {
                let value = value()?;
                options
                    .variables
                    .push((variable, absolute(variable, value)?));
            } else if word.starts_with('-') {
                bail!("there is no option `{word}`\n\n{HELP}");
            } else {
                options.names.push(word);
            }
        }
        anyhow::ensure!(minutes > 0.0, "--minutes must be more than nothing");
        let seconds = format!("{}", minutes * 60.0);
        options.variables.push(("COALESCE_SOAK_SECONDS", seconds));
        if options.names.is_empty() {
            options.names.push("soak".to_owned());
        }
        Ok(options)
    }
}

/// Tests run elsewhere than this command.
fn absolute(variable: &str, value: String) -> anyhow::Result<String> {
    if !matches!(variable, "COALESCE_SOAK_PROGRAM" | "COALESCE_SOAK_KEEP") {
        return Ok(value);
    }
    Ok(std::path::absolute(value)?.display().to_string())
}

/// Runs the soaks, one after another.
pub fn run(repository: &Repository, words: Vec<String>) -> anyhow::Result<()> {
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return Ok(());
    }
    if words == ["put-back"] {
        return put_back::run_all(repository);
    }
    let options = Options::read(words)?;
    for soak in SOAKS {
        run_soak(repository, soak, &options)?;
    }
    let mut names = options.names.iter();
    if names.any(|name| SCHEDULES.0.contains(name.as_str())) {
        try_schedules(repository)?;
    }
    Ok(())
}

/// Runs the tests of one package, if any is asked for.
fn run_soak(repository: &Repository, soak: &Soak, options: &Options) -> anyhow::Result<()> {
    let package = soak.package;
    let asks_for_all = options.names.iter().any(|name| name == "soak");
    let also = soak.also.filter(|_| asks_for_all);
    if also.is_none() && !has_a_test(&repository.root, package, &options.names) {
        // Building it may take longer than the soak that was asked for.
        println!("{package}: no test is called so");
        return Ok(());
    }
    let mut cargo = Command::new("cargo");
    cargo
        .args(["test", "--release", "-p", package])
        .args(soak.target)
        .arg("--")
        .args(&options.names)
        .args(also)
        .args(["--nocapture", "--test-threads=1"])
        .envs(options.variables.iter().cloned())
        .current_dir(&repository.root);
    if !cargo.status().context("failed to start cargo")?.success() {
        bail!("{package} does not hold");
    }
    Ok(())
}

/// Whether a function or a module of a package's tests has one of these parts in its name, as its sources say.
fn has_a_test(root: &Path, package: &str, parts: &[String]) -> bool {
    let folder = match package {
        "coalesce-tests" => root.join("tests/program"),
        package => root.join("crates").join(package),
    };
    let last = |part: &str| part.rsplit("::").next().unwrap_or_default().to_owned();
    let parts: Vec<String> = parts.iter().map(|part| last(part)).collect();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs")
                && names_any(&fs::read_to_string(&path).unwrap_or_default(), &parts)
            {
                return true;
            }
        }
    }
    false
}

/// Whether a function or a module of a source has one of these parts in its name.
fn names_any(text: &str, parts: &[String]) -> bool {
    let mut names = text.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches("pub ");
        line.strip_prefix("fn ").or(line.strip_prefix("mod "))
    });
    names.any(|name| parts.iter().any(|part| name.contains(part)))
}

/// The test of the pool that tries schedules at random, and how many it tries here: of all soaks, or
/// of those called `schedules`.
const SCHEDULES: (&str, u32) = ("soak random_schedules", 10_000);

fn try_schedules(repository: &Repository) -> anyhow::Result<()> {
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "test",
            "--release",
            "-p",
            "core-gpu-memory",
            "--test",
            "model",
        ])
        .args(["random_schedules", "--", "--nocapture"])
        .env("COALESCE_SCHEDULES", SCHEDULES.1.to_string())
        .current_dir(&repository.root);
    if !cargo.status().context("failed to start cargo")?.success() {
        bail!("core-gpu-memory does not hold on every schedule");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A package that is passed over has no such test; where one may be, it is built and asked.
    #[test]
    fn packages_are_passed_over_by_the_names_of_their_tests() {
        let root = crate::root::repository_root();
        let has = |package: &str, name: &str| has_a_test(&root, package, &[name.to_owned()]);
        for package in SOAKS.iter().map(|soak| soak.package) {
            assert!(
                has(package, "soak") || package == "coalesce-apply",
                "{package}"
            );
        }
        assert!(has("core-gpu-etcd", "slots") && has("core-gpu-postgres", "soak::soak_slots"));
        assert!(!has("coalesce-apply", "slots") && !has("coalesce-tests", "slots"));
    }
}
