//! What the shims of items ask the old module for.

use std::collections::BTreeSet;

use super::{Import, Settler};
use crate::{
    resolve::{ModuleId, Res},
    rewrite::{items::shims::Shims, place::Place, sight::Because},
};

impl<'a> Settler<'_, 'a> {
    /// What shims have to see: the way to what they forward to, and the types of signatures.
    pub(super) fn shims(&mut self, shims: &Shims) {
        let world = self.world();
        for (index, moved) in self.set.moving.iter().enumerate() {
            if !moved.shim {
                continue;
            }
            let here = self.set.mapping.after(moved.home);
            self.speller().chain(&moved.to, &here, &mut self.scan.needs);
            self.depend(
                moved.to.krate,
                &here,
                Because::Shim(moved.change.from.clone()),
            );
            self.scan
                .users
                .entry(index)
                .or_default()
                .insert(here.clone());
            for name in shims.needed.get(&index).into_iter().flatten() {
                let bindings = world
                    .space(moved.home)
                    .zip(world.names.get(name))
                    .and_then(|(space, sym)| space.names.get(&sym));
                for binding in bindings.into_iter().flatten() {
                    self.scan.used_imports.extend(binding.import);
                    self.imported_back(moved.home, binding.res, &here);
                }
            }
        }
    }

    /// A type of a signature that left without a shim.
    pub(super) fn imported_back(&mut self, home: ModuleId, res: Res, here: &Place) {
        let moved = match res {
            Res::Item(item) => self
                .set
                .of(item)
                .and_then(|at| Some((at, self.set.moving(at)?))),
            _ => None,
        };
        let Some((index, moved)) = moved.filter(|(_, moved)| !moved.shim) else {
            return;
        };
        let bodies = self
            .world()
            .module(home)
            .map_or(&[][..], |node| &node.bodies);
        let mut path = self.speller().rooted_in(here.krate, &moved.to);
        path.push(moved.name.clone());
        self.scan
            .users
            .entry(index)
            .or_default()
            .insert(here.clone());
        if let Some(body) = bodies.first() {
            let list = self.imports.left.entry(*body).or_default();
            let (alias, cfg) = (None, BTreeSet::new());
            list.insert(Import { path, alias, cfg });
        }
    }
}
