//! The `rename` table of a module that moves: each item of it is a change of its own, whose name changes while the
//! module brings it to its new place.

use coalesce_model::{
    Change, ChangeKind, ItemPlace, Module, Subject,
    manifest::{Entry, EntryVerb, Manifest, Name, did_you_mean},
};

use super::Checker;
use crate::names::unfit;

/// The move of an item that gets another name with its module.
fn rename_of_item(entry: &Entry, separator: &str, (old, new): (&str, &str)) -> Change {
    Change {
        from: format!("{}{separator}{old}", entry.from.text),
        to: format!("{}{separator}{new}", entry.to.text),
        subject: Subject::Item,
        kind: ChangeKind::Move,
        // What stays at the old name of the module keeps those of its items.
        shim: None,
        uses: entry.uses,
    }
}

impl Checker<'_> {
    /// The items that get another name with their module; empty, and an error told, where one cannot.
    pub(super) fn names_after(
        &mut self,
        manifest: &Manifest,
        entry: &Entry,
        module: &Module,
    ) -> Vec<Change> {
        if entry.verb != EntryVerb::Move {
            return Vec::new();
        }
        let separator = module.language.separator();
        let mut changes = Vec::new();
        for (old, new) in &entry.rename {
            match self.renamed(entry, module, (old, new)) {
                Ok(()) => changes.push(rename_of_item(entry, separator, (old, new))),
                Err((message, help)) => {
                    let error = manifest.error(entry.from.span, message, help);
                    self.errors.push(error);
                }
            }
        }
        changes
    }

    /// Whether an item of a module can get this name there; why not, and what to do.
    fn renamed(
        &self,
        entry: &Entry,
        module: &Module,
        (old, new): (&str, &str),
    ) -> Result<(), (String, Option<String>)> {
        let separator = module.language.separator();
        let named = |item: &str| Name {
            text: format!("{}{separator}{item}", entry.from.text),
            ..entry.from.clone()
        };
        let (from, to) = (named(old), named(new));
        let is_module = !self.candidates(&from).is_empty();
        match self.item(&from).map(|(_, item)| item.place) {
            Some(ItemPlace::Defined) if !is_module => {}
            _ if is_module => {
                let message = format!("`{}` is a module, not an item", from.text);
                let help = "give it its name by a `[[move]]` of its own".to_owned();
                return Err((message, Some(help)));
            }
            Some(ItemPlace::Reexport(of)) => {
                let help = format!("rename the definition by a `[[move]]` of `{of}`");
                return Err((
                    format!("`{}` only leads on to `{of}`", from.text),
                    Some(help),
                ));
            }
            _ => {
                let names = module.defines.iter().map(String::as_str);
                let help = did_you_mean(old, names);
                return Err((format!("there is no item `{}`", from.text), help));
            }
        }
        if self.names.entry_from(&from.text).is_some() {
            return Err((format!("`{}` stands in two entries", from.text), None));
        }
        let lexicon = self.lexicon(module);
        if let Some(why) = lexicon.and_then(|lexicon| unfit(new, lexicon)) {
            return Err((format!("no import can name `{new}`: it {why}"), None));
        }
        let leaves = entry.rename.iter().any(|(other, _)| other == new);
        let taken = self.item(&to).is_some() || !self.candidates(&to).is_empty();
        let twice = entry
            .rename
            .iter()
            .filter(|(_, other)| other == new)
            .count()
            > 1;
        if twice || leaves || taken {
            return Err((format!("`{}` exists already", to.text), None));
        }
        Ok(())
    }

    /// Whether an entry of an item has no table that only modules have.
    pub(super) fn has_no_renames(&mut self, manifest: &Manifest, entry: &Entry) -> bool {
        if entry.rename.is_empty() {
            return true;
        }
        let message = format!(
            "`{}` is an item; `rename` is for items of a module",
            entry.from.text
        );
        let help = "the new name is the last part of `to`".to_owned();
        self.errors
            .push(manifest.error(entry.from.span, message, Some(help)));
        false
    }
}
