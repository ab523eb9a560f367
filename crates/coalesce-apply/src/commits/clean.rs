//! When commits may be made: in a repository of one's own that is as its last commit.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path},
};

use coalesce_model::TreePath;
use coalesce_tree::plain::{self, Links};
use gix::{Repository, bstr::ByteSlice as _, index::entry::Mode, sec};

use super::is_there;
use crate::{
    Error, ErrorKind, FileChange,
    dirty::{Checkout, trouble},
};

/// Refuses a repository that is somebody else's, or stands elsewhere without knowing of this directory:
/// whoever made the tree would choose what is written to.
pub fn refuse_foreign(repository: &Repository) -> Result<(), Error> {
    if repository.git_dir_trust() != sec::Trust::Full {
        return Err(refusal("it belongs to somebody else"));
    }
    let Some(top) = repository.workdir() else {
        return Err(refusal("it has no working directory"));
    };
    let link = top.join(".git");
    let is_directory = fs::symlink_metadata(&link).is_ok_and(|metadata| metadata.is_dir());
    if !is_directory && !knows_of(repository, &link) {
        return Err(refusal(
            "it stands elsewhere and does not know of this directory",
        ));
    }
    let common = repository.common_dir();
    for below in ["objects", "refs", "refs/heads", "logs", "logs/refs"] {
        let path = common.join(below);
        if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(refusal(&format!("its directory {below} is a link")));
        }
    }
    Ok(())
}

/// Whether a repository that a file `.git` leads to names that file: then it is a linked checkout of it.
fn knows_of(repository: &Repository, link: &Path) -> bool {
    const LINE_BYTES: u64 = 1 << 16;
    let back = repository.git_dir().join("gitdir");
    let Ok(text) = plain::read_to_string(&back, LINE_BYTES, Links::Refuse) else {
        return false;
    };
    let named = Path::new(text.trim()).canonicalize();
    named.is_ok_and(|named| link.canonicalize().is_ok_and(|link| link == named))
}

/// Refuses a repository in which something is under way, or that differs from its last commit.
pub fn refuse_unclean(
    repository: &Repository,
    checkout: &Checkout<'_>,
    read: &[TreePath],
) -> Result<(), Error> {
    if let Some(state) = repository.state() {
        return Err(refusal(&format!("something is under way in it: {state:?}")));
    }
    let head = repository.head().map_err(trouble)?;
    if head.is_unborn() {
        return Err(refusal("it has no commit yet"));
    }
    if is_there(&repository.git_dir().join("index.lock")) {
        return Err(refusal("another program holds its index (index.lock)"));
    }
    let staged = staged(repository, checkout)?;
    if let Some(path) = staged.first() {
        return Err(refusal(&format!(
            "changes are staged in it, of {path}; commit or unstage them first"
        )));
    }
    let mut paths = checkout.listed();
    paths.extend(read.iter().cloned());
    let mut dirty = Vec::new();
    for path in paths {
        if checkout.differs(&path)? {
            dirty.push(path);
        }
    }
    match dirty.as_slice() {
        [] => Ok(()),
        some => {
            let names: Vec<&str> = some.iter().take(5).map(TreePath::as_str).collect();
            let more = some.len() - names.len();
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Err(Error::new(
                ErrorKind::Changed,
                format!(
                    "commits are made on a clean tree, and {} files differ from the last commit or are \
                     in none: {}{more}",
                    some.len(),
                    names.join(", ")
                ),
            ))
        }
    }
}

/// What the index has otherwise than the last commit.
fn staged(repository: &Repository, checkout: &Checkout<'_>) -> Result<Vec<String>, Error> {
    let tree = repository.head_tree_id().map_err(trouble)?;
    let committed = repository.index_from_tree(&tree).map_err(trouble)?;
    let own = checkout.index();
    let of = |index: &gix::index::State| -> BTreeSet<_> {
        let entries = index.entries().iter();
        entries
            .map(|entry| {
                let path = entry.path(index).to_owned();
                (path, entry.id, entry.mode, entry.stage_raw())
            })
            .collect()
    };
    let (committed, own) = (of(&committed), of(own));
    let differing = committed.symmetric_difference(&own);
    Ok(differing
        .map(|(path, ..)| path.to_str_lossy().into_owned())
        .collect())
}

/// Refuses changes of files that are not in a commit as they are on disk: a filter or a conversion of
/// line ends stands between them, and none is run here.
pub fn refuse_converted(checkout: &Checkout<'_>, changes: &[FileChange]) -> Result<(), Error> {
    for change in changes {
        if checkout.belongs_to_another(&change.path) {
            let message = format!("{} is in a repository within it", change.path);
            return Err(refusal(&message));
        }
        let differs = change.before.is_some() && !checkout.is_as_committed(&change.path)?;
        let carriage = change.after.as_ref().is_some_and(|content| {
            content.bytes.contains(&b'\r') && checkout.converts_line_ends(&change.path)
        });
        if differs || carriage || checkout.is_filtered(&change.path) {
            let message = format!(
                "{} is converted on its way into a commit, by an attribute or core.autocrlf",
                change.path
            );
            return Err(refusal(&message));
        }
    }
    Ok(())
}

impl Checkout<'_> {
    /// The files below the root that the index lists.
    fn listed(&self) -> BTreeSet<TreePath> {
        let prefix = self.inside(&TreePath::root());
        let index = self.index();
        let files = index.entries().iter();
        let files = files.filter(|entry| entry.mode != Mode::COMMIT && entry.mode != Mode::DIR);
        let below = files.filter_map(|entry| {
            let path = entry.path(index).to_str().ok()?;
            let below = match prefix.as_str() {
                "" => path,
                prefix => path.strip_prefix(prefix)?.strip_prefix('/')?,
            };
            TreePath::new(below).ok()
        });
        below.collect()
    }

    /// Whether an attribute on the way to a file names a filter or an encoding.
    fn is_filtered(&self, path: &TreePath) -> bool {
        const ATTRIBUTES_BYTES: u64 = 1 << 20;
        let mut files = self.attribute_files(path);
        files.push(self.common_directory().join("info/attributes"));
        files.iter().any(|file| {
            if !is_there(file) {
                return false;
            }
            let text = plain::read(file, ATTRIBUTES_BYTES, Links::Refuse);
            let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            // One that cannot be read may say anything.
            text.map_or(true, |text| {
                text.lines().any(|line| {
                    let attributes = line.split_whitespace().skip(1);
                    let mut converting = attributes.filter(|word| {
                        word.starts_with("filter=")
                            || word.starts_with("working-tree-encoding=")
                            || *word == "ident"
                    });
                    !line.trim_start().starts_with('#')
                        && concerns(line, path)
                        && converting.next().is_some()
                })
            })
        })
    }
}

/// Whether a line of attributes may be about a file. A pattern by the end of a name is the usual one;
/// any other is taken to concern every file.
fn concerns(line: &str, path: &TreePath) -> bool {
    let pattern = line.split_whitespace().next().unwrap_or_default();
    match pattern.strip_prefix("*.") {
        Some(end) if !end.contains(['*', '?', '[', '/', '\\']) => {
            path.file_name().ends_with(&format!(".{end}"))
        }
        _ => !is_other_path(pattern, path),
    }
}

/// Whether a pattern is the plain name of another file.
fn is_other_path(pattern: &str, path: &TreePath) -> bool {
    let plain = !pattern.contains(['*', '?', '[', '\\']) && !pattern.ends_with('/');
    let last = Path::new(pattern).components().next_back();
    plain
        && matches!(last, Some(Component::Normal(name)) if name.to_str() != Some(path.file_name()))
        && !pattern.starts_with('[')
}

fn refusal(why: &str) -> Error {
    Error::new(
        ErrorKind::Repository,
        format!("no commits are made in this repository: {why}"),
    )
}
