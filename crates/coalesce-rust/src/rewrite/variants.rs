//! Enums whose variants are imported by name or by a glob from another crate: `use krate::State::*`.
//!
//! No such import leads through an alias, which is what a shim of an enum is otherwise.

use std::collections::BTreeSet;

use crate::{
    facts::{ItemKind, LeafKind},
    resolve::{ItemId, Res, UseSite, World},
};

/// All of them.
pub(super) fn imported_by_others(world: &World) -> BTreeSet<ItemId> {
    let mut found = BTreeSet::new();
    for (_, source) in world.sources() {
        world.visit_file(source, &mut |facts, site| {
            let UseSite::Leaf(leaf) = site.site else {
                return;
            };
            let glob = facts.leaf(leaf).kind == LeafKind::Glob;
            let krate = world[world.module_of(site.space)].krate;
            let count = site.trace.steps.len();
            let through = count.saturating_sub(usize::from(!glob));
            for step in site.trace.steps.iter().take(through) {
                let items = step.all().filter_map(|(res, _)| match res {
                    Res::Item(item) => Some(item),
                    _ => None,
                });
                found.extend(items.filter(|item| {
                    let node = &world[*item];
                    node.kind == ItemKind::Enum && world[node.module].krate != krate
                }));
            }
        });
    }
    found
}
