//! Public names that a module has no more because an import waits in its functions.
//!
//! No statement of the tree asks for them there, or the import would not wait: who uses the package from elsewhere may. A
//! shim does not help, since the names are none that a change is about.

use coalesce_model::{Change, LanguageGraph, Module, Texts, change::Renames, envelope::LostName};

use crate::{facts::ImportStatement, graph::PythonGraph};

/// The tree before and after, of which public names are asked.
pub(super) struct Trees<'g> {
    pub before: &'g PythonGraph,
    pub after: &'g PythonGraph,
    pub changes: &'g [Change],
    pub texts: &'g dyn Texts,
}

impl Trees<'_> {
    /// The names that imports of a module bound for all who have the package, by what the module is called before.
    pub fn lost_names(&self, module: usize, imports: &[&ImportStatement]) -> Vec<LostName> {
        let old = self.after.modules.get(module).and_then(|own| self.old(own));
        let Some((old, before)) = old.filter(|(_, before)| self.is_public(&before.name)) else {
            return Vec::new();
        };
        let leaves = imports.iter().flat_map(|import| {
            let leaves = import.leaves.iter();
            leaves.map(|leaf| (*import, leaf))
        });
        let lost = leaves.filter(|(_, leaf)| {
            !leaf.bound().starts_with('_') && self.before.binds(old, leaf.bound())
        });
        let public = self.after.public_names();
        lost.map(|(import, leaf)| {
            let taken = import.full_name(leaf, self.after.package_of(module));
            let defined = self
                .after
                .full_name(&self.after.leaf_entity(module, import, leaf));
            LostName {
                name: format!("{}.{}", before.name, leaf.bound()),
                instead: taken
                    .into_iter()
                    .chain(defined)
                    .find(|name| public.contains(name)),
                shim_keeps: false,
            }
        })
        .collect()
    }

    /// The module before, where its name leads to something afterwards: those below a name that is gone go with it.
    fn old(&self, own: &Module) -> Option<(usize, &Module)> {
        let renames = Renames::new(self.changes, ".");
        let mut modules = self.before.modules.iter().enumerate();
        let stays = |module: &Module| self.after.find(None, &module.name).is_some();
        modules.find(|(_, module)| renames.name_after(&module.name) == own.name && stays(module))
    }

    /// Whether others can write the name of a module.
    fn is_public(&self, module: &str) -> bool {
        self.before.public_names().contains(module) && self.after.is_published(module, self.texts)
    }
}
