//! Looks at every path before the first one is written, and again before it is put back.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, Metadata},
};

use coalesce_model::TreePath;

use crate::{Error, ErrorKind, FileChange, disk::Disk, system, trust};

/// Refuses changes that contradict each other or name what must not be written.
pub(crate) fn check(disk: &Disk, changes: &[FileChange]) -> Result<(), Error> {
    contradictions(changes)?;
    let mut way = Way::new(disk);
    for change in changes {
        let refused = |why: String| Error::path(ErrorKind::Unsafe, &change.path, why);
        let mode = change.after.as_ref().and_then(|after| after.mode);
        trust::file_mode(mode.unwrap_or(0)).map_err(refused)?;
        let metadata = way.look(&change.path)?;
        if let Some(metadata) = metadata {
            plain(&change.path, &metadata)?;
            trust::file_mode(system::mode(&metadata)).map_err(refused)?;
            own(&change.path, &metadata)?;
        }
    }
    look_alikes(disk, changes)
}

fn contradictions(changes: &[FileChange]) -> Result<(), Error> {
    let mut paths = BTreeSet::new();
    for change in changes {
        if change.path.is_root() || !paths.insert(&change.path) {
            let message = "two changes of one path, or one of the root";
            return Err(Error::path(ErrorKind::Contradiction, &change.path, message));
        }
    }
    for change in changes.iter().filter(|change| change.after.is_some()) {
        let mut above = change.path.parent();
        while let Some(directory) = above.filter(|directory| !directory.is_root()) {
            if paths.contains(&directory) {
                let message = "a file and a directory of one name";
                return Err(Error::path(ErrorKind::Contradiction, &directory, message));
            }
            above = directory.parent();
        }
    }
    Ok(())
}

/// The directories above the files of one pass, each looked at once: deep trees would otherwise take the cube of
/// their depth. A new pass has a new one, since what was found holds no longer than that.
pub(crate) struct Way<'d> {
    disk: &'d Disk,
    /// Directories that may be passed, all above each with it, and whether it was asked if files may be written there.
    passed: BTreeMap<TreePath, bool>,
}

impl<'d> Way<'d> {
    pub fn new(disk: &'d Disk) -> Self {
        Self {
            disk,
            passed: BTreeMap::new(),
        }
    }

    /// What stands at a path, as [`Self::pass_all`] lets it be reached.
    pub fn look(&mut self, path: &TreePath) -> Result<Option<Metadata>, Error> {
        self.pass_all(path)?;
        let found = self.disk.metadata(path);
        found.map_err(|error| Error::io(path, &error))
    }

    /// Goes the way to a path, no link followed; refuses what nothing is written to, links, directories that are none,
    /// and a directory that may not be written.
    pub fn pass_all(&mut self, path: &TreePath) -> Result<(), Error> {
        let refused = |message: String| Error::path(ErrorKind::Unsafe, path, message);
        trust::path(path).map_err(refused)?;
        let mut above = path.parent();
        let mut nearest = true;
        while let Some(directory) = above {
            let known = self.passed.get(&directory).copied();
            if known.is_some_and(|asked| asked || !nearest) {
                break;
            }
            let found = self.disk.metadata(&directory);
            if let Some(metadata) = found.map_err(|error| Error::io(&directory, &error))? {
                self.pass(&directory, &metadata, nearest).map_err(refused)?;
                nearest = false;
            }
            above = directory.parent();
        }
        Ok(())
    }

    /// Refuses a directory that nothing is written below, with the reason; of the nearest one to a file, also when
    /// it may not be written itself.
    fn pass(
        &mut self,
        directory: &TreePath,
        metadata: &Metadata,
        nearest: bool,
    ) -> Result<(), String> {
        if metadata.is_symlink() {
            return Err(format!(
                "{directory} is a symbolic link; nothing is written through links"
            ));
        }
        if !metadata.is_dir() {
            return Err(format!("{directory} is no directory"));
        }
        if nearest && !system::may_write(&self.disk.absolute(directory)) {
            return Err(format!("the directory {directory} may not be written"));
        }
        if let Some(marker) = made_by_programs(self.disk, directory) {
            return Err(format!("{directory} holds no sources: it has a {marker}"));
        }
        *self.passed.entry(directory.clone()).or_default() |= nearest;
        Ok(())
    }
}

/// What marks a directory that a program makes and fills: a virtual environment, a build directory.
fn made_by_programs(disk: &Disk, directory: &TreePath) -> Option<&'static str> {
    let has = |name: &&&str| fs::symlink_metadata(disk.absolute(directory).join(name)).is_ok();
    let markers = &["pyvenv.cfg", "CACHEDIR.TAG"];
    markers
        .iter()
        .filter(|_| !directory.is_root())
        .find(has)
        .copied()
}

fn plain(path: &TreePath, metadata: &Metadata) -> Result<(), Error> {
    let message = if metadata.is_symlink() {
        "a symbolic link; nothing is written through links"
    } else if !metadata.is_file() {
        "not a plain file"
    } else if system::links(metadata) > 1 {
        "a hard link: another name has the same bytes, and replacing it would part them"
    } else if metadata.permissions().readonly() {
        "it is read-only"
    } else {
        return Ok(());
    };
    Err(Error::path(ErrorKind::Unsafe, path, message))
}

fn own(path: &TreePath, metadata: &Metadata) -> Result<(), Error> {
    if system::may_own(system::owner(metadata)) {
        return Ok(());
    }
    let message = "it belongs to another user, and replacing it would change that";
    Err(Error::path(ErrorKind::Unsafe, path, message))
}

/// Refuses names that differ in case only: where case does not count, one would replace the other.
fn look_alikes(disk: &Disk, changes: &[FileChange]) -> Result<(), Error> {
    let gone: BTreeSet<&TreePath> = changes
        .iter()
        .filter(|change| change.after.is_none())
        .map(|change| &change.path)
        .collect();
    let mut made: BTreeMap<(TreePath, String), String> = BTreeMap::new();
    let mut listed = BTreeMap::new();
    let created = |change: &&FileChange| change.before.is_none() && change.after.is_some();
    for change in changes.iter().filter(created) {
        let mut path = change.path.clone();
        while let Some(directory) = path.parent() {
            let name = path.file_name().to_owned();
            let key = (directory.clone(), name.to_lowercase());
            let other = match made.insert(key, name.clone()) {
                Some(other) if other == name => break,
                Some(other) => Some(other),
                None => twin_on_disk(disk, (&directory, &name), &gone, &mut listed)?,
            };
            if let Some(other) = other {
                let message = format!(
                    "`{other}` beside it differs in case only, and not every system tells them apart"
                );
                return Err(Error::path(ErrorKind::Unsafe, &path, message));
            }
            path = directory;
        }
    }
    Ok(())
}

/// What a directory holds, by names without case: it is read once for all that comes to it.
type Listed = BTreeMap<TreePath, BTreeMap<String, Vec<String>>>;

/// The entry of a directory that `name`, which is not one, is about to resemble.
fn twin_on_disk(
    disk: &Disk,
    (directory, name): (&TreePath, &str),
    gone: &BTreeSet<&TreePath>,
    listed: &mut Listed,
) -> Result<Option<String>, Error> {
    if !listed.contains_key(directory) {
        let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
        if disk.is_directory(directory) {
            let entries = disk.entries(directory);
            for entry in entries.map_err(|error| Error::io(directory, &error))? {
                names.entry(entry.to_lowercase()).or_default().push(entry);
            }
        }
        listed.insert(directory.clone(), names);
    }
    let names = listed
        .get(directory)
        .and_then(|names| names.get(&name.to_lowercase()));
    let alike = names.map_or(&[][..], Vec::as_slice);
    if alike.iter().any(|entry| entry == name) {
        return Ok(None);
    }
    let stays = |entry: &&String| !directory.join(entry).is_ok_and(|path| gone.contains(&path));
    Ok(alike.iter().find(stays).cloned())
}
