//! Macros that stay and that moved text calls by their plain names, where it sees them no longer: the
//! new module imports them by a path.

use std::collections::BTreeSet;

use super::{Import, Settler};
use crate::rewrite::{macro_paths::Paths, macro_scope::is_seen};

impl Settler<'_, '_> {
    /// Gives macros paths; what cannot have one is left for the refusal.
    pub(super) fn textual(&mut self) {
        let mapping = self.set.mapping;
        let mut paths = Paths::new(mapping);
        for ((item, place), site) in std::mem::take(&mut self.scan.macros) {
            if is_seen(mapping, item, &place, &mut None) {
                continue;
            }
            let Some(found) = paths.paths(item, &place) else {
                self.scan.macros.insert((item, place), site);
                continue;
            };
            let list = self.imports.arriving.entry(place).or_default();
            list.extend(found.into_iter().map(|(_, path)| {
                let (alias, cfg) = (None, BTreeSet::new());
                Import { path, alias, cfg }
            }));
        }
        self.scan.told.needs.append(&mut paths.needs);
        for (path, edits) in paths.edits {
            if let Some(file) = mapping.world.file_at(&path) {
                self.scan.files.entry(file).or_default().edits.extend(edits);
            }
        }
    }
}
