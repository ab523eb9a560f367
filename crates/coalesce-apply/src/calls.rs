//! The calls that change a disk. Each is announced before it is made: tests fail there, stop there,
//! and record what was asked to see what a loss of power would leave of it.

use std::{
    collections::BTreeSet,
    fs::{self, File, Metadata},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::system::{self, Owner};

/// One call, about to be made.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "tests look inside: they replay what was asked")
)]
pub(crate) enum Call<'c> {
    /// A directory comes into being.
    MakeDirectory(&'c Path),
    /// An empty directory goes.
    RemoveDirectory(&'c Path),
    /// A new file with these bytes.
    Create(&'c Path, &'c [u8]),
    /// A file or a directory gets another name, in place of what has it.
    Rename(&'c Path, &'c Path),
    /// The same, where nothing may have that name.
    Place(&'c Path, &'c Path),
    /// Two files change names.
    Exchange(&'c Path, &'c Path),
    /// A file gets a second name.
    Link(&'c Path, &'c Path),
    /// A name of a file goes.
    Remove(&'c Path),
    /// Permission bits are set.
    Mode(&'c Path, u32),
    /// What was written is brought from memory to the disk.
    Sync(&'c BTreeSet<PathBuf>),
}

/// Called before each call; an error keeps it from being made.
pub(crate) type Hook = Box<dyn Fn(&Call<'_>) -> io::Result<()> + Send + Sync>;

/// So many paths are synced one by one, which leaves what others have written alone.
const FEW: usize = 4;

/// Makes the calls.
pub(crate) struct Calls {
    hook: Hook,
}

impl Calls {
    pub fn new(hook: Hook) -> Self {
        Self { hook }
    }

    fn announce(&self, call: &Call<'_>) -> io::Result<()> {
        (self.hook)(call)
    }

    pub fn make_directory(&self, path: &Path) -> io::Result<()> {
        self.announce(&Call::MakeDirectory(path))?;
        fs::create_dir(path)
    }

    pub fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.announce(&Call::RemoveDirectory(path))?;
        fs::remove_dir(path)
    }

    /// A new file; an error where one is.
    pub fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<File> {
        self.announce(&Call::Create(path, bytes))?;
        let mut file = File::create_new(path)?;
        file.write_all(bytes)?;
        Ok(file)
    }

    /// A new file with these permission bits that belongs to `owner`; what the system says of it, but for these.
    pub fn create_as(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: u32,
        owner: Owner,
    ) -> io::Result<Metadata> {
        let file = self.create(path, bytes)?;
        let made = file.metadata()?;
        let given = system::set_owner(&file, &made, owner)?;
        // Last, since a change of owner clears bits.
        if given || system::mode(&made) != mode {
            system::set_mode_of(&file, mode)?;
        }
        Ok(made)
    }

    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.announce(&Call::Rename(from, to))?;
        fs::rename(from, to)
    }

    /// As [`Self::rename`], and [`io::ErrorKind::AlreadyExists`] where something has that name.
    pub fn place(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.announce(&Call::Place(from, to))?;
        if let Some(outcome) = system::place(from, to) {
            return outcome;
        }
        // A second name is refused where there is one, too; where there are no second names, the
        // look and the rename are two steps.
        match fs::hard_link(from, to) {
            Ok(()) => fs::remove_file(from),
            Err(error) if is_impossible(&error) => {
                if fs::symlink_metadata(to).is_ok() {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                fs::rename(from, to)
            }
            Err(error) => Err(error),
        }
    }

    /// Exchanges two files at once; `false` where the file system cannot.
    pub fn exchange(&self, a: &Path, b: &Path) -> io::Result<bool> {
        match self.announce(&Call::Exchange(a, b)) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(false),
            outcome => outcome?,
        }
        match system::exchange(a, b) {
            Some(outcome) => outcome.map(|()| true),
            None => Ok(false),
        }
    }

    pub fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.announce(&Call::Link(from, to))?;
        fs::hard_link(from, to)
    }

    pub fn remove(&self, path: &Path) -> io::Result<()> {
        self.announce(&Call::Remove(path))?;
        fs::remove_file(path)
    }

    pub fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.announce(&Call::Mode(path, mode))?;
        system::set_mode(path, mode)
    }

    /// Brings files and directories to the disk: one by one where they are few, else, where there
    /// is such a call, with everything else on their file systems at once.
    pub fn sync(&self, paths: &BTreeSet<PathBuf>) -> io::Result<()> {
        self.announce(&Call::Sync(paths))?;
        if paths.len() > FEW && system::sync_file_systems(paths)? {
            return Ok(());
        }
        paths.iter().try_for_each(|path| system::sync_path(path))
    }

    /// The same for files that were made in one directory: where the system has such a call, that directory is
    /// opened alone, and not each of thousands of files.
    pub fn sync_made(&self, directory: &Path, files: &BTreeSet<PathBuf>) -> io::Result<()> {
        self.announce(&Call::Sync(files))?;
        let around = BTreeSet::from([directory.to_owned()]);
        if files.len() > FEW && system::sync_file_systems(&around)? {
            return Ok(());
        }
        files.iter().try_for_each(|path| system::sync_path(path))
    }

    pub fn sync_one(&self, path: &Path) -> io::Result<()> {
        self.sync(&BTreeSet::from([path.to_owned()]))
    }
}

/// Whether a file system has no such thing at all.
fn is_impossible(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
    )
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
