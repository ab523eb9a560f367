//! Methods that two traits in scope have: where a type has both, the compiler knows no longer which is called.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{Tree, is_changed, said_anew};
use crate::{
    lexer,
    resolve::{Body, ImplSite, ItemId, ModuleId, World, id},
    rewrite::{called_names, method_homes},
};

/// Traits that a module has in scope, with a method of one name.
struct Rivals {
    home: ModuleId,
    pairs: BTreeSet<(ItemId, ItemId)>,
}

/// Such traits by module and method.
type RivalsByMethod = BTreeMap<(String, String), Rivals>;

/// Calls that the tree before has not, or that only one trait in scope had a method for.
pub(crate) fn ambiguous_methods(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let world = after.world;
    let now = rivals(after);
    if now.is_empty() {
        return Vec::new();
    }
    let then = rivals(before);
    let mut found = Vec::new();
    for (method, rivals) in said_anew(&now, &then) {
        let bodies = world.bodies_of(rivals.home);
        for body in bodies.filter(|body| is_changed(world, before.world, body.file)) {
            let Some(at) = call_in(after, body, method) else {
                continue;
            };
            let names = |(one, other): &(ItemId, ItemId)| {
                (world[*one].name.clone(), world[*other].name.clone())
            };
            let told = rivals.pairs.iter().map(names).map(|(one, other)| Unproven {
                path: world[body.file].path.clone(),
                span: Some(at),
                kind: UnprovenKind::UnknownType,
                name: method.to_owned(),
                why: format!(
                    "`{one}` and `{other}` come to be in scope here together, both have this method, and which of them \
                     is called may be open then"
                ),
            });
            found.extend(told);
        }
    }
    found
}

/// Where a body of a module says a method that it calls, or a macro for it; else its start.
fn call_in(tree: Tree<'_>, body: &Body, method: &str) -> Option<ByteSpan> {
    let world = tree.world;
    let span = world.facts(body.file).scope(body.scope).span;
    let text = tree.texts.text(&world[body.file].path)?;
    let called = called_names(world, tree.texts, &text, span);
    called.contains(method).then(|| {
        let said = lexer::tokens(&text, span).into_iter();
        let mut said = said.filter(|one| one.span.of(&text) == Some(method));
        let last = said.next_back();
        last.map_or(ByteSpan::empty(span.start), |one| one.span)
    })
}

/// The pairs of traits of the tree that one type may have, by the modules with both in scope and the names of methods.
fn rivals(tree: Tree<'_>) -> RivalsByMethod {
    let world = tree.world;
    let homes = method_homes(world, tree.texts);
    let mut in_scope: BTreeMap<ItemId, BTreeSet<ModuleId>> = BTreeMap::new();
    let several = homes.traits.iter().filter(|(_, traits)| traits.len() > 1);
    let several: Vec<_> = several.collect();
    let asked: BTreeSet<ItemId> = several
        .iter()
        .flat_map(|(_, all)| all.iter().copied())
        .collect();
    for module in (0..id(world.modules.len())).map(ModuleId) {
        let known = world.traits_in_scope(module);
        for item in known.filter(|item| asked.contains(item)) {
            in_scope.entry(item).or_default().insert(module);
        }
    }
    let mut types = BTreeMap::new();
    for item in &asked {
        types.insert(*item, ImplementedTypes::of(tree, *item));
    }
    let mut found = RivalsByMethod::new();
    for (method, traits) in several {
        for (at, one) in traits.iter().enumerate() {
            for other in traits.iter().skip(at + 1).filter(|other| *other != one) {
                let (Some(own), Some(others)) = (in_scope.get(one), in_scope.get(other)) else {
                    continue;
                };
                let meet = types.get(one).zip(types.get(other));
                if !meet.is_some_and(|(one, other)| one.meet(other)) {
                    continue;
                }
                for module in own.intersection(others) {
                    let key = (world[*module].canonical.clone(), method.clone());
                    let known = found.entry(key).or_insert_with(|| Rivals {
                        home: *module,
                        pairs: BTreeSet::new(),
                    });
                    known.pairs.insert((*one, *other));
                }
            }
        }
    }
    found
}

/// The types that a trait is implemented for, as the heads of its `impl`s say them.
#[derive(Default)]
struct ImplementedTypes {
    /// Last names of types: `Vec` of `impl<T> Walk for std::vec::Vec<T>`.
    names: BTreeSet<String>,
    /// Whether some head says no name: a type parameter, a reference, or it is a macro that says it.
    is_open: bool,
}

impl ImplementedTypes {
    fn of(tree: Tree<'_>, of: ItemId) -> Self {
        let world = tree.world;
        let mut found = Self::default();
        let mut all = world
            .impls()
            .iter()
            .filter(|one| one.by == Some(of))
            .peekable();
        found.is_open = all.peek().is_none();
        for one in all {
            match name_of_type(world, one, tree) {
                Some(name) => _ = found.names.insert(name),
                None => found.is_open = true,
            }
        }
        found
    }

    fn meet(&self, other: &Self) -> bool {
        self.is_open || other.is_open || !self.names.is_disjoint(&other.names)
    }
}

/// The last name of the type that an `impl` is of; `None` of a parameter, and of what is no path.
fn name_of_type(world: &World, one: &ImplSite, tree: Tree<'_>) -> Option<String> {
    let facts = world.facts(one.file);
    let path = facts.path(one.fact.self_path?);
    let segments = facts.segments(path.segments);
    let name = facts.name(segments.last()?.name);
    let text = tree.texts.text(&world[one.file].path)?;
    let start = segments.first()?.span.start;
    let head = lexer::tokens(&text, ByteSpan::new(one.span.start, start));
    let mut words = head.iter().filter_map(|token| token.span.of(&text));
    let is_parameter = words.any(|word| word == name);
    // `&Type`, `[Type]`: the path is a part of it.
    let is_whole = head
        .last()
        .is_some_and(|last| last.span.of(&text) == Some("for"));
    (is_whole && !is_parameter).then(|| name.to_owned())
}
