//! `check --fix` beside shims as this build writes them, and what commands leave behind that could not do their work.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// Runs the program; its exit code and all that it says.
fn run(tree: &Path, arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"))
        .args(arguments)
        .arg("--no-cache")
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

fn write(tree: &Path, files: &[(&str, &str)]) {
    files
        .iter()
        .for_each(|(path, text)| put(&tree.join(path), text));
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(tree: &Path, path: &str) -> String {
    fs::read_to_string(tree.join(path)).unwrap()
}

/// Applies the manifest, then puts files there that use the old names.
fn migrated(tree: &Path, files: &[(&str, &str)], late: &[(&str, &str)]) {
    write(tree, files);
    let (code, said) = run(tree, &["migrate", "--yes"]);
    assert_eq!(code, 0, "{said}");
    write(tree, late);
}

/// A module that does something to others when it is imported, which its shim's users came to as well.
const PYTHON: &[(&str, &str)] = &[
    ("app/__init__.py", ""),
    ("app/core/__init__.py", ""),
    (
        "app/old.py",
        "import os\n\nos.environ.setdefault(\"APP\", \"1\")\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n",
    ),
    (
        "app/parts.py",
        "def stays():\n    return 0\n\n\ndef goes():\n    return 1\n",
    ),
    ("app/use.py", "from app.old import f\n\nprint(f())\n"),
];

fn manifest(style: &str) -> String {
    let entries = "[[move]]\nfrom = \"app.old\"\nto = \"app.core.new\"\nshim = true\n\n\
                   [[move]]\nfrom = \"app.parts.goes\"\nto = \"app.core.parts.goes\"\nshim = true\n";
    format!("schema = 1\n\n[shims]\nstyle = \"{style}\"\n\n{entries}")
}

#[test]
fn shims_of_every_style_are_no_reason_to_refuse() {
    for style in ["inline", "helper"] {
        let scratch = tempfile::tempdir().unwrap();
        let tree = scratch.path();
        let manifest = manifest(style);
        let files = [PYTHON, &[("migrations/0001-new.toml", manifest.as_str())]].concat();
        let late = "from app.old import f\n\nimport app.old\n\nprint(f(), app.old.g())\n";
        migrated(tree, &files, &[("app/late.py", late)]);
        assert!(read(tree, "app/old.py").starts_with("# coalesce: shim 0001-new"));
        let (code, said) = run(tree, &["check", "--fix", "--yes"]);
        assert_eq!(code, 0, "{style}: {said}");
        assert_eq!(
            read(tree, "app/late.py"),
            "from app.core.new import f\n\nimport app.core.new\n\nprint(f(), app.core.new.g())\n"
        );
    }
}

#[test]
fn what_was_put_into_a_shim_by_hand_is_told() {
    let scratch = tempfile::tempdir().unwrap();
    let tree = scratch.path();
    let manifest = manifest("inline");
    let files = [PYTHON, &[("migrations/0001-new.toml", manifest.as_str())]].concat();
    migrated(tree, &files, &[("app/late.py", "from app.old import f\n")]);
    let shim = read(tree, "app/old.py");
    let more = shim.replace(
        "\n    warn()\n    if name",
        "\n    sys.path.append(\"x\")\n    warn()\n    if name",
    );
    assert_ne!(shim, more);
    fs::write(tree.join("app/old.py"), more).unwrap();
    fs::remove_file(tree.join("app/use.py")).unwrap();
    let (code, said) = run(tree, &["check", "--fix", "--yes"]);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("`coalesce check --fix --allow-unproven`"),
        "{said}"
    );
    let (code, said) = run(tree, &["check", "--fix", "--yes", "--allow-unproven"]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn shims_of_rust_are_no_reason_to_refuse() {
    let scratch = tempfile::tempdir().unwrap();
    let tree = scratch.path();
    let entry =
        "schema = 1\n\n[[move]]\nfrom = \"app::old\"\nto = \"app::core::new\"\nshim = true\n";
    let files = [
        (
            "Cargo.toml",
            "[package]\nname = \"app\"\nversion = \"1.0.0\"\nedition = \"2024\"\n",
        ),
        ("src/lib.rs", "pub mod core;\npub mod old;\npub mod user;\n"),
        ("src/core.rs", ""),
        ("src/old.rs", "pub fn f() -> u8 {\n    1\n}\n"),
        (
            "src/user.rs",
            "pub fn one() -> u8 {\n    crate::old::f()\n}\n",
        ),
        ("migrations/0001-new.toml", entry),
    ];
    let late = "use crate::old::f;\n\npub fn two() -> u8 {\n    f() + 1\n}\n";
    migrated(tree, &files, &[("src/user.rs", late)]);
    let (code, said) = run(tree, &["check", "--fix", "--yes"]);
    assert_eq!(code, 0, "{said}");
    assert!(read(tree, "src/user.rs").contains("use crate::core::new::f;"));
}

#[test]
fn what_a_comment_allows_is_not_fixed() {
    let scratch = tempfile::tempdir().unwrap();
    let tree = scratch.path();
    let manifest = manifest("inline");
    let files = [PYTHON, &[("migrations/0001-new.toml", manifest.as_str())]].concat();
    let allowed = "from app.old import f  # coalesce: allow(deprecated-path, it is what we test)\nfrom app.old import g\n";
    let late = [
        ("app/late [1].py", allowed),
        ("app/later.py", "from app.old import f\n"),
    ];
    migrated(tree, &files, &late);
    let (code, said) = run(tree, &["check", "--fix", "--yes"]);
    assert_eq!(read(tree, "app/late [1].py"), allowed);
    assert_eq!(read(tree, "app/later.py"), "from app.core.new import f\n");
    assert_eq!(code, 1, "{said}");
    assert!(!said.contains("unused-allow"), "{said}");
    assert!(
        said.contains("by hand: `--fix` leaves files in which a comment allows"),
        "{said}"
    );
}

#[test]
fn a_path_that_is_not_there_is_not_clean() {
    let scratch = tempfile::tempdir().unwrap();
    write(scratch.path(), PYTHON);
    for (path, code) in [
        ("app", 0),
        ("app/old.py", 0),
        ("nothere", 2),
        ("app/nothere.py", 2),
    ] {
        let (ended, said) = run(scratch.path(), &["check", path]);
        assert_eq!(ended, code, "{path}: {said}");
    }
}

#[test]
fn a_command_that_could_not_leaves_no_manifest() {
    let scratch = tempfile::tempdir().unwrap();
    let tree = scratch.path();
    let named = "import importlib\n\nNAME = input()\nimportlib.import_module(\"app.\" + NAME)\n";
    write(tree, PYTHON);
    write(tree, &[("app/named.py", named)]);
    let words = [
        "move",
        "app.old",
        "app.core.new",
        "--save",
        "migrations/0001.toml",
    ];
    let applied = [&words[..], &["--apply", "--yes"]].concat();
    let (code, said) = run(tree, &applied);
    assert_eq!(code, 2, "{said}");
    assert!(!tree.join("migrations").exists(), "{said}");
    let (code, said) = run(tree, &words);
    assert_eq!(code, 0, "{said}");
    assert!(tree.join("migrations/0001.toml").exists());
    fs::remove_dir_all(tree.join("migrations")).unwrap();
    let (code, said) = run(tree, &[&applied[..], &["--allow-unproven"]].concat());
    assert_eq!(code, 0, "{said}");
    assert!(tree.join("migrations/0001.toml").exists());
}

#[test]
fn sarif_has_each_class_of_copies_once() {
    let scratch = tempfile::tempdir().unwrap();
    let body: String = (0..30)
        .map(|at| format!("    value = value * {at} + len(name)\n"))
        .collect();
    let text = format!("def work(name, value):\n{body}    return value\n");
    write(
        scratch.path(),
        &[("p/__init__.py", ""), ("p/a.py", &text), ("p/b.py", &text)],
    );
    let (code, said) = run(scratch.path(), &["audit", "--format", "sarif"]);
    assert_eq!(code, 0, "{said}");
    let log: serde_json::Value = serde_json::from_str(&said).unwrap();
    let results = log.pointer("/runs/0/results").unwrap().as_array().unwrap();
    let of_copies = results
        .iter()
        .filter(|result| result["ruleId"] == "duplicates");
    assert_eq!(of_copies.count(), 1, "{said}");
}

#[test]
fn a_summary_that_cannot_be_written_hides_no_annotation() {
    let scratch = tempfile::tempdir().unwrap();
    write(
        scratch.path(),
        &[("p/__init__.py", ""), ("p/a.py", "from p.gone import x\n")],
    );
    let output = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"))
        .args(["check", "--format", "github", "--no-cache"])
        .current_dir(scratch.path())
        .env("GITHUB_STEP_SUMMARY", scratch.path().join("no/such/file"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("::error file=p/a.py"));
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(
        talk.contains("cannot write the summary of the job"),
        "{talk}"
    );
}
