//! Names that a module has by its imports, and that others read there: `run.gpu.load()`, `from pkg.run import gpu`.
//!
//! An import that its own file has no use for any more stays where somebody else has one.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::mapping::Mapping;
use crate::{
    analysis::{Analysis, Use},
    graph::{Entity, PythonGraph},
    names::Names,
};

/// For names that somebody has asked for, the modules that others read them of.
#[derive(Default)]
pub struct ModuleReads {
    by_name: Mutex<FxHashMap<String, Arc<FxHashSet<usize>>>>,
}

impl ModuleReads {
    /// Whether another module reads a name of this one, other than on the way to what changes.
    pub fn has(&self, mapping: &Mapping<'_>, module: usize, name: &str) -> bool {
        let all = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(name) {
            return known.contains(&module);
        }
        drop(all);
        let found = Arc::new(modules_read(mapping, name));
        let mut all = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(name.to_owned(), Arc::clone(&found));
        found.contains(&module)
    }
}

/// The modules of which some other one reads a name.
fn modules_read(mapping: &Mapping<'_>, name: &str) -> FxHashSet<usize> {
    let mut found = imported_from(mapping.graph, name);
    let attribute = format!(".{name}");
    for (module, text) in mapping.mentioning(name) {
        if !text.contains(&attribute) {
            continue;
        }
        let analysis = Analysis::new(text);
        let names = Names::new(mapping.graph, Some(*module), &analysis);
        for used in &analysis.uses {
            let read = read_by(mapping, &names, used, name);
            found.extend(read.filter(|owner| owner != module));
        }
    }
    found
}

/// The modules from which some statement imports a name, by itself or with all others.
fn imported_from(graph: &PythonGraph, name: &str) -> FxHashSet<usize> {
    let mut found = FxHashSet::default();
    for (importer, facts) in graph.facts.iter().enumerate() {
        let from = facts.imports.iter().filter(|import| import.from.is_some());
        for import in from {
            let mut leaves = import.leaves.iter();
            if leaves.any(|leaf| leaf.name.text == name || leaf.name.text == "*") {
                found.extend(graph.base_module(importer, import));
            }
        }
    }
    found
}

/// The module that a chain reads a name of, unless the chain leads to an item that changes, which follows.
fn read_by<'a>(
    mapping: &Mapping<'_>,
    names: &Names<'a>,
    used: &'a Use,
    name: &str,
) -> Option<usize> {
    let at = used
        .chain
        .iter()
        .skip(1)
        .position(|part| part.text == name)?;
    let owner = match &names.meanings(used).get(at)?.entity {
        Some(Entity::Module(owner)) => *owner,
        _ => names
            .held_module(used.scope, used.chain.first()?)
            .filter(|_| at == 0)?,
    };
    let follows = used.chain.get(at + 2).is_some_and(|item| {
        matches!(mapping.graph.member(owner, name), Entity::Module(module)
            if mapping.items.get(module, &item.text).is_some())
    });
    (!follows).then_some(owner)
}
