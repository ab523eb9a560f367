//! `GUIDE.md` and `docs/tutorial.md` as tests: their commands are run, in their order, and must answer
//! what they show.
//!
//! A block of the language `console` holds commands (`$ …`, one line each) and, below each, what it
//! prints on both streams. A line `…` stands for any number of lines. Those of a document run in one copy
//! of the sample tree. `COALESCE_BLESS=1` writes the answers that differ; elide them again by hand.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use coalesce_tests::{difference, read_tree, write_tree};

/// What stands for lines that are left out.
const ELLIPSIS: &str = "…";

/// A command of the guide and what it is said to print.
#[derive(Debug, Default, PartialEq, Eq)]
struct Step {
    command: String,
    answer: Vec<String>,
}

/// The guide, cut at its commands.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Prose(String),
    Step(Step),
}

fn pieces(guide: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut inside = false;
    for line in guide.lines() {
        inside = match line {
            "```console" => true,
            "```" => false,
            _ => inside,
        };
        match (inside, line.strip_prefix("$ "), pieces.last_mut()) {
            (true, Some(command), _) => pieces.push(Piece::Step(Step {
                command: command.to_owned(),
                answer: Vec::new(),
            })),
            (true, None, Some(Piece::Step(step))) => step.answer.push(line.to_owned()),
            _ => pieces.push(Piece::Prose(line.to_owned())),
        }
    }
    pieces
}

fn text(pieces: &[Piece]) -> String {
    let mut text = String::new();
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    for piece in pieces {
        match piece {
            Piece::Prose(prose) => line(prose),
            Piece::Step(step) => {
                line(&format!("$ {}", step.command));
                step.answer.iter().for_each(|answer| line(answer));
            }
        }
    }
    text
}

/// Whether `lines` are what `shown` shows, `…` standing for any number of them.
fn fits(shown: &[String], lines: &[String]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == ELLIPSIS => {
            (0..=lines.len()).any(|skipped| fits(rest, lines.get(skipped..).unwrap_or_default()))
        }
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, lines)| line == first && fits(rest, lines)),
    }
}

/// A folder in which the program has the name that its users know.
fn named_program(cache: &Path) -> PathBuf {
    let folder = cache.with_file_name("bin");
    let program = folder.join("coalesce");
    if !program.exists() {
        fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_coalesce-under-test"), &program).unwrap();
    }
    folder
}

/// Runs one line of the guide where its reader would.
fn answer(command: &str, tree: &Path, cache: &Path) -> Vec<String> {
    let program = named_program(cache);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(program).chain(std::env::split_paths(&path));
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(tree)
        .env("PATH", std::env::join_paths(paths).unwrap())
        .env("COALESCE_CACHE_DIR", cache)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("RUST_BACKTRACE")
        .env_remove("PYTHONWARNINGS")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_guide_shows_what_happens() {
    shows_what_happens("GUIDE.md");
}

#[test]
fn the_tutorial_shows_what_happens() {
    shows_what_happens("docs/tutorial.md");
}

/// Runs the commands of a document and holds its answers against theirs.
fn shows_what_happens(document: &str) {
    if !cfg!(unix) {
        println!("skipped: {document} is written for a unix shell");
        return;
    }
    let guide = repository().join(document);
    let scratch = tempfile::tempdir().unwrap();
    let tree = scratch.path().join("duplicated");
    let before = read_tree(&repository().join("examples/duplicated")).unwrap();
    write_tree(&tree, &before).unwrap();
    let python = Command::new("python3").arg("--version").output().is_ok();
    let mut pieces = pieces(&fs::read_to_string(&guide).unwrap());
    let mut wrong = Vec::new();
    for piece in &mut pieces {
        let Piece::Step(step) = piece else { continue };
        if !python && step.command.starts_with("python3") {
            println!("skipped: python3 is not installed: {}", step.command);
            continue;
        }
        let lines = answer(&step.command, &tree, &scratch.path().join("cache"));
        if !fits(&step.answer, &lines) {
            let (shown, said) = (step.answer.join("\n"), lines.join("\n"));
            wrong.push(format!("$ {}\n{}", step.command, difference(&shown, &said)));
            step.answer = lines;
        }
    }
    if std::env::var_os("COALESCE_BLESS").is_some() {
        fs::write(&guide, text(&pieces)).unwrap();
        return;
    }
    assert!(
        wrong.is_empty(),
        "{document} differs:\n{}",
        wrong.join("\n")
    );
    let after = read_tree(&tree).unwrap();
    assert!(
        after == before,
        "{document} promises that the tree is as before"
    );
}

#[test]
fn a_guide_is_cut_at_its_commands_and_joined_again() {
    let guide = "Look:\n\n```console\n$ one\na\nb\n$ two\n```\n\n```toml\n$ three\n```\n";
    let cut = pieces(guide);
    let steps: Vec<_> = cut
        .iter()
        .filter_map(|piece| match piece {
            Piece::Step(step) => Some((step.command.as_str(), step.answer.join(" "))),
            Piece::Prose(_) => None,
        })
        .collect();
    assert_eq!(steps, [("one", "a b".to_owned()), ("two", String::new())]);
    assert_eq!(text(&cut), guide);
}

#[test]
fn an_ellipsis_stands_for_any_lines() {
    let lines = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for (shown, said, expected) in [
        ("a b", "a b", true),
        ("a", "a b", false),
        ("a … c", "a b b c", true),
        ("a … c", "a c", true),
        ("…", "", true),
        ("… c", "a b", false),
        ("a … c …", "a b c d", true),
    ] {
        assert_eq!(
            fits(&lines(shown), &lines(said)),
            expected,
            "{shown} | {said}"
        );
    }
}
