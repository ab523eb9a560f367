//! The crates of a tree, one for each target, and which crates each may name.

use std::collections::BTreeSet;

use coalesce_model::TreePath;
use rustc_hash::FxHashMap;

use super::world::{Crate, CrateId, World};
use crate::discover::{self, DependencyKind, Package, TargetKind};

pub(super) fn crates(world: &mut World) {
    let mut taken: FxHashMap<String, usize> = FxHashMap::default();
    let mut order: Vec<(usize, usize)> = Vec::new();
    for (package, found) in world.packages.iter().enumerate() {
        order.extend((0..found.targets.len()).map(|target| (package, target)));
    }
    let is_lib = |world: &World, (package, target): (usize, usize)| {
        world
            .packages
            .get(package)
            .and_then(|package| package.targets.get(target))
            .map(|target| target.kind)
            != Some(TargetKind::Lib)
    };
    order.sort_by_key(|place| (is_lib(world, *place), *place));
    for (package, target) in order {
        let Some(target) = world
            .packages
            .get(package)
            .and_then(|package| package.targets.get(target))
        else {
            continue;
        };
        let uses = taken.entry(target.name.clone()).or_default();
        *uses += 1;
        let canonical = if *uses == 1 {
            target.name.clone()
        } else {
            format!("{}//{}", target.path, target.name)
        };
        world.crates.push(Crate {
            name: target.name.clone(),
            canonical,
            package,
            kind: target.kind,
            root_file: target.path.clone(),
            edition: target.edition,
            root: None,
            externs: Vec::new(),
        });
    }
}

/// Works out which crates each crate may name.
pub(super) fn externs(world: &mut World) {
    let libraries: FxHashMap<usize, CrateId> = (0..)
        .zip(&world.crates)
        .filter(|(_, krate)| krate.kind == TargetKind::Lib)
        .map(|(at, krate)| (krate.package, CrateId(at)))
        .collect();
    let library = |package: usize| libraries.get(&package).copied();
    let mut all = Vec::with_capacity(world.crates.len());
    for krate in &world.crates {
        let package = world.package(krate.package);
        let mut externs: Vec<(String, Option<CrateId>)> = Vec::new();
        // The names that a library of the tree takes from those which come with the language.
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for dependency in &package.dependencies {
            let seen = match dependency.kind {
                DependencyKind::Build => krate.kind == TargetKind::BuildScript,
                _ => krate.kind != TargetKind::BuildScript,
            };
            if seen {
                let named = extern_name(world, dependency, library);
                let is_always =
                    dependency.is_unconditional && dependency.kind != DependencyKind::Dev;
                taken.extend((is_always && named.1.is_some()).then(|| named.0.clone()));
                externs.push(named);
            }
        }
        if !matches!(krate.kind, TargetKind::Lib | TargetKind::BuildScript)
            && let Some(own) = library(krate.package)
            && let Some(library) = Some(&world[own])
        {
            externs.push((library.name.clone(), Some(own)));
            taken.insert(library.name.clone());
        }
        for name in ["std", "core", "alloc", "proc_macro", "test"] {
            if !taken.contains(name) {
                externs.push((name.to_owned(), None));
            }
        }
        externs.sort();
        externs.dedup_by(|second, first| {
            second.0 == first.0 && first.1.is_some() == second.1.is_some()
        });
        all.push(externs);
    }
    for (krate, externs) in world.crates.iter_mut().zip(all) {
        krate.externs = externs;
    }
}

fn extern_name(
    world: &World,
    dependency: &discover::ResolvedDependency,
    library: impl Fn(usize) -> Option<CrateId>,
) -> (String, Option<CrateId>) {
    let package = dependency
        .directory
        .as_ref()
        .and_then(|directory| package_at(&world.packages, directory));
    let krate = package.and_then(library);
    let renamed = dependency.name != discover::crate_name(&dependency.package);
    let own = krate.map(|krate| &world[krate]);
    let name = own
        .filter(|_| !renamed)
        .map_or_else(|| dependency.name.clone(), |own| own.name.clone());
    (name, krate)
}

fn package_at(packages: &[Package], directory: &TreePath) -> Option<usize> {
    packages
        .binary_search_by(|package| package.directory.cmp(directory))
        .ok()
}
