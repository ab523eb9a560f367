//! The merged graph of all languages of a tree: who imports whom, and which modules import each
//! other.
//!
//! Pure functions of the languages' graphs, in deterministic order. What a name means is the
//! language's business; what to do about it is the plan's and the lint's.

mod cycle;
mod item_users;

pub use cycle::{Cycle, CycleEdge, cycles};
pub use item_users::ItemUsers;

use coalesce_model::{Import, ImportTarget, LanguageGraph, LanguageKind, Module};

/// All languages of one tree.
pub struct Index<'g> {
    graphs: Vec<&'g dyn LanguageGraph>,
    /// Modules by all of their names, sorted.
    by_name: Vec<(&'g str, &'g Module)>,
}

impl<'g> Index<'g> {
    /// Joins the graphs of a tree; their order is the order of everything that is listed.
    #[must_use]
    pub fn new(graphs: Vec<&'g dyn LanguageGraph>) -> Self {
        let modules = graphs.iter().flat_map(|graph| graph.modules());
        let names = modules.flat_map(|module| {
            let also = module.also.iter().filter(|name| **name != module.name);
            let names = std::iter::once(&module.name).chain(also);
            names.map(move |name| (name.as_str(), module))
        });
        let mut by_name: Vec<(&str, &Module)> = names.collect();
        // Of one name in the order of the graphs.
        by_name.sort_by_key(|(name, _)| *name);
        Self { graphs, by_name }
    }

    /// The graphs.
    #[must_use]
    pub fn graphs(&self) -> &[&'g dyn LanguageGraph] {
        &self.graphs
    }

    /// The graph of a language, when the tree has one.
    #[must_use]
    pub fn graph(&self, language: LanguageKind) -> Option<&'g dyn LanguageGraph> {
        self.graphs
            .iter()
            .copied()
            .find(|graph| graph.language() == language)
    }

    /// Every module whose name, or another name of the same file, is `name`, in any language.
    pub fn modules_named(&self, name: &str) -> impl Iterator<Item = &'g Module> {
        let first = self.by_name.partition_point(|(own, _)| *own < name);
        let from = self.by_name.get(first..).unwrap_or_default();
        let count = from.partition_point(|(own, _)| *own == name);
        let found = from.get(..count).unwrap_or_default();
        found.iter().map(|(_, module)| *module)
    }

    /// Import cycles of every language, eager ones first, larger ones first.
    #[must_use]
    pub fn cycles(&self) -> Vec<Cycle> {
        let mut all: Vec<Cycle> = self
            .graphs
            .iter()
            .flat_map(|graph| cycles(*graph))
            .collect();
        all.sort_by(|a, b| {
            (!a.eager, b.modules.len(), &a.modules).cmp(&(!b.eager, a.modules.len(), &b.modules))
        });
        all
    }
}

/// For each module of the graph, the modules that import it, sorted, each once.
#[must_use]
pub fn importers(graph: &dyn LanguageGraph) -> Vec<Vec<usize>> {
    let mut importers = vec![Vec::new(); graph.modules().len()];
    for import in graph.imports() {
        if let ImportTarget::Module(target) = import.target
            && target != import.importer
            && let Some(list) = importers.get_mut(target)
        {
            list.push(import.importer);
        }
    }
    for list in &mut importers {
        list.sort_unstable();
        list.dedup();
    }
    importers
}

/// Imports whose failure would go unnoticed, with what they lead to.
pub fn guarded(graph: &dyn LanguageGraph) -> impl Iterator<Item = &Import> {
    graph
        .imports()
        .iter()
        .filter(|import| import.guard.hides_failure())
}
