//! Advice that the program gives is followed here, as it is printed, and has to help.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use coalesce_tests::{read_tree, write_tree};

/// A module with a name that is bound twice, and one that has another thing by that name.
const BOUND_TWICE: &[(&str, &str)] = &[
    ("p/__init__.py", ""),
    (
        "p/old.py",
        "cp = None\ntry:\n    import cupy\n    cp = cupy\nexcept ImportError:\n    cp = 0\n\n\ndef on():\n    return cp is not None\n",
    ),
    ("p/new.py", "cp = 1\n\n\ndef on():\n    return bool(cp)\n"),
    ("p/use.py", "from p.old import on\n\nprint(on())\n"),
    (
        "m.toml",
        "schema = 1\n\n[[merge]]\nfrom = \"p.old\"\ninto = \"p.new\"\n",
    ),
];

fn plan(tree: &Path) -> serde_json::Value {
    let output = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"))
        .args(["plan", "m.toml", "--format", "json", "--no-cache"])
        .current_dir(tree)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What stands between backticks behind `write ` in the last help.
fn pasted(answer: &serde_json::Value) -> Option<String> {
    let findings = answer.get("findings")?.as_array()?;
    let helps = findings
        .iter()
        .filter_map(|finding| finding.get("help")?.as_str());
    let mut helps = helps.filter_map(|help| help.split_once("write `decide"));
    let (_, last) = helps.next_back()?;
    // The key may hold backticks itself: the table ends with the last brace.
    let (table, _) = last.rsplit_once('}')?;
    Some(format!("decide{table}}}\n"))
}

fn follow(tree: &Path) {
    let before = plan(tree);
    let line = pasted(&before).unwrap_or_else(|| panic!("no `decide` in {before:#}"));
    let manifest = fs::read_to_string(tree.join("m.toml")).unwrap();
    fs::write(tree.join("m.toml"), format!("{manifest}{line}")).unwrap();
    let after = plan(tree);
    let grade = after
        .pointer("/answer/grade")
        .and_then(|grade| grade.as_str());
    assert!(grade.is_some(), "{line}: {after:#}");
}

#[test]
fn a_pasted_decision_is_one_that_the_planner_takes() {
    let scratch = tempfile::tempdir().unwrap();
    for (path, text) in BOUND_TWICE {
        let path = scratch.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    follow(scratch.path());
    let case =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/program/refused-merge-undecided/in");
    let scratch = tempfile::tempdir().unwrap();
    write_tree(scratch.path(), &read_tree(&case).unwrap()).unwrap();
    follow(scratch.path());
}
