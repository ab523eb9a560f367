//! What a path, a mode and a record may be, whoever asks: a migration of ours, or a journal that
//! came with a tree. Hooks and settings of version control decide what programs run; nothing is
//! written there, and no program gets the rights of another user.

use std::{collections::BTreeSet, fmt::Display};

use coalesce_model::TreePath;

use crate::journal::{Record, Version};

/// Permission bits of a file: no set-user-ID, no set-group-ID, no sticky bit.
const FILE_BITS: u32 = 0o777;
/// Those of a directory, which may pass its group on.
const DIRECTORY_BITS: u32 = 0o3777;

/// Directories that hold what programs make and run, never sources.
const MADE: [&str; 4] = ["__pycache__", "node_modules", ".tox", ".nox"];

/// Why nothing is written at a path.
pub(crate) fn path(path: &TreePath) -> Result<(), String> {
    if let Some(name) = path.reserved_component() {
        return Err(format!("nothing is written in `{name}`"));
    }
    if path.is_root() || path.as_str().contains('\0') {
        return Err("it names no file".to_owned());
    }
    match path.components().find(|name| MADE.contains(name)) {
        Some(name) => Err(format!("`{name}` holds no sources")),
        None => Ok(()),
    }
}

/// Why a file does not get these permission bits.
pub(crate) fn file_mode(mode: u32) -> Result<(), String> {
    if mode & !FILE_BITS == 0 {
        return Ok(());
    }
    Err(format!(
        "its mode is {mode:o}, and nothing is written with other than read, write and execute bits"
    ))
}

/// Why no migration can have written this record.
pub(crate) fn check(record: &Record) -> Result<(), String> {
    let named = |path: &dyn Display, why: String| format!("it names {path}: {why}");
    let mut above = BTreeSet::new();
    let mut last: Option<&TreePath> = None;
    for file in &record.files {
        let path = &file.path;
        self::path(path).map_err(|why| named(path, why))?;
        if last.is_some_and(|last| last >= path) {
            return Err(format!("{path} is out of order"));
        }
        last = Some(path);
        for version in [file.before, file.after].into_iter().flatten() {
            self::version(version).map_err(|why| named(path, why))?;
        }
        let mut directory = path.parent();
        while let Some(here) = directory.filter(|here| !here.is_root()) {
            directory = here.parent();
            if !above.insert(here) {
                break;
            }
        }
    }
    let removed = record.removed.iter();
    for (directory, mode) in removed
        .map(|directory| (&directory.path, directory.mode))
        .chain(record.made.iter().map(|directory| (directory, 0)))
    {
        if !above.contains(directory) {
            return Err(format!("{directory} is above none of its files"));
        }
        if mode & !DIRECTORY_BITS != 0 {
            return Err(format!("the mode of {directory} is {mode:o}"));
        }
    }
    Ok(())
}

fn version(version: Version) -> Result<(), String> {
    file_mode(version.mode)?;
    match version.offset.checked_add(version.bytes) {
        Some(_) => Ok(()),
        None => Err("its bytes are nowhere".to_owned()),
    }
}
