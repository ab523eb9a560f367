//! Whether an import at the top of a module could close a cycle.
//!
//! Coarser than the play of all imports that the plan is proven with: what this calls safe is safe.

use coalesce_model::ImportTarget;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Moved;
use crate::rewrite::mapping::Mapping;

/// A module of the graph, or one that is to be made, by its name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Node {
    There(usize),
    Made(String),
}

impl Node {
    /// The module that an item goes to.
    pub fn of_target(moved: &Moved) -> Self {
        let made = || Self::Made(moved.parent.clone());
        moved.target.map_or_else(made, Self::There)
    }

    fn there(&self) -> Option<usize> {
        match self {
            Self::There(module) => Some(*module),
            Self::Made(_) => None,
        }
    }
}

/// Who loads whom once the items are in their places.
pub struct Loads<'m> {
    mapping: &'m Mapping<'m>,
    /// Imports that come on top of those that are there.
    added: FxHashMap<Node, Vec<Node>>,
}

impl<'m> Loads<'m> {
    /// The imports of today, and those of users who turn to where an item goes.
    pub fn new(mapping: &'m Mapping<'m>) -> Self {
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
                loads.add(Node::There(import.importer), Node::of_target(moved));
            }
        }
        loads
    }

    pub fn add(&mut self, importer: Node, target: Node) {
        self.added.entry(importer).or_default().push(target);
    }

    /// Whether `module` imports `target` itself.
    pub fn direct(&self, module: usize, target: usize) -> bool {
        self.mapping.executes(module).contains(&target)
    }

    /// Whether executing `start` comes to `goal`; packages around `goal` run before it anyway.
    pub fn reaches(&self, start: &Node, goal: &Node, goal_name: &str) -> bool {
        let graph = self.mapping.graph;
        let around = |node: &Node| {
            let module = node.there().and_then(|module| graph.modules.get(module));
            let rest = module.and_then(|module| goal_name.strip_prefix(module.name.as_str()));
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let mut seen = FxHashSet::default();
        let mut open = vec![start.clone()];
        while let Some(node) = open.pop() {
            if node == *goal {
                return true;
            }
            if (node != *start && around(&node)) || !seen.insert(node.clone()) {
                continue;
            }
            open.extend(self.added.get(&node).into_iter().flatten().cloned());
            if let Some(module) = node.there() {
                open.extend(self.loaded(module).map(Node::There));
            }
        }
        false
    }

    /// What executing a module executes itself, and the packages around it.
    fn loaded(&self, module: usize) -> impl Iterator<Item = usize> {
        let graph = self.mapping.graph;
        let own = graph.modules.get(module);
        let names = std::iter::successors(own.map(|own| own.name.as_str()), |name| {
            name.rsplit_once('.').map(|(above, _)| above)
        });
        let around = names
            .skip(1)
            .filter_map(move |above| graph.find(Some(module), above));
        self.mapping.executes(module).iter().copied().chain(around)
    }
}
