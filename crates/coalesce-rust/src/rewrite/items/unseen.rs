//! Who has what moves without saying its name: calls of macros whose texts say it, documents that have it
//! by a glob, and method calls that a trait comes to where it arrives.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{
    moving::{Moving, Set},
    taken::GlobUsers,
};
use crate::{
    facts::{ItemKind, LeafKind, Origin},
    lexer,
    resolve::{FileId, ItemId, ModuleId, Res},
    rewrite::{fits::dotted, traits},
};

/// All such places.
pub(super) fn places(set: &Set<'_>) -> Vec<Unproven> {
    let mut found = macro_calls(set);
    found.extend(documents(set));
    found.extend(methods(set));
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
fn macro_calls(set: &Set<'_>) -> Vec<Unproven> {
    let world = set.world();
    let mut found = Vec::new();
    let saying = macros_that_say(set);
    if saying.is_empty() {
        return found;
    }
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        for call in &facts.macro_calls {
            let path = facts.segments(facts.path(call.path).segments);
            let Some(last) = path.last() else { continue };
            let name = facts.name(last.name);
            let said = saying
                .get(name)
                .filter(|_| set.chunk_at(file, last.span.start).is_none());
            let Some(said) = said else { continue };
            for load in &source.loads {
                let spaces = &world.load(*load as usize).spaces;
                let Some(space) = spaces.get(call.scope.0 as usize) else {
                    continue;
                };
                let module = world.module_of(*space);
                for moving in said.iter().flat_map(|said| by_glob(set, said, module)) {
                    let (old, from) = (&world[moving.item].name, &moving.change.from);
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

/// What moves and a glob brings to a module by its old name.
fn by_glob<'s>(
    set: &'s Set<'_>,
    old: &str,
    module: ModuleId,
) -> impl Iterator<Item = &'s Moving<'s>> {
    let bindings = set.world().bindings(module, old).iter();
    let items = bindings
        .filter(|one| one.glob)
        .filter_map(|one| match one.res {
            Res::Item(item) => set.of(item),
            _ => None,
        });
    items.map(|at| set.moving(at))
}

/// The macros whose texts say the name of something that moves by itself, with those names.
fn macros_that_say(set: &Set<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let world = set.world();
    let moving = set.moving.iter();
    let old: BTreeSet<&str> = moving.map(|moving| &*world[moving.item].name).collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        if !facts.names.iter().any(|known| old.contains(&**known)) {
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
            let mut follows_path = false;
            for token in lexer::tokens(&text, body) {
                let word = token.span.of(&text).unwrap_or_default();
                if !follows_path && token.is_ident() && old.contains(word) {
                    let name = facts.name(item.name.name).to_owned();
                    found.entry(name).or_default().insert(word.to_owned());
                }
                follows_path = token.is(b':') || token.is(b'.') || token.is(b'$');
            }
        }
    }
    found
}

/// Code in documents that has what moves by a glob of its old module.
fn documents(set: &Set<'_>) -> Vec<Unproven> {
    let world = set.world();
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
            if !step.glob || site.origin != Origin::DocCode {
                return;
            }
            let name = facts.name(first.name);
            let meant: BTreeSet<ItemId> = step
                .all()
                .filter_map(|(res, _)| match res {
                    Res::Item(item) if world[item].name == name => Some(item),
                    _ => None,
                })
                .collect();
            for at in meant.into_iter().filter_map(|item| set.of(item)) {
                let from = &set.moving(at).change.from;
                let why = format!("a glob brings `{from}` to this code, and will not");
                let kind = (UnprovenKind::MacroBuiltPath, name);
                found.push(unproven(set, (file, first.span), kind, why));
            }
        });
    }
    found
}

/// Calls of methods that a trait has as well, where it comes into scope by a glob or by arriving.
fn methods(set: &Set<'_>) -> Vec<Unproven> {
    let traits = set.moving.iter().filter(|one| one.kind == ItemKind::Trait);
    let traits: Vec<&Moving<'_>> = traits.collect();
    let mut found = Vec::new();
    if traits.is_empty() {
        return found;
    }
    let globs = GlobUsers::of(set);
    let mut scopes: BTreeMap<ModuleId, TraitsInScope> = BTreeMap::new();
    for moving in traits {
        let Some(home) = set.mapping.at(&moving.to) else {
            continue;
        };
        let own = members(set, moving.item);
        for user in globs.with_all_of(home) {
            let scope = scopes
                .entry(user)
                .or_insert_with(|| TraitsInScope::of(set, user));
            if !scope.traits.contains(&moving.item) {
                found.extend(scope.calls(set, moving, &own));
            }
        }
    }
    found
}

/// The names of the functions and constants of a trait.
fn members(set: &Set<'_>, item: ItemId) -> BTreeSet<String> {
    let read = traits::read(set.world(), item, set.mapping.texts);
    read.into_iter().flat_map(|(own, _)| own).collect()
}

/// The traits that a module names before, and the calls in it that may be of their methods.
struct TraitsInScope {
    traits: BTreeSet<ItemId>,
    /// The first call of each method of one of them, in each file.
    calls: BTreeMap<String, Vec<(FileId, ByteSpan)>>,
}

impl TraitsInScope {
    fn of(set: &Set<'_>, user: ModuleId) -> Self {
        let world = set.world();
        let traits: BTreeSet<ItemId> = world.traits_in_scope(user).collect();
        let names = traits.iter().flat_map(|item| members(set, *item));
        let names: BTreeSet<String> = names.collect();
        let mut calls: BTreeMap<String, Vec<(FileId, ByteSpan)>> = BTreeMap::new();
        for body in world.bodies_of(user).filter(|_| !names.is_empty()) {
            let Some(text) = set.mapping.texts.text(&world[body.file].path) else {
                continue;
            };
            let scope = world.facts(body.file).scope(body.scope).span;
            let mut told = BTreeSet::new();
            for (span, name) in dotted(&text) {
                if scope.contains(span) && names.contains(name) && told.insert(name) {
                    let places = calls.entry(name.to_owned()).or_default();
                    places.push((body.file, span));
                }
            }
        }
        Self { traits, calls }
    }

    /// In each file the first call that may be of what a trait brings.
    fn calls(&self, set: &Set<'_>, moving: &Moving<'_>, own: &BTreeSet<String>) -> Vec<Unproven> {
        let mut first: BTreeMap<FileId, (ByteSpan, &str)> = BTreeMap::new();
        for name in own {
            for (file, span) in self.calls.get(name).into_iter().flatten() {
                let known = first.entry(*file).or_insert((*span, name));
                *known = (*known).min((*span, name));
            }
        }
        let why = format!(
            "`{}` has it too, and comes into scope here",
            set.name_after(moving)
        );
        let told = first.into_iter().map(|(file, (span, name))| {
            let kind = (UnprovenKind::UnknownType, name);
            unproven(set, (file, span), kind, why.clone())
        });
        told.collect()
    }
}
