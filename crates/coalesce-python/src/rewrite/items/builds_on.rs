//! Definitions that call what they take the place of: `def load(path): return old_load(path) + "?"`. Once users of the
//! old one are led to it, that one is its own user.

use std::collections::BTreeSet;

use super::{
    equivalence::{Definition, Modules, item_of},
    signatures::Swap,
};
use crate::{graph::Entity, rewrite::mapping::Mapping};

/// How many definitions are followed; who needs more is taken to come to the old one.
const MOST_FOLLOWED: usize = 500;

/// That what stays uses what gives way, itself or through what it uses, as a sentence.
pub(super) fn old_one(
    mapping: &Mapping<'_>,
    swap: &Swap,
    new: &Definition,
    modules: &Modules<'_>,
) -> Option<String> {
    let gives_way = (swap.source, swap.item.clone());
    let mut seen = BTreeSet::from([(new.module, new.item.clone())]);
    let mut open: Vec<(usize, String)> = used_by(mapping, new);
    while let Some(next) = open.pop() {
        if next == gives_way || seen.len() > MOST_FOLLOWED {
            let (from, to) = (&swap.from, &swap.to);
            return Some(format!(
                "`{to}` comes to use `{from}`, and would use itself"
            ));
        }
        if !seen.insert(next.clone()) {
            continue;
        }
        let (module, item) = next;
        if let Some(found) = Definition::new(mapping, module, &item, modules) {
            open.extend(used_by(mapping, &found));
        }
    }
    None
}

/// The items that a definition uses by names of its module, and by what it imports itself.
fn used_by(mapping: &Mapping<'_>, definition: &Definition) -> Vec<(usize, String)> {
    let names = definition.names();
    let mut found: Vec<_> = names
        .filter_map(|used| item_of(mapping, definition, used))
        .collect();
    let graph = mapping.graph;
    for (import, leaf) in definition.imported_leaves() {
        // `import a.b` binds `a`.
        let brought = match leaf.bound() == leaf.name.text || leaf.alias.is_some() {
            true => graph.leaf_entity(definition.module, import, leaf),
            false => graph.lookup(leaf.bound()),
        };
        match brought {
            Entity::Item(module, item) => found.push((module, item)),
            Entity::Module(module) => {
                let parts = definition.parts_below(leaf.bound());
                let items = parts.filter_map(|parts| match graph.follow(module, None, parts).end {
                    Entity::Item(home, item) => Some((home, item)),
                    _ => None,
                });
                found.extend(items);
            }
            _ => {}
        }
    }
    found
}
