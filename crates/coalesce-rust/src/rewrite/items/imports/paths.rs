//! The path to a borrowed name, as its new crate says it.

use super::{Settler, home_of};
use crate::{
    facts::LeafKind,
    resolve::{Binding, CrateId, FileId, Res},
    rewrite::{
        items::{moving::Set, scan::Borrow},
        needs::Because,
        spell::Speller,
        walk::Source,
    },
};

/// How many globs of globs are followed.
const DEEPEST: usize = 16;

impl<'a> Settler<'_, 'a> {
    /// The path of a borrowed name, as its new crate says it.
    pub(super) fn path(&mut self, borrow: &Borrow) -> Option<Vec<String>> {
        let speller = self.speller();
        let world = self.world();
        let after = |set: &Set<'_>, moving: usize| {
            let moving = set.moving(moving);
            let mut path = speller.rooted_in(borrow.to.krate, &moving.named_at);
            path.push(moving.name.clone());
            Some((path, moving.to.krate))
        };
        let moved = borrow.results.iter().find_map(|(res, _)| match res {
            Res::Item(item) => Some((self.set.of(*item)?, None)),
            Res::Variant(item, name) => Some((self.set.of(*item)?, Some(*name))),
            _ => None,
        });
        if let Some((moving, variant)) = moved {
            let (mut path, krate) = after(self.set, moving)?;
            path.extend(variant.map(|name| world.names.text(name).to_string()));
            let users = self.scan.users.entry(moving).or_default();
            users.insert(borrow.to.clone());
            let because = Because::Names(self.set.name_after(self.set.moving(moving)));
            self.depend(krate, &borrow.to, because);
            return Some(path);
        }
        if let Some(path) = self.at_home(borrow) {
            return Some(path);
        }
        if let Some(path) = self.variants(borrow) {
            return path;
        }
        let (place, name) = match borrow.source {
            Source::Moved(moving) => return Some(after(self.set, moving)?.0),
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
                let path = speller.absolute(leaf)?;
                let krate = speller.krate_of(leaf)?;
                return Some(speller.said_in(path, krate, &borrow.to, &mut self.scan.told.needs));
            }
            Source::Glob(leaf) => {
                let (path, krate) = self.through_glob(leaf, borrow, 0)?;
                return Some(speller.said_in(path, krate, &borrow.to, &mut self.scan.told.needs));
            }
        };
        speller.chain(&place, &borrow.to, &mut self.scan.told.needs);
        let because = Because::Names(format!("{}::{name}", self.set.mapping.name_of(&place)));
        self.depend(place.krate, &borrow.to, because);
        let mut path = speller.rooted_in(borrow.to.krate, &place);
        path.push(name);
        Some(path)
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
            let explicit = || bindings.iter().filter(|one| !one.glob);
            let several = explicit().any(|one| {
                let other = |other: &&Binding| {
                    other.import != one.import && other.namespaces.meets(one.namespaces)
                };
                explicit().any(|binding| other(&binding))
            });
            if several {
                let seen = bindings
                    .iter()
                    .all(|one| speller.sees(&borrow.to, one.reach, home));
                let place = self.set.mapping.after(home);
                let mut path = speller.rooted_in(borrow.to.krate, &place);
                path.push(borrow.name.clone());
                speller.chain(&place, &borrow.to, &mut self.scan.told.needs);
                let because = format!("{}::{}", self.set.mapping.name_of(&place), borrow.name);
                self.depend(place.krate, &borrow.to, Because::Names(because));
                let items = bindings.iter().all(|one| one.import.is_none());
                if !seen && items {
                    // Variants of a definition are widened together.
                    return None;
                }
                return Some(seen.then_some(path));
            }
            let import = bindings.iter().find_map(|one| one.import)?;
            let facts = world.facts(import.0);
            let fact = facts.leaf(import.1);
            if fact.kind == LeafKind::Glob {
                home = speller.glob_target(import)?;
            } else {
                return None;
            }
        }
        None
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
        let outside = |speller: &Speller<'_>| {
            let mut path = speller.absolute(leaf)?;
            path.push(borrow.name.clone());
            Some((path, speller.krate_of(leaf)?))
        };
        let Some(target) = speller.glob_target(leaf) else {
            return outside(&speller);
        };
        let sym = world.names.get(&borrow.name)?;
        let bindings = world.space(target).names.get(&sym);
        let wanted = |res: Res| borrow.results.iter().any(|(known, _)| *known == res);
        let binding = bindings.into_iter().flatten().find(|one| wanted(one.res));
        let Some(binding) = binding else {
            return outside(&speller);
        };
        match binding.import {
            Some(import) if binding.glob && depth < DEEPEST => {
                self.through_glob(import, borrow, depth + 1)
            }
            Some(import) if !binding.glob => {
                Some((speller.absolute(import)?, speller.krate_of(import)?))
            }
            Some(_) => None,
            None => {
                match binding.res {
                    Res::Item(item) => self.see_item(target, item, &borrow.to),
                    Res::Module(module) => {
                        speller.see_module(module, &borrow.to, &mut self.scan.told.needs);
                    }
                    _ => {}
                }
                let place = self.set.mapping.after(target);
                let mut path = speller.rooted(&place);
                path.push(borrow.name.clone());
                Some((path, place.krate))
            }
        }
    }
}
