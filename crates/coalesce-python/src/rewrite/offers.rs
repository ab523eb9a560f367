//! Names that a package offers by a table of lazy imports, of things that go where no such table can lead.
//!
//! A table leads below its package only, and gives a thing the name that it has there. What leaves
//! stays on offer in one of two ways: a shim at the old place, which the table goes on naming, or, without
//! one, an import in the module that the thing leaves.

use std::collections::BTreeSet;

use super::{items::Moved, mapping::Mapping};
use crate::graph::Entity;

/// Whether the module that an item leaves has to go on having it, since a table names it there.
pub fn stays_on_offer(mapping: &Mapping<'_>, moved: &Moved) -> bool {
    let stays = mapping.new_name(moved.source).is_none() && !mapping.goes_away(moved.source);
    let Some(own) = mapping.graph.modules.get(moved.source).filter(|_| stays) else {
        return false;
    };
    let packages = std::iter::successors(Some(own.name.as_str()), |name| {
        Some(name.rsplit_once('.')?.0)
    });
    moved.change.shim.is_none()
        && packages.skip(1).any(|package| {
            let module = mapping.graph.find(None, package);
            let new = module.and_then(|module| behind(mapping, module, &moved.item));
            new.is_some_and(|new| new.old == moved.change.from)
        })
}

/// What a package offers of what gets another name, and its table cannot say so.
pub struct Behind {
    /// The full name of the thing as it is.
    pub old: String,
    /// Where it is afterwards.
    pub parent: String,
    /// What it is called there.
    pub name: String,
}

/// What is behind a name that a package offers by a table which cannot lead to the new place.
pub fn behind(mapping: &Mapping<'_>, package: usize, name: &str) -> Option<Behind> {
    let graph = mapping.graph;
    graph.lazy_source(package, name)?;
    let name_of = |module: usize| graph.modules.get(module).map(|module| &module.name);
    let Entity::Item(home, item) = graph.lookup(&format!("{}.{name}", name_of(package)?)) else {
        return None;
    };
    let (parent, last) = match mapping.items.get(home, &item) {
        Some(moved) => (moved.parent.clone(), moved.name.clone()),
        None => {
            let parent = mapping.new_name(home)?;
            (parent.to_owned(), mapping.item_after(home, &item))
        }
    };
    let below = format!("{}.", mapping.name_after(package));
    let said = last == *name && parent.starts_with(&below);
    (!said).then_some(Behind {
        old: format!("{}.{item}", name_of(home)?),
        parent,
        name: last,
    })
}

/// Names by which files reach what moves without naming the module that it stands in: their tables go on
/// naming its shim.
pub fn behind_shims(mapping: &Mapping<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if mapping.changes.iter().all(|change| change.shim.is_none()) {
        return names;
    }
    let graph = mapping.graph;
    for (package, facts) in graph.facts.iter().enumerate() {
        let tables = match facts.lazy_stub {
            true => graph.twin(package).and_then(|twin| graph.facts.get(twin)),
            false => facts.imports.last().filter(|last| last.lazy).map(|_| facts),
        };
        let imports = tables.into_iter().flat_map(|facts| &facts.imports);
        let leaves = imports.flat_map(|import| &import.leaves);
        let bound = leaves.map(|leaf| leaf.bound());
        names.extend(
            bound
                .filter(|name| {
                    let behind = behind(mapping, package, name);
                    behind.is_some_and(|behind| mapping.has_shim(&behind.old))
                })
                .map(str::to_owned),
        );
    }
    names
}
