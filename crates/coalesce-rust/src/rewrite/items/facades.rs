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
        for ((file, leaf), home, name) in reexports(set, moving.item) {
            let here = set.mapping.after(home);
            let taken = here == moving.named_at && name == moving.name;
            if !taken && is_alone(set, home, &name, moving.item) {
                let facade = Facade {
                    moving: at,
                    home,
                    name,
                };
                found.insert((file, leaf), facade);
            }
        }
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
    let world = set.world();
    let mut found = Vec::new();
    for (at, node) in (0_u32..).zip(&world.modules) {
        let module = ModuleId(at);
        if node.local {
            continue;
        }
        let mut names: Vec<_> = world.space(module).names.iter().collect();
        names.sort_by_key(|(sym, _)| **sym);
        for (sym, bindings) in names {
            for binding in bindings {
                let Some(import) = binding.import else {
                    continue;
                };
                if binding.res == Res::Item(item)
                    && binding.reach == Reach::Public
                    && is_public(set.mapping, module)
                {
                    found.push((import, module, world.names.text(*sym).to_string()));
                }
            }
        }
    }
    found.sort();
    found.dedup();
    found
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
        let definitions = &set.world()[moving.item].definitions;
        let spot = Spot {
            set,
            at: facade.moving,
            moving,
            request,
            home: facade.home,
            old: facade.name.clone(),
        };
        let span = set.world().facts(*file).declaration_of(*leaf).span;
        for definition in definitions {
            if let Some(text) = shims.one(&spot, *definition) {
                shims.beside.push((*file, span, text));
            }
        }
    }
}
