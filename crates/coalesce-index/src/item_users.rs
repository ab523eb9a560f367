//! Which modules import an item by its name. A module that many import may have an item that nobody does.

use std::collections::{BTreeSet, HashMap};

use coalesce_model::{ImportTarget, LanguageGraph};

/// For the full name of an item the modules that import it.
#[derive(Clone, Debug, Default)]
pub struct ItemUsers(HashMap<String, BTreeSet<String>>);

impl ItemUsers {
    /// Those of one language.
    #[must_use]
    pub fn new(graph: &dyn LanguageGraph) -> Self {
        let mut users = Self::default();
        users.add(graph);
        users
    }

    /// Adds the imports of one language; what comes by way of a re-export counts for what it leads to.
    pub fn add(&mut self, graph: &dyn LanguageGraph) {
        let mut canonical: HashMap<&str, Option<String>> = HashMap::new();
        for import in graph.imports() {
            let ImportTarget::Module(target) = import.target else {
                continue;
            };
            let modules = (
                graph.modules().get(target),
                graph.modules().get(import.importer),
            );
            let (Some(module), Some(importer)) = modules else {
                continue;
            };
            if import.importer == target || import.name == module.name {
                continue;
            }
            let known = canonical.entry(&import.name);
            let item = known.or_insert_with(|| item_of(graph, &module.defines, &import.name));
            if let Some(item) = item {
                let users = self.0.entry(item.clone()).or_default();
                users.insert(importer.name.clone());
            }
        }
    }

    /// The modules that import the item of this full name, sorted.
    pub fn of(&self, item: &str) -> impl Iterator<Item = &str> {
        let users = self.0.get(item).into_iter().flatten();
        users.map(String::as_str)
    }
}

/// The full name of the item that an imported name is; `None` where it is none of the tree.
fn item_of(graph: &dyn LanguageGraph, defines: &[String], name: &str) -> Option<String> {
    let (_, item) = name.rsplit_once(graph.language().separator())?;
    if defines.iter().any(|defined| defined == item) {
        return Some(name.to_owned());
    }
    graph.canonical(name)
}
