//! Whether a path still means the same after the changes, and how it is spelled where it does not.
//!
//! A path is walked segment by segment. Each step is held against the tree after: a module that
//! went elsewhere, a `super` that now leads elsewhere, a private import that is out of sight. The
//! last step that does not hold decides how much is spelled anew; what follows is the author's.

mod hidden;
mod style;

pub(super) use crate::raw_names::written;

use super::{
    exported_macros,
    items::moving::Set,
    mapping::Mapping,
    needs::{Because, Need, NeededThing, Purpose},
    place::Place,
    standard,
    walk::{Goal, Leaving, Walk},
};
use crate::{
    facts::{Origin, SourceFacts, VisibilityKind},
    resolve::{CrateId, FileId, Found, Lookup, ModuleId, Reach, Res, Site, Sym, UseSite, World},
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
#[derive(Debug, Default)]
pub(super) struct Respelling {
    pub start: usize,
    pub end: usize,
    pub path: Vec<String>,
    /// The full name before of what the segments lead to.
    pub from: String,
    /// The full name after.
    pub to: String,
}

/// A site, and where it is after.
struct SiteAfter<'w> {
    facts: &'w SourceFacts,
    site: &'w Site<'w>,
    leaving: Option<Leaving<'w, 'w>>,
    here: &'w Place,
}

impl SiteAfter<'_> {
    /// Whether the site says already what some of its segments become.
    fn says(&self, new: &Respelling) -> bool {
        let old = self.site.segments.get(new.start..new.end);
        old.is_some_and(|old| {
            let old = old.iter().map(|old| self.facts.name(old.name));
            old.eq(new.path.iter().map(String::as_str))
        })
    }
}

/// How many re-exports of re-exports are followed.
const DEEPEST: usize = 16;

/// Spells paths for one tree after the changes.
pub(super) struct Speller<'a> {
    pub mapping: &'a Mapping<'a>,
}

/// `crate` in the body of a macro is the crate of who calls it: what was said through `$crate` goes on being so.
fn through_crate((facts, site): (&SourceFacts, &Site<'_>), new: &mut Respelling) {
    let first = site.segments.first().filter(|_| new.start == 0);
    let by_macro = first.is_some_and(|first| facts.name(first.name) == "$crate");
    if let Some(first) = new.path.first_mut().filter(|first| *first == "crate")
        && by_macro
    {
        "$crate".clone_into(first);
    }
}

/// A path as source code says it.
pub(super) fn spelled(path: &[String]) -> String {
    let names: Vec<String> = path.iter().map(|name| written(name)).collect();
    names.join("::")
}

impl<'a> Speller<'a> {
    pub(super) fn world(&self) -> &'a World {
        self.mapping.world
    }

    pub(super) fn here(&self, site: &Site<'_>) -> ModuleId {
        self.world().module_of(site.space)
    }

    /// What becomes of a path in quoted code, where all of it is known; `None` where it is not. It
    /// is read in crates that are not known, so it goes on starting at the library that it names.
    pub fn respell_quoted(
        &self,
        (facts, site): (&SourceFacts, &Site<'_>),
        set: &Set<'_>,
        needs: &mut Vec<Need>,
    ) -> Option<Outcome> {
        let known = |step: &Found| !step.is_empty() && !step.opaque;
        if !site.trace.steps.iter().all(known) {
            return None;
        }
        let leaving = Some(Leaving { set, chunk: None });
        let mut walk = self.walk(facts, site, leaving, 0);
        let mut own = Vec::new();
        let outcome = self.outcome((facts, site), leaving, &mut walk, &mut own);
        if let Outcome::Change(new) = &outcome {
            let library = site.segments.first()?;
            let first = new.path.first().filter(|_| new.start == 0);
            if first.is_some_and(|first| first != facts.name(library.name)) {
                return None;
            }
        }
        own.retain(|need| matches!(need.subject, NeededThing::Module(_) | NeededThing::Item(_)));
        needs.append(&mut own);
        Some(outcome)
    }

    /// What a walk along the path of a site asks for; what it will have to see is added to `needs`.
    pub fn outcome(
        &self,
        (facts, site): (&SourceFacts, &Site<'_>),
        leaving: Option<Leaving<'_, '_>>,
        walk: &mut Walk,
        needs: &mut Vec<Need>,
    ) -> Outcome {
        if let Some(why) = walk.refused.take() {
            return Outcome::Refuse(why);
        }
        let here = self.place_of(site, leaving);
        let after = SiteAfter {
            facts,
            site,
            leaving,
            here: &here,
        };
        match self.respelled(&after, walk, needs) {
            Err(why) => Outcome::Refuse(why),
            Ok(new) if new.end == 0 || after.says(&new) => Outcome::Keep,
            Ok(new) => Outcome::Change(new),
        }
    }

    /// The segments that a walk found broken or renamed, as they are spelled after.
    fn respelled(
        &self,
        after: &SiteAfter<'_>,
        walk: &mut Walk,
        needs: &mut Vec<Need>,
    ) -> Result<Respelling, String> {
        let mut own = std::mem::take(&mut walk.needs);
        if walk.borrowed.is_none()
            && let Some(home) = self.at_home(after.site, after.leaving, after.here)
        {
            own.clear();
            walk.broken = Some(home);
        }
        let mut new = match walk.broken.take() {
            Some((at, goal)) => self.to_goal(after, at, goal, &mut own)?,
            None => Respelling::default(),
        };
        if after.site.origin == Origin::DocCode {
            self.in_documents(after.here, &mut new, &mut own);
        }
        needs.append(&mut own);
        if let Some((at, name)) = walk.renamed.take() {
            self.rename(after, &mut new, at, &name, &walk.named);
        }
        self.keep_in_sight(after, &mut new, &walk.named);
        if new.end == 0 {
            let said = standard::respell(self.mapping, (after.facts, after.site), after.here);
            new = said.unwrap_or(new);
        }
        through_crate((after.facts, after.site), &mut new);
        match exported_macros::loses(self.mapping, (after.facts, after.site), (after.here, &new)) {
            Some(why) => Err(why),
            None => Ok(new),
        }
    }

    /// The segment at `at` gets another name, behind what is spelled anew already.
    fn rename(
        &self,
        after: &SiteAfter<'_>,
        new: &mut Respelling,
        at: usize,
        name: &str,
        named: &[usize],
    ) {
        let (facts, site) = (after.facts, after.site);
        if new.end == 0 {
            new.start = at;
        } else {
            let between = site.segments.iter().take(at).skip(new.end);
            new.path
                .extend(between.map(|segment| facts.name(segment.name).to_owned()));
        }
        let from = self.world().site_name(facts, site, at);
        new.from = from.unwrap_or_else(|| std::mem::take(&mut new.from));
        let moved = after.leaving.zip(named.last());
        let moved = moved.map(|(leaving, at)| {
            let moving = leaving.set.moving(*at);
            leaving.set.name_after(moving)
        });
        new.to = moved.unwrap_or_else(|| format!("{}::{name}", self.owner_name(site, at)));
        new.path.extend(name.split("::").map(str::to_owned));
        new.end = at + 1;
    }

    /// The path's segments up to `at`, said so that they reach `goal` from where the site is after.
    fn to_goal(
        &self,
        after: &SiteAfter<'_>,
        at: usize,
        goal: Goal,
        needs: &mut Vec<Need>,
    ) -> Result<Respelling, String> {
        match goal {
            Goal::Path(krate, path) => {
                let from = self.world().site_name(after.facts, after.site, at);
                Ok(Respelling {
                    start: 0,
                    end: at + 1,
                    from: from.unwrap_or_default(),
                    to: self.in_canonical(krate, &path),
                    path: self.said_in(path, krate, after.here, needs),
                })
            }
            Goal::Module(module) => {
                let mut new =
                    self.to_place(after, at, (self.mapping.after(module), None), needs)?;
                new.from.clone_from(&self.world()[module].canonical);
                Ok(new)
            }
            Goal::Moved(moved) => {
                let moving = after.leaving.map(|leaving| leaving.set.moving(moved));
                let moving = moving.ok_or("nothing moves")?;
                let place = (moving.named_at.clone(), Some(moving.name.clone()));
                self.to_place(after, at, place, needs)
            }
        }
    }

    /// The path's segments up to `at`, said so that they reach a module, or an item that it has.
    fn to_place(
        &self,
        after: &SiteAfter<'_>,
        at: usize,
        (place, name): (Place, Option<String>),
        needs: &mut Vec<Need>,
    ) -> Result<Respelling, String> {
        let (facts, site) = (after.facts, after.site);
        let home = self.mapping.name_of(&place);
        let path = self.path_on(after, at, &place);
        let mut path = path.ok_or_else(|| format!("`{home}` cannot be named from here"))?;
        let to = match &name {
            Some(name) => format!("{home}::{name}"),
            None => home,
        };
        self.chain(&place, after.here, needs);
        self.depend_by_name(after, (&place, &path), in_full(facts, site, at, &to), needs);
        let is_type = |name: &String| {
            // A doc test does not see the names of the module that it stands in.
            let sees_module = site.origin != Origin::DocCode;
            let is_path = matches!(site.site, UseSite::Path(_));
            sees_module && is_path && name.starts_with(char::is_uppercase)
        };
        if path == ["self"] && name.as_ref().is_some_and(is_type) {
            path.clear();
        }
        path.extend(name);
        Ok(Respelling {
            start: 0,
            end: at + 1,
            path,
            from: self.world().site_name(facts, site, at).unwrap_or_default(),
            to,
        })
    }

    /// The path to a place: the names around text that leaves are not those of its new module.
    fn path_on(&self, after: &SiteAfter<'_>, at: usize, place: &Place) -> Option<Vec<String>> {
        let path = self.path_to(after.facts, after.site, at, place, after.here)?;
        let word = |first: &String| matches!(first.as_str(), "self" | "super" | "crate" | "$crate");
        let leaves = after.leaving.is_some_and(|leaving| leaving.chunk.is_some());
        let is_apart = leaves && place.krate == after.here.krate && !path.first().is_some_and(word);
        Some(if is_apart { self.rooted(place) } else { path })
    }

    /// Notes that a package has to depend on the crate that a path names: through a facade, it is the facade, and
    /// it does.
    fn depend_by_name(
        &self,
        after: &SiteAfter<'_>,
        (place, path): (&Place, &[String]),
        said: String,
        needs: &mut Vec<Need>,
    ) {
        let here = after.here;
        if place.krate != here.krate
            && path.first() == Some(&self.name_of_crate(here.krate, place.krate))
        {
            let need = Need::new(NeededThing::Crate(place.krate, Purpose::Code), here.clone());
            needs.push(need.because(Because::Names(said)));
        }
    }

    /// The full name that a path has which reads so from anywhere in one crate.
    fn in_canonical(&self, krate: CrateId, path: &[String]) -> String {
        let root = self.mapping.name_of(&Place::root(krate));
        let names = path.iter().map(|name| match name.as_str() {
            "crate" => root.as_str(),
            name => name,
        });
        names.collect::<Vec<_>>().join("::")
    }

    fn owner_name(&self, site: &Site<'_>, at: usize) -> String {
        let before = at.checked_sub(1).and_then(|at| site.trace.steps.get(at));
        before
            .and_then(Found::module)
            .map(|module| self.mapping.name_of(&self.mapping.after(module)))
            .unwrap_or_default()
    }

    /// The path of an import as it reads from anywhere in its crate; `None` when it leads nowhere
    /// that is known.
    pub fn absolute(&self, leaf: (FileId, u32)) -> Option<Vec<String>> {
        self.absolute_below(leaf, 0)
    }

    pub(super) fn absolute_below(&self, leaf: (FileId, u32), depth: usize) -> Option<Vec<String>> {
        if depth > DEEPEST {
            return None;
        }
        let site = self.site_of(leaf)?;
        self.absolute_site(self.world().facts(leaf.0), &site, depth)
    }

    /// An import as a site, by the first crate that reads its file.
    fn site_of(&self, (file, at): (FileId, u32)) -> Option<Site<'a>> {
        let world = self.world();
        let facts = world.facts(file);
        let load = *world[file].loads.first()? as usize;
        let fact = facts.leaf(at);
        let declaration = facts.declaration(fact.declaration);
        let spaces = &world.loads.get(load)?.spaces;
        let space = spaces.get(declaration.scope.0 as usize).copied()?;
        Some(Site {
            load,
            site: UseSite::Leaf(at),
            scope: declaration.scope,
            space,
            segments: facts.segments(fact.segments),
            origin: declaration.origin,
            trace: Lookup { world, load }.leaf_trace(facts, fact, space),
        })
    }

    fn absolute_site(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        depth: usize,
    ) -> Option<Vec<String>> {
        let walk = self.walk(facts, site, None, depth + 1);
        let broken = walk.broken.as_ref().map_or(0, |(at, _)| *at);
        let (mut path, from) = match (self.kept_import(facts, site, broken, depth), walk.broken) {
            (Some(kept), _) => kept,
            (None, Some((at, Goal::Path(_, path)))) => (path, at + 1),
            (None, Some((at, Goal::Module(module)))) => (self.rooted_for(site, module), at + 1),
            // Nothing leaves in a walk that is not told of a set.
            (None, Some((_, Goal::Moved(_))) | None) => self.absolute_start(facts, site, depth)?,
        };
        let rest = site.segments.iter().skip(from);
        path.extend(rest.map(|segment| facts.name(segment.name).to_owned()));
        if let Some((at, name)) = walk.renamed
            && at + 1 == site.segments.len()
        {
            path.pop();
            path.extend(name.split("::").map(str::to_owned));
        }
        Some(path)
    }

    /// A module as the crate of a site says it after.
    fn rooted_for(&self, site: &Site<'_>, module: ModuleId) -> Vec<String> {
        let user = self.mapping.after(self.here(site)).krate;
        self.rooted_in(user, &self.mapping.after(module))
    }

    /// The path that the last import behind step `from` leads to which its module keeps to itself,
    /// and how many segments that stands for.
    fn kept_import(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        from: usize,
        depth: usize,
    ) -> Option<(Vec<String>, usize)> {
        let steps = site.trace.steps.iter().enumerate().skip(from + 1);
        let (at, step, import) = steps
            .filter_map(|(at, step)| Some((at, step, step.import?)))
            .rfind(|(_, _, import)| self.is_kept(*import))?;
        let mut path = self.absolute_below(import, depth + 1)?;
        if step.glob {
            let name = site.segments.get(at).map(|segment| segment.name)?;
            path.push(facts.name(name).to_owned());
        }
        Some((path, at + 1))
    }

    /// Whether only a part of the crate sees an import.
    fn is_kept(&self, (file, leaf): (FileId, u32)) -> bool {
        let declaration = {
            let facts = self.world().facts(file);
            let leaf = facts.leaf(leaf);
            Some(facts.declaration(leaf.declaration))
        };
        declaration.is_none_or(|declaration| {
            let kind = declaration.visibility.kind;
            !matches!(kind, VisibilityKind::Public | VisibilityKind::Crate)
        })
    }

    /// The start of a path that holds, in full, and how many of its segments that stands for.
    fn absolute_start(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        depth: usize,
    ) -> Option<(Vec<String>, usize)> {
        // `super::super` goes up as often as it says.
        let further = site.segments.iter().skip(1);
        let up = further.take_while(|one| facts.name(one.name) == "super");
        let up = up.count();
        let first = site.trace.steps.get(up)?;
        let name = facts.name(site.segments.get(up)?.name);
        if matches!(name, "crate" | "$crate") {
            return Some((vec!["crate".to_owned()], 1));
        }
        let path = if let Some(import) = first.import {
            let mut path = self.absolute_below(import, depth + 1)?;
            path.extend(first.glob.then(|| name.to_owned()));
            path
        } else if let Some(module) = first.module() {
            let node = &self.world()[module];
            let own = self.world()[self.here(site)].krate;
            match node.parent.is_none() && node.krate != own {
                true => vec![name.to_owned()],
                false => self.rooted_for(site, module),
            }
        } else {
            self.path_of_item(site, first, name)?
        };
        Some((path, up + 1))
    }

    /// The path of an item that a name leads to without an import.
    fn path_of_item(&self, site: &Site<'_>, step: &Found, name: &str) -> Option<Vec<String>> {
        step.all().find_map(|(res, _)| match res {
            Res::Item(item) => {
                let item = &self.world()[item];
                let mut path = self.rooted_for(site, item.module);
                path.push(item.name.clone());
                Some(path)
            }
            Res::External(_) => Some(vec![name.to_owned()]),
            _ => None,
        })
    }

    pub(super) fn rooted(&self, place: &Place) -> Vec<String> {
        let mut path = vec!["crate".to_owned()];
        path.extend(place.path.iter().cloned());
        path
    }

    /// What a path from the crate's root leads through must be seen from `here`.
    pub(super) fn see_path(
        &self,
        krate: CrateId,
        path: &[String],
        here: &Place,
        needs: &mut Vec<Need>,
    ) {
        let Some((_, rest)) = path.split_first() else {
            return;
        };
        let mut place = Place::root(krate);
        for name in rest {
            let next = place.child(name);
            let Some(module) = self.mapping.at(&next) else {
                self.see_item(&place, name, here, needs);
                return;
            };
            self.see_module(module, here, needs);
            place = next;
        }
    }

    /// Notes that an item that a module defines has to be seen from `here`, unless it is anyway.
    fn see_item(&self, place: &Place, name: &str, here: &Place, needs: &mut Vec<Need>) {
        let Some(module) = self.mapping.at(place) else {
            return;
        };
        let bindings = self
            .world()
            .names
            .get(name)
            .and_then(|sym| self.world().space(module).names.get(&sym));
        let Some(bindings) = bindings else { return };
        if bindings
            .iter()
            .any(|binding| self.sees(here, binding.reach, module))
        {
            return;
        }
        for binding in bindings {
            if let (Res::Item(item), None) = (binding.res, binding.import) {
                needs.push(Need::new(NeededThing::Item(item), here.clone()));
            }
        }
    }

    /// Every module on the way to a place must be seen from `here`.
    pub fn chain(&self, place: &Place, here: &Place, needs: &mut Vec<Need>) {
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
    pub(super) fn see_module(&self, module: ModuleId, here: &Place, needs: &mut Vec<Need>) {
        let node = &self.world()[module];
        let Some(outer) = node.parent else { return };
        let reach = self.declared(outer, &node.name, |res| res == Res::Module(module));
        let hidden = reach.is_some_and(|reach| !self.sees(here, reach, outer));
        if hidden || self.mapping.is_root(module) {
            needs.push(Need::new(NeededThing::Module(module), here.clone()));
        }
    }

    fn declared(&self, module: ModuleId, name: &str, is: impl Fn(Res) -> bool) -> Option<Reach> {
        let sym = self.world().names.get(name)?;
        let bindings = self.world().space(module).names.get(&sym)?;
        bindings
            .iter()
            .find(|binding| binding.import.is_none() && is(binding.res))
            .map(|binding| binding.reach)
    }

    /// Whether a name of `module` with this reach is seen from a place after.
    pub fn sees(&self, here: &Place, reach: Reach, module: ModuleId) -> bool {
        match reach {
            Reach::Public => true,
            Reach::Within(root) => {
                let own = self.mapping.after(module);
                let scope = self.mapping.after(root);
                if own.krate != scope.krate && self.world()[root].parent.is_none() {
                    return here.is_within(&self.crate_after(&own, (module, root)));
                }
                scope
                    .common(&own)
                    .is_some_and(|reach| here.is_within(&reach))
            }
        }
    }

    /// What `pub(crate)` reaches in a module that goes to another crate. What stands directly below the old root may
    /// be `pub(super)` as well.
    fn crate_after(&self, own: &Place, (module, root): (ModuleId, ModuleId)) -> Place {
        let is_below_root = self.world()[module].parent == Some(root);
        let outer = own.parent().filter(|_| is_below_root);
        outer.unwrap_or_else(|| Place::root(own.krate))
    }

    /// Whether a glob still brings `name` after; `None` when it brings it by a private import that
    /// is out of sight.
    pub(super) fn glob_gives(
        &self,
        leaf: (FileId, u32),
        sym: Sym,
        res: Res,
        here: &Place,
        depth: usize,
    ) -> bool {
        let Some(module) = self.glob_target(leaf) else {
            return true;
        };
        self.module_gives(module, sym, res, here, depth)
    }

    fn module_gives(
        &self,
        module: ModuleId,
        sym: Sym,
        res: Res,
        here: &Place,
        depth: usize,
    ) -> bool {
        let bindings = self.world().space(module).names.get(&sym);
        let Some(bindings) = bindings else {
            return true;
        };
        let mut same = bindings.iter().filter(|binding| binding.res == res);
        same.any(|binding| match binding.import {
            _ if !self.sees(here, binding.reach, module) => false,
            Some(import) if binding.glob => {
                depth < DEEPEST && self.glob_gives(import, sym, res, here, depth + 1)
            }
            Some(_) => true,
            None => self.stays_in(module, sym, res),
        })
    }

    /// Whether what a module defines by a name is there after, as far as modules are asked.
    fn stays_in(&self, module: ModuleId, sym: Sym, res: Res) -> bool {
        let Res::Module(child) = res else { return true };
        let name = self.world().names.text(sym);
        self.mapping.after(child) == self.mapping.after(module).child(&name)
    }

    /// The module that a glob import leads to.
    pub fn glob_target(&self, leaf: (FileId, u32)) -> Option<ModuleId> {
        self.world().glob_target(leaf)
    }

    /// Whether the module at a place after has a name, as far as can be seen; a path of names is
    /// followed through re-exports.
    pub fn offers(&self, place: &Place, name: &str) -> bool {
        let Some(module) = self.mapping.at(place) else {
            return false;
        };
        if name.contains("::") {
            return !self.world().below(module, name).is_empty();
        }
        let space = self.world().space(module);
        let sym = self.world().names.get(name);
        space.opaque || sym.is_some_and(|sym| space.names.contains_key(&sym))
    }
}

/// The whole path of a site whose segments up to `at` lead to `start`.
fn in_full(facts: &SourceFacts, site: &Site<'_>, at: usize, start: &str) -> String {
    let rest = site.segments.get(at + 1..).unwrap_or_default();
    let rest = rest.iter().map(|segment| facts.name(segment.name));
    let parts: Vec<&str> = std::iter::once(start).chain(rest).collect();
    parts.join("::")
}
