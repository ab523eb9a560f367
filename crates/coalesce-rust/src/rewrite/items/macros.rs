//! Macros that moved text calls and that are seen by where they stand.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Finding, finding::codes};

use super::{
    super::{macro_scope::is_seen, macros::redefined, mapping::refusal},
    moving::{Moving, Set},
    rules,
    scan::Scan,
};
use crate::{
    facts::Namespaces,
    resolve::{CrateId, Found, ModuleId, UseSite, World, parts},
};

/// Calls that would be out of scope in the new place.
pub(super) fn check(set: &Set<'_>, scan: &Scan) -> Vec<Finding> {
    let mut found = Vec::new();
    for ((item, place), (file, span)) in &scan.macros {
        if rules::is_redefined(set.world(), *item) {
            let name = &set.world()[item].name;
            found.push(redefined(&set.path(*file), name).at(*span));
            continue;
        }
        if is_seen(set.mapping, *item, place, &mut None) {
            continue;
        }
        let name = &set.world()[item];
        let name = name.name.as_str();
        found.push(
            refusal(
                set.path(*file),
                format!(
                    "`{name}!` would be out of scope in `{}`",
                    set.mapping.name_of(place)
                ),
            )
            .coded(codes::OUT_OF_REACH)
            .at(*span)
            .with_help(format!(
                "`pub(crate) use {name};` behind its definition gives it a path, if that can be"
            )),
        );
    }
    found
}

/// Calls of macros that put together a path to what moves from parts that nobody sees in one place.
pub(super) fn fragments(set: &Set<'_>) -> Vec<Finding> {
    let world = set.world();
    let sought: Vec<(ModuleId, &str)> = set
        .moving
        .iter()
        .map(|moving| {
            let node = &world[moving.item];
            (moving.home, node.name.as_str())
        })
        .collect();
    let found = parts(world, set.mapping.texts, &sought).into_iter();
    found
        .filter_map(|part| {
            let from = &set.moving(*part.of.first()?).change.from;
            let message =
                format!("a macro puts a path to `{from}` together from this and parts of its own");
            Some(refusal(set.path(part.file), message).at(part.span))
        })
        .collect()
}

/// Calls of exported macros that leave, in crates that have them by `#[macro_use] extern crate`: what that gives is
/// not followed, so that they are known by their names alone.
pub(super) fn given_by_crates(set: &Set<'_>) -> Vec<Finding> {
    let world = set.world();
    let moving = set.moving.iter();
    let exported = moving.filter(|moving| rules::is_exported(world, moving.item));
    let leaving: BTreeMap<(CrateId, &str), &Moving<'_>> = exported
        .map(|moving| {
            let name = world[moving.item].name.as_str();
            ((set.mapping.krate(moving.home), name), moving)
        })
        .collect();
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
            let mut named = givers.filter_map(|giver| leaving.get(&(*giver, name)));
            let Some(moving) = named.next() else { return };
            let from = format!("{}::{name}", world[set.mapping.krate(moving.home)].name);
            let message = format!(
                "`{name}!` is `{from}!`, which `#[macro_use] extern crate` gives here, and would be gone"
            );
            let refused = refusal(set.path(file), message).coded(codes::OUT_OF_REACH);
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
