//! Lays edited Rust files out as the project does: with rustfmt, by the project's own settings, and
//! only files that rustfmt would have left alone before.
//!
//! rustfmt is the one program that planning starts. It is the one of a toolchain, by its absolute
//! path (`toolchain`), started at the top of the file system without an environment, so that nothing
//! of the tree and nothing above it has a say. It gets a text and, as a file of ours, the settings
//! that the tree has for it; both are read here, and only where they are plain files of the tree.

mod toolchain;

use std::{
    collections::BTreeMap,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use coalesce_model::{Finding, Severity, Texts, TreePath, finding::codes};
use coalesce_plan::Operation;
use coalesce_rust::same_code;
use coalesce_verify::filter_text;
use rayon::prelude::*;

use crate::Session;

/// How long rustfmt may take for one text.
const PATIENCE: Duration = Duration::from_secs(10);

/// A rustfmt that can be started.
struct Formatter {
    rustfmt: PathBuf,
    /// By what they say; of nothing, too.
    settings: Mutex<BTreeMap<String, Arc<Settings>>>,
}

/// Settings as a file that rustfmt can read.
struct Settings {
    /// Keeps the file where `path` leads; no settings need none.
    _file: Option<tempfile::NamedTempFile>,
    path: PathBuf,
}

/// Lays out the new texts of `operations`; what could not be done comes back as a note.
pub fn lay_out(operations: &mut [Operation], session: &Session) -> Option<Finding> {
    let jobs: Vec<usize> = operations
        .iter()
        .enumerate()
        .filter(|(_, operation)| job(operation).is_some())
        .map(|(at, _)| at)
        .collect();
    if jobs.is_empty() {
        return None;
    }
    let Some(formatter) = Formatter::find(session.tree.root()) else {
        return Some(missing());
    };
    let laid_out: Vec<(usize, String)> = jobs
        .into_par_iter()
        .filter_map(|at| {
            let text = operations
                .get(at)
                .and_then(|one| formatter.operation(one, session))?;
            Some((at, text))
        })
        .collect();
    for (at, new) in laid_out {
        if let Some(
            Operation::Move {
                text: Some(text), ..
            }
            | Operation::Create { text, .. }
            | Operation::Edit { text, .. },
        ) = operations.get_mut(at)
        {
            *text = new;
        }
    }
    None
}

fn missing() -> Finding {
    Finding {
        code: codes::PLAN_REMARK,
        severity: Severity::Note,
        path: TreePath::root(),
        span: None,
        message:
            "no toolchain with rustfmt was found: edited Rust files keep the layout of the edits"
                .to_owned(),
        help: Some("install it (`rustup component add rustfmt`), or run it afterwards".to_owned()),
    }
}

/// The path after and the new text of a Rust file.
fn job(operation: &Operation) -> Option<(&TreePath, &str)> {
    let (path, text) = match operation {
        Operation::Move { to, text, .. } => (to, text.as_deref()?),
        Operation::Create { path, text, .. } | Operation::Edit { path, text } => {
            (path, text.as_str())
        }
        Operation::Delete { .. } => return None,
    };
    (path.extension() == Some("rs")).then_some((path, text))
}

impl Formatter {
    /// The one of a toolchain; `None` where there is none, or it does not answer.
    fn find(root: &Path) -> Option<Self> {
        let formatter = Self {
            rustfmt: toolchain::rustfmt(root)?,
            settings: Mutex::default(),
        };
        let nothing = formatter.settings("")?;
        formatter.format("", &nothing, "2021")?;
        Some(formatter)
    }

    /// The text in its layout; `None` where it stays as it is.
    fn operation(&self, operation: &Operation, session: &Session) -> Option<String> {
        let (path, text) = job(operation)?;
        let old = match operation {
            Operation::Move { from, .. } => Some(from),
            Operation::Edit { path, .. } => Some(path),
            Operation::Create { .. } | Operation::Delete { .. } => None,
        };
        let before = old.and_then(|old| session.tree.text(old));
        let settings = said(old.unwrap_or(path), session)?;
        if !has_a_layout_of_comments(&settings)
            && before
                .as_ref()
                .is_some_and(|before| same_code(before, text))
        {
            return None;
        }
        let settings = self.settings(&settings)?;
        let edition = old
            .and_then(|old| session.rust.graph.edition_of(old))
            .or_else(|| session.rust.graph.edition_near(path))
            .unwrap_or("2021");
        let new = self.format(text, &settings, edition)?;
        if new == text {
            return None;
        }
        let was_formatted = before.is_none_or(|before| {
            // rustfmt makes a line of nothing.
            before.trim().is_empty()
                || self.format(&before, &settings, edition).as_deref() == Some(&*before)
        });
        was_formatted.then_some(new)
    }

    /// Settings as a file.
    fn settings(&self, text: &str) -> Option<Arc<Settings>> {
        let mut known = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(settings) = known.get(text) {
            return Some(Arc::clone(settings));
        }
        let settings = Arc::new(Settings::new(text)?);
        known.insert(text.to_owned(), Arc::clone(&settings));
        Some(settings)
    }

    /// What rustfmt makes of a text; `None` where it does not take it.
    fn format(&self, text: &str, settings: &Settings, edition: &str) -> Option<String> {
        let mut command = Command::new(&self.rustfmt);
        command
            .args(["--edition", edition, "--emit", "stdout", "--quiet"])
            .arg("--config-path")
            .arg(&settings.path)
            .env_clear()
            .current_dir(top());
        if let Some(windows) = std::env::var_os("SystemRoot") {
            command.env("SystemRoot", windows);
        }
        filter_text(&mut command, text, PATIENCE)
    }
}

/// Whether settings ask rustfmt for more than it does by itself, which is to leave comments alone.
fn has_a_layout_of_comments(settings: &str) -> bool {
    ["comment", "doc"]
        .iter()
        .any(|said| settings.contains(said))
}

/// A directory that no other user can put anything into.
fn top() -> &'static Path {
    Path::new(if cfg!(windows) { r"C:\" } else { "/" })
}

/// What the nearest settings file in the tree says; `None` where it is no plain file, and so nobody
/// knows how the project lays its files out.
fn said(path: &TreePath, session: &Session) -> Option<String> {
    let mut directory = path.parent();
    while let Some(here) = directory {
        for name in ["rustfmt.toml", ".rustfmt.toml"] {
            let file = here.join(name).ok();
            if let Some(file) = file.filter(|file| session.tree.exists(file)) {
                return session.tree.text(&file).map(|text| text.to_string());
            }
        }
        directory = here.parent();
    }
    Some(String::new())
}

impl Settings {
    /// A file with a name: rustfmt asks for the real path of what it is given, which a file without
    /// one does not have. Most projects have no settings, and then nothing is written.
    fn new(text: &str) -> Option<Self> {
        if text.is_empty() && cfg!(unix) {
            return Some(Self {
                _file: None,
                path: "/dev/null".into(),
            });
        }
        let mut file = tempfile::Builder::new().suffix(".toml").tempfile().ok()?;
        file.write_all(text.as_bytes()).ok()?;
        let path = file.path().to_owned();
        Some(Self {
            _file: Some(file),
            path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_a_project_reach_rustfmt() {
        let Some(formatter) = Formatter::find(Path::new("/nowhere")) else {
            println!("skipped: no rustfmt");
            return;
        };
        let text = "fn a() {\n    b();\n}\n";
        for (settings, expected) in [("", text), ("tab_spaces = 2\n", "fn a() {\n  b();\n}\n")] {
            let settings = formatter.settings(settings).unwrap();
            let formatted = formatter.format(text, &settings, "2024");
            assert_eq!(formatted.as_deref(), Some(expected));
        }
    }
}
