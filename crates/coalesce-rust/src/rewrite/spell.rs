//! Whether a path still means the same after the changes, and how it is spelled where it does not.
//!
//! A path is walked segment by segment. Each step is held against the tree after: a module that
//! went elsewhere, a `super` that now leads elsewhere, a private import that is out of sight. The
//! last step that does not hold decides how much of the path is spelled anew; what follows it is
//! the author's and stays.

use super::{
    mapping::Mapping,
    place::Place,
    sight::{Need, Subject},
};
use crate::{
    discover::Edition,
    facts::{LeafKind, SourceFacts},
    resolve::{FileId, Found, Lookup, ModuleId, Reach, Res, Site, Sym, UseSite, World},
};

/// What becomes of a path.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It still holds.
    Keep,
    /// Some of its segments are spelled anew.
    Change(Respelling),
    /// It cannot be kept working, for this reason.
    Refuse(String),
}

/// Segments `start..end` of a path become `path`.
#[derive(Debug)]
pub(super) struct Respelling {
    pub start: usize,
    pub end: usize,
    pub path: Vec<String>,
    /// The full name before of what the segments lead to.
    pub from: String,
    /// The full name after.
    pub to: String,
}

/// Where a path is to lead.
#[derive(Clone, Debug)]
enum Goal {
    Module(ModuleId),
    /// What an import that is out of sight leads to, in full.
    Path(Vec<String>),
}

/// The way that the author starts paths here.
struct Style {
    /// `crate`, `$crate`, or the name of another crate.
    first: Option<String>,
    /// How many `super` it starts with.
    supers: usize,
    /// Whether it starts with `self`.
    own: bool,
    /// `use` paths of the 2015 edition start at the root without saying so.
    from_root: bool,
}

/// A walk along a path.
#[derive(Default)]
struct Walk {
    broken: Option<(usize, Goal)>,
    renamed: Option<(usize, String)>,
    refused: Option<String>,
}

/// How many re-exports of re-exports are followed.
const DEEPEST: usize = 16;

/// Spells paths for one tree after the changes.
pub(super) struct Speller<'a> {
    pub mapping: &'a Mapping<'a>,
}

fn module_in(step: &Found) -> Option<ModuleId> {
    step.all().find_map(|(res, _)| match res {
        Res::Module(module) => Some(module),
        _ => None,
    })
}

/// A name as it is written: `r#` before what is a keyword.
pub(super) fn written(name: &str) -> String {
    let word = matches!(name, "crate" | "self" | "super" | "$crate" | "*" | "Self");
    if word || name.starts_with("r#") || syn::parse_str::<syn::Ident>(name).is_ok() {
        name.to_owned()
    } else {
        format!("r#{name}")
    }
}

impl<'a> Speller<'a> {
    fn world(&self) -> &'a World {
        self.mapping.world
    }

    fn here(&self, site: &Site<'_>) -> ModuleId {
        self.world().module_of(site.space)
    }

    /// What becomes of the path of a site; what it will have to see is added to `needs`.
    pub fn respell(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        needs: &mut Vec<Need>,
    ) -> Outcome {
        let walk = self.walk(facts, site, needs, 0);
        if let Some(why) = walk.refused {
            return Outcome::Refuse(why);
        }
        let here = self.mapping.after(self.here(site));
        let (start, mut end, mut path, mut from, mut to) = match walk.broken {
            Some((at, Goal::Path(path))) => {
                let from = self.world().site_name(facts, site, at).unwrap_or_default();
                let to = path.join("::");
                (0, at + 1, path, from, to)
            }
            Some((at, Goal::Module(module))) => {
                let place = self.mapping.after(module);
                let Some(path) = self.path_to(facts, site, at, &place, &here) else {
                    let name = self.mapping.name_of(&place);
                    return Outcome::Refuse(format!("`{name}` cannot be named from here"));
                };
                self.chain(&place, &here, needs);
                let from = self.world().module(module).map(|node| node.canonical.clone());
                (0, at + 1, path, from.unwrap_or_default(), self.mapping.name_of(&place))
            }
            None => (0, 0, Vec::new(), String::new(), String::new()),
        };
        let mut start = start;
        if let Some((at, name)) = walk.renamed {
            if end == 0 {
                start = at;
            } else {
                path.extend(site.segments.iter().take(at).skip(end).map(|segment| {
                    facts.name(segment.name).to_owned()
                }));
            }
            from = self.world().site_name(facts, site, at).unwrap_or(from);
            to = format!("{}::{name}", self.owner_name(site, at));
            path.push(name);
            end = at + 1;
        }
        if end == 0 {
            return Outcome::Keep;
        }
        let same = site.segments.get(start..end).is_some_and(|old| {
            old.len() == path.len()
                && old.iter().zip(&path).all(|(old, new)| facts.name(old.name) == new)
        });
        if same {
            return Outcome::Keep;
        }
        Outcome::Change(Respelling { start, end, path, from, to })
    }

    fn owner_name(&self, site: &Site<'_>, at: usize) -> String {
        let before = at.checked_sub(1).and_then(|at| site.trace.steps.get(at));
        before
            .and_then(module_in)
            .map(|module| self.mapping.name_of(&self.mapping.after(module)))
            .unwrap_or_default()
    }

    /// The path of an import as it reads from anywhere in its crate; `None` when it leads nowhere
    /// that is known.
    pub fn absolute(&self, leaf: (FileId, u32)) -> Option<Vec<String>> {
        self.absolute_below(leaf, 0)
    }

    fn absolute_below(&self, leaf: (FileId, u32), depth: usize) -> Option<Vec<String>> {
        if depth > DEEPEST {
            return None;
        }
        let (file, at) = leaf;
        let facts = self.world().facts(file)?;
        let load = *self.world().files.get(file.index())?.loads.first()?;
        let lookup = Lookup {
            world: self.world(),
            load: load as usize,
        };
        let fact = facts.leaves.get(at as usize)?;
        let declaration = facts.uses.get(fact.declaration as usize)?;
        let loaded = self.world().loads.get(load as usize)?;
        let space = loaded.spaces.get(declaration.scope.0 as usize).copied()?;
        let site = Site {
            load: load as usize,
            site: UseSite::Leaf(at),
            scope: declaration.scope,
            space,
            segments: facts.segments(fact.segments),
            origin: declaration.origin,
            trace: lookup.leaf_trace(facts, fact, space),
        };
        self.absolute_site(facts, &site, depth)
    }

    fn absolute_site(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        depth: usize,
    ) -> Option<Vec<String>> {
        let walk = self.walk(facts, site, &mut Vec::new(), depth + 1);
        let names = |from: usize| {
            let rest = site.segments.iter().skip(from);
            rest.map(|segment| facts.name(segment.name).to_owned())
        };
        let (mut path, from) = match walk.broken {
            Some((at, Goal::Path(path))) => (path, at + 1),
            Some((at, Goal::Module(module))) => (self.rooted(&self.mapping.after(module)), at + 1),
            None => self.absolute_start(facts, site, depth)?,
        };
        path.extend(names(from));
        if let Some((at, name)) = walk.renamed
            && at + 1 == site.segments.len()
        {
            path.pop();
            path.push(name);
        }
        Some(path)
    }

    /// The start of a path that holds, in full, and how many of its segments that stands for.
    fn absolute_start(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        depth: usize,
    ) -> Option<(Vec<String>, usize)> {
        let first = site.trace.steps.first()?;
        let name = facts.name(site.segments.first()?.name);
        if matches!(name, "crate" | "$crate") {
            return Some((vec!["crate".to_owned()], 1));
        }
        if let Some(import) = first.import {
            let mut path = self.absolute_below(import, depth + 1)?;
            if first.glob {
                path.push(name.to_owned());
            }
            return Some((path, 1));
        }
        if let Some(module) = module_in(first) {
            let node = self.world().module(module)?;
            let own = self.world().module(self.here(site))?.krate;
            if node.parent.is_none() && node.krate != own {
                return Some((vec![name.to_owned()], 1));
            }
            return Some((self.rooted(&self.mapping.after(module)), 1));
        }
        first.all().find_map(|(res, _)| match res {
            Res::Item(item) => {
                let item = self.world().items.get(item.index())?;
                let mut path = self.rooted(&self.mapping.after(item.module));
                path.push(item.name.clone());
                Some((path, 1))
            }
            Res::External(_) => Some((vec![name.to_owned()], 1)),
            _ => None,
        })
    }

    fn rooted(&self, place: &Place) -> Vec<String> {
        let mut path = vec!["crate".to_owned()];
        path.extend(place.path.iter().cloned());
        path
    }

    fn walk(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        needs: &mut Vec<Need>,
        depth: usize,
    ) -> Walk {
        let mut walk = Walk::default();
        let mut before: Option<ModuleId> = None;
        for (at, step) in site.trace.steps.iter().enumerate() {
            let Some(segment) = site.segments.get(at) else {
                break;
            };
            let stepping = Stepping {
                speller: self,
                site,
                name: facts.name(segment.name),
                step,
                at,
                depth,
            };
            let module = module_in(step);
            match (module, before) {
                (Some(module), None) => stepping.first_module(module, &mut walk, needs),
                (Some(module), Some(outer)) => {
                    stepping.module(module, outer, &mut walk, needs);
                }
                (None, Some(outer)) => stepping.item(outer, &mut walk, needs),
                (None, None) => {}
            }
            match module {
                Some(module) => before = Some(module),
                None => break,
            }
        }
        walk
    }

    /// The path to a place, in the way that the site's author starts paths.
    fn path_to(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        at: usize,
        place: &Place,
        here: &Place,
    ) -> Option<Vec<String>> {
        let style = self.style(facts, site);
        if let Some(first) = style.first {
            let root = site.trace.steps.first().and_then(module_in)?;
            if self.mapping.after(root).krate == place.krate {
                let mut path = vec![first];
                path.extend(place.path.iter().cloned());
                return Some(path);
            }
            return self.through_facade(facts, site, at, place);
        }
        if place.krate != here.krate {
            return self.through_facade(facts, site, at, place);
        }
        if style.from_root {
            return (!place.path.is_empty()).then(|| place.path.clone());
        }
        let shared = here.shared(place);
        let up = here.path.len() - shared;
        let rest = place.path.iter().skip(shared).cloned();
        let start: Vec<String> = match (up, style.own) {
            (0, _) if shared == place.path.len() => vec!["self".to_owned()],
            (0, true) => vec!["self".to_owned()],
            (0, false) => Vec::new(),
            (up, _) if up <= style.supers => vec!["super".to_owned(); up],
            _ => return Some(self.rooted(place)),
        };
        let path: Vec<String> = start.into_iter().chain(rest).collect();
        let hidden = path.first().is_some_and(|first| self.is_taken(site, first, place));
        Some(if hidden { self.rooted(place) } else { path })
    }

    /// Whether a plain first name would mean something else here.
    fn is_taken(&self, site: &Site<'_>, first: &str, place: &Place) -> bool {
        let block = self.world().space_kind(site.space) != Some(crate::resolve::SpaceKind::Module);
        let word = matches!(first, "self" | "super" | "crate");
        let here = self.mapping.after(self.here(site));
        let there = here.child(first);
        let made = self.mapping.at(&there).is_none() && there != *place;
        !word && (block || (made && !place.is_within(&there)))
    }

    /// Through the re-exports of another crate: what is before the place stays as it is written.
    fn through_facade(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        at: usize,
        place: &Place,
    ) -> Option<Vec<String>> {
        let outer = at.checked_sub(1)?;
        let facade = site.trace.steps.get(outer).and_then(module_in)?;
        let root = self.world().crates.get(place.krate.index())?.root?;
        let names = self.world().space(facade)?;
        let open = names.names.values().flatten().any(|binding| {
            binding.glob
                && match binding.res {
                    Res::Module(module) => {
                        self.world().module(module).and_then(|node| node.parent) == Some(root)
                    }
                    Res::Item(item) => self
                        .world()
                        .items
                        .get(item.index())
                        .is_some_and(|item| item.module == root),
                    _ => false,
                }
        });
        let prefix = site.segments.iter().take(at);
        let mut path: Vec<String> = prefix
            .map(|segment| facts.name(segment.name).to_owned())
            .collect();
        path.extend(place.path.iter().cloned());
        open.then_some(path)
    }

    fn style(&self, facts: &SourceFacts, site: &Site<'_>) -> Style {
        let names = || {
            site.segments
                .iter()
                .map(|segment| facts.name(segment.name))
        };
        let first = names().next().unwrap_or_default();
        let own = self.world().module(self.here(site)).map(|node| node.krate);
        let krate = own.and_then(|own| self.world().crates.get(own.index()));
        let root = site.trace.steps.first().and_then(module_in).filter(|module| {
            self.world()
                .module(*module)
                .is_some_and(|node| node.parent.is_none())
        });
        let word = matches!(first, "crate" | "$crate");
        let named = root.is_some() && !matches!(first, "self" | "super");
        let (colons, import) = match site.site {
            UseSite::Leaf(leaf) => (false, facts.leaves.get(leaf as usize).is_some()),
            UseSite::Path(path) => (
                facts
                    .paths
                    .get(path as usize)
                    .is_some_and(|path| path.leading_colons),
                false,
            ),
            UseSite::ExternCrate(_) => (false, false),
        };
        let old = krate.is_some_and(|krate| krate.edition == Edition::E2015);
        Style {
            first: (word || named).then(|| first.to_owned()),
            supers: names().take_while(|name| *name == "super").count(),
            own: first == "self",
            from_root: old && (colons || import) && !matches!(first, "self" | "super"),
        }
    }

    /// Every module on the way to a place must be seen from `here`.
    fn chain(&self, place: &Place, here: &Place, needs: &mut Vec<Need>) {
        for depth in 1..=place.path.len() {
            let above = Place {
                krate: place.krate,
                path: place.path.iter().take(depth).cloned().collect(),
            };
            if let Some(module) = self.mapping.at(&above) {
                self.see_module(module, here, needs);
            }
        }
    }

    /// Notes that a module's declaration has to be seen from `here`, unless it is anyway.
    fn see_module(&self, module: ModuleId, here: &Place, needs: &mut Vec<Need>) {
        let Some(node) = self.world().module(module) else {
            return;
        };
        let Some(outer) = node.parent else { return };
        let reach = self.declared(outer, &node.name, |res| res == Res::Module(module));
        let hidden = reach.is_some_and(|reach| !self.sees(here, reach, outer));
        if hidden || self.mapping.is_root(module) {
            needs.push(Need {
                subject: Subject::Module(module),
                by: here.clone(),
            });
        }
    }

    fn declared(
        &self,
        module: ModuleId,
        name: &str,
        is: impl Fn(Res) -> bool,
    ) -> Option<Reach> {
        let sym = self.world().names.get(name)?;
        let bindings = self.world().space(module)?.names.get(&sym)?;
        bindings
            .iter()
            .find(|binding| binding.import.is_none() && is(binding.res))
            .map(|binding| binding.reach)
    }

    /// Whether a name of `module` with this reach is seen from a place after.
    pub fn sees(&self, here: &Place, reach: Reach, module: ModuleId) -> bool {
        match reach {
            Reach::Public => true,
            Reach::Within(scope) => {
                let own = self.mapping.after(module);
                let scope = self.mapping.after(scope);
                scope.common(&own).is_some_and(|reach| here.is_within(&reach))
            }
        }
    }

    /// Whether a glob still brings `name` after; `None` when it brings it by a private import that
    /// is out of sight.
    fn glob_gives(&self, leaf: (FileId, u32), sym: Sym, res: Res, here: &Place, depth: usize) -> bool {
        let Some(module) = self.glob_target(leaf) else {
            return true;
        };
        self.module_gives(module, sym, res, here, depth)
    }

    fn module_gives(&self, module: ModuleId, sym: Sym, res: Res, here: &Place, depth: usize) -> bool {
        let bindings = self.world().space(module).and_then(|space| space.names.get(&sym));
        let Some(bindings) = bindings else { return true };
        bindings
            .iter()
            .filter(|binding| binding.res == res)
            .any(|binding| match binding.import {
                _ if !self.sees(here, binding.reach, module) => false,
                Some(import) if binding.glob => {
                    depth < DEEPEST && self.glob_gives(import, sym, res, here, depth + 1)
                }
                Some(_) => true,
                None => match res {
                    Res::Module(child) => {
                        let name = self.world().names.text(sym);
                        self.mapping.after(child) == self.mapping.after(module).child(&name)
                    }
                    _ => true,
                },
            })
    }

    /// The module that a glob import leads to.
    pub fn glob_target(&self, leaf: (FileId, u32)) -> Option<ModuleId> {
        let (file, at) = leaf;
        let facts = self.world().facts(file)?;
        let fact = facts.leaves.get(at as usize)?;
        if fact.kind != LeafKind::Glob {
            return None;
        }
        let load = *self.world().files.get(file.index())?.loads.first()?;
        let declaration = facts.uses.get(fact.declaration as usize)?;
        let loaded = self.world().loads.get(load as usize)?;
        let space = loaded.spaces.get(declaration.scope.0 as usize).copied()?;
        let lookup = Lookup {
            world: self.world(),
            load: load as usize,
        };
        module_in(&lookup.leaf(facts, fact, space))
    }
}

/// One step of a walk.
struct Stepping<'s, 'a> {
    speller: &'s Speller<'a>,
    site: &'s Site<'s>,
    name: &'s str,
    step: &'s Found,
    at: usize,
    depth: usize,
}

impl Stepping<'_, '_> {
    fn mapping(&self) -> &Mapping<'_> {
        self.speller.mapping
    }

    fn here(&self) -> Place {
        self.mapping().after(self.speller.here(self.site))
    }

    /// Whether a module is still below the one around it, by the same name.
    fn is_in_place(&self, module: ModuleId) -> bool {
        let parent = self.speller.world().module(module).and_then(|node| node.parent);
        parent.is_none_or(|parent| {
            self.mapping().after(module) == self.mapping().after(parent).child(self.name)
        })
    }

    fn first_module(&self, module: ModuleId, walk: &mut Walk, needs: &mut Vec<Need>) {
        let holds = match self.name {
            "crate" | "$crate" | "self" => true,
            "super" => self.here().parent() == Some(self.mapping().after(module)),
            _ => match self.step.import {
                Some(import) if self.step.glob => self.glob_holds(import, Res::Module(module)),
                Some(_) => true,
                None => self.is_in_place(module),
            },
        };
        if !holds {
            walk.broken = Some((self.at, Goal::Module(module)));
        } else if self.mapping().is_root(module) && self.step.import.is_none() {
            self.speller.see_module(module, &self.here(), needs);
        }
    }

    fn glob_holds(&self, import: (FileId, u32), res: Res) -> bool {
        let sym = self.speller.world().names.get(self.name);
        sym.is_none_or(|sym| {
            self.speller.glob_gives(import, sym, res, &self.here(), self.depth)
        })
    }

    fn module(&self, module: ModuleId, outer: ModuleId, walk: &mut Walk, needs: &mut Vec<Need>) {
        match self.name {
            "self" => return,
            "super" => {
                let above = self.mapping().after(outer).parent();
                if above != Some(self.mapping().after(module)) {
                    walk.broken = Some((self.at, Goal::Module(module)));
                }
                return;
            }
            _ => {}
        }
        match self.step.import {
            Some(import) if self.step.glob => {
                if !self.glob_holds(import, Res::Module(module)) {
                    walk.broken = Some((self.at, Goal::Module(module)));
                }
            }
            Some(import) => self.imported(import, outer, Res::Module(module), walk),
            None if !self.is_in_place(module) => {
                walk.broken = Some((self.at, Goal::Module(module)));
            }
            None => self.speller.see_module(module, &self.here(), needs),
        }
    }

    /// A name that `outer` imports itself.
    fn imported(&self, import: (FileId, u32), outer: ModuleId, res: Res, walk: &mut Walk) {
        if self.is_seen(outer, res) {
            return;
        }
        match self.speller.absolute_below(import, self.depth + 1) {
            Some(mut path) => {
                if self.step.glob {
                    path.push(self.name.to_owned());
                }
                walk.broken = Some((self.at, Goal::Path(path)));
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
        let world = self.speller.world();
        let bindings = world
            .names
            .get(self.name)
            .and_then(|sym| world.space(outer)?.names.get(&sym));
        let Some(bindings) = bindings else { return true };
        let here = self.here();
        let mut same = bindings
            .iter()
            .filter(|binding| same_res(binding.res, res))
            .peekable();
        same.peek().is_none() || same.any(|binding| self.speller.sees(&here, binding.reach, outer))
    }

    fn item(&self, outer: ModuleId, walk: &mut Walk, needs: &mut Vec<Need>) {
        if self.mapping().is_replaced(outer) {
            self.item_of_replaced(outer, walk);
            return;
        }
        let Some((res, _)) = self.step.all().next() else {
            return;
        };
        match self.step.import {
            Some(import) if self.step.glob => {
                if !self.glob_holds(import, res) {
                    self.imported(import, outer, res, walk);
                }
            }
            Some(import) => self.imported(import, outer, res, walk),
            None => {
                let Res::Item(item) = res else { return };
                if !self.is_seen(outer, res) {
                    needs.push(Need {
                        subject: Subject::Item(item),
                        by: self.here(),
                    });
                }
            }
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

impl Speller<'_> {
    /// Whether the module at a place after has a name, as far as can be seen.
    pub fn offers(&self, place: &Place, name: &str) -> bool {
        let Some(module) = self.mapping.at(place) else {
            return false;
        };
        let Some(space) = self.world().space(module) else {
            return false;
        };
        let sym = self.world().names.get(name);
        space.opaque || sym.is_some_and(|sym| space.names.contains_key(&sym))
    }
}

/// Whether two results are the same thing, names outside compared as far as they are known.
fn same_res(a: Res, b: Res) -> bool {
    matches!((a, b), (Res::External(_), Res::External(_))) || a == b
}
