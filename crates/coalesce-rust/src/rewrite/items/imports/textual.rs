//! Macros that stay and that moved text calls by their plain names, where it sees them no longer.
//!
//! Such a macro gets a path, `pub(crate) use name;` behind its definition, and the new module
//! imports it by that. One whose body calls macros that are seen by where they stand is left: those
//! would be out of scope as well.

use std::collections::BTreeSet;

use coalesce_model::Edit;

use super::{Import, Settler};
use crate::{
    facts::VisibilityKind,
    resolve::ItemId,
    rewrite::{
        items::{macros, rules},
        lines,
        macro_paths::{calls_by_position, only_definition},
        place::Place,
        sight::Because,
        spell::written,
    },
};

impl Settler<'_, '_> {
    /// Gives macros paths; what cannot have one is left for the refusal.
    pub(super) fn textual(&mut self) {
        let mut given = BTreeSet::new();
        for ((item, place), site) in std::mem::take(&mut self.scan.macros) {
            let seen = macros::is_seen(self.set, item, &place);
            if !seen && self.by_path(item, &place, &mut given).is_none() {
                self.scan.macros.insert((item, place), site);
            }
        }
    }

    fn by_path(&mut self, item: ItemId, place: &Place, given: &mut BTreeSet<ItemId>) -> Option<()> {
        let world = self.set.mapping.world;
        let node = world.items.get(item.index())?;
        let home = self.set.mapping.after(node.module);
        let exported = rules::is_exported(world, item);
        let at = if exported {
            Place::root(home.krate)
        } else {
            home.clone()
        };
        let crosses = home.krate != place.krate;
        if (crosses && !exported) || self.calls_unseen(item, place) {
            return None;
        }
        if self.has_name(place, &node.name) {
            return None;
        }
        if !exported && !given.contains(&item) {
            self.give(item)?;
            given.insert(item);
        }
        self.speller().chain(&at, place, &mut self.scan.needs);
        let named = format!("{}::{}", self.set.mapping.name_of(&at), node.name);
        self.depend(at.krate, place, Because::Names(named));
        let mut path = self.speller().rooted_in(place.krate, &at);
        path.push(node.name.clone());
        let list = self.imports.arriving.entry(place.clone()).or_default();
        let (alias, cfg) = (None, BTreeSet::new());
        list.insert(Import { path, alias, cfg });
        Some(())
    }

    /// Puts an import behind the definition of a macro, unless it has one.
    fn give(&mut self, item: ItemId) -> Option<()> {
        let world = self.set.mapping.world;
        let node = world.items.get(item.index())?;
        let imports = rules::imports(world, node.module, item, &node.name);
        let wide =
            |kind: VisibilityKind| matches!(kind, VisibilityKind::Crate | VisibilityKind::Public);
        if imports.iter().any(|(_, kind)| wide(*kind)) {
            return Some(());
        }
        let (file, fact) = only_definition(self.set.mapping.world, item)?;
        let span = fact.span;
        if !imports.is_empty() || rules::is_attribute(&node.name) {
            return None;
        }
        let text = self.texts.text(&self.set.path(file))?;
        let indent = lines::prefix(&text, span.start)?;
        let line = lines::line_break(&text);
        let import = format!("{line}{indent}pub(crate) use {};", written(&node.name));
        let work = self.scan.files.entry(file).or_default();
        work.edits.push(Edit::insert(span.end, import));
        Some(())
    }

    /// Whether the body of a macro calls others that a place would not see.
    fn calls_unseen(&self, item: ItemId, place: &Place) -> bool {
        calls_by_position(self.set.mapping.world, item, &|other| {
            !macros::is_seen(self.set, other, place)
        })
    }
}
