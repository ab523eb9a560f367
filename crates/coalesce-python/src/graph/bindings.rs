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
    /// Whether more than one import binds it.
    pub several: bool,
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
    for (statement, import) in facts.imports.iter().enumerate() {
        let leaves = import.leaves.iter().enumerate();
        let named = leaves.filter(|(_, leaf)| import.top_level && leaf.name.text != "*");
        for (at, leaf) in named {
            let found = bound.entry(leaf.bound().to_owned()).or_default();
            found.several |= found.import.is_some();
            let first = found.import.and_then(|(first, _)| facts.imports.get(first));
            if first.is_none_or(|first| import.replaces(first)) {
                found.import = Some((statement, at));
            }
        }
    }
    bound
}

pub(super) fn exports(facts: &PythonFacts, path: &TreePath) -> Vec<String> {
    if let Some(all) = &facts.all {
        return all.iter().map(|entry| entry.text.clone()).collect();
    }
    let defined = facts.defines.iter().filter(|name| is_public(name));
    let mut exports: Vec<String> = defined.cloned().collect();
    let package = path.file_stem() == "__init__";
    let leaves = facts.import_leaves();
    let exported = leaves.filter(|(import, leaf)| {
        let own = leaf.alias.as_ref();
        let explicit = own.is_some_and(|alias| alias.text == leaf.name.text);
        import.top_level
            && import.from.is_some()
            && (package || explicit)
            && leaf.name.text != "*"
            && is_public(leaf.bound())
    });
    exports.extend(exported.map(|(_, leaf)| leaf.bound().to_owned()));
    exports.sort();
    exports.dedup();
    exports
}

fn is_public(name: &str) -> bool {
    !name.starts_with('_')
}
