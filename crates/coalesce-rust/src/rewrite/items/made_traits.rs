//! Imports that lead to what a macro makes: that may be a trait, whose methods are called without its name.

use coalesce_model::{Unproven, UnprovenKind};

use super::moving::Set;
use crate::{
    facts::{LeafKind, Origin, UseLeaf, VisibilityKind},
    resolve::{BodyId, FileId},
    rewrite::traits,
};

/// Private imports of modules that something leaves which calls methods, where nobody knows what they bring:
/// whether they are needed there, here, or on both sides.
pub(super) fn unknown(set: &Set<'_>) -> Vec<Unproven> {
    let world = set.world();
    let mut found = Vec::new();
    for moved in &set.moving {
        if moved.to == set.mapping.after(moved.home) {
            continue;
        }
        for id in &world[moved.home].bodies {
            let file = world[id].file;
            let path = set.path(file);
            let Some(text) = set.mapping.texts.text(&path) else {
                continue;
            };
            let mut chunks = set.chunks.iter().filter(|chunk| chunk.file == file);
            let calls = chunks.any(|chunk| {
                let same = set.moving(chunk.moving).home == moved.home;
                same && traits::calls_unknown(&traits::method_names(&text, chunk.span))
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
    let brings = move |import: (FileId, u32)| {
        let mut names = world.space(body.module).names.values().flatten();
        names.any(|one| one.import == Some(import))
    };
    let leaves = (0_u32..).zip(&facts.leaves);
    leaves
        .filter(move |(at, leaf)| {
            let declaration = facts.declaration(leaf.declaration);
            leaf.kind == LeafKind::Name
                && declaration.scope == body.scope
                && declaration.origin == Origin::Code
                && declaration.visibility.kind == VisibilityKind::Private
                && !brings((file, *at))
        })
        .map(|(_, leaf)| leaf)
}
