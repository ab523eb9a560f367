//! The directory that holds our state in a tree: the lock and the journals. It ignores itself, no
//! walk enters it, and it goes away when it holds nothing to undo.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use coalesce_tree::plain::{self, Links};

use crate::{
    Error, ErrorKind,
    calls::existing,
    journal::{self, Entry, Journal, State},
    room::{Room, move_aside, remove_stage},
    system,
};

const NAME: &str = ".coalesce";
/// A process that is being started holds, for an instant, a copy of what its parent has open.
const PATIENCE: Duration = Duration::from_millis(200);

/// The directory of our state, which need not exist.
#[derive(Clone, Debug)]
pub(crate) struct StateDirectory {
    root: PathBuf,
    directory: PathBuf,
}

/// Held while a migration runs; the system lets go of it when the process ends, however it ends.
pub(crate) struct Lock<'s> {
    state: &'s StateDirectory,
    file: File,
}

impl StateDirectory {
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            directory: root.join(NAME),
        }
    }

    pub fn exists(&self) -> bool {
        self.directory.exists()
    }

    pub fn journals(&self) -> PathBuf {
        self.directory.join("journal")
    }

    /// Where files wait to take their place.
    fn stage(&self) -> PathBuf {
        self.directory.join("stage")
    }

    /// Where the files of a journal wait and stay.
    pub fn room(&self, journal: &Journal) -> Room {
        Room {
            stage: self.stage(),
            placing: self.directory.join("placing"),
            kept: journal.kept(),
        }
    }

    /// A number that nothing in our directory has yet.
    pub fn next_number(&self) -> Result<u32, Error> {
        let last = journal::last_number(&self.journals()).map_err(|error| trouble(&error))?;
        last.checked_add(1).ok_or_else(|| {
            let message = "the journals of this tree have used up all numbers";
            Error::new(ErrorKind::Journal, message)
        })
    }

    fn lock_file(&self) -> PathBuf {
        self.directory.join("lock")
    }

    /// All journals, oldest first.
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        self.refuse_others()?;
        journal::entries(&self.journals()).map_err(|error| trouble(&error))
    }

    /// The migration that was cut off.
    pub fn unfinished(&self) -> Result<Option<Entry>, Error> {
        let cut_off = |entry: &Entry| entry.state() == Some(State::Started);
        Ok(self.entries()?.into_iter().find(cut_off))
    }

    /// A tree may bring a `.coalesce` of its own; nothing is read or written where it links to, and
    /// nobody waits for a pipe.
    fn refuse_others(&self) -> Result<(), Error> {
        let directories = [self.directory.clone(), self.journals()];
        let files = [self.directory.join(".gitignore"), self.lock_file()];
        for path in directories.iter().chain(&files) {
            let Ok(metadata) = fs::symlink_metadata(path) else {
                continue;
            };
            let message = if metadata.is_symlink() {
                "is a symbolic link; nothing is written through links"
            } else if directories.contains(path) && !metadata.is_dir() {
                "is no directory: move it away"
            } else if files.contains(path) && !metadata.is_file() {
                "is no plain file: move it away"
            } else {
                continue;
            };
            let name = path.strip_prefix(&self.root).unwrap_or(path).display();
            return Err(Error::new(ErrorKind::Unsafe, format!("{name} {message}")));
        }
        Ok(())
    }

    /// Takes the lock, or says who has it.
    pub fn lock(&self) -> Result<Lock<'_>, Error> {
        self.refuse_others()?;
        let patience = Instant::now() + PATIENCE;
        for _ in 0..1_000 {
            let file = match self.open_lock() {
                Ok(file) => file,
                // Whoever had it before removes the directory this moment.
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.root.is_dir() => {
                    continue;
                }
                Err(error) => return Err(trouble(&error)),
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(fs::TryLockError::WouldBlock) if Instant::now() < patience => {
                    thread::sleep(Duration::from_millis(5));
                    continue;
                }
                Err(fs::TryLockError::WouldBlock) => return Err(busy()),
                Err(fs::TryLockError::Error(error)) => return Err(trouble(&error)),
            }
            // Whoever held it before may have removed the file that was opened here.
            if self.is_lock(&file).map_err(|error| trouble(&error))? {
                let lock = Lock { state: self, file };
                self.tidy().map_err(|error| trouble(&error))?;
                return Ok(lock);
            }
        }
        Err(busy())
    }

    /// Whether another process holds the lock. Changes nothing.
    pub fn is_locked(&self) -> bool {
        let Ok(file) = plain::open(&self.lock_file(), Links::Refuse) else {
            return false;
        };
        let patience = Instant::now() + PATIENCE;
        loop {
            match file.try_lock_shared() {
                Err(fs::TryLockError::WouldBlock) if Instant::now() < patience => {
                    thread::sleep(Duration::from_millis(5));
                }
                outcome => return matches!(outcome, Err(fs::TryLockError::WouldBlock)),
            }
        }
    }

    fn open_lock(&self) -> io::Result<File> {
        let fresh = !self.journals().exists();
        fs::create_dir_all(self.journals())?;
        if fresh {
            system::sync_path(&self.directory)?;
            system::sync_path(&self.root)?;
        }
        File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.lock_file())
    }

    /// What a process that was killed may have left half done.
    fn tidy(&self) -> io::Result<()> {
        journal::forget_unwritten(&self.journals())?;
        let ignore = self.directory.join(".gitignore");
        let empty = existing(fs::metadata(&ignore))?.is_none_or(|metadata| metadata.len() == 0);
        if empty {
            let new = self.directory.join("gitignore.new");
            // A tree may have brought a link, or a pipe: nothing is written to what is there.
            if fs::symlink_metadata(&new).is_ok_and(|metadata| metadata.is_dir()) {
                move_aside(&new)?;
            }
            existing(fs::remove_file(&new))?;
            File::create_new(&new)?.write_all(b"*\n")?;
            fs::rename(new, ignore)?;
        }
        Ok(())
    }

    fn is_lock(&self, file: &File) -> io::Result<bool> {
        let named = existing(fs::symlink_metadata(self.lock_file()))?;
        let held = file.metadata()?;
        Ok(named.is_some_and(|named| system::same_file(&named, &held)))
    }
}

impl Lock<'_> {
    /// The permission bits that this process gives to a new file.
    pub fn mode_of_new(&self) -> u32 {
        let bits = self.file.metadata().map(|metadata| system::mode(&metadata));
        bits.unwrap_or(0o644)
    }
}

impl Drop for Lock<'_> {
    /// Leaves nothing behind when there is nothing to undo. What cannot be removed does no harm.
    fn drop(&mut self) {
        drop(remove_stage(&self.state.stage()));
        // Fails while there is a journal.
        if fs::remove_dir(self.state.journals()).is_err() {
            return;
        }
        let ours = [".gitignore", "gitignore.new", "lock"];
        let entries = fs::read_dir(&self.state.directory).into_iter().flatten();
        let mut others = entries.flatten().filter(|entry| {
            let name = entry.file_name();
            !ours.iter().any(|own| name == *own)
        });
        if others.next().is_none() {
            for name in ours {
                drop(fs::remove_file(self.state.directory.join(name)));
            }
            drop(fs::remove_dir(&self.state.directory));
        }
    }
}

pub(crate) fn busy() -> Error {
    Error::new(
        ErrorKind::Locked,
        "another migration of this tree is under way",
    )
}

fn trouble(error: &io::Error) -> Error {
    Error::state(&format!("{NAME} cannot be used"), error)
}
