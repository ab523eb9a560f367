//! A store in Zarr's format, version 3: a blob with shape and type is an array, a directory is a group, and
//! other programs read and write them.
//!
//! What is written is one raw chunk for each array, numbers with the lowest byte first. What is read is any
//! regular grid of raw chunks; compressed or sharded ones are refused by name
//! ([`StoreError::Unsupported`]), as are types that Zarr does not have (`bfloat16`). A blob that is no
//! array is one of bytes, with an attribute that says so. There is no checksum: Zarr has one only as a
//! codec.

mod metadata;

use std::{
    fs,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use crate::store::{
    Blob, Key, KeyError, Kind, Metadata, Store, StoreError, check_length,
    folder::{self, UNFINISHED, failed as io},
    zarr::metadata::{ArrayNode, Node},
};

/// What a node says of itself.
const NODE: &str = "zarr.json";
/// The most bytes of a node's own words that are read.
const LONGEST_NODE: u64 = 1 << 20;
/// The most chunks that are looked for: each is a file.
const MOST_CHUNKS: u64 = 1 << 24;

/// Arrays in a directory of the file system, as Zarr lays them out. May be used from several threads and
/// processes: an array is replaced by one exchange of two folders, where the system has that.
///
/// ```
/// use core_gpu_memory::{DType, store::{Blob, Key, Metadata, Store, ZarrStore}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let store = ZarrStore::open(folder.path().join("weights.zarr"))?;
/// let metadata = Metadata::array(&[2, 2], DType::UInt8);
/// let blob = Blob { data: vec![1, 2, 3, 4], metadata };
/// store.save(&Key::new("layer/0")?, &blob)?; // zarr.open("weights.zarr")["layer/0"] in Python
/// assert_eq!(store.load(&Key::new("layer/0")?)?, blob);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ZarrStore {
    root: PathBuf,
}

impl ZarrStore {
    /// The store in that directory, which is made, a group, if it is not there.
    ///
    /// # Errors
    /// As the file system fails.
    pub fn open(root: impl Into<PathBuf>) -> Result<ZarrStore, StoreError> {
        let store = ZarrStore { root: root.into() };
        store.make_group(&store.root)?;
        Ok(store)
    }

    fn folder(&self, key: &Key) -> PathBuf {
        let mut path = self.root.clone();
        path.extend(key.as_str().split('/').filter(|part| !part.is_empty()));
        path
    }

    /// Names that Zarr has for itself, and links on the way, which would lead out of the root.
    fn check_names(&self, key: &Key) -> Result<(), StoreError> {
        if key.as_str().split('/').any(|part| part == NODE) {
            return Err(KeyError::Reserved(key.to_string()).into());
        }
        for above in key.ancestors().chain([key.clone()]) {
            let found = fs::symlink_metadata(self.folder(&above));
            if found.is_ok_and(|found| found.is_symlink()) {
                let what = "a link is on the way".to_owned();
                return Err(StoreError::Damaged { key: above, what });
            }
        }
        Ok(())
    }

    /// What is there. A folder that says nothing of itself is a group: whoever makes one writes that last.
    fn node(&self, key: &Key) -> Result<Option<Node>, StoreError> {
        self.check_names(key)?;
        let folder = self.folder(key);
        let path = folder.join(NODE);
        if fs::metadata(&path).is_ok_and(|found| found.len() > LONGEST_NODE) {
            return Err(unsupported(key, format!("its {NODE} is very long")));
        }
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if is_missing(&error) => {
                return Ok(folder.is_dir().then_some(Node::Group));
            }
            Err(error) => return Err(io(&path, error)),
        };
        let node = metadata::read(&text);
        node.map(Some).map_err(|what| unsupported(key, what))
    }

    fn array(&self, key: &Key) -> Result<ArrayNode, StoreError> {
        match self.node(key)? {
            Some(Node::Array(array)) => Ok(array),
            Some(Node::Group) => Err(StoreError::WrongKind(key.clone(), Kind::Directory)),
            None => Err(StoreError::NotFound(key.clone())),
        }
    }

    fn make_group(&self, folder: &Path) -> Result<(), StoreError> {
        fs::create_dir_all(folder).map_err(|error| io(folder, error))?;
        let path = folder.join(NODE);
        match path.exists() {
            true => Ok(()),
            false => write_beside(&path, &metadata::group()).map_err(|error| io(&path, error)),
        }
    }

    /// Groups from the root down to where a node shall stand.
    fn make_groups(&self, keys: impl Iterator<Item = Key>) -> Result<(), StoreError> {
        for above in keys {
            if let Some(Node::Array(_)) = self.node(&above)? {
                return Err(StoreError::WrongKind(above, Kind::Blob));
            }
            self.make_group(&self.folder(&above))?;
        }
        Ok(())
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn unsupported(key: &Key, what: String) -> StoreError {
    StoreError::Unsupported {
        key: key.clone(),
        what,
    }
}

/// A path of nobody's, in the same folder.
fn unfinished(path: &Path) -> PathBuf {
    path.with_file_name(folder::unfinished())
}

fn write_beside(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    folder::replace(path, &unfinished(path), |file| file.write_all(bytes))
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// The name of a chunk, below its array's folder.
fn chunk_path(array: &ArrayNode, at: &[u64]) -> PathBuf {
    let parts = std::iter::once("c".to_owned()).chain(at.iter().map(u64::to_string));
    let parts: Vec<_> = parts.collect();
    PathBuf::from(parts.join(&array.separator.to_string()))
}

/// An array in a folder that nobody reads yet.
fn write_array(folder: &Path, array: &ArrayNode, json: &[u8], data: &[u8]) -> std::io::Result<()> {
    fs::create_dir(folder)?;
    if !data.is_empty() {
        let chunk = folder.join(chunk_path(array, &vec![0; array.shape.len()]));
        fs::create_dir_all(chunk.parent().unwrap_or(folder))?;
        write_new(&chunk, data)?;
    }
    write_new(&folder.join(NODE), json)
}

/// Puts a folder in the place of another, or where nothing is. At once where the system can exchange two;
/// elsewhere there is nothing for a moment.
fn put_in_place(new: &Path, place: &Path) -> std::io::Result<()> {
    match fs::rename(new, place) {
        Ok(()) => return Ok(()),
        Err(error) if !place.is_dir() => return Err(error),
        Err(_) => (),
    }
    if exchange(new, place)? {
        return fs::remove_dir_all(new);
    }
    let old = unfinished(place);
    fs::rename(place, &old)?;
    fs::rename(new, place)?;
    fs::remove_dir_all(&old)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> std::io::Result<bool> {
    use rustix::{
        fs::{CWD, RenameFlags, renameat_with},
        io::Errno,
    };
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_one: &Path, _other: &Path) -> std::io::Result<bool> {
    Ok(false)
}

/// The next place in a grid of so many along each dimension, the last one first. False after the last.
fn advance(at: &mut [u64], counts: &[u64]) -> bool {
    for (place, count) in at.iter_mut().zip(counts).rev() {
        *place += 1;
        if *place < *count {
            return true;
        }
        *place = 0;
    }
    false
}

/// Copies the rows of a chunk to where they stand in the array.
fn place_chunk(array: &ArrayNode, at: &[u64], chunk: &[u8], to: &mut [u8]) {
    let element = array.dtype.bytes() as usize;
    let grid = at.iter().zip(&array.chunk);
    let origin: Vec<u64> = grid.map(|(at, chunk)| at * chunk).collect();
    let sizes = array.shape.iter().zip(&array.chunk).zip(&origin);
    let extent: Vec<u64> = sizes
        .map(|((shape, chunk), origin)| (*chunk).min(shape - origin))
        .collect();
    let row = extent.last().map_or(1, |last| *last as usize) * element;
    let mut within = vec![0_u64; origin.len()];
    loop {
        let (mut from, mut into) = (0_u64, 0_u64);
        for (dimension, place) in within.iter().enumerate() {
            from = from * array.chunk[dimension] + place;
            into = into * array.shape[dimension] + origin[dimension] + place;
        }
        let (from, into) = (from as usize * element, into as usize * element);
        to[into..into + row].copy_from_slice(&chunk[from..from + row]);
        let rows = extent.len().saturating_sub(1);
        if !advance(&mut within[..rows], &extent[..rows]) {
            return;
        }
    }
}

impl ZarrStore {
    /// An array of nothing but what missing chunks are.
    fn blank(key: &Key, array: &ArrayNode) -> Result<Vec<u8>, StoreError> {
        let bytes = array.dtype.array_bytes(&array.shape);
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| unsupported(key, "its length is no number".to_owned()))?;
        let mut data = Vec::new();
        let room = data.try_reserve_exact(bytes);
        room.map_err(|_| unsupported(key, format!("there is no room for {bytes} bytes")))?;
        if array.fill.iter().all(|byte| *byte == 0) {
            // Pages that nothing is written to cost nothing.
            return Ok(vec![0; bytes]);
        }
        data.extend(array.fill.iter().copied().cycle().take(bytes));
        Ok(data)
    }

    fn read_array(&self, key: &Key, array: &ArrayNode) -> Result<Vec<u8>, StoreError> {
        let mut data = Self::blank(key, array)?;
        let sizes = array.shape.iter().zip(&array.chunk);
        let counts: Vec<u64> = sizes.map(|(shape, chunk)| shape.div_ceil(*chunk)).collect();
        let chunks = counts
            .iter()
            .try_fold(1_u64, |all, count| all.checked_mul(*count));
        let each = array.dtype.array_bytes(&array.chunk);
        let (Some(each), Some(..=MOST_CHUNKS)) = (each, chunks) else {
            return Err(unsupported(
                key,
                "its chunks are too many or too large".to_owned(),
            ));
        };
        let mut at = vec![0; counts.len()];
        while !data.is_empty() {
            let path = self.folder(key).join(chunk_path(array, &at));
            match fs::read(&path) {
                Ok(chunk) if chunk.len() as u64 == each => {
                    place_chunk(array, &at, &chunk, &mut data);
                }
                Ok(chunk) => {
                    let what = format!("a chunk has {} bytes instead of {each}", chunk.len());
                    let key = key.clone();
                    return Err(StoreError::Damaged { key, what });
                }
                Err(error) if is_missing(&error) => (),
                Err(error) => return Err(io(&path, error)),
            }
            if !advance(&mut at, &counts) {
                break;
            }
        }
        Ok(data)
    }
}

impl Store for ZarrStore {
    fn save(&self, key: &Key, blob: &Blob) -> Result<(), StoreError> {
        check_length(key, blob)?;
        if let Some(Node::Group) = self.node(key)? {
            return Err(StoreError::WrongKind(key.clone(), Kind::Directory));
        }
        let array = ArrayNode::whole(&blob.metadata, blob.data.len() as u64);
        let unknown = || unsupported(key, "Zarr has no such type".to_owned());
        let json = array.to_json().ok_or_else(unknown)?;
        self.make_groups(key.ancestors())?;
        let folder = self.folder(key);
        let new = unfinished(&folder);
        let written = write_array(&new, &array, &json, &blob.data);
        let written = written.and_then(|()| put_in_place(&new, &folder));
        written.map_err(|error| {
            // The error that counts is the first one.
            let _ = fs::remove_dir_all(&new);
            io(&folder, error)
        })
    }

    fn load(&self, key: &Key) -> Result<Blob, StoreError> {
        loop {
            let array = self.array(key)?;
            let data = self.read_array(key, &array);
            // Somebody may have replaced it between its words and its chunks.
            if self.array(key)? == array {
                let metadata = array.metadata;
                return data.map(|data| Blob { data, metadata });
            }
        }
    }

    fn kind(&self, key: &Key) -> Result<Option<Kind>, StoreError> {
        Ok(self.node(key)?.map(|node| match node {
            Node::Group => Kind::Directory,
            Node::Array(_) => Kind::Blob,
        }))
    }

    fn metadata(&self, key: &Key) -> Result<Metadata, StoreError> {
        Ok(self.array(key)?.metadata)
    }

    fn size(&self, key: &Key) -> Result<u64, StoreError> {
        let of_array = |key: &Key| {
            let array = self.array(key)?;
            let bytes = array.dtype.array_bytes(&array.shape);
            bytes.ok_or_else(|| unsupported(key, "its length is no number".to_owned()))
        };
        match self.kind(key)? {
            None => Err(StoreError::NotFound(key.clone())),
            Some(Kind::Blob) => of_array(key),
            Some(Kind::Directory) => {
                let all = self.walk(key)?;
                let blobs = all.iter().filter(|(_, kind)| *kind == Kind::Blob);
                blobs.map(|(blob, _)| of_array(blob)).sum()
            }
        }
    }

    fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        if self.kind(key)?.is_none() {
            return Ok(false);
        }
        if key.is_root() {
            for (below, _) in self.list(key)? {
                self.delete(&below)?;
            }
            return Ok(true);
        }
        // Away at once, then bit by bit.
        let (folder, away) = (self.folder(key), unfinished(&self.folder(key)));
        let gone = fs::rename(&folder, &away).and_then(|()| fs::remove_dir_all(&away));
        gone.map(|()| true).map_err(|error| io(&folder, error))
    }

    fn declare_directory(&self, key: &Key) -> Result<(), StoreError> {
        self.make_groups(key.ancestors().chain([key.clone()]))
    }

    fn list(&self, directory: &Key) -> Result<Vec<(Key, Kind)>, StoreError> {
        folder::expect_directory(self, directory)?;
        folder::list(&self.folder(directory), |name, kind| {
            // Links and files are none of the store's.
            if !kind.is_dir() || name.ends_with(UNFINISHED) {
                return Ok(None);
            }
            let key = directory.join(name)?;
            Ok(self.kind(&key)?.map(|kind| (key, kind)))
        })
    }
}
