//! One pass over every site that may concern what leaves: which paths are spelled anew, what the new
//! places have to import, what the old ones go on naming.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, TreePath};

use super::{
    super::{
        conditions,
        draft::{Draft, FileWork, Told, span_of},
        needs::{Because, Need, Purpose, Subject},
        place::Place,
        spell::{Outcome, Respelling, Speller},
        traits::Demand,
        use_tree::LeafChange,
        walk::{Leaving, Source, Walk, is_of_module},
    },
    bodies::{Inner, Said},
    imports::home_of,
    moving::{Chunk, Set},
    replace,
};
use crate::{
    facts::{LeafKind, Namespaces, Origin, Segment, SourceFacts, VisibilityKind},
    resolve::{Binding, BodyId, CrateId, FileId, Found, ItemId, ModuleId, Res, Site, UseSite},
};

/// A name that moved text says and its new module may not have.
#[derive(Clone)]
pub(in crate::rewrite) struct Borrow {
    pub name: String,
    pub source: Source,
    pub to: Place,
    /// What the name leads to.
    pub results: Vec<(Res, Namespaces)>,
    /// The site of it.
    pub file: FileId,
    pub site: UseSite,
    pub span: ByteSpan,
    pub origin: Origin,
    /// The conditions of the text that says it.
    pub cfg: BTreeSet<String>,
    /// How much speaks for it that the name is needed: of a trait, methods may be somebody else's.
    pub demand: Demand,
    /// Whether a macro that stays says it, whose call moves: it is not spelled anew for one of its calls.
    pub lent: bool,
}

/// A plain name in the old module of what left it.
pub(super) struct Left {
    pub moving: usize,
    pub file: FileId,
    pub site: UseSite,
    pub span: ByteSpan,
    pub origin: Origin,
    pub body: BodyId,
    pub here: Place,
}

/// Everything that a pass finds.
#[derive(Default)]
pub(super) struct Scan {
    pub files: BTreeMap<FileId, FileWork>,
    pub borrows: Vec<Borrow>,
    pub left: Vec<Left>,
    /// Globs that brought what left, with the place of those who used them.
    pub globs: BTreeSet<((FileId, u32), usize)>,
    /// Who names what moves, after.
    pub users: BTreeMap<usize, BTreeSet<Place>>,
    /// Imports that text which stays uses.
    pub used_imports: BTreeSet<(FileId, u32)>,
    /// Imports that links in documents of text which stays go through: the compiler does not count those.
    pub doc_imports: BTreeSet<(FileId, u32)>,
    /// Globs that bring something which stays to text which stays.
    pub used_globs: BTreeSet<(FileId, u32)>,
    /// Imports that text which leaves uses.
    pub freed_imports: BTreeSet<(FileId, u32)>,
    /// Names that globs of a module bring to text which stays.
    pub used_names: BTreeSet<(ModuleId, String)>,
    /// Names that globs inside moved text bring to it.
    pub used_inner: BTreeSet<((FileId, u32), String)>,
    /// Macros seen by where they stand, and where they have to be seen.
    pub macros: BTreeMap<(ItemId, Place), (FileId, ByteSpan)>,
    /// Names that lead nowhere known, in moved text.
    pub loose: BTreeMap<(Place, String, UseSite), (FileId, ByteSpan, Origin)>,
    /// Texts with derives or attributes of macros from elsewhere, which write what nobody sees.
    pub derives: BTreeSet<(FileId, ByteSpan)>,
    /// Imports of traits that method calls in moved text need, or may need.
    pub for_methods: BTreeMap<(FileId, u32), Demand>,
    /// Imports on both sides of which method calls alone do not tell who needs them.
    pub guessed: BTreeSet<(FileId, u32)>,
    /// Traits that are imported where methods are called which others may have, with the code that calls them.
    pub guessed_calls: BTreeSet<(FileId, ByteSpan, String)>,
    pub told: Told,
    /// Macros that are named by path, or through an import, and from where.
    pub by_path: BTreeMap<usize, BTreeSet<Place>>,
    /// A macro, and what moves along with it and is named in its body.
    pub spoken: BTreeSet<(usize, usize)>,
    /// Macros that go along and name each other.
    pub inner: Vec<Inner>,
    /// Plain names in the bodies of macros that move.
    pub said: Vec<Said>,
}

/// Visits the files that may name what leaves, or that hold it.
pub(super) fn scan(set: &Set<'_>) -> Scan {
    let mut scan = Scan::default();
    let world = set.world();
    for (file, source) in world.sources() {
        let concerned = is_concerned(set, file);
        let text = concerned
            .then(|| set.mapping.texts.text(&source.path))
            .flatten();
        let facts = world.facts(file);
        let Some(text) = text else {
            continue;
        };
        let mut pass = Pass {
            set,
            file,
            facts,
            path: &source.path,
            text: &text,
            scan: &mut scan,
        };
        world.visit_file(source, &mut |_, site| pass.site(&site));
    }
    scan
}

/// A file that names what moves, holds it, or sees what its old module keeps to itself.
pub(super) fn is_concerned(set: &Set<'_>, file: FileId) -> bool {
    let world = set.world();
    let (source, facts) = (&world[file], world.facts(file));
    let mut bodies = source.bodies.iter();
    bodies.any(|body| set.leaves_around(world[body].module))
        || facts.names.iter().any(|name| set.is_old_name(name))
}

pub(super) struct Pass<'p, 'a> {
    pub(super) set: &'p Set<'a>,
    pub(super) file: FileId,
    pub(super) facts: &'p SourceFacts,
    pub(super) path: &'p TreePath,
    text: &'p str,
    pub(super) scan: &'p mut Scan,
}

impl<'p> Pass<'p, '_> {
    /// The file as it is spelled anew.
    pub(super) fn draft(&mut self) -> Draft<'_> {
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

    fn site(&mut self, site: &Site<'_>) {
        let Some(first) = site.segments.first() else {
            return;
        };
        let set = self.set;
        let chunk = set.chunk_at(self.file, first.span.start);
        if self.is_settled(site, chunk) {
            return;
        }
        let leaving = Leaving { set, chunk };
        let mut walk = self.speller().walk(self.facts, site, Some(leaving), 0);
        let here = self.speller().place_of(site, Some(leaving));
        if site.origin == Origin::MacroBody && self.body(site, chunk, (&mut walk, &here)) {
            return;
        }
        let respelled = walk.broken.is_some() && !matches!(site.site, UseSite::Leaf(_));
        match chunk.is_some() || respelled {
            true => self.release(site),
            false => self.uses(site),
        }
        if let Some(why) = walk.refused.take() {
            self.draft().refuse(site, why);
            return;
        }
        self.users(site, chunk, &walk, &here);
        self.names(site, chunk, &walk, &here);
        self.spell(site, leaving, walk, &here);
    }

    /// Deals with what is no path of code that stays or moves; whether it is such.
    fn is_settled(&mut self, site: &Site<'_>, chunk: Option<&Chunk>) -> bool {
        if site.origin == Origin::Quoted {
            self.quoted(site);
            return true;
        }
        if chunk.is_some_and(|chunk| self.set.is_dropped(chunk)) {
            self.free(site);
            return true;
        }
        if site.origin == Origin::Visibility {
            self.visibility(site, chunk);
            return true;
        }
        self.gives_path(site)
    }

    /// Notes that nobody needs for a site any more what it goes through.
    fn release(&mut self, site: &Site<'_>) {
        self.free(site);
        let first = site.segments.first().zip(site.trace.steps.first());
        let by_glob = first.filter(|(_, step)| step.glob);
        let by_glob = by_glob.and_then(|(first, step)| Some((step.import?, first)));
        self.scan.used_inner.extend(by_glob.map(|(import, first)| {
            let name = self.facts.name(first.name);
            (import, name.to_owned())
        }));
    }

    /// A path in quoted code, which is read in other crates.
    fn quoted(&mut self, site: &Site<'_>) {
        let mut needs = Vec::new();
        let speller = self.speller();
        let quoted = (self.facts, site);
        let outcome = speller.respell_quoted(quoted, Some(self.set), &mut needs);
        self.scan.told.needs.append(&mut needs);
        let moved = site.trace.steps.iter().flat_map(Found::all);
        let moved = moved.filter_map(|(res, _)| match res {
            Res::Item(item) => self.set.of(item),
            _ => None,
        });
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

    /// Notes that the package of a place needs another one.
    pub(super) fn depend(&mut self, krate: CrateId, here: &Place, because: Because) {
        if krate != here.krate {
            self.scan.told.needs.push(
                Need::new(Subject::Crate(krate, Purpose::Code), here.clone()).because(because),
            );
        }
    }

    /// Notes the imports that a site goes through.
    fn uses(&mut self, site: &Site<'_>) {
        let speller = self.speller();
        for (step, segment) in site.trace.steps.iter().zip(site.segments) {
            let Some(import) = step.import else { continue };
            if site.origin == Origin::DocLink && !step.glob {
                self.scan.doc_imports.insert(import);
                continue;
            }
            self.scan.used_imports.insert(import);
            let moved = |res: Res| matches!(res, Res::Item(item) if self.set.of(item).is_some());
            if step.glob && !step.all().any(|(res, _)| moved(res)) {
                self.scan.used_globs.insert(import);
            }
            if step.glob
                && let Some(target) = speller.glob_target(import)
            {
                let name = self.facts.name(segment.name).to_owned();
                self.scan.used_names.insert((target, name));
            }
        }
    }

    pub(super) fn free(&mut self, site: &Site<'_>) {
        let imports = site.trace.steps.iter().filter_map(|step| step.import);
        self.scan.freed_imports.extend(imports);
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
    pub(super) fn borrow(
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

    /// The segments that a walk found broken, spelled anew.
    fn spell(&mut self, site: &Site<'_>, leaving: Leaving<'_, '_>, mut walk: Walk, here: &Place) {
        let mut needs = Vec::new();
        let outcome =
            self.speller()
                .outcome((self.facts, site), Some(leaving), &mut walk, &mut needs);
        self.scan.told.needs.append(&mut needs);
        let respelling = match outcome {
            Outcome::Keep => return self.keep(site, here),
            Outcome::Change(respelling) => respelling,
            Outcome::Refuse(why) => return self.draft().refuse(site, why),
        };
        if self.draft().is_known(site, Some(&respelling.path)) {
            return;
        }
        let mut spent = false;
        if let UseSite::Leaf(leaf) = site.site {
            if self.means_more(site, respelling.end) {
                self.draft().beside(leaf, &respelling.path);
                return;
            }
            spent = self.is_spent(leaf, &respelling, here);
        }
        self.draft().change(site, &respelling, spent);
    }

    /// A path that goes on leading to what moves, as one through a facade does. An import by it goes where
    /// the definition arrives: the name would be there twice.
    fn keep(&mut self, site: &Site<'_>, here: &Place) {
        let UseSite::Leaf(leaf) = site.site else {
            return;
        };
        let fact = self.facts.leaf(leaf);
        let led = site.trace.steps.last().map(Found::all);
        let moving = led.into_iter().flatten().find_map(|(res, _)| match res {
            Res::Item(item) => self.set.of(item),
            _ => None,
        });
        let Some(moving) = moving.map(|at| self.set.moving(at)) else {
            return;
        };
        if fact.kind == LeafKind::Glob || self.means_more(site, site.segments.len()) {
            return;
        }
        let last = self.facts.segments(fact.segments).last();
        let bound = fact.alias.as_ref().or(last);
        let bound = bound.map(|segment| self.facts.name(segment.name));
        if self.is_at_home(leaf, here, Some(&moving.name), bound) {
            self.draft().work.leaves.insert(leaf, LeafChange::Drop);
        }
    }

    /// Whether an import goes: its module has the name from now on, or has it already.
    fn is_spent(&mut self, leaf: u32, respelling: &Respelling, here: &Place) -> bool {
        let fact = self.facts.leaf(leaf);
        let segments = self.facts.segments(fact.segments);
        if respelling.end != segments.len() || fact.kind == LeafKind::Glob {
            return false;
        }
        let name = |segment: &Segment| self.facts.name(segment.name).to_owned();
        let bound = fact.alias.as_ref().or(segments.last()).map(name);
        let last = respelling.path.last();
        self.is_at_home(leaf, here, last, bound.as_deref())
            || self.is_imported_already(leaf, last, bound.as_deref())
    }

    /// Whether an import brings more than what moves, by the same name.
    fn means_more(&self, site: &Site<'_>, end: usize) -> bool {
        let last = site.trace.steps.get(end.saturating_sub(1));
        let whole = end == site.segments.len();
        whole
            && last.is_some_and(|last| {
                let moved =
                    |res: Res| matches!(res, Res::Item(item) if self.set.of(item).is_some());
                let mut all = last.all();
                last.all().any(|(res, _)| moved(res)) && all.any(|(res, _)| !moved(res))
            })
    }

    /// Whether a leaf imports what arrives into the very module that has it from now on.
    fn is_at_home(
        &mut self,
        leaf: u32,
        here: &Place,
        last: Option<&String>,
        bound: Option<&str>,
    ) -> bool {
        let last = last.map(String::as_str);
        let arriving = last.and_then(|last| self.set.arriving_at(here, last));
        // Who has a trait by its definition has its methods, too.
        let is_bound = bound == last || bound == Some("_");
        let Some(arriving) = arriving.filter(|_| is_bound) else {
            return false;
        };
        if !is_of_module(self.set.world(), (self.file, leaf)) {
            return false;
        }
        // Who saw the import sees the definition.
        let seen_by = match self.facts.declaration_of(leaf).visibility.kind {
            VisibilityKind::Crate => Some(Place::root(here.krate)),
            VisibilityKind::Super => here.parent(),
            _ => None,
        };
        self.scan.users.entry(arriving).or_default().extend(seen_by);
        true
    }

    /// Whether the module of a leaf imports what takes the place of something already, or defines it.
    fn is_imported_already(&self, leaf: u32, last: Option<&String>, bound: Option<&str>) -> bool {
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

    /// `pub(in path)` and `pub(super)` in moved text: what could be seen before is seen after.
    fn visibility(&mut self, site: &Site<'_>, chunk: Option<&Chunk>) {
        let moving = chunk.map(|chunk| self.set.moving(chunk.moving));
        let (Some(chunk), Some(moving)) = (chunk, moving) else {
            return;
        };
        let definition = chunk.definition.map(|at| self.facts.item(at));
        let span = span_of(site, 0, site.segments.len());
        if definition.is_some_and(|item| item.visibility.span.contains(span)) {
            // That of the item itself is written with it.
            return;
        }
        let Some(reach) = site.trace.steps.last().and_then(Found::module) else {
            return;
        };
        if let Some(common) = self.set.mapping.after(reach).common(&moving.to) {
            self.draft().restrict(site, reach, &common, &moving.to);
        }
    }
}
