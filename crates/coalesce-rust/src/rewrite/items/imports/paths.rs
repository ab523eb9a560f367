//! The path to a borrowed name, as its new crate says it.

use super::{Settler, home_of, leaf_of};
use crate::{
    facts::LeafKind,
    resolve::{Binding, CrateId, FileId, ModuleId, Res},
    rewrite::{items::scan::Borrow, needs::Because, place::Place, walk::Source},
};

/// How many globs of globs are followed.
const DEEPEST: usize = 16;

/// Whether a name of a module is one thing under one condition and another under another.
fn has_variants(bindings: &[Binding]) -> bool {
    let explicit = || bindings.iter().filter(|one| !one.glob);
    explicit().any(|one| {
        explicit().any(|other| other.import != one.import && other.namespaces.meets(one.namespaces))
    })
}

impl<'a> Settler<'_, 'a> {
    /// The path of a borrowed name, as its new crate says it.
    pub(super) fn path(&mut self, borrow: &Borrow) -> Option<Vec<String>> {
        let moved = borrow.results.iter().find_map(|(res, _)| match res {
            Res::Item(item) => Some((self.set.of(*item)?, None)),
            Res::Variant(item, name) => Some((self.set.of(*item)?, Some(*name))),
            _ => None,
        });
        if let Some((moving, variant)) = moved {
            let mut path = self.path_of_moving(moving, borrow);
            path.extend(variant.map(|name| self.world().names.text(name).to_string()));
            let users = self.scan.users.entry(moving).or_default();
            users.insert(borrow.to.clone());
            let moving = self.set.moving(moving);
            let because = Because::Names(self.set.name_after(moving));
            self.scan.told.depend(moving.to.krate, &borrow.to, because);
            return Some(path);
        }
        if let Some(path) = self.at_home(borrow) {
            return Some(path);
        }
        match self.variants(borrow) {
            Some(path) => path,
            None => self.path_by_source(borrow),
        }
    }

    /// What moves, as the crate that a name goes to says it.
    fn path_of_moving(&self, moving: usize, borrow: &Borrow) -> Vec<String> {
        let moving = self.set.moving(moving);
        let speller = self.speller();
        let mut path = speller.rooted_in(borrow.to.krate, &moving.named_at);
        path.push(moving.name.clone());
        path
    }

    /// The path of a name by what its old module has it from.
    fn path_by_source(&mut self, borrow: &Borrow) -> Option<Vec<String>> {
        let (world, speller) = (self.world(), self.speller());
        let (place, name) = match borrow.source {
            Source::Moved(moving) => return Some(self.path_of_moving(moving, borrow)),
            Source::Item(item) => {
                let node = &world[item];
                self.see_item(node.module, item, &borrow.to);
                (self.set.mapping.after(node.module), node.name.clone())
            }
            Source::Module(module) => {
                let needs = &mut self.scan.told.needs;
                speller.see_module(module, &borrow.to, needs);
                let node = &world[module];
                (self.set.mapping.after(node.parent?), node.name.clone())
            }
            Source::Import(leaf) => {
                let (path, krate) = (speller.absolute(leaf)?, speller.krate_of(leaf)?);
                return Some(speller.said_in(path, krate, &borrow.to, &mut self.scan.told.needs));
            }
            Source::Glob(leaf) => {
                let (path, krate) = self.through_glob(leaf, borrow, 0)?;
                return Some(speller.said_in(path, krate, &borrow.to, &mut self.scan.told.needs));
            }
        };
        Some(self.path_below(&place, &name, borrow))
    }

    /// The path of a name of a module, with what that takes.
    fn path_below(&mut self, place: &Place, name: &str, borrow: &Borrow) -> Vec<String> {
        let speller = self.speller();
        speller.chain(place, &borrow.to, &mut self.scan.told.needs);
        let because = Because::Names(format!("{}::{name}", self.set.mapping.name_of(place)));
        self.scan.told.depend(place.krate, &borrow.to, because);
        let mut path = speller.rooted_in(borrow.to.krate, place);
        path.push(name.to_owned());
        path
    }

    /// The path of what the crate that the text goes to defines itself, and the old one only passed
    /// on.
    fn at_home(&mut self, borrow: &Borrow) -> Option<Vec<String>> {
        let speller = self.speller();
        let (Source::Import(leaf) | Source::Glob(leaf)) = borrow.source else {
            return None;
        };
        let [(Res::Item(item), _)] = borrow.results.as_slice() else {
            return None;
        };
        let krate = speller.krate_of(leaf)?;
        if krate == borrow.to.krate {
            return None;
        }
        let path = speller.definition_in(*item, borrow.to.krate)?;
        let needs = &mut self.scan.told.needs;
        speller.see_path(borrow.to.krate, &path, &borrow.to, needs);
        Some(path)
    }

    /// The path of a name that is one thing under one condition and another under another: it goes
    /// through the module that has it so.
    pub(super) fn variants(&mut self, borrow: &Borrow) -> Option<Option<Vec<String>>> {
        let (world, speller) = (self.world(), self.speller());
        if borrow.name == "_" {
            // Nothing leads to what has no name but its own path.
            return None;
        }
        let mut home = match borrow.source {
            Source::Import(leaf) | Source::Glob(leaf) => home_of(world, leaf)?,
            Source::Item(item) => world[item].module,
            Source::Module(_) | Source::Moved(_) => return None,
        };
        let sym = world.names.get(&borrow.name)?;
        for _ in 0..DEEPEST {
            let bindings = world.space(home).names.get(&sym)?;
            if has_variants(bindings) {
                return self.variant_path(home, bindings, borrow);
            }
            let import = bindings.iter().find_map(|one| one.import)?;
            if leaf_of(world, import).kind != LeafKind::Glob {
                return None;
            }
            home = speller.glob_target(import)?;
        }
        None
    }

    /// The path of such a name through its module, where all of it is seen; nothing at all for a definition, of which
    /// variants are widened together.
    fn variant_path(
        &mut self,
        home: ModuleId,
        bindings: &[Binding],
        borrow: &Borrow,
    ) -> Option<Option<Vec<String>>> {
        let speller = self.speller();
        let mut all = bindings.iter();
        let seen = all.all(|one| speller.sees(&borrow.to, one.reach, home));
        let place = self.set.mapping.after(home);
        let path = self.path_below(&place, &borrow.name, borrow);
        let items = bindings.iter().all(|one| one.import.is_none());
        (seen || !items).then(|| seen.then_some(path))
    }

    /// The path of what a glob brings, as its crate says it, without a way through imports that
    /// are private to somebody.
    pub(super) fn through_glob(
        &mut self,
        leaf: (FileId, u32),
        borrow: &Borrow,
        depth: usize,
    ) -> Option<(Vec<String>, CrateId)> {
        let (world, speller) = (self.world(), self.speller());
        let target = speller.glob_target(leaf);
        let wanted = |res: Res| borrow.results.iter().any(|(known, _)| *known == res);
        let found = match target {
            Some(target) => {
                let sym = world.names.get(&borrow.name)?;
                let bindings = world.space(target).names.get(&sym);
                bindings.into_iter().flatten().find(|one| wanted(one.res))
            }
            None => None,
        };
        let Some((target, binding)) = target.zip(found) else {
            let mut path = speller.absolute(leaf)?;
            path.push(borrow.name.clone());
            return Some((path, speller.krate_of(leaf)?));
        };
        match binding.import {
            Some(import) if binding.glob && depth < DEEPEST => {
                self.through_glob(import, borrow, depth + 1)
            }
            Some(import) if !binding.glob => {
                Some((speller.absolute(import)?, speller.krate_of(import)?))
            }
            Some(_) => None,
            None => Some(self.defined_behind(target, binding.res, borrow)),
        }
    }

    /// The path of what the module that a glob leads to defines.
    fn defined_behind(
        &mut self,
        target: ModuleId,
        res: Res,
        borrow: &Borrow,
    ) -> (Vec<String>, CrateId) {
        let speller = self.speller();
        match res {
            Res::Item(item) => self.see_item(target, item, &borrow.to),
            Res::Module(module) => {
                speller.see_module(module, &borrow.to, &mut self.scan.told.needs);
            }
            _ => {}
        }
        let place = self.set.mapping.after(target);
        let mut path = speller.rooted(&place);
        path.push(borrow.name.clone());
        (path, place.krate)
    }
}
