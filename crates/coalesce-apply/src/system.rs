//! What differs between systems: owners, permission bits, links, syncs. No policy.

use std::{
    collections::BTreeSet,
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// Whom a file belongs to, where files belong to somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub user: u32,
    pub group: u32,
}

/// Brings a file or a directory to the disk.
pub(crate) fn sync_path(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) && path.is_dir() {
        return Ok(());
    }
    File::open(path)?.sync_all()
}

/// Brings everything on the file systems of these paths to the disk; `false` where no such call
/// exists.
#[cfg(target_os = "linux")]
pub(crate) fn sync_file_systems(paths: &BTreeSet<PathBuf>) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let mut done = BTreeSet::new();
    for path in paths {
        let file = File::open(path)?;
        if done.insert(file.metadata()?.dev()) {
            match rustix::fs::syncfs(&file) {
                Ok(()) => {}
                Err(rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(true)
}

/// Brings everything on the file systems of these paths to the disk; `false` where no such call
/// exists.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sync_file_systems(_: &BTreeSet<PathBuf>) -> io::Result<bool> {
    Ok(false)
}

/// Renames where nothing may have the new name; `None` where the file system has no such call.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn place(from: &Path, to: &Path) -> Option<io::Result<()>> {
    rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE)
}

/// Exchanges two files at once; `None` where the file system has no such call.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn exchange(a: &Path, b: &Path) -> Option<io::Result<()>> {
    rename_with(a, b, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_with(from: &Path, to: &Path, flags: rustix::fs::RenameFlags) -> Option<io::Result<()>> {
    use rustix::{fs::CWD, io::Errno};
    match rustix::fs::renameat_with(CWD, from, CWD, to, flags) {
        Ok(()) => Some(Ok(())),
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => None,
        Err(error) => Some(Err(error.into())),
    }
}

/// Renames where nothing may have the new name; there is no such call here.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn place(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}

/// Exchanges two files at once; there is no such call here.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn exchange(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};

    use super::{File, Metadata, Owner, Path, fs, io};

    /// Permission bits.
    pub fn mode(metadata: &Metadata) -> u32 {
        metadata.permissions().mode() & 0o7777
    }

    pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    }

    pub fn owner(metadata: &Metadata) -> Owner {
        let (user, group) = (metadata.uid(), metadata.gid());
        Owner { user, group }
    }

    /// Gives a file of which this is known to its owner, unless it is theirs already; whether it was given.
    pub fn set_owner(file: &File, known: &Metadata, owner: Owner) -> io::Result<bool> {
        let now = self::owner(known);
        let user = (now.user != owner.user).then_some(owner.user);
        let group = (now.group != owner.group).then_some(owner.group);
        if user.is_none() && group.is_none() {
            return Ok(false);
        }
        fchown(file, user, group).map(|()| true)
    }

    pub fn set_mode_of(file: &File, mode: u32) -> io::Result<()> {
        file.set_permissions(fs::Permissions::from_mode(mode))
    }

    /// Whether a file of this owner can be replaced by one that is theirs, too.
    pub fn may_own(owner: Owner) -> bool {
        let me = rustix::process::geteuid();
        me.is_root() || me.as_raw() == owner.user
    }

    /// Whether we run as this user.
    pub fn is_self(owner: Owner) -> bool {
        rustix::process::geteuid().as_raw() == owner.user
    }

    /// Whom a new file in this directory belongs to. Somebody who may give files away, and works
    /// in a tree of others, gives them to whom the directory belongs to.
    pub fn owner_of_new(directory: &Metadata) -> Owner {
        let above = owner(directory);
        let me = rustix::process::geteuid();
        if me.is_root() {
            return above;
        }
        let inherits = mode(directory) & 0o2000 != 0;
        let mine = rustix::process::getegid().as_raw();
        let group = if inherits || cfg!(target_os = "macos") {
            above.group
        } else {
            mine
        };
        Owner {
            user: me.as_raw(),
            group,
        }
    }

    /// How many names a file has.
    pub fn links(metadata: &Metadata) -> u64 {
        metadata.nlink()
    }

    /// The number of the file system.
    pub fn device(metadata: &Metadata) -> u64 {
        metadata.dev()
    }

    /// Whether this process may change what a directory holds.
    pub fn may_write(directory: &Path) -> bool {
        rustix::fs::access(
            directory,
            rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK,
        )
        .is_ok()
    }

    /// Whether two names lead to one file.
    pub fn same_file(a: &Metadata, b: &Metadata) -> bool {
        (a.dev(), a.ino()) == (b.dev(), b.ino())
    }
}

#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(not(unix))]
mod other {
    use super::{File, Metadata, Owner, Path, io};

    /// There are no permission bits.
    pub fn mode(_: &Metadata) -> u32 {
        0
    }

    pub fn set_mode(_: &Path, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub fn owner(_: &Metadata) -> Owner {
        Owner { user: 0, group: 0 }
    }

    pub fn set_owner(_: &File, _: &Metadata, _: Owner) -> io::Result<bool> {
        Ok(false)
    }

    pub fn set_mode_of(_: &File, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub fn may_own(_: Owner) -> bool {
        true
    }

    pub fn is_self(_: Owner) -> bool {
        true
    }

    pub fn owner_of_new(_: &Metadata) -> Owner {
        Owner { user: 0, group: 0 }
    }

    /// Names cannot be counted here.
    pub fn links(_: &Metadata) -> u64 {
        1
    }

    /// File systems cannot be told apart here.
    pub fn device(_: &Metadata) -> u64 {
        0
    }

    pub fn may_write(directory: &Path) -> bool {
        std::fs::metadata(directory).is_ok_and(|metadata| !metadata.permissions().readonly())
    }

    /// Files cannot be told apart here; nothing that is locked can be removed, either.
    pub fn same_file(_: &Metadata, _: &Metadata) -> bool {
        true
    }
}

#[cfg(not(unix))]
pub(crate) use other::*;
