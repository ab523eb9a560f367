//! Entries whose names are those of items: which they are, whether they are done, whether they fit.

use coalesce_model::{
    FoundItem, ItemPlace, LanguageGraph, Module, Subject, TreePath,
    manifest::{Entry, EntryVerb, Manifest, Name, NameKind, name_meant},
};

use super::{Checked, Checker, change, names::around, report};

impl<'a> Checker<'a> {
    /// What the names of an entry are names of: what it says, else what the tree has. `None` when
    /// the tree has both; that is an error then.
    pub(super) fn subject(
        &mut self,
        manifest: &Manifest,
        entry: &Entry,
        modules: &[&Module],
    ) -> Option<Subject> {
        match entry.kind {
            Some(NameKind::Item) => return Some(Subject::Item),
            Some(NameKind::Module) => return Some(Subject::Module),
            Some(NameKind::Crate) => return self.crate_root(manifest, entry, modules),
            None => {}
        }
        let item = self.item(&entry.from).map(|(_, item)| item.place);
        match (modules.first(), item) {
            (Some(module), Some(ItemPlace::Defined)) => {
                let help = "add `kind = \"module\"` or `kind = \"item\"` to the entry";
                self.two_meanings(manifest, &entry.from, (module, "an item"), help);
                None
            }
            // `pub use hostname::hostname;` beside `mod hostname;`: two things of one name.
            (Some(module), Some(ItemPlace::Reexport(of)))
                if self.has(module, |lexicon| lexicon.parts_namespaces) && of != module.name =>
            {
                let item = format!("an item, `{of}`, which is re-exported there");
                let help =
                    format!("add `kind = \"module\"` to the entry, or name the item: `{of}`");
                self.two_meanings(manifest, &entry.from, (module, &item), &help);
                None
            }
            (Some(_), _) => Some(Subject::Module),
            (None, Some(ItemPlace::Reexport(of))) if of == entry.to.text => {
                let modules = self.candidates(&entry.to);
                let item = modules.is_empty() && self.item(&entry.to).is_some();
                Some(if item { Subject::Item } else { Subject::Module })
            }
            // In Rust, a function may have the name of a module, and stay when that goes.
            (None, Some(_))
                if entry.from.text.contains("::") && !self.candidates(&entry.to).is_empty() =>
            {
                Some(Subject::Module)
            }
            (None, Some(_)) => Some(Subject::Item),
            (None, None) => {
                let arrived =
                    self.candidates(&entry.to).is_empty() && self.item(&entry.to).is_some();
                let item = arrived || self.inside_item(&entry.from).is_some();
                Some(if item { Subject::Item } else { Subject::Module })
            }
        }
    }

    /// Refuses a name that is a module's and something else's.
    fn two_meanings(
        &mut self,
        manifest: &Manifest,
        name: &Name,
        (module, other): (&Module, &str),
        help: &str,
    ) {
        let message = format!(
            "`{}` is the name of a module, {}, and of {other}",
            name.text, module.path
        );
        let error = manifest.error(name.span, message, Some(help.to_owned()));
        self.errors.push(error);
    }

    fn crate_root(
        &mut self,
        manifest: &Manifest,
        entry: &Entry,
        modules: &[&Module],
    ) -> Option<Subject> {
        let mut modules = modules.iter();
        let named = modules.all(|module| self.has(module, |lexicon| lexicon.roots_are_named));
        if named && !entry.from.text.contains("::") {
            return Some(Subject::Module);
        }
        let message = format!("`{}` is not the name of a crate", entry.from.text);
        self.errors
            .push(manifest.error(entry.from.span, message, None));
        None
    }

    /// The item of a name, below the directory that the name gives, and the graph that has it.
    pub(super) fn item(&self, name: &Name) -> Option<(&'a dyn LanguageGraph, FoundItem)> {
        let below = name
            .within
            .as_deref()
            .and_then(|within| TreePath::new(within).ok());
        let fits = |graph: &dyn LanguageGraph, item: &FoundItem| {
            let module = graph.modules().get(item.module);
            below.as_ref().is_none_or(|below| {
                module.is_some_and(|module| module.path.strip_prefix(below).is_some())
            })
        };
        self.index.graphs().iter().find_map(|graph| {
            let item = graph.item(&name.text).filter(|item| fits(*graph, item))?;
            Some((*graph, item))
        })
    }

    /// Whether an item may go where an entry says.
    fn item_fits(
        &mut self,
        manifest: &Manifest,
        entry: &Entry,
        item: &FoundItem,
        home: &Module,
    ) -> bool {
        if !self.has_no_renames(manifest, entry) || !self.is_definition(manifest, entry, item) {
            return false;
        }
        match entry.verb {
            EntryVerb::Move => self.item_target(manifest, entry, home),
            EntryVerb::Replace => self.item_primary(manifest, entry),
            EntryVerb::Merge => self.no_merge(manifest, entry),
        }
    }

    pub(super) fn item_entry(&mut self, manifest: &Manifest, entry: &Entry, checked: &mut Checked) {
        let found = self.item(&entry.from);
        let done = self.item_done(manifest, entry, found.as_ref());
        checked.entries.push(report(manifest, entry, done));
        if done {
            return;
        }
        let Some((graph, item)) = found else {
            self.missing_item(manifest, &entry.from);
            self.may_be_done(manifest, entry);
            return;
        };
        if let Some(why) = graph.refuses_items() {
            self.errors.push(manifest.error(entry.from.span, why, None));
            return;
        }
        let Some(home) = graph.modules().get(item.module) else {
            return;
        };
        if self.item_fits(manifest, entry, &item, home) {
            let changes = checked.changes.entry(graph.language()).or_default();
            changes.push(change(manifest, entry, Subject::Item));
        }
    }

    fn no_merge(&mut self, manifest: &Manifest, entry: &Entry) -> bool {
        let message = format!(
            "`{}` is an item; a merge is one of modules",
            entry.from.text
        );
        let help = "for a single item write `[[replace]]` or `[[move]]`".to_owned();
        self.errors
            .push(manifest.error(entry.from.span, message, Some(help)));
        false
    }

    /// `to` is there, and `from` is gone, this manifest's shim, or leads on to `to`.
    fn item_done(
        &self,
        manifest: &Manifest,
        entry: &Entry,
        from: Option<&(&dyn LanguageGraph, FoundItem)>,
    ) -> bool {
        let place = from.map(|(_, item)| &item.place);
        if manifest.applied.is_recorded(entry) && self.is_gone(manifest, entry, place) {
            return true;
        }
        let Some((graph, _)) = self.item(&entry.to) else {
            return false;
        };
        // Other blocks of its name may have stayed, or were there.
        if is_block(&entry.from) && manifest.applied.has(entry) {
            return true;
        }
        match place {
            None => manifest.applied.has(entry),
            Some(ItemPlace::Shim(id)) => *id == manifest.id,
            Some(ItemPlace::Reexport(of)) => leads_to(graph, &entry.to.text, of),
            Some(ItemPlace::Defined) => false,
        }
    }

    /// Whether what an applied entry was about is not at its old name any more: as of modules, applied is applied, wherever
    /// it has gone since.
    fn is_gone(&self, manifest: &Manifest, entry: &Entry, place: Option<&ItemPlace>) -> bool {
        match place {
            None => true,
            Some(ItemPlace::Shim(id)) => *id == manifest.id,
            Some(ItemPlace::Reexport(_)) => false,
            Some(ItemPlace::Defined) => self.has_come_since(&entry.from),
        }
    }

    /// The item that a name leads into: `pkg.mod.Class` for `pkg.mod.Class.method`.
    fn inside_item(&self, name: &Name) -> Option<String> {
        let separator = name.language()?.separator();
        let graphs = self.index.graphs();
        let mut above = name.text.as_str();
        while let Some((parent, _)) = above.rsplit_once(separator) {
            above = parent;
            let mut modules = graphs.iter().flat_map(|graph| graph.modules());
            if modules.any(|module| module.name == parent) {
                return None;
            }
            if graphs.iter().any(|graph| graph.item(parent).is_some()) {
                return Some(parent.to_owned());
            }
        }
        None
    }

    pub(super) fn missing_item(&mut self, manifest: &Manifest, name: &Name) {
        if let Some(item) = self.inside_item(name) {
            let message = format!(
                "`{}` is a part of `{item}`, which moves as a whole",
                name.text
            );
            let help = name.text.contains("::").then(|| {
                "what moves by itself are functions that a type has in its own `impl`s".to_owned()
            });
            self.errors.push(manifest.error(name.span, message, help));
            return;
        }
        let help = self.meant_item(&name.text);
        let message = format!("there is no item `{}`", name.text);
        self.errors.push(manifest.error(name.span, message, help));
    }

    /// The question whether another item is meant by a name.
    pub(super) fn meant_item(&self, name: &str) -> Option<String> {
        let graphs = self.index.graphs();
        let modules = graphs.iter().flat_map(|graph| graph.modules());
        let names: Vec<String> = modules
            .flat_map(|module| {
                let separator = module.language.separator();
                let defines = module.defines.iter();
                defines.map(move |item| format!("{}{separator}{item}", module.name))
            })
            .collect();
        let others = names.iter().map(String::as_str);
        // What something goes to is not where it comes from.
        let others = others.filter(|other| *other != name && !self.names.is_target(other));
        name_meant(name, others)
    }

    fn is_definition(&mut self, manifest: &Manifest, entry: &Entry, item: &FoundItem) -> bool {
        let name = &entry.from;
        let (message, help) = match &item.place {
            ItemPlace::Defined => return true,
            ItemPlace::Reexport(of) => (
                format!("`{}` only leads on to `{of}`", name.text),
                Some(format!("name the definition: `{of}`")),
            ),
            ItemPlace::Shim(id) => (format!("`{}` is a shim that `{id}` left", name.text), None),
        };
        self.errors.push(manifest.error(name.span, message, help));
        false
    }

    /// Where a moved item goes must be a module, there or to be made, without that name.
    fn item_target(&mut self, manifest: &Manifest, entry: &Entry, home: &Module) -> bool {
        let name = &entry.to;
        let separator = home.language.separator();
        let Some((parent, _)) = name.text.rsplit_once(separator) else {
            let message = format!("`{}` names no module that the item could go to", name.text);
            let help = format!("write `{}{separator}{}`", home.name, name.text);
            self.errors
                .push(manifest.error(name.span, message, Some(help)));
            return false;
        };
        let parent = Name {
            text: parent.to_owned(),
            within: name.within.clone(),
            span: name.span,
        };
        self.is_module(manifest, &parent)
            && self.is_free(manifest, entry)
            && self.can_be_named(manifest, entry, home)
            && self.top_level_exists(manifest, &parent, home)
    }

    fn is_module(&mut self, manifest: &Manifest, parent: &Name) -> bool {
        let leaves = self.names.entry_from(&parent.text).is_some();
        let arrives = self.names.is_target(&parent.text);
        // A macro or a function may have the name of a module beside it.
        let stands_in_the_way = |graph: &dyn LanguageGraph, item: &FoundItem| {
            item.place == ItemPlace::Defined && graph.is_taken(&parent.text)
        };
        let item = self.candidates(parent).is_empty()
            && matches!(self.item(parent), Some((graph, item)) if stands_in_the_way(graph, &item));
        let why = if leaves && !arrives {
            "goes away in this migration itself"
        } else if item {
            "is an item, not a module"
        } else {
            return true;
        };
        let message = format!("`{}` {why}", parent.text);
        self.errors.push(manifest.error(parent.span, message, None));
        false
    }

    fn is_free(&mut self, manifest: &Manifest, entry: &Entry) -> bool {
        let name = &entry.to;
        if is_block(name) {
            return true;
        }
        let place = self.item(name).map(|(_, item)| item.place);
        let same = match &place {
            None => true,
            Some(ItemPlace::Reexport(of)) => *of == entry.from.text,
            Some(ItemPlace::Defined | ItemPlace::Shim(_)) => false,
        };
        let leaves = self.names.entry_from(&name.text).is_some();
        if leaves || (same && self.candidates(name).is_empty()) {
            return true;
        }
        let (message, help) = match place {
            Some(ItemPlace::Reexport(of)) => (
                format!("`{}` is `{of}` already, by an import", name.text),
                "give it another name, or take that import out first",
            ),
            None => (
                format!("`{}` exists already, as a module", name.text),
                "give it another name",
            ),
            Some(_) => (
                format!("`{}` exists already", name.text),
                "to give its users the existing one, write `[[replace]]` instead of `[[move]]`",
            ),
        };
        self.errors
            .push(manifest.error(name.span, message, Some(help.to_owned())));
        false
    }

    /// Whether a module that moves brings the item to this name.
    fn arrives_with_module(&self, name: &Name) -> bool {
        around(&name.text).any(|(above, rest)| {
            self.names.moves_to(above).any(|entry| {
                let old = Name {
                    text: format!("{}{rest}", entry.from.text),
                    within: entry.from.within.clone(),
                    span: name.span,
                };
                self.item(&old).is_some()
            })
        })
    }

    /// The name that an item gets with a module that moves from this one.
    fn name_with_module(&self, name: &Name) -> Option<String> {
        let (entry, rest) = self.names.moves_around(&name.text)?;
        Some(format!("{}{rest}", entry.to.text))
    }

    /// The primary of a replaced item must be there, or arrive, and be another one.
    fn item_primary(&mut self, manifest: &Manifest, entry: &Entry) -> bool {
        let name = &entry.to;
        let place = self.item(name).map(|(_, item)| item.place);
        let arrives = self.names.arrives(&name.text) || self.arrives_with_module(name);
        let leaves = self.names.entry_from(&name.text).is_some();
        let after = self.name_with_module(name);
        let why = match &place {
            _ if arrives => return true,
            Some(ItemPlace::Reexport(of)) if *of == entry.from.text => {
                format!("only leads on to `{of}`")
            }
            _ if leaves || after.is_some() => "goes away in this migration itself".to_owned(),
            Some(_) => return true,
            None => "does not exist".to_owned(),
        };
        let message = format!("`{}` {why}", name.text);
        let help = match after {
            Some(after) => Some(format!("write the name that it has afterwards: `{after}`")),
            None if place.is_none() => self.meant_item(&name.text),
            None => None,
        };
        self.errors.push(manifest.error(name.span, message, help));
        false
    }
}

/// Whether a name is that of an item, or leads to it.
fn leads_to(graph: &dyn LanguageGraph, name: &str, item: &String) -> bool {
    name == item || graph.canonical(name).as_ref() == Some(item)
}

/// Whether a name is that of a single `impl` block.
fn is_block(name: &Name) -> bool {
    let last = name.text.rsplit("::").next();
    last.is_some_and(|last| last.starts_with("impl "))
}
