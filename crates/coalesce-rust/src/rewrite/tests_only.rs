//! Modules of integration tests that go to a library: there they are code of its tests alone.
//!
//! All of a test target is compiled for tests. In a library the same code is there for everybody: what only
//! tests call is dead, and imports that only they need are unused.

use std::collections::BTreeSet;

use super::mapping::Mapping;
use crate::{
    discover::TargetKind,
    resolve::{ModuleId, Res, World, is_within},
};

/// Names that lead from one module of a test target to another one.
pub(super) type Crossings = BTreeSet<(ModuleId, ModuleId)>;

/// Whether a module leaves a test target, and nothing that stays there names it.
pub(super) fn serves_tests(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    let world = mapping.world;
    let target = mapping.after(module).krate;
    if !is_test(world, module) || world[target].kind == TargetKind::Test {
        return false;
    }
    let change = mapping.owner(module);
    let root = change.and_then(|at| mapping.roots.get(at)?.as_ref());
    let root = root.map_or(module, |(root, _)| *root);
    let mut crossings = mapping.crossings_of_tests().iter();
    !crossings.any(|(from, to)| is_within(world, *to, root) && !is_within(world, *from, root))
}

fn is_test(world: &World, module: ModuleId) -> bool {
    world[world[module].krate].kind == TargetKind::Test
}

/// All such names of a tree.
pub(super) fn crossings(world: &World) -> Crossings {
    let mut found = Crossings::new();
    for (_, source) in world.sources() {
        let mut modules = source.bodies.iter().map(|body| world[*body].module);
        if !modules.any(|module| is_test(world, module)) {
            continue;
        }
        world.visit_steps(source, &mut |_, site, _, res| {
            let to = match res {
                Res::Module(module) => module,
                Res::Item(item) => world[item].module,
                _ => return,
            };
            let from = world.module_of(site.space);
            if from != to && is_test(world, to) {
                found.insert((from, to));
            }
        });
    }
    found
}
