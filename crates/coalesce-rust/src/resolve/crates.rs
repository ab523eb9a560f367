//! The crates of a tree, one for each target, and which crates each may name.

use std::collections::BTreeSet;

use coalesce_model::TreePath;
use rustc_hash::FxHashMap;

use super::world::{Crate, CrateId, World};
use crate::discover::{self, DependencyKind, Package, TargetKind};

pub(super) fn crates(world: &mut World) {
    let mut taken: FxHashMap<String, usize> = FxHashMap::default();
    for (package, target) in libraries_first(&world.packages) {
        let Some(target) = target_of(&world.packages, package, target) else {
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

/// Every target by the places of its package and in it, libraries first.
fn libraries_first(packages: &[Package]) -> Vec<(usize, usize)> {
    let mut order: Vec<(usize, usize)> = Vec::new();
    for (package, found) in packages.iter().enumerate() {
        order.extend((0..found.targets.len()).map(|target| (package, target)));
    }
    order.sort_by_key(|(package, target)| {
        let kind = target_of(packages, *package, *target).map(|target| target.kind);
        (kind != Some(TargetKind::Lib), *package, *target)
    });
    order
}

fn target_of(packages: &[Package], package: usize, target: usize) -> Option<&discover::Target> {
    packages.get(package)?.targets.get(target)
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
        let mut externs = externs_of(world, krate, library);
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

/// The crates that come with the language.
const LANGUAGE: [&str; 5] = ["std", "core", "alloc", "proc_macro", "test"];

/// The names of other crates that a crate may begin a path with, those of the language last.
fn externs_of(
    world: &World,
    krate: &Crate,
    library: impl Fn(usize) -> Option<CrateId> + Copy,
) -> Vec<(String, Option<CrateId>)> {
    let mut externs: Vec<(String, Option<CrateId>)> = Vec::new();
    // The names that a library of the tree takes from those which come with the language.
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let dependencies = world.package(krate.package).dependencies.iter();
    for dependency in dependencies.filter(|dependency| is_seen_by(dependency, krate)) {
        let named = extern_name(world, dependency, library);
        let is_always = dependency.is_unconditional && dependency.kind != DependencyKind::Dev;
        taken.extend((is_always && named.1.is_some()).then(|| named.0.clone()));
        externs.push(named);
    }
    if !matches!(krate.kind, TargetKind::Lib | TargetKind::BuildScript)
        && let Some(own) = library(krate.package)
    {
        let name = &world[own].name;
        externs.push((name.clone(), Some(own)));
        taken.insert(name.clone());
    }
    let language = LANGUAGE.into_iter().filter(|name| !taken.contains(*name));
    externs.extend(language.map(|name| (name.to_owned(), None)));
    externs
}

/// A build script sees what the build depends on, and nothing else.
fn is_seen_by(dependency: &discover::ResolvedDependency, krate: &Crate) -> bool {
    let is_of_build = dependency.kind == DependencyKind::Build;
    is_of_build == (krate.kind == TargetKind::BuildScript)
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
