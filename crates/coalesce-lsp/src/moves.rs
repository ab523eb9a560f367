//! Moves of modules and items: planned and proven by the engine, written through the journal.

use coalesce_engine::{
    Failure, MigrationPlan, PlanOptions, PreparedMigration, Session, UncommittedChanges, answer,
    manifests, plan,
};
use coalesce_model::{
    ContentHash, LanguageGraph, TreePath,
    envelope::Grade,
    manifest::{EntryText, Verb},
};
use coalesce_plan::Operation;
use lsp_server::ErrorCode;
use serde::{Deserialize, Serialize};

use crate::{
    documents::Documents,
    names::{Named, named_at},
    workspace::Workspace,
};

/// The command that moves a module or an item: [`MoveArguments`].
pub const MOVE: &str = "coalesce.move";
/// The command that asks where to move what stands at a place.
pub const MOVE_HERE: &str = "coalesce.moveHere";
/// The command that takes a move back: [`RollbackArguments`].
pub const ROLLBACK: &str = "coalesce.rollback";

/// What [`MOVE`] takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MoveArguments {
    /// Full name of the module or item.
    pub from: String,
    /// Its full name afterwards.
    pub to: String,
    /// Leave a shim at the old name.
    #[serde(default)]
    pub shim: bool,
    /// Move also where places are left that could not be proven.
    #[serde(default)]
    pub allow_unproven: bool,
    /// Also touch files with uncommitted changes.
    #[serde(default)]
    pub allow_dirty: bool,
}

/// What [`ROLLBACK`] takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RollbackArguments {
    /// The migration; the last one when left out.
    #[serde(default)]
    pub id: Option<String>,
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The request cannot be read.
    #[error("{0}")]
    Invalid(String),
    /// The request is plain, and the state of the tree, or of a buffer, is against it.
    #[error("{0}")]
    Impossible(String),
}

impl Refused {
    /// The code that the protocol has for it.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Self::Invalid(_) => ErrorCode::InvalidParams as i32,
            Self::Impossible(_) => ErrorCode::RequestFailed as i32,
        }
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        let entry = failure.entry();
        let parts = std::iter::once(&entry.message).chain(&entry.hints);
        Self::Impossible(parts.map(String::as_str).collect::<Vec<_>>().join("; "))
    }
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    /// The name by which it is taken back.
    pub migration: String,
    /// Files that were written, removed or put back.
    pub files: Vec<String>,
    /// How it is taken back, and what does not.
    pub undo: String,
}

/// Plans, proves and writes a move.
///
/// # Errors
/// When it does not fit the tree, is refused, or a buffer that it concerns is not saved.
pub fn carry_out(
    workspace: &Workspace,
    documents: &Documents,
    arguments: &MoveArguments,
) -> Result<Done, Refused> {
    let store = workspace.store()?;
    let session = workspace.read()?;
    let moved = [(arguments.from.clone(), arguments.to.clone())];
    let planned = plan_moves(&session, &moved, arguments.shim)?;
    if planned.nothing_to_do() {
        return Err(Refused::Impossible("there is nothing to do".to_owned()));
    }
    refuse_unsaved(workspace, documents, &planned, &[&arguments.from])?;
    let unproven = unproven(&planned);
    if let Some(places) = unproven.filter(|_| !arguments.allow_unproven) {
        let message = format!("{places}; `allowUnproven` moves all the same");
        return Err(Refused::Impossible(message));
    }
    let uncommitted = match arguments.allow_dirty {
        true => UncommittedChanges::Touch,
        false => UncommittedChanges::Refuse,
    };
    let prepared = PreparedMigration::new(&session, &planned, uncommitted)?;
    let applied = prepared.apply(&store)?;
    Ok(Done {
        files: applied.paths.iter().map(ToString::to_string).collect(),
        undo: format!(
            "`{ROLLBACK}`, or `coalesce rollback {}`, takes it back; the editor's own undo does not \
             know of it",
            applied.id
        ),
        migration: applied.id,
    })
}

/// Takes a migration back.
///
/// # Errors
/// When one of its files has changed since, on disk or in a buffer.
pub fn roll_back(
    workspace: &Workspace,
    documents: &Documents,
    arguments: &RollbackArguments,
) -> Result<Done, Refused> {
    let none = || Refused::Impossible("no such migration".to_owned());
    let store = workspace.store()?;
    let history = store.history().map_err(Failure::from)?;
    let id = arguments.id.as_ref();
    let mut wanted = history.iter();
    let wanted = wanted.find(|record| id.is_none_or(|id| *id == record.id));
    let record = wanted.ok_or_else(none)?;
    let unsaved = documents.unsaved(workspace, |path, _| record.paths.contains(path));
    save_first(&unsaved)?;
    let undone = store.rollback(Some(&record.id)).map_err(Failure::from)?;
    let undone = undone.ok_or_else(none)?;
    Ok(Done {
        migration: undone.id,
        files: undone.paths.iter().map(ToString::to_string).collect(),
        undo: "the same move again does it anew".to_owned(),
    })
}

/// The plan of several moves.
///
/// # Errors
/// When they do not fit the tree, or are refused.
pub fn plan_moves(
    session: &Session,
    moves: &[(String, String)],
    shim: bool,
) -> Result<MigrationPlan, Refused> {
    let text = manifest_of(moves, shim)?;
    // The journal knows a manifest by its name: one text has one, two texts have two.
    let label = format!("editor-{}.toml", ContentHash::of(text.as_bytes()));
    let manifests = manifests(session, vec![(label, text)])?;
    let planned = plan(session, &manifests, PlanOptions::default())?;
    if planned.refused() {
        let reasons = planned.assembled.refusals.iter().take(3);
        let reasons = reasons.map(|refusal| format!("{}: {}", refusal.path, refusal.message));
        return Err(Refused::Impossible(reasons.collect::<Vec<_>>().join("\n")));
    }
    Ok(planned)
}

fn manifest_of(moves: &[(String, String)], shim: bool) -> Result<String, Refused> {
    let mut names = moves.iter().flat_map(|(from, to)| [from, to]);
    if let Some(name) = names.find(|name| !is_name(name)) {
        return Err(Refused::Invalid(format!("`{name}` is no full name")));
    }
    let mut text = "schema = 1\n".to_owned();
    for (from, to) in moves {
        let entry = EntryText {
            shim,
            ..EntryText::new(Verb::Move, from, Some(to.clone()))
        };
        text.push('\n');
        text.push_str(&entry.table());
    }
    Ok(text)
}

/// Segments of letters, digits and underscores, parted as a language parts them: nothing that would
/// end a string of a manifest.
fn is_name(name: &str) -> bool {
    let word = |part: &str| {
        let part = part.strip_prefix("r#").unwrap_or(part);
        !part.is_empty() && part.chars().all(|c| c == '_' || c.is_alphanumeric())
    };
    name.split("::").flat_map(|part| part.split('.')).all(word)
}

/// The places that could not be proven, in a sentence; `None` where there is none.
#[must_use]
pub fn unproven(planned: &MigrationPlan) -> Option<String> {
    if answer(planned, None).grade != Some(Grade::NotProven) {
        return None;
    }
    let places = &planned.assembled.unproven;
    let shown = places.iter().take(3);
    let shown = shown.map(|place| format!("{}: {}", place.path, place.why));
    let shown = shown.collect::<Vec<_>>().join("; ");
    Some(format!(
        "{} places could not be proven, such as {shown}",
        places.len()
    ))
}

/// Refuses a plan while a buffer that it concerns is not saved: one of a file that it touches, or one
/// in which a name that moves stands, which the file on disk may not have.
///
/// # Errors
/// When there is one.
pub fn refuse_unsaved(
    workspace: &Workspace,
    documents: &Documents,
    planned: &MigrationPlan,
    moved: &[&str],
) -> Result<(), Refused> {
    let words = moved
        .iter()
        .filter_map(|name| name.rsplit(['.', ':']).next());
    let words: Vec<&str> = words.collect();
    let touches = |path: &TreePath| {
        let operations = planned.assembled.operations.iter();
        operations.into_iter().any(|operation| match operation {
            Operation::Move { from, to, .. } => from == path || to == path,
            other => other.path() == path,
        })
    };
    let unsaved = documents.unsaved(workspace, |path, document| {
        touches(path) || words.iter().any(|word| document.text.contains(word))
    });
    save_first(&unsaved)
}

/// What to do about buffers that are not what their files say: changed here, or there.
pub(crate) fn save_or_read(names: &str) -> String {
    format!("save {names} first, or read it again: the buffer differs from the file")
}

fn save_first(unsaved: &[&TreePath]) -> Result<(), Refused> {
    if unsaved.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = unsaved.iter().map(ToString::to_string).collect();
    let message = save_or_read(&names.join(", "));
    Err(Refused::Impossible(message))
}

/// Modules that what stands at a place could go to, the nearest first, with its name there.
///
/// # Errors
/// When nothing that can move stands there.
pub fn targets(
    session: &Session,
    path: &TreePath,
    text: &str,
    offset: usize,
) -> Result<(Named, Vec<String>), Refused> {
    const OFFERED: usize = 8;
    let nothing = || Refused::Impossible("nothing that can move stands here".to_owned());
    let named = named_at(session, path, text, offset).ok_or_else(nothing)?;
    let separator = named.language.separator();
    let graph = session.part(named.language).graph();
    let (home, last) = named.name.rsplit_once(separator).ok_or_else(nothing)?;
    let common = |module: &str| {
        let both = module.split(separator).zip(home.split(separator));
        both.take_while(|(a, b)| a == b).count()
    };
    let mut names: Vec<&str> = homes(graph, &named.name, home);
    names.sort_by_key(|name| (std::cmp::Reverse(common(name)), name.len(), *name));
    names.dedup();
    let names = names.into_iter().take(OFFERED);
    let targets = names
        .map(|name| format!("{name}{separator}{last}"))
        .collect();
    Ok((named, targets))
}

/// Modules that what is called `name` could go to from its home: a module to a package alone.
fn homes<'g>(graph: &'g dyn LanguageGraph, name: &str, home: &str) -> Vec<&'g str> {
    let mut modules = graph.modules().iter();
    let is_module = modules.any(|module| module.name == name);
    let fitting = graph.modules().iter().filter(|module| {
        let inside = module.name == name || module.name == home;
        !inside && module.inline.is_none() && (!is_module || module.package)
    });
    fitting.map(|module| module.name.as_str()).collect()
}
