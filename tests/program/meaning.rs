//! What is told *resolved* runs as before: small Python trees, each with one thing that a reader of imports alone does
//! not see, changed by the program and run before and after.
//!
//! `data/meaning/*.cases` has them, in the form of `trees`. `data/meaning-typical` has larger ones, reduced from well-known
//! packages, with changes that were drawn at random, and `data/meaning-typical-2` those of other packages, with the rule
//! beside them: each tenth is tried, and all of them with `COALESCE_TREES=all`.
//! `known.txt` lists the trees of which the word is still wrong; the list is exact, so that it only shrinks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::{collections::BTreeSet, path::Path, process::Command, time::Duration};

use rayon::prelude::*;

use super::trees::{Tree, read, run};

/// How long a check may run: some trees show that two locks have become one.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same for trees that import some dozens of modules.
const LONGER_PATIENCE: Duration = Duration::from_secs(180);

/// What each check says and ends with.
fn answers(tree: &Tree, root: &Path, patience: Duration) -> Vec<(Option<i32>, String)> {
    let checks = tree.checks.iter();
    checks
        .map(|check| run(Command::new("sh").args(["-c", check]), root, patience))
        .collect()
}

/// Whether the word about a tree is wrong; `None` where the tree cannot be run here.
fn is_wrong(tree: &Tree, patience: Duration) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    tree.lay_out(&before);
    tree.lay_out(&after);
    let was = answers(tree, &before, patience);
    if was.iter().any(|(code, _)| *code != Some(0)) {
        return None;
    }
    let grade = tree.change(&after, patience);
    Some(grade.as_deref() == Some("resolved") && answers(tree, &after, patience) != was)
}

/// Holds the word about each tree against what it does; `known` lists those of which it is wrong.
fn hold(trees: &[Tree], known: &str, patience: Duration) {
    let outcomes: Vec<_> = trees
        .par_iter()
        .map(|tree| (tree.name.as_str(), is_wrong(tree, patience)))
        .collect();
    let named = |word: Option<bool>| {
        let found = outcomes.iter().filter(move |(_, wrong)| *wrong == word);
        found.map(|(name, _)| *name).collect::<BTreeSet<&str>>()
    };
    let (skipped, wrong) = (named(None), named(Some(true)));
    println!(
        "{} trees, skipped for what is not installed: {skipped:?}",
        trees.len()
    );
    let tried =
        |name: &&str| trees.iter().any(|tree| tree.name == **name) && !skipped.contains(*name);
    let expected: BTreeSet<&str> = known.lines().filter(tried).collect();
    assert_eq!(
        wrong, expected,
        "told resolved, and not as before; `known.txt` lists those that are known"
    );
    assert!(
        trees.len() > skipped.len() * 4,
        "too few trees could be run"
    );
}

#[test]
fn what_is_told_resolved_runs_as_before() {
    hold(
        &read("meaning"),
        include_str!("data/meaning/known.txt"),
        PATIENCE,
    );
}

/// Of the typical trees, one of so many is tried each time.
const SAMPLE: usize = 10;

/// Holds each tenth of the trees of a folder, or all of them.
fn hold_sample(folder: &str, known: &str) {
    let all = std::env::var_os("COALESCE_TREES").is_some_and(|which| which == "all");
    let step = if all { 1 } else { SAMPLE };
    let trees: Vec<Tree> = read(folder).into_iter().step_by(step).collect();
    hold(&trees, known, LONGER_PATIENCE);
}

#[test]
fn what_is_told_resolved_of_typical_packages_runs_as_before() {
    hold_sample(
        "meaning-typical",
        include_str!("data/meaning-typical/known.txt"),
    );
}

#[test]
fn what_is_told_resolved_of_other_typical_packages_runs_as_before() {
    hold_sample(
        "meaning-typical-2",
        include_str!("data/meaning-typical-2/known.txt"),
    );
}
