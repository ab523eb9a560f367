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

/// Runs a line as somebody types it, in a shell that finds the program.
#[cfg(unix)]
fn typed(tree: &Path, line: &str) -> (i32, String) {
    let programs = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_coalesce-under-test");
    std::os::unix::fs::symlink(program, programs.path().join("coalesce")).unwrap();
    let paths = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", line])
        .env("PATH", format!("{}:{paths}", programs.path().display()))
        .current_dir(tree)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.code().unwrap(),
        String::from_utf8(said).unwrap(),
    )
}

/// What stands behind a text, to the end of its line or of what stands between backticks.
#[cfg(unix)]
fn advised<'s>(said: &'s str, before: &str) -> &'s str {
    let (_, rest) = said
        .split_once(before)
        .unwrap_or_else(|| panic!("no `{before}` in {said}"));
    rest.split(['\n', '`']).next().unwrap()
}

#[cfg(unix)]
fn put(tree: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = tree.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn what_a_verb_advises_can_be_typed() {
    let scratch = tempfile::tempdir().unwrap();
    let tree = scratch.path();
    put(tree, BOUND_TWICE);
    fs::remove_file(tree.join("m.toml")).unwrap();
    let (code, said) = typed(tree, "coalesce merge p.old p.new --no-cache");
    assert_eq!(code, 2, "{said}");
    assert!(!said.contains("decide = "), "{said}");
    let options: Vec<&str> = said.split("add `").skip(1).collect();
    let options = options.last().unwrap().split('`').next().unwrap();
    let (code, said) = typed(
        tree,
        &format!("coalesce merge p.old p.new {options} --no-cache"),
    );
    assert_eq!(code, 0, "{options}: {said}");

    put(
        tree,
        &[
            ("p/one.py", "def f():\n    return 1\n"),
            ("p/two.py", "def f():\n    return 1\n"),
        ],
    );
    let (code, said) = typed(tree, "coalesce move p.one p.two --no-cache");
    assert_eq!(code, 2, "{said}");
    assert!(!said.contains(".toml:"), "{said}");
    let (code, said) = typed(tree, &format!("{} --no-cache", advised(&said, "type `")));
    assert_eq!(code, 0, "{said}");

    let (code, said) = typed(tree, "coalesce replace p.nope p.two --no-cache");
    assert_eq!(code, 2, "{said}");
    assert!(
        !said.contains(".applied") && !said.contains(".toml"),
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn the_last_line_of_a_page_can_be_typed_for_a_tree_elsewhere() {
    let scratch = tempfile::tempdir().unwrap();
    let above = scratch.path();
    let tree = above.join("d 2");
    let entry = "schema = 1\n\n[[move]]\nfrom = \"p.old\"\nto = \"p.core.new\"\nshim = true\n";
    put(
        &tree,
        &[
            ("p/__init__.py", ""),
            ("p/core/__init__.py", ""),
            ("p/old.py", "def f():\n    return 1\n"),
            ("migrations/0001.toml", entry),
        ],
    );
    let (_, said) = typed(above, "coalesce status --root 'd 2' --no-cache");
    let (code, said) = typed(
        above,
        &format!("{} --no-cache", advised(&said, "would change: ")),
    );
    assert_eq!(code, 0, "{said}");
    let line = format!(
        "{} --yes --no-cache",
        advised(&said, "to change the tree: ")
    );
    let (code, said) = typed(above, &line);
    assert_eq!(code, 0, "{line}: {said}");
    assert!(
        said.contains("coalesce rollback 0001 --root 'd 2'"),
        "{said}"
    );
    let begun = typed(
        &tree,
        "git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm one",
    );
    assert_eq!(begun.0, 0, "{}", begun.1);
    // A new file has nothing that was committed.
    put(&tree, &[("p/late.py", "from p.old import f\n")]);
    let (code, said) = typed(above, "coalesce check --root 'd 2' --no-cache");
    assert_eq!(code, 1, "{said}");
    let line = format!("{} --yes --no-cache", advised(&said, "are led on by "));
    let (code, said) = typed(above, &line);
    assert_eq!(code, 0, "{line}: {said}");
    let (code, said) = typed(above, "coalesce audit --root 'd 2' --no-cache");
    assert_eq!(code, 0, "{said}");
    let last = said.lines().last().unwrap();
    let line = last.get(last.find("coalesce ").unwrap()..).unwrap();
    let (code, said) = typed(above, line);
    assert_eq!(code, 0, "{line}: {said}");
}
