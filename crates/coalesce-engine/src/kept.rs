//! Files that use old names on purpose, such as tests of the shims: `keep-uses` under `[shims]`.
//!
//! A plan leaves them as they are. Whether the old names go on working is asked of them as of any other
//! file: without a shim, the proof of the planned tree refuses the plan.

use std::collections::BTreeSet;

use coalesce_model::{LanguagePlan, TreePath, manifest::Manifest};
use coalesce_tree::PathFilter;

use crate::Failure;

/// The files that some manifests keep.
#[derive(Default)]
pub struct KeptUses(Vec<PathFilter>);

impl KeptUses {
    /// Those of all these manifests.
    ///
    /// # Errors
    /// When a glob is malformed.
    pub fn of<'m>(manifests: impl IntoIterator<Item = &'m Manifest>) -> Result<Self, Failure> {
        let keeping = manifests
            .into_iter()
            .filter(|manifest| !manifest.keep_uses.is_empty());
        let filters = keeping.map(|manifest| {
            PathFilter::new(&manifest.keep_uses, &[])
                .map_err(|why| Failure::config(format!("{}: `keep-uses`: {why}", manifest.path)))
        });
        Ok(Self(filters.collect::<Result<_, _>>()?))
    }

    /// Whether a file is one.
    pub fn has(&self, path: &TreePath) -> bool {
        self.0.iter().any(|filter| filter.passes(path))
    }

    /// Leaves out of a plan what it would do to the references of such files. One that moves itself is
    /// changed all the same: it would not work in its new place.
    pub fn leave_out(&self, plan: &mut LanguagePlan) {
        if self.0.is_empty() {
            return;
        }
        let moves = plan.moves.iter().map(|moved| &moved.from);
        let going: BTreeSet<TreePath> = moves.chain(&plan.deletes).cloned().collect();
        let changes = |path: &TreePath| going.contains(path) || !self.has(path);
        plan.edits.retain(|path, _| changes(path));
        plan.rewrites.retain(|rewrite| changes(&rewrite.path));
        plan.not_rewritten.retain(|one| changes(&one.path));
    }
}
