//! Looks at every path before the first one is written.

use std::fs::{self, Metadata};

use coalesce_model::TreePath;

use crate::{Error, ErrorKind, FileChange, disk::RealDisk};

/// Refuses what must not be written: links on the way, files with two names, paths in another
/// state than the plan was made for, directories that may not be written.
pub fn check(disk: &RealDisk, changes: &[FileChange]) -> Result<(), Error> {
    let mut changed = Vec::new();
    for change in changes {
        parents(disk, &change.path)?;
        match fs::symlink_metadata(disk.absolute(&change.path)) {
            Ok(metadata) => file(&change.path, &metadata)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {}
            Err(error) => return Err(Error::io(&change.path, &error)),
        }
        let now = disk
            .hash(&change.path)
            .map_err(|error| Error::io(&change.path, &error))?;
        if now != change.before.map(|stamp| stamp.hash) {
            changed.push(change.path.clone());
        }
    }
    if changed.is_empty() {
        Ok(())
    } else {
        Err(Error::paths(
            ErrorKind::Changed,
            "changed since the plan was made",
            &changed,
        ))
    }
}

fn parents(disk: &RealDisk, path: &TreePath) -> Result<(), Error> {
    let mut directory = path.parent();
    let mut nearest = true;
    while let Some(parent) = directory.filter(|parent| !parent.is_root()) {
        if let Ok(metadata) = fs::symlink_metadata(disk.absolute(&parent)) {
            if metadata.is_symlink() {
                return Err(Error::path(
                    ErrorKind::Unsafe,
                    path,
                    format!("{parent} is a symbolic link; nothing is written through links"),
                ));
            }
            if !metadata.is_dir() {
                return Err(Error::path(
                    ErrorKind::Unsafe,
                    path,
                    format!("{parent} is no directory"),
                ));
            }
            if nearest && metadata.permissions().readonly() {
                return Err(Error::path(
                    ErrorKind::Unsafe,
                    path,
                    format!("{parent} may not be written"),
                ));
            }
            nearest = false;
        }
        directory = parent.parent();
    }
    Ok(())
}

fn file(path: &TreePath, metadata: &Metadata) -> Result<(), Error> {
    if metadata.is_symlink() {
        return Err(Error::path(
            ErrorKind::Unsafe,
            path,
            "a symbolic link; nothing is written through links",
        ));
    }
    if !metadata.is_file() {
        return Err(Error::path(ErrorKind::Unsafe, path, "not a plain file"));
    }
    if links(metadata) > 1 {
        return Err(Error::path(
            ErrorKind::Unsafe,
            path,
            "a hard link: another name has the same bytes, and replacing it would part them",
        ));
    }
    Ok(())
}

#[cfg(unix)]
fn links(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn links(_: &Metadata) -> u64 {
    1
}
