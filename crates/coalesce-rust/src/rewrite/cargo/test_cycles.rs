//! Tests inside of a library that come to use a package which needs that library: cargo compiles it twice for them, and
//! types of one are not those of the other.
//!
//! Tests of their own target see one of it alone, and are left out.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Unproven, UnprovenKind};

use super::{Gets, Wanted, Wish, known_edges, package_at};
use crate::{
    discover::{DependencyKind, TargetKind},
    resolve::{ModuleId, Res, World},
    rewrite::{cycles, mapping::Mapping},
};

/// That the tests of a package use another one, which needs it.
type TestCycle = (usize, usize);

/// Those that there would be and were not; `known` are the edges of the packages as they stay.
pub(super) fn unproven(
    mapping: &Mapping<'_>,
    known: &BTreeSet<(usize, usize)>,
    wishes: &BTreeMap<Gets, Wish>,
) -> Vec<Unproven> {
    let mut edges = known.clone();
    edges.extend(wishes.keys().filter_map(|gets| match gets.wanted {
        Wanted::Tree { package } if gets.kind != DependencyKind::Dev => {
            Some((gets.package, package))
        }
        _ => None,
    }));
    let mut found: BTreeSet<TestCycle> = BTreeSet::new();
    for (gets, wish) in wishes {
        let is_of_tests = wish.conditions.iter().any(|all| all.contains("test"));
        if let Wanted::Tree { package } = gets.wanted
            && gets.kind == DependencyKind::Dev
            && is_of_tests
            && cycles::way(&edges, package, gets.package).is_some()
        {
            found.insert((gets.package, package));
        }
    }
    found.extend(closed_by_edges(mapping.world, &edges));
    found
        .into_iter()
        .map(|cycle| told(mapping.world, cycle))
        .collect()
}

/// Dependencies of tests that are there already, and that come to need the package.
fn closed_by_edges(world: &World, edges: &BTreeSet<(usize, usize)>) -> Vec<TestCycle> {
    let before = known_edges(world);
    let mut found = Vec::new();
    if *edges == before {
        return found;
    }
    for (at, package) in world.packages.iter().enumerate() {
        let own = package.dependencies.iter();
        let of_tests = own.filter(|one| one.kind == DependencyKind::Dev);
        for one in of_tests.filter_map(|one| package_at(world, one.directory.as_ref())) {
            let is_closed = |edges| cycles::way(edges, one, at).is_some();
            if is_closed(edges) && !is_closed(&before) && is_named_in_library(world, at, one) {
                found.push((at, one));
            }
        }
    }
    found
}

/// Whether the library of a package names another one: its tests do, which alone may.
fn is_named_in_library(world: &World, package: usize, other: usize) -> bool {
    let is_library = |of: usize, module: ModuleId| {
        let krate = &world[world[module].krate];
        krate.package == of && krate.kind == TargetKind::Lib
    };
    let mut files = world.sources().filter(|(_, source)| {
        let mut bodies = source.bodies.iter();
        bodies.any(|body| is_library(package, world[body].module))
    });
    files.any(|(_, source)| {
        let mut is_named = false;
        world.visit_file(source, &mut |_, site| {
            let steps = site.trace.steps.iter();
            let mut led = steps.flat_map(|step| step.all());
            is_named |= led.any(|(res, _)| match res {
                Res::Module(module) => is_library(other, module),
                _ => false,
            });
        });
        is_named
    })
}

fn told(world: &World, (package, other): TestCycle) -> Unproven {
    let name = |at: usize| &*world.package(at).name;
    Unproven {
        path: world.manifest_of(package),
        span: None,
        kind: UnprovenKind::UnknownType,
        name: name(other).to_owned(),
        why: format!(
            "tests inside of `{0}` would use `{1}`, which needs `{0}`: cargo compiles `{0}` twice for them, and types of \
             one are not those of the other",
            name(package),
            name(other)
        ),
    }
}
