//! Trees in device memory: each file and content once, the least recently used first to go.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use core_gpu_driver::Stream;
use core_gpu_memory::{Entry, MemoryManager, PinnedEntry, Source};
use xxhash_rust::xxh3::xxh3_128;

use crate::{error::AstError, kinds::SourceLanguage, settings::AstSettings, tensors::AstTensors};

/// What is kept at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AstLimits {
    /// Trees.
    pub trees: usize,
    /// Bytes of all trees.
    pub bytes: u64,
}

impl From<AstSettings> for AstLimits {
    /// As many trees as the settings say, none where the cache is off; no bound in bytes but the manager's
    /// budget.
    fn from(settings: AstSettings) -> Self {
        AstLimits {
            trees: match settings.cache_enabled {
                true => settings.max_cache_size,
                false => 0,
            },
            bytes: u64::MAX,
        }
    }
}

/// Numbers of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AstStatistics {
    /// Loads that found the tree, kept or in somebody's hands.
    pub hits: u64,
    /// Loads that parsed and sent one.
    pub misses: u64,
    /// Trees that went because there were too many, or too many bytes.
    pub evictions: u64,
    /// Trees that are kept.
    pub trees: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// A tree in device memory. It stays as long as somebody has it, kept or not. Where there is no room it may
/// lie on the host until it is pinned.
#[derive(Clone, Debug)]
pub struct GpuAst {
    tree: Arc<Stored>,
}

#[derive(Debug)]
struct Stored {
    entry: Entry,
    nodes: usize,
    level_ends: Vec<u32>,
}

impl GpuAst {
    /// How many nodes it has.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.tree.nodes
    }

    /// For each depth, how many nodes are no deeper.
    #[must_use]
    pub fn level_ends(&self) -> &[u32] {
        &self.tree.level_ends
    }

    /// Bytes in device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tree.entry.bytes()
    }

    /// Whether it lies in device memory and not on the host.
    #[must_use]
    pub fn is_resident(&self) -> bool {
        self.tree.entry.is_resident()
    }

    /// For reading on a stream: the words of [`AstTensors::to_words`], in device memory as long as the
    /// answer lives.
    ///
    /// # Errors
    /// As the memory or the driver fails.
    pub fn pin(&self, on: &Stream) -> Result<PinnedEntry<'_>, AstError> {
        Ok(self.tree.entry.pin(on)?)
    }

    /// The arrays, fetched and checked.
    ///
    /// # Errors
    /// As the memory or the driver fails; [`AstError::NoTree`] where somebody wrote over them.
    pub fn download(&self, on: &Stream) -> Result<AstTensors, AstError> {
        let bytes = self.tree.entry.read(on)?;
        let (words, _) = bytes.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        AstTensors::from_words(&words)
    }
}

/// A file with one content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FileContent {
    path: PathBuf,
    hash: u128,
    language: SourceLanguage,
}

#[derive(Debug)]
struct Kept {
    tree: GpuAst,
    /// When it was used last.
    tick: u64,
}

#[derive(Debug, Default)]
struct Books {
    kept: BTreeMap<FileContent, Kept>,
    by_tick: BTreeMap<u64, FileContent>,
    tick: u64,
    statistics: AstStatistics,
    /// Trees that were loaded, also those that are not kept and that somebody still has.
    loaded: BTreeMap<FileContent, Weak<Stored>>,
    /// So many of them are looked through once more.
    look_at: usize,
    /// What some thread is parsing or sending.
    loading: BTreeSet<FileContent>,
}

impl Books {
    /// The tree of a file, if it is anywhere in device memory.
    fn find(&mut self, file: &FileContent) -> Option<GpuAst> {
        self.touch(file).or_else(|| {
            let tree = self.loaded.get(file)?.upgrade()?;
            Some(GpuAst { tree })
        })
    }

    fn touch(&mut self, file: &FileContent) -> Option<GpuAst> {
        let kept = self.kept.get_mut(file)?;
        self.by_tick.remove(&kept.tick);
        self.tick += 1;
        kept.tick = self.tick;
        self.by_tick.insert(self.tick, file.clone());
        Some(kept.tree.clone())
    }

    fn remove(&mut self, file: &FileContent) -> Option<Kept> {
        let kept = self.kept.remove(file)?;
        self.by_tick.remove(&kept.tick);
        self.statistics.bytes -= kept.tree.bytes();
        self.statistics.trees -= 1;
        Some(kept)
    }

    fn insert(&mut self, file: FileContent, tree: GpuAst) {
        self.loaded.insert(file.clone(), Arc::downgrade(&tree.tree));
        if self.loaded.len() > self.look_at {
            self.loaded.retain(|_, tree| tree.strong_count() > 0);
            self.look_at = 2 * self.loaded.len() + 64;
        }
        self.tick += 1;
        self.statistics.bytes += tree.bytes();
        self.statistics.trees += 1;
        self.by_tick.insert(self.tick, file.clone());
        let tick = self.tick;
        self.kept.insert(file, Kept { tree, tick });
    }

    /// Takes out what was not used for longest, until the rest is within the limits.
    fn evict(&mut self, limits: AstLimits) -> Vec<Kept> {
        let mut gone = Vec::new();
        while self.statistics.trees > limits.trees || self.statistics.bytes > limits.bytes {
            let Some(file) = self.by_tick.values().next().cloned() else {
                break;
            };
            gone.extend(self.remove(&file));
            self.statistics.evictions += 1;
        }
        gone
    }
}

/// Syntax trees in device memory. May be used from several threads.
///
/// Memory is a [`MemoryManager`]'s: when that runs out of room, trees that nobody has pinned move to the
/// host and come back when they are.
///
/// ```
/// use std::{path::Path, sync::Arc};
/// use core_gpu_driver::{Driver, HostDriver};
/// use core_gpu_memory::MemoryManager;
/// use gpu_ast::{AstSettings, GpuAstManager};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 26));
/// let memory = MemoryManager::builder(&driver).build()?;
/// let trees = GpuAstManager::new(&memory, AstSettings::from_environment()?.into());
/// let tree = trees.load(Path::new("a.py"), "x = 1\n", memory.stream())?;
/// assert_eq!(tree.download(memory.stream())?.range(0), Some(0..6));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GpuAstManager {
    memory: MemoryManager,
    limits: AstLimits,
    books: Mutex<Books>,
    /// A thread has loaded its tree, or could not.
    loaded: Condvar,
}

/// A thread loads a tree: others wait for it, until it has or has failed.
struct Loading<'m> {
    trees: &'m GpuAstManager,
    file: &'m FileContent,
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        self.trees.books().loading.remove(self.file);
        self.trees.loaded.notify_all();
    }
}

impl GpuAstManager {
    /// Trees in the manager's memory, accounted to `syntax trees`.
    #[must_use]
    pub fn new(memory: &MemoryManager, limits: AstLimits) -> GpuAstManager {
        GpuAstManager {
            memory: memory.clone(),
            limits,
            books: Mutex::default(),
            loaded: Condvar::new(),
        }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tree of a file with that text. It is parsed and sent once, as long as it is kept or somebody has it, also
    /// where several threads load it at once; of a file that changed the old tree goes.
    ///
    /// # Errors
    /// See [`AstError`].
    pub fn load(&self, path: &Path, text: &str, on: &Stream) -> Result<GpuAst, AstError> {
        let language =
            SourceLanguage::of(path).ok_or_else(|| AstError::Language(path.to_owned()))?;
        let file = FileContent {
            path: path.to_owned(),
            hash: xxh3_128(text.as_bytes()),
            language,
        };
        if let Some(tree) = self.find_or_begin(&file) {
            return Ok(tree);
        }
        let loading = Loading {
            trees: self,
            file: &file,
        };
        let tree = self.send(&AstTensors::parse(text, language)?, on)?;
        let mut books = self.books();
        let mut gone: Vec<_> = of_path(&books, path)
            .iter()
            .filter_map(|old| books.remove(old))
            .collect();
        books.insert(file.clone(), tree.clone());
        gone.extend(books.evict(self.limits));
        // Memory is given back without the lock.
        drop(books);
        drop((loading, gone));
        Ok(tree)
    }

    /// The tree, if it is there or another thread has it soon; else this one is to load it.
    fn find_or_begin(&self, file: &FileContent) -> Option<GpuAst> {
        let mut books = self.books();
        loop {
            if let Some(tree) = books.find(file) {
                books.statistics.hits += 1;
                return Some(tree);
            }
            if books.loading.insert(file.clone()) {
                books.statistics.misses += 1;
                return None;
            }
            let waited = self.loaded.wait(books);
            books = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The tree of a file on disk, as it is now.
    ///
    /// # Errors
    /// See [`AstError`]; the text must be UTF-8.
    pub fn load_file(&self, path: &Path, on: &Stream) -> Result<GpuAst, AstError> {
        let io = |error| AstError::Io {
            path: path.to_owned(),
            error,
        };
        let path = path.canonicalize().map_err(io)?;
        let text = std::fs::read_to_string(&path).map_err(io)?;
        self.load(&path, &text, on)
    }

    fn send(&self, tensors: &AstTensors, on: &Stream) -> Result<GpuAst, AstError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let key = format!("syntax tree {}", NEXT.fetch_add(1, Relaxed));
        let words = tensors.to_words();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let by = Source::named("syntax trees");
        let sent = self.memory.insert_by(&key, &bytes, on, by);
        let entry = sent?;
        // Who has the handle keeps the bytes; the name is nobody's.
        self.memory.release(&key);
        Ok(GpuAst {
            tree: Arc::new(Stored {
                entry,
                nodes: tensors.len(),
                level_ends: tensors.level_ends(),
            }),
        })
    }

    /// The tree of a file as it was loaded last, if it is kept.
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<GpuAst> {
        let mut books = self.books();
        let file = of_path(&books, path).into_iter().next();
        if let Some(file) = file {
            return books.touch(&file);
        }
        drop(books);
        let path = on_disk(path)?;
        let mut books = self.books();
        let file = of_path(&books, &path).into_iter().next()?;
        books.touch(&file)
    }

    /// Forgets the tree of a file. Whether there was one.
    pub fn clear(&self, path: &Path) -> bool {
        let is_gone = |path: &Path| {
            let mut books = self.books();
            let files = of_path(&books, path);
            books.loaded.retain(|file, _| file.path != path);
            let gone: Vec<_> = files.iter().filter_map(|file| books.remove(file)).collect();
            drop(books);
            !gone.is_empty()
        };
        is_gone(path) || on_disk(path).is_some_and(|path| is_gone(&path))
    }

    /// Forgets all trees. Returns how many there were.
    pub fn clear_all(&self) -> usize {
        let mut books = self.books();
        let gone = std::mem::take(&mut books.kept);
        books.by_tick.clear();
        books.loaded.clear();
        (books.statistics.trees, books.statistics.bytes) = (0, 0);
        drop(books);
        gone.len()
    }

    /// The numbers of the cache.
    #[must_use]
    pub fn statistics(&self) -> AstStatistics {
        self.books().statistics
    }
}

/// The path by which [`GpuAstManager::load_file`] knows a file, where it is another one.
fn on_disk(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|known| known != path)
}

/// What is kept of a file: at most one content.
fn of_path(books: &Books, path: &Path) -> Vec<FileContent> {
    let from = FileContent {
        path: path.to_owned(),
        hash: 0,
        language: SourceLanguage::Python,
    };
    let files = books.kept.range(from..).map(|(file, _)| file);
    files
        .take_while(|file| file.path == path)
        .cloned()
        .collect()
}
