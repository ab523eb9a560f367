//! Macros that are seen by where they stand get a path, for modules and items that leave their scope.
//!
//! `pub(crate) use name;` behind the definition is the path, and the module imports it by that, and all that the
//! macro calls by where it stands in turn. A macro is left alone which is defined several times or under a condition,
//! or whose name an import could not say.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, TreePath};

use super::{
    items::{imports, is_attribute, is_exported},
    lines,
    macro_scope::is_seen,
    mapping::Mapping,
    needs::{Because, Need, NeededThing, Purpose},
    place::Place,
    spell::written,
};
use crate::{
    facts::{Item, ItemKind, Origin, ScopeId, SourceFacts, VisibilityKind},
    resolve::{FileId, ItemId, ModuleId, Res, SpaceKind, World},
};

/// The paths that macros get, and the imports of those who call them.
pub(super) struct Paths<'a> {
    pub mapping: &'a Mapping<'a>,
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub needs: Vec<Need>,
    given: BTreeSet<ItemId>,
    /// Calls of macros inside of blocks, with what they lead to, by file and sorted by place.
    calls: BTreeMap<FileId, Vec<(u32, ItemId)>>,
    imported: BTreeSet<(ModuleId, ItemId)>,
}

impl<'a> Paths<'a> {
    pub fn new(mapping: &'a Mapping<'a>) -> Self {
        Self {
            mapping,
            edits: BTreeMap::new(),
            needs: Vec::new(),
            given: BTreeSet::new(),
            calls: BTreeMap::new(),
            imported: BTreeSet::new(),
        }
    }

    /// Lets a module name a macro by path; `None` where that cannot be.
    pub fn give(&mut self, item: ItemId, user: ModuleId) -> Option<()> {
        if self.imported.contains(&(user, item)) {
            return Some(());
        }
        for (item, path) in self.paths(item, &self.mapping.after(user))? {
            if self.imported.insert((user, item)) {
                let names: Vec<String> = path.iter().map(|name| written(name)).collect();
                self.import(user, &names.join("::"))?;
            }
        }
        Some(())
    }

    /// The paths by which the module at a place can name a macro, and all that the macro calls by where it stands
    /// in turn: who calls one has to have the others as well. `None` where one has no path and gets none.
    pub fn paths(&mut self, item: ItemId, here: &Place) -> Option<Vec<(ItemId, Vec<String>)>> {
        let (mut open, mut seen) = (vec![item], BTreeSet::new());
        let mut found = Vec::new();
        while let Some(item) = open.pop() {
            if seen.insert(item) {
                open.extend(self.called_by_position(item, here)?);
                found.push((item, self.path(item, here)?));
            }
        }
        Some(found)
    }

    fn path(&mut self, item: ItemId, here: &Place) -> Option<Vec<String>> {
        let world = self.mapping.world;
        let node = &world[item];
        let home = self.mapping.after(node.module);
        let exported = is_exported(world, item);
        let crosses = home.krate != here.krate;
        if (crosses && !exported) || self.has_name(here, &node.name, item) {
            return None;
        }
        if !exported && self.given.insert(item) && self.import_behind(item).is_none() {
            self.given.remove(&item);
            return None;
        }
        let root = exported.then(|| Place::root(home.krate));
        let at = root.unwrap_or(home);
        let speller = self.mapping.speller();
        speller.chain(&at, here, &mut self.needs);
        if crosses {
            let named = format!("{}::{}", self.mapping.name_of(&at), node.name);
            let need = Need::new(NeededThing::Crate(at.krate, Purpose::Code), here.clone());
            self.needs.push(need.because(Because::Names(named)));
        }
        let mut path = speller.rooted_in(here.krate, &at);
        path.push(node.name.clone());
        Some(path)
    }

    /// The macros that the body of one calls by where they stand and that are not seen from a place; `None` where
    /// its body cannot be told.
    fn called_by_position(&mut self, item: ItemId, here: &Place) -> Option<BTreeSet<ItemId>> {
        let mapping = self.mapping;
        let (file, fact) = only_definition(mapping.world, item)?;
        let read = || calls_in_blocks(mapping.world, file);
        let calls = self.calls.entry(file).or_insert_with(read);
        let first = calls.partition_point(|(at, _)| *at < fact.span.start);
        let inside = calls.iter().skip(first);
        let inside = inside.take_while(|(at, _)| *at < fact.span.end);
        let others = inside.map(|(_, other)| *other);
        let unseen =
            others.filter(|other| *other != item && !is_seen(mapping, *other, here, &mut None));
        Some(unseen.collect())
    }

    /// Whether the module at a place has a name already, for something else than the macro: `#[macro_use]` gives
    /// that to the module around.
    fn has_name(&self, place: &Place, name: &str, item: ItemId) -> bool {
        let world = self.mapping.world;
        let module = self.mapping.at(place);
        let space = module.map(|module| world.space(module));
        space
            .zip(world.names.get(name))
            .and_then(|(space, sym)| space.names.get(&sym))
            .is_some_and(|known| known.iter().any(|one| one.res != Res::Item(item)))
    }

    /// Puts an import behind the definition of a macro, unless it has one.
    fn import_behind(&mut self, item: ItemId) -> Option<()> {
        let world = self.mapping.world;
        let node = &world[item];
        let imports = imports(world, node.module, item, &node.name);
        let wide = |kind| matches!(kind, VisibilityKind::Crate | VisibilityKind::Public);
        if imports.iter().any(|(_, kind)| wide(*kind)) {
            return Some(());
        }
        let (file, fact) = only_definition(world, item)?;
        if !imports.is_empty() || is_attribute(&node.name) {
            return None;
        }
        let path = world[file].path.clone();
        let text = self.mapping.texts.text(&path)?;
        let indent = lines::prefix(&text, fact.span.start)?;
        let line = lines::line_break(&text);
        let import = format!("{line}{indent}pub(crate) use {};", written(&node.name));
        let edits = self.edits.entry(path).or_default();
        edits.push(Edit::insert(fact.span.end, import));
        Some(())
    }

    /// Adds an import to every text of a module, before its first `use` or item.
    fn import(&mut self, user: ModuleId, path: &str) -> Option<()> {
        let world = self.mapping.world;
        for id in &world[user].bodies {
            let body = &world[id];
            let file = world[body.file].path.clone();
            let text = self.mapping.texts.text(&file)?;
            let facts = world.facts(body.file);
            let first = first_use(facts, body.scope);
            let at = first.unwrap_or(facts.scope(body.scope).items_start);
            let edits = self.edits.entry(file).or_default();
            put_import(edits, &text, (at, first.is_some()), path);
        }
        Some(())
    }
}

/// The one definition of a macro, unless it is generated or conditional.
fn only_definition(world: &World, item: ItemId) -> Option<(FileId, &Item)> {
    let node = &world[item];
    let [(file, at)] = node.definitions.as_slice() else {
        return None;
    };
    let fact = world.facts(*file).item(*at);
    let plain = fact.origin == Origin::Code && !fact.conditional;
    plain.then_some((*file, fact))
}

/// The calls of textual macros inside of blocks: a body of a macro is one.
fn calls_in_blocks(world: &World, file: FileId) -> Vec<(u32, ItemId)> {
    let mut calls = Vec::new();
    world.visit_file(&world[file], &mut |_, site| {
        let [segment] = site.segments else { return };
        if world.space_kind(site.space) != Some(SpaceKind::Block) {
            return;
        }
        for (res, _) in site.trace.steps.iter().flat_map(|step| step.all()) {
            let Res::Item(other) = res else { continue };
            let node = &world[other];
            if node.kind == ItemKind::Macro && !node.local {
                calls.push((segment.span.start, other));
            }
        }
    });
    calls.sort_unstable();
    calls
}

/// Where the first private import of a scope begins that others may stand beside.
fn first_use(facts: &SourceFacts, scope: ScopeId) -> Option<u32> {
    let uses = facts.uses.iter().filter(|one| {
        one.scope == scope
            && one.origin == Origin::Code
            && one.visibility.kind == VisibilityKind::Private
            && one.attributes.is_none()
    });
    uses.map(|one| one.span.start).min()
}

/// Puts an import at a place, before an import that is there or before items.
fn put_import(edits: &mut Vec<Edit>, text: &str, (at, before_import): (u32, bool), path: &str) {
    let line = lines::line_break(text);
    // Behind the marks of a comment nothing is put.
    let indent = lines::prefix(text, at).filter(|before| before.trim().is_empty());
    let mut known = edits
        .iter_mut()
        .filter(|edit| edit.span == ByteSpan::empty(at));
    if let Some(known) = known.find(|edit| edit.text.trim_start().starts_with("use ")) {
        // Another macro is imported there already.
        known.text = match indent {
            Some(indent) => format!("use {path};{line}{indent}{}", known.text),
            None => format!("{line}use {path};{}", known.text),
        };
        return;
    }
    let import = match (indent, before_import) {
        (Some(indent), true) => format!("use {path};{line}{indent}"),
        (Some(indent), false) => format!("use {path};{line}{line}{indent}"),
        (None, _) => format!("{line}use {path};{line}"),
    };
    edits.push(Edit::insert(at, import));
}
