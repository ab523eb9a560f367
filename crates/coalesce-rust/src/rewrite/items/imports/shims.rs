//! What the shims of items ask the old module for.

use std::collections::BTreeSet;

use super::{Import, Settler};
use crate::{
    resolve::{ModuleId, Res},
    rewrite::{
        items::shims::{Shims, has_module},
        needs::Because,
        place::Place,
    },
};

impl<'a> Settler<'_, 'a> {
    /// What shims have to see: the way to what they forward to, and the types of signatures.
    pub(super) fn shims(&mut self, shims: &Shims) {
        for key in &shims.said {
            self.import_module(key);
        }
        for facade in self.set.facades.values() {
            let home = &self.world()[facade.home].canonical;
            let because = Because::Shim(format!("{home}::{}", facade.name));
            self.forward(facade.moving, facade.home, because);
        }
        for (index, moved) in self.set.moving.iter().enumerate() {
            if !moved.shim {
                continue;
            }
            let because = Because::Shim(moved.change.from.clone());
            self.forward(index, moved.home, because);
            for name in shims.needed.get(&index).into_iter().flatten() {
                self.need_in_signature(moved.home, name);
            }
        }
    }

    /// Notes that a shim in a module names what moves.
    fn forward(&mut self, moving: usize, home: ModuleId, because: Because) {
        let moved = self.set.moving(moving);
        let here = self.set.mapping.after(home);
        self.speller()
            .chain(&moved.named_at, &here, &mut self.scan.told.needs);
        self.scan.told.depend(moved.named_at.krate, &here, because);
        let users = self.scan.users.entry(moving).or_default();
        users.insert(here);
    }

    /// Notes that the signature of a shim says a name of its module.
    fn need_in_signature(&mut self, home: ModuleId, name: &str) {
        let here = self.set.mapping.after(home);
        for binding in self.world().bindings(home, name) {
            self.scan.used_imports.extend(binding.import);
            self.scan.used_globs.extend(binding.import);
            self.imported_back(home, binding.res, &here);
        }
    }

    /// The import of a new module by an old one that says several paths into it.
    pub(super) fn import_module(&mut self, (home, to): &(ModuleId, Place)) {
        if has_module(self.set, *home, to) {
            return;
        }
        let here = self.set.mapping.after(*home);
        let path = self.speller().rooted_in(here.krate, to);
        self.import_in(*home, path);
    }

    /// A type of a signature that left without a shim.
    pub(super) fn imported_back(&mut self, home: ModuleId, res: Res, here: &Place) {
        let moved = match res {
            Res::Item(item) => self.set.of(item).map(|at| (at, self.set.moving(at))),
            _ => None,
        };
        let Some((index, moved)) = moved.filter(|(_, moved)| !moved.shim) else {
            return;
        };
        let mut path = self.speller().rooted_in(here.krate, &moved.named_at);
        path.push(moved.name.clone());
        self.scan
            .users
            .entry(index)
            .or_default()
            .insert(here.clone());
        self.import_in(home, path);
    }

    fn import_in(&mut self, module: ModuleId, path: Vec<String>) {
        if let Some(body) = self.world()[module].bodies.first() {
            let list = self.imports.left.entry(*body).or_default();
            let (alias, cfg) = (None, BTreeSet::new());
            list.insert(Import { path, alias, cfg });
        }
    }
}
