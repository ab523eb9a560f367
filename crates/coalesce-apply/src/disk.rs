//! A tree on disk: what stands at its paths, and the directories that come and go with files.

use std::{
    collections::BTreeSet,
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
};

use coalesce_model::{ContentHash, TreePath};
use coalesce_tree::plain::{self, Links};

use crate::{
    calls::{Calls, Hook, existing},
    journal::Version,
    system::{self, Owner},
};

/// Larger files are not read, and so not written: their bytes go through memory.
pub(crate) const MAXIMUM_FILE_BYTES: u64 = 512 << 20;

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing.
    Nothing,
    /// A plain file.
    Plain {
        /// Hash of its bytes.
        hash: ContentHash,
        /// Permission bits.
        mode: u32,
    },
    /// A link, a directory, a device.
    Other,
}

impl Seen {
    /// Whether it is this version, or nothing for `None`.
    pub fn is(&self, version: Option<Version>) -> bool {
        match self {
            Self::Nothing => version.is_none(),
            Self::Plain { hash, .. } => version.is_some_and(|version| version.hash == *hash),
            Self::Other => false,
        }
    }
}

/// A tree on disk.
pub(crate) struct Disk {
    /// Absolute path of the root.
    pub root: PathBuf,
    /// All changes go through these.
    pub calls: Calls,
}

impl Disk {
    pub fn new(root: PathBuf, hook: Hook) -> Self {
        let calls = Calls::new(hook);
        Self { root, calls }
    }

    pub fn absolute(&self, path: &TreePath) -> PathBuf {
        self.root.join(path.as_str())
    }

    /// What the system says of a path, no link followed; `None` where there is nothing.
    pub fn metadata(&self, path: &TreePath) -> io::Result<Option<Metadata>> {
        existing(fs::symlink_metadata(self.absolute(path)))
    }

    pub fn seen(&self, path: &TreePath) -> io::Result<Seen> {
        seen(&self.absolute(path))
    }

    pub fn is_directory(&self, path: &TreePath) -> bool {
        self.metadata(path)
            .is_ok_and(|metadata| metadata.is_some_and(|metadata| metadata.is_dir()))
    }

    /// Directories above paths that are not there. Each directory is looked at once, and what is above one that is
    /// there is there.
    pub fn missing_directories<'p>(
        &self,
        paths: impl Iterator<Item = &'p TreePath>,
    ) -> BTreeSet<TreePath> {
        let (mut missing, mut there) = (BTreeSet::new(), BTreeSet::new());
        for path in paths {
            let mut above = path.parent();
            while let Some(directory) = above {
                if there.contains(&directory) || missing.contains(&directory) {
                    break;
                }
                if self.is_directory(&directory) {
                    there.insert(directory);
                    break;
                }
                above = directory.parent();
                missing.insert(directory);
            }
        }
        missing
    }

    /// The nearest directory above a path that exists.
    pub fn nearest_directory(&self, path: &TreePath) -> PathBuf {
        let mut above = path.parent();
        while let Some(directory) = above.filter(|directory| !directory.is_root()) {
            if self.is_directory(&directory) {
                return self.absolute(&directory);
            }
            above = directory.parent();
        }
        self.root.clone()
    }

    /// Whether a path lies on another file system than the root, so that nothing can be renamed
    /// from one to the other.
    pub fn is_elsewhere(&self, path: &TreePath) -> bool {
        let device = |path: &Path| {
            fs::metadata(path)
                .map(|metadata| system::device(&metadata))
                .ok()
        };
        device(&self.nearest_directory(path)) != device(&self.root)
    }

    /// Names of what a directory holds; a name that is not UTF-8 is told lossily.
    pub fn entries(&self, path: &TreePath) -> io::Result<Vec<String>> {
        let name =
            |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
        fs::read_dir(self.absolute(path))?.map(name).collect()
    }

    /// Makes a directory, at `staged` first so that it is whole when it appears; one that somebody
    /// else has made meanwhile is as good.
    pub fn make_directory(
        &self,
        path: &TreePath,
        mode: Option<u32>,
        owner: Owner,
        staged: &Path,
    ) -> io::Result<()> {
        let absolute = self.absolute(path);
        self.make_directory_at(staged, mode, owner)?;
        match self.calls.place(staged, &absolute) {
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists && self.is_directory(path) =>
            {
                fs::remove_dir(staged)
            }
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                fs::remove_dir(staged)?;
                self.make_directory_at(&absolute, mode, owner)
            }
            outcome => outcome,
        }
    }

    fn make_directory_at(&self, at: &Path, mode: Option<u32>, owner: Owner) -> io::Result<()> {
        self.calls.make_directory(at)?;
        let made = File::open(at)?;
        system::set_owner(&made, &made.metadata()?, owner)?;
        mode.map_or(Ok(()), |mode| self.calls.set_mode(at, mode))
    }

    /// Removes a directory that holds nothing but Python's caches of what it held.
    pub fn remove_directory(&self, path: &TreePath) -> io::Result<()> {
        let absolute = self.absolute(path);
        let cache = absolute.join(BYTECODE);
        if is_bytecode(&cache) {
            for entry in fs::read_dir(&cache)? {
                let file = entry?.path();
                if is_compiled(&file) {
                    self.calls.remove(&file)?;
                }
            }
            not_empty(self.calls.remove_directory(&cache))?;
        }
        not_empty(self.calls.remove_directory(&absolute))
    }

    /// Whether a directory holds nothing but what `gone` names and Python's caches of it.
    pub fn holds_only(&self, path: &TreePath, gone: &BTreeSet<TreePath>) -> io::Result<bool> {
        let entries = self.entries(path)?;
        let expendable = |name: &String| {
            path.join(name).is_ok_and(|path| gone.contains(&path))
                || (name == BYTECODE && is_bytecode(&self.absolute(path).join(name)))
        };
        Ok(entries.iter().all(expendable))
    }
}

/// What stands at a path of any directory.
pub(crate) fn seen(absolute: &Path) -> io::Result<Seen> {
    let found = plain::read_with_metadata(absolute, MAXIMUM_FILE_BYTES, Links::Refuse);
    let (bytes, metadata) = match existing(found) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(Seen::Nothing),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(Seen::Other),
        Err(error) => return Err(error),
    };
    let hash = ContentHash::of(&bytes);
    let mode = system::mode(&metadata);
    Ok(Seen::Plain { hash, mode })
}

/// Whether a file is this version. One that cannot be read is none: nobody knows what it holds.
pub(crate) fn holds(absolute: &Path, version: Option<Version>) -> bool {
    version.is_some() && seen(absolute).is_ok_and(|seen| seen.is(version))
}

/// Whether a file is one of these versions; it is read once.
pub(crate) fn holds_either(absolute: &Path, one: Option<Version>, other: Option<Version>) -> bool {
    let is = |seen: &Seen, version: Option<Version>| version.is_some() && seen.is(version);
    seen(absolute).is_ok_and(|seen| is(&seen, one) || is(&seen, other))
}

/// Somebody else's file keeps a directory alive; that is no trouble.
fn not_empty(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        outcome => existing(outcome).map(drop),
    }
}

/// Python's caches of compiled modules.
const BYTECODE: &str = "__pycache__";

/// Whether this is a directory of compiled modules and of nothing else.
fn is_bytecode(directory: &Path) -> bool {
    let plain = fs::symlink_metadata(directory).is_ok_and(|metadata| metadata.is_dir());
    let compiled =
        |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|entry| is_compiled(&entry.path()));
    plain && fs::read_dir(directory).is_ok_and(|mut entries| entries.all(compiled))
}

fn is_compiled(file: &Path) -> bool {
    let plain = fs::symlink_metadata(file).is_ok_and(|metadata| metadata.is_file());
    let extension = file.extension();
    plain && extension.is_some_and(|extension| extension == "pyc")
}
