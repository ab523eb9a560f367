//! Who has what moves without saying its name: calls of macros whose texts say it, documents that have it
//! by a glob, and method calls that a trait comes to where it arrives.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{
    moving::{Moving, Set},
    taken::with_all_of,
};
use crate::{
    facts::{ItemKind, LeafKind, Origin},
    lexer,
    resolve::{FileId, ItemId, ModuleId, Res},
    rewrite::traits,
};

/// All such places.
pub(super) fn places(set: &Set<'_>) -> Vec<Unproven> {
    let mut found = Vec::new();
    for moving in &set.moving {
        found.extend(macro_calls(set, moving));
        found.extend(documents(set, moving));
        if moving.kind == ItemKind::Trait {
            found.extend(methods(set, moving));
        }
    }
    found
}

fn unproven(
    set: &Set<'_>,
    (file, span): (FileId, ByteSpan),
    (kind, name): (UnprovenKind, &str),
    why: String,
) -> Unproven {
    Unproven {
        path: set.path(file),
        span: Some(span),
        kind,
        name: name.to_owned(),
        why,
    }
}

/// Calls of macros whose texts say the plain name of what moves, where a glob brings it.
fn macro_calls(set: &Set<'_>, moving: &Moving<'_>) -> Vec<Unproven> {
    let world = set.world();
    let old = &world[moving.item].name;
    let saying = macros_that_say(set, old);
    let mut found = Vec::new();
    if saying.is_empty() {
        return found;
    }
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        for call in &facts.macro_calls {
            let path = facts.segments(facts.path(call.path).segments);
            let Some(last) = path.last() else { continue };
            let name = facts.name(last.name);
            if !saying.contains(name) || set.chunk_at(file, last.span.start).is_some() {
                continue;
            }
            for load in &source.loads {
                let spaces = &world.load(*load as usize).spaces;
                let Some(space) = spaces.get(call.scope.0 as usize) else {
                    continue;
                };
                if has_by_glob(set, moving, world.module_of(*space)) {
                    let from = &moving.change.from;
                    let why = format!(
                        "`{name}!` says `{old}`, and a glob brings `{from}` here, which it will not"
                    );
                    let kind = (UnprovenKind::MacroBuiltPath, name);
                    found.push(unproven(set, (file, last.span), kind, why));
                }
            }
        }
    }
    found
}

fn has_by_glob(set: &Set<'_>, moving: &Moving<'_>, module: ModuleId) -> bool {
    let old = &set.world()[moving.item].name;
    let mut bindings = set.world().bindings(module, old).iter();
    bindings.any(|one| one.glob && one.res == Res::Item(moving.item))
}

/// The macros whose texts say a name by itself.
fn macros_that_say(set: &Set<'_>, name: &str) -> BTreeSet<String> {
    let world = set.world();
    let mut found = BTreeSet::new();
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        if !facts.names.iter().any(|known| **known == *name) {
            continue;
        }
        let macros = facts.items.iter();
        let mut macros = macros
            .filter(|item| item.kind == ItemKind::Macro)
            .peekable();
        if macros.peek().is_none() {
            continue;
        }
        let Some(text) = set.mapping.texts.text(&source.path) else {
            continue;
        };
        for item in macros {
            let body = ByteSpan::new(item.signature.end, item.span.end);
            let mut before = None;
            let said = lexer::tokens(&text, body).into_iter().any(|token| {
                let part = before
                    .replace(token)
                    .is_some_and(|one: lexer::Token| one.is(b':') || one.is(b'.') || one.is(b'$'));
                !part && token.is_ident() && token.span.of(&text) == Some(name)
            });
            if said {
                found.insert(facts.name(item.name.name).to_owned());
            }
        }
    }
    found
}

/// Code in documents that has what moves by a glob of its old module.
fn documents(set: &Set<'_>, moving: &Moving<'_>) -> Vec<Unproven> {
    let world = set.world();
    let old = &world[moving.item].name;
    let mut found = Vec::new();
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        let mut globs = facts.leaves.iter().filter(|leaf| {
            let origin = facts.declaration(leaf.declaration).origin;
            leaf.kind == LeafKind::Glob && origin == Origin::DocCode
        });
        if globs.next().is_none() {
            continue;
        }
        world.visit_file(source, &mut |facts, site| {
            let (Some(first), Some(step)) = (site.segments.first(), site.trace.steps.first())
            else {
                return;
            };
            let meant = step.all().any(|(res, _)| res == Res::Item(moving.item));
            let glob = step.glob && site.origin == Origin::DocCode;
            if glob && meant && facts.name(first.name) == old {
                let from = &moving.change.from;
                let why = format!("a glob brings `{from}` to this code, and will not");
                let kind = (UnprovenKind::MacroBuiltPath, old.as_str());
                found.push(unproven(set, (file, first.span), kind, why));
            }
        });
    }
    found
}

/// Calls of methods that the trait has as well, where it comes into scope by a glob or by arriving.
fn methods(set: &Set<'_>, moving: &Moving<'_>) -> Vec<Unproven> {
    let world = set.world();
    let texts = set.mapping.texts;
    let Some(home) = set.mapping.at(&moving.to) else {
        return Vec::new();
    };
    let members = |item: ItemId| -> BTreeSet<String> {
        let read = traits::read(world, item, texts);
        read.into_iter().flat_map(|(own, _)| own).collect()
    };
    let own = members(moving.item);
    let mut others: BTreeMap<ItemId, BTreeSet<String>> = BTreeMap::new();
    let mut found = Vec::new();
    for user in with_all_of(set, home) {
        let bound = world.space(user).names.values().flatten();
        let in_scope: BTreeSet<ItemId> = bound
            .filter_map(|one| match one.res {
                Res::Item(item) if world[item].kind == ItemKind::Trait => Some(item),
                _ => None,
            })
            .collect();
        if in_scope.contains(&moving.item) {
            continue;
        }
        let mut both = BTreeSet::new();
        for other in in_scope {
            let known = others.entry(other).or_insert_with(|| members(other));
            both.extend(known.intersection(&own).cloned());
        }
        for body in world.bodies_of(user).filter(|_| !both.is_empty()) {
            let Some(text) = texts.text(&world[body.file].path) else {
                continue;
            };
            let scope = world.facts(body.file).scope(body.scope).span;
            let called = super::super::fits::dotted(&text).into_iter();
            let mut called =
                called.filter(|(span, name)| scope.contains(*span) && both.contains(*name));
            if let Some((span, name)) = called.next() {
                let after = set.name_after(moving);
                let why = format!("`{after}` has it too, and comes into scope here");
                let kind = (UnprovenKind::UnknownType, name);
                found.push(unproven(set, (body.file, span), kind, why));
            }
        }
    }
    found
}
