//! Private imports through which nothing goes, taken out: a glob as `use super::*` of tests whose module was left, and
//! the import of a macro that is seen without, by where it stands.

use std::collections::BTreeMap;

use coalesce_model::{Edit, LanguagePlan, Texts, TreePath};

use super::use_tree::{self, LeafChange};
use crate::{
    RustGraph,
    regressions::{Tree, idle_macro_leaves, idle_private_globs},
    resolve::FileId,
};

/// Takes out those that served somebody in the tree `before`, or are new, and certainly serve nobody any more.
pub(super) fn take_out(before: Tree<'_>, graph: &RustGraph, texts: &dyn Texts) -> LanguagePlan {
    let world = &graph.world;
    let after = Tree { world, texts };
    let mut by_file: BTreeMap<FileId, BTreeMap<u32, LeafChange>> = BTreeMap::new();
    let idle = idle_private_globs(before, after).into_iter();
    for (file, leaf) in idle.chain(idle_macro_leaves(before.world, world)) {
        by_file
            .entry(file)
            .or_default()
            .insert(leaf, LeafChange::Drop);
    }
    let mut edits: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
    for (file, leaves) in by_file {
        let (facts, path) = (world.facts(file), &world[file].path);
        let Some(text) = texts.text(path) else {
            continue;
        };
        let changed = facts.uses.iter().filter(|declaration| {
            let (first, last) = declaration.leaves;
            (first..last).any(|leaf| leaves.contains_key(&leaf))
        });
        let own =
            changed.flat_map(|declaration| use_tree::edit(facts, &text, declaration, &leaves, &[]));
        edits.insert(path.clone(), own.collect());
    }
    LanguagePlan {
        edits,
        ..LanguagePlan::default()
    }
}
