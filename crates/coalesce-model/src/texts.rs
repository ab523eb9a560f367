//! How pure code gets at the text of a file: through a trait that it does not implement.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::TreePath;

/// Where the code of a text begins: behind its byte-order mark.
#[must_use]
pub fn start_of_text(text: &str) -> u32 {
    if text.starts_with('\u{feff}') { 3 } else { 0 }
}

/// The decoded texts of a tree. A text is the file's bytes as UTF-8, byte-order mark included, so
/// that offsets in it are offsets in the file.
pub trait Texts: Sync {
    /// The text of a file, or `None` when there is no such file or it was skipped (not UTF-8, too
    /// large, unreadable).
    fn text(&self, path: &TreePath) -> Option<Arc<str>>;

    /// Every path of the tree, sorted, skipped files included.
    fn paths(&self) -> &[TreePath];

    /// Whether a file may have remarks for us (`coalesce: …`), as far as that is known without reading it.
    fn may_have_remarks(&self, path: &TreePath) -> bool {
        self.exists(path)
    }

    /// Whether there is such a file.
    fn exists(&self, path: &TreePath) -> bool {
        self.paths().binary_search(path).is_ok()
    }

    /// Whether there is a file below this directory.
    fn is_directory(&self, path: &TreePath) -> bool {
        if path.is_root() {
            return true;
        }
        let below = format!("{}/", path.as_str());
        let at = self
            .paths()
            .partition_point(|other| other.as_str() < below.as_str());
        self.paths()
            .get(at)
            .is_some_and(|other| other.as_str().starts_with(&below))
    }
}

/// Texts held in memory: fixtures, and the tree as a plan would leave it.
#[derive(Clone, Debug, Default)]
pub struct MemoryTexts {
    paths: Vec<TreePath>,
    texts: BTreeMap<TreePath, Arc<str>>,
}

impl MemoryTexts {
    /// A tree of these files.
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = (TreePath, Arc<str>)>) -> Self {
        let texts: BTreeMap<_, _> = files.into_iter().collect();
        Self {
            paths: texts.keys().cloned().collect(),
            texts,
        }
    }

    /// Reads a fixture: each file starts with a line `//- path/in/tree` and runs to the next one.
    ///
    /// # Panics
    /// When a path leads outside, or text stands before the first header: a fixture is a program's
    /// own text.
    #[must_use]
    pub fn fixture(text: &str) -> Self {
        let mut files: Vec<(TreePath, String)> = Vec::new();
        for line in text.split_inclusive('\n') {
            if let Some(path) = line.trim_start().strip_prefix("//- ") {
                let path = TreePath::new(path.trim()).expect("a fixture stays inside its tree");
                files.push((path, String::new()));
            } else if let Some((_, file)) = files.last_mut() {
                file.push_str(line);
            } else {
                assert!(
                    line.trim().is_empty(),
                    "text before the first `//- path` of a fixture"
                );
            }
        }
        Self::new(
            files
                .into_iter()
                .map(|(path, text)| (path, Arc::from(text))),
        )
    }
}

impl Texts for MemoryTexts {
    fn text(&self, path: &TreePath) -> Option<Arc<str>> {
        self.texts.get(path).cloned()
    }

    fn paths(&self) -> &[TreePath] {
        &self.paths
    }
}

/// A tree as a change would leave it, over the tree as it is. Nothing is copied but what changes.
pub struct Overlay<'a> {
    base: &'a dyn Texts,
    paths: Vec<TreePath>,
    changed: BTreeMap<TreePath, Arc<str>>,
    moved: BTreeMap<TreePath, TreePath>,
}

impl<'a> Overlay<'a> {
    /// The files `paths`: of those in `changed` the text is new, those in `moved` have the text of another
    /// path of `base`, and all others are as they were.
    #[must_use]
    pub fn new(
        base: &'a dyn Texts,
        paths: BTreeSet<TreePath>,
        changed: BTreeMap<TreePath, Arc<str>>,
        moved: BTreeMap<TreePath, TreePath>,
    ) -> Self {
        Self {
            base,
            paths: paths.into_iter().collect(),
            changed,
            moved,
        }
    }

    /// The files whose text is not that of the same path before, moved ones included.
    pub fn changed_paths(&self) -> impl Iterator<Item = &TreePath> {
        self.changed.keys().chain(self.moved.keys())
    }

    /// Whether the text of a file is new.
    #[must_use]
    pub fn has_new_text(&self, path: &TreePath) -> bool {
        self.changed.contains_key(path)
    }

    /// Where a file was before.
    #[must_use]
    pub fn path_before<'p>(&'p self, path: &'p TreePath) -> &'p TreePath {
        self.moved.get(path).unwrap_or(path)
    }

    /// The tree as it is.
    #[must_use]
    pub const fn base(&self) -> &'a dyn Texts {
        self.base
    }
}

impl Texts for Overlay<'_> {
    fn text(&self, path: &TreePath) -> Option<Arc<str>> {
        if let Some(text) = self.changed.get(path) {
            return Some(Arc::clone(text));
        }
        if let Some(before) = self.moved.get(path) {
            return self.base.text(before);
        }
        self.exists(path).then(|| self.base.text(path)).flatten()
    }

    fn paths(&self) -> &[TreePath] {
        &self.paths
    }
}
