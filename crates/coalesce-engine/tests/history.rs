//! When files were last changed, as commits tell, in repositories that git makes.
#![cfg(feature = "git")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, path::Path, process::Command};

use coalesce_engine::history;
use coalesce_model::TreePath;

const FIRST: i64 = 1_700_000_000;

fn git(root: &Path, words: &[&str], seconds: i64) {
    let date = format!("{seconds} +0000");
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=n",
            "-c",
            "user.email=e",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(words)
        .envs([("GIT_AUTHOR_DATE", &date), ("GIT_COMMITTER_DATE", &date)])
        .current_dir(root)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {words:?}: {said}");
}

fn commit(root: &Path, files: &[(&str, &str)], seconds: i64) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    git(root, &["add", "-A"], seconds);
    git(root, &["commit", "-q", "-m", "c"], seconds);
}

fn paths(names: &[&str]) -> Vec<TreePath> {
    names
        .iter()
        .map(|name| TreePath::new(name).unwrap())
        .collect()
}

#[test]
fn the_last_commit_that_changed_a_file_tells_when() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    git(root, &["init", "-q"], FIRST);
    commit(
        root,
        &[("a.py", "1"), ("deep/er/b.py", "1"), ("c.py", "1")],
        FIRST,
    );
    commit(root, &[("deep/er/b.py", "2")], FIRST + 10);
    commit(root, &[("deep/er/b.py", "1"), ("d.py", "1")], FIRST + 20);
    fs::remove_file(root.join("c.py")).unwrap();
    commit(root, &[("e.py", "1")], FIRST + 30);
    commit(root, &[("c.py", "1")], FIRST + 40);
    fs::write(root.join("e.py"), "2").unwrap();
    fs::write(root.join("f.py"), "1").unwrap();
    let names = ["a.py", "c.py", "d.py", "deep/er/b.py", "e.py", "f.py"];
    let told = history(root, &paths(&names)).unwrap();
    let changed: Vec<(&str, i64)> = told
        .changed
        .iter()
        .map(|(path, at)| (path.as_str(), at - FIRST))
        .collect();
    let expected = [
        ("a.py", 0),
        ("c.py", 40),
        ("d.py", 20),
        ("deep/er/b.py", 20),
        ("e.py", 30),
    ];
    assert_eq!(changed, expected);
    assert_eq!(told.uncommitted, paths(&["e.py", "f.py"]));
    assert!(told.commit.is_some_and(|commit| commit.len() == 40));
    // A tree below the top of its repository.
    let below = history(&root.join("deep"), &paths(&["er/b.py"])).unwrap();
    assert_eq!(
        below.changed.into_values().collect::<Vec<_>>(),
        [FIRST + 20]
    );
}

#[test]
fn what_a_shallow_clone_does_not_have_is_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).unwrap();
    git(&from, &["init", "-q"], FIRST);
    commit(&from, &[("a.py", "1"), ("b.py", "1")], FIRST);
    commit(&from, &[("a.py", "2")], FIRST + 10);
    commit(&from, &[("a.py", "3")], FIRST + 20);
    let url = format!("file://{}", from.display());
    git(
        folder.path(),
        &["clone", "-q", "--depth", "2", &url, "to"],
        FIRST,
    );
    let told = history(&to, &paths(&["a.py", "b.py"])).unwrap();
    assert_eq!(told.changed.get(&paths(&["a.py"])[0]), Some(&(FIRST + 20)));
    assert_eq!(told.changed.len(), 1);
}

#[test]
fn where_there_is_no_repository_nothing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.py"), "1").unwrap();
    let told = history(folder.path(), &paths(&["a.py"])).unwrap();
    assert_eq!(told, coalesce_engine::History::default());
}

/// Commits of one branch, of which each but the first changes one file alone.
fn commit_often(root: &Path, commits: i64) {
    let mut stream = String::new();
    for number in 0..commits {
        let seconds = FIRST + number;
        let files = match number {
            0 => "M 644 inline a.py\ndata 1\n1\nM 644 inline b.py\ndata 1\n1\n".to_owned(),
            _ => {
                let text = number.to_string();
                format!("M 644 inline b.py\ndata {}\n{text}\n", text.len())
            }
        };
        stream +=
            &format!("commit refs/heads/main\ncommitter n <e> {seconds} +0000\ndata 1\nc\n{files}");
    }
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(root)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut import.stdin.take().unwrap(), stream.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    git(root, &["reset", "-q", "--hard"], FIRST);
}

#[test]
fn so_many_commits_are_looked_back() {
    for (commits, told_of_the_first) in [(4_000, true), (4_001, false)] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        git(root, &["init", "-q"], FIRST);
        commit_often(root, commits);
        let told = history(root, &paths(&["a.py", "b.py"])).unwrap();
        let newest = told.changed.get(&paths(&["b.py"])[0]);
        assert_eq!(newest, Some(&(FIRST + commits - 1)));
        assert_eq!(
            told.changed.contains_key(&paths(&["a.py"])[0]),
            told_of_the_first
        );
    }
}
