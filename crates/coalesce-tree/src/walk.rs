//! The walk: which files there are, by the tree's own ignore rules and nobody else's.

use std::{
    fs::{self, FileType, Metadata},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, UNIX_EPOCH},
};

use coalesce_model::TreePath;
use ignore::{DirEntry, WalkBuilder, gitignore::GitignoreBuilder, overrides::Override};

use crate::{Error, ErrorKind, FileEntry, FileKind, Skip, Unread};

/// Directories that hold no source of the tree, whatever the ignore files say; `.git` is a file in
/// a linked checkout.
const NEVER: [&str; 9] = [
    ".git",
    ".hg",
    ".jj",
    ".svn",
    ".coalesce",
    "__pycache__",
    "node_modules",
    ".tox",
    ".nox",
];

/// What the walk found.
pub(crate) struct Walk {
    /// Sorted by path.
    pub files: Vec<FileEntry>,
    /// What has no entry, or one that holds no text.
    pub skips: Vec<Skip>,
}

/// Walks the tree at `root`. Ignore files of the tree count, in a checkout or not; the user's own
/// do not, so that two people see the same tree.
pub(crate) fn walk(root: &Path, exclude: Override) -> Result<Walk, Error> {
    refuse_odd_ignore_files(root, root)
        .map_err(|reason| Error::given(ErrorKind::NotAFile, root, reason))?;
    let odd: Arc<Mutex<Vec<(PathBuf, String)>>> = Arc::default();
    let (told, top) = (Arc::clone(&odd), root.to_owned());
    let walker = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .parents(false)
        .follow_links(false)
        .overrides(exclude)
        .filter_entry(move |entry| {
            if is_foreign(entry) {
                return false;
            }
            if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return true;
            }
            let readable = refuse_odd_ignore_files(entry.path(), &top);
            if let Err(reason) = &readable {
                let mut odd = told.lock().unwrap_or_else(PoisonError::into_inner);
                odd.push((entry.path().to_owned(), reason.clone()));
            }
            readable.is_ok()
        })
        .build();
    let mut found = Walk {
        files: Vec::new(),
        skips: Vec::new(),
    };
    for entry in walker {
        match entry {
            Ok(entry) => found.add(root, &entry),
            Err(error) => found.failed(root, &error)?,
        }
    }
    for (directory, reason) in odd.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        found.skip(tree_path(root, &directory).0, reason, Unread::Directory);
    }
    found.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Version control, caches, and virtual environments or build directories by their markers.
fn is_foreign(entry: &DirEntry) -> bool {
    if entry.depth() == 0 {
        return false;
    }
    let name = entry.file_name().to_str();
    if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return name == Some(".git");
    }
    name.is_some_and(|name| NEVER.contains(&name))
        || entry.path().join("pyvenv.cfg").exists()
        || entry.path().join("CACHEDIR.TAG").exists()
}

/// Names of the files that say what is left out.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Longer ones are a mistake.
const IGNORE_FILE_BYTES: u64 = 1 << 20;

/// The ignore file of the tree that leaves out a file of this path, whether one is there or not. What lies deeper
/// goes before what lies above it, and of one folder `.ignore` goes before `.gitignore`.
pub(crate) fn ignored_by(root: &Path, path: &TreePath) -> Option<TreePath> {
    let mut folder = path.parent();
    while let Some(at) = folder {
        for name in IGNORE_FILES.iter().rev() {
            let file = at.join(name).ok()?;
            let place = root.join(file.as_str());
            if !fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let mut builder = GitignoreBuilder::new(root.join(at.as_str()));
            // What cannot be read of it leaves nothing out.
            if builder.add(&place).is_some() {
                continue;
            }
            let Ok(rules) = builder.build() else { continue };
            let found = rules.matched_path_or_any_parents(root.join(path.as_str()), false);
            if found.is_ignore() {
                return Some(file);
            }
            if found.is_whitelist() {
                return None;
            }
        }
        folder = at.parent().filter(|_| !at.is_root());
    }
    None
}

/// Refuses a directory whose ignore files would be waited for, or lie outside of the tree: they are
/// opened before anything else in it.
fn refuse_odd_ignore_files(directory: &Path, root: &Path) -> Result<(), String> {
    for name in IGNORE_FILES {
        let path = directory.join(name);
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        let inside = || path.canonicalize().is_ok_and(|real| real.starts_with(root));
        let plain = fs::metadata(&path)
            .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= IGNORE_FILE_BYTES);
        if metadata.is_file() && !plain {
            return Err(format!(
                "its {name} is larger than {} MiB",
                IGNORE_FILE_BYTES >> 20
            ));
        }
        if metadata.is_file() || metadata.is_dir() || (metadata.is_symlink() && plain && inside()) {
            continue;
        }
        if metadata.is_symlink() && !path.exists() {
            // It leads nowhere, so nothing is read.
            continue;
        }
        let what = if metadata.is_symlink() {
            "a link out of the tree"
        } else {
            "a device, a pipe or a socket"
        };
        return Err(format!("its {name} is {what}"));
    }
    Ok(())
}

impl Walk {
    fn add(&mut self, root: &Path, entry: &DirEntry) {
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else {
            return;
        };
        let (path, named) = tree_path(root, entry.path());
        if !named {
            let name = entry.file_name();
            self.skip(
                path,
                format!("its name {name:?} is not UTF-8, or holds `\\\\` or a drive letter"),
                Unread::File,
            );
            return;
        }
        if let Some(reason) = not_plain(kind) {
            let unread = match kind.is_symlink() {
                true if leads_out(root, entry.path()) => Unread::LinkOut,
                true => Unread::LinkInside,
                false => Unread::Special,
            };
            self.skip(path.clone(), reason, unread);
        }
        match entry.metadata() {
            Ok(metadata) => self.files.push(file_entry(path, &metadata)),
            Err(error) => self.skip(path, error.to_string(), Unread::File),
        }
    }

    fn skip(&mut self, path: TreePath, reason: impl Into<String>, unread: Unread) {
        let reason = reason.into();
        self.skips.push(Skip {
            path,
            reason,
            unread,
        });
    }

    /// A directory below that cannot be read is skipped; a root that cannot is an error.
    fn failed(&mut self, root: &Path, error: &ignore::Error) -> Result<(), Error> {
        let at = path_of(error).unwrap_or(root);
        let reason = error
            .io_error()
            .map_or_else(|| error.to_string(), ToString::to_string);
        if at == root {
            let kind = error.io_error().map_or(ErrorKind::Io, ErrorKind::from);
            return Err(Error::given(kind, root, reason));
        }
        self.skip(tree_path(root, at).0, reason, Unread::Directory);
        Ok(())
    }
}

/// Whether a link leads to something that is not in the tree. One that leads nowhere does not.
fn leads_out(root: &Path, link: &Path) -> bool {
    link.canonicalize()
        .is_ok_and(|real| !real.starts_with(root))
}

/// Why an entry holds no text whatever its name.
fn not_plain(kind: FileType) -> Option<&'static str> {
    if kind.is_symlink() {
        Some(FileKind::Link.reason())
    } else {
        (!kind.is_file()).then_some(FileKind::Special.reason())
    }
}

/// The path in the tree, and whether it names the file: a name that is not UTF-8 is told lossily.
fn tree_path(root: &Path, path: &Path) -> (TreePath, bool) {
    let relative = below(root, path);
    let exact = relative
        .to_str()
        .filter(|text| cfg!(windows) || !text.contains('\\'));
    match exact.and_then(|text| TreePath::new(text).ok()) {
        Some(path) => (path, true),
        None => {
            let lossy = relative.to_string_lossy().replace('\\', "\u{fffd}");
            let path = TreePath::new(&lossy).unwrap_or_else(|_| TreePath::root());
            (path, false)
        }
    }
}

/// What follows the root in a path that the walk has put behind it, without looking at each part of both.
fn below<'p>(root: &Path, path: &'p Path) -> &'p Path {
    let texts = root.to_str().zip(path.to_str());
    let rest = texts.and_then(|(root, path)| path.strip_prefix(root)?.strip_prefix('/'));
    match rest {
        Some(rest) => Path::new(rest),
        None => path.strip_prefix(root).unwrap_or(path),
    }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        _ => None,
    }
}

fn file_entry(path: TreePath, metadata: &Metadata) -> FileEntry {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = nanoseconds(since.unwrap_or_default());
    let (inode, changed) = identity(metadata);
    FileEntry {
        path,
        kind: FileKind::of(metadata.file_type()),
        bytes: metadata.len(),
        modified,
        changed: changed.unwrap_or(modified),
        inode,
        mode: mode(metadata),
    }
}

/// Nanoseconds in a signed number wide enough for any file time.
pub(crate) fn nanoseconds(duration: Duration) -> i128 {
    i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX)
}

/// The number of the file, and when anything about it changed last.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, Option<i128>) {
    use std::os::unix::fs::MetadataExt as _;
    let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    (metadata.ino(), Some(changed))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, Option<i128>) {
    (0, None)
}

/// The permission bits of a file.
#[cfg(unix)]
pub(crate) fn mode(metadata: &Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

/// The permission bits of a file; there are none here.
#[cfg(not(unix))]
pub(crate) fn mode(_: &Metadata) -> u32 {
    0
}
