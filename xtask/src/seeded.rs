//! `seeded`: what `check` finds of mistakes that are put into a real tree after a migration.
//!
//! A module of a copy is moved and leaves a shim. Whatever `check` finds then that it did not find
//! before is a false alarm, the notes about the shim itself left out. After that imports of the old
//! name, and of names that nothing has, are written where people write them: in product code, in
//! functions, tests, scripts, and files that do not parse. Each has to be found
//! at its line, and nothing else may be.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::judge::scratch::Scratch;

const HELP: &str = "\
cargo xtask seeded TREE OLD NEW

Moves the Python module OLD of a copy of TREE to NEW, with a shim, writes mistakes into the copy, and
says which of them `coalesce check` finds.
";

/// A mistake: how it is called, and the lines of a file that make it. `OLD` is the name that moved,
/// `HOME` the package that it stood in.
struct Seed {
    what: &'static str,
    lines: &'static str,
    /// The line that has to be found, 1-based.
    line: u64,
}

const SEEDS: [Seed; 13] = [
    seed("import", "import OLD\n", 1),
    seed("import as", "import OLD as renamed\n", 1),
    seed("from import", "from OLD import *\n", 1),
    seed("from package", "from HOME import LAST\n", 1),
    seed(
        "in a function",
        "def f():\n    import OLD\n    return OLD\n",
        2,
    ),
    seed(
        "in a class",
        "class C:\n    from HOME import LAST as module\n",
        2,
    ),
    seed(
        "guarded",
        "try:\n    import OLD as m\nexcept ImportError:\n    m = None\n",
        2,
    ),
    seed(
        "for types only",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import OLD\n",
        3,
    ),
    seed(
        "by a string",
        "import importlib\nm = importlib.import_module(\"OLD\")\n",
        2,
    ),
    seed("in a broken file", "def broken(:\nimport OLD\n", 2),
    seed("an orphan", "import HOME.nothing_is_here\n", 1),
    seed("an orphaned name", "from HOME import nothing_is_here\n", 1),
    seed(
        "an orphan in a broken file",
        "class Broken(\nimport HOME.nothing_is_here\n",
        2,
    ),
];

const fn seed(what: &'static str, lines: &'static str, line: u64) -> Seed {
    Seed { what, lines, line }
}

/// Where files with mistakes are written: product code, tests, scripts, and beside the package.
const PLACES: [&str; 4] = ["PACKAGE/", "tests/", "scripts/", ""];

/// A finding by its code, file, line and message.
type Told = (String, String, u64, String);

/// `cargo xtask seeded`.
pub fn run(arguments: Vec<String>) -> anyhow::Result<()> {
    let [tree, old, new] = arguments.as_slice() else {
        print!("{HELP}");
        bail!("a tree and two names are wanted");
    };
    let scratch = Scratch::copy(Path::new(tree))?;
    let root = scratch.root();
    let before = check(&root)?;
    move_with_shim(&root, old, new)?;
    let known = before.iter().map(without_line).collect::<BTreeSet<_>>();
    let new_ones = |told: &BTreeSet<Told>| -> Vec<Told> {
        let new = told
            .iter()
            .filter(|one| !known.contains(&without_line(one)));
        new.filter(|one| one.0 != "unused-shim").cloned().collect()
    };
    let mut false_alarms = new_ones(&check(&root)?);
    let planted = plant(&root, old)?;
    let found = new_ones(&check(&root)?);
    let is_at = |one: &Told, path: &str, line: u64| one.1 == path && one.2 == line;
    let missed = planted.iter().filter(|(path, line, _)| {
        let mut found = found.iter();
        !found.any(|one| is_at(one, path, *line))
    });
    let missed: Vec<String> = missed
        .map(|(path, line, what)| format!("{what}: {path}:{line}"))
        .collect();
    // A broken file is told to be broken as well, which it is.
    false_alarms.extend(found.into_iter().filter(|one| {
        let mut planted = planted.iter();
        let expected = planted.any(|(path, line, _)| is_at(one, path, *line));
        !expected && one.0 != "syntax-error"
    }));
    let found = planted.len() - missed.len();
    tell(old, (found, planted.len()), &missed, &false_alarms)
}

fn move_with_shim(root: &Path, old: &str, new: &str) -> anyhow::Result<()> {
    let moved = coalesce(root)
        .args(["move", old, new, "--shim", "--apply", "--yes"])
        .arg("--allow-unproven")
        .output()?;
    ensure!(
        moved.status.success(),
        "the move failed: {}",
        String::from_utf8_lossy(&moved.stderr)
    );
    Ok(())
}

fn tell(
    old: &str,
    (found, planted): (usize, usize),
    missed: &[String],
    false_alarms: &[Told],
) -> anyhow::Result<()> {
    println!(
        "{old}: {found} of {planted} found, {} false",
        false_alarms.len()
    );
    for one in missed {
        println!("  missed  {one}");
    }
    for (code, path, line, message) in false_alarms {
        println!("  false   {path}:{line}: {code}: {message}");
    }
    ensure!(
        missed.is_empty() && false_alarms.is_empty(),
        "not all as it should be"
    );
    Ok(())
}

/// What a finding says, wherever in its file.
fn without_line(told: &Told) -> (String, String, String) {
    (told.0.clone(), told.1.clone(), told.3.clone())
}

/// Writes the mistakes; path, line and name of each.
fn plant(root: &Path, old: &str) -> anyhow::Result<Vec<(String, u64, &'static str)>> {
    let (home, last) = old.rsplit_once('.').context("OLD has no package")?;
    let package = home.split('.').next().unwrap_or(home);
    // A `src` layout keeps the package one folder down.
    let folders = ["", "src/", "lib/"];
    let mut folders = folders.iter().map(|folder| format!("{folder}{package}/"));
    let product = folders
        .find(|folder| root.join(folder).is_dir())
        .context("the package has no folder")?;
    let mut planted = Vec::new();
    for place in PLACES {
        for (at, seed) in SEEDS.iter().enumerate() {
            let folder = place.replace("PACKAGE/", &product);
            let path = format!("{folder}seeded_{at}.py");
            let text = seed.lines.replace("OLD", old);
            let text = text.replace("HOME", home).replace("LAST", last);
            fs::create_dir_all(root.join(&folder))?;
            fs::write(root.join(&path), text)?;
            planted.push((path, seed.line, seed.what));
        }
    }
    Ok(planted)
}

fn coalesce(root: &Path) -> Command {
    let program = std::env::var_os("COALESCE_SEEDED_PROGRAM").map(std::path::PathBuf::from);
    let program = program.or_else(|| std::env::current_exe().ok());
    let mut command = Command::new(program.unwrap_or_else(|| "coalesce".into()));
    command.current_dir(root).stdin(Stdio::null());
    command
}

/// What `check` tells of a tree.
fn check(root: &Path) -> anyhow::Result<BTreeSet<Told>> {
    let output = coalesce(root)
        .args(["check", "--format", "json", "--no-cache"])
        .output()?;
    let envelope: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let findings = envelope.get("findings").and_then(Value::as_array);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let told = findings.into_iter().flatten().map(|finding| {
        let line = finding.pointer("/range/line").and_then(Value::as_u64);
        (
            text(finding.get("code")),
            text(finding.get("path")),
            line.unwrap_or_default(),
            text(finding.get("message")),
        )
    });
    Ok(told.collect())
}
