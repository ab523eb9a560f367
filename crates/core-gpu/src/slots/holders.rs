//! Which process holds a slot, as far as the system tells: Linux lists the locks of files with the
//! number of the process that took each. It is for people to read; nothing is decided by it, since a
//! number may be given again, and a child that inherited a lock goes on holding it.

use std::{fs::Metadata, path::Path};

/// The processes that hold locks, by file, as they were at one moment.
#[derive(Debug, Default)]
pub(super) struct Locks {
    /// Device, file and process of each lock.
    held: Vec<(File, u32)>,
}

/// A file as the kernel tells files apart: major and minor number of its file system, and its own.
type File = (u32, u32, u64);

impl Locks {
    /// Those of the system. None where it does not list them.
    pub fn read() -> Self {
        // A file of the kernel, as long as there are locks: read in one go.
        let text = std::fs::read_to_string("/proc/locks");
        Self::parse(&text.unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        Self {
            held: text.lines().filter_map(line).collect(),
        }
    }

    /// The process that holds a file's lock; `None` where the system does not tell, or several are
    /// told.
    pub fn holder(&self, path: &Path) -> Option<u32> {
        let file = file(&path.symlink_metadata().ok()?)?;
        let mut found = self.held.iter().filter(|(known, _)| *known == file);
        let (_, process) = found.next()?;
        found.next().is_none().then_some(*process)
    }
}

/// `1: FLOCK  ADVISORY  WRITE 20414 fe:00:10749118 0 EOF`. A line of one who waits has an arrow.
fn line(line: &str) -> Option<(File, u32)> {
    let mut words = line.split_whitespace().skip(1);
    let kind = words.next()?;
    let (_, access) = (words.next()?, words.next()?);
    if kind != "FLOCK" || access != "WRITE" {
        return None;
    }
    // A process of another container has no number here.
    let process = words.next()?.parse().ok().filter(|number| *number > 0)?;
    let mut file = words.next()?.split(':');
    let (major, minor, number) = (file.next()?, file.next()?, file.next()?);
    let hexadecimal = |text| u32::from_str_radix(text, 16).ok();
    let file = (
        hexadecimal(major)?,
        hexadecimal(minor)?,
        number.parse().ok()?,
    );
    Some((file, process))
}

#[cfg(target_os = "linux")]
fn file(metadata: &Metadata) -> Option<File> {
    use std::os::unix::fs::MetadataExt as _;
    let device = metadata.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    Some((major, minor, metadata.ino()))
}

#[cfg(not(target_os = "linux"))]
fn file(_metadata: &Metadata) -> Option<File> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        let text = "1: FLOCK  ADVISORY  WRITE 20414 fe:00:10749118 0 EOF\n\
                    1: -> FLOCK  ADVISORY  WRITE 7 fe:00:10749118 0 EOF\n\
                    2: FLOCK  ADVISORY  READ 20414 fe:00:10133508 0 EOF\n\
                    3: POSIX  ADVISORY  WRITE 5 fe:00:12 0 EOF\n\
                    4: FLOCK  ADVISORY  WRITE 0 00:2a:13 0 EOF\n\
                    5: FLOCK  ADVISORY  WRITE 9 00:2a:14 0 EOF\n\
                    and so on\n";
        assert_eq!(
            Locks::parse(text).held,
            [((0xfe, 0, 10_749_118), 20_414), ((0, 0x2a, 14), 9)]
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_lock_of_this_process_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("slot");
        let held = std::fs::File::create(&path).unwrap();
        assert_eq!(Locks::read().holder(&path), None);
        held.lock().unwrap();
        let told = Locks::read().holder(&path);
        if told.is_none() {
            println!(
                "skipped: the system does not tell who holds locks of {}",
                path.display()
            );
            return;
        }
        assert_eq!(told, Some(std::process::id()));
    }
}
