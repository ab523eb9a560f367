//! Items that other crates know by a re-export alone.
//!
//! Where they can name the new place, the re-export becomes a shim, and who named the item through
//! it inside the tree names the new place. Where they cannot, it stays a re-export, and globs do.

use std::collections::BTreeMap;

use super::{
    imports::home_of,
    moving::Set,
    shims::{Shims, Spot},
};
use crate::{
    facts::{LeafKind, VisibilityKind},
    resolve::{FileId, ItemId, ModuleId, Reach, Res},
    rewrite::{place::Place, public::is_public, walk::is_of_module},
};

/// A re-export that gives way to a shim.
pub(in crate::rewrite) struct Facade {
    /// What it brings; index into the set.
    pub moving: usize,
    /// The module that has it.
    pub home: ModuleId,
    /// The name that it has there.
    pub name: String,
}

/// The re-exports of what moves that become shims, by file and leaf.
pub(super) fn of(set: &Set<'_>) -> BTreeMap<(FileId, u32), Facade> {
    let mut found = BTreeMap::new();
    for (at, moving) in set.moving.iter().enumerate() {
        let asked = moving.change.shim.is_some() && !moving.shim && moving.rules.is_none();
        if !asked || !is_public_place(set, &moving.named_at) {
            continue;
        }
        let reexports = reexports(set, moving.item).into_iter();
        let free = reexports.filter(|(_, home, name)| {
            let taken = set.mapping.after(*home) == moving.named_at && *name == moving.name;
            !taken && is_alone(set, *home, name, moving.item)
        });
        found.extend(free.map(|(import, home, name)| {
            let facade = Facade {
                moving: at,
                home,
                name,
            };
            (import, facade)
        }));
    }
    found
}

/// The names by which other crates know an item through re-exports.
pub(super) fn public_names(set: &Set<'_>, item: ItemId) -> Vec<(ModuleId, String)> {
    let found = bound(set, item).into_iter();
    found.map(|(_, module, name)| (module, name)).collect()
}

/// Public re-exports by name, in public modules: import, module, name.
fn reexports(set: &Set<'_>, item: ItemId) -> Vec<((FileId, u32), ModuleId, String)> {
    let world = set.world();
    let mut found = bound(set, item);
    found.retain(|((file, at), home, _)| {
        let facts = world.facts(*file);
        let declaration = facts.declaration_of(*at);
        facts.leaf(*at).kind == LeafKind::Name
            && declaration.visibility.kind == VisibilityKind::Public
            && declaration.cfg.is_empty()
            && is_of_module(world, (*file, *at))
            && home_of(world, (*file, *at)) == Some(*home)
    });
    found
}

/// Public bindings of an item by imports, in public modules.
fn bound(set: &Set<'_>, item: ItemId) -> Vec<((FileId, u32), ModuleId, String)> {
    let modules = (0_u32..).zip(&set.world().modules);
    let modules = modules.filter(|(_, node)| !node.local);
    let modules = modules.map(|(at, _)| ModuleId(at));
    let mut found: Vec<_> = modules.flat_map(|home| bound_in(set, item, home)).collect();
    found.sort();
    found.dedup();
    found
}

/// Those of one module.
fn bound_in(
    set: &Set<'_>,
    item: ItemId,
    module: ModuleId,
) -> Vec<((FileId, u32), ModuleId, String)> {
    let world = set.world();
    let names = world.space(module).names.iter();
    let bindings = names.flat_map(|(sym, bindings)| bindings.iter().map(move |one| (sym, one)));
    let bound = bindings
        .filter(|(_, one)| one.res == Res::Item(item) && one.reach == Reach::Public)
        .filter_map(|(sym, one)| Some((sym, one.import?)))
        .filter(|_| is_public(set.mapping, module));
    bound
        .map(|(sym, import)| (import, module, world.names.text(*sym).to_string()))
        .collect()
}

/// Whether a name of a module is that item and nothing else.
fn is_alone(set: &Set<'_>, home: ModuleId, name: &str, item: ItemId) -> bool {
    let world = set.world();
    let bindings = world.bindings(home, name);
    let mut all = bindings.iter().filter(|one| !one.glob);
    all.all(|binding| binding.res == Res::Item(item))
}

fn is_public_place(set: &Set<'_>, place: &Place) -> bool {
    let module = set.mapping.at(place);
    module.is_some_and(|module| is_public(set.mapping, module))
}

/// Writes the shims that take the places of re-exports.
pub(super) fn write(set: &Set<'_>, shims: &mut Shims) {
    for ((file, leaf), facade) in &set.facades {
        let moving = set.moving(facade.moving);
        let Some(request) = moving.change.shim.as_ref() else {
            continue;
        };
        let spot = Spot {
            set,
            at: facade.moving,
            moving,
            request,
            home: facade.home,
            old: facade.name.clone(),
        };
        let declared = set.world().facts(*file).declaration_of(*leaf);
        let span = declared.span;
        let definitions = set.world()[moving.item].definitions.iter();
        let texts: Vec<String> = definitions
            .filter_map(|definition| shims.one(&spot, *definition))
            .collect();
        let texts = texts.into_iter().map(|text| (*file, span, text));
        let (first, last) = declared.leaves;
        let is_whole = (first..last).all(|leaf| set.facades.contains_key(&(*file, leaf)));
        match is_whole {
            true => shims.instead.extend(texts),
            false => shims.beside.extend(texts),
        }
    }
}
