//! End to end: every folder under `cases` is a tree, commands, and what must come of them.
//!
//! A case is a folder, and a new case needs no Rust:
//! - `in/`: the tree before; `args`: one call of `coalesce` a line
//! - `links`, optional: symbolic links to make first, `path -> target` a line
//! - `out/`: the tree after; left out when nothing may change
//! - `stdout`, `stderr`: what each call printed, with its exit code; left out when nothing
//! - `kept`, optional: files that rollback leaves, such as a saved plan, a line each
//! - `needs`, optional: programs without which the case is skipped, a line each
//! - `check.py`, optional: run by Python in the tree after; `builds`, optional: cargo checks it
//!
//! Every case that changes its tree is rolled back and compared with `in/`, directories included.
//! `COALESCE_BLESS=1` writes `out`, `stdout` and `stderr` instead of comparing them; read them.

#[path = "more/advice.rs"]
mod advice;
#[path = "more/containment.rs"]
mod containment;
#[path = "more/deprecations.rs"]
mod deprecations;
#[path = "more/doors.rs"]
mod doors;
#[path = "more/guide.rs"]
mod guide;
#[path = "more/hostile.rs"]
mod hostile;
#[path = "more/interrupted.rs"]
mod interrupted;
#[path = "more/laws.rs"]
mod laws;
#[path = "more/rust_moves.rs"]
mod rust_moves;
#[path = "more/soak.rs"]
mod soak;
#[path = "more/verify.rs"]
mod verify;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use anyhow::{Context as _, bail, ensure};

/// Path to bytes; `None` is a directory.
type Tree = BTreeMap<String, Option<Vec<u8>>>;

#[test]
fn every_case_ends_as_its_folder_says() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let only = std::env::var("COALESCE_CASE").ok();
    let mut failed = Vec::new();
    let mut count = 0;
    for folder in folders(&cases).unwrap() {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if only
            .as_ref()
            .is_some_and(|only| !name.contains(only.as_str()))
        {
            continue;
        }
        if let Some(program) = missing(&folder) {
            println!("skipped {name}: {program} is not installed");
            continue;
        }
        count += 1;
        if let Err(error) = run(&folder) {
            failed.push(format!("── {name}\n{error:#}"));
        }
    }
    println!("{count} cases, {} failed", failed.len());
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

/// A program that a case needs and that cannot be started.
fn missing(folder: &Path) -> Option<String> {
    let needs = fs::read_to_string(folder.join("needs")).unwrap_or_default();
    let mut needs = needs.lines();
    let missing = needs.find(|program| Command::new(program).arg("--version").output().is_err());
    missing.map(str::to_owned)
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce"));
    command.args(["explain", "forbidden-path"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn colour_comes_when_it_is_asked_for() {
    for (arguments, variables, colored) in [
        ("explain manifest", &[][..], false),
        (
            "explain manifest --color always",
            &[("NO_COLOR", "1")],
            true,
        ),
        ("explain manifest", &[("CLICOLOR_FORCE", "1")], true),
        (
            "explain manifest --color never",
            &[("CLICOLOR_FORCE", "1")],
            false,
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce"));
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command
            .args(arguments.split(' '))
            .envs(variables.iter().copied());
        let output = command.output().unwrap();
        assert_eq!(
            output.stdout.contains(&0x1b),
            colored,
            "{arguments} {variables:?}"
        );
    }
}

fn folders(cases: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(cases)? {
        folders.push(entry?.path());
    }
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    Ok(folders)
}

/// One case in a scratch copy.
struct Case {
    folder: PathBuf,
    scratch: tempfile::TempDir,
    bless: bool,
}

fn run(folder: &Path) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let bless = std::env::var_os("COALESCE_BLESS").is_some();
    let case = Case {
        folder: folder.to_owned(),
        scratch,
        bless,
    };
    let before = case.prepare()?;
    let calls = fs::read_to_string(folder.join("args")).context("args")?;
    let (mut stdout, mut stderr) = (String::new(), String::new());
    let mut changes = 0;
    let mut now = before.clone();
    for call in calls.lines().filter(|call| !call.is_empty()) {
        let output = case.coalesce(call)?;
        note(&mut stdout, call, &output.stdout, Some(&output))?;
        if !output.stderr.is_empty() {
            note(&mut stderr, call, &output.stderr, None)?;
        }
        let after = read_tree(&case.tree())?;
        changes += usize::from(after != now && changes_tree(call));
        now = after;
    }
    case.expect_text("stdout", &stdout)?;
    case.expect_text("stderr", &stderr)?;
    case.expect_tree(&before, &now)?;
    case.judge_result(&now)?;
    if changes > 0 && !calls.contains("rollback") {
        case.undo(changes, &before)?;
    }
    Ok(())
}

/// Whether `rollback` undoes what a call changes.
fn changes_tree(call: &str) -> bool {
    ["migrate", "retire"]
        .iter()
        .any(|verb| call.starts_with(verb))
}

/// Adds one call to a transcript.
fn note(text: &mut String, call: &str, printed: &[u8], end: Option<&Output>) -> anyhow::Result<()> {
    text.push_str(&format!("$ coalesce {call}\n"));
    text.push_str(std::str::from_utf8(printed).context("output that is not UTF-8")?);
    if let Some(output) = end {
        let code = output.status.code().context("ended by a signal")?;
        text.push_str(&format!("[exit {code}]\n"));
    }
    Ok(())
}

impl Case {
    fn tree(&self) -> PathBuf {
        self.scratch.path().join("tree")
    }

    /// Copies `in/` and makes the links.
    fn prepare(&self) -> anyhow::Result<Tree> {
        write_tree(&self.tree(), &read_tree(&self.folder.join("in"))?)?;
        let links = fs::read_to_string(self.folder.join("links")).unwrap_or_default();
        for line in links.lines() {
            let (path, target) = line.split_once(" -> ").context("links: `path -> target`")?;
            link(target, &self.tree().join(path))?;
        }
        read_tree(&self.tree())
    }

    fn coalesce(&self, call: &str) -> anyhow::Result<Output> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce"));
        command
            .args(call.split_whitespace())
            .current_dir(self.tree());
        command
            .env_remove("COALESCE_CACHE_DIR")
            .env_remove("CARGO_TARGET_DIR");
        // Facts of other runs, and of the user, must not reach a case.
        command.env("XDG_CACHE_HOME", self.scratch.path().join("cache"));
        command
            .env_remove("CLICOLOR_FORCE")
            .env_remove("RUST_BACKTRACE");
        command.output().context("failed to start coalesce")
    }

    fn expect_text(&self, name: &str, actual: &str) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        if self.bless {
            if actual.is_empty() {
                return fs::remove_file(path).or(Ok(()));
            }
            return Ok(fs::write(path, actual)?);
        }
        let expected = fs::read_to_string(path).unwrap_or_default();
        ensure!(
            expected == actual,
            "{name} differs:\n{}",
            difference(&expected, actual)
        );
        Ok(())
    }

    fn expect_tree(&self, before: &Tree, after: &Tree) -> anyhow::Result<()> {
        let out = self.folder.join("out");
        if self.bless {
            let _ = fs::remove_dir_all(&out);
            if before != after {
                write_tree(&out, after)?;
            }
            return Ok(());
        }
        let expected = if out.is_dir() {
            read_tree(&out)?
        } else {
            before.clone()
        };
        compare(&expected, after).context("the tree after")
    }

    /// Undoes as many migrations as there were, and expects every byte as before.
    fn undo(&self, times: usize, before: &Tree) -> anyhow::Result<()> {
        let kept = fs::read_to_string(self.folder.join("kept")).unwrap_or_default();
        for _ in 0..times {
            let output = self.coalesce("rollback --yes")?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            ensure!(output.status.success(), "rollback failed: {said}");
        }
        let mut restored = read_tree(&self.tree())?;
        restored.retain(|path, _| !kept.lines().any(|kept| kept == path));
        compare(before, &restored).context("the tree after rollback")
    }

    /// Runs the case's own proof of the result, where it has one, in another copy.
    fn judge_result(&self, after: &Tree) -> anyhow::Result<()> {
        let copy = self.scratch.path().join("judged");
        write_tree(&copy, after)?;
        let script = self.folder.join("check.py");
        if script.is_file() {
            let mut python = Command::new("python3");
            python
                .arg("-B")
                .arg(&script)
                .env("PYTHONPATH", &copy)
                .current_dir(&copy);
            judge("python3", &mut python)?;
        }
        if self.folder.join("builds").is_file() {
            let mut cargo = Command::new("cargo");
            cargo.args([
                "check",
                "--offline",
                "--quiet",
                "--workspace",
                "--all-targets",
            ]);
            cargo
                .env("CARGO_TARGET_DIR", self.scratch.path().join("target"))
                .current_dir(&copy);
            judge("cargo", &mut cargo)?;
        }
        Ok(())
    }
}

fn judge(program: &str, command: &mut Command) -> anyhow::Result<()> {
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            println!("skipped: {program} is not installed");
            Ok(())
        }
        Err(error) => Err(error).context("failed to start the judge"),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => bail!("{program}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

fn read_tree(root: &Path) -> anyhow::Result<Tree> {
    let mut tree = Tree::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).with_context(|| directory.display().to_string())? {
            let path = entry?.path();
            let name = path
                .strip_prefix(root)?
                .to_string_lossy()
                .replace('\\', "/");
            // The journal is the tool's own and no part of the tree.
            if name == ".coalesce" {
                continue;
            }
            if path.is_symlink() {
                let target = fs::read_link(&path)?.to_string_lossy().into_owned();
                tree.insert(name, Some(format!("-> {target}").into_bytes()));
            } else if path.is_dir() {
                tree.insert(name, None);
                left.push(path);
            } else {
                tree.insert(name, Some(fs::read(&path)?));
            }
        }
    }
    Ok(tree)
}

fn write_tree(root: &Path, tree: &Tree) -> anyhow::Result<()> {
    fs::create_dir_all(root)?;
    for (name, bytes) in tree {
        let path = root.join(name);
        match bytes {
            None => fs::create_dir_all(&path)?,
            Some(bytes) => fs::write(&path, bytes).with_context(|| path.display().to_string())?,
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(target: &str, path: &Path) -> anyhow::Result<()> {
    Ok(std::os::unix::fs::symlink(target, path)?)
}

#[cfg(not(unix))]
fn link(_: &str, _: &Path) -> anyhow::Result<()> {
    bail!("symbolic links are tried on unix only")
}

fn compare(expected: &Tree, actual: &Tree) -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    for (name, bytes) in expected {
        match actual.get(name) {
            None => wrong.push(format!("{name} is missing")),
            Some(other) if other != bytes => {
                let text = |bytes: &Option<Vec<u8>>| {
                    String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
                };
                wrong.push(format!(
                    "{name} differs:\n{}",
                    difference(&text(bytes), &text(other))
                ));
            }
            Some(_) => {}
        }
    }
    let extra = actual.keys().filter(|name| !expected.contains_key(*name));
    wrong.extend(extra.map(|name| format!("{name} should not be there")));
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

fn difference(expected: &str, actual: &str) -> String {
    let file = coalesce_model::TreePath::root();
    let side = |text| {
        Some(coalesce_report::diff::Side {
            path: &file,
            text: Some(text),
        })
    };
    let diff = coalesce_report::diff::file_diff(side(expected), side(actual));
    diff.lines().skip(3).collect::<Vec<_>>().join("\n")
}
