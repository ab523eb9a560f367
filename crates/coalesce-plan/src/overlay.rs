//! The tree as a plan would leave it, over the tree as it is.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{Texts, TreePath};

use crate::Operation;

/// Texts after the operations of a plan. Nothing is copied but what changes.
pub struct Overlay<'a> {
    base: &'a dyn Texts,
    paths: Vec<TreePath>,
    changed: BTreeMap<TreePath, Arc<str>>,
    moved: BTreeMap<TreePath, TreePath>,
}

impl<'a> Overlay<'a> {
    /// The tree `base` after `operations`.
    #[must_use]
    pub fn new(base: &'a dyn Texts, operations: &[Operation]) -> Self {
        let mut gone: BTreeSet<&TreePath> = BTreeSet::new();
        let mut there: BTreeSet<TreePath> = BTreeSet::new();
        let mut changed = BTreeMap::new();
        let mut moved = BTreeMap::new();
        for operation in operations {
            match operation {
                Operation::Move { from, to, text } => {
                    gone.insert(from);
                    there.insert(to.clone());
                    match text {
                        Some(text) => drop(changed.insert(to.clone(), Arc::from(text.as_str()))),
                        None => drop(moved.insert(to.clone(), from.clone())),
                    }
                }
                Operation::Delete { path } => drop(gone.insert(path)),
                Operation::Create { path, text, .. } | Operation::Edit { path, text } => {
                    there.insert(path.clone());
                    changed.insert(path.clone(), Arc::from(text.as_str()));
                }
            }
        }
        there.extend(
            base.paths()
                .iter()
                .filter(|path| !gone.contains(path))
                .cloned(),
        );
        Self {
            base,
            paths: there.into_iter().collect(),
            changed,
            moved,
        }
    }

    /// The files whose text is not that of the same path before, moved ones included.
    pub fn changed_paths(&self) -> impl Iterator<Item = &TreePath> {
        self.changed.keys().chain(self.moved.keys())
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
