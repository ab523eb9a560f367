//! A walk along a path of a tree in which items leave: which of its steps hold afterwards.
//!
//! Two things can break a step: the item that it names has gone, or the path itself stands in text
//! that has gone, and no longer finds what its old module had for it.

use super::{
    super::{
        mapping::Mapping,
        sight::{Because, Need, Subject},
        spell::{Speller, module_in},
    },
    macros,
    moving::{Chunk, Set},
};
use crate::{
    discover::Edition,
    facts::{ItemKind, Namespaces, ScopeKind, SourceFacts},
    resolve::{
        CrateId, FileId, Found, ItemId, ModuleId, Reach, Res, Site, UseSite, World, leading_colons,
    },
};

use super::super::place::Place;

/// Where a part of a path is to lead.
#[derive(Clone, Debug)]
pub(super) enum Goal {
    Module(ModuleId),
    /// What moves; index into the set.
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
    pub refused: Option<String>,
    pub needs: Vec<Need>,
}

/// Walks the path of a site; `chunk` is the text that leaves with it.
pub(super) fn walk(
    set: &Set<'_>,
    facts: &SourceFacts,
    site: &Site<'_>,
    chunk: Option<&Chunk>,
) -> Walk {
    let walker = Walker {
        set,
        facts,
        site,
        chunk,
        here: place_of(set, site, chunk),
    };
    let mut walk = Walk::default();
    let mut outer: Option<ModuleId> = None;
    for (at, step) in site.trace.steps.iter().enumerate() {
        let Some(segment) = site.segments.get(at) else {
            break;
        };
        let name = facts.name(segment.name);
        let moved = walker.moved(step);
        walk.named.extend(moved);
        match outer {
            None => walker.first(name, step, moved, &mut walk),
            Some(outer) => walker.later(at, name, step, (outer, moved), &mut walk),
        }
        match module_in(step) {
            Some(module) if moved.is_none() => outer = Some(module),
            _ => break,
        }
    }
    if matches!(walk.broken, Some((at, _)) if at > 0 || walk.borrowed.is_some()) {
        walk.borrowed = None;
    }
    walk
}

/// Where a site is after.
pub(super) fn place_of(set: &Set<'_>, site: &Site<'_>, chunk: Option<&Chunk>) -> Place {
    let moving = chunk.and_then(|chunk| set.moving(chunk.moving));
    match moving {
        Some(moving) => moving.to.clone(),
        None => set.mapping.after(set.world().module_of(site.space)),
    }
}

/// Whether an import stands in a module, and in no block of it.
pub(super) fn is_of_module(world: &World, (file, leaf): (FileId, u32)) -> bool {
    let scope = world.facts(file).and_then(|facts| {
        let declaration = facts.leaves.get(leaf as usize)?.declaration;
        facts.scope(facts.uses.get(declaration as usize)?.scope)
    });
    scope.is_some_and(|scope| matches!(scope.kind, ScopeKind::File | ScopeKind::Module(_)))
}

struct Walker<'s, 'a> {
    set: &'s Set<'a>,
    facts: &'s SourceFacts,
    site: &'s Site<'s>,
    chunk: Option<&'s Chunk>,
    here: Place,
}

impl Walker<'_, '_> {
    fn mapping(&self) -> &Mapping<'_> {
        self.set.mapping
    }

    fn world(&self) -> &World {
        self.set.world()
    }

    fn speller(&self) -> Speller<'_> {
        Speller {
            mapping: self.set.mapping,
        }
    }

    /// The module around the site before.
    fn home(&self) -> ModuleId {
        self.world().module_of(self.site.space)
    }

    fn moved(&self, step: &Found) -> Option<usize> {
        step.all().find_map(|(res, _)| match res {
            Res::Item(item) => self.set.of(item),
            _ => None,
        })
    }

    fn first(&self, name: &str, step: &Found, moved: Option<usize>, walk: &mut Walk) {
        if matches!(name, "self" | "super" | "crate" | "$crate") {
            self.keyword(name, step, walk);
            return;
        }
        if self.is_rooted() {
            if let Some(moved) = moved.filter(|_| step.import.is_none()) {
                walk.broken = Some((0, Goal::Moved(moved)));
            }
            return;
        }
        match (step.import, step.glob) {
            (Some(import), _) if self.set.facades.contains_key(&import) => {
                if self.chunk.is_some() {
                    walk.borrowed = moved.map(Source::Moved);
                } else {
                    walk.left = moved;
                }
            }
            (Some(import), glob) if is_of_module(self.world(), import) => {
                if self.chunk.is_some() {
                    walk.borrowed = Some(match (moved, glob) {
                        (Some(moved), _) => Source::Moved(moved),
                        (None, false) => Source::Import(import),
                        (None, true) => Source::Glob(import),
                    });
                } else if let (Some(moved), true) = (moved, glob) {
                    walk.globs.push((import, moved));
                }
            }
            (Some(import), true) => walk.globs.extend(moved.map(|moved| (import, moved))),
            (Some(_), false) => {}
            (None, _) => match moved {
                Some(moved) => self.bare(moved, walk),
                None => self.lexical(name, step, walk),
            },
        }
    }

    /// Whether the path starts at the crate's root without saying so: 2015 edition.
    fn is_rooted(&self) -> bool {
        let node = self.world().module(self.home());
        let krate = node.and_then(|node| self.world().crates.get(node.krate.index()));
        let old = krate.is_some_and(|krate| krate.edition == Edition::E2015);
        let colons = leading_colons(self.facts, self.site.site);
        old && (colons || matches!(self.site.site, UseSite::Leaf(_)))
    }

    fn keyword(&self, name: &str, step: &Found, walk: &mut Walk) {
        let Some(module) = module_in(step).filter(|_| self.chunk.is_some()) else {
            return;
        };
        let after = self.mapping().after(module);
        let holds = match name {
            "self" => after == self.here,
            "super" => self.here.parent() == Some(after),
            _ => after.krate == self.here.krate,
        };
        if !holds {
            walk.broken = Some((0, Goal::Module(module)));
        }
    }

    /// The plain name of what leaves.
    fn bare(&self, moved: usize, walk: &mut Walk) {
        let Some(moving) = self.set.moving(moved) else {
            return;
        };
        let old = self.world().items.get(moving.item.index());
        let renamed = old.is_some_and(|old| old.name != moving.name);
        let here = moving.rules.is_some() && self.set.is_in_place(moving);
        let user = self.site.segments.first().map(|first| first.span.start);
        let user = user.filter(|_| self.chunk.is_none());
        let file = self
            .set
            .world()
            .loads
            .get(self.site.load)
            .map(|load| load.file);
        let user = user.zip(file).map(|(at, file)| (self.home(), file, at));
        let plain = moving.rules.is_some()
            && !moving.gives_way()
            && !matches!(self.site.site, UseSite::Leaf(_))
            && macros::is_seen_at_end(self.set, &moving.to, &self.here, user);
        walk.plain = plain;
        if here || plain {
            // A macro is seen by its plain name from other modules as well.
            walk.renamed = renamed.then(|| (0, moving.name.clone()));
        } else if self.here == moving.named_at && (self.chunk.is_some() || !moving.gives_way()) {
            walk.renamed = renamed.then(|| (0, moving.name.clone()));
        } else if self.chunk.is_some() {
            walk.borrowed = Some(Source::Moved(moved));
        } else {
            walk.left = Some(moved);
        }
    }

    /// A plain name that the module has by itself, or nobody.
    fn lexical(&self, name: &str, step: &Found, walk: &mut Walk) {
        if self.chunk.is_none() {
            return;
        }
        if step.is_empty() {
            walk.loose = true;
            return;
        }
        for (res, namespaces) in step.all() {
            match res {
                Res::Item(item) => {
                    let Some(node) = self.world().items.get(item.index()) else {
                        continue;
                    };
                    if node.local {
                        continue;
                    }
                    if node.kind == ItemKind::Macro && namespaces.meets(Namespaces::MACRO) {
                        walk.textual = Some(item);
                    } else if node.module == self.home() {
                        walk.borrowed = Some(Source::Item(item));
                    }
                }
                Res::Module(module) => {
                    let node = self.world().module(module);
                    let own =
                        node.is_some_and(|node| !node.local && node.parent == Some(self.home()));
                    if own {
                        walk.borrowed = Some(Source::Module(module));
                    } else if node.is_some_and(|node| node.parent.is_none()) {
                        self.library(module, walk);
                    }
                }
                Res::External(_) => self.outside(name, walk),
                Res::Variant(..) | Res::Member(..) => {}
            }
        }
    }

    /// A library of the tree by its name, in text that may go to another crate.
    fn library(&self, root: ModuleId, walk: &mut Walk) {
        let of = self.mapping().krate(root);
        if self.mapping().krate(self.home()) == self.here.krate {
            return;
        }
        walk.broken = Some((0, Goal::Module(root)));
        if of != self.here.krate {
            walk.needs.push(Need {
                subject: Subject::Crate(of, super::super::sight::Purpose::Code),
                by: self.here.clone(),
                because: Some(Because::Names(self.mapping().name_of(&Place::root(of)))),
            });
        }
    }

    fn outside(&self, name: &str, walk: &mut Walk) {
        let own = self.mapping().krate(self.home());
        if own != self.here.krate {
            walk.needs
                .extend(self.speller().outside(own, name, &self.here));
        }
    }

    fn later(
        &self,
        at: usize,
        name: &str,
        step: &Found,
        (outer, moved): (ModuleId, Option<usize>),
        walk: &mut Walk,
    ) {
        if matches!(name, "super" | "self") {
            // Behind a name there is no `super`: a start that is spelled anew takes it in.
            let follows = matches!(walk.broken, Some((broken, _)) if broken + 1 == at);
            if let (true, Some(module)) = (follows, module_in(step)) {
                walk.broken = Some((at, Goal::Module(module)));
            }
            return;
        }
        let import = step.import.filter(|import| {
            self.set.path_giver(*import).is_none() && !self.set.facades.contains_key(import)
        });
        match (import, moved) {
            (None, Some(moved)) => self.gone(at, moved, outer, walk),
            (Some(import), Some(moved)) if step.glob => walk.globs.push((import, moved)),
            (Some(import), None) if self.chunk.is_some() => {
                self.imported(at, name, (import, step.glob), outer, step, walk);
            }
            (None, None) if self.chunk.is_some() => self.seen(outer, step, walk),
            _ => {}
        }
    }

    fn gone(&self, at: usize, moved: usize, outer: ModuleId, walk: &mut Walk) {
        let Some(moving) = self.set.moving(moved) else {
            return;
        };
        let in_place = moving.to == self.mapping().after(moving.home);
        let old = self.world().items.get(moving.item.index());
        let root = self.mapping().after(outer);
        let same = old.is_some_and(|old| old.name == moving.name) && root == moving.named_at;
        if moving.rules.is_some() && same && !moving.gives_way() && walk.broken.is_none() {
            // The root of the crate has it by this name, wherever it stands.
        } else if in_place {
            walk.renamed = Some((at, moving.name.clone()));
        } else {
            walk.broken = Some((at, Goal::Moved(moved)));
        }
    }

    /// What stays and is named from the new place has to be seen from there.
    fn seen(&self, outer: ModuleId, step: &Found, walk: &mut Walk) {
        let speller = self.speller();
        for (res, _) in step.all() {
            match res {
                Res::Module(module) => speller.see_module(module, &self.here, &mut walk.needs),
                Res::Item(item) if !self.is_seen(outer, res) => walk.needs.push(Need {
                    subject: Subject::Item(item),
                    by: self.here.clone(),
                    because: None,
                }),
                _ => {}
            }
        }
    }

    fn is_seen(&self, outer: ModuleId, res: Res) -> bool {
        let bindings = self.bindings(outer, res);
        bindings.is_empty()
            || bindings
                .iter()
                .any(|reach| self.speller().sees(&self.here, *reach, outer))
    }

    /// How far each binding of `res` in a module reaches.
    fn bindings(&self, outer: ModuleId, res: Res) -> Vec<Reach> {
        let names = self.world().space(outer).map(|space| &space.names);
        let all = names.into_iter().flat_map(|names| names.values().flatten());
        all.filter(|binding| binding.res == res)
            .map(|binding| binding.reach)
            .collect()
    }

    /// A name that `outer` imports itself.
    fn imported(
        &self,
        at: usize,
        name: &str,
        (import, glob): ((FileId, u32), bool),
        outer: ModuleId,
        step: &Found,
        walk: &mut Walk,
    ) {
        let seen = step.all().all(|(res, _)| self.is_seen(outer, res));
        if seen {
            return;
        }
        match self.speller().absolute(import) {
            Some(mut path) => {
                if glob {
                    path.push(name.to_owned());
                }
                walk.broken = Some((at, Goal::Path(self.mapping().after(outer).krate, path)));
            }
            None => {
                walk.refused = Some(format!(
                    "`{name}` is a private import that cannot be seen from the new place"
                ));
            }
        }
    }
}
