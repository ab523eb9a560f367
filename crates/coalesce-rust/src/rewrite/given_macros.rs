//! Macros that a crate has by `#[macro_use] extern crate` of another one of the tree.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ChangeKind, Finding, finding::codes};

use super::{
    items::is_exported,
    mapping::{Mapping, refusal},
};
use crate::{
    facts::{ItemKind, Namespaces},
    resolve::{CrateId, Found, ItemId, ItemNode, UseSite, World},
};

/// Macros by the crate that exports them, and their names there.
type Exported<'w> = BTreeSet<(CrateId, &'w str)>;

/// Calls of exported macros that leave with their modules, in crates that have them by `#[macro_use] extern crate`.
pub(super) fn of_modules(mapping: &Mapping<'_>) -> Vec<Finding> {
    let world = mapping.world;
    let items = world.items.iter().zip((0..).map(ItemId));
    let macros = items.filter(|(node, _)| node.kind == ItemKind::Macro && !node.local);
    let leaves = |node: &ItemNode| {
        let Some(change) = mapping.change_of(node.module) else {
            return false;
        };
        let krate = mapping.krate(node.module);
        // Of a library that gives up its crate, the declarations are rewritten.
        let stays = mapping.after(node.module).krate == krate
            && mapping.item_after(node.module, &node.name) == node.name
            && change.kind != ChangeKind::Remove;
        !stays && mapping.library_of(krate).is_none()
    };
    let leaving = macros.filter(|(node, item)| leaves(node) && is_exported(world, *item));
    let leaving = leaving.map(|(node, _)| (mapping.krate(node.module), node.name.as_str()));
    given_by_crates(mapping, &leaving.collect())
}

/// Calls of exported macros that leave, in crates that have them by `#[macro_use] extern crate`: what that gives is
/// not followed, so that they are known by their names alone.
pub(super) fn given_by_crates(mapping: &Mapping<'_>, leaving: &Exported<'_>) -> Vec<Finding> {
    let world = mapping.world;
    let given = if leaving.is_empty() {
        BTreeMap::new()
    } else {
        givers(world)
    };
    let mut found = Vec::new();
    for (file, source) in world.sources().filter(|_| !given.is_empty()) {
        world.visit_file(source, &mut |facts, site| {
            let (UseSite::Path(at), [call]) = (site.site, site.segments) else {
                return;
            };
            let here = world[world.module_of(site.space)].krate;
            let is_known = !site.trace.steps.iter().all(Found::is_empty);
            if facts.path(at).namespaces != Namespaces::MACRO || is_known {
                return;
            }
            let name = facts.name(call.name);
            let givers = given.get(&here).into_iter().flatten();
            let mut named = givers.filter(|giver| leaving.contains(&(**giver, name)));
            let Some(giver) = named.next() else { return };
            let from = format!("{}::{name}", world[*giver].name);
            let message = format!(
                "`{name}!` is `{from}!`, which `#[macro_use] extern crate` gives here, and would be gone"
            );
            let refused = refusal(world[file].path.clone(), message).coded(codes::OUT_OF_REACH);
            let help = format!("call it by its path first, or import it: `use {from};`");
            found.push(refused.at(call.span).with_help(help));
        });
    }
    found
}

/// The crates whose macros a crate has by `#[macro_use] extern crate`.
fn givers(world: &World) -> BTreeMap<CrateId, BTreeSet<CrateId>> {
    let mut given: BTreeMap<CrateId, BTreeSet<CrateId>> = BTreeMap::new();
    for (_, source) in world.sources() {
        world.visit_file(source, &mut |facts, site| {
            let UseSite::ExternCrate(at) = site.site else {
                return;
            };
            let declared = facts.extern_crates.get(at as usize);
            if !declared.is_some_and(|one| one.macro_use) {
                return;
            }
            let here = world[world.module_of(site.space)].krate;
            let roots = site.trace.steps.iter().filter_map(Found::module);
            let crates = roots.map(|root| world[root].krate);
            given.entry(here).or_default().extend(crates);
        });
    }
    given
}
