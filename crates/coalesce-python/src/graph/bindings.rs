//! What the text of a module binds, and what it offers.

use coalesce_model::TreePath;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::facts::PythonFacts;

/// What binds a name of a module.
#[derive(Clone, Copy, Default)]
pub(super) struct Bound {
    /// Statement and leaf of an import that binds the name.
    pub import: Option<(usize, usize)>,
    pub defined: bool,
}

/// The statements of module-level code that are star imports.
pub(super) fn star_imports(facts: &PythonFacts) -> Vec<usize> {
    let statements = facts.imports.iter().enumerate();
    let stars = statements.filter(|(_, import)| {
        import.top_level && import.leaves.iter().any(|leaf| leaf.name.text == "*")
    });
    stars.map(|(statement, _)| statement).collect()
}

/// What module-level code binds.
pub(super) fn bindings(facts: &PythonFacts) -> FxHashMap<String, Bound> {
    let leaves = facts.imports.iter().map(|import| import.leaves.len());
    let names = facts.defines.len() + leaves.sum::<usize>();
    let mut bound = FxHashMap::with_capacity_and_hasher(names, FxBuildHasher);
    for name in &facts.defines {
        let found: &mut Bound = bound.entry(name.clone()).or_default();
        found.defined = true;
    }
    for (statement, import) in facts
        .imports
        .iter()
        .enumerate()
        .filter(|(_, import)| import.top_level)
    {
        for (at, leaf) in import.leaves.iter().enumerate() {
            if leaf.name.text != "*" {
                bound
                    .entry(leaf.bound().to_owned())
                    .or_default()
                    .import
                    .get_or_insert((statement, at));
            }
        }
    }
    bound
}

pub(super) fn exports(facts: &PythonFacts, path: &TreePath) -> Vec<String> {
    if let Some(all) = &facts.all {
        return all.iter().map(|entry| entry.text.clone()).collect();
    }
    let public = |name: &&str| !name.starts_with('_');
    let mut exports: Vec<String> = facts
        .defines
        .iter()
        .map(String::as_str)
        .filter(public)
        .map(str::to_owned)
        .collect();
    let package = path.file_stem() == "__init__";
    for import in facts
        .imports
        .iter()
        .filter(|import| import.top_level && import.from.is_some())
    {
        for leaf in &import.leaves {
            let explicit = leaf
                .alias
                .as_ref()
                .is_some_and(|alias| alias.text == leaf.name.text);
            if (package || explicit) && leaf.name.text != "*" && public(&leaf.bound()) {
                exports.push(leaf.bound().to_owned());
            }
        }
    }
    exports.sort();
    exports.dedup();
    exports
}
