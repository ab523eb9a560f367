//! Files that the command line names: manifests and baselines to read, saved plans and baselines to
//! write. Not the tree: that is read by `coalesce-tree` and written by `coalesce-apply`.

use std::{
    fmt::Display,
    fs,
    io::{ErrorKind, Read as _},
    path::{Path, PathBuf},
};

use coalesce_model::manifest::nearest;
use coalesce_tree::plain::{self, Links};

use crate::exit::Failure;

/// Saved plans of large migrations are the longest of them.
const MOST_BYTES: u64 = 512 << 20;

/// What a file that the user named comes to.
///
/// # Errors
/// When it cannot be read, or is not what it should be.
pub fn read_as<T, E: Display>(
    parse: impl FnOnce(&str) -> Result<T, E>,
    path: &Path,
) -> Result<T, Failure> {
    parse(&read(path)?).map_err(|error| Failure::config(format!("{}: {error}", path.display())))
}

/// The text of a file that the user named.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> Result<String, Failure> {
    plain::read_to_string(path, MOST_BYTES, Links::Follow).map_err(|error| {
        let missing = error.kind() == ErrorKind::NotFound;
        let reason = match missing {
            true => "there is no such file".to_owned(),
            false => error.to_string(),
        };
        let near = missing.then(|| meant(path)).flatten();
        Failure::user(format!("cannot read {}: {reason}", path.display())).hints(near)
    })
}

/// The question whether another file of the same directory is meant. Names are compared, not paths: of a long path
/// anything beside it is near, and of `/nope` whatever stands at the top.
pub fn meant(path: &Path) -> Option<String> {
    let directory = path.parent().filter(|above| *above != Path::new(""));
    let wanted = path.file_name()?.to_str()?;
    let listed = fs::read_dir(directory.unwrap_or(Path::new("."))).ok()?;
    let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    // A short name is as near to most others as to nothing.
    let likely = names.iter().map(String::as_str);
    let likely = likely.filter(|name| begin_alike(name, wanted));
    let near = nearest(wanted, likely)?;
    let beside = directory.map_or_else(|| PathBuf::from(near), |above| above.join(near));
    Some(format!("did you mean `{}`?", beside.display()))
}

/// Whether two names begin with the same letter, or have one extension.
fn begin_alike(a: &str, b: &str) -> bool {
    let first = |name: &str| {
        name.chars()
            .next()
            .map(|letter| letter.to_ascii_lowercase())
    };
    let end = |name: &str| {
        name.rsplit_once('.')
            .map(|(_, extension)| extension.to_owned())
    };
    first(a) == first(b) || (end(a).is_some() && end(a) == end(b))
}

/// Refuses a folder that is not there.
///
/// # Errors
/// When there is nothing of this name, or no folder.
pub fn refuse_missing_folder(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Ok(());
    }
    let (reason, near) = match path.exists() {
        true => ("it is no folder", None),
        false => ("there is no such folder", meant(path)),
    };
    Err(Failure::user(format!("cannot read {}: {reason}", path.display())).hints(near))
}

/// The text of a file that the user named; of standard input for `-`.
///
/// # Errors
/// When it cannot be read, is longer than anything that is read, or is not UTF-8.
pub fn read_or_input(path: &Path) -> Result<String, Failure> {
    if path != Path::new("-") {
        return read(path);
    }
    let mut text = String::new();
    let taken = std::io::stdin()
        .lock()
        .take(MOST_BYTES + 1)
        .read_to_string(&mut text);
    taken.map_err(|error| Failure::user(format!("cannot read standard input: {error}")))?;
    if text.len() as u64 > MOST_BYTES {
        let message = format!("cannot read standard input: it has more than {MOST_BYTES} bytes");
        return Err(Failure::user(message));
    }
    Ok(text)
}

/// Writes a file that the user asked for. Below the root of a tree it goes through no link, as [`write_new`].
///
/// # Errors
/// When it, or a directory of the tree on the way, is a link, or it cannot be written.
pub fn write(root: &Path, path: &Path, text: &str) -> Result<(), Failure> {
    refuse_links(root, path, path)?;
    let special =
        fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    // A pipe that nobody reads would be waited for; devices are written to as ever.
    if special && is_pipe(path) {
        let message = format!("cannot write {}: it is a pipe or a socket", path.display());
        return Err(Failure::user(message));
    }
    fs::write(path, text)
        .map_err(|error| Failure::user(format!("cannot write {}: {error}", path.display())))
}

/// Says no where something stands already at a path that nothing is to be written over at.
///
/// # Errors
/// When there is a file, a link or anything else.
pub fn refuse_existing(path: &Path) -> Result<(), Failure> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let failure = Failure::user(format!("{} exists already", path.display()));
    Err(failure.hint("name another file; nothing is written over"))
}

/// A file that was written and goes again, with the directories that were made for it, unless it is kept.
pub struct Written {
    path: PathBuf,
    /// The innermost first.
    directories: Vec<PathBuf>,
    kept: bool,
}

impl Written {
    /// Lets the file stay.
    pub fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // What cannot be taken away was changed by somebody else meanwhile.
        _ = fs::remove_file(&self.path);
        for directory in &self.directories {
            _ = fs::remove_dir(directory);
        }
    }
}

/// As [`write_new`], and takes the file away again unless it is kept.
///
/// # Errors
/// As there.
pub fn write_for_now(root: &Path, path: &Path, text: &str) -> Result<Written, Failure> {
    let missing = |directory: &&Path| !directory.as_os_str().is_empty() && !directory.exists();
    let above = path.ancestors().skip(1).take_while(missing);
    let directories = above.map(Path::to_owned).collect();
    write_new(root, path, text)?;
    Ok(Written {
        path: path.to_owned(),
        directories,
        kept: false,
    })
}

/// Writes a file that must not be there yet, and makes the directories above it. Below the root of a tree it
/// goes through no link: the tree may be anybody's, and its links lead anywhere.
///
/// # Errors
/// When there is something already, a directory of the tree on the way is a link, or it cannot be written.
pub fn write_new(root: &Path, path: &Path, text: &str) -> Result<(), Failure> {
    use std::io::Write as _;
    refuse_existing(path)?;
    refuse_links(root, path, path.parent().unwrap_or(path))?;
    let cannot = |error| Failure::user(format!("cannot write {}: {error}", path.display()));
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(cannot)?;
    }
    let created = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path);
    let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(cannot)
}

fn refuse_links(root: &Path, path: &Path, up_to: &Path) -> Result<(), Failure> {
    let Some(link) = link_on_the_way(root, up_to) else {
        return Ok(());
    };
    let (path, link) = (path.display(), link.display());
    let failure = Failure::user(format!("cannot write {path}: {link} is a symbolic link"));
    Err(failure.hint("name a file that no link of the tree leads to"))
}

/// The first link below the root on the way to a path, itself included.
fn link_on_the_way(root: &Path, path: &Path) -> Option<PathBuf> {
    let root = std::path::absolute(root).ok()?;
    let path = std::path::absolute(path).ok()?;
    let below = path.strip_prefix(&root).ok()?;
    let mut at = root.clone();
    below.components().find_map(|component| {
        at.push(component);
        let metadata = at.symlink_metadata().ok()?;
        metadata.is_symlink().then(|| at.clone())
    })
}

/// Adds to a file that another program has made for it.
///
/// # Errors
/// When it is not there, or cannot be written.
pub fn append(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    if is_pipe(path) {
        return Err(std::io::Error::other("it is a pipe or a socket"));
    }
    let mut file = fs::OpenOptions::new().append(true).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = fs::metadata(path).map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}
