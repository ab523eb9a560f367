//! What stores in the file system have in common: listing a folder, and writing files that are whole at
//! any time.

use std::{
    fs::{self, File, FileType},
    io,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::store::{Key, Kind, Store, StoreError};

/// What files and folders end in that are being written or taken away.
pub(super) const UNFINISHED: &str = ".unfinished";

/// What went wrong at a path, as a store says it.
pub(super) fn failed(path: &Path, error: io::Error) -> StoreError {
    StoreError::Io {
        path: path.to_owned(),
        error,
    }
}

/// Expects a directory of the store.
pub(super) fn expect_directory(store: &dyn Store, directory: &Key) -> Result<(), StoreError> {
    match store.kind(directory)? {
        None => Err(StoreError::NotFound(directory.clone())),
        Some(Kind::Blob) => Err(StoreError::WrongKind(directory.clone(), Kind::Blob)),
        Some(Kind::Directory) => Ok(()),
    }
}

/// What a folder has of the store's, in order: `known` says what an entry is, if anything. Names that
/// are no text are none of the store's.
pub(super) fn list(
    folder: &Path,
    known: impl Fn(&str, FileType) -> Result<Option<(Key, Kind)>, StoreError>,
) -> Result<Vec<(Key, Kind)>, StoreError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let entry = entry.map_err(|error| failed(folder, error))?;
        let kind = entry.file_type().map_err(|error| failed(folder, error))?;
        if let Some(name) = entry.file_name().to_str() {
            found.extend(known(name, kind)?);
        }
    }
    found.sort();
    Ok(found)
}

/// What the name of a file ends in that is being written: no other of this machine's processes has it.
pub(crate) fn unfinished() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Relaxed);
    format!("{}-{number}{UNFINISHED}", std::process::id())
}

/// Makes or replaces a file so that it is the old one or the new one, whole, at any time: it is written
/// beside, under a name of its own, and then renamed.
pub(crate) fn replace(
    path: &Path,
    unfinished: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let written = (|| {
        let mut file = File::create_new(unfinished)?;
        write(&mut file)?;
        file.sync_all()?;
        fs::rename(unfinished, path)
    })();
    if written.is_err() {
        // The error that counts is the first one.
        let _ = fs::remove_file(unfinished);
    }
    written
}
