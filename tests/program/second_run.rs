//! What caches know changes no answer.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

/// Longer than what counts as just written, in a cache.
const SETTLED: Duration = Duration::from_millis(2_200);

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn check(tree: &Path, cache: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"));
    command.args(["check", "--all", "--root", "."]);
    command.current_dir(tree).env("COALESCE_CACHE_DIR", cache);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Every case, Python and Rust, shims and duplicates among them. A debug build ends with an error where something is done in
/// parallel before the threads are started.
#[test]
fn a_second_check_says_the_same() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/program");
    let scratch = tempfile::tempdir().unwrap();
    let mut trees: Vec<PathBuf> = Vec::new();
    for case in fs::read_dir(cases).unwrap() {
        let case = case.unwrap();
        let name = case.file_name().into_string().unwrap();
        let input = case.path().join("in");
        if (name.starts_with("check-") || name.starts_with("retire-")) && input.is_dir() {
            let tree = scratch.path().join(name);
            copy(&input, &tree);
            trees.push(tree);
        }
    }
    assert!(trees.len() > 20, "{trees:?}");
    // A stack for each bracket, in a file that only references are looked for in.
    let deep = scratch.path().join("check-deprecated-path/deep.py");
    fs::write(deep, format!("x = {}0\n", "lambda: ".repeat(900))).unwrap();
    std::thread::sleep(SETTLED);
    let cache = scratch.path().join("cache");
    for tree in trees {
        let first = check(&tree, &cache);
        assert_ne!(first.status.code(), Some(101), "{}", tree.display());
        let second = check(&tree, &cache);
        assert_eq!(first, second, "{}", tree.display());
    }
}
