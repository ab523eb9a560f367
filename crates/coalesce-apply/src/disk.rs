//! The few operations that change a tree, behind a trait so that tests can fail or stop each one.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use coalesce_model::{ContentHash, TreePath};

/// What apply and undo do to a tree.
pub trait Disk {
    /// Puts a file in place, whole or not at all.
    fn write(&self, path: &TreePath, bytes: &[u8], mode: u32) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &TreePath) -> io::Result<()>;
    /// Makes one directory.
    fn make_directory(&self, path: &TreePath, mode: Option<u32>) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_directory(&self, path: &TreePath) -> io::Result<()>;
}

/// A tree on disk.
#[derive(Clone, Debug)]
pub struct RealDisk {
    /// Absolute path of the root.
    pub root: PathBuf,
}

impl RealDisk {
    pub fn absolute(&self, path: &TreePath) -> PathBuf {
        self.root.join(path.as_str())
    }

    /// The hash of a file's bytes; `None` when there is no file.
    pub fn hash(&self, path: &TreePath) -> io::Result<Option<ContentHash>> {
        match fs::read(self.absolute(path)) {
            Ok(bytes) => Ok(Some(ContentHash::of(&bytes))),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub fn is_directory(&self, path: &TreePath) -> bool {
        self.absolute(path).is_dir()
    }

    /// Names of what a directory holds.
    pub fn entries(&self, path: &TreePath) -> io::Result<Vec<String>> {
        fs::read_dir(self.absolute(path))?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    /// Brings everything that was written to the disk: one call on Linux, else file by file.
    pub fn sync(&self, written: &[TreePath]) -> io::Result<()> {
        if cfg!(target_os = "linux") {
            return sync_file_system(&self.root);
        }
        for path in written {
            if let Ok(file) = fs::File::open(self.absolute(path)) {
                file.sync_all()?;
            }
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn sync_file_system(root: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(fs::File::open(root)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_: &Path) -> io::Result<()> {
    Ok(())
}

impl Disk for RealDisk {
    fn write(&self, path: &TreePath, bytes: &[u8], mode: u32) -> io::Result<()> {
        let absolute = self.absolute(path);
        let directory = absolute.parent().unwrap_or(&self.root);
        let mut file = tempfile::Builder::new()
            .prefix(".coalesce-")
            .tempfile_in(directory)?;
        file.write_all(bytes)?;
        set_mode(file.path(), mode)?;
        file.persist(&absolute).map_err(|error| error.error)?;
        Ok(())
    }

    fn remove(&self, path: &TreePath) -> io::Result<()> {
        fs::remove_file(self.absolute(path))
    }

    fn make_directory(&self, path: &TreePath, mode: Option<u32>) -> io::Result<()> {
        let absolute = self.absolute(path);
        fs::create_dir(&absolute)?;
        mode.map_or(Ok(()), |mode| set_mode(&absolute, mode))
    }

    fn remove_directory(&self, path: &TreePath) -> io::Result<()> {
        fs::remove_dir(self.absolute(path))
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// The permission bits of a path; 0 where there are none.
#[cfg(unix)]
pub fn mode(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

/// The permission bits of a path; 0 where there are none.
#[cfg(not(unix))]
pub fn mode(_: &fs::Metadata) -> u32 {
    0
}
