//! What is told *resolved* compiles and answers as before: small Rust crates and workspaces, each with one thing that
//! is easily overlooked, changed by the program and held against the compiler.
//!
//! `data/meaning-rust/*.cases` has them, in the form of `trees`. A tree without a manifest in its root is a package
//! called `krate`. Every tree is given to `cargo check --workspace --all-targets`, which may not come to fail or to
//! warn, and to checks of its own. `known.txt` lists the trees of which the word is still wrong, and is exact, so that
//! it only shrinks. Of the others each third one is tried, and all of them with `COALESCE_TREES=all`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
    time::Duration,
};

use rayon::prelude::*;

use super::trees::{Tree, read, run};

/// How long one program may take where others take the processors.
const PATIENCE: Duration = Duration::from_secs(300);

/// Of the trees that are right, one of so many is tried each time.
const SAMPLE: usize = 3;

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

/// Whether the word about a tree is wrong; `None` where the tree cannot be tried here.
fn is_wrong(tree: &Tree) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    for root in [&before, &after] {
        tree.lay_out(root);
        let manifest = root.join("Cargo.toml");
        if !manifest.exists() {
            fs::write(manifest, MANIFEST).unwrap();
        }
    }
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("meaning-rust");
    let target = |name: &str| match tree.registry {
        true => shared.join(name),
        false => folder.path().join("target").join(name),
    };
    if tree.change(&after, PATIENCE).as_deref() != Some("resolved") {
        return Some(false);
    }
    let mut checks = vec![CHECK];
    checks.extend(tree.checks.iter().map(String::as_str));
    for check in checks {
        let now = answer(check, &after, &target("after"));
        if check == CHECK && now.code == Some(0) && now.told.is_empty() {
            continue;
        }
        let was = answer(check, &before, &target("before"));
        if was.code != Some(0) {
            return None;
        }
        if !now.is_as(&was) {
            return Some(true);
        }
    }
    Some(false)
}

#[test]
fn what_is_told_resolved_compiles_as_before() {
    let known: BTreeSet<&str> = include_str!("data/meaning-rust/known.txt")
        .lines()
        .collect();
    let all = std::env::var_os("COALESCE_TREES").is_some_and(|which| which == "all");
    let trees = read("meaning-rust");
    let tried: Vec<&Tree> = trees
        .iter()
        .enumerate()
        .filter(|(at, tree)| all || at % SAMPLE == 0 || known.contains(tree.name.as_str()))
        .map(|(_, tree)| tree)
        .collect();
    let outcomes: Vec<_> = tried
        .par_iter()
        .map(|tree| (tree.name.as_str(), is_wrong(tree)))
        .collect();
    let of = |outcome: Option<bool>| -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        found.extend(
            outcomes
                .iter()
                .filter(|one| one.1 == outcome)
                .map(|one| one.0),
        );
        found
    };
    let skipped = of(None);
    println!(
        "{} trees of {}, not tried for what is not installed: {skipped:?}",
        tried.len(),
        trees.len()
    );
    let expected: BTreeSet<&str> = known.difference(&skipped).copied().collect();
    assert_eq!(
        of(Some(true)),
        expected,
        "told resolved, and not as before; `known.txt` lists those that are known"
    );
    assert!(
        skipped.len() * 4 < tried.len(),
        "too few trees could be tried"
    );
}
