//! A folder is a tree, commands, and what must come of them.
//!
//! A case is a folder, and a new case needs no Rust:
//! - `in/`: the tree before; `args`: one call of `coalesce` a line; of one that ends in ` | answer` only findings
//!   and the answer are kept
//! - `links`, optional: symbolic links to make first, `path -> target` a line
//! - `out/`: the tree after; left out when nothing may change
//! - `stdout`, `stderr`: what each call printed, with its exit code; left out when nothing
//! - `kept`, optional: files that rollback leaves, such as a saved plan, a line each
//! - `needs`, optional: programs without which the case is skipped, a line each
//! - `check.py`, optional: run by Python in the tree after; `builds`, optional: cargo checks it
//!
//! Every case that changes its tree is rolled back and compared with `in/`, directories included.
//! `COALESCE_BLESS=1` writes `out`, `stdout` and `stderr` instead of comparing them; read them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::{Context as _, bail, ensure};
use coalesce_tests::{Tree, compare, difference, link, read_tree, write_tree};

/// A program that a case needs and that cannot be started.
fn missing(folder: &Path) -> Option<String> {
    let needs = fs::read_to_string(folder.join("needs")).unwrap_or_default();
    let mut needs = needs.lines();
    let missing = needs.find(|program| Command::new(program).arg("--version").output().is_err());
    missing.map(str::to_owned)
}

/// One case in a scratch copy.
struct Case {
    folder: PathBuf,
    scratch: tempfile::TempDir,
    bless: bool,
}

/// Runs the case of a folder.
pub fn run(folder: &Path) -> anyhow::Result<()> {
    if let Some(program) = missing(folder) {
        println!("skipped {}: {program} is not installed", folder.display());
        return Ok(());
    }
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
        let (words, only_answer) = match call.strip_suffix(" | answer") {
            Some(words) => (words, true),
            None => (call, false),
        };
        let output = case.coalesce(words)?;
        let kept = if only_answer {
            answer(&output.stdout)
        } else {
            output.stdout.clone()
        };
        note(&mut stdout, call, &kept, Some(&output))?;
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

/// The lines of a page that tell of findings, and what was proven.
fn answer(page: &[u8]) -> Vec<u8> {
    const LABELS: [&str; 5] = [
        "Refused: ",
        "Not proven: ",
        "Resolved: ",
        "Compiled: ",
        "Tested: ",
    ];
    let text = String::from_utf8_lossy(page);
    let is_kept = |line: &&str| {
        let is_finding = line.contains(": error[") || line.contains(": warning[");
        let is_note = line.contains(": note: ") || line.starts_with("note: ");
        is_finding
            || is_note
            || line.starts_with("error[")
            || line.starts_with("warning[")
            || line.starts_with("    help: ")
            || LABELS.iter().any(|label| line.starts_with(label))
    };
    let kept: String = text
        .lines()
        .filter(is_kept)
        .map(|line| format!("{line}\n"))
        .collect();
    kept.into_bytes()
}

/// Whether `rollback` undoes what a call changes.
fn changes_tree(call: &str) -> bool {
    let verbs = [
        "migrate",
        "retire",
        "move",
        "replace",
        "merge",
        "remove",
        // Without `--yes` a case mends its baseline alone, which is no part of a migration.
        "check --fix --yes",
    ];
    verbs.iter().any(|verb| call.starts_with(verb))
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"));
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
