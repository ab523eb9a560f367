//! What counts as uncommitted. The tree's repository is made by `git`, where there is one.

use std::{fs, path::Path, process::Command};

use super::{path, write};
use crate::{bytes_before, uncommitted};

/// Runs `git`; `false` where there is none.
fn git(root: &Path, arguments: &[&str]) -> bool {
    let identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"];
    let output = Command::new("git")
        .args(identity)
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no git");
        return false;
    };
    assert!(output.status.success(), "{output:?}");
    true
}

/// Commits all that there is.
fn commit_all(root: &Path) {
    git(root, &["add", "."]);
    git(root, &["commit", "-qm", "m"]);
}

fn dirty(root: &Path, names: &[&str]) -> Vec<String> {
    let paths: Vec<_> = names.iter().map(|name| path(name)).collect();
    let dirty = uncommitted(root, &paths).unwrap();
    dirty.iter().map(ToString::to_string).collect()
}

#[test]
fn changed_staged_and_unknown_files_are_dirty_and_no_others() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for name in [
        "clean.py",
        "changed.py",
        "staged.py",
        "sub/deep.py",
        "sub/other.py",
    ] {
        write(root, name, "one\n");
    }
    let all = [
        "clean.py",
        "changed.py",
        "staged.py",
        "unknown.py",
        "none.py",
        "sub/deep.py",
    ];
    assert!(dirty(root, &all).is_empty(), "no repository");
    if !git(root, &["init", "-q"]) {
        return;
    }
    assert_eq!(
        dirty(root, &["clean.py", "none.py"]),
        ["clean.py"],
        "nothing committed"
    );
    commit_all(root);
    write(root, "changed.py", "two\n");
    write(root, "staged.py", "two\n");
    write(root, "unknown.py", "one\n");
    write(root, "sub/other.py", "two\n");
    git(root, &["add", "staged.py"]);
    assert_eq!(dirty(root, &all), ["changed.py", "staged.py", "unknown.py"]);
    assert_eq!(
        dirty(&root.join("sub"), &["deep.py", "other.py"]),
        ["other.py"]
    );
    // A tree that the repository does not hold is none of its business.
    write(root, "scratch/x.py", "x");
    assert!(dirty(&root.join("scratch"), &["x.py"]).is_empty());
    git(root, &["gc", "-q"]);
    assert_eq!(
        dirty(root, &all),
        ["changed.py", "staged.py", "unknown.py"],
        "packed"
    );
}

#[test]
fn line_ends_count_unless_the_repository_converts_them() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, "a.py", "one\ntwo\n");
    if !git(root, &["init", "-q"]) {
        return;
    }
    commit_all(root);
    write(root, "a.py", "one\r\ntwo\r\n");
    assert_eq!(dirty(root, &["a.py"]), ["a.py"]);
    git(root, &["config", "core.autocrlf", "true"]);
    assert!(dirty(root, &["a.py"]).is_empty());
    write(root, "a.py", "one\r\n2\r\n");
    assert_eq!(dirty(root, &["a.py"]), ["a.py"]);
}

#[test]
fn filters_and_hooks_of_the_repository_are_never_run() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, "a.py", "one\n");
    write(root, ".gitattributes", "*.py filter=evil\n");
    if !git(root, &["init", "-q"]) {
        return;
    }
    commit_all(root);
    let mark = root.join("ran");
    let run = format!("touch {}", mark.display());
    for key in [
        "filter.evil.clean",
        "filter.evil.smudge",
        "core.fsmonitor",
        "core.sshCommand",
    ] {
        git(root, &["config", key, &run]);
    }
    write(root, "a.py", "two\n");
    assert_eq!(dirty(root, &["a.py"]), ["a.py"]);
    assert!(!mark.exists());
}

#[test]
fn a_damaged_repository_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, "a.py", "one\n");
    if !git(root, &["init", "-q"]) {
        return;
    }
    commit_all(root);
    fs::remove_dir_all(root.join(".git/objects")).unwrap();
    fs::create_dir_all(root.join(".git/objects")).unwrap();
    let error = uncommitted(root, &[path("a.py")]).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Repository);
}

#[test]
fn a_repository_within_the_tree_answers_for_its_own_files() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, "a.py", "one\n");
    write(root, "inner/clean.py", "one\n");
    write(root, "inner/changed.py", "one\n");
    let inner = root.join("inner");
    if !git(&inner, &["init", "-q"]) {
        return;
    }
    commit_all(&inner);
    git(root, &["init", "-q"]);
    // As a link to a commit.
    commit_all(root);
    write(root, "inner/changed.py", "two\n");
    let all = ["a.py", "inner/clean.py", "inner/changed.py"];
    assert_eq!(dirty(root, &all), ["inner/changed.py"]);
    fs::rename(root.join("inner/.git"), root.join("elsewhere")).unwrap();
    assert_eq!(dirty(root, &all), ["inner/changed.py", "inner/clean.py"]);
}

#[cfg(unix)]
#[test]
fn nobody_waits_for_a_pipe_in_a_repository() {
    for name in [
        "HEAD",
        "config",
        "index",
        "packed-refs",
        "refs/heads/x",
        "info/exclude",
    ] {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        write(root, "a.py", "one\n");
        if !git(root, &["init", "-q"]) {
            return;
        }
        commit_all(root);
        let at = root.join(".git").join(name);
        let _ = fs::remove_file(&at);
        if !Command::new("mkfifo")
            .arg(&at)
            .status()
            .is_ok_and(|status| status.success())
        {
            eprintln!("skipped: there is no mkfifo");
            return;
        }
        let error = uncommitted(root, &[path("a.py")]).unwrap_err();
        assert!(error.to_string().contains("a pipe"), "{name}: {error}");
    }
}

#[test]
fn before_a_folder_was_committed_its_files_were_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, "old.py", "one\n");
    if !git(root, &["init", "-q"]) {
        return;
    }
    commit_all(root);
    write(root, "new/fresh.py", "one\n");
    let fresh = path("fresh.py");
    let before = bytes_before(&root.join("new"), "HEAD", std::slice::from_ref(&fresh)).unwrap();
    assert_eq!(before.get(&fresh), Some(&None));
}
