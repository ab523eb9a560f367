//! `[[accessor]]`: the functions have to be there, and something has to give way to them.

use coalesce_model::{
    ItemPlace,
    manifest::{Accessor, Manifest, Name, Verb},
};

use super::{Checked, Checker, EntryReport, EntryState};

impl Checker<'_> {
    pub(super) fn accessor(
        &mut self,
        manifest: &Manifest,
        accessor: &Accessor,
        checked: &mut Checked,
    ) {
        let functions = std::iter::once(&accessor.get).chain(&accessor.has);
        let fit: Vec<bool> = functions
            .map(|name| self.is_function(manifest, name))
            .collect();
        if fit.contains(&false) {
            return;
        }
        let graphs = self.index.graphs().iter();
        let mut plans = graphs.map(|graph| graph.access(accessor, self.texts));
        let open = plans.any(|plan| !plan.edits.is_empty() || !plan.refusals.is_empty());
        if !open && !manifest.applied.has_accessor(accessor) {
            let message = format!(
                "no module imports `{}` at its top under `except ImportError`",
                accessor.library.text
            );
            self.errors
                .push(manifest.error(accessor.library.span, message, None));
            return;
        }
        checked.entries.push(EntryReport {
            manifest: manifest.id.clone(),
            verb: Verb::Access,
            from: accessor.library.text.clone(),
            to: accessor.get.text.clone(),
            state: if open {
                EntryState::Open
            } else {
                EntryState::Done
            },
        });
        if open {
            checked.accessors.push(accessor.clone());
        }
    }

    /// Whether a name is that of something that a module defines and goes on defining.
    fn is_function(&mut self, manifest: &Manifest, name: &Name) -> bool {
        let Some((_, item)) = self.item(name) else {
            self.missing_item(manifest, name);
            return false;
        };
        let home = name.text.rsplit_once('.').map(|(home, _)| home);
        let leaves = home.is_some_and(|home| self.names.goes(home));
        let (message, help) = match item.place {
            _ if leaves || self.names.entry_from(&name.text).is_some() => {
                let help = "give imports up in a migration of their own, after this one";
                let message = format!("`{}` goes away in this migration itself", name.text);
                (message, Some(help.to_owned()))
            }
            ItemPlace::Defined => return true,
            ItemPlace::Reexport(of) => {
                let message = format!("`{}` only leads on to `{of}`", name.text);
                (message, Some(format!("name the definition: `{of}`")))
            }
            ItemPlace::Shim(id) => (format!("`{}` is a shim that `{id}` left", name.text), None),
        };
        self.errors.push(manifest.error(name.span, message, help));
        false
    }
}
