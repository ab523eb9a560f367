//! Whether an import at the top of a module could close a cycle.
//!
//! Coarser than the play of all imports that the plan is proven with: what this calls safe is safe.

use coalesce_model::ImportTarget;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rewrite::mapping::Mapping;

/// Who loads whom once the items are in their places.
pub struct Loads<'m> {
    mapping: &'m Mapping<'m>,
    /// Imports that come on top of those that are there.
    added: FxHashMap<usize, Vec<usize>>,
}

impl<'m> Loads<'m> {
    /// The imports of today, and those of users who turn to where an item goes.
    pub fn new(mapping: &'m Mapping<'m>, nodes: &dyn Fn(&str) -> usize) -> Self {
        let mut loads = Self {
            mapping,
            added: FxHashMap::default(),
        };
        let graph = mapping.graph;
        for import in graph.imports.iter().filter(|import| import.eager) {
            let ImportTarget::Module(source) = import.target else {
                continue;
            };
            let Some((_, item)) = import.name.rsplit_once('.') else {
                continue;
            };
            if let Some(moved) = mapping.items.get(source, item) {
                loads.add(import.importer, nodes(&moved.parent));
            }
        }
        loads
    }

    pub fn add(&mut self, importer: usize, target: usize) {
        self.added.entry(importer).or_default().push(target);
    }

    /// Whether `module` imports `target` itself.
    pub fn direct(&self, module: usize, target: usize) -> bool {
        self.mapping.executes(module).contains(&target)
    }

    /// Whether executing `start` comes to `goal`; packages around `goal` run before it anyway.
    pub fn reaches(&self, start: usize, goal: usize, goal_name: &str) -> bool {
        let graph = self.mapping.graph;
        let around = |module: usize| {
            let name = graph.modules.get(module).map(|module| &module.name);
            let rest = name.and_then(|name| goal_name.strip_prefix(name.as_str()));
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let mut seen = FxHashSet::default();
        let mut open = vec![start];
        while let Some(module) = open.pop() {
            if module == goal {
                return true;
            }
            if (module != start && around(module)) || !seen.insert(module) {
                continue;
            }
            open.extend_from_slice(self.mapping.executes(module));
            open.extend(self.added.get(&module).into_iter().flatten());
            let module_name = graph.modules.get(module).map(|module| &module.name);
            let mut name = module_name.map_or("", String::as_str);
            while let Some((above, _)) = name.rsplit_once('.') {
                name = above;
                open.extend(graph.find(Some(module), above));
            }
        }
        false
    }
}
