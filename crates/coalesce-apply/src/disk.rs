//! The few operations that change a tree, each a step that tests can fail or stop at.

use std::{
    collections::BTreeSet,
    fs::{self, File, Metadata},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use coalesce_model::{ContentHash, TreePath};

use crate::system::{self, Owner};

/// Called before each change of the disk; an error keeps it from happening.
pub(crate) type Hook = Box<dyn Fn(Step) -> io::Result<()> + Send + Sync>;

/// One kind of change of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The journal is written.
    Journal,
    /// A file is written, in our own directory.
    Stage,
    /// Data is brought from memory to the disk.
    Sync,
    /// A directory is made.
    MakeDirectory,
    /// A staged file takes its place.
    Place,
    /// Permission bits are set.
    Mode,
    /// A file is removed.
    Remove,
    /// A directory is removed.
    RemoveDirectory,
    /// The journal is marked.
    Mark,
}

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
    /// Whether it is a file with this hash, or nothing for `None`.
    pub fn is(&self, expected: Option<ContentHash>) -> bool {
        match self {
            Self::Nothing => expected.is_none(),
            Self::Plain { hash, .. } => expected == Some(*hash),
            Self::Other => false,
        }
    }
}

/// A tree on disk.
pub(crate) struct Disk {
    /// Absolute path of the root.
    pub root: PathBuf,
    hook: Hook,
}

impl Disk {
    pub fn new(root: PathBuf, hook: Hook) -> Self {
        Self { root, hook }
    }

    pub fn step(&self, step: Step) -> io::Result<()> {
        (self.hook)(step)
    }

    pub fn absolute(&self, path: &TreePath) -> PathBuf {
        self.root.join(path.as_str())
    }

    /// What the system says of a path, no link followed; `None` where there is nothing.
    pub fn metadata(&self, path: &TreePath) -> io::Result<Option<Metadata>> {
        existing(fs::symlink_metadata(self.absolute(path)))
    }

    pub fn seen(&self, path: &TreePath) -> io::Result<Seen> {
        let Some(metadata) = self.metadata(path)? else {
            return Ok(Seen::Nothing);
        };
        if !metadata.is_file() {
            return Ok(Seen::Other);
        }
        let hash = ContentHash::of(&fs::read(self.absolute(path))?);
        let mode = system::mode(&metadata);
        Ok(Seen::Plain { hash, mode })
    }

    pub fn is_directory(&self, path: &TreePath) -> bool {
        self.metadata(path)
            .is_ok_and(|metadata| metadata.is_some_and(|metadata| metadata.is_dir()))
    }

    /// Names of what a directory holds; a name that is not UTF-8 is told lossily.
    pub fn entries(&self, path: &TreePath) -> io::Result<Vec<String>> {
        let name =
            |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
        fs::read_dir(self.absolute(path))?.map(name).collect()
    }

    /// Writes a file outside the tree proper, ready to take its place.
    pub fn stage(&self, staged: &Path, bytes: &[u8], mode: u32, owner: Owner) -> io::Result<()> {
        self.step(Step::Stage)?;
        let mut file = File::create_new(staged)?;
        file.write_all(bytes)?;
        system::set_owner(&file, owner)?;
        // Last, since a change of owner clears bits.
        system::set_mode(staged, mode)
    }

    /// Puts a staged file in its place, whole or not at all. What it replaces stays at `kept`:
    /// some file systems take a millisecond to free a file.
    pub fn place(&self, staged: &Path, path: &TreePath, kept: Option<&Path>) -> io::Result<()> {
        self.step(Step::Place)?;
        let absolute = self.absolute(path);
        if let Some(kept) = kept {
            // Where that cannot be, it costs only time: its bytes are in the journal.
            drop(fs::hard_link(&absolute, kept));
        }
        match fs::rename(staged, &absolute) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                across(staged, &absolute)
            }
            outcome => outcome,
        }
    }

    pub fn set_mode(&self, path: &TreePath, mode: u32) -> io::Result<()> {
        self.step(Step::Mode)?;
        system::set_mode(&self.absolute(path), mode)
    }

    /// Removes a file from the tree; it stays at `kept`, as in [`Self::place`].
    pub fn remove(&self, path: &TreePath, kept: Option<&Path>) -> io::Result<()> {
        self.step(Step::Remove)?;
        let absolute = self.absolute(path);
        if kept.is_some_and(|kept| fs::rename(&absolute, kept).is_ok()) {
            return Ok(());
        }
        fs::remove_file(absolute)
    }

    pub fn make_directory(
        &self,
        path: &TreePath,
        mode: Option<u32>,
        owner: Owner,
    ) -> io::Result<()> {
        self.step(Step::MakeDirectory)?;
        let absolute = self.absolute(path);
        fs::create_dir(&absolute)?;
        system::set_owner(&File::open(&absolute)?, owner)?;
        mode.map_or(Ok(()), |mode| system::set_mode(&absolute, mode))
    }

    /// Removes a directory that holds nothing but Python's caches of what it held.
    pub fn remove_directory(&self, path: &TreePath) -> io::Result<()> {
        self.step(Step::RemoveDirectory)?;
        let absolute = self.absolute(path);
        let cache = absolute.join(BYTECODE);
        if is_bytecode(&cache) {
            fs::remove_dir_all(cache)?;
        }
        fs::remove_dir(absolute)
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

    /// Brings files and directories to the disk: one by one where they are few, else, where there
    /// is such a call, with everything else on their file systems at once.
    pub fn sync(&self, paths: &BTreeSet<PathBuf>) -> io::Result<()> {
        self.step(Step::Sync)?;
        if paths.len() > FEW && system::sync_file_systems(paths)? {
            return Ok(());
        }
        paths.iter().try_for_each(|path| system::sync_path(path))
    }
}

/// So many paths are synced one by one, which leaves what others have written alone.
const FEW: usize = 4;

/// Python's caches of compiled modules.
const BYTECODE: &str = "__pycache__";

/// Whether this is a directory of compiled modules and of nothing else.
fn is_bytecode(directory: &Path) -> bool {
    let plain = fs::symlink_metadata(directory).is_ok_and(|metadata| metadata.is_dir());
    let compiled = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| {
            let file = entry.file_type().is_ok_and(|kind| kind.is_file());
            file && entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "pyc")
        })
    };
    plain && fs::read_dir(directory).is_ok_and(|mut entries| entries.all(compiled))
}

/// A file system of its own below the root: a copy beside the place, then a rename.
fn across(staged: &Path, absolute: &Path) -> io::Result<()> {
    let metadata = fs::metadata(staged)?;
    let directory = absolute.parent().unwrap_or(absolute);
    let mut copy = tempfile::Builder::new()
        .prefix(".coalesce-")
        .tempfile_in(directory)?;
    io::copy(&mut File::open(staged)?, &mut copy)?;
    system::set_owner(copy.as_file(), system::owner(&metadata))?;
    system::set_mode(copy.path(), system::mode(&metadata))?;
    copy.as_file().sync_all()?;
    copy.persist(absolute).map_err(|error| error.error)?;
    fs::remove_file(staged)
}

/// Nothing there is no trouble.
pub(crate) fn existing<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
