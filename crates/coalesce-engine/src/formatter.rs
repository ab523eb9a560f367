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
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicIsize, AtomicUsize, Ordering},
    },
    time::Duration,
};

use coalesce_model::{Finding, Severity, Texts, TreePath, finding::codes};
use coalesce_plan::Operation;
use coalesce_rust::same_code;
use coalesce_verify::{Filtered, filter_text};
use rayon::prelude::*;

use crate::{
    Session,
    operation::{path_before, set_text},
};

/// How long rustfmt may take for one text. It takes milliseconds; a machine that does much else, or reads
/// the toolchain from a cold disk, makes seconds of them.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many bytes of text rustfmt is given for one plan: it takes about a second for each MiB, and up to
/// twice that where the text is as it was laid out. Four hundred files of ten kilobytes each.
const MOST_BYTES: usize = 4 << 20;

/// A rustfmt that can be started.
struct Formatter {
    rustfmt: PathBuf,
    patience: Duration,
    /// By what they say; of nothing, too.
    settings: Mutex<BTreeMap<String, Arc<Settings>>>,
    /// How many files of this tree more were laid out by rustfmt than were not, of those that were asked for.
    balance: AtomicIsize,
    /// Texts that took too long.
    late: AtomicUsize,
}

/// rustfmt took longer than [`PATIENCE`].
struct Late;

/// Why there is no rustfmt to ask.
enum NotFound {
    /// No toolchain has one that works.
    Missing,
    /// It took longer than [`PATIENCE`] for a text of nothing.
    Late,
}

/// Settings as a file that rustfmt can read.
struct Settings {
    /// Keeps the file where `path` leads; no settings need none.
    _file: Option<tempfile::NamedTempFile>,
    path: PathBuf,
}

/// A text that rustfmt is given.
struct Job {
    /// Which operation's.
    at: usize,
    bytes: usize,
    settings: Arc<Settings>,
}

/// Lays out the new texts of `operations`; what could not be done comes back as a note.
pub fn lay_out(operations: &mut [Operation], session: &Session) -> Option<Finding> {
    let edited = operations.iter().enumerate();
    let edited = edited.filter(|(_, operation)| edited_rust(operation).is_some());
    let jobs: Vec<usize> = edited.map(|(at, _)| at).collect();
    if jobs.is_empty() {
        return None;
    }
    let formatter = match Formatter::find(session.tree.root()) {
        Ok(formatter) => formatter,
        Err(NotFound::Missing) => return Some(missing()),
        Err(NotFound::Late) => return Some(too_late(jobs.len())),
    };
    let (asked, kept) = within(formatter.asked_for(&jobs, operations, session));
    let laid_out: Vec<(usize, String)> = asked
        .into_par_iter()
        .filter_map(|job| {
            let operation = operations.get(job.at)?;
            Some((job.at, formatter.operation(operation, &job, session)?))
        })
        .collect();
    for (at, new) in laid_out {
        if let Some(operation) = operations.get_mut(at) {
            set_text(operation, new);
        }
    }
    not_all(formatter.late.into_inner(), kept)
}

/// What is said where `late` texts took too long and `kept` more were not asked for.
fn not_all(late: usize, kept: usize) -> Option<Finding> {
    match (late, kept) {
        (0, 0) => None,
        (0, kept) => Some(too_many(kept)),
        (late, kept) => Some(too_late(late + kept)),
    }
}

/// The files that rustfmt is given, and how many are beyond what it is given for one plan.
fn within(jobs: Vec<Job>) -> (Vec<Job>, usize) {
    let mut left = MOST_BYTES;
    let all = jobs.len();
    let asked: Vec<Job> = jobs
        .into_iter()
        .take_while(|job| {
            let fits = job.bytes <= left;
            left = left.saturating_sub(job.bytes);
            fits
        })
        .collect();
    let kept = all - asked.len();
    (asked, kept)
}

fn missing() -> Finding {
    remark(
        "no toolchain with rustfmt was found: edited Rust files keep the layout of the edits",
        "install it (`rustup component add rustfmt`), or run it afterwards",
    )
}

fn too_many(kept: usize) -> Finding {
    let why = format!(
        "rustfmt is given {} MiB of text for one plan",
        MOST_BYTES >> 20
    );
    not_laid_out(kept, &why)
}

fn too_late(kept: usize) -> Finding {
    let why = format!("rustfmt took longer than {} s", PATIENCE.as_secs());
    not_laid_out(kept, &why)
}

fn not_laid_out(kept: usize, why: &str) -> Finding {
    let files = match kept {
        1 => "one edited Rust file keeps".to_owned(),
        more => format!("{more} edited Rust files keep"),
    };
    remark(
        &format!("{files} the layout of the edits: {why}"),
        "run it afterwards (`cargo fmt`)",
    )
}

fn remark(message: &str, help: &str) -> Finding {
    Finding {
        code: codes::PLAN_REMARK,
        severity: Severity::Note,
        path: TreePath::root(),
        span: None,
        message: message.to_owned(),
        help: Some(help.to_owned()),
    }
}

/// The path after and the new text of a Rust file.
fn edited_rust(operation: &Operation) -> Option<(&TreePath, &str)> {
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
    fn of(rustfmt: PathBuf) -> Self {
        Self {
            rustfmt,
            patience: PATIENCE,
            settings: Mutex::default(),
            balance: AtomicIsize::new(0),
            late: AtomicUsize::new(0),
        }
    }

    /// The one of a toolchain, which has answered.
    fn find(root: &Path) -> Result<Self, NotFound> {
        let formatter = Self::of(toolchain::rustfmt(root).ok_or(NotFound::Missing)?);
        let nothing = formatter.settings("").ok_or(NotFound::Missing)?;
        match formatter.format("", &nothing, "2021") {
            Filtered::Text(_) => Ok(formatter),
            Filtered::Failed => Err(NotFound::Missing),
            Filtered::Late => Err(NotFound::Late),
        }
    }

    /// The files among `jobs` that rustfmt has something to say of.
    fn asked_for(&self, jobs: &[usize], operations: &[Operation], session: &Session) -> Vec<Job> {
        let job_of = |at: &usize| {
            let operation = operations.get(*at)?;
            let (path, text) = edited_rust(operation)?;
            let old = path_before(operation);
            let before = old.and_then(|old| session.tree.text(old));
            let settings = said(old.unwrap_or(path), session)?;
            let has_same_code = || {
                before
                    .as_ref()
                    .is_some_and(|before| same_code(before, text))
            };
            if !has_a_layout_of_comments(&settings) && has_same_code() {
                return None;
            }
            Some(Job {
                at: *at,
                bytes: text.len(),
                settings: self.settings(&settings)?,
            })
        };
        jobs.par_iter().filter_map(job_of).collect()
    }

    /// The text in its layout; `None` where it stays as it is.
    fn operation(&self, operation: &Operation, job: &Job, session: &Session) -> Option<String> {
        let (path, text) = edited_rust(operation)?;
        let old = path_before(operation);
        let before = old.and_then(|old| session.tree.text(old));
        let graph = &session.rust.graph;
        let edition = old.and_then(|old| graph.edition_of(old));
        let layout = Layout {
            formatter: self,
            settings: &job.settings,
            edition: edition
                .or_else(|| graph.edition_near(path))
                .unwrap_or("2021"),
        };
        layout
            .of_edited(before.as_deref(), text)
            .unwrap_or_else(|Late| {
                self.late.fetch_add(1, Ordering::Relaxed);
                None
            })
    }

    /// A text in rustfmt's layout; `None` where it does not take it.
    fn laid_out(
        &self,
        text: &str,
        settings: &Settings,
        edition: &str,
    ) -> Result<Option<String>, Late> {
        match self.format(text, settings, edition) {
            Filtered::Text(text) => Ok(Some(text)),
            Filtered::Failed => Ok(None),
            Filtered::Late => Err(Late),
        }
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

    fn format(&self, text: &str, settings: &Settings, edition: &str) -> Filtered {
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
        filter_text(&mut command, text, self.patience)
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
    let above = std::iter::successors(path.parent(), TreePath::parent);
    let mut files = above.flat_map(|directory| {
        let names = ["rustfmt.toml", ".rustfmt.toml"].into_iter();
        names.filter_map(move |name| directory.join(name).ok())
    });
    match files.find(|file| session.tree.exists(file)) {
        Some(file) => session.tree.text(&file).map(|text| text.to_string()),
        None => Some(String::new()),
    }
}

/// How rustfmt lays out a file of the tree.
struct Layout<'l> {
    formatter: &'l Formatter,
    settings: &'l Settings,
    edition: &'l str,
}

impl Layout<'_> {
    /// The text after an edit in its layout; `None` where it has that, or the text before had none.
    ///
    /// The same answer either way. In a tree that rustfmt has laid out an edit mostly leaves it so, and the
    /// text before need not be asked for; in another one the text after need not.
    fn of_edited(&self, before: Option<&str>, text: &str) -> Result<Option<String>, Late> {
        if self.formatter.balance.load(Ordering::Relaxed) < 0 {
            return match self.is_laid_out(before)? {
                true => self.changed(text),
                false => Ok(None),
            };
        }
        match self.changed(text)? {
            Some(new) if self.is_laid_out(before)? => Ok(Some(new)),
            _ => Ok(None),
        }
    }

    /// Whether rustfmt had laid out the text before; a new file has none.
    fn is_laid_out(&self, before: Option<&str>) -> Result<bool, Late> {
        let Some(before) = before else {
            return Ok(true);
        };
        // rustfmt makes a line of nothing.
        let is_laid_out = before.trim().is_empty() || self.of(before)?.as_deref() == Some(before);
        let balance = if is_laid_out { 1 } else { -1 };
        self.formatter.balance.fetch_add(balance, Ordering::Relaxed);
        Ok(is_laid_out)
    }

    /// A text in its layout, if that is another text.
    fn changed(&self, text: &str) -> Result<Option<String>, Late> {
        Ok(self.of(text)?.filter(|new| new != text))
    }

    fn of(&self, text: &str) -> Result<Option<String>, Late> {
        self.formatter.laid_out(text, self.settings, self.edition)
    }
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
    fn of_many_texts_the_first_are_laid_out() {
        let settings = Arc::new(Settings::new("").unwrap());
        let job = |bytes| Job {
            at: 0,
            bytes,
            settings: Arc::clone(&settings),
        };
        for (lengths, kept) in [
            (vec![], 0),
            (vec![MOST_BYTES], 0),
            (vec![MOST_BYTES, 1], 1),
            (vec![MOST_BYTES + 1, 1], 2),
            (vec![1, MOST_BYTES, 1], 2),
        ] {
            let asked = within(lengths.iter().copied().map(job).collect());
            assert_eq!(asked.1, kept, "{lengths:?}");
            assert_eq!(asked.0.len() + kept, lengths.len());
        }
        assert!(too_many(1).message.starts_with("one edited Rust file"));
    }

    #[test]
    fn the_settings_of_a_project_reach_rustfmt() {
        let Ok(formatter) = Formatter::find(Path::new("/nowhere")) else {
            println!("skipped: no rustfmt");
            return;
        };
        let text = "fn a() {\n    b();\n}\n";
        for (settings, expected) in [("", text), ("tab_spaces = 2\n", "fn a() {\n  b();\n}\n")] {
            let settings = formatter.settings(settings).unwrap();
            let formatted = formatter.format(text, &settings, "2024");
            assert_eq!(formatted, Filtered::Text(expected.to_owned()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_text_that_takes_too_long_is_told() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = tempfile::tempdir().unwrap();
        let slow = directory.path().join("rustfmt");
        std::fs::write(&slow, "#!/bin/sh\nsleep 60\n").unwrap();
        std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o700)).unwrap();
        let formatter = Formatter {
            patience: Duration::from_millis(50),
            ..Formatter::of(slow)
        };
        let settings = formatter.settings("").unwrap();
        let laid_out = formatter.laid_out("fn a() {}\n", &settings, "2024");
        assert!(laid_out.is_err());
        let told = |late, kept| not_all(late, kept).map(|found| found.message);
        assert_eq!(told(0, 0), None);
        assert_eq!(
            told(1, 0).as_deref(),
            Some(
                "one edited Rust file keeps the layout of the edits: rustfmt took longer than 30 s"
            )
        );
        assert!(told(2, 3).unwrap().starts_with("5 edited Rust files keep"));
    }
}
