//! Macros that stay and that moved text calls by their plain names, where it sees them no longer.
//!
//! Such a macro gets a path, `pub(crate) use name;` behind its definition, and the new module
//! imports it by that. One whose body calls macros that are seen by where they stand is left: those
//! would be out of scope as well.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Edit};

use super::{Import, Settler};
use crate::{
    facts::{ItemKind, Origin, VisibilityKind},
    resolve::{FileId, ItemId, Res, SpaceKind},
    rewrite::{
        items::{macros, rules},
        lines,
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
        if (crosses && !exported) || self.calls_others(item, place) {
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
        let (file, span) = self.only_definition(item)?;
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

    fn only_definition(&self, item: ItemId) -> Option<(FileId, ByteSpan)> {
        let world = self.set.mapping.world;
        let node = world.items.get(item.index())?;
        let [(file, at)] = node.definitions.as_slice() else {
            return None;
        };
        let fact = world.facts(*file)?.items.get(*at as usize)?;
        let plain = fact.origin == Origin::Code && !fact.conditional;
        plain.then_some((*file, fact.span))
    }

    /// Whether the body of a macro calls others that a place would not see.
    fn calls_others(&self, item: ItemId, place: &Place) -> bool {
        let world = self.set.mapping.world;
        let Some((file, body)) = self.only_definition(item) else {
            return true;
        };
        let mut found = false;
        let loads = world.files.get(file.index());
        for load in loads.map_or(&[][..], |file| &file.loads) {
            world.visit(*load as usize, &mut |_, site| {
                let [segment] = site.segments else { return };
                let block = world.space_kind(site.space) == Some(SpaceKind::Block);
                if !block || !body.contains(segment.span) {
                    return;
                }
                let steps = site.trace.steps.iter().flat_map(|step| step.all());
                for (res, _) in steps {
                    let Res::Item(other) = res else { continue };
                    let node = world.items.get(other.index());
                    let textual = other != item
                        && node.is_some_and(|node| node.kind == ItemKind::Macro && !node.local);
                    found |= textual && !macros::is_seen(self.set, other, place);
                }
            });
        }
        found
    }
}
