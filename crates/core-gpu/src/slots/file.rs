//! Slots as locks of the kernel on files, named by the identity of the device. A lock belongs to an
//! open file and goes away with its process, so that nothing has to be cleaned up and no process
//! number is believed. Files are never removed: one that is removed could be locked a second time
//! under its name.
//!
//! A device has one file that says how many slots it has, which every holder locks shared, and one
//! file for each slot, which its holder locks for itself alone, and in which it says what it claims
//! (`record`). The number changes while nobody holds a slot, and only then. Bytes are counted and
//! claimed under the lock of a third file, the ledger, one claimer at a time. One machine: locks over a network are not trusted here.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use core_gpu_driver::DeviceId;

use crate::{
    platform::Deadline,
    slots::{
        Claim, Request, SlotError, SlotHolder, SlotStatus, SlotStore, ValidUntil, Wanted,
        holders::Locks,
        pause::Pause,
        record::{self, Record},
    },
};

/// What the file with the number of slots says, before the number.
const MAGIC: &str = "coalesce slots, version 1: ";
/// How many digits the number has: the file's length never changes.
const DIGITS: usize = 10;
/// How often a request that must not wait looks again while somebody changes the number of slots.
const ROUNDS: u32 = 40;

/// Slots in a directory. All programs of a machine that are to share its devices use the same one.
#[derive(Debug)]
pub struct FileSlots {
    directory: PathBuf,
}

/// What a claim holds: both locks, while the files are open.
struct Hold {
    slot: File,
    record: Record,
    _capacity: File,
    /// Who made the claim. A child that was forked has the same open files, and lets go of its own only.
    process: u32,
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // A record without a lock counts for nothing; this spares others from looking at it.
            let _ = record::clear(&self.slot);
        }
    }
}

enum Outcome {
    Taken(Claim),
    Full,
    /// Somebody is changing the number of slots, or this request just did.
    Again,
    /// Others go by another number and hold slots.
    Other(u32),
    /// Others claim so many bytes that there is no room.
    NoRoom,
}

impl FileSlots {
    /// In this directory, which is made when the first slot is asked for: open to every user, as the
    /// system's temporary folder is.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Who holds which slot of a device, as far as the system tells: Linux does, for processes that
    /// this one may see.
    ///
    /// # Errors
    /// As [`SlotStore::status`].
    pub fn holders(&self, device: &DeviceId) -> Result<Vec<SlotHolder>, SlotError> {
        let held = self.status(device)?.held;
        if held.is_empty() {
            return Ok(Vec::new());
        }
        let locks = Locks::read();
        let holder = |slot| {
            let path = self.slot_path(device, slot);
            // One that cannot be read says nothing.
            let record = read_record(&path).unwrap_or_default();
            SlotHolder {
                slot,
                process: locks.holder(&path),
                claimed_bytes: record.bytes,
                held_for: record.held_for(),
                used_for: record.used_for(),
            }
        };
        Ok(held.into_iter().map(holder).collect())
    }

    /// Bytes that the holders of a device's slots claim together. Under the ledger's lock nobody
    /// else's claim of bytes begins.
    fn claimed_bytes(&self, device: &DeviceId, slots: u32) -> Result<u64, SlotError> {
        let mut claimed = 0_u64;
        for slot in 0..slots {
            let path = self.slot_path(device, slot);
            let bytes = read_record(&path)?.bytes;
            // A record that claims something and is nobody's is of one who was killed.
            if bytes > 0 && self.is_held(device, slot)? {
                claimed = claimed.saturating_add(bytes);
            }
        }
        Ok(claimed)
    }

    /// The lock under which bytes are counted and claimed; `None` while somebody else does.
    fn ledger(&self, device: &DeviceId) -> Result<Option<File>, SlotError> {
        let path = self.path(device, "ledger");
        let file = self.open(&path)?;
        Ok(try_lock(&path, &file)?.then_some(file))
    }

    fn path(&self, device: &DeviceId, part: &str) -> PathBuf {
        // `cuda:GPU-…`; a colon is not for file names everywhere.
        let device = device.to_string().replace(':', "-");
        self.directory.join(format!("{device}.{part}"))
    }

    fn slot_path(&self, device: &DeviceId, slot: u32) -> PathBuf {
        self.path(device, &format!("slot-{slot}"))
    }

    fn try_device(
        &self,
        wanted: &Wanted,
        bytes: u64,
        pause: &mut Pause,
    ) -> Result<Outcome, SlotError> {
        let path = self.path(&wanted.device, "capacity");
        let mut capacity = self.open(&path)?;
        if !try_lock_shared(&path, &capacity)? {
            return Ok(Outcome::Again);
        }
        let stored = read_capacity(&path, &mut capacity)?;
        if stored != Some(wanted.slots) {
            drop(capacity);
            return self.set_capacity(&path, wanted.slots, stored);
        }
        // Held until the claim is written: what is counted stays true so long.
        let _ledger = match bytes {
            0 => None,
            bytes => {
                let Some(ledger) = self.ledger(&wanted.device)? else {
                    return Ok(Outcome::Again);
                };
                let claimed = self.claimed_bytes(&wanted.device, wanted.slots)?;
                if claimed.saturating_add(bytes) > wanted.budget_bytes {
                    return Ok(Outcome::NoRoom);
                }
                Some(ledger)
            }
        };
        let first = pause.below(u64::from(wanted.slots)) as u32;
        let mut is_looked_at = false;
        for slot in (first..wanted.slots).chain(0..first) {
            let path = self.slot_path(&wanted.device, slot);
            let mut file = self.open(&path)?;
            if try_lock(&path, &file)? {
                let record = Record::beginning(bytes);
                match record.write(&mut file) {
                    // Another user's file may be closed to this one: that matters to bytes alone.
                    Err(error) if bytes > 0 => return Err(SlotError::of(&path, &error)),
                    _ => (),
                }
                let hold = Hold {
                    slot: file,
                    record,
                    _capacity: capacity,
                    process: std::process::id(),
                };
                return Ok(Outcome::Taken(Claim::new(wanted.device, slot, hold)));
            }
            // Who holds a slot locks it alone; who only looks shares the lock, and lets go at once.
            is_looked_at |= try_lock_shared(&path, &file)?;
        }
        Ok(match is_looked_at {
            true => Outcome::Again,
            false => Outcome::Full,
        })
    }

    /// Changes the number of slots, where nobody holds one.
    fn set_capacity(
        &self,
        path: &Path,
        slots: u32,
        stored: Option<u32>,
    ) -> Result<Outcome, SlotError> {
        let mut file = self.open(path)?;
        if !try_lock(path, &file)? {
            return Ok(stored.map_or(Outcome::Again, Outcome::Other));
        }
        // Somebody else may have changed it meanwhile.
        if read_capacity(path, &mut file)? == stored {
            let text = format!("{MAGIC}{slots:0DIGITS$}\n");
            let written = file.rewind().and_then(|()| file.write_all(text.as_bytes()));
            written.map_err(|error| SlotError::of(path, &error))?;
        }
        Ok(Outcome::Again)
    }

    /// Opens a file, made where it is missing. One that another user made may be open for reading
    /// only, which is enough to lock it.
    fn open(&self, path: &Path) -> Result<File, SlotError> {
        let failed = |error: io::Error| SlotError::of(path, &error);
        // A file may come and go only if somebody removes it: then this ends with an error.
        for _ in 0..ROUNDS {
            match open_existing(path) {
                Ok(file) => return Ok(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                Err(error) => return Err(failed(error)),
            }
            match create(path) {
                Ok(file) => return Ok(file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.create_directory()?,
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(io::ErrorKind::NotFound.into()))
    }

    fn create_directory(&self) -> Result<(), SlotError> {
        let failed = |error: io::Error| SlotError::of(&self.directory, &error);
        if let Some(parent) = self.directory.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        match fs::create_dir(&self.directory) {
            Ok(()) => open_to_all(&self.directory, 0o1777).map_err(failed),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Why there is no room: for people, so that what cannot be read is left out.
    fn no_room(&self, wanted: &Wanted, asked_bytes: u64, waited: Duration) -> SlotError {
        let holders = self.holders(&wanted.device).unwrap_or_default();
        SlotError::Memory {
            device: wanted.device,
            asked_bytes,
            claimed_bytes: holders
                .iter()
                .fold(0, |sum, holder| sum.saturating_add(holder.claimed_bytes)),
            budget_bytes: wanted.budget_bytes,
            holders,
            waited,
        }
    }

    fn is_held(&self, device: &DeviceId, slot: u32) -> Result<bool, SlotError> {
        let path = self.slot_path(device, slot);
        match open_existing(&path) {
            // Shared, so that two who look do not see each other.
            Ok(file) => Ok(!try_lock_shared(&path, &file)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(SlotError::of(&path, &error)),
        }
    }
}

impl SlotStore for FileSlots {
    fn claim(&self, request: &Request, by: Deadline) -> Result<Claim, SlotError> {
        request.check()?;
        let start = Instant::now();
        let (mut pause, mut others) = (Pause::new(), 0);
        loop {
            let (mut again, mut other, mut no_room) = (false, None, None);
            for wanted in request.devices.iter().filter(|wanted| wanted.slots > 0) {
                match self.try_device(wanted, request.bytes, &mut pause)? {
                    Outcome::Taken(claim) => return Ok(claim),
                    Outcome::Full => (),
                    Outcome::Again => again = true,
                    Outcome::Other(stored) => other = Some((wanted, stored)),
                    Outcome::NoRoom => no_room = no_room.or(Some(wanted)),
                }
            }
            // Who merely looks holds the lock for a moment: only what stays is an error.
            let unsettled = again || other.is_some();
            others = if unsettled { others + 1 } else { 0 };
            if let Some((wanted, stored)) = other.filter(|_| others > ROUNDS) {
                return Err(SlotError::Capacity {
                    device: wanted.device,
                    stored,
                    asked: wanted.slots,
                });
            }
            let go_on = unsettled && others <= ROUNDS;
            if let Some(wanted) = no_room.filter(|_| by.is_over() && !go_on) {
                return Err(self.no_room(wanted, request.bytes, start.elapsed()));
            }
            if by.is_over() && !go_on {
                return Err(SlotError::Full {
                    devices: request.devices.len(),
                    waited: start.elapsed(),
                });
            }
            thread::sleep(rest(&mut pause, by, go_on));
        }
    }

    fn renew(&self, claim: &Claim) -> Result<ValidUntil, SlotError> {
        if claim.hold.is::<Hold>() {
            Ok(ValidUntil::Released)
        } else {
            Err(SlotError::OtherStore)
        }
    }

    fn note_use(&self, claim: &mut Claim, time: Duration) -> Result<(), SlotError> {
        let path = self.slot_path(&claim.device, claim.slot);
        let hold = claim.hold.downcast_mut::<Hold>();
        let hold = hold.ok_or(SlotError::OtherStore)?;
        let more = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        hold.record.used = hold.record.used.saturating_add(more);
        let written = hold.record.write(&mut hold.slot);
        written.map_err(|error| SlotError::of(&path, &error))
    }

    fn release(&self, claim: Claim) -> Result<(), SlotError> {
        // Closing the files unlocks them: the slot first, then the number of slots.
        claim.hold::<Hold>().map(drop).ok_or(SlotError::OtherStore)
    }

    fn status(&self, device: &DeviceId) -> Result<SlotStatus, SlotError> {
        let path = self.path(device, "capacity");
        let capacity = match open_existing(&path) {
            Ok(mut file) => read_capacity(&path, &mut file)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(SlotError::of(&path, &error)),
        };
        let (mut held, mut claimed_bytes) = (Vec::new(), 0_u64);
        for slot in 0..capacity.unwrap_or(0) {
            if self.is_held(device, slot)? {
                held.push(slot);
                let record = read_record(&self.slot_path(device, slot))?;
                claimed_bytes = claimed_bytes.saturating_add(record.bytes);
            }
        }
        Ok(SlotStatus {
            capacity,
            held,
            claimed_bytes,
        })
    }
}

/// What a slot's file says; nothing where there is none.
fn read_record(path: &Path) -> Result<Record, SlotError> {
    match open_existing(path) {
        Ok(mut file) => Record::read(&mut file).map_err(|error| SlotError::of(path, &error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Record::default()),
        Err(error) => Err(SlotError::of(path, &error)),
    }
}

/// How long to sleep: no longer than the deadline, and shortly where somebody is just changing
/// something.
fn rest(pause: &mut Pause, by: Deadline, shortly: bool) -> Duration {
    if shortly {
        return Duration::from_micros(100 + pause.below(400));
    }
    let pause = pause.next();
    by.left().map_or(pause, |left| pause.min(left))
}

fn try_lock(path: &Path, file: &File) -> Result<bool, SlotError> {
    tried(path, file.try_lock())
}

fn try_lock_shared(path: &Path, file: &File) -> Result<bool, SlotError> {
    tried(path, file.try_lock_shared())
}

fn tried(path: &Path, result: Result<(), TryLockError>) -> Result<bool, SlotError> {
    match result {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(SlotError::of(path, &error)),
    }
}

/// The number of slots that a file says; `None` for one that was just made, or whose writer was
/// killed.
fn read_capacity(path: &Path, file: &mut File) -> Result<Option<u32>, SlotError> {
    let failed = |error: io::Error| SlotError::of(path, &error);
    let mut text = Vec::new();
    file.rewind().map_err(failed)?;
    let limit = (MAGIC.len() + DIGITS + 2) as u64;
    file.take(limit).read_to_end(&mut text).map_err(failed)?;
    let foreign = || SlotError::Foreign {
        path: path.to_owned(),
    };
    if MAGIC.as_bytes().starts_with(&text) {
        return Ok(None);
    }
    let text = str::from_utf8(&text).map_err(|_| foreign())?;
    let number = text.strip_prefix(MAGIC).ok_or_else(foreign)?;
    match number.strip_suffix('\n') {
        Some(number) => number.parse().map(Some).map_err(|_| foreign()),
        None if number.len() <= DIGITS && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(None)
        }
        None => Err(foreign()),
    }
}

/// Opens a file that is there, for writing where that is allowed. A link is not followed: the
/// directory is open to every user.
fn open_existing(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    no_links(&mut options);
    match options.read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            options.write(false).open(path)
        }
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            options.write(false).open(path)
        }
        opened => opened,
    }
}

/// Makes a file that every user may open. Not together with opening one that is there: systems
/// refuse that for another user's file in such a directory.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    no_links(&mut options);
    let file = options.read(true).write(true).create_new(true).open(path)?;
    open_to_all(path, 0o666)?;
    Ok(file)
}

#[cfg(unix)]
fn no_links(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
}

#[cfg(not(unix))]
fn no_links(_options: &mut OpenOptions) {}

/// Sets what a process's mask has taken away.
#[cfg(unix)]
fn open_to_all(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn open_to_all(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
