//! What is told *resolved* runs as before: small Python trees, each with one thing that a reader of imports alone does
//! not see, changed by the program and run before and after.
//!
//! `data/meaning/*.cases` has them, in the form of `trees`. `known.txt` lists the trees of which the word is still
//! wrong; the list is exact, so that it only shrinks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::{collections::BTreeSet, path::Path, process::Command, time::Duration};

use rayon::prelude::*;

use super::trees::{Tree, read, run};

/// How long a check may run: some trees show that two locks have become one.
const PATIENCE: Duration = Duration::from_secs(20);

/// What each check says and ends with.
fn answers(tree: &Tree, root: &Path) -> Vec<(Option<i32>, String)> {
    let checks = tree.checks.iter();
    checks
        .map(|check| run(Command::new("sh").args(["-c", check]), root, PATIENCE))
        .collect()
}

/// Whether the word about a tree is wrong; `None` where the tree cannot be run here.
fn is_wrong(tree: &Tree) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    tree.lay_out(&before);
    tree.lay_out(&after);
    let was = answers(tree, &before);
    if was.iter().any(|(code, _)| *code != Some(0)) {
        return None;
    }
    let grade = tree.change(&after, PATIENCE);
    Some(grade.as_deref() == Some("resolved") && answers(tree, &after) != was)
}

#[test]
fn what_is_told_resolved_runs_as_before() {
    let trees = read("meaning");
    let outcomes: Vec<_> = trees
        .par_iter()
        .map(|tree| (&tree.name, is_wrong(tree)))
        .collect();
    let skipped = outcomes.iter().filter(|(_, wrong)| wrong.is_none());
    let skipped: Vec<_> = skipped.map(|(name, _)| name.as_str()).collect();
    println!(
        "{} trees, skipped for what is not installed: {skipped:?}",
        trees.len()
    );
    let known: BTreeSet<&str> = include_str!("data/meaning/known.txt").lines().collect();
    let wrong = outcomes.iter().filter(|(_, wrong)| *wrong == Some(true));
    let wrong: BTreeSet<&str> = wrong.map(|(name, _)| name.as_str()).collect();
    let expected: BTreeSet<&str> = known
        .iter()
        .copied()
        .filter(|name| !skipped.contains(name))
        .collect();
    assert_eq!(
        wrong, expected,
        "told resolved, and not as before; `known.txt` lists those that are known"
    );
    assert!(
        trees.len() > skipped.len() * 4,
        "too few trees could be run"
    );
}
