//! Small trees in one text: what `meaning` and `meaning_rust` try the program on.
//!
//! `=== name`, what is asked of the program (`@move …`), what is run before and after (`@check …`, a line for the
//! shell), `@registry` where packages of a registry are needed, then the files (`### path`). Checks and files above the
//! first tree of a text are those of all its trees.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// One tree.
#[derive(Default)]
pub(crate) struct Tree {
    pub name: String,
    pub call: String,
    pub checks: Vec<String>,
    pub files: Vec<(String, String)>,
    /// Whether it needs packages of a registry.
    pub registry: bool,
}

/// The trees of all files of a folder of `data`, in order.
pub(crate) fn read(folder: &str) -> Vec<Tree> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("program/data");
    let mut paths: Vec<_> = fs::read_dir(data.join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "cases")
    });
    paths.sort();
    let texts = paths.iter().map(|path| fs::read_to_string(path).unwrap());
    texts.flat_map(|text| trees(&text)).collect()
}

/// The trees of one text.
fn trees(text: &str) -> Vec<Tree> {
    let mut shared = Tree::default();
    let mut trees: Vec<Tree> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("=== "), trees.last_mut()) {
            (Some(name), _) => trees.push(Tree {
                name: name.trim().to_owned(),
                ..Tree::default()
            }),
            (None, Some(tree)) => tree.line(line),
            (None, None) => shared.line(line),
        }
    }
    for tree in &mut trees {
        tree.checks.splice(0..0, shared.checks.iter().cloned());
        tree.files.splice(0..0, shared.files.iter().cloned());
        tree.registry |= shared.registry;
    }
    trees
}

impl Tree {
    fn line(&mut self, line: &str) {
        match (line.strip_prefix("### "), self.files.last_mut()) {
            (Some(path), _) => self.files.push((path.trim().to_owned(), String::new())),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) if line == "@registry" => self.registry = true,
            (None, None) => match line.strip_prefix("@check ") {
                Some(check) => self.checks.push(check.to_owned()),
                None => self
                    .call
                    .push_str(line.strip_prefix('@').unwrap_or_default()),
            },
        }
    }

    pub fn lay_out(&self, root: &Path) {
        for (path, text) in &self.files {
            coalesce_tests::write_file(root, path, text).unwrap();
        }
    }

    /// Whether the files are as they were laid out.
    pub fn stands(&self, root: &Path) -> bool {
        let mut files = self.files.iter();
        files.all(|(path, text)| fs::read_to_string(root.join(path)).is_ok_and(|now| now == *text))
    }

    /// The grade that the program gives when it changes the tree; none where it refuses.
    pub fn change(&self, root: &Path, patience: Duration) -> Option<String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"));
        command.args(self.call.split_whitespace());
        command.args(["--root", ".", "--format", "json"]);
        command.args(["--allow-unproven", "--yes"]);
        if !self.call.starts_with("migrate") {
            command.arg("--apply");
        }
        let (_, said) = run(&mut command, root, patience);
        let said: serde_json::Value = serde_json::from_str(&said).ok()?;
        said["answer"]["grade"].as_str().map(str::to_owned)
    }
}

/// What a command ends with and says on its standard output; no code where it ran out of patience.
pub(crate) fn run(command: &mut Command, root: &Path, patience: Duration) -> (Option<i32>, String) {
    let said = tempfile::tempfile().unwrap();
    let mut child = command
        .current_dir(root)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .stdout(said.try_clone().unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None if begun.elapsed() > patience => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut said = said;
    std::io::Seek::rewind(&mut said).unwrap();
    (status, std::io::read_to_string(said).unwrap_or_default())
}
