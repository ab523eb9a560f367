//! Imports that nobody needs any more.

use std::collections::BTreeSet;

use super::{Settler, home_of, leaf_of, visibility_of};
use crate::{
    facts::{LeafKind, VisibilityKind},
    resolve::{FileId, ModuleId, Res, is_within},
    rewrite::{
        items::scan::is_concerned,
        traits::{self, Demand},
        use_tree::LeafChange,
        walk::is_of_module,
    },
};

impl<'a> Settler<'_, 'a> {
    /// Imports that only what left used, or what is spelled anew.
    pub(super) fn spent(&mut self) {
        let world = self.world();
        let freed = std::mem::take(&mut self.scan.freed_imports);
        for import in freed {
            let home = home_of(world, import);
            let Some(home) = home.filter(|_| is_of_module(world, import)) else {
                continue;
            };
            let stays = self.used(import, home);
            let leaves = self.scan.for_methods.get(&import);
            if stays == Demand::No {
                let work = self.scan.files.entry(import.0).or_default();
                work.leaves.entry(import.1).or_insert(LeafChange::Drop);
            } else if stays == Demand::Perhaps || leaves == Some(&Demand::Perhaps) {
                self.scan.guessed.insert(import);
            }
        }
    }

    /// Whether something that stays uses an import.
    fn used(&self, import: (FileId, u32), home: ModuleId) -> Demand {
        match self.named(import, home) {
            None => Demand::Yes,
            Some(name) => self.demand(import, home, &name),
        }
    }

    /// The name of a private import that nothing which stays says; `None` where something does.
    fn named(&self, import: (FileId, u32), home: ModuleId) -> Option<String> {
        let world = self.world();
        let fact = leaf_of(world, import);
        let private = visibility_of(world, import) == Some(VisibilityKind::Private);
        if !private || fact.kind == LeafKind::Glob || self.scan.used_imports.contains(&import) {
            return None;
        }
        let facts = world.facts(import.0);
        let bound = fact
            .alias
            .or_else(|| facts.segments(fact.segments).last().copied());
        let name = facts.name(bound?.name).to_owned();
        let said = self.scan.used_names.contains(&(home, name.clone()))
            || self.is_used_elsewhere(import, home, &name);
        (!said).then_some(name)
    }

    /// Whether a file that no other question made us read uses a private import.
    pub(super) fn is_used_elsewhere(
        &self,
        import: (FileId, u32),
        home: ModuleId,
        name: &str,
    ) -> bool {
        let world = self.world();
        let mut used = false;
        for (file, source) in world.sources() {
            let below = source.bodies.iter().any(|body| {
                let body = &world[body];
                is_within(world, body.module, home)
            });
            if !below || is_concerned(self.set, file) {
                continue;
            }
            world.visit_file(source, &mut |facts, site| {
                for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                    let glob = step.glob && facts.name(segment.name) == name;
                    used |= step.import == Some(import) || glob;
                }
            });
        }
        used
    }

    /// Whether a module inside another one has all that that imports, by a glob.
    fn has_glob_of(&self, file: FileId, user: ModuleId, home: ModuleId) -> bool {
        let world = self.world();
        let inside = user != home && is_within(world, user, home);
        let mut leaves = (0_u32..).zip(&world.facts(file).leaves);
        inside
            && leaves.any(|(at, leaf)| {
                leaf.kind == LeafKind::Glob && self.speller().glob_target((file, at)) == Some(home)
            })
    }

    /// Whether what stays in a module calls a method of a trait that it imports.
    fn demand(&self, import: (FileId, u32), home: ModuleId, name: &str) -> Demand {
        let world = self.world();
        let names = world.space(home).names.values();
        let results: Vec<Res> = names
            .flatten()
            .filter(|binding| binding.import == Some(import))
            .map(|binding| binding.res)
            .collect();
        let mut methods = BTreeSet::new();
        let bodies = world.bodies.iter();
        let users: BTreeSet<(FileId, ModuleId)> = bodies
            .filter(|body| body.module == home || self.has_glob_of(body.file, body.module, home))
            .map(|body| (body.file, body.module))
            .collect();
        for (file, user) in users {
            let Some(text) = self.set.mapping.texts.text(&self.set.path(file)) else {
                continue;
            };
            methods.extend(self.methods_that_stay(user, file, &text));
        }
        let usage = traits::Usage::of(world, home, self.set.mapping.texts);
        let looks = |name: &str| usage.looks_like_trait(name);
        let demands = results.iter().map(|res| {
            traits::demand(
                world,
                (name, *res),
                &methods,
                self.set.mapping.texts,
                &looks,
            )
        });
        demands.max().unwrap_or(Demand::Perhaps)
    }
}
