//! Definitions that use what they take the place of: `def load(path): return old_load(path) + "?"`. Once users of the old
//! one are led to it, it is its own user.

use std::collections::BTreeSet;

use coalesce_model::ByteSpan;
use ruff_text_size::Ranged;

use super::{equivalence::Modules, signatures::Swap};
use crate::{analysis::shift, graph::Entity, names::Names, rewrite::mapping::Mapping};

/// So many definitions are looked at for one that takes over, whether they use the one that gives way.
const MOST_FOLLOWED: usize = 1_000;

/// How the definition that takes over comes to use the one that gives way, and so itself from then on.
pub(super) fn use_of_old(
    mapping: &Mapping<'_>,
    swap: &Swap,
    new: (usize, &str),
    modules: &Modules<'_>,
) -> Option<String> {
    let (from, to) = (&swap.from, &swap.to);
    let mut open = vec![(new.0, new.1.to_owned())];
    let mut seen: BTreeSet<(usize, String)> = BTreeSet::new();
    while let Some((module, name)) = open.pop() {
        if seen.len() > MOST_FOLLOWED {
            return Some(format!(
                "`{to}` uses so much that nobody looked whether it uses `{from}`"
            ));
        }
        if !seen.insert((module, name.clone())) {
            continue;
        }
        let used = items_used(mapping, modules, (module, &name));
        if used.contains(&(swap.source, swap.item.clone())) {
            let direct = (module, &*name) == new;
            let through = (!direct).then(|| format!(", by `{name}`"));
            let through = through.unwrap_or_default();
            return Some(format!(
                "`{to}` uses `{from}`{through}: it would come to use itself"
            ));
        }
        open.extend(used);
    }
    None
}

/// The items of the tree that a definition names.
fn items_used(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    (module, name): (usize, &str),
) -> Vec<(usize, String)> {
    let Some(read) = modules.read(mapping, module) else {
        return Vec::new();
    };
    let spans = read
        .defining(name)
        .map(|each| shift(each.range(), read.start));
    let names = Names::new(mapping.graph, Some(module), &read.analysis);
    let uses = read.analysis.uses_in(&spans.collect::<Vec<ByteSpan>>());
    let uses = uses.filter(|used| !used.store && !used.annotation);
    let meanings = uses.flat_map(|used| names.meanings(used));
    let items = meanings.filter_map(|meaning| match meaning.entity {
        Some(Entity::Item(home, item)) => Some((home, item)),
        _ => None,
    });
    items.collect()
}
