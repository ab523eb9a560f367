//! The scratch copy: one directory per tree, kept between runs.
//!
//! A file that is as it should be is not touched, so that its modification time stays and build
//! tools see no change; one that differs is written anew and gets the present time, never an older
//! one that a build tool would take for "not changed since". Files that a check has made go, but
//! for `Cargo.lock` where the tree has none.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, TryLockError},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use coalesce_model::{ContentHash, TreePath};
use walkdir::WalkDir;

use crate::error::{Error, ErrorKind};

/// What a file of the copy shall hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The bytes and the permissions of a file elsewhere.
    Copy(PathBuf),
    /// These bytes; the permission bits, where they are known.
    Bytes(Vec<u8>, Option<u32>),
    /// A symbolic link with this target.
    Link(PathBuf),
}

/// Every file of a tree.
pub type Wanted = BTreeMap<TreePath, Content>;

/// A scratch copy; only one process at a time has it.
#[derive(Debug)]
pub struct Scratch {
    directory: PathBuf,
    tree: PathBuf,
    /// The tree that it is a copy of.
    original: PathBuf,
    /// Why programs could write to it, if some could.
    writable: Mutex<Option<String>>,
    /// Held as long as the copy is in use.
    _lock: File,
}

impl Scratch {
    /// The copy of the tree at `root`, below `cache`; made if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] when another process has it, [`ErrorKind::Copy`] and
    /// [`ErrorKind::DiskFull`] when it cannot be made.
    pub fn open(cache: &Path, root: &Path) -> Result<Self, Error> {
        let name = ContentHash::of(root.as_os_str().as_encoded_bytes());
        let directory = cache.join("verify").join(name.to_string());
        let tree = directory.join("tree");
        fs::create_dir_all(&tree).map_err(|error| Error::copy(&tree, &error))?;
        // Paths that programs print are compared with it.
        let directory = fs::canonicalize(&directory).unwrap_or(directory);
        let path = directory.join("lock");
        let lock = File::create(&path).map_err(|error| Error::copy(&path, &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = "another check of the same tree is under way";
                return Err(Error::new(ErrorKind::Busy, message));
            }
            Err(TryLockError::Error(error)) => return Err(Error::copy(&path, &error)),
        }
        Ok(Self {
            tree: directory.join("tree"),
            directory,
            original: root.to_owned(),
            writable: Mutex::new(None),
            _lock: lock,
        })
    }

    /// Where the copied files are.
    #[must_use]
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// Where what belongs to the copy, and is no part of the tree, is kept.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The tree that this is a copy of.
    pub(crate) fn original(&self) -> &Path {
        &self.original
    }

    /// Why programs that ran on this copy could write to the tree itself; `None` where they could
    /// not, or none ran.
    #[must_use]
    pub fn writable(&self) -> Option<String> {
        let why = self.writable.lock();
        why.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn was_writable(&self, why: String) {
        let mut known = self.writable.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(why);
    }

    /// A directory for temporary files, beside the copied tree; made if there is none.
    pub(crate) fn temporary(&self) -> io::Result<PathBuf> {
        let directory = self.directory.join("tmp");
        fs::create_dir_all(&directory)?;
        Ok(directory)
    }

    /// Makes the copy hold what is wanted and nothing else; the number of files that changed.
    ///
    /// # Errors
    /// [`ErrorKind::Copy`] and [`ErrorKind::DiskFull`], naming the file; [`ErrorKind::TooMuchSpace`]
    /// when the tree is too large to be copied.
    pub fn bring(&self, wanted: &Wanted) -> Result<usize, Error> {
        bounded(wanted, MOST_BYTES)?;
        let mut changed = self.clear(wanted)?;
        for (path, content) in wanted {
            let place = self.tree.join(path.as_str());
            let put = put(&place, content).map_err(|error| Error::copy(&place, &error))?;
            changed += usize::from(put);
        }
        Ok(changed)
    }

    /// Removes what is not wanted; the number of files.
    fn clear(&self, wanted: &Wanted) -> Result<usize, Error> {
        let above = wanted.keys().flat_map(ancestors);
        let directories: BTreeSet<TreePath> = above.collect();
        let mut removed = 0;
        let mut walk = WalkDir::new(&self.tree).min_depth(1).into_iter();
        while let Some(entry) = walk.next() {
            let entry = entry.map_err(|error| Error::copy(&self.tree, &error.into()))?;
            let is_directory = entry.file_type().is_dir();
            let name = entry.path().strip_prefix(&self.tree).ok();
            let path = name.and_then(|name| TreePath::new(name.to_str()?).ok());
            let stays = path.is_some_and(|path| match is_directory {
                true => directories.contains(&path),
                false => wanted.contains_key(&path) || path.file_name() == "Cargo.lock",
            });
            if stays {
                continue;
            }
            let removal = if is_directory {
                walk.skip_current_dir();
                fs::remove_dir_all(entry.path())
            } else {
                fs::remove_file(entry.path())
            };
            removal.map_err(|error| Error::copy(entry.path(), &error))?;
            removed += 1;
        }
        Ok(removed)
    }
}

/// The directories that a file stands in, the nearest first.
fn ancestors(path: &TreePath) -> impl Iterator<Item = TreePath> + use<> {
    std::iter::successors(path.parent(), TreePath::parent)
}

/// A path of the copied tree, as programs print it; `None` outside of it.
pub(crate) fn path_in(tree: &Path, path: &Path) -> Option<TreePath> {
    let inside = path.strip_prefix(tree).ok()?.to_str()?;
    TreePath::new(&inside.replace('\\', "/")).ok()
}

/// A larger tree is not copied: something else than sources fills it.
const MOST_BYTES: u64 = 32 << 30;

fn bounded(wanted: &Wanted, most: u64) -> Result<(), Error> {
    let length = |content: &Content| match content {
        Content::Copy(from) => fs::metadata(from).map_or(0, |metadata| metadata.len()),
        Content::Bytes(bytes, _) => bytes.len() as u64,
        Content::Link(_) => 0,
    };
    let bytes: u64 = wanted.values().map(length).sum();
    if bytes <= most {
        return Ok(());
    }
    let message = format!(
        "the tree has {} MiB, and no more than {} MiB are copied to be checked",
        bytes >> 20,
        most >> 20
    );
    Err(Error::new(ErrorKind::TooMuchSpace, message))
}

/// Writes a file unless it is there already; whether it was written.
fn put(place: &Path, content: &Content) -> io::Result<bool> {
    if is_there(place, content)? {
        return Ok(false);
    }
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::symlink_metadata(place) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(place)?,
        // A file without the right to write is replaced all the same.
        Ok(_) => fs::remove_file(place)?,
        Err(_) => {}
    }
    match content {
        Content::Copy(from) => {
            fs::write(place, fs::read(from)?)?;
            fs::set_permissions(place, fs::metadata(from)?.permissions())?;
        }
        Content::Bytes(bytes, mode) => {
            fs::write(place, bytes)?;
            set_mode(place, *mode)?;
        }
        Content::Link(target) => link(target, place)?,
    }
    Ok(true)
}

fn is_there(place: &Path, content: &Content) -> io::Result<bool> {
    let Ok(metadata) = fs::symlink_metadata(place) else {
        return Ok(false);
    };
    match content {
        Content::Link(target) => {
            Ok(metadata.is_symlink() && fs::read_link(place).is_ok_and(|there| there == *target))
        }
        Content::Bytes(bytes, _) => Ok(metadata.is_file()
            && metadata.len() == bytes.len() as u64
            && fs::read(place)? == *bytes),
        Content::Copy(from) => {
            let wanted = fs::metadata(from)?;
            let same_kind = metadata.is_file() && metadata.len() == wanted.len();
            Ok(same_kind && metadata.permissions() == wanted.permissions() && same(place, from)?)
        }
    }
}

/// Whether two files of the same length hold the same bytes.
fn same(a: &Path, b: &Path) -> io::Result<bool> {
    const PIECE: usize = 1 << 16;
    let (mut a, mut b) = (File::open(a)?, File::open(b)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        let read = a.by_ref().take(PIECE as u64).read_to_end(&mut left)?;
        b.by_ref().take(PIECE as u64).read_to_end(&mut right)?;
        if left != right {
            return Ok(false);
        }
        if read == 0 {
            return Ok(true);
        }
    }
}

#[cfg(unix)]
fn set_mode(place: &Path, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(mode) = mode else { return Ok(()) };
    fs::set_permissions(place, fs::Permissions::from_mode(mode & 0o777))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn link(target: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn link(_: &Path, place: &Path) -> io::Result<()> {
    let message = format!("{} is a symbolic link", place.display());
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(files: &[(&str, &str)]) -> Wanted {
        let file = |(path, text): &(&str, &str)| {
            let content = Content::Bytes(text.as_bytes().to_vec(), Some(0o644));
            (TreePath::new(path).unwrap(), content)
        };
        files.iter().map(file).collect()
    }

    #[test]
    fn only_what_differs_is_written_and_what_is_not_wanted_goes() {
        let cache = tempfile::tempdir().unwrap();
        let scratch = Scratch::open(cache.path(), Path::new("/some/tree")).unwrap();
        let time = |name: &str| {
            let metadata = fs::metadata(scratch.tree().join(name)).unwrap();
            metadata.modified().unwrap()
        };
        let first = wanted(&[("a/x.py", "1"), ("a/y.py", "2"), ("b/z.py", "3")]);
        assert_eq!(scratch.bring(&first).unwrap(), 3);
        assert_eq!(scratch.bring(&first).unwrap(), 0);
        let (kept, changed) = (time("a/x.py"), time("a/y.py"));
        fs::create_dir_all(scratch.tree().join("a/__pycache__")).unwrap();
        fs::write(scratch.tree().join("a/__pycache__/x.pyc"), "").unwrap();
        fs::write(scratch.tree().join("Cargo.lock"), "").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let second = wanted(&[("a/x.py", "1"), ("a/y.py", "4")]);
        // The pycache, b and y.
        assert_eq!(scratch.bring(&second).unwrap(), 3);
        assert_eq!(time("a/x.py"), kept);
        assert!(time("a/y.py") > changed, "never an older time");
        assert!(!scratch.tree().join("b").exists());
        assert!(!scratch.tree().join("a/__pycache__").exists());
        assert!(scratch.tree().join("Cargo.lock").exists());
    }

    #[test]
    fn a_tree_that_is_too_large_is_not_copied() {
        let files = wanted(&[("a", "1234"), ("b", "5678")]);
        assert!(bounded(&files, 8).is_ok());
        let error = bounded(&files, 7).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooMuchSpace);
    }

    #[test]
    fn a_file_and_a_directory_trade_places() {
        let cache = tempfile::tempdir().unwrap();
        let scratch = Scratch::open(cache.path(), Path::new("/some/tree")).unwrap();
        for files in [&[("a", "1")][..], &[("a/b", "1")], &[("a", "2")]] {
            scratch.bring(&wanted(files)).unwrap();
            for (path, text) in files {
                let there = fs::read_to_string(scratch.tree().join(path)).unwrap();
                assert_eq!(there, *text);
            }
        }
    }

    #[test]
    fn a_second_one_waits_its_turn() {
        let cache = tempfile::tempdir().unwrap();
        let root = Path::new("/some/tree");
        let first = Scratch::open(cache.path(), root).unwrap();
        let second = Scratch::open(cache.path(), root).unwrap_err();
        assert_eq!(second.kind(), ErrorKind::Busy);
        drop(first);
        assert!(Scratch::open(cache.path(), root).is_ok());
    }
}
