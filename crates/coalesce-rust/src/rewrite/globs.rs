//! What a glob import stops bringing when its file moves: names that the old parent keeps to itself.
//!
//! `use super::*` sees all that its parent sees. From elsewhere the same glob brings only what is
//! visible there, so the rest is imported by name, and private definitions are widened.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    place::Place,
    sight::{Need, Subject},
    spell::{Speller, written},
    traits::{self, Demand},
};
use crate::{
    facts::{ItemKind, LeafKind, Origin, VisibilityKind},
    resolve::{Binding, FileId, ItemId, ModuleId, Res, Site, World},
};

/// What becomes of the globs of a file.
#[derive(Default)]
pub(super) struct Globs {
    /// Paths to import besides, by index of the declaration that holds the glob.
    pub besides: BTreeMap<u32, Vec<String>>,
    /// Globs that bring nothing any more that is used.
    pub spent: Vec<u32>,
    /// Traits imported besides that method calls may need, with the leaf of the glob.
    pub guessed: Vec<(u32, String)>,
}

/// Works out what the globs of a file no longer bring.
pub(super) fn globs(speller: &Speller<'_>, file: FileId, needs: &mut Vec<Need>) -> Globs {
    let mut found = Globs::default();
    let world = speller.mapping.world;
    let (source, facts) = (&world[file], world.facts(file));
    for (at, leaf) in (0..).zip(&facts.leaves) {
        if leaf.kind != LeafKind::Glob {
            continue;
        }
        let place = (file, at);
        let Some(target) = speller.glob_target(place) else {
            continue;
        };
        let (mut gone, mut kept) = (false, false);
        for load in &source.loads {
            let mut names: BTreeMap<String, Binding> = BTreeMap::new();
            world.visit(*load as usize, &mut |facts, site| {
                let first = site.segments.first().filter(|_| uses_glob(&site, place));
                let Some(first) = first else { return };
                match hidden(speller, &site, target, facts.name(first.name)) {
                    Some(binding) => {
                        names.insert(facts.name(first.name).to_owned(), binding);
                    }
                    None => kept = true,
                }
            });
            let mut guessed = BTreeSet::new();
            let brings = (&mut names, &mut guessed);
            kept |= methods(speller, (*load as usize, place), target, brings);
            let by = place_of(speller, *load as usize, place);
            let Some(by) = by else { continue };
            for (name, binding) in names {
                let Some(path) = import_of(speller, &by, (&name, &binding), needs) else {
                    kept = true;
                    continue;
                };
                gone = true;
                if guessed.contains(&name) {
                    found.guessed.push((at, name.clone()));
                }
                let list = found.besides.entry(leaf.declaration).or_default();
                if !list.contains(&path) {
                    list.push(path);
                }
            }
        }
        if gone && !kept && is_alone(speller, place, target) {
            found.spent.push(place.1);
        }
    }
    found
}

/// Whether nobody but the module that has a glob may use what it brings.
fn is_alone(speller: &Speller<'_>, (file, leaf): (FileId, u32), target: ModuleId) -> bool {
    let world = speller.mapping.world;
    let opaque = world.space(target).opaque;
    let facts = world.facts(file);
    let found = facts.declaration_of(leaf);
    let mut modules = facts.modules.iter();
    !opaque
        && found.visibility.kind == VisibilityKind::Private
        && !modules.any(|module| module.scope == found.scope)
}

fn uses_glob(site: &Site<'_>, place: (FileId, u32)) -> bool {
    let first = site.trace.steps.first();
    first.is_some_and(|first| first.glob && first.import == Some(place))
        && site.origin != Origin::FormatString
}

/// The binding of a name in the module of the glob that is seen before and not after.
fn hidden(speller: &Speller<'_>, site: &Site<'_>, target: ModuleId, name: &str) -> Option<Binding> {
    let world = speller.mapping.world;
    let before = world.module_of(site.space);
    let here = speller.mapping.after(before);
    let sym = world.names.get(name)?;
    let bindings = world.space(target).names.get(&sym)?;
    let mut known = bindings
        .iter()
        .filter(|binding| binding.reach.is_seen_from(world, before))
        .peekable();
    let first = known.peek().copied().copied();
    let seen = known.any(|binding| speller.sees(&here, binding.reach, target));
    first.filter(|_| !seen)
}

/// Traits that the old parent has for itself and nobody names: methods may need them. Whether the
/// glob goes on bringing such a trait.
fn methods(
    speller: &Speller<'_>,
    (load, place): (usize, (FileId, u32)),
    target: ModuleId,
    (names, guessed): (&mut BTreeMap<String, Binding>, &mut BTreeSet<String>),
) -> bool {
    let world = speller.mapping.world;
    let found = world.loads.get(load).and_then(|loaded| {
        let facts = world.facts(loaded.file);
        let leaf = facts.leaf(place.1);
        let declaration = facts.declaration(leaf.declaration);
        let space = *loaded.spaces.get(declaration.scope.0 as usize)?;
        let span = facts.scope(declaration.scope).span;
        let text = speller.mapping.texts.text(&world[loaded.file].path)?;
        Some((space, traits::method_names(&text, span)))
    });
    let Some((space, methods)) = found else {
        return true;
    };
    let before = world.module_of(space);
    let here = speller.mapping.after(before);
    let space = world.space(target);
    let usage = OnceCell::new();
    let looks_like_trait = |name: &str| {
        let usage = usage.get_or_init(|| traits::Usage::of(world, target, speller.mapping.texts));
        usage.looks_like_trait(name)
    };
    let mut kept = false;
    let mut bound: Vec<_> = space.names.iter().collect();
    bound.sort_by_key(|(sym, _)| **sym);
    for (sym, bindings) in bound {
        let name = world.names.text(*sym).to_string();
        for binding in bindings {
            if !binding.reach.is_seen_from(world, before) || names.contains_key(&name) {
                continue;
            }
            let trait_of = (&*name, binding.res);
            let demand = traits::demand(
                world,
                trait_of,
                &methods,
                speller.mapping.texts,
                &looks_like_trait,
            );
            if demand == Demand::No {
                continue;
            }
            if demand == Demand::Perhaps {
                guessed.insert(name.clone());
            }
            if speller.sees(&here, binding.reach, target) {
                kept = true;
            } else {
                names.insert(name.clone(), *binding);
            }
        }
    }
    kept
}

fn is_macro(world: &World, item: ItemId) -> bool {
    let node = &world[item];
    node.kind == ItemKind::Macro
}

/// The tree that imports what a glob no longer brings; `None` when widening it is enough.
pub(super) fn import_of(
    speller: &Speller<'_>,
    by: &Place,
    (name, binding): (&str, &Binding),
    needs: &mut Vec<Need>,
) -> Option<String> {
    let subject = match (binding.import, binding.res) {
        (Some(import), _) => {
            let mut path = speller.absolute(import)?;
            if binding.glob {
                path.push(name.to_owned());
            }
            let krate = speller.krate_of(import)?;
            let path = speller.said_in(path, krate, by, needs);
            let tree: Vec<String> = path.iter().map(|part| written(part)).collect();
            let tree = tree.join("::");
            return Some(if path.last().map(String::as_str) == Some(name) {
                tree
            } else {
                format!("{tree} as {name}")
            });
        }
        // Macros are seen by where they stand.
        (None, Res::Item(item)) if is_macro(speller.mapping.world, item) => return None,
        (None, Res::Item(item)) => Subject::Item(item),
        (None, Res::Module(module)) => Subject::Module(module),
        (None, _) => return None,
    };
    needs.push(Need::new(subject, by.clone()));
    None
}

/// Where the module that has an import is after.
fn place_of(speller: &Speller<'_>, load: usize, (file, leaf): (FileId, u32)) -> Option<Place> {
    let world = speller.mapping.world;
    let facts = world.facts(file);
    let scope = facts.declaration_of(leaf).scope;
    let space = world.loads.get(load)?.spaces.get(scope.0 as usize)?;
    Some(speller.mapping.after(world.module_of(*space)))
}
