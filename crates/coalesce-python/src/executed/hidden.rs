//! Items of a package that have the name of a module below it, and that the module comes to hide.
//!
//! `from .resize import resize` runs `pkg/resize.py` first, and binds the function over the module that the import system has
//! bound. Where the function comes from elsewhere, whoever imports `pkg.resize` first binds the module over the function. It
//! stays a function only where the package runs the module before it binds the name, as it did.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Change, Subject, Unproven, UnprovenKind};

use super::{Imports, ModuleSet};
use crate::{
    facts::ImportStatement,
    graph::{Entity, PythonGraph},
};

/// The names that packages lose so to modules below them.
pub(super) fn by_modules_below(
    (before, after): (&PythonGraph, &PythonGraph),
    changes: &[Change],
    (old, new): &(Imports, Imports),
) -> Vec<Unproven> {
    let left = modules_left(changes);
    let hidden = left.into_iter().filter_map(|module| {
        let (package, name) = module.rsplit_once('.')?;
        let was = PackageName::of(before, old, (package, module, name))?;
        let now = PackageName::of(after, new, (package, module, name))?;
        (was.is_after_module && !now.is_after_module).then(|| was.unproven(before, module))?
    });
    hidden.collect()
}

/// The modules that items leave, and those that stay as shims.
fn modules_left(changes: &[Change]) -> BTreeSet<&str> {
    let left = changes.iter().filter_map(|change| match change.subject {
        Subject::Item => change.from.rsplit_once('.').map(|(module, _)| module),
        Subject::Module => change.shim.as_ref().map(|_| change.from.as_str()),
    });
    left.collect()
}

/// The import by which a package binds an item that has the name of a module below it.
struct PackageName {
    package: usize,
    name: String,
    span: ByteSpan,
    /// Whether the package has run the module by then.
    is_after_module: bool,
}

impl PackageName {
    fn of(
        graph: &PythonGraph,
        imports: &Imports,
        (package, module, name): (&str, &str, &str),
    ) -> Option<Self> {
        let (package, module) = (graph.find(None, package)?, graph.find(None, module)?);
        let facts = graph.facts.get(package)?;
        let is_executed = |import: &&ImportStatement| import.eager && import.top_level;
        let mut ran = ModuleSet::none(imports.runs.len());
        ran.add(package);
        for import in facts.imports.iter().filter(is_executed) {
            let leaf = import.leaves.iter().find(|leaf| leaf.bound() == name);
            // What runs the module stands before its names are bound.
            import_targets(graph, package, import)
                .into_iter()
                .for_each(|target| imports.run(target, &mut ran));
            if let Some(leaf) = leaf {
                let item = matches!(graph.leaf_entity(package, import, leaf), Entity::Item(..));
                return item.then(|| Self {
                    package,
                    name: name.to_owned(),
                    span: leaf.span,
                    is_after_module: ran.has(module),
                });
            }
        }
        None
    }

    fn unproven(&self, before: &PythonGraph, module: &str) -> Option<Unproven> {
        let package = before.modules.get(self.package)?;
        let (package, path) = (&package.name, package.path.clone());
        let name = &self.name;
        Some(Unproven {
            path,
            span: Some(self.span),
            kind: UnprovenKind::NotLoaded,
            name: module.to_owned(),
            why: format!(
                "`{package}` no longer runs it before it binds `{name}`: who imports the module later binds it over what \
                 `{package}.{name}` was"
            ),
        })
    }
}

/// The modules of the tree that a statement executes itself.
fn import_targets(graph: &PythonGraph, importer: usize, import: &ImportStatement) -> Vec<usize> {
    let leaves = import.leaves.iter();
    let modules = leaves.filter_map(|leaf| match graph.leaf_entity(importer, import, leaf) {
        Entity::Module(module) => Some(module),
        _ => None,
    });
    modules.chain(graph.base_module(importer, import)).collect()
}
