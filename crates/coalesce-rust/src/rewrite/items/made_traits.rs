//! Imports that lead to what a macro makes: that may be a trait, whose methods are called without its name.

use std::collections::BTreeSet;

use coalesce_model::{Unproven, UnprovenKind};

use super::moving::{Moving, Set};
use crate::{
    facts::{LeafKind, Origin, UseLeaf, VisibilityKind},
    resolve::{BodyId, FileId, ModuleId},
    rewrite::{macro_methods::called_names, traits},
};

/// Private imports of modules that something leaves which calls methods, where nobody knows what they bring:
/// whether they are needed there, here, or on both sides.
pub(super) fn unknown(set: &Set<'_>) -> Vec<Unproven> {
    let world = set.world();
    let mut found = Vec::new();
    let leaves = |moved: &&Moving<'_>| moved.to != set.mapping.after(moved.home);
    let homes: BTreeSet<ModuleId> = set
        .moving
        .iter()
        .filter(leaves)
        .map(|one| one.home)
        .collect();
    for home in homes {
        for id in &world[home].bodies {
            let file = world[id].file;
            let path = set.path(file);
            let Some(text) = set.mapping.texts.text(&path) else {
                continue;
            };
            let mut chunks = set.chunks.iter().filter(|chunk| chunk.file == file);
            let calls = chunks.any(|chunk| {
                let same = set.moving(chunk.moving).home == home;
                let called = called_names(world, set.mapping.texts, &text, chunk.span);
                same && traits::calls_unknown(called.iter().map(String::as_str))
            });
            if !calls {
                continue;
            }
            for leaf in leading_nowhere(set, *id) {
                let facts = world.facts(file);
                let name = facts.segments(leaf.segments).last();
                let name = name.map_or("_", |name| facts.name(name.name));
                found.push(Unproven {
                    path: path.clone(),
                    span: Some(leaf.span),
                    kind: UnprovenKind::UnknownType,
                    name: name.to_owned(),
                    why: format!(
                        "a macro makes `{name}`, and whether it is a trait whose methods are called here, or in what \
                         moves, is not known"
                    ),
                });
            }
        }
    }
    found.sort();
    found.dedup();
    found
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
