//! What importing a module leaves behind: the names that modules come to have, what the whole process shares, what
//! was warned of, and what reached out of the process.
//!
//! Each module is imported in a new interpreter. Two trees are compared by the answers to the same questions; what
//! the second one calls otherwise is told by its names before.

use std::{collections::BTreeMap, fs, path::PathBuf, thread};

use coalesce_model::TreePath;
use serde::{Deserialize, Serialize};

use crate::{
    check::{Limits, last_lines},
    error::{Error, ErrorKind},
    python::{MODULE_SECONDS, absolute, read_report, run, write},
    scratch::Scratch,
};

const STATES: &str = include_str!("states.py");

/// The questions for one tree.
#[derive(Clone, Debug, Default)]
pub struct ImportQuestions {
    /// Whether they are the first ones: what was kept of others goes.
    pub anew: bool,
    /// Directories that names begin at.
    pub roots: Vec<TreePath>,
    /// First parts of the names of the tree's own modules.
    pub own: Vec<String>,
    /// The modules whose imports are asked for.
    pub asked: Vec<ImportQuestion>,
    /// Names of modules and items, each with the one that it is known by in both trees.
    pub names: BTreeMap<String, String>,
    /// Files of which it matters whom they call while they are executed.
    pub watched: Vec<TreePath>,
    /// Whether somebody asks classes for their subclasses.
    pub subclasses: bool,
}

/// One import that is asked for.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ImportQuestion {
    /// The module.
    pub module: String,
    /// Modules from outside that are imported afterwards, since the other tree has loaded them.
    pub then_outside: Vec<String>,
    /// The same of the tree, after those.
    pub then: Vec<String>,
}

/// What a module that was loaded comes to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LoadedModule {
    /// Whether it is of the tree.
    pub own: bool,
    /// The digest of all that it has.
    pub digest: String,
}

/// What an import leaves behind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ImportState {
    number: usize,
    /// Why it failed; everything else is empty then.
    pub error: Option<String>,
    /// What was to be imported afterwards, and could not.
    pub failed: Vec<String>,
    /// Digests of what the whole process shares.
    pub process: BTreeMap<String, String>,
    /// The same of what libraries keep for it, once others were imported besides.
    pub process_later: BTreeMap<String, String>,
    /// Warnings, in their order.
    pub told: Vec<String>,
    /// What reached out of the process, in its order.
    pub outside: Vec<String>,
    /// First parts of the names of what the watched files named or called.
    pub used: Vec<String>,
    /// Compiled libraries that the watched files used.
    pub compiled: Vec<String>,
    /// The modules that the import has loaded, by the names that both trees know.
    pub modules: BTreeMap<String, LoadedModule>,
    /// Those that were loaded afterwards.
    pub later: BTreeMap<String, LoadedModule>,
}

/// What the names of a module of the tree come to, by name; those that are modules begin so.
pub type ModuleNames = BTreeMap<String, String>;

/// Asks the questions, on the copy as it is; the answers come in the order of the questions.
pub(crate) fn ask(
    scratch: &Scratch,
    questions: &ImportQuestions,
    limits: Limits,
) -> Result<Vec<ImportState>, Error> {
    let details = details(scratch);
    if questions.anew && details.exists() {
        fs::remove_dir_all(&details).map_err(|error| Error::copy(&details, &error))?;
    }
    fs::create_dir_all(&details).map_err(|error| Error::copy(&details, &error))?;
    let report = write(scratch, "states.jsonl", "")?;
    let program = write(scratch, "states.py", STATES)?;
    let watched = questions.watched.iter();
    let watched: Vec<PathBuf> = watched
        .map(|path| scratch.tree().join(path.as_str()))
        .collect();
    let task = serde_json::json!({
        "tree": scratch.tree(),
        "roots": absolute(scratch, &questions.roots),
        "own": questions.own,
        "asked": questions.asked,
        "names": questions.names,
        "watched": watched,
        "subclasses": questions.subclasses,
        "seconds": limits.time.as_secs().clamp(1, MODULE_SECONDS),
        "jobs": thread::available_parallelism().map_or(1, usize::from),
        "report": report,
        "details": details,
    });
    let task = write(scratch, "states.json", &task.to_string())?;
    let label = "what imports leave behind";
    let done = run(scratch, label, limits, |command| {
        command
            .arg(&program)
            .arg(&task)
            // Sets are to have one order.
            .env("PYTHONHASHSEED", "0");
    })?;
    let mut states = read_report::<ImportState>(&report, label)?;
    if states.len() != questions.asked.len() {
        let told = last_lines(&done.stderr);
        let message = format!(
            "{label}: {} of {}: {told}",
            states.len(),
            questions.asked.len()
        );
        return Err(Error::new(ErrorKind::Report, message));
    }
    states.sort_by_key(|state| state.number);
    Ok(states)
}

/// What a module of the tree had, by the digest of it; nothing where that is not known.
pub(crate) fn names(scratch: &Scratch, digest: &str) -> ModuleNames {
    let text = fs::read_to_string(details(scratch).join(digest));
    let names = text.ok().and_then(|text| serde_json::from_str(&text).ok());
    names.unwrap_or_default()
}

fn details(scratch: &Scratch) -> PathBuf {
    scratch.directory().join("states")
}
