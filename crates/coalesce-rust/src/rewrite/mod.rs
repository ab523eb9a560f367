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
mod items;
mod layout;
mod libraries;
mod lines;
mod links;
mod macro_arms;
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
mod place;
mod public;
mod relocation;
mod removal;
mod scan;
mod shim_names;
mod shims;
mod short_paths;
mod spell;
mod spent_globs;
mod stages;
mod stand_in;
mod standard;
mod structure;
mod tests_only;
mod traits;
mod unproven;
pub(crate) mod use_tree;
mod variants;
mod visibility;
mod walk;
mod without_prelude;

pub(crate) use fits::is_called_alike;
pub(crate) use items::{is_exported, merged};
pub(crate) use macro_methods::called_names;
pub(crate) use macro_scope::{Anchor, anchors_of, is_in_scope};
pub(crate) use method_calls::{
    called as method_calls, calls::CalledOn, homes::homes as method_homes, receivers,
};
pub(crate) use packages::{condition_of_no_std, package_of, retire as retire_packages};
pub(crate) use traits::{Demand, demand_of_trait, may_be_trait, may_call, method_names};
pub(crate) use walk::is_of_module;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Change, Edit, FileMove, LanguagePlan, Rewrite, Texts, TreePath,
    language::RewriteOptions,
};

use crate::{
    RustGraph,
    resolve::{FileId, ModuleId},
    rewrite::{
        declarations::Placing,
        draft::Told,
        items::moving::Set,
        mapping::Mapping,
        needs::{Need, Needs},
        relocation::Relocation,
        shims::Shims,
        structure::Structure,
        use_tree::LeafChange,
    },
};

/// Works the changes out. Whether comments and prose are rewritten is nothing to Rust: its links in docs
/// are code, and what else comments say is told by whoever reads text.
pub(crate) fn rewrite(
    graph: &RustGraph,
    changes: &[Change],
    _options: RewriteOptions,
    texts: &dyn Texts,
) -> LanguagePlan {
    stages::rewrite(graph, changes, texts)
}

/// The edits of everything but declarations; what has to be seen, and behind what declarations go that arrive.
fn work_out(
    (mapping, shims): (&Mapping<'_>, &Shims),
    structure: &Structure,
    changes: &[Change],
    edits: &mut BTreeMap<TreePath, Vec<Edit>>,
    plan: &mut LanguagePlan,
) -> (Needs, BTreeMap<(ModuleId, FileId), u32>) {
    let mut needs = Needs::default();
    let macros = macros::check(mapping, structure);
    plan.refusals.extend(macros.refusals);
    needs.extend(macros.needs);
    add(edits, macros.edits);
    let settled = respell(mapping, structure, &mut needs, edits, plan);
    expand(mapping, &mut needs, edits, plan);
    widen(mapping, &mut needs, edits, plan);
    forbid(mapping, structure, &needs, plan);
    let crossing = crossing::of_modules(mapping);
    crossing.tell(plan);
    depend(mapping, &needs, edits, plan);
    if plan.refusals.is_empty() {
        let packages = packages::manifests(mapping, structure, (shims, &crossing.wishes), edits);
        plan.refusals.extend(packages.refusals);
        plan.notes.extend(packages.notes);
        plan.unproven.extend(packages.unproven);
    }
    let unproven = unproven::places(mapping.world, (changes, &settled), mapping.texts);
    plan.unproven.extend(unproven);
    (needs, macros.behind)
}

/// Works changes of modules out.
fn modules(
    graph: &RustGraph,
    (changes, forwards): (&[Change], &[shims::Forward]),
    texts: &dyn Texts,
) -> LanguagePlan {
    let mapping = Mapping::new(&graph.world, changes, texts);
    let mut plan = LanguagePlan::default();
    plan.refusals.clone_from(&mapping.refusals);
    if !plan.refusals.is_empty() {
        return plan;
    }
    let packages = packages::check(&mapping);
    plan.refusals.extend(packages.refusals);
    plan.notes.extend(packages.notes);
    if !plan.refusals.is_empty() {
        return plan;
    }
    let mut structure = Structure::new(&mapping);
    plan.refusals.extend(structure.refusals.iter().cloned());
    plan.notes.extend(structure.notes.iter().cloned());
    if !plan.refusals.is_empty() && !mapping.libraries.is_empty() {
        return plan;
    }
    let shims = Shims::new(&mapping, forwards);
    let mut edits: BTreeMap<TreePath, Vec<Edit>> = packages.edits;
    let shared = (&mapping, &shims);
    let (needs, behind) = work_out(shared, &structure, changes, &mut edits, &mut plan);
    structure.put_heads(&packages.heads);
    let mut placing = Placing::new(&mapping, &structure, &needs, &shims, edits);
    placing.behind = behind;
    plan.creates = placing.place();
    placing.finish(&mut plan);
    plan.moves = moves(&structure);
    plan.deletes = structure.deletes.iter().cloned().collect();
    shims.leave(texts, &mut plan);
    plan
}

/// Spells anew what the files of the tree name, and gives the paths in quoted code of which all is known.
fn respell(
    mapping: &Mapping<'_>,
    structure: &Structure,
    needs: &mut Needs,
    edits: &mut BTreeMap<TreePath, Vec<Edit>>,
    plan: &mut LanguagePlan,
) -> BTreeSet<(TreePath, ByteSpan)> {
    let set = Set::empty(mapping, &[]);
    let mut scan = scan::scan(&set, structure);
    items::imports::settle(&set, &mut scan, &items::shims::Shims::default());
    let mut idle = idle_globs::find(mapping);
    let imports = idle_imports::find(mapping);
    for (file, leaf) in imports.spent {
        let changes = idle.changes.entry(file).or_default();
        changes.insert(leaf, idle_globs::Idle::Goes);
    }
    plan.unproven.extend(imports.unproven);
    plan.refusals.extend(idle.refusals);
    plan.unproven.extend(idle.unproven);
    for (file, changes) in idle.changes {
        let work = scan.files.entry(file).or_default();
        for (leaf, idle) in changes {
            match idle {
                idle_globs::Idle::Goes => _ = work.leaves.entry(leaf).or_insert(LeafChange::Drop),
                idle_globs::Idle::Narrows(edit) => work.edits.push(edit),
            }
        }
    }
    add(edits, scan.edits(&set, structure));
    let settled = std::mem::take(&mut scan.told.settled);
    needs.extend(tell(plan, scan.told));
    settled
}

/// What bodies of macros name, for those who call them.
fn expand(
    mapping: &Mapping<'_>,
    needs: &mut Needs,
    edits: &mut BTreeMap<TreePath, Vec<Edit>>,
    plan: &mut LanguagePlan,
) {
    let expanded = expansions::settle(mapping, None, edits);
    needs.extend(expanded.needs);
    plan.rewrites.extend(expanded.rewrites);
    plan.unproven.extend(expanded.unproven);
    add(edits, expanded.edits);
}

/// What cannot stay as it is: conditions, what does not fit, names that meet.
fn forbid(mapping: &Mapping<'_>, structure: &Structure, needs: &Needs, plan: &mut LanguagePlan) {
    plan.refusals.extend(needs.conditions(mapping));
    plan.refusals.extend(given_macros::of_modules(mapping));
    let fits = fits::check(mapping);
    plan.refusals.extend(fits.refusals);
    plan.notes.extend(fits.notes);
    plan.refusals.extend(collide::check(mapping, structure));
}

/// What the manifests of packages have to say.
fn depend(
    mapping: &Mapping<'_>,
    needs: &Needs,
    edits: &mut BTreeMap<TreePath, Vec<Edit>>,
    plan: &mut LanguagePlan,
) {
    let dependencies = cargo::depend(mapping, needs, std::mem::take(edits));
    plan.refusals.extend(dependencies.refusals);
    plan.notes.extend(dependencies.notes);
    plan.rewrites.extend(dependencies.rewrites);
    plan.unproven.extend(dependencies.unproven);
    *edits = dependencies.edits;
}

/// What a pass over sites has to say; what it asks for is given back.
fn tell(plan: &mut LanguagePlan, told: Told) -> Vec<Need> {
    plan.rewrites.extend(told.rewrites);
    plan.not_rewritten.extend(told.not_rewritten);
    plan.unproven.extend(told.unproven);
    plan.refusals.extend(told.refusals);
    told.needs
}

fn add(edits: &mut BTreeMap<TreePath, Vec<Edit>>, more: BTreeMap<TreePath, Vec<Edit>>) {
    for (path, made) in more {
        edits.entry(path).or_default().extend(made);
    }
}

/// The visibilities that the new places ask for.
fn widen(
    mapping: &Mapping<'_>,
    needs: &mut Needs,
    edits: &mut BTreeMap<TreePath, Vec<Edit>>,
    plan: &mut LanguagePlan,
) {
    let relocated = Relocation::new(&Set::empty(mapping, &[])).settle();
    plan.refusals.extend(relocated.refusals);
    plan.unproven.extend(relocated.unproven);
    plan.notes.extend(relocated.notes);
    needs.extend(relocated.needs);
    add(edits, relocated.edits);
    needs.extend(shims::needs(mapping));
    for kept in [
        exported_macros::keep(mapping),
        exported_macros::beside_globs(mapping),
    ] {
        needs.extend(kept.needs);
        add(edits, kept.edits);
    }
    widen_needs(mapping, needs, edits, plan);
}

/// The visibilities that needs ask for.
fn widen_needs(
    mapping: &Mapping<'_>,
    needs: &Needs,
    edits: &mut BTreeMap<TreePath, Vec<Edit>>,
    plan: &mut LanguagePlan,
) {
    let widened = needs.widenings(mapping);
    plan.notes.extend(widened.notes);
    plan.refusals.extend(widened.refusals);
    add(edits, widened.edits);
    add(
        edits,
        conditions::undocumented(mapping, &needs.shown(mapping)),
    );
}

fn moves(structure: &Structure) -> Vec<FileMove> {
    let pairs = structure.files.iter();
    pairs
        .map(|(from, to)| FileMove {
            from: from.clone(),
            to: to.clone(),
        })
        .collect()
}

/// The references of a piece of code, and the edits that follow.
pub(crate) fn rewrite_fragment(
    graph: &RustGraph,
    changes: &[Change],
    code: &str,
) -> Vec<(Rewrite, Edit)> {
    let mapping = Mapping::new(&graph.world, changes, &fragment::NoTexts);
    fragment::rewrite(&mapping, code)
}
