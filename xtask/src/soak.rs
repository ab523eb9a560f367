//! `cargo xtask soak`: what needs minutes to show itself. The tests that soak run for ten seconds
//! in CI and as long as they are told here.

use std::process::Command;

use anyhow::{Context as _, bail};

use crate::repository::Repository;

const HELP: &str = "\
cargo xtask soak [--minutes N] [NAME…]

Runs the soaking tests whose name has one of these parts, all of them without one, for so many
minutes each; 5 unless told.
";

/// Test binaries with tests that soak: the names of those have `soak` in them. What is written to a
/// tree soaks without a program around it, too: `power` replays what a loss of power leaves.
const SOAKS: &[Soak] = &[
    Soak::of("core-gpu-memory", &["--test", "soak"]),
    Soak::of("core-gpu", &["--test", "soak"]),
    Soak::of("coalesce", &["--test", "cases"]),
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

/// Runs the soaks, one after another.
pub fn run(repository: &Repository, words: Vec<String>) -> anyhow::Result<()> {
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return Ok(());
    }
    let mut minutes = 5.0_f64;
    let mut names = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--minutes" {
            let value = words.next().context("--minutes needs a value")?;
            minutes = value.parse().context("--minutes takes a number")?;
        } else if word.starts_with('-') {
            bail!("there is no option `{word}`\n\n{HELP}");
        } else {
            names.push(word);
        }
    }
    anyhow::ensure!(minutes > 0.0, "--minutes must be more than nothing");
    if names.is_empty() {
        names.push("soak".to_owned());
    }
    for soak in SOAKS {
        let package = soak.package;
        let mut cargo = Command::new("cargo");
        cargo
            .args(["test", "--release", "-p", package])
            .args(soak.target)
            .arg("--")
            .args(&names)
            .args(soak.also)
            .args(["--nocapture", "--test-threads=1"])
            .env("COALESCE_SOAK_SECONDS", format!("{}", minutes * 60.0))
            .current_dir(&repository.root);
        if !cargo.status().context("failed to start cargo")?.success() {
            bail!("{package} does not hold");
        }
    }
    if names.iter().any(|name| SCHEDULES.0.contains(name.as_str())) {
        try_schedules(repository)?;
    }
    Ok(())
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
