//! A tree on disk: its files, their texts, and the facts that languages take from them.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use coalesce_model::{ContentHash, PathError, Settings, Texts, TreePath, language::Taken};
use rayon::prelude::*;

use crate::{
    Error, ErrorKind, FactsCache, FileEntry, FileKind, Skip, Unread,
    cache::{Found, Origin, Seen},
    parsing::Parsing,
    read, settings, threads, walk,
};

/// Texts beyond this are read again when they are asked for again.
const KEPT_BYTES: u64 = 256 << 20;

/// A tree on disk: its files, and their texts once they were asked for.
pub struct SourceTree {
    root: PathBuf,
    /// Just before the walk began, in nanoseconds since 1970.
    opened: i128,
    files: Vec<FileEntry>,
    paths: Vec<TreePath>,
    slots: Vec<Slot>,
    kept: AtomicU64,
    parsing: Parsing,
    skips: Mutex<Vec<Skip>>,
    settings: Settings,
}

/// What is known of one file's text. All of a run sees one text of a file or none: its hash is
/// fixed by the first look, be that a cache's.
#[derive(Default)]
struct Slot {
    text: OnceLock<Option<Arc<str>>>,
    hash: OnceLock<ContentHash>,
    /// Whether the text has remarks for us.
    remarks: OnceLock<bool>,
}

/// What remarks for us begin with, behind the sign of a comment.
const REMARK: &str = "coalesce:";

impl SourceTree {
    /// Walks the tree at `root` and reads its `coalesce.toml`; source files are read when needed.
    ///
    /// # Errors
    /// When the root is no readable directory, or `coalesce.toml` is malformed.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let opened = now();
        let absolute = root
            .canonicalize()
            .map_err(|error| Error::given(ErrorKind::from(&error), root, error.to_string()))?;
        if !absolute.is_dir() {
            let kind = ErrorKind::NotADirectory;
            return Err(Error::given(kind, root, "it is not a directory"));
        }
        let settings = settings::read(&absolute)?;
        let walk::Walk { files, skips } = walk::walk(&absolute, settings.exclude)?;
        Ok(Self {
            root: absolute,
            opened,
            paths: files.iter().map(|file| file.path.clone()).collect(),
            slots: files.iter().map(|_| Slot::default()).collect(),
            kept: AtomicU64::new(0),
            parsing: Parsing::default(),
            files,
            skips: Mutex::new(skips),
            settings: settings.for_languages,
        })
    }

    /// The absolute path of the root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What `coalesce.toml` says.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Every file, sorted by path.
    #[must_use]
    pub fn files(&self) -> &[FileEntry] {
        &self.files
    }

    /// Every file, also what `exclude` in `coalesce.toml` leaves out; sorted by path.
    ///
    /// # Errors
    /// When the root cannot be listed any more.
    pub fn all_files(&self) -> Result<Vec<FileEntry>, Error> {
        Ok(walk::walk(&self.root, ignore::overrides::Override::empty())?.files)
    }

    /// The ignore file that would leave out a file which is not there yet.
    #[must_use]
    pub fn ignored_by(&self, path: &TreePath) -> Option<TreePath> {
        walk::ignored_by(&self.root, path)
    }

    /// The path inside the tree of a path as a user gives it, relative to the current directory.
    ///
    /// # Errors
    /// When it is not inside the tree.
    pub fn tree_path(&self, path: &Path) -> Result<TreePath, Error> {
        let outside = || Error::given(ErrorKind::Outside, path, "it is outside the tree");
        let absolute = std::path::absolute(path).map_err(|_| outside())?;
        // What does not exist yet is judged by the nearest directory that does.
        let existing = absolute
            .ancestors()
            .find(|ancestor| ancestor.exists())
            .ok_or_else(outside)?;
        let rest = absolute.strip_prefix(existing).map_err(|_| outside())?;
        let real = existing.canonicalize().map_err(|_| outside())?.join(rest);
        let relative = real.strip_prefix(&self.root).map_err(|_| outside())?;
        TreePath::new(relative.to_str().ok_or_else(outside)?).map_err(|_: PathError| outside())
    }

    /// The bytes and permission bits of a file, as they are on disk now.
    ///
    /// # Errors
    /// When it cannot be read, is not a plain file, or lies behind a link.
    pub fn content(&self, path: &TreePath) -> Result<(Vec<u8>, u32), Error> {
        read::content(&self.root, path)
    }

    /// The hash of the bytes that this run has seen of a file; `None` when it was not read.
    #[must_use]
    pub fn seen(&self, path: &TreePath) -> Option<ContentHash> {
        let at = self.paths.binary_search(path).ok()?;
        self.slots.get(at)?.hash.get().copied()
    }

    /// Drops the texts that are kept, if they take more than `few` bytes: between two uses that lie
    /// far apart. Texts and facts lie side by side in memory, and facts that go give little of it
    /// back while texts stay. A text that is asked for again is read again, and is the same one or
    /// none.
    pub fn forget_texts(&mut self, few: u64) {
        let kept = self.kept.get_mut();
        if *kept <= few {
            return;
        }
        *kept = 0;
        for slot in &mut self.slots {
            // A file without a text is not asked for it again.
            if matches!(slot.text.get(), Some(Some(_))) {
                slot.text = OnceLock::new();
            }
        }
    }

    /// The facts of every file that the language claims, sorted by path: from the cache where it
    /// holds them, else read and taken, in parallel.
    pub fn facts<L: Taken>(
        &self,
        language: &L,
        cache: Option<&FactsCache<L>>,
    ) -> Vec<(TreePath, Arc<L::Of>)> {
        // Both are sorted.
        let mut claimed = language.files(&self.paths).into_iter().peekable();
        let paths = self.paths.iter().enumerate();
        let claimed: Vec<usize> = paths
            .filter_map(|(at, path)| claimed.next_if(|next| *next == path).map(|_| at))
            .collect();
        let mut taken: Vec<(usize, Arc<L::Of>, Origin)> = Vec::with_capacity(claimed.len());
        // What the cache has settled takes less than the start of a thread.
        let rest = claimed.into_iter().filter(|at| {
            let known = cache.and_then(|cache| self.known_at(*at, cache));
            let is_new = known.is_none();
            taken.extend(known.map(|facts| (*at, facts, Origin::Cached)));
            is_new
        });
        let rest: Vec<usize> = rest.collect();
        if !rest.is_empty() {
            threads::start();
            let found = rest.into_par_iter().filter_map(|at| {
                let (facts, origin) = self.facts_at(at, language, cache)?;
                Some((at, facts, origin))
            });
            taken.par_extend(found);
            taken.sort_unstable_by_key(|(at, ..)| *at);
        }
        if let Some(cache) = cache {
            let rows = taken.iter().filter_map(|(at, facts, origin)| {
                let slot = self.slots.get(*at)?;
                let hash = *slot.hash.get()?;
                let remarks = slot.remarks.get().copied().unwrap_or(true);
                let seen = Seen { hash, remarks };
                Some((self.files.get(*at)?, seen, &**facts, *origin))
            });
            cache.store(self.opened, &rows.collect::<Vec<_>>());
        }
        let named = |(at, facts, _)| Some((self.paths.get::<usize>(at)?.clone(), facts));
        taken.into_iter().filter_map(named).collect()
    }

    /// The facts of a file that the cache has without another look at it.
    fn known_at<L: Taken>(&self, at: usize, cache: &FactsCache<L>) -> Option<Arc<L::Of>> {
        let (file, slot) = (self.files.get(at)?, self.slots.get(at)?);
        let Some(Found::Same {
            hash,
            facts,
            remarks,
        }) = cache.get(file)
        else {
            return None;
        };
        if *slot.hash.get_or_init(|| hash) != hash {
            return None;
        }
        slot.remarks.get_or_init(|| remarks);
        Some(facts)
    }

    fn facts_at<L: Taken>(
        &self,
        at: usize,
        language: &L,
        cache: Option<&FactsCache<L>>,
    ) -> Option<(Arc<L::Of>, Origin)> {
        let (file, slot) = (self.files.get(at)?, self.slots.get(at)?);
        let found = cache.and_then(|cache| cache.get(file));
        let text = self.text_at(at)?;
        match found {
            Some(Found::Perhaps { hash, facts }) if slot.hash.get() == Some(&hash) => {
                Some((facts, Origin::Confirmed))
            }
            _ => {
                let _room = self.parsing.enter(text.len());
                Some((Arc::new(language.take(&file.path, &text)), Origin::Taken))
            }
        }
    }

    /// The files that were not read, and why, sorted.
    #[must_use]
    pub fn skips(&self) -> Vec<Skip> {
        let mut skips = self.skips_now().clone();
        skips.sort();
        skips.dedup();
        skips
    }

    fn skips_now(&self) -> MutexGuard<'_, Vec<Skip>> {
        self.skips.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn text_at(&self, at: usize) -> Option<Arc<str>> {
        let (file, slot) = (self.files.get(at)?, self.slots.get(at)?);
        if let Some(known) = slot.text.get() {
            return known.clone();
        }
        match self.read(file, slot) {
            Ok(text) => {
                let bytes = text.len() as u64;
                if self.kept.fetch_add(bytes, Ordering::Relaxed) + bytes <= KEPT_BYTES {
                    return slot.text.get_or_init(|| Some(text)).clone();
                }
                Some(text)
            }
            Err(reason) => {
                let path = file.path.clone();
                if file.kind != FileKind::Plain {
                    // The walk has said so.
                    return slot.text.get_or_init(|| None).clone();
                }
                let unread = Unread::File;
                self.skips_now().push(Skip {
                    path,
                    reason,
                    unread,
                });
                slot.text.get_or_init(|| None).clone()
            }
        }
    }

    fn read(&self, file: &FileEntry, slot: &Slot) -> Result<Arc<str>, String> {
        let (text, hash) = read::text(&self.root, file)?;
        if *slot.hash.get_or_init(|| hash) == hash {
            let has = || memchr::memmem::find(text.as_bytes(), REMARK.as_bytes()).is_some();
            slot.remarks.get_or_init(has);
            Ok(text)
        } else {
            Err("it changed while the tree was read".to_owned())
        }
    }
}

impl Texts for SourceTree {
    fn text(&self, path: &TreePath) -> Option<Arc<str>> {
        self.text_at(self.paths.binary_search(path).ok()?)
    }

    fn paths(&self) -> &[TreePath] {
        &self.paths
    }

    fn may_have_remarks(&self, path: &TreePath) -> bool {
        let at = self.paths.binary_search(path).ok();
        let slot = at.and_then(|at| self.slots.get(at));
        let known = slot.and_then(|slot| slot.remarks.get());
        known.copied().unwrap_or(true)
    }
}

fn now() -> i128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    walk::nanoseconds(since.unwrap_or_default())
}
