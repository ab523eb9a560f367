//! Packages that were loaded only on the way to a module which moves out of them.
//!
//! `from .old.gpu import f` in `pkg` made `pkg.old` an attribute of `pkg`. When `gpu` is elsewhere,
//! nothing does, and `import pkg; pkg.old.x` needs an import of its own. Only what importing the
//! top-level package loads is looked at.

use std::collections::BTreeSet;

use coalesce_model::{ChangeKind, Form};
use rustc_hash::FxHashSet;

use crate::{
    analysis::Use,
    facts::{ImportStatement, Leaf},
    graph::PythonGraph,
    names::is_or_below,
    rewrite::{
        file::{File, FileEdits, Reference},
        mapping::Mapping,
    },
};

/// Names of packages that importing their top-level package loads now and will not load after.
pub fn packages(mapping: &Mapping<'_>) -> BTreeSet<String> {
    let mut lost = BTreeSet::new();
    for change in &mapping.changes {
        if change.kind != ChangeKind::Move {
            continue;
        }
        let candidates = packages_above(mapping, &change.from);
        let top = change.from.split('.').next().unwrap_or_default();
        let Some(start) = mapping.graph.find(None, top) else {
            continue;
        };
        if candidates.is_empty() {
            continue;
        }
        let before = loaded(mapping, start, |module| {
            name(mapping.graph, module).to_owned()
        });
        let after = loaded(mapping, start, |module| mapping.name_after(module));
        let gone = candidates
            .into_iter()
            .filter(|package| before.contains(package) && !after.contains(package));
        lost.extend(gone.map(|package| name(mapping.graph, package).to_owned()));
    }
    lost
}

/// Whether executing a module loads another one as the tree is, itself or on the way to a module below it.
pub fn loads_before(mapping: &Mapping<'_>, start: usize, target: usize) -> bool {
    let before = loaded(mapping, start, |module| {
        name(mapping.graph, module).to_owned()
    });
    before.contains(&target)
}

/// The packages between the top-level one and a module, those that stay.
fn packages_above(mapping: &Mapping<'_>, name: &str) -> Vec<usize> {
    let mut packages = Vec::new();
    let mut at = name;
    while let Some((above, _)) = at.rsplit_once('.').filter(|(above, _)| above.contains('.')) {
        at = above;
        let package = mapping.graph.find(None, above);
        packages.extend(package.filter(|package| mapping.new_name(*package).is_none()));
    }
    packages
}

fn name(graph: &PythonGraph, module: usize) -> &str {
    graph
        .modules
        .get(module)
        .map_or("", |module| module.name.as_str())
}

/// What executing `start` loads, packages on the way included, with the names that `name` gives.
fn loaded(mapping: &Mapping<'_>, start: usize, name: impl Fn(usize) -> String) -> FxHashSet<usize> {
    let mut seen = FxHashSet::default();
    let mut open = vec![start];
    while let Some(module) = open.pop() {
        if !seen.insert(module) {
            continue;
        }
        open.extend_from_slice(mapping.executes(module));
        let full = name(module);
        let mut below = full.as_str();
        while let Some((above, _)) = below.rsplit_once('.') {
            below = above;
            // The package of that name, or the one that comes along under it.
            let now = mapping
                .graph
                .find(None, above)
                .filter(|found| name(*found) == above);
            let along = mapping
                .arriving(above)
                .filter(|found| name(*found) == above);
            open.extend(now.or(along));
        }
    }
    seen
}

/// Adds the import that a chain to a module which stays, `full`, needs from now on.
pub fn keep(
    file: &File<'_>,
    used: &Use,
    full: &str,
    import: Option<&ImportStatement>,
    found: &mut FileEdits,
) {
    let mut lost = file.mapping.lost.iter();
    let Some(package) = lost.rfind(|package| is_or_below(full, package)) else {
        return;
    };
    let at = used.chain.first().map_or(0, |root| root.span.start);
    let mut imports = file.analysis().imports.iter();
    let own = imports.any(|(import, scope)| {
        let loaded = import.span.start < at && (*scope == used.scope || import.top_level);
        loaded && loads_as_it_is(file, import, package)
    });
    let Some(import) = import.filter(|_| !own) else {
        return;
    };
    let reason = "nothing else loads this package any more";
    let reference = Reference::resolved(Form::Import, package, package, reason);
    found.note(import.span, reference);
    found.add_statement(file.place_after(import), format!("import {package}"));
}

/// Whether an import that stays as it is loads a package.
fn loads_as_it_is(file: &File<'_>, import: &ImportStatement, package: &str) -> bool {
    let covering = |leaf: &Leaf| {
        let named = import.full_name(leaf, file.package).unwrap_or_default();
        is_or_below(&named, package) && file.absolute(&named).is_none()
    };
    import.leaves.iter().any(covering)
}
