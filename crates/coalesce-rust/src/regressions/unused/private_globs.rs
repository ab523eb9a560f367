//! Private globs that what left went through, and of which nobody knows whether something else does.
//!
//! Names that lead nowhere known may come by each glob that leads to what is not read. One glob alone brings them
//! for certain; of several the compiler knows which.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use coalesce_model::{ByteSpan, Unproven};

use super::{
    super::idle_macro_imports::is_macro_in_scope, ConditionedUses, Named, UNUSED_IMPORT, Warning,
    is_changed, is_trait,
};
use crate::{
    facts::{ItemKind, LeafKind, Origin, SourceFacts, VisibilityKind},
    resolve::{FileId, Found, ModuleId, Res, Site, Target, UseSite, World, is_within},
    rewrite::{Demand, may_call},
    words::{EXPRESSION_MACROS, FORMAT_MACROS, GIVING_UP_MACROS, LOG_MACROS, PRELUDE},
};

const SERVES_PERHAPS: Warning = Warning {
    lints: UNUSED_IMPORT.lints,
    why: "nothing is known to go through this glob, and the compiler warns of that if nothing does",
};

/// Whether a module has a name by another glob as well.
fn is_shared(world: &World, module: ModuleId, name: &str, glob: (FileId, u32)) -> bool {
    let mut bindings = world.bindings(module, name).iter();
    bindings.any(|one| one.glob && one.import != Some(glob))
}

/// The module that has a glob, and what the glob is of.
type Key = (String, String);

/// The private globs of a file.
pub(super) type PrivateGlobs = BTreeMap<Key, PrivateGlob>;

/// A private glob of a file.
pub(super) struct PrivateGlob {
    leaf: u32,
    here: ModuleId,
    span: ByteSpan,
    /// The conditions that it stands under.
    own: BTreeSet<String>,
    /// Of what is known to go through it.
    uses: ConditionedUses,
    /// Names that may go through it or through another glob of its module: the compiler takes one of them.
    shared: BTreeSet<String>,
    /// Names of its module and those below that lead nowhere known.
    unknown: BTreeSet<String>,
    /// The conditions of those that stand in plain code.
    plain: ConditionedUses,
    /// Whether it may bring what is not read, and no other glob of its module may.
    is_only: bool,
    /// Whether it may bring what is not read.
    is_opaque: bool,
}

impl PrivateGlob {
    /// One of which nothing is known yet but where it stands.
    fn new(
        (leaf, span): (u32, ByteSpan),
        here: ModuleId,
        own: BTreeSet<String>,
        is_opaque: bool,
    ) -> Self {
        Self {
            leaf,
            here,
            span,
            own,
            uses: ConditionedUses::default(),
            shared: BTreeSet::new(),
            unknown: BTreeSet::new(),
            plain: ConditionedUses::default(),
            is_only: false,
            is_opaque,
        }
    }

    /// Whether nothing but globs may bring what is not read to where it stands, and it may.
    fn brings_unread(&self, facts: &SourceFacts) -> bool {
        let scope = facts.declaration_of(self.leaf).scope;
        self.is_opaque && !facts.scope(scope).opaque
    }

    /// Whether it served before, or what may go through it was more than may go through it `now`.
    fn served_more(&self, now: &Self) -> bool {
        self.serves()
            || !self.unknown.is_subset(&now.unknown)
            || !self.shared.is_subset(&now.shared)
    }

    /// The name that a site has by a glob of a file, and the import that its step goes through.
    fn way_through<'f>(
        &self,
        world: &World,
        file: FileId,
        facts: &'f SourceFacts,
        site: &Site<'_>,
    ) -> Option<(&'f str, Option<(FileId, u32)>)> {
        let place = (file, self.leaf);
        let module = world.module_of(site.space);
        let is_below = is_within(world, module, self.here);
        let mut steps = site.trace.steps.iter().zip(site.segments);
        let (step, segment) = steps.find(|(step, segment)| {
            // A module below may have a glob of the same, which is no use of this one.
            let name = facts.name(segment.name);
            let leads_here =
                |import| import == place || (is_below && world.leads_through(import, name, place));
            let own = step
                .import
                .is_some_and(|import| import == place || (step.glob && leads_here(import)));
            // Of several globs we name the first, the compiler perhaps another one.
            own || (step.glob && module == self.here && self.brings(world, name, place))
        })?;
        Some((facts.name(segment.name), step.import))
    }

    /// Whether its module has a name by it.
    fn brings(&self, world: &World, name: &str, place: (FileId, u32)) -> bool {
        let mut bindings = world.bindings(self.here, name).iter();
        bindings.any(|one| one.glob && one.import == Some(place))
    }

    /// What is told of it once it does not serve wherever it is there.
    fn warning(&self) -> &'static Warning {
        match self.uses.0.is_empty() {
            true => &SERVES_PERHAPS,
            false => &UNUSED_IMPORT,
        }
    }

    fn serves(&self) -> bool {
        self.uses.cover(&self.own) || (self.is_only && self.plain.cover(&self.own))
    }
}

/// A private glob that is not known to serve somebody any more.
struct LostGlob {
    file: FileId,
    key: Key,
    told: Unproven,
}

impl Named<'_> {
    /// Private globs that served, or are new, and now serve nobody for certain.
    pub(super) fn globs_in_doubt(&mut self, before: &mut Named<'_>) -> Vec<Unproven> {
        let lost = self.lost_globs(before).into_iter();
        lost.map(|one| one.told).collect()
    }

    /// Those of them that certainly serve nobody.
    pub(super) fn idle_globs(&mut self, before: &mut Named<'_>) -> Vec<(FileId, u32)> {
        let lost = self.lost_globs(before).into_iter();
        let idle = lost.filter(|one| {
            let globs = self.private_globs(one.file);
            let glob = globs.get(&one.key);
            glob.is_some_and(|glob| self.is_idle(one.file, glob))
        });
        let leaves: Vec<(FileId, Key)> = idle.map(|one| (one.file, one.key)).collect();
        let leaf = |(file, key): (FileId, Key)| {
            let globs = self.private_globs(file);
            Some((file, globs.get(&key)?.leaf))
        };
        leaves.into_iter().filter_map(leaf).collect()
    }

    /// Private globs that served, or are new, and are not known to serve somebody now.
    fn lost_globs(&mut self, before: &mut Named<'_>) -> Vec<LostGlob> {
        let (old, new) = (before.tree.world, self.tree.world);
        let mut found = Vec::new();
        for (file, source) in new.sources() {
            if !is_changed(new, old, file) {
                continue;
            }
            let was = old.file_at(&source.path);
            let mut known: Option<Rc<PrivateGlobs>> = None;
            let globs = self.private_globs(file);
            for (key, glob) in globs.iter().filter(|(_, glob)| !glob.serves()) {
                let known = known.get_or_insert_with(|| {
                    was.map_or_else(Rc::default, |was| before.private_globs(was))
                });
                let is_lost = known.get(key).map_or_else(
                    || !before.has_alike(new, &key.1, glob),
                    |was| was.served_more(glob),
                );
                let told = is_lost.then(|| self.unused((file, glob.span), &key.1, glob.warning()));
                let key = key.clone();
                found.extend(told.flatten().map(|told| LostGlob { file, key, told }));
            }
        }
        found
    }

    /// Whether nothing can go through a glob: no name, and no method of what it may bring. What other files or macros
    /// from elsewhere may use of it is not asked, and where there are any it is not idle.
    fn is_idle(&self, file: FileId, glob: &PrivateGlob) -> bool {
        let (world, texts) = (self.tree.world, self.tree.texts);
        let may_be_said = glob.is_opaque && !glob.unknown.is_empty();
        if may_be_said || !glob.shared.is_empty() || !glob.uses.0.is_empty() {
            return false;
        }
        let mut bodies = world.bodies.iter();
        let is_shared = bodies.any(|body| {
            let is_below = body.file != file && is_within(world, body.module, glob.here);
            is_below && (body.module == glob.here || has_glob_of(world, body.file, glob.here))
        });
        if is_shared || has_foreign_macros(world, file) {
            return false;
        }
        // The body of a macro that nobody calls, and a link, are no uses, and lose what they name all the same.
        let mut is_said = false;
        world.visit_file(&world[file], &mut |facts, site| {
            is_said |= glob.way_through(world, file, facts, &site).is_some();
        });
        if is_said {
            return false;
        }
        let place = (file, glob.leaf);
        let mut brought = Vec::new();
        for (name, bindings) in world.space(glob.here).names.iter() {
            let own = bindings
                .iter()
                .filter(|one| one.glob && one.import == Some(place));
            let name = world.names.as_str(*name);
            brought.extend(own.map(|one| (name.to_owned(), one.res)));
        }
        let text = texts.text(&world[file].path);
        text.is_some_and(|text| {
            let called = (glob.here, &*text);
            !may_call(world, (&brought, glob.is_opaque), called, texts)
        })
    }

    /// Whether a file that changes has a glob of the same for the same names, as one that moves as a whole.
    fn has_alike(&mut self, after: &World, target: &str, glob: &PrivateGlob) -> bool {
        let world = self.tree.world;
        let mut changed = world
            .sources()
            .map(|(file, _)| file)
            .filter(|file| is_changed(world, after, *file));
        changed.any(|file| {
            let globs = self.private_globs(file);
            globs.iter().any(|((_, of), one)| {
                let says_the_same = one.unknown == glob.unknown && one.shared == glob.shared;
                // What it is of may have gone along.
                let last = |name: &str| name.rsplit("::").next().map(str::to_owned);
                let is_alike = last(of) == last(target) || !one.shared.is_empty();
                is_alike && !one.serves() && says_the_same
            })
        })
    }

    /// Notes the traits of the tree that a glob brings and whose methods its file may call: they need it unseen. What
    /// may be a call of another type's method is as open as a name that two globs bring.
    fn note_traits(&mut self, file: FileId, glob: &mut PrivateGlob) {
        let world = self.tree.world;
        let place = (file, glob.leaf);
        for (name, bindings) in world.space(glob.here).names.iter() {
            let brought = bindings
                .iter()
                .find(|one| one.glob && one.import == Some(place));
            let Some(Res::Item(item)) = brought.map(|one| one.res) else {
                continue;
            };
            if !is_trait(world, Res::Item(item)) {
                continue;
            }
            let name = world.names.as_str(*name);
            let is_shared = is_shared(world, glob.here, name, place);
            let demand = self.demand_in_parts((file, glob.here), &glob.own, Res::Item(item));
            match demand.always {
                Demand::No => {}
                Demand::Yes if !is_shared => _ = glob.uses.0.insert(glob.own.clone()),
                Demand::Yes | Demand::Perhaps => _ = glob.shared.insert(name.to_owned()),
            }
            for (conditions, demand) in demand.under_more {
                if demand == Demand::Yes && !is_shared {
                    glob.uses.0.insert(conditions);
                } else {
                    let under: Vec<&str> = conditions.iter().map(String::as_str).collect();
                    glob.shared
                        .insert(format!("{name} under {}", under.join(", ")));
                }
            }
        }
    }

    /// Whether somebody calls the macro that a site stands in the body of.
    fn is_called_body(&self, file: FileId, site: &Site<'_>) -> bool {
        let world = self.tree.world;
        let Some(first) = site.segments.first() else {
            return true;
        };
        let items = (0_u32..).zip(&world.facts(file).items);
        let mut around =
            items.filter(|(_, one)| one.kind == ItemKind::Macro && one.span.contains(first.span));
        around.next().is_none_or(|(at, _)| {
            let own = self.items_by_place().get(&(file, at));
            own.is_none_or(|own| world.expansions().calls_of(*own).next().is_some())
        })
    }

    /// The private globs of a file, read once: those of all files are asked for by each that is in doubt.
    fn private_globs(&mut self, file: FileId) -> Rc<PrivateGlobs> {
        if let Some(known) = self.private_globs.get(&file) {
            return Rc::clone(known);
        }
        let read = Rc::new(self.read_private_globs(file));
        self.private_globs.insert(file, Rc::clone(&read));
        read
    }

    fn read_private_globs(&mut self, file: FileId) -> PrivateGlobs {
        let world = self.tree.world;
        let mut sites = Vec::new();
        world.visit_file(&world[file], &mut |facts, site| sites.push((facts, site)));
        let mut globs = self.globs_at(file, &sites);
        if globs.is_empty() {
            return globs;
        }
        let homes: BTreeSet<ModuleId> = globs.values().map(|glob| glob.here).collect();
        self.serve(file, (&homes, &sites), &mut globs);
        for glob in globs.values_mut() {
            self.note_traits(file, glob);
        }
        globs
    }

    /// The private globs among the sites of a file.
    fn globs_at(&mut self, file: FileId, sites: &[(&SourceFacts, Site<'_>)]) -> PrivateGlobs {
        let world = self.tree.world;
        let mut globs = PrivateGlobs::new();
        let mut opaque: BTreeMap<ModuleId, BTreeSet<u32>> = BTreeMap::new();
        for (facts, site) in sites {
            let Some((leaf, target, is_opaque)) = glob_of(world, facts, site) else {
                continue;
            };
            let here = world.module_of(site.space);
            if is_opaque {
                opaque.entry(here).or_default().insert(leaf);
            }
            let is_private = facts.declaration_of(leaf).visibility.kind == VisibilityKind::Private;
            if is_private && let Some(own) = self.conditions_of_import(file, site) {
                let key = (world.name_of(&Target::Module(here)), target);
                let span = facts.leaf(leaf).span;
                let new = || PrivateGlob::new((leaf, span), here, own, is_opaque);
                globs.entry(key).or_insert_with(new);
            }
        }
        mark_only(&mut globs, &opaque, world.facts(file));
        globs
    }

    /// Notes what goes through globs of a file: of its own sites and of those in files below its modules.
    fn serve(
        &mut self,
        file: FileId,
        (homes, sites): (&BTreeSet<ModuleId>, &[(&SourceFacts, Site<'_>)]),
        globs: &mut BTreeMap<Key, PrivateGlob>,
    ) {
        for (facts, site) in sites {
            self.serve_one((file, file), (facts, site), globs);
        }
        let world = self.tree.world;
        let parents = homes
            .iter()
            .filter(|home| !world[**home].children.is_empty());
        let parents: Vec<ModuleId> = parents.copied().collect();
        if parents.is_empty() {
            return;
        }
        for (other, source) in world.sources().filter(|(other, _)| *other != file) {
            let mut modules = source.bodies.iter().map(|body| world[*body].module);
            if !modules.any(|one| parents.iter().any(|home| is_within(world, one, *home))) {
                continue;
            }
            let mut below = Vec::new();
            world.visit_file(source, &mut |facts, site| below.push((facts, site)));
            for (facts, site) in &below {
                self.serve_one((file, other), (facts, site), globs);
            }
        }
    }

    fn serve_one(
        &mut self,
        (file, of_site): (FileId, FileId),
        (facts, site): (&SourceFacts, &Site<'_>),
        globs: &mut BTreeMap<Key, PrivateGlob>,
    ) {
        if !self.is_counted(of_site, site) {
            return;
        }
        let first = site.segments.first().map(|first| facts.name(first.name));
        let step = site.trace.steps.first();
        let leads = step.is_some_and(|step| !step.is_empty());
        let unknown = first.filter(|name| !leads && !PRELUDE.contains(name));
        for glob in globs.values_mut() {
            self.serve_glob((file, of_site), (facts, site), unknown, glob);
        }
    }

    /// Whether the compiler counts a site as a use of what it goes through. It takes a macro that is seen there anyway.
    fn is_counted(&self, file: FileId, site: &Site<'_>) -> bool {
        let world = self.tree.world;
        match site.origin {
            Origin::DocLink | Origin::DocCode => false,
            Origin::MacroBody if !self.is_called_body(file, site) => false,
            _ => !is_macro_in_scope(world, file, site),
        }
    }

    /// Notes what goes through one glob; `unknown` is the first name of a path that leads nowhere known.
    fn serve_glob(
        &mut self,
        (file, of_site): (FileId, FileId),
        (facts, site): (&SourceFacts, &Site<'_>),
        unknown: Option<&str>,
        glob: &mut PrivateGlob,
    ) {
        let world = self.tree.world;
        let module = world.module_of(site.space);
        if let Some((name, import)) = glob.way_through(world, file, facts, site) {
            let of_child = import.filter(|_| module != glob.here);
            let is_shared = is_shared(world, glob.here, name, (file, glob.leaf))
                || of_child.is_some_and(|import| is_shared(world, module, name, import));
            if is_shared {
                glob.shared.insert(name.to_owned());
            } else {
                glob.uses.0.extend(self.conditions_of(of_site, site));
            }
        } else if let Some(name) = unknown.filter(|_| is_within(world, module, glob.here)) {
            glob.unknown.insert(name.to_owned());
            let is_here = module == glob.here && matches!(site.site, UseSite::Path(_));
            if is_here && site.origin == Origin::Code {
                glob.plain.0.extend(self.conditions_of(of_site, site));
            }
        }
    }
}

/// Whether a file has all of a module by a glob: traits in scope there are so here.
fn has_glob_of(world: &World, file: FileId, of: ModuleId) -> bool {
    let leaves = (0_u32..).zip(&world.facts(file).leaves);
    let mut globs = leaves.filter(|(_, leaf)| leaf.kind == LeafKind::Glob);
    globs.any(|(at, _)| {
        let found = world.glob_found((file, at));
        found.is_none_or(|(_, led)| led.is_empty() || led.module() == Some(of))
    })
}

/// Whether a file calls a macro whose body nobody has read, or stands below an attribute or a derive of one: what that
/// writes may say any name.
fn has_foreign_macros(world: &World, file: FileId) -> bool {
    let facts = world.facts(file);
    let called = facts.macro_calls.iter().filter_map(|call| {
        let path = facts.segments(facts.path(call.path).segments);
        path.last().map(|last| facts.name(last.name))
    });
    let mut foreign = called.filter(|name| !is_of_standard_macros(name));
    foreign.any(|name| {
        let mut items = world.items.iter();
        !items.any(|one| one.kind == ItemKind::Macro && one.name == name)
    })
}

/// Whether a macro of the standard library, or of those that many use, is called so: its arguments are expressions.
fn is_of_standard_macros(name: &str) -> bool {
    let lists = [
        &EXPRESSION_MACROS,
        &FORMAT_MACROS,
        &GIVING_UP_MACROS,
        &LOG_MACROS,
    ];
    lists.iter().any(|list| list.contains(name))
}

/// Marks the globs that may bring what is not read as the only ones of their modules; `opaque` are all of those.
fn mark_only(
    globs: &mut PrivateGlobs,
    opaque: &BTreeMap<ModuleId, BTreeSet<u32>>,
    facts: &SourceFacts,
) {
    for glob in globs.values_mut() {
        let all = opaque.get(&glob.here).map_or(0, BTreeSet::len);
        glob.is_only = all == 1 && glob.brings_unread(facts);
    }
}

/// The leaf of a glob of a module, what that is called, and whether it may bring what is not read.
fn glob_of(world: &World, facts: &SourceFacts, site: &Site<'_>) -> Option<(u32, String, bool)> {
    let UseSite::Leaf(at) = site.site else {
        return None;
    };
    let leaf = facts.leaf(at);
    if leaf.kind != LeafKind::Glob || facts.declaration_of(at).origin != Origin::Code {
        return None;
    }
    let mut led = site.trace.steps.last().into_iter().flat_map(Found::all);
    match led.next() {
        Some((Res::Module(module), _)) => {
            let name = world.name_of(&Target::Module(module));
            Some((at, name, world.space(module).opaque))
        }
        Some((Res::Item(_) | Res::Variant(..) | Res::Member(..), _)) => None,
        Some((Res::External(_), _)) | None => {
            let names = site.segments.iter().map(|one| facts.name(one.name));
            Some((at, names.collect::<Vec<_>>().join("::"), true))
        }
    }
}
