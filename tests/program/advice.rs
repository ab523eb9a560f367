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
    plan_of(tree, "m.toml")
}

fn plan_of(tree: &Path, manifest: &str) -> serde_json::Value {
    let output = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"))
        .args(["plan", manifest, "--format", "json", "--no-cache"])
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

/// A line that a refusal says to write, and where.
enum Line {
    /// Before the first table.
    AtTheTop(String),
    /// In this table, in the place of what it has by that key.
    InTable(&'static str, String),
    /// In the last entry, likewise.
    InEntry(String),
}

/// Every line that an answer says to write.
fn lines_to_write(answer: &serde_json::Value) -> Vec<Line> {
    let findings = answer
        .get("findings")
        .and_then(|findings| findings.as_array());
    let helps = findings
        .into_iter()
        .flatten()
        .filter_map(|finding| finding.get("help")?.as_str());
    let mut lines = Vec::new();
    for help in helps {
        // An alternative is not written besides.
        let help = help.split(" (or ").next().unwrap_or(help);
        if let Some((_, line)) = help.split_once("write at the top of the manifest: ") {
            lines.push(Line::AtTheTop(line.to_owned()));
        } else if let Some((_, line)) = help.split_once("write in `[allow]` of the manifest: ") {
            lines.push(Line::InTable("[allow]", line.to_owned()));
        } else if let Some((_, rest)) = help.split_once("write `decide") {
            let (table, _) = rest.rsplit_once("}`").unwrap();
            lines.push(Line::InEntry(format!("decide{table}}}")));
        }
    }
    lines
}

/// The manifest with a line written as it is said.
fn written(manifest: &str, line: &Line) -> String {
    let key_of = |text: &str| text.split('=').next().map(|key| key.trim().to_owned());
    let without = |text: &str, line: &str| {
        let kept = text.lines().filter(|other| key_of(other) != key_of(line));
        kept.map(|line| format!("{line}\n")).collect::<String>()
    };
    match line {
        Line::AtTheTop(line) => format!("{line}\n{manifest}"),
        Line::InTable(table, line) => {
            assert!(manifest.contains(table), "no {table} in {manifest}");
            without(manifest, line).replace(table, &format!("{table}\n{line}"))
        }
        Line::InEntry(line) => format!("{}{line}\n", without(manifest, line)),
    }
}

/// Writes all that is advised, and expects that the same is refused no more.
fn follow_all(case: &str, manifest: &str) {
    let case = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("cases/program")
        .join(case);
    let scratch = tempfile::tempdir().unwrap();
    write_tree(scratch.path(), &read_tree(&case.join("in")).unwrap()).unwrap();
    let before = plan_of(scratch.path(), manifest);
    let lines = lines_to_write(&before);
    assert!(!lines.is_empty(), "{before:#}");
    let place = scratch.path().join(manifest);
    let text = fs::read_to_string(&place).unwrap();
    let text = lines.iter().fold(text, |text, line| written(&text, line));
    fs::write(&place, &text).unwrap();
    let after = plan_of(scratch.path(), manifest);
    assert!(after.get("error").is_none(), "{text}\n{after:#}");
    assert!(lines_to_write(&after).is_empty(), "{text}\n{after:#}");
    let grade = after
        .pointer("/answer/grade")
        .and_then(|grade| grade.as_str());
    assert!(grade.is_some(), "{text}\n{after:#}");
}

#[test]
fn all_that_refusals_say_to_write_can_be_written_together() {
    for (case, manifest) in [
        ("refused-several-allowances", "m.toml"),
        ("refused-several-allowances", "one-allowed.toml"),
        ("refused-several-guards", "m.toml"),
        ("refused-several-guards", "one-allowed.toml"),
        ("refused-merge-undecided", "m.toml"),
        ("refused-merge-undecided", "some.toml"),
        ("refused-merge-of-packages", "m.toml"),
        ("refused-guarded-import", "m.toml"),
        ("refused-import-time-requirement", "m.toml"),
    ] {
        follow_all(case, manifest);
    }
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
