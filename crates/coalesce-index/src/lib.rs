//! The merged graph of all languages of a tree: who imports whom, and which modules import each
//! other.
//!
//! Pure functions of the languages' graphs, in deterministic order. What a name means is the
//! language's business; what to do about it is the plan's and the lint's.

mod cycle;

pub use cycle::{Cycle, CycleEdge, cycles};

use coalesce_model::{Import, ImportTarget, LanguageGraph, LanguageKind, Module};

/// All languages of one tree.
pub struct Index<'g> {
    graphs: Vec<&'g dyn LanguageGraph>,
}

impl<'g> Index<'g> {
    /// Joins the graphs of a tree; their order is the order of everything that is listed.
    #[must_use]
    pub fn new(graphs: Vec<&'g dyn LanguageGraph>) -> Self {
        Self { graphs }
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
        let name = name.to_owned();
        self.graphs
            .iter()
            .flat_map(|graph| graph.modules())
            .filter(move |module| module.name == name || module.also.contains(&name))
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
