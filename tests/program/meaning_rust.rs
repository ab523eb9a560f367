//! What is told *resolved* compiles and answers as before: small Rust crates and workspaces, each with one thing that
//! is easily overlooked, changed by the program and held against the compiler.
//!
//! `data/meaning-rust/*.cases` has them, in the form of `trees`. A tree without a manifest in its root is a package
//! called `krate`. Every tree is given to `cargo check --workspace --all-targets`, which may not come to fail or to
//! warn, and to checks of its own. `known.txt` lists the trees of which the word is still wrong, and is exact, so that
//! it only shrinks. Of the others each third one is tried, and all of them with `COALESCE_TREES=all`.
//!
//! `data/meaning-rust-typical` has larger ones, written in the shape of well-known crates, with changes that were drawn at
//! random (`draw.py` there): each tenth is tried. With all trees, what is told *not proven* is looked at as well, and how
//! many came to what is printed.
//!
//! `data/meaning-rust-systems` has workspaces of two to four crates in the shape of GPU and systems projects, and is tried alike.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use rayon::prelude::*;
use tempfile::TempDir;

use super::trees::{Tree, read, run};

/// How long one program may take where others take the processors.
const PATIENCE: Duration = Duration::from_secs(300);

const MANIFEST: &str = "[package]\nname = \"krate\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

const CHECK: &str = "cargo check -q --workspace --all-targets --offline";

/// What one check came to.
#[derive(PartialEq)]
struct Answer {
    code: Option<i32>,
    /// Errors and warnings by their texts, and how often.
    told: BTreeMap<String, usize>,
    said: String,
}

impl Answer {
    /// Whether it is as good as another one: nothing is told that was not.
    fn is_as(&self, before: &Self) -> bool {
        let mut told = self.told.iter();
        self.code == before.code
            && self.said == before.said
            && told.all(|(text, times)| before.told.get(text).is_some_and(|was| times <= was))
    }
}

fn answer(check: &str, root: &Path, target: &Path) -> Answer {
    let judged = ["cargo check", "cargo doc"]
        .iter()
        .any(|verb| check.contains(verb));
    let line = match judged {
        true => format!("{check} --message-format=json"),
        false => check.to_owned(),
    };
    let mut command = Command::new("sh");
    command.args(["-c", &line]);
    command.env("CARGO_TARGET_DIR", target);
    for (name, value) in [
        ("CARGO_NET_OFFLINE", "true"),
        ("CARGO_INCREMENTAL", "0"),
        ("CARGO_PROFILE_DEV_DEBUG", "0"),
    ] {
        command.env(name, value);
    }
    let (code, said) = run(&mut command, root, PATIENCE);
    let mut told = BTreeMap::new();
    let said = match judged {
        true => {
            for text in diagnostics(&said) {
                *told.entry(text).or_default() += 1;
            }
            String::new()
        }
        false if check.contains("cargo test") => sums(&said),
        false => said,
    };
    Answer { code, told, said }
}

/// What the compiler tells, without places and sums.
fn diagnostics(said: &str) -> Vec<String> {
    let lines = said.lines();
    let messages = lines.filter_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        let message = line.get("message")?;
        let text = message.get("message")?.as_str()?.to_owned();
        let level = message.get("level")?.as_str()?;
        (level != "failure-note" && !text.contains("emitted")).then_some(text)
    });
    messages.collect()
}

/// How many tests passed, failed and were passed over, of all programs together.
fn sums(said: &str) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for line in said.lines().filter(|line| line.starts_with("test result")) {
        let words: Vec<&str> = line.split([' ', ';']).collect();
        for pair in words.windows(2) {
            if let [number, what @ ("passed" | "failed" | "ignored")] = pair
                && let Ok(number) = number.parse::<u64>()
            {
                *sums.entry(what).or_default() += number;
            }
        }
    }
    format!("{sums:?}")
}

/// What comes of the word about a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// Told resolved, and as before.
    Right,
    /// Told resolved, and not as before; or refused, and written all the same.
    Wrong,
    /// Told not proven, and as before, if it was looked at.
    Unproven,
    /// Told not proven, and not as before.
    UnprovenDiffers,
    Refused,
    /// A check does not pass before the change, for what is not installed here.
    Untried,
}

/// The checks of trees that begin alike: what they say before is asked once.
struct Judge<'a> {
    folder: TempDir,
    before: BTreeMap<&'a str, Answer>,
}

impl<'a> Judge<'a> {
    fn new() -> Self {
        let (folder, before) = (tempfile::tempdir().unwrap(), BTreeMap::new());
        Self { folder, before }
    }

    fn lay_out(&self, tree: &Tree, name: &str) -> PathBuf {
        let root = self.folder.path().join(name);
        if root.exists() {
            fs::remove_dir_all(&root).unwrap();
        }
        tree.lay_out(&root);
        let manifest = root.join("Cargo.toml");
        if !manifest.exists() {
            fs::write(manifest, MANIFEST).unwrap();
        }
        root
    }

    fn target(&self, tree: &Tree, name: &str) -> PathBuf {
        match tree.registry {
            true => Path::new(env!("CARGO_TARGET_TMPDIR"))
                .join("meaning-rust")
                .join(name),
            false => self.folder.path().join("target").join(name),
        }
    }

    fn before(&mut self, tree: &Tree, check: &'a str) -> &Answer {
        if !self.before.contains_key(check) {
            let root = self.lay_out(tree, "before");
            let said = answer(check, &root, &self.target(tree, "before"));
            self.before.insert(check, said);
        }
        &self.before[check]
    }

    /// What comes of a tree; where `unproven` does not ask for it, what is told not proven is not looked at.
    fn outcome(&mut self, tree: &'a Tree, unproven: bool) -> Outcome {
        let after = self.lay_out(tree, "after");
        let (same, differs) = match tree.change(&after, PATIENCE).as_deref() {
            Some("resolved") => (Outcome::Right, Outcome::Wrong),
            Some(_) if unproven => (Outcome::Unproven, Outcome::UnprovenDiffers),
            Some(_) => return Outcome::Unproven,
            None if tree.stands(&after) => return Outcome::Refused,
            None => return Outcome::Wrong,
        };
        let target = self.target(tree, "after");
        for check in [CHECK]
            .into_iter()
            .chain(tree.checks.iter().map(String::as_str))
        {
            let now = answer(check, &after, &target);
            if check == CHECK && now.code == Some(0) && now.told.is_empty() {
                continue;
            }
            let was = self.before(tree, check);
            if was.code != Some(0) {
                return Outcome::Untried;
            }
            if !now.is_as(was) {
                return differs;
            }
        }
        same
    }
}

/// Holds the word about the trees against the compiler; `known` lists those of which it is wrong. Without `all`, one of
/// `sample` trees is tried, and those that are known.
fn hold(trees: &[Tree], known: &str, sample: usize) {
    let known: BTreeSet<&str> = known.lines().collect();
    let all = std::env::var_os("COALESCE_TREES").is_some_and(|which| which == "all");
    let tried: Vec<&Tree> = trees
        .iter()
        .enumerate()
        .filter(|(at, tree)| all || at % sample == 0 || known.contains(tree.name.as_str()))
        .map(|(_, tree)| tree)
        .collect();
    let outcomes: Vec<(&str, Outcome)> = tried
        .par_chunk_by(|one, other| one.files == other.files)
        .flat_map_iter(|alike| {
            let mut judge = Judge::new();
            let mut outcomes = Vec::new();
            for &tree in alike {
                outcomes.push((tree.name.as_str(), judge.outcome(tree, all)));
            }
            outcomes
        })
        .collect();
    let mut found: BTreeMap<Outcome, BTreeSet<&str>> = BTreeMap::new();
    for (name, outcome) in &outcomes {
        found.entry(*outcome).or_default().insert(name);
    }
    println!("{} trees of {}", tried.len(), trees.len());
    for (outcome, names) in &found {
        match outcome {
            Outcome::Right => println!("{outcome:?}: {}", names.len()),
            _ => println!("{outcome:?}: {}: {names:?}", names.len()),
        }
    }
    let untried = found.remove(&Outcome::Untried).unwrap_or_default();
    let expected: BTreeSet<&str> = known.difference(&untried).copied().collect();
    assert_eq!(
        found.remove(&Outcome::Wrong).unwrap_or_default(),
        expected,
        "told resolved, and not as before; `known.txt` lists those that are known"
    );
    assert!(
        untried.len() * 4 < tried.len(),
        "too few trees could be tried"
    );
}

#[test]
fn what_is_told_resolved_compiles_as_before() {
    let known = include_str!("data/meaning-rust/known.txt");
    hold(&read("meaning-rust"), known, 3);
}

#[test]
fn what_is_told_resolved_of_typical_crates_compiles_as_before() {
    let known = include_str!("data/meaning-rust-typical/known.txt");
    hold(&read("meaning-rust-typical"), known, 10);
}

#[test]
fn what_is_told_resolved_of_systems_workspaces_compiles_as_before() {
    let known = include_str!("data/meaning-rust-systems/known.txt");
    hold(&read("meaning-rust-systems"), known, 10);
}
