//! What is told *resolved* runs as before: small Python trees, each with one thing that a reader of imports alone does
//! not see, changed by the program and run before and after.
//!
//! `data/meaning/*.cases` has them: `=== name`, what is asked of the program (`@move …`), what is run (`@check …`, a
//! line for the shell), then the files (`### path`). `known.txt` lists the trees of which the word is still wrong; the
//! list is exact, so that it only shrinks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rayon::prelude::*;

/// How long a check may run: some trees show that two locks have become one.
const PATIENCE: Duration = Duration::from_secs(20);

/// One tree.
#[derive(Default)]
struct Tree {
    name: String,
    call: String,
    checks: Vec<String>,
    files: Vec<(String, String)>,
}

fn read() -> Vec<Tree> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("program/data/meaning");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "cases")
    });
    paths.sort();
    let mut trees: Vec<Tree> = Vec::new();
    for path in paths {
        for line in fs::read_to_string(path).unwrap().lines() {
            if let Some(name) = line.strip_prefix("=== ") {
                let name = name.trim().to_owned();
                trees.push(Tree {
                    name,
                    ..Tree::default()
                });
                continue;
            }
            let Some(tree) = trees.last_mut() else {
                continue;
            };
            match (line.strip_prefix("### "), tree.files.last_mut()) {
                (Some(path), _) => tree.files.push((path.trim().to_owned(), String::new())),
                (None, Some((_, text))) => {
                    text.push_str(line);
                    text.push('\n');
                }
                (None, None) => match line.strip_prefix("@check ") {
                    Some(check) => tree.checks.push(check.to_owned()),
                    None => tree
                        .call
                        .push_str(line.strip_prefix('@').unwrap_or_default()),
                },
            }
        }
    }
    trees
}

impl Tree {
    fn lay_out(&self, root: &Path) {
        for (path, text) in &self.files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    /// What each check says and ends with.
    fn run(&self, root: &Path) -> Vec<(Option<i32>, String)> {
        let checks = self.checks.iter();
        checks
            .map(|check| run(Command::new("sh").args(["-c", check]), root))
            .collect()
    }

    /// The grade that the program gives, when it changes the tree.
    fn change(&self, root: &Path) -> Option<String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"));
        command.args(self.call.split_whitespace());
        command.args([
            "--root",
            ".",
            "--format",
            "json",
            "--apply",
            "--allow-unproven",
            "--yes",
        ]);
        let (_, said) = run(&mut command, root);
        let said: serde_json::Value = serde_json::from_str(&said).ok()?;
        said["answer"]["grade"].as_str().map(str::to_owned)
    }
}

fn run(command: &mut Command, root: &Path) -> (Option<i32>, String) {
    let said = tempfile::tempfile().unwrap();
    let mut child = command
        .current_dir(root)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .stdout(said.try_clone().unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None if begun.elapsed() > PATIENCE => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut said = said;
    std::io::Seek::rewind(&mut said).unwrap();
    (status, std::io::read_to_string(said).unwrap_or_default())
}

/// Whether the word about a tree is wrong; `None` where the tree cannot be run here.
fn is_wrong(tree: &Tree) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    tree.lay_out(&before);
    tree.lay_out(&after);
    let was = tree.run(&before);
    if was.iter().any(|(code, _)| *code != Some(0)) {
        return None;
    }
    let grade = tree.change(&after);
    Some(grade.as_deref() == Some("resolved") && tree.run(&after) != was)
}

#[test]
fn what_is_told_resolved_runs_as_before() {
    let trees = read();
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
