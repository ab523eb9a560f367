//! One pass over every site that may concern what leaves: which paths are spelled anew, what the new
//! places have to import, what the old ones go on naming.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Edit, Evidence, Finding, NotRewritten, Rewrite, Safety, Texts, TreePath,
};

use super::{
    super::{
        file::span_of,
        mapping::refusal,
        place::Place,
        sight::{Because, Need, Purpose, Subject},
        spell::{Speller, module_in, written},
        use_tree::LeafChange,
    },
    bodies::{Inner, Said},
    imports::home_of,
    moving::{Chunk, Set},
    replace,
    walk::{self, Goal, Source, Walk},
};
use crate::{
    facts::{LeafKind, Namespaces, Origin, SourceFacts, VisibilityKind},
    resolve::{BodyId, CrateId, FileId, ItemId, ModuleId, Res, Site, UseSite, form, is_within},
};

/// A name that moved text says and its new module may not have.
#[derive(Clone)]
pub(super) struct Borrow {
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

/// What a file contributes.
#[derive(Default)]
pub(super) struct FileWork {
    pub edits: Vec<Edit>,
    pub leaves: BTreeMap<u32, LeafChange>,
    /// Paths to import besides, by declaration.
    pub besides: BTreeMap<u32, BTreeSet<String>>,
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
    /// Traits that method calls alone may need on either side, by the file that something leaves.
    pub for_methods: BTreeMap<FileId, BTreeSet<String>>,
    pub needs: Vec<Need>,
    pub rewrites: Vec<Rewrite>,
    pub not_rewritten: Vec<NotRewritten>,
    pub refusals: Vec<Finding>,
    /// Macros that are named by path, or through an import, and from where.
    pub by_path: BTreeMap<usize, BTreeSet<Place>>,
    /// A macro, and what moves along with it and is named in its body.
    pub spoken: BTreeSet<(usize, usize)>,
    /// Macros that go along and name each other.
    pub inner: Vec<Inner>,
    /// Plain names in the bodies of macros that move.
    pub said: Vec<Said>,
    spelled: BTreeMap<(FileId, UseSite), Option<Vec<String>>>,
}

/// Visits the files that may name what leaves, or that hold it.
pub(super) fn scan(set: &Set<'_>, texts: &dyn Texts) -> Scan {
    let mut scan = Scan::default();
    let world = set.world();
    for at in 0..world.files.len() {
        let file = FileId(u32::try_from(at).unwrap_or(u32::MAX));
        if !is_concerned(set, file) {
            continue;
        }
        let Some(source) = world.files.get(at) else {
            continue;
        };
        let mut pass = Pass {
            set,
            file,
            path: source.path.clone(),
            texts,
            scan: &mut scan,
        };
        for load in &source.loads {
            let mut sites = Vec::new();
            world.visit(*load as usize, &mut |facts, site| sites.push((facts, site)));
            for (facts, site) in &sites {
                pass.site(facts, site);
            }
        }
    }
    scan
}

/// A file that names what moves, holds it, or sees what its old module keeps to itself.
pub(super) fn is_concerned(set: &Set<'_>, file: FileId) -> bool {
    let world = set.world();
    let (Some(source), Some(facts)) = (world.files.get(file.index()), world.facts(file)) else {
        return false;
    };
    let names = |name: &str| facts.names.iter().any(|known| **known == *name);
    set.moving.iter().any(|moving| {
        let item = world.items.get(moving.item.index());
        let below = source.bodies.iter().any(|body| {
            let body = world.bodies.get(body.index());
            body.is_some_and(|body| is_within(world, body.module, moving.home))
        });
        below || item.is_some_and(|item| names(&item.name))
    })
}

pub(super) struct Pass<'p, 'a> {
    pub(super) set: &'p Set<'a>,
    pub(super) file: FileId,
    pub(super) path: TreePath,
    texts: &'p dyn Texts,
    pub(super) scan: &'p mut Scan,
}

impl Pass<'_, '_> {
    fn site(&mut self, facts: &SourceFacts, site: &Site<'_>) {
        let Some(first) = site.segments.first() else {
            return;
        };
        let chunk = self.set.chunk_at(self.file, first.span.start);
        if chunk.is_some_and(|chunk| self.set.is_dropped(chunk)) {
            self.free(site);
            return;
        }
        if site.origin == Origin::Visibility {
            self.visibility(facts, site, chunk);
            return;
        }
        if self.gives_path(site) {
            return;
        }
        let mut walk = walk::walk(self.set, facts, site, chunk);
        let here = walk::place_of(self.set, site, chunk);
        if site.origin == Origin::MacroBody && self.body(facts, site, chunk, (&mut walk, &here)) {
            return;
        }
        let respelled = walk.broken.is_some() && !matches!(site.site, UseSite::Leaf(_));
        if chunk.is_some() || respelled {
            self.free(site);
            let glob = site.trace.steps.first().filter(|step| step.glob);
            if let Some(import) = glob.and_then(|step| step.import) {
                let name = facts.name(first.name).to_owned();
                self.scan.used_inner.insert((import, name));
            }
        } else {
            self.uses(facts, site);
        }
        if let Some(why) = walk.refused.take() {
            self.refuse(site, why);
            return;
        }
        self.scan.needs.append(&mut walk.needs);
        for named in &walk.named {
            let users = self.scan.users.entry(*named).or_default();
            users.insert(here.clone());
            let moving = self.set.moving(*named);
            let arrives = chunk.is_some() && site.segments.len() == 1;
            if !(walk.plain || arrives && moving.is_some_and(|moving| moving.to == here)) {
                let by_path = self.scan.by_path.entry(*named).or_default();
                by_path.insert(here.clone());
            }
        }
        for (import, moving) in &walk.globs {
            self.scan.globs.insert((*import, *moving));
        }
        self.names(facts, site, chunk, &walk, &here);
        self.spell(facts, site, chunk, walk, &here);
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
            self.scan.needs.push(Need {
                subject: Subject::Crate(krate, Purpose::Code),
                by: here.clone(),
                because: Some(because),
            });
        }
    }

    /// Notes the imports that a site goes through.
    fn uses(&mut self, facts: &SourceFacts, site: &Site<'_>) {
        let speller = Speller {
            mapping: self.set.mapping,
        };
        for (step, segment) in site.trace.steps.iter().zip(site.segments) {
            let Some(import) = step.import else { continue };
            self.scan.used_imports.insert(import);
            let moved = |res: Res| matches!(res, Res::Item(item) if self.set.of(item).is_some());
            if step.glob && !step.all().any(|(res, _)| moved(res)) {
                self.scan.used_globs.insert(import);
            }
            if step.glob
                && let Some(target) = speller.glob_target(import)
            {
                let name = facts.name(segment.name).to_owned();
                self.scan.used_names.insert((target, name));
            }
        }
    }

    pub(super) fn free(&mut self, site: &Site<'_>) {
        let imports = site.trace.steps.iter().filter_map(|step| step.import);
        self.scan.freed_imports.extend(imports);
    }

    fn names(
        &mut self,
        facts: &SourceFacts,
        site: &Site<'_>,
        chunk: Option<&Chunk>,
        walk: &Walk,
        here: &Place,
    ) {
        let Some(first) = site.segments.first() else {
            return;
        };
        let name = facts.name(first.name).to_owned();
        if let (Some(chunk), Origin::Attribute) = (chunk, site.origin) {
            let outside = site.trace.steps.last().is_some_and(|last| {
                last.all().any(|(res, _)| match res {
                    Res::External(full) => {
                        let full = self.set.world().names.text(full);
                        !["std", "core", "alloc"]
                            .iter()
                            .any(|std| full.split("::").next() == Some(std))
                    }
                    _ => false,
                })
            });
            if outside {
                self.scan.derives.insert((chunk.file, chunk.span));
            }
        }
        if let (Some(source), Some(chunk)) = (walk.borrowed, chunk) {
            let step = site.trace.steps.first();
            self.scan.borrows.push(Borrow {
                name: name.clone(),
                source,
                to: here.clone(),
                results: step.map_or_else(Vec::new, |step| step.all().collect()),
                file: self.file,
                site: site.site,
                span: first.span,
                origin: site.origin,
                cfg: chunk.cfg.clone(),
            });
        }
        if let Some(moving) = walk.left {
            self.scan.left.push(Left {
                moving,
                file: self.file,
                site: site.site,
                span: first.span,
                origin: site.origin,
                body: self.set.world().body_of(site),
                here: here.clone(),
            });
        }
        if let Some(item) = walk.textual {
            let entry = self.scan.macros.entry((item, here.clone()));
            entry.or_insert((self.file, first.span));
        }
        if walk.loose {
            let entry = self.scan.loose.entry((here.clone(), name, site.site));
            entry.or_insert((self.file, first.span, site.origin));
        }
    }

    pub(super) fn refuse(&mut self, site: &Site<'_>, why: String) {
        let mut finding = refusal(self.path.clone(), why);
        finding.span = Some(span_of(site, 0, site.segments.len()));
        self.scan.refusals.push(finding);
    }

    /// The segments that a walk found broken, spelled anew.
    fn spell(
        &mut self,
        facts: &SourceFacts,
        site: &Site<'_>,
        chunk: Option<&Chunk>,
        walk: Walk,
        here: &Place,
    ) {
        let (end, path) = match (walk.broken, walk.renamed) {
            (Some((at, goal)), _) => {
                match self.way_to(facts, site, at, &goal, here, chunk.is_some()) {
                    Ok(path) => (at + 1, path),
                    Err(why) => return self.refuse(site, why),
                }
            }
            (None, Some((at, name))) => {
                let old = site.segments.iter().take(at);
                let mut path: Vec<String> =
                    old.map(|one| facts.name(one.name).to_owned()).collect();
                path.push(name);
                (at + 1, path)
            }
            (None, None) => return,
        };
        if self.is_known(site, &path) {
            return;
        }
        if let UseSite::Leaf(leaf) = site.site
            && self.means_more(site, end)
        {
            self.beside(facts, leaf, &path);
            return;
        }
        self.change(facts, site, end, path, here);
    }

    /// Whether another crate that shares the file has asked for the same already.
    pub(super) fn is_known(&mut self, site: &Site<'_>, path: &[String]) -> bool {
        let key = (self.file, site.site);
        match self.scan.spelled.get(&key) {
            None => {
                self.scan.spelled.insert(key, Some(path.to_vec()));
                false
            }
            Some(known) => {
                if known.as_deref() != Some(path) {
                    let why = "the crates that share this file would need it spelled differently";
                    self.refuse(site, why.to_owned());
                }
                true
            }
        }
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

    fn beside(&mut self, facts: &SourceFacts, leaf: u32, path: &[String]) {
        let Some(fact) = facts.leaves.get(leaf as usize) else {
            return;
        };
        let tree: Vec<String> = path.iter().map(|name| written(name)).collect();
        let work = self.scan.files.entry(self.file).or_default();
        let trees = work.besides.entry(fact.declaration).or_default();
        trees.insert(tree.join("::"));
    }

    /// The path from the site to where a broken step has to lead.
    fn way_to(
        &mut self,
        facts: &SourceFacts,
        site: &Site<'_>,
        at: usize,
        goal: &Goal,
        here: &Place,
        leaves: bool,
    ) -> Result<Vec<String>, String> {
        let speller = Speller {
            mapping: self.set.mapping,
        };
        let (place, name) = match goal {
            Goal::Path(krate, path) => {
                let needs = &mut self.scan.needs;
                return Ok(speller.said_in(path.clone(), *krate, here, needs));
            }
            Goal::Module(module) => (self.set.mapping.after(*module), None),
            Goal::Moved(moving) => {
                let moving = self.set.moving(*moving).ok_or("nothing moves")?;
                (moving.named_at.clone(), Some(moving.name.clone()))
            }
        };
        let goal_name = match &name {
            Some(name) => format!("{}::{name}", self.set.mapping.name_of(&place)),
            None => self.set.mapping.name_of(&place),
        };
        let found = speller.path_to(facts, site, at, &place, here);
        let mut path = found.ok_or_else(|| {
            format!(
                "`{}` cannot be named from here",
                self.set.mapping.name_of(&place)
            )
        })?;
        let word = |first: &String| matches!(first.as_str(), "self" | "super" | "crate" | "$crate");
        if leaves && place.krate == here.krate && !path.first().is_some_and(word) {
            path = speller.rooted(&place);
        }
        speller.chain(&place, here, &mut self.scan.needs);
        // By a re-export of another crate, the one behind that is not named.
        if speller.through_dependency(here, &place).as_ref() == Some(&path) {
            self.depend(place.krate, here, Because::Names(goal_name));
        }
        let plain = path == ["self"] && matches!(site.site, UseSite::Path(_));
        if plain
            && name
                .as_ref()
                .is_some_and(|name| name.starts_with(char::is_uppercase))
        {
            path.clear();
        }
        path.extend(name);
        Ok(path)
    }

    fn change(
        &mut self,
        facts: &SourceFacts,
        site: &Site<'_>,
        end: usize,
        path: Vec<String>,
        here: &Place,
    ) {
        let span = span_of(site, 0, end);
        let from = self.set.world().site_name(facts, site, end - 1);
        let from = from.unwrap_or_default();
        if let Some(why) = left_alone(site) {
            self.scan.not_rewritten.push(NotRewritten {
                path: self.path.clone(),
                span,
                form: form(facts, site),
                name: from,
                why: why.to_owned(),
            });
            return;
        }
        let certainty = self.set.world().certainty(site, end);
        let names: Vec<String> = path.iter().map(|name| written(name)).collect();
        let text = names.join("::");
        self.scan.rewrites.push(Rewrite {
            path: self.path.clone(),
            span,
            form: form(facts, site),
            evidence: Evidence::Resolved,
            from,
            to: text.clone(),
            reason: "names what moves".to_owned(),
            safety: if certainty == coalesce_model::Certainty::Exact {
                Safety::Safe
            } else {
                Safety::NeedsReview
            },
        });
        match site.site {
            UseSite::Leaf(leaf) => self.leaf(facts, leaf, (end, path), here),
            UseSite::Path(_) => {
                let work = self.scan.files.entry(self.file).or_default();
                work.edits.push(Edit::replace(span, text));
            }
            UseSite::ExternCrate(_) => {}
        }
    }

    fn leaf(
        &mut self,
        facts: &SourceFacts,
        at: u32,
        (end, mut path): (usize, Vec<String>),
        here: &Place,
    ) {
        let Some(fact) = facts.leaves.get(at as usize) else {
            return;
        };
        let segments = facts.segments(fact.segments);
        let old = segments.last().map(|last| facts.name(last.name).to_owned());
        let rest = segments.iter().skip(end);
        path.extend(rest.map(|segment| facts.name(segment.name).to_owned()));
        let alias = fact.alias.map(|alias| facts.name(alias.name).to_owned());
        let bound = alias.or(old).filter(|_| fact.kind != LeafKind::Glob);
        let whole = end == segments.len() && fact.kind == LeafKind::Name;
        let home = whole && self.is_at_home(facts, at, here, &path, bound.as_deref());
        let twice = whole && self.is_imported_already(at, &path, bound.as_deref());
        let change = if home || twice {
            LeafChange::Drop
        } else {
            let alias = bound.filter(|bound| Some(bound) != path.last() && bound != "self");
            LeafChange::Path { path, alias }
        };
        let work = self.scan.files.entry(self.file).or_default();
        work.leaves.insert(at, change);
    }

    /// Whether a leaf imports what arrives into the very module that has it from now on.
    fn is_at_home(
        &mut self,
        facts: &SourceFacts,
        leaf: u32,
        here: &Place,
        path: &[String],
        bound: Option<&str>,
    ) -> bool {
        let last = path.last().map(String::as_str);
        let arriving = self.set.moving.iter().position(|moving| {
            moving.named_at == *here && Some(moving.name.as_str()) == last && !moving.gives_way()
        });
        let Some(arriving) = arriving.filter(|_| bound == last) else {
            return false;
        };
        if !walk::is_of_module(self.set.world(), (self.file, leaf)) {
            return false;
        }
        // Who saw the import sees the definition.
        let visibility = facts
            .leaves
            .get(leaf as usize)
            .and_then(|leaf| facts.uses.get(leaf.declaration as usize))
            .map(|declaration| declaration.visibility.kind);
        let seen_by = match visibility {
            Some(VisibilityKind::Crate) => Some(Place::root(here.krate)),
            Some(VisibilityKind::Super) => here.parent(),
            _ => None,
        };
        self.scan.users.entry(arriving).or_default().extend(seen_by);
        true
    }

    /// Whether the module of a leaf imports what takes the place of something already, or defines it.
    fn is_imported_already(&self, leaf: u32, path: &[String], bound: Option<&str>) -> bool {
        let world = self.set.world();
        let import = (self.file, leaf);
        let (Some(name), true) = (path.last(), walk::is_of_module(world, import)) else {
            return false;
        };
        let Some(home) = home_of(world, import).filter(|_| bound == Some(name)) else {
            return false;
        };
        let primary = self.set.moving.iter().find_map(|moving| {
            let way = moving.gives_way() && moving.name == *name;
            way.then(|| replace::primary(self.set, moving)).flatten()
        });
        let bindings = world
            .space(home)
            .zip(world.names.get(name))
            .and_then(|(space, sym)| space.names.get(&sym));
        let Some(primary) = primary else { return false };
        bindings.into_iter().flatten().any(|binding| {
            binding.res == Res::Item(primary) && binding.import != Some(import) && !binding.glob
        })
    }

    /// `pub(in path)` and `pub(super)` in moved text: what could be seen before is seen after.
    fn visibility(&mut self, facts: &SourceFacts, site: &Site<'_>, chunk: Option<&Chunk>) {
        let Some(chunk) = chunk else { return };
        let Some(moving) = self.set.moving(chunk.moving) else {
            return;
        };
        let definition = chunk.definition.and_then(|at| facts.items.get(at as usize));
        let span = span_of(site, 0, site.segments.len());
        if definition.is_some_and(|item| item.visibility.span.contains(span)) {
            // That of the item itself is written with it.
            return;
        }
        let Some(reach) = site.trace.steps.last().and_then(module_in) else {
            return;
        };
        let before = self.set.mapping.after(reach);
        let Some(common) = before.common(&moving.to) else {
            return;
        };
        let wanted = common.visibility(&moving.to);
        let inner = wanted
            .trim_end()
            .strip_prefix("pub(")
            .and_then(|rest| rest.strip_suffix(')'))
            .unwrap_or("self")
            .to_owned();
        let said: Vec<&str> = site
            .segments
            .iter()
            .map(|segment| facts.name(segment.name))
            .collect();
        let holds = inner.trim_start_matches("in ") == said.join("::");
        if holds || self.is_known(site, std::slice::from_ref(&inner)) {
            return;
        }
        let mut span = span;
        let text = self.texts.text(&self.path);
        let head = text
            .as_deref()
            .and_then(|text| text.get(..span.start as usize));
        if let Some(before) = head.and_then(|head| head.trim_end().strip_suffix("in")) {
            span.start = u32::try_from(before.len()).unwrap_or(span.start);
        }
        let work = self.scan.files.entry(self.file).or_default();
        work.edits.push(Edit::replace(span, inner));
    }
}

/// Why a place that names what moves is not touched.
pub(super) fn left_alone(site: &Site<'_>) -> Option<&'static str> {
    let alone = site.segments.len() == 1;
    untouchable(site.origin, alone && matches!(site.site, UseSite::Path(_)))
}

/// Why a name of this origin is not touched; `alone`: a single word that is no import.
pub(super) fn untouchable(origin: Origin, alone: bool) -> Option<&'static str> {
    match origin {
        Origin::MacroTokens if alone => {
            Some("a single word in the arguments of a macro that is not understood")
        }
        Origin::BrokenFile if alone => {
            Some("the file does not parse; only its imports are rewritten")
        }
        Origin::FormatString => Some("a word in a format string"),
        _ => None,
    }
}
