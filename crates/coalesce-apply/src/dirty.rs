//! Which files have changes that no commit holds. Reads the repository's own files; runs nothing of
//! it, no filter and no `git`, and heeds no configuration from outside it.

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use coalesce_model::TreePath;
use coalesce_tree::plain::{self, Links};
use gix::{Repository, ThreadSafeRepository, bstr::ByteSlice as _, index, objs::Kind, open, sec};

use crate::{Error, ErrorKind, Sought, disk::MAXIMUM_FILE_BYTES};

/// The files among `paths` that differ from the last commit, or are in none. Empty where there is
/// no repository, or where its commits hold nothing of the tree.
///
/// A file that a filter changes on checkout counts as clean while the index says that nobody has
/// touched it since, or when it differs in line ends only and the repository has them converted;
/// otherwise it counts as changed.
///
/// # Errors
/// When there is a repository and it cannot be read.
pub fn uncommitted(root: &Path, paths: &[TreePath]) -> Result<Vec<TreePath>, Error> {
    let (root, paths) = (root.to_owned(), paths.to_vec());
    within_patience(move || changed(&root, &paths))
}

/// Runs what reads a repository on a thread of its own, and no longer than it may take.
pub(crate) fn within_patience<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (sender, receiver) = mpsc::channel();
    // Any file of a repository may be a pipe that nobody writes to: then this thread is left behind.
    thread::spawn(move || drop(sender.send(read())));
    let late = |_| Err(trouble("it did not answer within a minute"));
    receiver.recv_timeout(PATIENCE).unwrap_or_else(late)
}

/// The bytes that files had where a branch left `revision`: in the last commit that both it and the
/// checked out one have. `None` for a file that was not there.
///
/// # Errors
/// When there is no repository, it cannot be read, or it does not know the revision.
pub fn bytes_before(root: &Path, revision: &str, paths: &[TreePath]) -> Result<BytesBefore, Error> {
    let (root, revision, paths) = (root.to_owned(), revision.to_owned(), paths.to_vec());
    within_patience(move || before(&root, &revision, &paths))
}

/// The files that the repository of a tree holds and that a sparse checkout leaves out of it, those
/// that hold one of the words that are sought; whole directories where the index says no more.
///
/// # Errors
/// When there is a repository and it cannot be read.
pub fn left_out(root: &Path, sought: Vec<Sought>) -> Result<Vec<TreePath>, Error> {
    if !is_sparse(root) {
        return Ok(Vec::new());
    }
    let root = root.to_owned();
    within_patience(move || find_left_out(&root, &sought))
}

/// Whether the repository around a tree may leave something out: it has a list of what it does not.
fn is_sparse(root: &Path) -> bool {
    let above = root.ancestors().map(|directory| directory.join(".git"));
    let found = above.into_iter().find_map(|git| {
        let metadata = fs::symlink_metadata(&git).ok()?;
        // Where another file says where the repository is, only it can tell.
        Some(!metadata.is_dir() || git.join("info/sparse-checkout").is_file())
    });
    found.unwrap_or(false)
}

fn find_left_out(root: &Path, sought: &[Sought]) -> Result<Vec<TreePath>, Error> {
    let Some(repository) = discover(root)? else {
        return Ok(Vec::new());
    };
    let Some(checkout) = Checkout::of(&repository, root)? else {
        return Ok(Vec::new());
    };
    let below = checkout.below.to_string_lossy().replace('\\', "/");
    let mut found = Vec::new();
    for entry in checkout.index.entries() {
        let name = entry.path(&checkout.index).to_str().unwrap_or_default();
        let inside = name.strip_prefix(below.as_str()).unwrap_or_default();
        let left_out = entry.flags.contains(index::entry::Flags::SKIP_WORKTREE);
        let path = TreePath::new(inside.trim_matches('/'));
        let Some(path) = path.ok().filter(|path| left_out && !path.is_root()) else {
            continue;
        };
        let is_there = fs::symlink_metadata(checkout.root.join(path.as_str())).is_ok();
        let directory = entry.mode == index::entry::Mode::DIR;
        let mut words = sought
            .iter()
            .filter(|sought| sought.may_be_in(&path))
            .peekable();
        if is_there || !directory && words.peek().is_none() {
            continue;
        }
        // What the repository does not have here either may hold anything.
        let blob = repository.find_object(entry.id);
        if directory || blob.map_or(true, |blob| words.any(|sought| sought.is_in(&blob.data))) {
            found.push(path);
        }
    }
    Ok(found)
}

impl Sought {
    fn may_be_in(&self, path: &TreePath) -> bool {
        let extension = path.extension();
        extension.is_some_and(|extension| self.extensions.contains(&extension))
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.words.iter().any(|word| bytes.contains_str(word))
    }
}

/// Files with the bytes that they had.
pub type BytesBefore = BTreeMap<TreePath, Option<Vec<u8>>>;

fn before(root: &Path, revision: &str, paths: &[TreePath]) -> Result<BytesBefore, Error> {
    let no_repository = || trouble("there is none");
    let repository = discover(root)?.ok_or_else(no_repository)?;
    // A tree that no commit holds yet is new as a whole.
    let checkout = Checkout::around(&repository, root)?.ok_or_else(no_repository)?;
    let unknown = |error: &dyn Display| {
        let message = format!("the repository does not know `{revision}`: {error}");
        Error::new(ErrorKind::Repository, message)
    };
    let named = repository
        .rev_parse_single(revision.as_bytes().as_bstr())
        .map_err(|error| unknown(&error))?;
    let named = named.object().map_err(trouble)?;
    let named = named.peel_to_commit().map_err(|error| unknown(&error))?;
    let head = repository.head_id().map_err(trouble)?;
    let base = repository.merge_base(named.id, head).map_err(trouble)?;
    let base = base.ok_or_else(|| {
        let message = format!(
            "`{revision}` and the checked out commit have no commit in common here; a shallow clone \
             lacks it"
        );
        Error::new(ErrorKind::Repository, message)
    })?;
    let tree = base.object().map_err(trouble)?;
    let tree = tree.peel_to_tree().map_err(trouble)?;
    let mut found = BytesBefore::new();
    for path in paths {
        let inside = checkout.below.join(path.as_str());
        let entry = tree.lookup_entry_by_path(&inside).map_err(trouble)?;
        let object = entry.map(|entry| entry.object()).transpose();
        let object = object.map_err(trouble)?;
        let blob = object.filter(|object| object.kind == Kind::Blob);
        found.insert(path.clone(), blob.map(|blob| blob.data.clone()));
    }
    Ok(found)
}

/// How long a repository may take to answer.
const PATIENCE: Duration = Duration::from_mins(1);

fn changed(root: &Path, paths: &[TreePath]) -> Result<Vec<TreePath>, Error> {
    let mut by_repository: BTreeMap<TreePath, Vec<&TreePath>> = BTreeMap::new();
    for path in paths {
        by_repository
            .entry(nearest_repository(root, path))
            .or_default()
            .push(path);
    }
    let mut dirty = Vec::new();
    for (top, paths) in by_repository {
        let directory = root.join(top.as_str());
        let Some(repository) = discover(&directory)? else {
            continue;
        };
        let Some(checkout) = Checkout::of(&repository, &directory)? else {
            continue;
        };
        for path in paths {
            let inside = path.strip_prefix(&top).unwrap_or_default();
            if checkout.is_changed(&TreePath::new(inside).map_err(trouble)?)? {
                dirty.push(path.clone());
            }
        }
    }
    dirty.sort();
    Ok(dirty)
}

/// The directory of the tree that has a repository of its own and holds the path; else the root.
fn nearest_repository(root: &Path, path: &TreePath) -> TreePath {
    let mut above = path.parent();
    while let Some(directory) = above.filter(|directory| !directory.is_root()) {
        if fs::symlink_metadata(root.join(directory.as_str()).join(".git")).is_ok() {
            return directory;
        }
        above = directory.parent();
    }
    TreePath::root()
}

pub(crate) fn trouble(error: impl Display) -> Error {
    let message = format!("the repository cannot be read: {error}");
    Error::new(ErrorKind::Repository, message)
}

pub(crate) fn discover(root: &Path) -> Result<Option<Repository>, Error> {
    refuse_special(root)?;
    let options = || open::Options::isolated();
    let options = sec::trust::Mapping {
        full: options(),
        reduced: options(),
    };
    match ThreadSafeRepository::discover_opts(
        root,
        gix::discover::upwards::Options::default(),
        options,
    ) {
        Ok(repository) => Ok(Some(repository.to_thread_local())),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(trouble(error)),
    }
}

/// Refuses a repository whose files are pipes or devices, before anything of it is opened.
fn refuse_special(root: &Path) -> Result<(), Error> {
    let above = root.ancestors().map(|directory| directory.join(".git"));
    let Some(git) = above
        .into_iter()
        .find(|git| fs::symlink_metadata(git).is_ok())
    else {
        return Ok(());
    };
    let mut open = vec![git.clone()];
    if let Ok(text) = plain::read_to_string(&git, LINK_BYTES, Links::Refuse) {
        // A linked checkout, or a repository within another one.
        let named = text.strip_prefix("gitdir:").unwrap_or_default().trim();
        open.push(git.with_file_name(named));
        let common = git.with_file_name(named).join("commondir");
        if let Ok(text) = plain::read_to_string(&common, LINK_BYTES, Links::Refuse) {
            open.push(common.with_file_name(text.trim()));
        }
    }
    while let Some(path) = open.pop() {
        let Ok(metadata) = fs::metadata(&path) else {
            continue;
        };
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if metadata.is_dir() {
            // Objects are too many to be looked at, and hooks are not opened.
            if !matches!(name, "objects" | "hooks" | "modules" | "lfs" | "logs") {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                open.extend(entries.map(|entry| entry.path()));
            }
        } else if !metadata.is_file() {
            return Err(trouble(format!("{name} is a device, a pipe or a socket")));
        }
    }
    Ok(())
}

/// A file that names a directory has a line.
const LINK_BYTES: u64 = 1 << 16;

/// The part of a repository's working directory that is the tree.
pub(crate) struct Checkout<'r> {
    repository: &'r Repository,
    /// The last commit; `None` where nothing was ever committed.
    head: Option<gix::Tree<'r>>,
    index: gix::worktree::Index,
    root: PathBuf,
    /// The root, relative to the working directory.
    below: PathBuf,
}

impl<'r> Checkout<'r> {
    /// `None` where the repository has no working directory, or its last commit does not hold the tree.
    pub(crate) fn of(repository: &'r Repository, root: &Path) -> Result<Option<Self>, Error> {
        let Some(checkout) = Self::around(repository, root)? else {
            return Ok(None);
        };
        let whole = checkout.below.as_os_str().is_empty();
        let held = whole || checkout.committed(&checkout.below)?.is_some();
        Ok(held.then_some(checkout))
    }

    /// `None` where the repository has no working directory, or the tree is not in it.
    fn around(repository: &'r Repository, root: &Path) -> Result<Option<Self>, Error> {
        let Some(top) = repository.workdir() else {
            return Ok(None);
        };
        let top = top.canonicalize().map_err(trouble)?;
        let root = root.canonicalize().map_err(trouble)?;
        let Ok(below) = root.strip_prefix(&top) else {
            return Ok(None);
        };
        let born = !repository.head().map_err(trouble)?.is_unborn();
        let head = born.then(|| repository.head_tree().map_err(trouble));
        Ok(Some(Self {
            repository,
            head: head.transpose()?,
            index: repository.index_or_empty().map_err(trouble)?,
            below: below.to_owned(),
            root,
        }))
    }

    fn committed(&self, path: &Path) -> Result<Option<gix::ObjectId>, Error> {
        let Some(head) = &self.head else {
            return Ok(None);
        };
        match head.lookup_entry_by_path(path) {
            Ok(entry) => Ok(entry.map(|entry| entry.object_id())),
            // What a repository within this one holds is in none of our commits.
            Err(_) if self.is_below_gitlink(path) => Ok(None),
            Err(error) => Err(trouble(error)),
        }
    }

    fn is_below_gitlink(&self, path: &Path) -> bool {
        path.ancestors().skip(1).any(|above| {
            let entry = self
                .head
                .as_ref()
                .map(|head| head.lookup_entry_by_path(above));
            matches!(entry, Some(Ok(Some(entry))) if entry.mode().is_commit())
        })
    }

    fn is_changed(&self, path: &TreePath) -> Result<bool, Error> {
        let file = self.root.join(path.as_str());
        // What is no plain file is not ours to judge: it is refused before anything is written.
        if !fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(false);
        }
        let bytes = plain::read(&file, MAXIMUM_FILE_BYTES, Links::Refuse);
        let bytes = bytes.map_err(|error| Error::io(path, &error))?;
        let below = self.below.join(path.as_str());
        let Some(committed) = self.committed(&below)? else {
            return Ok(true);
        };
        let is = |bytes: &[u8]| {
            let hash = gix::objs::compute_hash(self.repository.object_hash(), Kind::Blob, bytes);
            hash.is_ok_and(|hash| hash == committed)
        };
        let clean = is(&bytes)
            || self.is_untouched(&file, &below, committed)
            || (self.converts_line_ends(path) && is(&without_carriage_returns(&bytes)));
        Ok(!clean)
    }

    /// Whether the index holds what is committed, and the file is the one that it was checked out
    /// to: then it is clean, whatever filters made of it.
    fn is_untouched(&self, file: &Path, below: &Path, committed: gix::ObjectId) -> bool {
        let below = below.to_string_lossy().replace('\\', "/");
        let Some(entry) = self.index.entry_by_path(below.as_bytes().as_bstr()) else {
            return false;
        };
        let options = index::entry::stat::Options::default();
        let now = index::fs::Metadata::from_path_no_follow(file).ok();
        let now = now.and_then(|metadata| index::entry::Stat::from_fs(&metadata).ok());
        entry.id == committed
            && now.is_some_and(|now| entry.stat.matches(&now, options))
            && !entry.stat.is_racy(self.index.timestamp(), options)
    }

    /// Whether the repository may have line ends converted, by its configuration or by attributes
    /// on the way to the file.
    pub(crate) fn converts_line_ends(&self, path: &TreePath) -> bool {
        let configured = self.repository.config_snapshot().string("core.autocrlf");
        if configured.is_some_and(|value| value.as_bstr() != "false") {
            return true;
        }
        self.attribute_files(path).iter().any(|file| file.is_file())
    }

    /// Where attributes of a file may stand among the files of the repository.
    pub(crate) fn attribute_files(&self, path: &TreePath) -> Vec<PathBuf> {
        let top = self.root.ancestors().nth(self.below.components().count());
        let file = self.root.join(path.as_str());
        let above = file.ancestors().skip(1);
        let inside =
            above.take_while(|directory| top.is_some_and(|top| directory.starts_with(top)));
        inside
            .map(|directory| directory.join(".gitattributes"))
            .collect()
    }

    /// The directory that all checkouts of the repository share.
    pub(crate) fn common_directory(&self) -> &Path {
        self.repository.common_dir()
    }

    /// What the repository has listed for the next commit.
    pub(crate) fn index(&self) -> &index::State {
        &self.index
    }

    /// A path of the tree as the repository's own lists name it.
    pub(crate) fn inside(&self, path: &TreePath) -> String {
        let below = self.below.join(path.as_str());
        below.to_string_lossy().replace('\\', "/")
    }

    /// Whether a directory above a path is a repository of its own.
    pub(crate) fn belongs_to_another(&self, path: &TreePath) -> bool {
        !nearest_repository(&self.root, path).is_root()
    }

    /// Whether the last commit has a file with the very bytes that it has on disk.
    pub(crate) fn is_as_committed(&self, path: &TreePath) -> Result<bool, Error> {
        let file = self.root.join(path.as_str());
        let bytes = plain::read(&file, MAXIMUM_FILE_BYTES, Links::Refuse);
        let bytes = bytes.map_err(|error| Error::io(path, &error))?;
        let committed = self.committed(&self.below.join(path.as_str()))?;
        let hash = gix::objs::compute_hash(self.repository.object_hash(), Kind::Blob, &bytes);
        Ok(committed.is_some() && hash.ok() == committed)
    }

    /// Whether a file differs from the last commit, is in none, or is gone.
    pub(crate) fn differs(&self, path: &TreePath) -> Result<bool, Error> {
        let file = self.root.join(path.as_str());
        if fs::symlink_metadata(&file).is_err() {
            return Ok(true);
        }
        let below = self.below.join(path.as_str());
        let committed = self.committed(&below)?;
        // Most files are as they were checked out: their texts need not be read.
        if committed.is_some_and(|committed| self.is_untouched(&file, &below, committed)) {
            return Ok(false);
        }
        self.is_changed(path)
    }
}

fn without_carriage_returns(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if !(*byte == b'\r' && bytes.get(at + 1) == Some(&b'\n')) {
            plain.push(*byte);
        }
    }
    plain
}
