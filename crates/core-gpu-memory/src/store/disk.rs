//! A store on disk: a directory for each directory, a file for each blob, written beside its place
//! and then renamed. Each file says how long it is and what its checksum is.
//!
//! A file is `CGMBLOB1`, the length of the header (four bytes, little-endian), the header as JSON,
//! and the bytes.

use std::{
    fs::{self, File},
    io::{ErrorKind, Read as _, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::store::{
    Blob, Key, Kind, Metadata, Store, StoreError, check_length,
    folder::{self, failed as io},
};

const MAGIC: &[u8; 8] = b"CGMBLOB1";
/// What blobs' files end in, so that a directory and a blob never have one name.
const SUFFIX: &str = ".blob";
/// The longest header that is read, in bytes.
const LONGEST_HEADER: u32 = 1 << 20;

/// Blobs in a directory of the file system. May be used from several threads and processes: each blob is
/// whole at any time. Where the file system does not tell large letters from small ones, neither do
/// keys.
#[derive(Debug)]
pub struct DiskStore {
    root: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    bytes: u64,
    xxh3: u64,
    metadata: Metadata,
}

impl DiskStore {
    /// The store in that directory, which is made if it is not there.
    ///
    /// # Errors
    /// As the file system fails.
    pub fn open(root: impl Into<PathBuf>) -> Result<DiskStore, StoreError> {
        let root = root.into();
        fs::create_dir_all(&root).map_err(|error| io(&root, error))?;
        Ok(DiskStore { root })
    }

    fn directory(&self, key: &Key) -> PathBuf {
        let mut path = self.root.clone();
        path.extend(key.as_str().split('/').filter(|part| !part.is_empty()));
        path
    }

    fn file(&self, key: &Key) -> PathBuf {
        let mut path = self.directory(key).into_os_string();
        path.push(SUFFIX);
        PathBuf::from(path)
    }

    /// Parts of a key that links have a say in would lead out of the root.
    fn refuse_links(&self, key: &Key) -> Result<(), StoreError> {
        for above in key.ancestors().chain([key.clone()]) {
            for path in [self.directory(&above), self.file(&above)] {
                if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
                    let what = "a link is on the way".to_owned();
                    return Err(StoreError::Damaged { key: above, what });
                }
            }
        }
        Ok(())
    }

    fn no_blob_on_the_way(&self, keys: impl Iterator<Item = Key>) -> Result<(), StoreError> {
        for above in keys {
            if self.file(&above).is_file() {
                return Err(StoreError::WrongKind(above, Kind::Blob));
            }
        }
        Ok(())
    }

    fn open_blob(&self, key: &Key) -> Result<(File, Header), StoreError> {
        self.refuse_links(key)?;
        let path = self.file(key);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(match self.kind(key)? {
                    Some(kind) => StoreError::WrongKind(key.clone(), kind),
                    None => StoreError::NotFound(key.clone()),
                });
            }
            Err(error) => return Err(io(&path, error)),
        };
        let header = read_header(&mut file).map_err(|what| StoreError::Damaged {
            key: key.clone(),
            what,
        })?;
        Ok((file, header))
    }

    fn write(&self, path: &Path, blob: &Blob) -> std::io::Result<()> {
        let header = Header {
            bytes: blob.data.len() as u64,
            xxh3: xxh3_64(&blob.data),
            metadata: blob.metadata.clone(),
        };
        let header = serde_json::to_vec(&header)?;
        let length = u32::try_from(header.len()).map_err(|_| ErrorKind::InvalidInput)?;
        let unfinished = path.with_file_name(folder::unfinished());
        folder::replace(path, &unfinished, |file| {
            file.write_all(MAGIC)?;
            file.write_all(&length.to_le_bytes())?;
            file.write_all(&header)?;
            file.write_all(&blob.data)
        })
    }
}

fn read_header(file: &mut File) -> Result<Header, String> {
    let mut start = [0; 12];
    file.read_exact(&mut start)
        .map_err(|error| error.to_string())?;
    let Some((magic, length)) = start.split_first_chunk::<8>() else {
        return Err("it is too short".to_owned());
    };
    if magic != MAGIC {
        return Err("it is not a blob's file".to_owned());
    }
    let length = length
        .first_chunk()
        .map_or(u32::MAX, |bytes| u32::from_le_bytes(*bytes));
    if length > LONGEST_HEADER {
        return Err(format!("its header has {length} bytes"));
    }
    let mut header = vec![0; length as usize];
    file.read_exact(&mut header)
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&header).map_err(|error| error.to_string())
}

impl Store for DiskStore {
    fn save(&self, key: &Key, blob: &Blob) -> Result<(), StoreError> {
        check_length(key, blob)?;
        self.refuse_links(key)?;
        if self.directory(key).is_dir() {
            return Err(StoreError::WrongKind(key.clone(), Kind::Directory));
        }
        self.no_blob_on_the_way(key.ancestors())?;
        let path = self.file(key);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| io(parent, error))?;
        }
        self.write(&path, blob).map_err(|error| io(&path, error))
    }

    fn load(&self, key: &Key) -> Result<Blob, StoreError> {
        let (mut file, header) = self.open_blob(key)?;
        let mut data = Vec::new();
        let read = file.read_to_end(&mut data);
        read.map_err(|error| io(&self.file(key), error))?;
        let damaged = |what: String| StoreError::Damaged {
            key: key.clone(),
            what,
        };
        if data.len() as u64 != header.bytes {
            return Err(damaged(format!(
                "{} bytes instead of {}",
                data.len(),
                header.bytes
            )));
        }
        if xxh3_64(&data) != header.xxh3 {
            return Err(damaged("its checksum is wrong".to_owned()));
        }
        let metadata = header.metadata;
        Ok(Blob { data, metadata })
    }

    fn kind(&self, key: &Key) -> Result<Option<Kind>, StoreError> {
        self.refuse_links(key)?;
        for (path, kind) in [
            (self.directory(key), Kind::Directory),
            (self.file(key), Kind::Blob),
        ] {
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() == (kind == Kind::Directory) => return Ok(Some(kind)),
                Err(error)
                    if error.kind() != ErrorKind::NotFound
                        && error.kind() != ErrorKind::NotADirectory =>
                {
                    return Err(io(&path, error));
                }
                _ => (),
            }
        }
        Ok(None)
    }

    fn metadata(&self, key: &Key) -> Result<Metadata, StoreError> {
        Ok(self.open_blob(key)?.1.metadata)
    }

    fn size(&self, key: &Key) -> Result<u64, StoreError> {
        match self.kind(key)? {
            None => Err(StoreError::NotFound(key.clone())),
            Some(Kind::Blob) => Ok(self.open_blob(key)?.1.bytes),
            Some(Kind::Directory) => {
                let all = self.walk(key)?;
                let blobs = all.iter().filter(|(_, kind)| *kind == Kind::Blob);
                blobs
                    .map(|(blob, _)| Ok(self.open_blob(blob)?.1.bytes))
                    .sum()
            }
        }
    }

    fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        match self.kind(key)? {
            None => Ok(false),
            Some(Kind::Blob) => {
                let path = self.file(key);
                fs::remove_file(&path).map_err(|error| io(&path, error))?;
                Ok(true)
            }
            Some(Kind::Directory) if key.is_root() => {
                for (below, _) in self.list(key)? {
                    self.delete(&below)?;
                }
                Ok(true)
            }
            Some(Kind::Directory) => {
                let path = self.directory(key);
                fs::remove_dir_all(&path).map_err(|error| io(&path, error))?;
                Ok(true)
            }
        }
    }

    /// One rename: at once, whatever is in it.
    fn rename(&self, from: &Key, to: &Key) -> Result<(), StoreError> {
        let what = self.pairs(from, to)?;
        self.no_blob_on_the_way(to.ancestors())?;
        let place = |key: &Key| match what.first() {
            Some((_, Kind::Blob)) => self.file(key),
            _ => self.directory(key),
        };
        let (source, target) = (place(from), place(to));
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|error| io(parent, error))?;
        }
        fs::rename(&source, &target).map_err(|error| io(&source, error))
    }

    fn declare_directory(&self, key: &Key) -> Result<(), StoreError> {
        self.refuse_links(key)?;
        self.no_blob_on_the_way(key.ancestors().chain([key.clone()]))?;
        let path = self.directory(key);
        fs::create_dir_all(&path).map_err(|error| io(&path, error))
    }

    fn list(&self, directory: &Key) -> Result<Vec<(Key, Kind)>, StoreError> {
        folder::expect_directory(self, directory)?;
        folder::list(&self.directory(directory), |name, kind| {
            // Links and other files are none of the store's.
            let known = match name.strip_suffix(SUFFIX) {
                Some(name) if kind.is_file() => (name, Kind::Blob),
                _ if kind.is_dir() => (name, Kind::Directory),
                _ => return Ok(None),
            };
            let (name, kind) = known;
            Ok(Some((directory.join(name)?, kind)))
        })
    }
}
