//! From the bytes of a file to its text, or to the reason why it has none.

use std::{fs, io, path::Path, sync::Arc};

use coalesce_model::{ContentHash, TreePath};

use crate::{
    Error, ErrorKind, FileEntry, FileKind,
    plain::{self, Links},
    walk,
};

/// Larger files are skipped: no source file is, and spans have 32 bits.
pub const MAXIMUM_FILE_BYTES: u64 = 64 << 20;

/// Larger project files are skipped: what they are read into takes a hundred times as much.
const MAXIMUM_PROJECT_FILE_BYTES: u64 = 4 << 20;

const PROJECT_FILES: [&str; 3] = ["pyproject.toml", "Cargo.toml", "setup.cfg"];

/// How long a file may be that is read.
fn maximum_bytes(path: &TreePath) -> u64 {
    if PROJECT_FILES.contains(&path.file_name()) {
        MAXIMUM_PROJECT_FILE_BYTES
    } else {
        MAXIMUM_FILE_BYTES
    }
}

/// Larger files are not moved, either: their bytes have to go through memory.
const MAXIMUM_CONTENT_BYTES: u64 = 512 << 20;

/// The text of a file and the hash of its bytes, or why it is skipped.
pub(crate) fn text(root: &Path, file: &FileEntry) -> Result<(Arc<str>, ContentHash), String> {
    if file.kind != FileKind::Plain {
        return Err(file.kind.reason().to_owned());
    }
    let most = maximum_bytes(&file.path);
    let bytes = bounded(&root.join(file.path.as_str()), file.bytes, most)
        .map_err(|error| error.to_string())?
        .ok_or_else(|| format!("larger than {} MiB", most >> 20))?;
    if memchr::memchr(0, &bytes).is_some() {
        return Err("binary: it holds a NUL byte".to_owned());
    }
    let hash = ContentHash::of(&bytes);
    match String::from_utf8(bytes) {
        Ok(text) => Ok((Arc::from(text), hash)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let before = error.as_bytes().get(..at).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before).count() + 1;
            Err(format!("not UTF-8 at byte {at}, in line {line}"))
        }
    }
}

/// The bytes of a file; `None` when there are too many, even if it grew after the walk.
fn bounded(path: &Path, expected: u64, most: u64) -> io::Result<Option<Vec<u8>>> {
    if expected > most {
        return Ok(None);
    }
    match plain::read(path, most, Links::Refuse) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(None),
        Err(error) => Err(error),
    }
}

/// The bytes and permission bits of a plain file, as they are on disk now.
pub(crate) fn content(root: &Path, path: &TreePath) -> Result<(Vec<u8>, u32), Error> {
    refuse_links_on_the_way(root, path)?;
    let absolute = root.join(path.as_str());
    let content = plain::read_with_metadata(&absolute, MAXIMUM_CONTENT_BYTES, Links::Refuse);
    let (bytes, metadata) = content.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => {
            let message = "it is not a plain file";
            Error::new(ErrorKind::NotAFile, path.to_string(), message)
        }
        _ => Error::io(path, &error),
    })?;
    Ok((bytes, walk::mode(&metadata)))
}

/// A linked directory may lead out of the tree; nothing is read through one.
fn refuse_links_on_the_way(root: &Path, path: &TreePath) -> Result<(), Error> {
    let mut above = path.parent().filter(|directory| !directory.is_root());
    if above
        .as_ref()
        .is_some_and(|directory| is_way_without_links(root, directory))
    {
        return Ok(());
    }
    while let Some(directory) = above.filter(|directory| !directory.is_root()) {
        let metadata = fs::symlink_metadata(root.join(directory.as_str()));
        if metadata.is_ok_and(|metadata| metadata.is_symlink()) {
            let message = format!("{directory} is a symbolic link, which is not followed");
            return Err(Error::new(ErrorKind::NotAFile, path.to_string(), message));
        }
        above = directory.parent();
    }
    Ok(())
}

/// Whether the system says at once that no link is on the way: each directory looked at by its whole path
/// takes the square of the depth, for each file.
#[cfg(target_os = "linux")]
fn is_way_without_links(root: &Path, directory: &TreePath) -> bool {
    use rustix::{
        fs::{Mode, OFlags, ResolveFlags, open, openat2},
        io::Errno,
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let within = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    let found = open(root, flags, Mode::empty())
        .and_then(|root| openat2(&root, directory.as_str(), flags, Mode::empty(), within));
    // What is missing was come to without a link.
    matches!(found, Ok(_) | Err(Errno::NOENT))
}

#[cfg(not(target_os = "linux"))]
fn is_way_without_links(_: &Path, _: &TreePath) -> bool {
    false
}
