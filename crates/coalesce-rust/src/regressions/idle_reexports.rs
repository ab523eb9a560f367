//! Public imports of modules that others could reach and can no more: the compiler asks who goes through them.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{
    Tree,
    hidden_names::{is_code, modules_shown_by_globs},
    is_open_module, said_anew,
};
use crate::{
    facts::{LeafKind, ScopeId, SourceFacts, VisibilityKind},
    lints,
    resolve::{FileId, ModuleId, World},
};

/// The module with an import, and what that says.
type Key = (String, String);

/// A public import that others cannot reach.
struct Unreached {
    file: FileId,
    leaf: u32,
    span: ByteSpan,
}

/// Such imports that the tree before has not, and that nothing in the tree goes through.
pub(crate) fn idle_reexports(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let now = unreached(after.world);
    if now.is_empty() {
        return Vec::new();
    }
    let then = unreached(before.world);
    let lint = ["unused_imports", "unused", "warnings"];
    let mut new = said_anew(&now, &then);
    new.retain(|(_, one)| {
        !lints::is_off(after.world, (one.file, one.span.start), &lint, after.texts)
    });
    if new.is_empty() {
        return Vec::new();
    }
    let used = imports_used(after.world);
    let idle = new
        .into_iter()
        .filter(|(_, one)| !used.contains(&(one.file, one.leaf)));
    let told = idle.map(|(said, one)| Unproven {
        path: after.world[one.file].path.clone(),
        span: Some(one.span),
        kind: UnprovenKind::LeftUnused,
        name: said.to_owned(),
        why: "others could reach this import where it was and cannot any more, and nothing here goes through it: the \
              compiler warns of that"
            .to_owned(),
    });
    told.collect()
}

/// The public imports of modules that others cannot name.
fn unreached(world: &World) -> BTreeMap<Key, Unreached> {
    // What a glob brings to where others see it is reached there.
    let shown = modules_shown_by_globs(world);
    let mut found = BTreeMap::new();
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        for body in &source.bodies {
            let body = &world[*body];
            let leaves = (0_u32..).zip(&facts.leaves);
            for (at, leaf) in leaves.filter(|(at, _)| is_public_in(facts, *at, body.scope)) {
                let module = body.module;
                if shown.contains(&module) || is_open_module(world, module) {
                    continue;
                }
                let last = facts.segments(leaf.segments).last();
                let last = last.map_or("", |one| facts.name(one.name));
                // The way there changes with the place.
                let said = match leaf.kind {
                    LeafKind::Glob => format!("{last}::*"),
                    _ => last.to_owned(),
                };
                let key = (world[module].canonical.clone(), said);
                let (leaf, span) = (at, leaf.span);
                found.insert(key, Unreached { file, leaf, span });
            }
        }
    }
    found
}

/// Whether a leaf is a plainly public import of a module's body.
fn is_public_in(facts: &SourceFacts, leaf: u32, scope: ScopeId) -> bool {
    let declaration = facts.declaration_of(leaf);
    declaration.scope == scope
        && declaration.visibility.kind == VisibilityKind::Public
        && is_code(facts, leaf)
}

/// The imports that paths of the tree go through.
fn imports_used(world: &World) -> BTreeSet<(FileId, u32)> {
    let mut found = BTreeSet::new();
    for (_, source) in world.sources() {
        world.visit_file(source, &mut |_, site| {
            found.extend(site.trace.steps.iter().filter_map(|step| step.import));
        });
    }
    // A glob that is gone through goes through those that lead on to it.
    loop {
        let further = through_globs(world, &found);
        let count = found.len();
        found.extend(further);
        if found.len() == count {
            return found;
        }
    }
}

/// The imports by which what globs lead to has its names.
fn through_globs(world: &World, used: &BTreeSet<(FileId, u32)>) -> Vec<(FileId, u32)> {
    let targets: BTreeSet<ModuleId> = used
        .iter()
        .filter_map(|one| world.glob_target(*one))
        .collect();
    let bindings = targets
        .iter()
        .flat_map(|target| world.space(*target).names.values().flatten());
    bindings.filter_map(|one| one.import).collect()
}
