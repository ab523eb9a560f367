//! The imports of all files, with what each of them leads to.

use coalesce_model::{Import, ImportTarget, TreePath};

use super::{
    Entity, PythonGraph, is_dunder,
    look::{Known, Look},
};
use crate::facts::{ImportStatement, Leaf};

impl PythonGraph {
    pub(super) fn resolve_imports(&mut self) {
        let (mut imports, mut unchecked) = (Vec::new(), Vec::new());
        // In the order of paths; those of one file are sorted below.
        let mut modules: Vec<_> = self.modules.iter().zip(&self.facts).enumerate().collect();
        modules.sort_unstable_by(|(_, (a, _)), (_, (b, _))| a.path.cmp(&b.path));
        for (importer, (module, facts)) in modules {
            let mut own: Vec<(Import, bool)> = Vec::new();
            for import in &facts.imports {
                self.resolve_import(importer, &module.path, import, &mut own);
            }
            own.sort_by_key(|(import, _)| import.span);
            let open = own.iter().filter(|(_, open)| *open);
            unchecked.extend(open.map(|(import, _)| import.clone()));
            imports.extend(own.into_iter().map(|(import, _)| import));
        }
        (self.imports, self.unchecked) = (imports, unchecked);
    }

    /// What the leaves of a statement lead to, and of each whether nobody knows.
    fn resolve_import(
        &self,
        importer: usize,
        path: &TreePath,
        import: &ImportStatement,
        resolved: &mut Vec<(Import, bool)>,
    ) {
        let base = self.base_module(importer, import);
        let package = import.base(self.package_of(importer));
        for leaf in &import.leaves {
            let known = Known::default();
            let look = Look::new(&known);
            let entity = self.leaf_entity_of(Some(importer), import, leaf, base, look);
            let opaque = entity == Entity::Opaque && !is_dunder(&leaf.name.text);
            let name = full_name(package.as_deref(), &leaf.name.text);
            // A folder without `__init__.py` is a package as well, and no module.
            let is_folder = entity == Entity::Missing && self.is_namespace(&name);
            let entity = if is_folder { Entity::Opaque } else { entity };
            let target = target(import, base, entity);
            let found = import_to(importer, path, (import, leaf), name, target);
            resolved.push((found, opaque && !import.lazy));
        }
    }
}

/// A leaf of a statement that leads to `target`.
fn import_to(
    importer: usize,
    path: &TreePath,
    (import, leaf): (&ImportStatement, &Leaf),
    name: String,
    target: ImportTarget,
) -> Import {
    Import {
        importer,
        target,
        name,
        path: path.clone(),
        span: leaf.name.span,
        line: leaf.line,
        eager: import.eager,
        guard: import.guard,
    }
}

/// What a leaf leads to that means `entity`, in a statement whose `from` part names the module `base`.
fn target(import: &ImportStatement, base: Option<usize>, entity: Entity) -> ImportTarget {
    match (entity, base) {
        (Entity::Module(module), _) => ImportTarget::Module(module),
        (Entity::Item(module, _), base) => ImportTarget::Module(base.unwrap_or(module)),
        // A name that a module of the tree took from outside.
        (Entity::External | Entity::Opaque, Some(module)) => ImportTarget::Module(module),
        (Entity::External, None) => ImportTarget::External,
        (Entity::Opaque, None) => ImportTarget::Opaque,
        // What a table means by a text that is no module of the tree, nobody knows.
        (Entity::Missing, None) if import.lazy => ImportTarget::Opaque,
        (Entity::Missing, _) => ImportTarget::Unresolved,
    }
}

/// The full name of what a leaf imports from a package or by itself; a star means the whole module.
fn full_name(package: Option<&str>, leaf: &str) -> String {
    match (package, leaf) {
        (Some(package), "*") => package.trim_end_matches(".*").to_owned(),
        (Some(package), leaf) => [package, ".", leaf].concat(),
        (None, leaf) => leaf.trim_end_matches(".*").to_owned(),
    }
}
