//! Why there is no slot.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use core_gpu_driver::DeviceId;

use super::SlotHolder;

/// Why there is no slot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SlotError {
    /// All slots of all devices that would do are held.
    #[error("no slot is free on {devices} devices, after {} ms", waited.as_millis())]
    Full {
        /// How many devices would do.
        devices: usize,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The memory of all devices that would do is claimed by others.
    #[error("{asked_bytes} bytes are asked for of {device}, {claimed_bytes} of {budget_bytes} are claimed, after {} ms{}", waited.as_millis(), list(holders))]
    Memory {
        /// The device, or the first of them.
        device: DeviceId,
        /// Bytes that were asked for.
        asked_bytes: u64,
        /// Bytes that others claim.
        claimed_bytes: u64,
        /// Bytes that all may claim together.
        budget_bytes: u64,
        /// Who claims what, how long, and how busy they are.
        holders: Vec<SlotHolder>,
        /// How long it was waited for.
        waited: Duration,
    },
    /// More memory than the budget of any device that would do, whoever holds what.
    #[error("{asked_bytes} bytes are more than the {budget_bytes} of {device} that may be claimed")]
    OverBudget {
        /// The device with the largest budget.
        device: DeviceId,
        /// Bytes that were asked for.
        asked_bytes: u64,
        /// Its budget.
        budget_bytes: u64,
    },
    /// No device would do, or none with slots.
    #[error("the request names no device with slots")]
    Nothing,
    /// Others hold slots of a device that they say has another number of slots.
    #[error("{device} has {stored} slots as others hold them, not {asked}")]
    Capacity {
        /// The device.
        device: DeviceId,
        /// The number that others go by.
        stored: u32,
        /// The number in the request.
        asked: u32,
    },
    /// The disk is full.
    #[error("no space left to keep slots in {}", path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
    },
    /// The disk cannot be written to.
    #[error("{} cannot be written to: the file system is read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// This user may not.
    #[error("no permission for {}: its owner may allow it, or choose another directory", path.display())]
    Permission {
        /// The file.
        path: PathBuf,
    },
    /// The file system has no locks.
    #[error("{} is on a file system without locks", path.display())]
    NoLocks {
        /// The file.
        path: PathBuf,
    },
    /// A file of this name is not one of ours. It is left alone.
    #[error("{} is not a file of slots", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Something else with a file.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// A store that is reached over a network does not answer, or refuses.
    #[error("the store of slots: {why}")]
    Store {
        /// What it said, or why nothing was heard of it.
        why: String,
    },
    /// A store that is reached over a network has no space left: nobody can claim until somebody makes
    /// some. What is held stays held.
    #[error("the store of slots has no space left: {why}")]
    StoreFull {
        /// What it said.
        why: String,
    },
    /// All devices that would do are closed to new claims: drained, or in quarantine.
    #[error("{device} is closed: {why}")]
    Closed {
        /// The device, or the first of them.
        device: DeviceId,
        /// Why, as who closed it said.
        why: String,
    },
    /// The claim is another store's.
    #[error("the claim is another store's")]
    OtherStore,
    /// The slot is not held any more: a lease that ran out, for example.
    #[error("slot {slot} of {device} is not held any more")]
    Lost {
        /// The device.
        device: DeviceId,
        /// The slot.
        slot: u32,
    },
}

/// Holders, each behind a semicolon.
fn list(holders: &[SlotHolder]) -> String {
    holders.iter().map(|holder| format!("; {holder}")).collect()
}

impl SlotError {
    /// An error of a file, by what it means here.
    pub(super) fn of(path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind;
        let path = path.to_owned();
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::NoSpace { path },
            ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            ErrorKind::PermissionDenied => Self::Permission { path },
            ErrorKind::Unsupported => Self::NoLocks { path },
            _ => Self::File {
                path,
                why: error.to_string(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_files_are_told_apart() {
        use io::ErrorKind;
        let cases = [
            (
                ErrorKind::StorageFull,
                "no space left to keep slots in /slots/a",
            ),
            (
                ErrorKind::ReadOnlyFilesystem,
                "/slots/a cannot be written to: the file system is read-only",
            ),
            (
                ErrorKind::PermissionDenied,
                "no permission for /slots/a: its owner may allow it, or choose another directory",
            ),
            (
                ErrorKind::Unsupported,
                "/slots/a is on a file system without locks",
            ),
            (ErrorKind::NotADirectory, "/slots/a: not a directory"),
        ];
        for (kind, wanted) in cases {
            let error = SlotError::of(Path::new("/slots/a"), &kind.into());
            assert_eq!(error.to_string(), wanted);
        }
    }
}
