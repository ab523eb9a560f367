//! Files that the editor is about to rename: the edits that follow, as long as they and the renames
//! are all that the move takes.

use std::collections::BTreeMap;

use coalesce_engine::{MigrationPlan, Session};
use coalesce_model::{LanguageKind, Root, TreePath};
use coalesce_plan::Operation;
use lsp_types::{
    CreateFile, CreateFileOptions, DocumentChangeOperation, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, ResourceOp, TextDocumentEdit, TextEdit, Uri,
    WorkspaceEdit,
};

use crate::{
    documents::Documents,
    edits,
    lines::Encoding,
    moves::{Refused, plan_moves, refuse_unsaved, unproven},
    names::language_of,
    workspace::Workspace,
};

/// What an editor understands of edits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Abilities {
    /// What columns count.
    pub encoding: Encoding,
    /// Whether edits may be tied to versions of buffers.
    pub versions: bool,
    /// Whether edits may make files.
    pub creates: bool,
}

/// A file or a folder that gets another path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// Path before.
    pub from: TreePath,
    /// Path after.
    pub to: TreePath,
}

impl Rename {
    /// Whether this rename takes a file to `to`.
    fn takes(&self, from: &TreePath, to: &TreePath) -> bool {
        match from.strip_prefix(&self.from) {
            Some("") => *to == self.to,
            Some(rest) => to.strip_prefix(&self.to) == Some(rest),
            None => false,
        }
    }
}

/// What goes with renames.
#[derive(Debug)]
pub struct Follow {
    /// The edits; the editor's own undo takes them back.
    pub edit: WorkspaceEdit,
    /// What could not be proven of them.
    pub unproven: Option<String>,
}

/// Works out what goes with renames of modules; `None` where none is one, or nothing names them.
///
/// # Errors
/// When the move is refused, when a buffer that it concerns is not saved, or when it takes more than
/// edits beside the renames.
pub fn follow(
    workspace: &Workspace,
    documents: &Documents,
    renames: &[Rename],
    abilities: Abilities,
) -> Result<Option<Follow>, Refused> {
    let session = workspace.read()?;
    let mut moves = Vec::new();
    for rename in renames {
        moves.extend(names_of(&session, rename)?);
    }
    if moves.is_empty() {
        return Ok(None);
    }
    workspace.store()?;
    let planned = plan_moves(&session, &moves, false)?;
    if planned.nothing_to_do() {
        return Ok(None);
    }
    let old: Vec<&str> = moves.iter().map(|(from, _)| from.as_str()).collect();
    refuse_unsaved(workspace, documents, &planned, &old)?;
    refuse_more(&planned, renames, abilities)?;
    let edit = as_edit(workspace, documents, &planned, abilities)?;
    Ok(Some(Follow {
        edit,
        unproven: unproven(&planned),
    }))
}

/// The full names before and after; `None` where the file is no module.
fn names_of(session: &Session, rename: &Rename) -> Result<Option<(String, String)>, Refused> {
    let Some(language) = language_of_either(session, &rename.from) else {
        return Ok(None);
    };
    let graph = session.part(language).graph();
    let known = |name: &String| {
        let mut modules = graph.modules().iter();
        modules.any(|module| module.name == *name && module.inline.is_none())
    };
    let Some(from) = name_by_place(session, language, &rename.from).filter(known) else {
        return Ok(None);
    };
    match name_by_place(session, language, &rename.to) {
        Some(to) => Ok(Some((from, to))),
        None => Err(Refused::Impossible(format!(
            "`{from}` would have no name at {}",
            rename.to
        ))),
    }
}

/// The language of a file, or of the package that a folder is.
fn language_of_either(session: &Session, path: &TreePath) -> Option<LanguageKind> {
    let of_folder = || {
        LanguageKind::ALL.into_iter().find(|language| {
            let modules = session.part(*language).graph().modules();
            let mut packages = modules.iter().filter(|module| module.package);
            packages.any(|module| module.path.parent().as_ref() == Some(path))
        })
    };
    language_of(path).or_else(of_folder)
}

/// The name that a module has by the place of its file, below the nearest root. A module that a
/// `#[path]` puts elsewhere has another one; then the plan moves other files, and is refused.
fn name_by_place(session: &Session, language: LanguageKind, path: &TreePath) -> Option<String> {
    let graph = session.part(language).graph();
    let named = graph.grammar().lexicon().roots_are_named;
    let roots = graph.roots().iter().filter_map(|root| {
        let folder = folder_of(root, named)?;
        let inside = path.strip_prefix(&folder)?.to_owned();
        let nearness = folder.as_str().len();
        // Of several targets in one folder, the library has the module.
        Some((nearness, root.kind == "lib", root.name.clone(), inside))
    });
    let (_, _, root, inside) = roots.max()?;
    let mut parts = parts_of(&inside, language_of(path).is_some());
    if named {
        parts.insert(0, &root);
    }
    let name = parts.join(language.separator());
    (!name.is_empty()).then_some(name)
}

/// The parts of the name of a file or folder; a file that stands for its folder has that one's.
fn parts_of(inside: &str, is_file: bool) -> Vec<&str> {
    let stem = match is_file {
        true => inside.rsplit_once('.').map_or("", |(stem, _)| stem),
        false => inside,
    };
    let mut parts: Vec<&str> = stem.split('/').filter(|part| !part.is_empty()).collect();
    if is_file && matches!(parts.last(), Some(&("__init__" | "mod"))) {
        parts.pop();
    }
    parts
}

/// The folder below which names begin at a root.
fn folder_of(root: &Root, named: bool) -> Option<TreePath> {
    match named {
        true => root.path.parent(),
        false => Some(root.path.clone()),
    }
}

/// Refuses a plan that takes more than the editor is about to do.
fn refuse_more(
    planned: &MigrationPlan,
    renames: &[Rename],
    abilities: Abilities,
) -> Result<(), Refused> {
    let more = planned
        .assembled
        .operations
        .iter()
        .find_map(|operation| match operation {
            Operation::Edit { .. } => None,
            Operation::Create { .. } if abilities.creates => None,
            Operation::Create { path, .. } => Some(format!("{path} has to be made")),
            Operation::Delete { path } => Some(format!("{path} has to go")),
            Operation::Move { from, to, .. } => {
                let taken = renames.iter().any(|rename| rename.takes(from, to));
                (!taken).then(|| format!("{from} has to go to {to}"))
            }
        });
    match more {
        None => Ok(()),
        Some(more) => Err(Refused::Impossible(format!(
            "{more}, which no edit does; the command `{}` does all of it",
            crate::MOVE
        ))),
    }
}

fn as_edit(
    workspace: &Workspace,
    documents: &Documents,
    planned: &MigrationPlan,
    abilities: Abilities,
) -> Result<WorkspaceEdit, Refused> {
    let mut created = Vec::new();
    let mut changed = Vec::new();
    for operation in &planned.assembled.operations {
        let Some((path, text)) = written(operation) else {
            continue;
        };
        let document = documents.get(path);
        let uri = documents.uri(workspace, path);
        let uri =
            uri.ok_or_else(|| Refused::Impossible(format!("{path} cannot be written as a URI")))?;
        let before = if matches!(operation, Operation::Create { .. }) {
            created.push(uri.clone());
            String::new()
        } else {
            let saved = workspace.saved_text(path);
            saved.ok_or_else(|| Refused::Impossible(format!("{path} cannot be read any more")))?
        };
        changed.push(ChangedFile {
            uri,
            version: document.map(|document| document.version),
            edits: edits::between(&before, text, abilities.encoding),
        });
    }
    changed.retain(|file| !file.edits.is_empty());
    Ok(if abilities.versions {
        versioned(created, changed)
    } else {
        let changes = changed.into_iter().map(|file| (file.uri, file.edits));
        WorkspaceEdit::new(changes.collect())
    })
}

/// The text that an operation writes. Edits come before the renames: a moved file is edited where it was.
const fn written(operation: &Operation) -> Option<(&TreePath, &str)> {
    match operation {
        Operation::Move {
            from,
            text: Some(text),
            ..
        } => Some((from, text.as_str())),
        Operation::Edit { path, text } | Operation::Create { path, text, .. } => {
            Some((path, text.as_str()))
        }
        Operation::Move { text: None, .. } | Operation::Delete { .. } => None,
    }
}

/// A file with what changes in it.
struct ChangedFile {
    uri: Uri,
    /// That of the buffer, where one is open.
    version: Option<i32>,
    edits: Vec<TextEdit>,
}

fn versioned(created: Vec<Uri>, changed: Vec<ChangedFile>) -> WorkspaceEdit {
    let create = |uri| {
        DocumentChangeOperation::Op(ResourceOp::Create(CreateFile {
            uri,
            options: Some(CreateFileOptions {
                overwrite: Some(false),
                ignore_if_exists: Some(false),
            }),
            annotation_id: None,
        }))
    };
    let edits = changed.into_iter().map(|file| TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier {
            uri: file.uri,
            version: file.version,
        },
        edits: file.edits.into_iter().map(OneOf::Left).collect(),
    });
    let changes = if created.is_empty() {
        DocumentChanges::Edits(edits.collect())
    } else {
        let edits = edits.map(DocumentChangeOperation::Edit);
        DocumentChanges::Operations(created.into_iter().map(create).chain(edits).collect())
    };
    WorkspaceEdit {
        document_changes: Some(changes),
        ..WorkspaceEdit::default()
    }
}

/// Renames as the protocol tells them, those of the tree.
#[must_use]
pub fn renames_of(workspace: &Workspace, files: &[lsp_types::FileRename]) -> Vec<Rename> {
    let of = |file: &lsp_types::FileRename| {
        Some(Rename {
            from: workspace.path_of(&file.old_uri)?,
            to: workspace.path_of(&file.new_uri)?,
        })
    };
    let all: BTreeMap<TreePath, Rename> = files
        .iter()
        .filter_map(of)
        .map(|rename| (rename.from.clone(), rename))
        .collect();
    all.into_values().collect()
}
