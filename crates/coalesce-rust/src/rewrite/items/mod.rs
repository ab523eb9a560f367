//! Moving and replacing single items: functions, types, traits, constants, statics, macros.
//!
//! The text of a definition goes with the comments above it and with the `impl`s of its type that
//! stand in the same module. What it names is imported in its new module or spelled out; its old
//! module imports it back where it goes on naming it; imports that nobody needs go. `macro_rules!`
//! are found by path once they have moved.

pub(super) mod arrive;
mod bare_calls;
pub(super) mod bodies;
mod called;
mod conditions;
mod expansions;
pub(super) mod facades;
mod forward;
mod handed;
pub(super) mod imports;
mod macros;
mod made_traits;
pub(super) mod moving;
pub(super) mod orphans;
pub(super) mod replace;
mod rules;
pub(super) mod shims;
mod taken;
mod unseen;
mod visibility;

pub(super) use forward::reexport_of_macro;
pub(crate) use rules::is_exported;
pub(super) use rules::{imports, is_attribute, is_redefined};

pub(super) use imports::between;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Change, Edit, Finding, LanguagePlan, Texts, TreePath, Unproven, UnprovenKind,
};

use self::moving::Set;
use super::{
    add,
    declarations::Placing,
    depend,
    mapping::Mapping,
    needs::{Needs, Subject},
    packages,
    relocation::Relocation,
    scan::{self, Scan},
    shims::Shims as ModuleShims,
    structure::Structure,
    tell, unproven, widen_needs as widen,
};
use crate::{RustGraph, resolve::FileId};

/// What is edited in each file.
type EditsByFile = BTreeMap<TreePath, Vec<Edit>>;

/// Works the changes out. Of the modules named in `homes`, nothing stays: every `impl` in them goes
/// along, also with what another definition takes the place of.
pub(super) fn rewrite(
    graph: &RustGraph,
    changes: &[Change],
    homes: &[String],
    texts: &dyn Texts,
) -> LanguagePlan {
    let mapping = Mapping::new(&graph.world, changes, texts);
    let mut plan = LanguagePlan::default();
    let set = Set::new(&mapping, homes);
    plan.refusals.extend(set.refusals.iter().cloned());
    if !plan.refusals.is_empty() {
        return plan;
    }
    let structure = arrive::made(&set);
    plan.notes.extend(structure.notes.iter().cloned());
    plan.refusals.extend(closed(&set, &structure));
    let mut scan = scan::scan(&set, &structure);
    bodies::settle(&set, &mut scan);
    let shims = shims::write(&set, &scan);
    plan.notes.extend(shims.notes.iter().cloned());
    let imports = imports::settle(&set, &mut scan, &shims);
    let (edits, undocumented) = edits_in_place(&set, &structure, &mut scan, &mut plan);
    let settled = std::mem::take(&mut scan.told.settled);
    tell(&mut plan, std::mem::take(&mut scan.told));
    plan.unproven
        .extend(unproven::places(&graph.world, (changes, &settled), texts));
    let (arriving, scanned) = ((&imports, &shims), (&scan, &undocumented));
    let (needs, kept) = (Needs::default(), ModuleShims::default());
    let mut placing = Placing::new(&mapping, &structure, &needs, &kept, edits);
    plan.creates = arrive::arrive(&set, &mut placing, arriving, scanned);
    placing.finish(&mut plan);
    plan.edits = plan
        .edits
        .into_iter()
        .map(|(path, edits)| (path, merged(edits)))
        .collect();
    plan.refusals.sort();
    plan.refusals.dedup();
    plan
}

/// What comes to modules into which nothing can be put.
fn closed(set: &Set<'_>, structure: &Structure) -> Vec<Finding> {
    let arriving = set.moving.iter().filter(|moving| !moving.gives_way());
    let closed = arriving.filter_map(|moving| arrive::closed(set, structure, &moving.to));
    closed.collect()
}

/// What is edited where it stands, with what is refused and told of it, and the texts that come to be shown
/// without docs.
fn edits_in_place(
    set: &Set<'_>,
    structure: &Structure,
    scan: &mut Scan,
    plan: &mut LanguagePlan,
) -> (EditsByFile, BTreeSet<(FileId, ByteSpan)>) {
    let mapping = set.mapping;
    plan.unproven.extend(unproven_items(set, scan));
    let more = replace::needs(set, scan);
    scan.told.needs.extend(more);
    let crossing = super::crossing::of_items(set);
    crossing.tell(plan);
    plan.refusals.extend(forbidden(set, scan));
    let visible = visible(set, scan, plan);
    let mut edits = scan.edits(set, structure);
    let undocumented = conditions::undocumented(set, &visible.shown);
    take_out_within(&mut edits, &visible.edits);
    add(&mut edits, visible.edits);
    let needs = needs(set, scan);
    let lost = visibility::lost(set, &needs.shown(mapping));
    plan.notes.extend(lost);
    widen(mapping, &needs, &mut edits, plan);
    depend(mapping, &needs, &mut edits, plan);
    if plan.refusals.is_empty() {
        match packages::grant(mapping, &crossing.wishes, &mut edits) {
            Ok(unproven) => plan.unproven.extend(unproven),
            Err(refused) => plan.refusals.push(refused),
        }
    }
    (edits, undocumented)
}

/// Takes out what would be spelled anew inside of a visibility that is written as a whole: `pub(in crate::old)`.
fn take_out_within(edits: &mut EditsByFile, visible: &EditsByFile) {
    for (path, whole) in visible {
        let is_within = |one: &Edit| {
            let mut around = whole.iter();
            around.any(|other| other.span != one.span && other.span.contains(one.span))
        };
        if let Some(own) = edits.get_mut(path) {
            own.retain(|one| one.span.is_empty() || !is_within(one));
        }
    }
}

/// What reading the definitions that move and their users does not prove.
fn unproven_items(set: &Set<'_>, scan: &Scan) -> Vec<Unproven> {
    let mut found = guessed(set, scan);
    found.extend(made_traits::unknown(set));
    found.extend(taken::macro_words(set));
    found.extend(unseen::places(set));
    found
}

/// What cannot move, as only items are asked.
fn forbidden(set: &Set<'_>, scan: &Scan) -> Vec<Finding> {
    let mut found = macros::check(set, scan);
    found.extend(macros::fragments(set));
    found.extend(macros::given_by_crates(set));
    found.extend(handed::check(set, scan));
    found.extend(replace::check(set));
    found.extend(conditions::check(set, scan));
    found.extend(taken::check(set));
    found
}

/// What is seen after, what may not be there, and what came without a word.
fn visible(set: &Set<'_>, scan: &mut Scan, plan: &mut LanguagePlan) -> visibility::ItemVisibility {
    let relocated = Relocation::new(set).settle();
    plan.refusals.extend(relocated.refusals);
    plan.unproven.extend(relocated.unproven);
    scan.told.needs.extend(relocated.needs);
    let mut visible = visibility::widen(set, scan);
    for (file, at) in relocated.public {
        let chunk = set.chunk_at(file, at);
        visible.shown.extend(chunk.map(|one| (one.file, one.span)));
    }
    add(&mut visible.edits, relocated.edits);
    visible.notes.extend(relocated.notes);
    visible.notes.sort();
    visible.notes.dedup();
    plan.notes.append(&mut visible.notes);
    visible
}

/// Imports that stand on both sides because method calls there may need them.
fn guessed(set: &Set<'_>, scan: &Scan) -> Vec<Unproven> {
    let imports = scan.guessed.iter();
    let imports = imports.filter_map(|import| guessed_import(set, *import));
    let calls = scan.guessed_calls.iter();
    let calls = calls.map(|(file, span, name)| guessed_call(set, (*file, *span), name));
    imports.chain(calls).collect()
}

fn guessed_import(set: &Set<'_>, (file, leaf): (FileId, u32)) -> Option<Unproven> {
    let facts = set.world().facts(file);
    let leaf = facts.leaf(leaf);
    let name = facts.segments(leaf.segments).last()?;
    let name = facts.name(name.name);
    Some(Unproven {
        path: set.path(file),
        span: Some(leaf.span),
        kind: UnprovenKind::UnknownType,
        name: name.to_owned(),
        why: format!(
            "methods are called here and in what moves, and which of them `{name}` gives is not \
             known: both import it"
        ),
    })
}

fn guessed_call(set: &Set<'_>, (file, span): (FileId, ByteSpan), name: &str) -> Unproven {
    Unproven {
        path: set.path(file),
        span: Some(span),
        kind: UnprovenKind::UnknownType,
        name: name.to_owned(),
        why: format!(
            "methods are called here on what nobody can follow, and whether one of them is of `{name}`, \
             which is imported for them, is not known"
        ),
    }
}

/// Edits, deletions that overlap made one.
pub(crate) fn merged(edits: Vec<Edit>) -> Vec<Edit> {
    let mut result: Vec<Edit> = Vec::new();
    for edit in edits {
        if !result.last_mut().is_some_and(|last| last.takes_in(&edit)) {
            result.push(edit);
        }
    }
    result
}

/// What has to be seen, apart from what moves: that is written anew.
fn needs(set: &Set<'_>, scan: &mut Scan) -> Needs {
    let mut all = std::mem::take(&mut scan.told.needs);
    all.retain(|need| !matches!(need.subject, Subject::Item(item) if set.of(item).is_some()));
    let mut needs = Needs::default();
    needs.extend(all);
    needs
}
