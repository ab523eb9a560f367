//! Imports that lead to what a macro makes: that may be a trait, whose methods are called without its name.

use std::collections::BTreeSet;

use coalesce_model::{TreePath, Unproven, UnprovenKind};

use super::moving::{Moving, Set};
use crate::{
    facts::{LeafKind, Origin, SourceFacts, UseLeaf, VisibilityKind},
    resolve::{BodyId, FileId, ModuleId},
    rewrite::{macro_methods::called_names, traits},
};

/// Private imports of modules that something leaves which calls methods, where nobody knows what they bring:
/// whether they are needed there, here, or on both sides.
pub(super) fn unknown(set: &Set<'_>) -> Vec<Unproven> {
    let leaves = |moved: &&Moving<'_>| moved.to != set.mapping.after(moved.home);
    let leaving = set.moving.iter().filter(leaves);
    let homes: BTreeSet<ModuleId> = leaving.map(|one| one.home).collect();
    let mut found = Vec::new();
    for home in homes {
        let bodies = set.world()[home].bodies.iter();
        found.extend(bodies.flat_map(|body| unknown_in(set, home, *body)));
    }
    found.sort();
    found.dedup();
    found
}

/// Those of one text of a module.
fn unknown_in(set: &Set<'_>, home: ModuleId, body: BodyId) -> Vec<Unproven> {
    let world = set.world();
    let file = world[body].file;
    let path = set.path(file);
    let Some(text) = set.mapping.texts.text(&path) else {
        return Vec::new();
    };
    let mut chunks = set.chunks.iter().filter(|chunk| chunk.file == file);
    let calls = chunks.any(|chunk| {
        let same = set.moving(chunk.moving).home == home;
        let called = called_names(world, set.mapping.texts, &text, chunk.span);
        same && traits::calls_unknown(called.iter().map(String::as_str))
    });
    if !calls {
        return Vec::new();
    }
    let facts = world.facts(file);
    leading_nowhere(set, body)
        .map(|leaf| unproven(&path, facts, leaf))
        .collect()
}

fn unproven(path: &TreePath, facts: &SourceFacts, leaf: &UseLeaf) -> Unproven {
    let name = facts.segments(leaf.segments).last();
    let name = name.map_or("_", |name| facts.name(name.name));
    Unproven {
        path: path.clone(),
        span: Some(leaf.span),
        kind: UnprovenKind::UnknownType,
        name: name.to_owned(),
        why: format!(
            "a macro makes `{name}`, and whether it is a trait whose methods are called here, or in what \
             moves, is not known"
        ),
    }
}

/// The private imports of a body that bring nothing that is known.
fn leading_nowhere<'s>(set: &'s Set<'_>, id: BodyId) -> impl Iterator<Item = &'s UseLeaf> {
    let world = set.world();
    let body = &world[id];
    let (file, facts) = (body.file, world.facts(body.file));
    let names = world.space(body.module).names.values().flatten();
    let bringing: BTreeSet<(FileId, u32)> = names.filter_map(|one| one.import).collect();
    let leaves = (0_u32..).zip(&facts.leaves);
    leaves
        .filter(move |(at, leaf)| {
            let declaration = facts.declaration(leaf.declaration);
            leaf.kind == LeafKind::Name
                && declaration.scope == body.scope
                && declaration.origin == Origin::Code
                && declaration.visibility.kind == VisibilityKind::Private
                && !bringing.contains(&(file, *at))
        })
        .map(|(_, leaf)| leaf)
}
