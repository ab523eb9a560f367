//! The sites of one file.

use std::collections::BTreeSet;

use coalesce_model::{TreePath, Unproven, UnprovenKind};

use super::{Borrow, Left, Scan};
use crate::{
    facts::{ItemKind, LeafKind, Namespaces, Origin, SourceFacts, VisibilityKind},
    resolve::{Binding, FileId, Found, ItemId, Res, Site, UseSite},
    rewrite::{
        conditions,
        draft::{Draft, span_of, untouchable},
        globs,
        items::{
            imports::home_of,
            is_exported,
            moving::{Chunk, Set},
            replace,
        },
        made_places::{self, ArgumentReading},
        mapping::Mapping,
        place::Place,
        spell::{Outcome, Respelling, Speller},
        traits::Demand,
        use_tree::LeafChange,
        walk::{Leaving, Source, Walk, is_of_module},
    },
};

/// Visits the sites of a file.
pub(super) fn scan_file(set: &Set<'_>, file: FileId, text: &str) -> Scan {
    let world = set.world();
    let mut scan = Scan::default();
    scan.read.insert(file);
    let mut pass = Pass {
        set,
        file,
        facts: world.facts(file),
        path: &world[file].path,
        text,
        is_shared: world[file].loads.len() > 1,
        scan: &mut scan,
    };
    world.visit_file(&world[file], &mut |_, site| pass.site(&site));
    if set.mapping.changes_modules() {
        pass.globs();
    }
    scan
}

/// A file while its sites are visited.
pub(in crate::rewrite) struct Pass<'p, 'a> {
    pub(in crate::rewrite) set: &'p Set<'a>,
    pub(in crate::rewrite) file: FileId,
    pub(in crate::rewrite) facts: &'p SourceFacts,
    pub(in crate::rewrite) path: &'p TreePath,
    text: &'p str,
    /// Whether several crates have the file.
    is_shared: bool,
    pub(in crate::rewrite) scan: &'p mut Scan,
}

impl<'p> Pass<'p, '_> {
    /// The file as it is spelled anew.
    pub(in crate::rewrite) fn draft(&mut self) -> Draft<'_> {
        Draft {
            mapping: self.set.mapping,
            facts: self.facts,
            path: self.path,
            text: self.text,
            work: self.scan.files.entry(self.file).or_default(),
            told: &mut self.scan.told,
        }
    }

    fn speller(&self) -> Speller<'p> {
        self.set.mapping.speller()
    }

    fn mapping(&self) -> &'p Mapping<'p> {
        self.set.mapping
    }

    fn site(&mut self, site: &Site<'_>) {
        let Some(first) = site.segments.first() else {
            return;
        };
        let set = self.set;
        let chunk = set.chunk_at(self.file, first.span.start);
        if self.is_settled(site, chunk) {
            return;
        }
        let leaving = Some(Leaving { set, chunk });
        let mut walk = self.speller().walk(self.facts, site, leaving, 0);
        let here = self.speller().place_of(site, leaving);
        if site.origin == Origin::MacroBody && self.body(site, chunk, (&mut walk, &here)) {
            return;
        }
        self.tell_inner_module(site, chunk);
        // A glob that brings what has another name from now on goes on bringing it.
        let keeps_way = walk.broken.is_none() && walk.renamed.is_some();
        let needs = &mut self.scan.told.needs;
        let speller = set.mapping.speller();
        let outcome = speller.outcome((self.facts, site), leaving, &mut walk, needs);
        let respelling = match outcome {
            Outcome::Keep => None,
            Outcome::Change(respelling) => Some(respelling),
            Outcome::Refuse(why) => return self.draft().refuse(site, why),
        };
        let respelling = self.as_read(site, chunk, respelling);
        let gone_by = respelling.as_ref().filter(|_| !keeps_way);
        self.note_imports(site, chunk, gone_by);
        self.users(site, chunk, &walk, &here);
        self.names(site, chunk, &walk, &here);
        self.spell(site, respelling, &here);
    }

    /// Tells a path that goes up from a module inside of a function which moves: how far up is counted from that.
    fn tell_inner_module(&mut self, site: &Site<'_>, chunk: Option<&Chunk>) {
        let Some(chunk) = chunk.filter(|chunk| !self.set.is_dropped(chunk)) else {
            return;
        };
        let first = site.segments.first();
        let first = first.filter(|first| self.facts.name(first.name) == "super");
        let is_inside = self.speller().here(site) != self.set.moving(chunk.moving).home;
        if let Some(first) = first.filter(|_| is_inside && site.origin != Origin::DocCode) {
            self.scan.told.unproven.push(Unproven {
                path: self.set.path(self.file),
                span: Some(first.span),
                kind: UnprovenKind::OwnPlace,
                name: "super".to_owned(),
                why: "a module inside of a function goes up from here, and goes to another one with that"
                    .to_owned(),
            });
        }
    }

    /// Deals with what is no path of code that stays or moves; whether it is such.
    fn is_settled(&mut self, site: &Site<'_>, chunk: Option<&Chunk>) -> bool {
        if site.origin == Origin::Quoted {
            self.quoted(site);
            return true;
        }
        if chunk.is_some_and(|chunk| self.set.is_dropped(chunk)) {
            self.note_imports(site, chunk, None);
            return true;
        }
        if site.origin == Origin::Visibility {
            self.visibility(site, chunk);
            return true;
        }
        self.gives_path(site)
    }

    /// What becomes of a path in the arguments of a macro, by the place that the macro puts it in.
    fn as_read(
        &mut self,
        site: &Site<'_>,
        chunk: Option<&Chunk>,
        respelling: Option<Respelling>,
    ) -> Option<Respelling> {
        let mapping = self.mapping();
        let here = mapping.world.module_of(site.space);
        if respelling.is_none() && chunk.is_none() && !mapping.is_changed(here) {
            return None;
        }
        if respelling.is_some() && made_places::is_word_of_pattern(mapping, self.facts, site) {
            let why = "a rule of the macro has this word in its pattern";
            self.draft().doubt(site, why);
            return None;
        }
        match made_places::reading(mapping, self.facts, site) {
            ArgumentReading::AsWritten => return respelling,
            ArgumentReading::Within if chunk.is_none() => {}
            ArgumentReading::Within => {
                let why = "the macro makes a module, and the path leads from that into the one that this leaves";
                self.draft().doubt(site, why);
            }
            ArgumentReading::Unknown(why) => self.draft().doubt(site, why),
        }
        None
    }

    /// Notes the imports that a site goes through, and whether it goes on doing so: text that leaves does not, nor does
    /// a path that is spelled anew from its start.
    pub(in crate::rewrite) fn note_imports(
        &mut self,
        site: &Site<'_>,
        chunk: Option<&Chunk>,
        respelling: Option<&Respelling>,
    ) {
        let is_touched = || untouchable(site.origin, site.site, site.segments.len() == 1).is_none();
        let new = respelling.filter(|new| new.start == 0 && is_touched());
        let mut is_way_kept = true;
        // A doc test takes its own imports along, and is outside of its module wherever that is.
        let leaves = chunk.is_some() && site.origin != Origin::DocCode;
        for (at, (step, segment)) in site.trace.steps.iter().zip(site.segments).enumerate() {
            let name = self.facts.name(segment.name);
            let said = new.filter(|new| at < new.end);
            is_way_kept &= said.is_none_or(|new| new.path.get(at).is_some_and(|new| new == name));
            let Some(import) = step.import else { continue };
            if leaves {
                self.scan.freed_imports.insert(import);
                if at == 0 && step.glob {
                    self.scan.used_inner.insert((import, name.to_owned()));
                }
            } else if said.is_some() && !is_way_kept && step.module().is_some() {
                self.scan.freed_imports.insert(import);
            } else {
                self.uses(site, step, (import, name));
            }
        }
    }

    /// A path in quoted code, which is read in other crates.
    fn quoted(&mut self, site: &Site<'_>) {
        let mut needs = Vec::new();
        let speller = self.speller();
        let quoted = (self.facts, site);
        let outcome = speller.respell_quoted(quoted, self.set, &mut needs);
        self.scan.told.needs.append(&mut needs);
        let moved = site.trace.steps.iter().flat_map(Found::all);
        let moved: Vec<usize> = moved.filter_map(|(res, _)| self.moving_of(res)).collect();
        let elsewhere = speller.place_of(site, None);
        for moving in moved {
            let users = self.scan.users.entry(moving).or_default();
            users.insert(elsewhere.clone());
        }
        self.draft().quoted(site, outcome);
    }

    /// Notes who names what leaves.
    fn users(&mut self, site: &Site<'_>, chunk: Option<&Chunk>, walk: &Walk, here: &Place) {
        for named in &walk.named {
            let users = self.scan.users.entry(*named).or_default();
            users.insert(here.clone());
            let moving = self.set.moving(*named);
            let arrives = chunk.is_some() && site.segments.len() == 1;
            if !(walk.plain || arrives && (moving.to == *here)) {
                let by_path = self.scan.by_path.entry(*named).or_default();
                by_path.insert(here.clone());
            }
        }
        for (import, moving) in &walk.globs {
            self.scan.globs.insert((*import, *moving));
        }
    }

    /// An import that only gives a macro a path goes with the macro, and one that a shim takes the
    /// place of goes.
    fn gives_path(&mut self, site: &Site<'_>) -> bool {
        let UseSite::Leaf(leaf) = site.site else {
            return false;
        };
        if self.set.facades.contains_key(&(self.file, leaf)) {
            let work = self.scan.files.entry(self.file).or_default();
            work.leaves.insert(leaf, LeafChange::Drop);
            return true;
        }
        let Some(moving) = self.set.path_giver((self.file, leaf)) else {
            return false;
        };
        let change = if self.set.is_in_place(moving) {
            LeafChange::Path {
                path: vec![moving.name.clone()],
                alias: None,
            }
        } else {
            LeafChange::Drop
        };
        let work = self.scan.files.entry(self.file).or_default();
        work.leaves.insert(leaf, change);
        true
    }

    /// Notes that something which stays goes through an import by a name.
    fn uses(&mut self, site: &Site<'_>, step: &Found, (import, name): ((FileId, u32), &str)) {
        if site.origin == Origin::DocLink && !step.glob {
            self.scan.doc_imports.insert(import);
            return;
        }
        self.scan.used_imports.insert(import);
        if !step.glob {
            return;
        }
        if !step.all().any(|(res, _)| self.moving_of(res).is_some()) {
            self.scan.used_globs.insert(import);
        }
        self.through_globs(import, name);
    }

    /// Notes a name in the module that a glob leads to, and in those that other globs bring it to that from.
    fn through_globs(&mut self, import: (FileId, u32), name: &str) {
        let world = self.set.world();
        let mut open = vec![import];
        while let Some(glob) = open.pop() {
            let Some(target) = self.speller().glob_target(glob) else {
                continue;
            };
            if !self.scan.used_names.insert((target, name.to_owned())) {
                continue;
            }
            let further = world.bindings(target, name).iter();
            let further = further.filter(|binding| binding.glob);
            for import in further.filter_map(|binding| binding.import) {
                self.scan.used_imports.insert(import);
                open.push(import);
            }
        }
    }

    /// What moves, where a name leads to that.
    fn moving_of(&self, res: Res) -> Option<usize> {
        match res {
            Res::Item(item) => self.set.of(item),
            _ => None,
        }
    }

    fn names(&mut self, site: &Site<'_>, chunk: Option<&Chunk>, walk: &Walk, here: &Place) {
        let Some(first) = site.segments.first() else {
            return;
        };
        if let Some(chunk) = chunk {
            if site.origin == Origin::Attribute && self.leads_outside(site) {
                self.scan.derives.insert((chunk.file, chunk.span));
            }
            let borrow = |source| self.borrow(site, chunk, source, here);
            let borrow = walk.borrowed.and_then(borrow);
            self.scan.borrows.extend(borrow);
        }
        let left = walk.left.and_then(|moving| self.left(moving, site, here));
        self.scan.left.extend(left);
        if let Some(item) = walk.textual {
            let entry = self.scan.macros.entry((item, here.clone()));
            entry.or_insert((self.file, first.span));
        }
        if walk.loose {
            let name = self.facts.name(first.name).to_owned();
            let entry = self.scan.loose.entry((here.clone(), name, site.site));
            entry.or_insert((self.file, first.span, site.origin));
        }
    }

    /// Whether a site leads to something of another library than those of the language.
    fn leads_outside(&self, site: &Site<'_>) -> bool {
        let last = site.trace.steps.last();
        let mut led = last.into_iter().flat_map(Found::all);
        led.any(|(res, _)| match res {
            Res::External(full) => {
                let full = self.set.world().names.text(full);
                let first = full.split("::").next().unwrap_or_default();
                !["std", "core", "alloc"].contains(&first)
            }
            _ => false,
        })
    }

    /// The first name of a site in text that moves, as one that its new module may not have.
    pub(in crate::rewrite) fn borrow(
        &self,
        site: &Site<'_>,
        chunk: &Chunk,
        source: Source,
        here: &Place,
    ) -> Option<Borrow> {
        let first = site.segments.first()?;
        let step = site.trace.steps.first();
        Some(Borrow {
            name: self.facts.name(first.name).to_owned(),
            source,
            to: here.clone(),
            results: step.map_or_else(Vec::new, |step| step.all().collect()),
            file: self.file,
            site: site.site,
            span: first.span,
            origin: site.origin,
            cfg: chunk.cfg.clone(),
            demand: Demand::Yes,
            lent: false,
        })
    }

    /// The first name of a site in the module that what it names leaves.
    fn left(&self, moving: usize, site: &Site<'_>, here: &Place) -> Option<Left> {
        Some(Left {
            moving,
            file: self.file,
            site: site.site,
            span: site.segments.first()?.span,
            origin: site.origin,
            body: self.set.world().body_of(site),
            here: here.clone(),
        })
    }

    /// Spells a site anew where it has to be.
    fn spell(&mut self, site: &Site<'_>, respelling: Option<Respelling>, here: &Place) {
        let Some(new) = respelling else {
            if !self.is_shared || !self.draft().is_known(site, None) {
                self.keep(site, here);
            }
            return;
        };
        if self.draft().is_known(site, Some(&new.path)) {
            return;
        }
        let UseSite::Leaf(leaf) = site.site else {
            return self.draft().change(site, &new, false);
        };
        if self.means_more(site, new.end) {
            if self.is_used(site, leaf) {
                self.draft().beside(leaf, &new);
            }
            return;
        }
        let is_whole = new.end == site.segments.len();
        let last = new.path.last().filter(|_| is_whole).map(String::as_str);
        let home = self.at_home(site, leaf, (here, last));
        let bound = self.bound(leaf);
        let spent = home == Some(true) || self.is_imported_already(leaf, last, bound);
        self.draft().change(site, &new, spent);
        if home.is_some() {
            self.draft().work.at_home.insert(leaf);
        }
    }

    /// A path that goes on leading to what changes, as one through a facade does. An import by it goes where
    /// the definition arrives: the name would be there twice.
    fn keep(&mut self, site: &Site<'_>, here: &Place) {
        let UseSite::Leaf(leaf) = site.site else {
            return;
        };
        let led = site.trace.steps.last().map(Found::all);
        let moving = led
            .into_iter()
            .flatten()
            .find_map(|(res, _)| self.moving_of(res));
        let last = moving.map(|at| self.set.moving(at).name.as_str());
        if self.at_home(site, leaf, (here, last)) == Some(true)
            && !self.means_more(site, site.segments.len())
        {
            self.draft().work.leaves.insert(leaf, LeafChange::Drop);
        }
    }

    /// The name that an import gives.
    fn bound(&self, leaf: u32) -> Option<&'p str> {
        let fact = self.facts.leaf(leaf);
        let last = self.facts.segments(fact.segments).last();
        let bound = fact.alias.as_ref().or(last);
        bound.map(|segment| self.facts.name(segment.name))
    }

    /// Whether a name leads to what gets another place or goes.
    fn changes(&self, res: Res) -> bool {
        match res {
            Res::Module(module) => self.mapping().is_changed(module),
            Res::Item(item) => self.set.of(item).is_some() || self.is_leaving_macro(item),
            _ => false,
        }
    }

    /// Whether it is an exported macro whose module leaves its crate: users have it by the root of that.
    fn is_leaving_macro(&self, item: ItemId) -> bool {
        let node = &self.mapping().world[item];
        node.kind == ItemKind::Macro
            && self.mapping().crosses(node.module)
            && is_exported(self.mapping().world, item)
    }

    /// Whether an import brings by one name what changes and what stays, and goes on bringing that.
    fn means_more(&self, site: &Site<'_>, end: usize) -> bool {
        let mapping = self.mapping();
        let Some((last, before)) = site.trace.steps.split_last() else {
            return false;
        };
        let here = mapping.world.module_of(site.space);
        let outer = before.last().and_then(Found::module);
        end == site.segments.len()
            && site.trace.steps.len() == end
            && last.all().any(|(res, _)| self.changes(res))
            && last.all().any(|(res, _)| !self.changes(res))
            && !mapping.is_changed(here)
            && !outer.is_some_and(|outer| mapping.is_changed(outer))
    }

    /// Whether somebody has by an import what changes of all that it brings; nobody knows of public ones.
    fn is_used(&self, site: &Site<'_>, leaf: u32) -> bool {
        let world = self.mapping().world;
        if self.facts.declaration_of(leaf).visibility.kind != VisibilityKind::Private {
            return true;
        }
        let import = Some((self.file, leaf));
        let last = site.trace.steps.last();
        let changed = last.into_iter().flat_map(Found::all);
        let changed = changed.filter(|(res, _)| self.changes(*res));
        let changed = changed.fold(Namespaces(0), |all, (_, one)| all.or(one));
        let mut used = false;
        for load in 0..world.loads.len() {
            world.visit(load, &mut |facts, site| {
                let mut through = site.trace.steps.iter();
                let Some(at) = through.position(|step| step.import == import) else {
                    return;
                };
                let asked = match site.site {
                    _ if at + 1 < site.segments.len() => Namespaces::TYPE,
                    UseSite::Path(path) => facts.path(path).namespaces,
                    UseSite::Leaf(_) | UseSite::ExternCrate(_) => changed,
                };
                used |= asked.meets(changed);
            });
        }
        used
    }

    /// Whether a leaf imports what arrives into the very module that has it from now on, and by the name that it has
    /// there; `None` for one that does not. `last` is the name by which an item is there.
    fn at_home(
        &mut self,
        site: &Site<'_>,
        leaf: u32,
        (here, last): (&Place, Option<&str>),
    ) -> Option<bool> {
        let (set, mapping) = (self.set, self.mapping());
        let is_glob = self.facts.leaf(leaf).kind == LeafKind::Glob;
        if is_glob || !is_of_module(set.world(), (self.file, leaf)) {
            return None;
        }
        let bound = self.bound(leaf);
        let module = site.trace.steps.last().and_then(Found::module);
        let place = module.filter(|module| mapping.is_changed(*module));
        let place = place.map(|module| mapping.after(module));
        if let Some(place) = place.filter(|place| place.parent().as_ref() == Some(here)) {
            return Some(bound == Some(place.name()));
        }
        let arriving = last.and_then(|last| set.arriving_at(here, last))?;
        // Who has a trait by its definition has its methods, too. What gets another name is imported there by that, unless
        // an alias stays.
        if bound != last && bound != Some("_") {
            return Some(false);
        }
        // Who saw the import sees the definition.
        let seen_by = match self.facts.declaration_of(leaf).visibility.kind {
            VisibilityKind::Crate => Some(Place::root(here.krate)),
            VisibilityKind::Super => here.parent(),
            _ => None,
        };
        self.scan.users.entry(arriving).or_default().extend(seen_by);
        Some(true)
    }

    /// Whether the module of a leaf imports what takes the place of something already, or defines it.
    fn is_imported_already(&self, leaf: u32, last: Option<&str>, bound: Option<&str>) -> bool {
        let world = self.set.world();
        let import = (self.file, leaf);
        let (Some(name), true) = (last, is_of_module(world, import)) else {
            return false;
        };
        let Some(home) = home_of(world, import).filter(|_| bound == Some(name)) else {
            return false;
        };
        let mut giving_way = self.set.giving_way_to(name);
        let primary = giving_way.find_map(|moving| replace::primary(self.set, moving));
        let bindings = world.bindings(home, name);
        let Some(primary) = primary else { return false };
        // One under a condition of its own is none for who imports without.
        let conditions = |import| -> BTreeSet<String> {
            let found = conditions::of_import(self.set.mapping, import);
            found.into_iter().collect()
        };
        let own = conditions(import);
        let is_there_too = |binding: &Binding| {
            let other = binding.import;
            other.is_none_or(|other| conditions(other).is_subset(&own))
        };
        bindings.iter().any(|binding| {
            let is_another = binding.import != Some(import) && !binding.glob;
            binding.res == Res::Item(primary) && is_another && is_there_too(binding)
        })
    }

    /// `pub(in path)` and `pub(super)`: what could be seen before is seen after.
    fn visibility(&mut self, site: &Site<'_>, chunk: Option<&Chunk>) {
        let (set, mapping) = (self.set, self.mapping());
        let Some(reach) = site.trace.steps.last().and_then(Found::module) else {
            return;
        };
        let own = mapping.world.module_of(site.space);
        if chunk.is_none() && !mapping.is_changed(own) && !mapping.is_changed(reach)
            || chunk.is_some_and(|chunk| self.is_of_definition(site, chunk))
        {
            return;
        }
        // In a library that goes as a whole, `pub(crate)` says what it said, and of more.
        let library = mapping.library_of(mapping.krate(reach));
        if library.is_some_and(|library| library.module == reach) && site.segments.len() == 1 {
            return;
        }
        let leaving = Some(Leaving { set, chunk });
        let speller = self.speller();
        let (here, reach_after) = (speller.place_of(site, leaving), mapping.after(reach));
        let Some(common) = reach_after.common(&here) else {
            return;
        };
        let mut walk = speller.walk(self.facts, site, leaving, 0);
        let keeps = speller.outcome((self.facts, site), leaving, &mut walk, &mut Vec::new());
        if common != reach_after || !matches!(keeps, Outcome::Keep) {
            self.draft().restrict(site, reach, &common, &here);
        }
    }

    /// Whether a visibility is that of an item which moves: that is written with it.
    fn is_of_definition(&self, site: &Site<'_>, chunk: &Chunk) -> bool {
        let definition = chunk.definition.map(|at| self.facts.item(at));
        let span = span_of(site, 0, site.segments.len());
        definition.is_some_and(|item| item.visibility.span.contains(span))
    }

    /// What globs no longer bring is imported besides, and globs that bring nothing go.
    fn globs(&mut self) {
        let globs = globs::globs(&self.speller(), self.file, &mut self.scan.told.needs);
        for (leaf, name) in globs.guessed {
            self.scan.told.unproven.push(Unproven {
                path: self.path.clone(),
                span: Some(self.facts.leaf(leaf).span),
                kind: UnprovenKind::UnknownType,
                why: format!(
                    "the glob no longer brings `{name}`, and whether the methods that are called \
                     here need it is not known: it is imported besides"
                ),
                name,
            });
        }
        let work = self.scan.files.entry(self.file).or_default();
        for (declaration, trees) in globs.besides {
            work.besides.entry(declaration).or_default().extend(trees);
        }
        let spent = globs.spent.into_iter();
        work.leaves
            .extend(spent.map(|leaf| (leaf, LeafChange::Drop)));
    }
}
