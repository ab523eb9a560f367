//! Opens files that somebody else has put there: a plain file or an error, never a wait.
//!
//! A pipe that nobody writes to would be waited for for ever, a device may act on being opened, and
//! a link may lead anywhere. Everything that the program opens in a tree goes through here.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read as _},
    path::Path,
};

/// Whether a link at the path itself is followed. Links above it always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// No: the path comes from a tree.
    Refuse,
    /// Yes: the user named the path.
    Follow,
}

/// Opens a plain file to be read.
///
/// # Errors
/// When there is none, it may not be read, or it is a link, a pipe, a socket, a device or a
/// directory ([`io::ErrorKind::InvalidInput`]).
pub fn open(path: &Path, links: Links) -> io::Result<File> {
    opened(path, links).map(|(file, _)| file)
}

/// The file with what the system says of it, once it is open.
fn opened(path: &Path, links: Links) -> io::Result<(File, Metadata)> {
    // Before it is opened, since opening a device may do something; and once more afterwards, since
    // somebody may have put another one there.
    let metadata = match links {
        Links::Refuse => fs::symlink_metadata(path)?,
        Links::Follow => fs::metadata(path)?,
    };
    refuse(&metadata)?;
    let mut options = OpenOptions::new();
    options.read(true);
    without_waiting(&mut options, links);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    refuse(&metadata)?;
    Ok((file, metadata))
}

/// The bytes of a plain file.
///
/// # Errors
/// As [`open`], and [`io::ErrorKind::FileTooLarge`] when there are more than `most`.
pub fn read(path: &Path, most: u64, links: Links) -> io::Result<Vec<u8>> {
    read_with_metadata(path, most, links).map(|(bytes, _)| bytes)
}

/// The bytes of a plain file, and what the system said of it when it was opened.
///
/// # Errors
/// As [`read`].
pub fn read_with_metadata(path: &Path, most: u64, links: Links) -> io::Result<(Vec<u8>, Metadata)> {
    let (file, metadata) = opened(path, links)?;
    let bytes = read_all(file, metadata.len(), most)?;
    Ok((bytes, metadata))
}

/// The bytes of a file that is open and is about `length` bytes long.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] when there are more than `most`.
pub(crate) fn read_all(file: File, length: u64, most: u64) -> io::Result<Vec<u8>> {
    let expected = length.min(most);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let message = format!("larger than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// The text of a plain file.
///
/// # Errors
/// As [`read`], and [`io::ErrorKind::InvalidData`] when it is not UTF-8.
pub fn read_to_string(path: &Path, most: u64, links: Links) -> io::Result<String> {
    String::from_utf8(read(path, most, links)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

fn refuse(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_symlink() {
        "a symbolic link, which is not followed"
    } else if kind.is_dir() {
        "a directory"
    } else {
        "a device, a pipe or a socket"
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions, links: Links) {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
}

#[cfg(not(unix))]
fn without_waiting(_: &mut OpenOptions, _: Links) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_files_are_read_up_to_a_bound() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a");
        fs::write(&file, "four").unwrap();
        assert_eq!(read(&file, 4, Links::Refuse).unwrap(), b"four");
        let error = read(&file, 3, Links::Refuse).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        fs::write(&file, b"\xff").unwrap();
        let error = read_to_string(&file, 4, Links::Refuse).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let error = read(directory.path(), 4, Links::Refuse).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_sockets_devices_and_links_are_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let pipe = std::process::Command::new("mkfifo")
            .arg(at("pipe"))
            .status();
        if !pipe.is_ok_and(|status| status.success()) {
            eprintln!("skipped: there is no mkfifo");
            return;
        }
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        fs::write(at("file"), "x").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        std::os::unix::fs::symlink("pipe", at("to-pipe")).unwrap();
        for (name, links, works) in [
            ("pipe", Links::Refuse, false),
            ("pipe", Links::Follow, false),
            ("socket", Links::Refuse, false),
            ("link", Links::Refuse, false),
            ("link", Links::Follow, true),
            ("to-pipe", Links::Follow, false),
        ] {
            assert_eq!(read(&at(name), 9, links).is_ok(), works, "{name} {links:?}");
        }
        let null = read(Path::new("/dev/null"), 9, Links::Refuse).unwrap_err();
        assert_eq!(null.kind(), io::ErrorKind::InvalidInput);
    }
}
