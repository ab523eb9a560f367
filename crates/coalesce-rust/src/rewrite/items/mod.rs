//! Moving and replacing single items: functions, types, traits, constants, statics, macros.
//!
//! The text of a definition goes with the comments above it and with the `impl`s of its type that
//! stand in the same module. What it names is imported in its new module or spelled out; its old
//! module imports it back where it goes on naming it; imports that nobody needs go. `macro_rules!`
//! are found by path once they have moved.

mod arrive;
mod bodies;
mod conditions;
mod crossing;
mod facades;
mod forward;
mod imports;
mod links;
mod macros;
mod moving;
mod replace;
mod rules;
mod scan;
mod seen;
mod shims;
mod texts;
mod walk;

pub(super) use rules::{has_wide_import, is_attribute, is_exported};

use std::collections::BTreeMap;

use coalesce_model::{Change, Edit, LanguagePlan, Texts, TreePath};

use self::{moving::Set, scan::Scan};
use super::{
    add, cargo,
    declarations::joined,
    mapping::Mapping,
    sight::{Needs, Subject},
    use_tree, widen_needs as widen,
};
use crate::RustGraph;

/// Works the changes out.
pub(super) fn rewrite(graph: &RustGraph, changes: &[Change], texts: &dyn Texts) -> LanguagePlan {
    let mapping = Mapping::new(&graph.world, changes);
    let mut plan = LanguagePlan::default();
    let set = Set::new(&mapping, texts);
    plan.refusals.extend(set.refusals.iter().cloned());
    if !plan.refusals.is_empty() {
        return plan;
    }
    let structure = arrive::made(&set);
    plan.notes.extend(structure.notes.iter().cloned());
    plan.refusals.extend(
        set.moving
            .iter()
            .filter(|moving| !moving.gives_way())
            .filter_map(|moving| arrive::closed(&set, &structure, &moving.to)),
    );
    let mut scan = scan::scan(&set, texts);
    bodies::settle(&set, &mut scan);
    let shims = shims::write(&set, &scan, texts);
    plan.notes.extend(shims.notes.iter().cloned());
    let imports = imports::settle(&set, &mut scan, &shims, texts);
    plan.refusals.extend(macros::check(&set, &scan));
    plan.refusals.extend(macros::fragments(&set, texts));
    plan.refusals.extend(replace::check(&set, texts));
    plan.notes.extend(replace::differences(&set, texts));
    scan.needs.extend(replace::needs(&set, &scan));
    let crossing = crossing::check(&set, texts);
    plan.refusals.extend(crossing.refusals);
    plan.notes.extend(crossing.notes);
    plan.refusals.extend(conditions::check(&set, &scan, texts));
    texts::rewrite(&set, &structure, &mut scan);
    let sight = seen::widen(&set, &scan, texts);
    let mut edits = file_edits(&set, &scan, texts);
    let undocumented = conditions::undocumented(&set, &sight.shown, texts);
    add(&mut edits, sight.edits);
    plan.notes.extend(sight.notes);
    plan.refusals.extend(sight.refusals);
    let needs = needs(&set, &mut scan, sight.needs);
    widen(&mapping, texts, &needs, &mut edits, &mut plan);
    let dependencies = cargo::depend(&mapping, &needs, texts);
    add(&mut edits, dependencies.edits);
    plan.notes.extend(dependencies.notes);
    plan.refusals.extend(dependencies.refusals);
    plan.rewrites.extend(dependencies.rewrites);
    plan.refusals.append(&mut scan.refusals);
    plan.rewrites.append(&mut scan.rewrites);
    plan.not_rewritten.append(&mut scan.not_rewritten);
    let arrival = arrive::arrive(
        &set,
        &structure,
        (&imports, &shims),
        (&scan, &undocumented),
        edits,
        texts,
    );
    plan.refusals.extend(arrival.refusals);
    plan.rewrites.extend(arrival.rewrites);
    plan.creates = arrival.creates;
    plan.edits = arrival.edits;
    for edits in plan.edits.values_mut() {
        *edits = merged(joined(std::mem::take(edits)));
    }
    plan.refusals.sort();
    plan.refusals.dedup();
    plan
}

/// Deletions that meet or overlap, made one: two that go may both take the blank line between them.
fn merged(edits: Vec<Edit>) -> Vec<Edit> {
    let mut result: Vec<Edit> = Vec::new();
    for edit in edits {
        let goes = |edit: &Edit| edit.text.is_empty() && !edit.span.is_empty();
        match result.last_mut() {
            Some(last) if goes(last) && goes(&edit) && edit.span.start < last.span.end => {
                last.span = last.span.cover(edit.span);
            }
            _ => result.push(edit),
        }
    }
    result
}

/// What has to be seen, apart from what moves: that is written anew.
fn needs(set: &Set<'_>, scan: &mut Scan, more: Vec<super::sight::Need>) -> Needs {
    let mut all = std::mem::take(&mut scan.needs);
    all.extend(more);
    all.retain(|need| !matches!(need.subject, Subject::Item(item) if set.of(item).is_some()));
    let mut needs = Needs::default();
    needs.extend(all);
    needs
}

/// The edits that sites ask for, by file.
fn file_edits(set: &Set<'_>, scan: &Scan, texts: &dyn Texts) -> BTreeMap<TreePath, Vec<Edit>> {
    let mut found: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
    for (file, work) in &scan.files {
        let path = set.path(*file);
        let (Some(facts), Some(text)) = (set.world().facts(*file), texts.text(&path)) else {
            continue;
        };
        let edits = found.entry(path).or_default();
        edits.extend(work.edits.iter().cloned());
        for (at, declaration) in facts.uses.iter().enumerate() {
            let (first, last) = declaration.leaves;
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            let more: Vec<String> = work
                .besides
                .get(&at)
                .into_iter()
                .flatten()
                .cloned()
                .collect();
            if (first..last).any(|leaf| work.leaves.contains_key(&leaf)) || !more.is_empty() {
                let edit = use_tree::edit(facts, &text, declaration, &work.leaves, &more);
                edits.extend(edit);
            }
        }
        links::keep_short(facts, &text, edits);
    }
    found
}
