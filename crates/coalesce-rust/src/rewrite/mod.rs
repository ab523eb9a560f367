//! How a moved or replaced Rust module is rewritten: files, declarations, and every path to it.
//!
//! What leaves its crate is asked besides in `crossing` and `packages`. A path is spelled anew only where the tree after
//! would read it differently; what the new place cannot see is widened, each widening a note of the plan.

mod between;
pub(crate) mod blocks;
mod cargo;
mod collide;
mod conditions;
mod crossing;
mod cycles;
mod declarations;
mod disallowed;
mod draft;
mod expansions;
mod exported_macros;
mod fits;
mod follow;
mod fragment;
pub(crate) mod functions;
mod given_macros;
mod globs;
mod heads;
mod idle_globs;
mod idle_imports;
mod implicit;
mod inception;
mod items;
mod layout;
mod libraries;
mod lines;
mod links;
mod macro_arms;
mod macro_docs;
mod macro_methods;
mod macro_paths;
mod macro_scope;
mod macros;
mod made_members;
mod made_places;
mod mapping;
mod mentions;
mod merge;
mod method_calls;
mod needs;
mod older_syntax;
mod own_place;
mod packages;
mod packed_files;
mod partial_paths;
mod place;
mod prose;
mod public;
mod relocation;
mod removal;
mod scan;
mod shim_names;
mod shims;
mod short_paths;
mod spell;
mod spent_imports;
mod stage;
mod stages;
mod stand_in;
mod standard;
mod structure;
mod tests_only;
mod traits;
mod unloaded;
mod unproven;
pub(crate) mod use_tree;
mod variants;
mod visibility;
mod walk;
mod without_prelude;

pub(crate) use fits::{are_opposite, is_called_alike};
pub(crate) use items::{is_exported, merged};
pub(crate) use macro_methods::called_names;
pub(crate) use macro_scope::{Anchor, anchors_of, is_in_scope};
pub(crate) use method_calls::{
    called as method_calls,
    calls::{Called, CalledOn},
    homes::homes as method_homes,
    receivers,
};
pub(crate) use packages::{condition_of_no_std, package_of, retire as retire_packages};
pub(crate) use traits::{
    Demand, demand_of_called, demand_of_trait, may_be_trait, may_call, method_names,
};
pub(crate) use walk::is_of_module;

use coalesce_model::{
    Change, Documentation, Edit, LanguagePlan, Rewrite, Texts, TreePath, language::RewriteOptions,
};

use self::{mapping::Mapping, stage::add};
use crate::RustGraph;

/// Works the changes out.
pub(crate) fn rewrite(
    graph: &RustGraph,
    changes: &[Change],
    options: RewriteOptions,
    texts: &dyn Texts,
) -> LanguagePlan {
    let mut plan = stages::rewrite(graph, changes, texts);
    if plan.refusals.is_empty() {
        let mapping = Mapping::new(&graph.world, changes, texts);
        prose::tell(&mapping, options.prose, &mut plan);
        partial_paths::tell(&mapping, &mut plan);
        macro_docs::tell(&mapping, &mut plan);
        inception::tell(&mapping, &mut plan);
        packed_files::tell(&mapping, &mut plan);
    }
    plan
}

/// The references of pieces of code, and the edits that follow.
pub(crate) fn rewrite_fragments(
    graph: &RustGraph,
    changes: &[Change],
    codes: &[&str],
) -> Vec<Vec<(Rewrite, Edit)>> {
    if codes.is_empty() {
        return Vec::new();
    }
    let mapping = Mapping::new(&graph.world, changes, &fragment::NoTexts);
    let codes = codes.iter();
    codes
        .map(|code| fragment::rewrite(&mapping, code))
        .collect()
}

/// What a document is that code has for its documentation.
pub(crate) fn documentation(
    graph: &RustGraph,
    changes: &[Change],
    path: &TreePath,
    texts: &dyn Texts,
) -> Option<Documentation> {
    let homes = fragment::documented_modules(&graph.world, path);
    if homes.is_empty() {
        return None;
    }
    let mapping = Mapping::new(&graph.world, changes, texts);
    fragment::documentation(&mapping, (path, &homes))
}
