//! A migration as commits: a tree, a commit and a place on the branch for each of its steps.
//!
//! Everything is written by this process, as objects of the repository: no `git` is started, and so no
//! hook, filter, file system monitor or signing program. Files of the tree are not touched here. First
//! the commits are made, which nothing names yet; when the tree is written, the branch is led to the
//! last of them and the index is told what it has.

mod clean;
mod identity;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use coalesce_model::TreePath;
use gix::{
    ObjectId, Repository,
    actor::Signature,
    bstr::{BString, ByteSlice as _},
    index::{self, entry::Stat},
    objs::tree::EntryKind,
    refs::{
        Target,
        transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog},
    },
};

use crate::{
    CommitStep, Content, Error, ErrorKind, FileChange,
    dirty::{Checkout, discover, trouble, within_patience},
};

/// Commits that nothing names yet.
#[derive(Clone, Debug)]
pub struct Commits {
    root: PathBuf,
    /// What the branch led to.
    base: ObjectId,
    /// In the order of the steps.
    made: Vec<ObjectId>,
    /// The files that differ between the first and the last of them.
    changed: Vec<TreePath>,
    /// First line of the last message.
    subject: String,
    committer: Signature,
    unsigned: bool,
}

impl Commits {
    /// Makes a commit for each step, on top of what is checked out. `read` are the files that the
    /// steps were worked out from: whoever checks the commits out later has to find them.
    ///
    /// # Errors
    /// Where there is no repository, it is not one's own, something is under way in it, a file of it
    /// differs from its last commit, a file would be converted on its way into a commit, or git does
    /// not know who commits.
    pub fn make(root: &Path, read: &[TreePath], steps: &[CommitStep]) -> Result<Self, Error> {
        let (root, read, steps) = (root.to_owned(), read.to_vec(), steps.to_vec());
        within_patience(move || make(&root, &read, &steps))
    }

    /// Leads the branch to the last commit, and has the index list what it has.
    ///
    /// # Errors
    /// When the branch leads elsewhere by now, or another program holds it or the index.
    pub fn publish(&self) -> Result<(), Error> {
        let own = self.clone();
        within_patience(move || {
            let repository = discover(&own.root)?.ok_or_else(no_repository)?;
            own.lead_branch(&repository)?;
            own.list(&repository)
        })
    }

    /// What the branch led to before, by its full hash.
    #[must_use]
    pub fn base(&self) -> String {
        self.base.to_string()
    }

    /// The full hashes of the commits, in the order of the steps.
    #[must_use]
    pub fn hashes(&self) -> Vec<String> {
        self.made.iter().map(ToString::to_string).collect()
    }

    /// Whether git is configured to sign commits, which these are not.
    #[must_use]
    pub const fn lack_signature(&self) -> bool {
        self.unsigned
    }

    fn lead_branch(&self, repository: &Repository) -> Result<(), Error> {
        let Some(last) = self.made.last() else {
            return Ok(());
        };
        let log = LogChange {
            mode: RefLog::AndReference,
            force_create_reflog: false,
            message: BString::from(format!("coalesce: {}", self.subject)),
        };
        let edit = RefEdit {
            change: Change::Update {
                log,
                expected: PreviousValue::MustExistAndMatch(Target::Object(self.base)),
                new: Target::Object(*last),
            },
            name: "HEAD".try_into().map_err(trouble)?,
            deref: true,
        };
        let mut time = gix::date::parse::TimeBuf::default();
        let committer = Some(self.committer.to_ref(&mut time));
        repository
            .edit_references_as([edit], committer)
            .map(drop)
            .map_err(|error| moved_on(&error.to_string()))
    }

    /// The index with the entries of the last commit, each with the state of its file as it is now.
    fn list(&self, repository: &Repository) -> Result<(), Error> {
        let Some(last) = self.made.last() else {
            return Ok(());
        };
        let tree = repository.find_commit(*last).map_err(trouble)?;
        let tree = tree.tree().map_err(trouble)?;
        let checkout = Checkout::of(repository, &self.root)?.ok_or_else(no_repository)?;
        let inside = |path: &TreePath| checkout.inside(path);
        let names: BTreeMap<BString, &TreePath> = self
            .changed
            .iter()
            .map(|path| (inside(path).into(), path))
            .collect();
        let mut index = repository.open_index().map_err(trouble)?;
        index.remove_entries(|_, path, _| names.contains_key(path));
        for (name, path) in &names {
            let entry = tree.lookup_entry_by_path(name.to_str_lossy().as_ref());
            let Some(entry) = entry.map_err(trouble)? else {
                continue;
            };
            let file = self.root.join(path.as_str());
            let stat = index::fs::Metadata::from_path_no_follow(&file).map_err(trouble)?;
            let stat = Stat::from_fs(&stat).map_err(trouble)?;
            index.dangerously_push_entry(
                stat,
                entry.object_id(),
                index::entry::Flags::empty(),
                entry.mode().into(),
                name.as_bstr(),
            );
        }
        index.sort_entries();
        // Both are of the entries as they were.
        index.remove_tree();
        index.remove_resolve_undo();
        index
            .write(index::write::Options::default())
            .map_err(trouble)
    }
}

fn make(root: &Path, read: &[TreePath], steps: &[CommitStep]) -> Result<Commits, Error> {
    let repository = discover(root)?.ok_or_else(no_repository)?;
    clean::refuse_foreign(&repository)?;
    let checkout = Checkout::of(&repository, root)?.ok_or_else(no_repository)?;
    clean::refuse_unclean(&repository, &checkout, read)?;
    let known = identity::Identity::of(&repository);
    let (author, committer) = (known.signature("author")?, known.signature("committer")?);
    let base = repository.head_id().map_err(trouble)?.detach();
    let mut made: Vec<ObjectId> = Vec::new();
    for step in steps {
        clean::refuse_converted(&checkout, &step.changes)?;
        let tree = tree(&repository, &checkout, &step.changes)?;
        let parent = made.last().copied().unwrap_or(base);
        let (mut first, mut second) = Default::default();
        let commit = repository.new_commit_as(
            committer.to_ref(&mut first),
            author.to_ref(&mut second),
            &step.message,
            tree,
            [parent],
        );
        made.push(commit.map_err(trouble)?.id);
    }
    let mut changed: Vec<TreePath> = steps
        .iter()
        .flat_map(|step| step.changes.iter().map(|change| change.path.clone()))
        .collect();
    changed.sort();
    changed.dedup();
    let message = steps.last().map_or("", |step| step.message.as_str());
    Ok(Commits {
        root: root.to_owned(),
        base,
        made,
        changed,
        subject: message.lines().next().unwrap_or_default().to_owned(),
        committer,
        unsigned: known.signs(),
    })
}

/// The tree of what is checked out with these changes made to it.
fn tree(
    repository: &Repository,
    checkout: &Checkout<'_>,
    changes: &[FileChange],
) -> Result<ObjectId, Error> {
    let head = repository.head_tree().map_err(trouble)?;
    let mut editor = head.edit().map_err(trouble)?;
    for change in changes {
        let name = checkout.inside(&change.path);
        match &change.after {
            Some(content) => {
                let blob = repository.write_blob(&content.bytes).map_err(trouble)?;
                let kind = kind(change, content);
                editor.upsert(name.as_str(), kind, blob).map_err(trouble)?;
            }
            None => drop(editor.remove_leaf(name.as_str()).map_err(trouble)?),
        }
    }
    Ok(editor.write().map_err(trouble)?.detach())
}

/// Whether a commit calls a file executable: it does when its owner may start it.
fn kind(change: &FileChange, content: &Content) -> EntryKind {
    let mode = content.mode.or(change.before.map(|before| before.mode));
    match mode.is_some_and(|mode| mode & 0o100 != 0) {
        true => EntryKind::BlobExecutable,
        false => EntryKind::Blob,
    }
}

fn no_repository() -> Error {
    let message = "commits are made in a git repository that holds the tree, and there is none";
    Error::new(ErrorKind::Repository, message)
}

fn moved_on(error: &str) -> Error {
    let message = format!("the branch could not be led to the commits: {error}");
    Error::new(ErrorKind::Repository, message)
}

/// Whether something is at a path, followed nowhere.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
