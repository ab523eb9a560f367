//! The walk: which files there are, by the tree's own ignore rules and nobody else's.

use std::{fs::Metadata, path::Path, time::UNIX_EPOCH};

use coalesce_model::TreePath;
use ignore::{DirEntry, WalkBuilder, overrides::OverrideBuilder};

use crate::{Error, ErrorKind, FileEntry, Skip};

/// Directories that hold no source of the tree, whatever the ignore files say.
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

/// What the walk found, sorted by path.
pub(crate) struct Walk {
    pub files: Vec<FileEntry>,
    pub skips: Vec<Skip>,
}

/// Walks the tree at `root`. Ignore files of the tree count, in a checkout or not; the user's own
/// do not, so that two people see the same tree.
pub(crate) fn walk(root: &Path, exclude: &[String]) -> Result<Walk, Error> {
    let mut overrides = OverrideBuilder::new(root);
    for glob in exclude {
        let malformed = |error: ignore::Error| {
            Error::new(
                ErrorKind::Settings,
                "coalesce.toml".to_owned(),
                format!("exclude: {error}"),
            )
        };
        overrides.add(&format!("!{glob}")).map_err(malformed)?;
    }
    let overrides = overrides.build().map_err(|error| {
        Error::new(
            ErrorKind::Settings,
            "coalesce.toml".to_owned(),
            error.to_string(),
        )
    })?;
    let walker = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .parents(false)
        .follow_links(false)
        .overrides(overrides)
        .filter_entry(|entry| !is_foreign_directory(entry))
        .build();
    let mut found = Walk {
        files: Vec::new(),
        skips: Vec::new(),
    };
    for entry in walker {
        match entry {
            Ok(entry) => found.add(root, &entry),
            Err(error) => found.skips.push(Skip {
                path: error_path(root, &error),
                reason: error.to_string(),
            }),
        }
    }
    found.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Version control, caches, and virtual environments or build directories by their markers.
fn is_foreign_directory(entry: &DirEntry) -> bool {
    if entry.depth() == 0 || !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return false;
    }
    let named = entry
        .file_name()
        .to_str()
        .is_some_and(|name| NEVER.contains(&name));
    named || entry.path().join("pyvenv.cfg").exists() || entry.path().join("CACHEDIR.TAG").exists()
}

impl Walk {
    fn add(&mut self, root: &Path, entry: &DirEntry) {
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else {
            return;
        };
        let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let Some(path) = relative.to_str().and_then(|text| TreePath::new(text).ok()) else {
            let path =
                TreePath::new(&relative.to_string_lossy()).unwrap_or_else(|_| TreePath::root());
            self.skips.push(Skip {
                path,
                reason: "its name is not UTF-8".to_owned(),
            });
            return;
        };
        if kind.is_symlink() {
            self.skips.push(Skip {
                path,
                reason: "a symbolic link, which is not followed".to_owned(),
            });
        } else if kind.is_file() {
            match entry.metadata() {
                Ok(metadata) => self.files.push(file_entry(path, &metadata)),
                Err(error) => self.skips.push(Skip {
                    path,
                    reason: error.to_string(),
                }),
            }
        }
    }
}

fn file_entry(path: TreePath, metadata: &Metadata) -> FileEntry {
    let since = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    FileEntry {
        path,
        bytes: metadata.len(),
        modified: since
            .and_then(|since| i128::try_from(since.as_nanos()).ok())
            .unwrap_or(0),
        inode: inode(metadata),
        mode: mode(metadata),
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
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

fn error_path(root: &Path, error: &ignore::Error) -> TreePath {
    let path = match error {
        ignore::Error::WithPath { path, .. } => path.strip_prefix(root).ok(),
        ignore::Error::WithDepth { err, .. } => return error_path(root, err),
        _ => None,
    };
    path.and_then(|path| TreePath::new(&path.to_string_lossy()).ok())
        .unwrap_or_else(TreePath::root)
}
