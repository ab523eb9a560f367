//! A walk along a path: which of its steps hold in the tree after.
//!
//! A step breaks where the module or item that it names has gone, where its name is out of sight
//! from the new place, or where the path stands in text that has left its module and finds no longer
//! what that had for it.

use super::{
    items::{
        is_exported,
        moving::{Chunk, Moving, Set},
    },
    macro_scope::{Anchor, is_seen_at_end},
    mapping::Mapping,
    needs::{Because, Need, NeededThing, Purpose},
    place::Place,
    spell::Speller,
};
use crate::{
    discover::Edition,
    facts::{ItemKind, Namespaces, Origin, ScopeKind, SourceFacts},
    resolve::{
        Binding, CrateId, FileId, Found, ItemId, ModuleId, Reach, Res, Site, UseSite, World,
        leading_colons,
    },
};

/// Where a path is to lead.
#[derive(Clone, Debug)]
pub(super) enum Goal {
    Module(ModuleId),
    /// An item that leaves; index into the set.
    Moved(usize),
    /// What an import that is out of sight leads to, in full, as that crate says it.
    Path(CrateId, Vec<String>),
}

/// What the old module had for a name that moved text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// It defines it; what stays.
    Item(ItemId),
    /// It is a module in it.
    Module(ModuleId),
    /// It imports it by name.
    Import((FileId, u32)),
    /// A glob of it brings it.
    Glob((FileId, u32)),
    /// It moves as well.
    Moved(usize),
}

/// What a walk finds.
#[derive(Default)]
pub(super) struct Walk {
    /// The last step that does not hold, and where it is to lead.
    pub broken: Option<(usize, Goal)>,
    /// A step whose name is another one after.
    pub renamed: Option<(usize, String)>,
    /// What the first name stands for, where the text goes to a module that may not have it.
    pub borrowed: Option<Source>,
    /// The first name is that of an item that left the module around it.
    pub left: Option<usize>,
    /// Globs that brought what left.
    pub globs: Vec<((FileId, u32), usize)>,
    /// What moves and is named.
    pub named: Vec<usize>,
    /// A macro that is seen by where it stands.
    pub textual: Option<ItemId>,
    /// Whether the first name leads nowhere that is known.
    pub loose: bool,
    /// A macro that is seen by where it stands afterwards.
    pub plain: bool,
    /// Why the path cannot be kept working.
    pub refused: Option<String>,
    pub needs: Vec<Need>,
}

/// The items that leave, as one site sees them.
#[derive(Clone, Copy)]
pub(super) struct Leaving<'s, 'a> {
    pub set: &'s Set<'a>,
    /// The text around the site, where that leaves.
    pub chunk: Option<&'s Chunk>,
}

impl<'s, 'a> Leaving<'s, 'a> {
    /// What the text around the site goes with.
    fn carrier(&self) -> Option<&'s Moving<'a>> {
        Some(self.set.moving(self.chunk?.moving))
    }
}

impl Speller<'_> {
    /// Where a site is after.
    pub(super) fn place_of(&self, site: &Site<'_>, leaving: Option<Leaving<'_, '_>>) -> Place {
        match leaving.and_then(|leaving| leaving.carrier()) {
            Some(moving) => moving.to.clone(),
            None => self.mapping.after(self.here(site)),
        }
    }

    /// Holds each step of a path against the tree after.
    pub(super) fn walk(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        leaving: Option<Leaving<'_, '_>>,
        depth: usize,
    ) -> Walk {
        let walker = Walker {
            speller: self,
            leaving,
            facts,
            site,
            here: self.place_of(site, leaving),
            depth,
        };
        let mut walk = Walk::default();
        let mut outer: Option<ModuleId> = None;
        for (at, (step, segment)) in site.trace.steps.iter().zip(site.segments).enumerate() {
            let stepping = Stepping {
                walker: &walker,
                name: facts.name(segment.name),
                step,
                at,
                moved: walker.moved(step),
            };
            walk.named.extend(stepping.moved);
            match outer {
                None => stepping.first(&mut walk),
                Some(outer) => stepping.later(outer, &mut walk),
            }
            let Some(module) = step.module() else { break };
            stepping.is_there(module, &mut walk);
            if stepping.moved.is_some() {
                break;
            }
            outer = Some(module);
        }
        if walk.broken.is_some() {
            walk.borrowed = None;
        }
        walk
    }
}

/// Whether an import stands in a module, and in no block of it, nor in a module of a document.
pub(crate) fn is_of_module(world: &World, (file, leaf): (FileId, u32)) -> bool {
    let facts = world.facts(file);
    let declaration = facts.declaration_of(leaf);
    let scope = facts.scope(declaration.scope);
    let is_module = matches!(scope.kind, ScopeKind::File | ScopeKind::Module(_));
    is_module && declaration.origin != Origin::DocCode
}

/// What all steps of a walk have in common.
struct Walker<'w, 's, 'a> {
    speller: &'w Speller<'w>,
    leaving: Option<Leaving<'s, 'a>>,
    facts: &'w SourceFacts,
    site: &'w Site<'w>,
    here: Place,
    depth: usize,
}

impl Walker<'_, '_, '_> {
    fn mapping(&self) -> &Mapping<'_> {
        self.speller.mapping
    }

    fn world(&self) -> &World {
        self.speller.world()
    }

    /// The module around the site before.
    fn home(&self) -> ModuleId {
        self.speller.here(self.site)
    }

    fn chunk(&self) -> Option<&Chunk> {
        self.leaving.and_then(|leaving| leaving.chunk)
    }

    fn moved(&self, step: &Found) -> Option<usize> {
        let set = self.leaving?.set;
        step.all().find_map(|(res, _)| match res {
            Res::Item(item) => set.of(item),
            _ => None,
        })
    }

    /// Whether the code goes to another crate. Quoted code is read where it always was.
    fn crosses(&self) -> bool {
        if self.site.origin == Origin::Quoted {
            return false;
        }
        self.mapping().krate(self.home()) != self.here.krate
    }

    /// Whether the path starts at the crate's root without saying so: 2015 edition.
    fn is_rooted(&self) -> bool {
        let krate = self.mapping().krate(self.home());
        let krate = &self.world()[krate];
        let old = krate.edition == Edition::E2015;
        let colons = leading_colons(self.facts, self.site.site);
        old && (colons || matches!(self.site.site, UseSite::Leaf(_)))
    }

    /// Whether an import is the very one that is looked at: `use name;` brings the crate by its name.
    fn is_itself(&self, (file, leaf): (FileId, u32)) -> bool {
        let load = self.world().loads.get(self.site.load);
        self.site.site == UseSite::Leaf(leaf) && load.is_some_and(|load| load.file == file)
    }

    /// Whether a name with this reach was seen from the site before.
    fn was_seen(&self, reach: Reach) -> bool {
        reach.is_seen_from(self.world(), self.home())
    }
}

/// How a name comes to a module that does not define it.
#[derive(Clone, Copy)]
struct NameImport {
    import: (FileId, u32),
    /// Whether a glob brings it.
    glob: bool,
}

/// One step of a walk.
struct Stepping<'w, 's, 'a> {
    walker: &'w Walker<'w, 's, 'a>,
    name: &'w str,
    step: &'w Found,
    at: usize,
    /// What it names, where that leaves.
    moved: Option<usize>,
}

impl<'w, 's, 'a> std::ops::Deref for Stepping<'w, 's, 'a> {
    type Target = Walker<'w, 's, 'a>;

    fn deref(&self) -> &Self::Target {
        self.walker
    }
}

impl Stepping<'_, '_, '_> {
    fn breaks(&self, goal: Goal, walk: &mut Walk) {
        walk.broken = Some((self.at, goal));
    }

    fn need(&self, subject: NeededThing, walk: &mut Walk) {
        walk.needs.push(Need::new(subject, self.here.clone()));
    }

    fn first(&self, walk: &mut Walk) {
        let module = self.step.module();
        if matches!(self.name, "self" | "super" | "crate" | "$crate") {
            self.keyword(module, walk);
            return;
        }
        if (self.moved.is_some() || self.chunk().is_some()) && self.is_rooted() {
            if let Some(moved) = self.moved.filter(|_| self.step.import.is_none()) {
                self.breaks(Goal::Moved(moved), walk);
            }
            return;
        }
        let brought = self.brought_by();
        match brought.filter(|brought| !self.is_itself(brought.import)) {
            Some(brought) => self.first_import(brought, module, walk),
            None => self.plain(module, walk),
        }
    }

    /// The import that a first name comes by. A name may have several meanings, each under a condition of its own, as an
    /// import with a feature and a function without it: then that of what leaves counts.
    fn brought_by(&self) -> Option<NameImport> {
        let first = self.step.import.map(|import| NameImport {
            import,
            glob: self.step.glob,
        });
        let set = self.leaving.map(|leaving| leaving.set);
        let Some((set, moved)) = set.zip(self.moved) else {
            return first;
        };
        if self.step.all().count() == 1 {
            return first;
        }
        let leaves = Res::Item(set.moving(moved).item);
        let bindings = self.world().bindings(self.home(), self.name).iter();
        let mut meant = bindings.filter(|binding| binding.res == leaves).peekable();
        if meant.peek().is_none() {
            return first;
        }
        let brought = |binding: &Binding| {
            binding.import.map(|import| NameImport {
                import,
                glob: binding.glob,
            })
        };
        let all: Option<Vec<NameImport>> = meant.map(brought).collect();
        all?.into_iter().next()
    }

    fn keyword(&self, module: Option<ModuleId>, walk: &mut Walk) {
        let Some(module) = module else { return };
        let after = self.mapping().after(module);
        let holds = match self.name {
            "self" => after == self.here,
            "super" => self.here.parent() == Some(after),
            _ => after == Place::root(self.here.krate),
        };
        if !holds {
            self.breaks(Goal::Module(module), walk);
        } else if self.mapping().is_root(module) {
            self.speller.see_module(module, &self.here, &mut walk.needs);
        }
    }

    /// A first name that an import brings.
    fn first_import(&self, brought: NameImport, module: Option<ModuleId>, walk: &mut Walk) {
        let NameImport { import, glob } = brought;
        if let Some(leaving) = self.leaving {
            let leaves = leaving.chunk.is_some();
            if leaving.set.facades.contains_key(&import) {
                if leaves {
                    walk.borrowed = self.moved.map(Source::Moved);
                } else {
                    walk.left = self.moved;
                }
                return;
            }
            if leaves && is_of_module(self.world(), import) {
                walk.borrowed = Some(match self.moved {
                    Some(moved) => Source::Moved(moved),
                    None if glob => Source::Glob(import),
                    None => Source::Import(import),
                });
                return;
            }
            if let (Some(moved), true) = (self.moved, glob) {
                walk.globs.push((import, moved));
                walk.renamed = self.arrives_by_glob(leaving, import, moved);
                return;
            }
        }
        if let (Some(module), true) = (module, glob) {
            let res = Res::Module(module);
            if !self.glob_holds(import, res) && !self.is_brought(import, res) {
                self.breaks(Goal::Module(module), walk);
            }
        }
    }

    /// The new name of what a glob brings to the module that it goes to, or to who has that by a glob: there it is
    /// from then on by that name.
    fn arrives_by_glob(
        &self,
        leaving: Leaving<'_, '_>,
        import: (FileId, u32),
        moved: usize,
    ) -> Option<(usize, String)> {
        let world = self.world();
        let moving = leaving.set.moving(moved);
        let is_renamed = self.name != moving.name && world[moving.item].name == self.name;
        if !is_renamed || self.site.origin == Origin::DocCode {
            return None;
        }
        let is_there = |at: ModuleId| self.mapping().after(at) == moving.named_at;
        let of_module = self.here == moving.named_at && leaving.chunk.is_none();
        let target = self
            .speller
            .glob_target(import)
            .filter(|_| !moving.gives_way());
        (of_module || target.is_some_and(is_there)).then(|| (0, moving.name.clone()))
    }

    /// A first name that no import brings.
    fn plain(&self, module: Option<ModuleId>, walk: &mut Walk) {
        if let Some(leaving) = self.leaving
            && let Some((at, moving)) = self.moved.map(|at| (at, leaving.set.moving(at)))
        {
            self.bare(leaving, (at, moving), walk);
        } else if self.chunk().is_some() {
            self.lexical(walk);
        } else if let Some(module) = module {
            let holds = if self.crosses() && self.is_crate(module) {
                self.names_crate(module, walk)
            } else {
                self.is_in_place(module)
            };
            if !holds {
                self.breaks(Goal::Module(module), walk);
            } else if self.mapping().is_root(module) && self.step.import.is_none() {
                self.speller.see_module(module, &self.here, &mut walk.needs);
            }
        } else {
            self.external(walk);
        }
    }

    /// The plain name of what leaves.
    fn bare(&self, leaving: Leaving<'_, '_>, (at, moving): (usize, &Moving<'_>), walk: &mut Walk) {
        let set = leaving.set;
        let leaves = leaving.chunk.is_some();
        let old = &self.world()[moving.item];
        let renamed = old.name != moving.name;
        let here = moving.rules.is_some() && set.is_in_place(moving);
        let start = self.site.segments.first().map(|first| first.span.start);
        let load = self.world().loads.get(self.site.load);
        let user = start.zip(load).filter(|_| !leaves);
        let user = user.map(|(at, load)| Anchor {
            module: self.home(),
            file: load.file,
            at,
        });
        walk.plain = moving.rules.is_some()
            && !moving.gives_way()
            && !matches!(self.site.site, UseSite::Leaf(_))
            && is_seen_at_end(self.mapping(), &moving.to, &self.here, user);
        let arrives = self.here == moving.named_at && (leaves || !moving.gives_way());
        // A macro is seen by its plain name from other modules as well.
        if here || walk.plain || arrives {
            walk.renamed = renamed.then(|| (0, moving.name.clone()));
        } else if leaves {
            walk.borrowed = Some(Source::Moved(at));
        } else {
            walk.left = Some(at);
        }
    }

    /// A plain name, in text that leaves, that the module has by itself, or nobody.
    fn lexical(&self, walk: &mut Walk) {
        walk.loose = self.step.is_empty();
        for (res, namespaces) in self.step.all() {
            match res {
                Res::Item(item) => {
                    let node = Some(&self.world()[item]);
                    let Some(node) = node.filter(|node| !node.local) else {
                        continue;
                    };
                    if node.kind == ItemKind::Macro && namespaces.meets(Namespaces::MACRO) {
                        walk.textual = Some(item);
                    } else if node.module == self.home() {
                        walk.borrowed = Some(Source::Item(item));
                    }
                }
                Res::Module(module) => {
                    let node = &self.world()[module];
                    if !node.local && node.parent == Some(self.home()) {
                        walk.borrowed = Some(Source::Module(module));
                    } else if node.parent.is_none()
                        && self.crosses()
                        && !self.names_crate(module, walk)
                    {
                        self.breaks(Goal::Module(module), walk);
                    }
                }
                Res::External(_) => self.external(walk),
                Res::Variant(..) | Res::Member(..) => {}
            }
        }
    }

    /// Whether a module is still below the one around it, by the same name.
    fn is_in_place(&self, module: ModuleId) -> bool {
        let parent = self.world()[module].parent;
        match parent {
            None => !self.mapping().is_changed(module),
            Some(parent) => {
                self.mapping().after(module) == self.mapping().after(parent).child(self.name)
            }
        }
    }

    fn is_crate(&self, module: ModuleId) -> bool {
        let node = &self.world()[module];
        node.parent.is_none()
    }

    /// Whether the crate that the code goes to calls a library by the name that is written, or will.
    fn names_crate(&self, root: ModuleId, walk: &mut Walk) -> bool {
        let krate = self.mapping().krate(root);
        let gone = self.mapping().is_changed(root);
        if gone
            || self.here.krate == krate
            || self.speller.name_of_crate(self.here.krate, krate) != self.name
        {
            return false;
        }
        walk.needs.push(
            Need::new(NeededThing::Crate(krate, Purpose::Code), self.here.clone())
                .because(Because::Names(self.mapping().name_of(&Place::root(krate)))),
        );
        true
    }

    /// A library from elsewhere that the code goes on naming in another crate.
    fn external(&self, walk: &mut Walk) {
        let mut all = self.step.all();
        let outside = all.any(|(res, _)| matches!(res, Res::External(_)));
        let import = self.step.import.filter(|import| !self.is_itself(*import));
        if outside && self.at == 0 && import.is_none() && self.crosses() {
            let own = self.mapping().krate(self.home());
            let need = self.speller.outside(own, self.name, &self.here);
            walk.needs.extend(need);
        }
    }

    /// Whether the module of a glob imports the name for itself, and will: then it is imported besides.
    fn is_brought(&self, glob: (FileId, u32), res: Res) -> bool {
        let world = self.world();
        let Some(target) = self.speller.glob_target(glob) else {
            return false;
        };
        let sym = world.names.get(self.name);
        let after = self.mapping().after(target);
        let holds = |import| {
            sym.is_none_or(|sym| {
                let depth = self.depth + 1;
                self.speller.glob_gives(import, sym, res, &after, depth)
            })
        };
        let mut all = world.bindings(target, self.name).iter();
        all.any(|binding| {
            let import = binding.import.filter(|_| binding.res == res);
            let stays = import.is_some_and(|import| !binding.glob || holds(import));
            stays && self.was_seen(binding.reach)
        })
    }

    fn glob_holds(&self, import: (FileId, u32), res: Res) -> bool {
        let sym = self.world().names.get(self.name);
        sym.is_none_or(|sym| {
            self.speller
                .glob_gives(import, sym, res, &self.here, self.depth)
        })
    }

    fn later(&self, outer: ModuleId, walk: &mut Walk) {
        let module = self.step.module();
        if let ("self" | "super", Some(module)) = (self.name, module) {
            self.above(outer, module, walk);
            return;
        }
        if module.is_none() && self.mapping().is_replaced(outer) {
            self.item_of_replaced(outer, walk);
            return;
        }
        let import = self
            .import()
            .or_else(|| self.import_beside(outer, self.moved?));
        match (import, self.moved, module) {
            (None, Some(moved), _) if self.is_another_too(moved) => {
                self.in_variants(moved, outer, walk);
            }
            (None, Some(moved), _) => self.gone(moved, outer, walk),
            (Some(import), Some(moved), _) if self.step.glob => walk.globs.push((import, moved)),
            (Some(_), Some(_), _) => {}
            // What neither goes nor stands in what goes sees what it saw.
            _ if self.leaving.is_some()
                && self.chunk().is_none()
                && !self.mapping().changes_modules() => {}
            (Some(import), None, module) => self.later_import(import, outer, module, walk),
            (None, None, Some(module)) if !self.is_in_place(module) => {
                self.breaks(Goal::Module(module), walk);
            }
            (None, None, Some(module)) => {
                self.speller.see_module(module, &self.here, &mut walk.needs);
            }
            (None, None, None) => self.see_items(outer, walk),
        }
    }

    /// The import that brings the name, unless it goes with what it brings.
    fn import(&self) -> Option<(FileId, u32)> {
        self.step.import.filter(|import| !self.goes(*import))
    }

    fn goes(&self, import: (FileId, u32)) -> bool {
        self.leaving.is_some_and(|leaving| {
            let set = leaving.set;
            set.path_giver(import).is_some() || set.facades.contains_key(&import)
        })
    }

    /// `self` or `super` behind a start; behind a name there is none: a start that is spelled anew
    /// takes it in.
    fn above(&self, outer: ModuleId, module: ModuleId, walk: &mut Walk) {
        let follows = matches!(walk.broken, Some((broken, _)) if broken + 1 == self.at);
        let leads = self.name == "self"
            || self.mapping().after(outer).parent() == Some(self.mapping().after(module));
        if follows || !leads {
            self.breaks(Goal::Module(module), walk);
        }
    }

    fn later_import(
        &self,
        import: (FileId, u32),
        outer: ModuleId,
        module: Option<ModuleId>,
        walk: &mut Walk,
    ) {
        let Some((res, _)) = self.step.all().next() else {
            return;
        };
        match module {
            Some(module) if self.step.glob => {
                if !self.glob_holds(import, Res::Module(module)) {
                    self.breaks(Goal::Module(module), walk);
                }
            }
            None if self.step.glob && self.glob_holds(import, res) => {}
            _ => self.imported(import, outer, walk),
        }
    }

    /// A module that goes away needs one in its place where it is named.
    fn is_there(&self, module: ModuleId, walk: &mut Walk) {
        let gone = self.mapping().is_replaced(module);
        let place = self.mapping().after(module);
        let stays = !self.mapping().is_changed(self.home());
        if !gone || !stays || self.mapping().at(&place).is_some() {
            return;
        }
        let offered = place
            .parent()
            .is_some_and(|home| self.speller.offers(&home, place.name()));
        if !offered {
            walk.refused = Some(format!(
                "there is no `{}`, which is used here",
                self.mapping().name_of(&place)
            ));
        }
    }

    /// A name that `outer` imports itself.
    fn imported(&self, import: (FileId, u32), outer: ModuleId, walk: &mut Walk) {
        if self.step.all().all(|(res, _)| self.is_seen(outer, res)) {
            return;
        }
        match self.speller.absolute_below(import, self.depth + 1) {
            Some(mut path) => {
                if self.step.glob {
                    path.push(self.name.to_owned());
                }
                let krate = self.mapping().after(outer).krate;
                self.breaks(Goal::Path(krate, path), walk);
            }
            None => {
                walk.refused = Some(format!(
                    "`{}` is a private import that cannot be seen from the new place",
                    self.name
                ));
            }
        }
    }

    /// Whether the name is seen from the site after: some binding of it is.
    fn is_seen(&self, outer: ModuleId, res: Res) -> bool {
        let world = self.world();
        let bindings = world.bindings(outer, self.name);

        let same = bindings.iter().filter(|binding| same_res(binding.res, res));
        // What was out of sight before is no concern: another definition is meant.
        let mut known = same
            .filter(|binding| self.was_seen(binding.reach))
            .peekable();
        known.peek().is_none()
            || known.any(|binding| self.speller.sees(&self.here, binding.reach, outer))
    }

    /// What stays and is named has to be seen from the new place.
    fn see_items(&self, outer: ModuleId, walk: &mut Walk) {
        for (res, _) in self.step.all() {
            let Res::Item(item) = res else { continue };
            let node = &self.world()[item];
            // Macros are seen by where they stand, which is looked at by itself.
            let textual = node.kind == ItemKind::Macro;
            let krate = self.mapping().krate(node.module);
            let after = self.mapping().after(node.module).krate;
            if textual && krate != after && is_exported(self.world(), item) {
                // The root of its crate has it, wherever its module is.
                let path = vec!["crate".to_owned(), self.name.to_owned()];
                self.breaks(Goal::Path(after, path), walk);
            }
            if !textual && !self.is_seen(outer, res) {
                self.need(NeededThing::Item(item), walk);
            }
        }
    }

    /// The import by which a module has what moves, where it declares something else of that name: a module beside
    /// the function that is re-exported from it.
    fn import_beside(&self, outer: ModuleId, moved: usize) -> Option<(FileId, u32)> {
        let item = self.leaving?.set.moving(moved).item;
        let bindings = self.world().bindings(outer, self.name);
        let mut of_item = bindings
            .iter()
            .filter(|binding| binding.res == Res::Item(item));
        let import = of_item.next().and_then(|binding| binding.import);
        import.filter(|import| !self.goes(*import))
    }

    /// Whether a name leads to something that stays as well: the module has variants, each under a
    /// condition of its own.
    fn is_another_too(&self, moved: usize) -> bool {
        let Some(set) = self.leaving.map(|leaving| leaving.set) else {
            return false;
        };
        let of = |res: Res| match res {
            Res::Item(item) => set.of(item),
            _ => None,
        };
        let own = self.step.all().filter(|(res, _)| of(*res) == Some(moved));
        let own = own.fold(Namespaces(0), |all, (_, namespaces)| all.or(namespaces));
        let mut all = self.step.all();
        all.any(|(res, namespaces)| of(res).is_none() && namespaces.meets(own))
    }

    /// What leaves one variant of a module, where another one has something else by its name: the
    /// path stays, and the glob that brought it gets an import beside it.
    fn in_variants(&self, moved: usize, outer: ModuleId, walk: &mut Walk) {
        let world = self.world();
        let moving = self.leaving.map(|leaving| leaving.set.moving(moved));
        let bindings = world.bindings(outer, self.name);
        let Some(moving) = moving else { return };
        for binding in bindings
            .iter()
            .filter(|one| one.res == Res::Item(moving.item))
        {
            match binding.import {
                Some(import) if binding.glob => walk.globs.push((import, moved)),
                Some(_) => {}
                None => {
                    walk.refused = Some(format!(
                        "`{}` is something else under another condition, and that stays",
                        self.name
                    ));
                }
            }
        }
    }

    /// What left the module that a path leads through.
    fn gone(&self, moved: usize, outer: ModuleId, walk: &mut Walk) {
        let moving = self.leaving.map(|leaving| leaving.set.moving(moved));
        let Some(moving) = moving else { return };
        let in_place = moving.to == self.mapping().after(moving.home);
        let old = &self.world()[moving.item];
        let root = self.mapping().after(outer);
        let same = (old.name == moving.name) && root == moving.named_at;
        if moving.rules.is_some() && same && !moving.gives_way() && walk.broken.is_none() {
            // The root of the crate has it by this name, wherever it stands.
        } else if in_place {
            walk.renamed = Some((self.at, moving.name.clone()));
        } else {
            self.breaks(Goal::Moved(moved), walk);
        }
    }

    /// What the module in the place of `outer` must have.
    fn item_of_replaced(&self, outer: ModuleId, walk: &mut Walk) {
        let new = self.mapping().item_after(outer, self.name);
        let place = self.mapping().after(outer);
        if !self.speller.offers(&place, new) {
            walk.refused = Some(format!(
                "`{}` has no `{new}`, which is used here",
                self.mapping().name_of(&place)
            ));
        } else if new != self.name {
            walk.renamed = Some((self.at, new.to_owned()));
        }
    }
}

/// Whether two results are the same thing, names outside compared as far as they are known.
fn same_res(a: Res, b: Res) -> bool {
    matches!((a, b), (Res::External(_), Res::External(_))) || a == b
}
