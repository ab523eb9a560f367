//! Names that text which arrives says: bound there already, imported, or spelled out.

use coalesce_model::finding::codes;
use std::collections::{BTreeMap, BTreeSet};

use super::{Import, Settler, home_of, visibility_of};
use crate::{
    facts::{Namespaces, Origin, VisibilityKind},
    resolve::{Binding, FileId, ModuleId, Res, UseSite},
    rewrite::{
        draft::untouchable,
        items::{moving::Chunk, scan::Borrow},
        method_calls,
        place::Place,
        traits::{self, Demand, TraitsByMethod},
        use_tree::LeafChange,
        walk::Source,
    },
};

/// What a module has for a name already.
enum Known {
    Same,
    Another,
    Nothing,
}

impl Known {
    fn same_if(same: bool) -> Self {
        match same {
            true => Self::Same,
            false => Self::Another,
        }
    }
}

/// What some names lead to.
fn results_of(borrows: &[Borrow]) -> Vec<(Res, Namespaces)> {
    let results = borrows.iter().flat_map(|borrow| &borrow.results);
    results.copied().collect()
}

/// Whether it stands for methods that are called, and no text says its name.
fn is_of_methods(borrow: &Borrow) -> bool {
    matches!(borrow.site, UseSite::ExternCrate(_))
}

/// Whether one import can serve all of some names of one spelling.
fn asks_for_import(borrows: &[Borrow]) -> bool {
    let Some(first) = borrows.first() else {
        return false;
    };
    let several = borrows.iter().any(|one| one.source != first.source);
    let differ = borrows.iter().any(|one| one.results != first.results);
    // A doc link alone asks for no import.
    let documents_alone = borrows.iter().all(|one| one.origin == Origin::DocLink);
    !(documents_alone || several && differ)
}

impl<'a> Settler<'_, 'a> {
    /// Traits that method calls in moved text may need.
    pub(super) fn traits(&mut self) {
        let world = self.world();
        let mut found: Vec<Borrow> = Vec::new();
        let said = self.said_by_name();
        let texts = self.set.mapping.texts;
        let mut homes: BTreeMap<ModuleId, (traits::Usage, TraitsByMethod<'_>)> = BTreeMap::new();
        for chunk in &self.set.chunks {
            let moving = self.set.moving(chunk.moving);
            let text = texts.text(&self.set.path(chunk.file));
            // What a macro calls is called where it is called.
            let Some(text) = text.filter(|_| moving.rules.is_none()) else {
                continue;
            };
            let methods = method_calls::called(world, moving.home, (&text, chunk.span), texts);
            let (usage, known) = homes.entry(moving.home).or_insert_with(|| {
                let usage = traits::Usage::of(world, moving.home, texts);
                (usage, TraitsByMethod::of(world, moving.home, texts))
            });
            for (name, binding) in known.with_one_of(methods.names()) {
                let shown = binding
                    .import
                    .and_then(|import| visibility_of(world, import));
                // What is shown to others needs no use here: that nobody says it makes no trait of it.
                let is_private = shown.is_none_or(|shown| shown == VisibilityKind::Private);
                let looks = |name: &str| match is_private {
                    true => usage.looks_like_trait(name),
                    false => usage.is_bound(name),
                };
                let mut demand = self.asked(&looks).demand((name, binding.res), &methods);
                // Whatever is called, the moved text says it.
                let is_said =
                    |import| said.contains(&(import, self.set.moving(chunk.moving).to.clone()));
                if demand == Demand::Perhaps && binding.import.is_some_and(is_said) {
                    demand = Demand::Yes;
                }
                found.extend(self.borrow_trait(chunk, (name, binding), demand));
            }
        }
        self.scan.borrows.extend(found);
    }

    /// The imports whose names moved text says as code, with the places that it goes to.
    fn said_by_name(&self) -> BTreeSet<((FileId, u32), Place)> {
        let said = self.scan.borrows.iter().filter(|one| {
            !matches!(
                one.origin,
                Origin::DocLink | Origin::DocCode | Origin::FormatString
            )
        });
        let imported = said.filter_map(|one| match one.source {
            Source::Import(import) => Some((import, one.to.clone())),
            _ => None,
        });
        imported.collect()
    }

    /// A trait whose methods moved text may call, as a name that it says.
    fn borrow_trait(
        &mut self,
        chunk: &Chunk,
        (name, binding): (&str, &Binding),
        demand: Demand,
    ) -> Option<Borrow> {
        let to = &self.set.moving(chunk.moving).to;
        let source = self.source_of(binding)?;
        if demand == Demand::No || self.is_defined_there(&source, to) {
            return None;
        }
        self.scan.freed_imports.extend(binding.import);
        if self.set.is_dropped(chunk) {
            return None;
        }
        if let Some(import) = binding.import {
            let known = self.scan.for_methods.entry(import).or_insert(demand);
            *known = demand.max(*known);
        }
        Some(Borrow {
            name: name.to_owned(),
            source,
            to: to.clone(),
            results: vec![(binding.res, binding.namespaces)],
            file: chunk.file,
            site: UseSite::ExternCrate(u32::MAX),
            span: chunk.span,
            origin: Origin::Code,
            cfg: chunk.cfg.clone(),
            demand,
            lent: false,
        })
    }

    /// Where a module has a name from.
    fn source_of(&self, binding: &Binding) -> Option<Source> {
        Some(match (binding.import, binding.glob, binding.res) {
            (Some(import), true, _) => Source::Glob(import),
            (Some(import), false, _) => Source::Import(import),
            (None, _, Res::Item(item)) => {
                self.set.of(item).map_or(Source::Item(item), Source::Moved)
            }
            _ => return None,
        })
    }

    /// Whether what takes the place of something stands in the very module that it is needed in.
    fn is_defined_there(&self, source: &Source, place: &Place) -> bool {
        let Source::Moved(at) = source else {
            return false;
        };
        let moved = self.set.moving(*at);
        moved.gives_way() && moved.to == *place
    }

    /// What the module at a place has for a name after.
    fn known(&self, place: &Place, name: &str, borrows: &[Borrow]) -> Known {
        let results = results_of(borrows);
        let spaces = results.iter().map(|(_, namespaces)| *namespaces);
        let wanted = spaces.fold(Namespaces(0), Namespaces::or);
        let leads_to = |wanted: Res| results.iter().any(|(res, _)| *res == wanted);
        if let Some(arriving) = self.set.arriving_at(place, name) {
            let arriving = Res::Item(self.set.moving(arriving).item);
            return Known::same_if(leads_to(arriving));
        }
        let bindings = self.bindings_at(place, name).iter();
        let mut met = bindings
            .filter(|binding| binding.namespaces.meets(wanted))
            .filter(|binding| !self.is_leaving(binding.res, binding.import.is_none()))
            .peekable();
        if met.peek().is_none() {
            return match self.is_said_unbound(place, (name, &results)) {
                true => Known::Another,
                false => Known::Nothing,
            };
        }
        let same =
            |binding: &Binding| leads_to(binding.res) && self.is_there_for(binding.import, borrows);
        Known::same_if(met.all(same))
    }

    /// Whether an import is there for all of some names: what is imported under a condition is not there for what
    /// arrives without.
    fn is_there_for(&self, import: Option<(FileId, u32)>, borrows: &[Borrow]) -> bool {
        let conditions = import.map(|import| self.conditions(import));
        let conditions = conditions.unwrap_or_default();
        let mut cfg = borrows.iter().map(|borrow| &borrow.cfg);
        cfg.all(|cfg| conditions.is_subset(cfg))
    }

    /// What the module at a place binds a name to before.
    pub(super) fn bindings_at(&self, place: &Place, name: &str) -> &'a [Binding] {
        let module = self.set.mapping.at(place);
        let bindings = module.map(|module| self.world().bindings(module, name));
        bindings.unwrap_or_default()
    }

    /// Whether a module has a trait in scope under whatever name, or none, for all that call its methods.
    fn has_trait(&self, place: &Place, borrows: &[Borrow]) -> bool {
        let world = self.world();
        let results = results_of(borrows);
        let Some(module) = self.set.mapping.at(place) else {
            return false;
        };
        let bindings = world.space(module).names.values().flatten();
        let mut known = bindings.filter(|one| results.iter().any(|(res, _)| *res == one.res));
        known.any(|one| {
            !self.is_leaving(one.res, one.import.is_none())
                && self.is_there_for(one.import, borrows)
        })
    }

    /// Whether a trait arrives in a module, or is there under any name: who calls its methods asks for no import.
    fn is_in_scope(&self, place: &Place, borrows: &[Borrow]) -> bool {
        let arrives = results_of(borrows).iter().any(|(res, _)| match res {
            Res::Item(item) => self.set.of(*item).is_some_and(|moving| {
                let moved = self.set.moving(moving);
                moved.to == *place && !moved.gives_way()
            }),
            _ => false,
        });
        arrives || self.has_trait(place, borrows)
    }

    pub(super) fn is_leaving(&self, res: Res, defined: bool) -> bool {
        defined && matches!(res, Res::Item(item) if self.set.of(item).is_some())
    }

    /// Names that text which arrives says.
    pub(super) fn borrowed(&mut self) {
        let borrows = std::mem::take(&mut self.scan.borrows);
        let mut by_name: BTreeMap<(Place, String), Vec<Borrow>> = BTreeMap::new();
        for borrow in borrows {
            if borrow.name == "_" {
                self.name(&borrow.to.clone(), "_", &[borrow]);
                continue;
            }
            let key = (borrow.to.clone(), borrow.name.clone());
            by_name.entry(key).or_default().push(borrow);
        }
        for ((place, name), borrows) in by_name {
            self.name(&place, &name, &borrows);
        }
    }

    pub(super) fn name(&mut self, place: &Place, name: &str, borrows: &[Borrow]) {
        let Some(first) = borrows.first() else { return };
        if name == "_" && borrows.iter().any(|one| one.results != first.results) {
            // Each of them is another trait.
            let (same, others): (Vec<Borrow>, Vec<Borrow>) = borrows
                .iter()
                .cloned()
                .partition(|one| one.results == first.results);
            self.name(place, name, &same);
            self.name(place, name, &others);
            return;
        }
        if borrows.iter().all(is_of_methods) && self.is_in_scope(place, borrows) {
            return self.keep_imports(place, None, borrows);
        }
        match self.known(place, name, borrows) {
            _ if name == "_" => {}
            Known::Same => return self.keep_imports(place, Some(name), borrows),
            Known::Another => return self.respell(borrows),
            Known::Nothing => {}
        }
        match asks_for_import(borrows) {
            true => self.import_name(place, name, borrows),
            false => self.respell(borrows),
        }
    }

    /// Notes that the imports by which a module has what arriving text says, by one name or by any, go on being used.
    fn keep_imports(&mut self, place: &Place, name: Option<&str>, borrows: &[Borrow]) {
        let world = self.world();
        let results = results_of(borrows);
        let Some(module) = self.set.mapping.at(place) else {
            return;
        };
        let names = world.space(module).names.iter();
        let named = names.filter(|(sym, _)| {
            name.is_none_or(|name| world.names.get(name).is_some_and(|own| own == **sym))
        });
        let bindings = named.flat_map(|(_, bindings)| bindings);
        let same = bindings.filter(|one| results.iter().any(|(res, _)| *res == one.res));
        for (import, is_glob) in same.filter_map(|one| Some((one.import?, one.glob))) {
            match is_glob {
                true => _ = self.scan.used_globs.insert(import),
                false => _ = self.scan.used_imports.insert(import),
            }
        }
    }

    /// Takes imports of a trait under no name out of a module that gets to import it by one.
    fn drop_unnamed(&mut self, place: &Place, borrows: &[Borrow], cfg: &BTreeSet<String>) {
        let world = self.world();
        let results = results_of(borrows);
        let bindings = self.bindings_at(place, "_").iter();
        let unnamed = bindings.filter(|one| results.iter().any(|(res, _)| *res == one.res));
        for import in unnamed.filter_map(|one| one.import.filter(|_| !one.glob)) {
            let is_private = visibility_of(world, import) == Some(VisibilityKind::Private);
            if is_private && cfg.is_subset(&self.conditions(import)) {
                let work = self.scan.files.entry(import.0).or_default();
                work.leaves.insert(import.1, LeafChange::Drop);
            }
        }
    }

    /// Imports a name that several places say into the module at a place.
    fn import_name(&mut self, place: &Place, name: &str, borrows: &[Borrow]) {
        let Some(first) = borrows.first() else { return };
        let Some(path) = self.path(first) else {
            if let Some(imports) = self.imports_of_variants(first, borrows) {
                let list = self.imports.arriving.entry(place.clone()).or_default();
                return list.extend(imports);
            }
            let message = format!("`{name}` cannot be named from the new place");
            return self.refuse(first, codes::OUT_OF_REACH, &message);
        };
        let cfg = self.conditions_on(borrows, first);
        let only_methods = borrows.iter().all(is_of_methods);
        if only_methods {
            self.guess(name, borrows);
        }
        self.tell_given(name, borrows);
        let bound = path.last().is_some_and(|last| last == name);
        let hidden = only_methods && name == "_";
        if name != "_" {
            self.drop_unnamed(place, borrows, &cfg);
        }
        let import = Import {
            path,
            alias: (!bound || hidden).then(|| name.to_owned()),
            cfg,
        };
        let list = self.imports.arriving.entry(place.clone()).or_default();
        list.insert(import);
    }

    /// The imports that bring a name under one condition and another, each with its own; `None` where it is anything
    /// else than imports.
    fn imports_of_variants(&mut self, borrow: &Borrow, borrows: &[Borrow]) -> Option<Vec<Import>> {
        let Source::Import(import) = borrow.source else {
            return None;
        };
        let (world, speller) = (self.world(), self.speller());
        let home = home_of(world, import)?;
        let mut found = Vec::new();
        let bindings = world.bindings(home, &borrow.name).iter();
        let imports: Option<BTreeSet<(FileId, u32)>> = bindings
            .map(|one| one.import.filter(|_| !one.glob))
            .collect();
        for import in imports? {
            let (path, krate) = (speller.absolute(import)?, speller.krate_of(import)?);
            let needs = &mut self.scan.told.needs;
            let path = speller.said_in(path, krate, &borrow.to, needs);
            let is_bound = path.last().is_some_and(|last| *last == borrow.name);
            let mut users = borrows.iter().map(|one| &one.cfg);
            let mut cfg = users.next().cloned().unwrap_or_default();
            for other in users {
                cfg.retain(|condition| other.contains(condition));
            }
            cfg.extend(self.conditions(import));
            self.scan.freed_imports.insert(import);
            found.push(Import {
                path,
                alias: (!is_bound).then(|| borrow.name.clone()),
                cfg,
            });
        }
        Some(found)
    }

    /// Tells of a trait that is imported where methods are called which others may have. One that its old
    /// module imports by its name is asked about there: who else used it is known.
    fn guess(&mut self, name: &str, borrows: &[Borrow]) {
        let guessed = borrows.iter().all(|one| one.demand == Demand::Perhaps);
        let mut others = borrows.iter().filter(|_| guessed);
        let others = others.find(|one| !matches!(one.source, Source::Import(_)));
        if let Some(one) = others {
            let item = one.results.iter().find_map(|(res, _)| match res {
                Res::Item(item) => Some(&self.world()[*item].name),
                _ => None,
            });
            let name = item.cloned().unwrap_or_else(|| name.to_owned());
            let call = (one.file, one.span, name);
            self.scan.guessed_calls.insert(call);
        }
    }

    /// The conditions under which a name is there and all of its users are.
    fn conditions_on(&self, borrows: &[Borrow], first: &Borrow) -> BTreeSet<String> {
        let mut own = match first.source {
            Source::Import(leaf) | Source::Glob(leaf) => self.conditions(leaf),
            _ => BTreeSet::new(),
        };
        for (res, _) in &first.results {
            own.extend(self.conditions_of(*res));
        }
        let mut users = borrows.iter().map(|borrow| &borrow.cfg);
        let mut cfg = users.next().cloned().unwrap_or_default();
        for other in users {
            cfg.retain(|condition| other.contains(condition));
        }
        cfg.extend(own);
        cfg
    }

    /// Names that mean something else in the new place are written out.
    pub(super) fn respell(&mut self, borrows: &[Borrow]) {
        for borrow in borrows {
            let name = &borrow.name;
            let Some(path) = self.path(borrow) else {
                let message = format!("`{name}` means something else in the new place");
                self.refuse(borrow, codes::NAME_TAKEN, &message);
                continue;
            };
            if matches!(borrow.site, UseSite::ExternCrate(_)) {
                self.import_unnamed(borrow, path);
            } else if borrow.lent || untouchable(borrow.origin, borrow.site, true).is_some() {
                let message = format!(
                    "`{name}` means something else in the new place, and cannot be spelled out here"
                );
                self.refuse(borrow, codes::NAME_TAKEN, &message);
            } else {
                self.replace(borrow.file, borrow.site, borrow.span, &path);
            }
        }
    }

    /// Brings the trait of a method call into scope, under no name.
    fn import_unnamed(&mut self, borrow: &Borrow, path: Vec<String>) {
        self.guess(&borrow.name, std::slice::from_ref(borrow));
        let import = Import {
            path,
            alias: Some("_".to_owned()),
            cfg: borrow.cfg.clone(),
        };
        let list = self.imports.arriving.entry(borrow.to.clone()).or_default();
        list.insert(import);
    }
}
