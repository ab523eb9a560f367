//! `unused_crate_dependencies`, where it is on: packages that a crate could name, and that nothing in it does any more or
//! yet.

use std::collections::BTreeSet;

use coalesce_cargo::{dependencies, manifest::crate_name};
use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::Tree;
use crate::{
    discover::TargetKind,
    lints,
    resolve::{Crate, CrateId, World},
};

const LINT: &str = "unused_crate_dependencies";

/// Dependencies that a crate comes to leave unused.
pub(crate) fn unused_dependencies(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let now = unused(after);
    if now.is_empty() {
        return Vec::new();
    }
    let then: BTreeSet<(String, String)> = unused(before).into_iter().map(|one| one.key).collect();
    let new = now.into_iter().filter(|one| !then.contains(&one.key));
    new.map(|one| {
        let (krate, name) = &one.key;
        Unproven {
            path: one.root,
            span: Some(ByteSpan::empty(0)),
            kind: UnprovenKind::Lint,
            name: name.clone(),
            why: format!(
                "`{LINT}` is on in `{krate}`, and nothing there names `{name}`, which its manifest has: the compiler \
                 may warn of that"
            ),
        }
    })
    .collect()
}

struct UnusedDependency {
    /// The crate, and the dependency by its name in code.
    key: (String, String),
    root: coalesce_model::TreePath,
}

fn unused(tree: Tree<'_>) -> Vec<UnusedDependency> {
    let world = tree.world;
    let mut found = Vec::new();
    for (id, krate) in (0..).map(CrateId).zip(&world.crates) {
        if !is_on(tree, krate) {
            continue;
        }
        let names = names_of(world, id);
        let unused = dependencies_of(tree, krate).into_iter();
        let unused = unused.filter(|name| !names.contains(name.as_str()));
        found.extend(unused.map(|name| UnusedDependency {
            key: (krate.canonical.clone(), name),
            root: krate.root_file.clone(),
        }));
    }
    found
}

/// Whether the lint is on at the head of a crate.
fn is_on(tree: Tree<'_>, krate: &Crate) -> bool {
    let world = tree.world;
    let root = krate.root.into_iter();
    let mut bodies = root.flat_map(|root| world.bodies_of(root));
    bodies.any(|body| lints::is_on(world, body, LINT, tree.texts))
}

/// The names that the files of a crate say.
fn names_of(world: &World, krate: CrateId) -> BTreeSet<&str> {
    let bodies = world.bodies.iter();
    let own = bodies.filter(|body| world[body.module].krate == krate);
    let files: BTreeSet<_> = own.map(|body| body.file).collect();
    let names = files.into_iter().flat_map(|file| &world.facts(file).names);
    names.map(|name| &**name).collect()
}

/// What the manifest of a crate's package gives it, by names in code.
fn dependencies_of(tree: Tree<'_>, krate: &Crate) -> BTreeSet<String> {
    let manifest = tree.world.manifest_of(krate.package);
    let text = tree.texts.text(&manifest);
    let entries = text.and_then(|text| dependencies::dependencies(&text).ok());
    let own: &[&str] = match krate.kind {
        TargetKind::BuildScript => &["build-dependencies"],
        // Its unit tests have both.
        _ => &["dependencies", "dev-dependencies"],
    };
    let entries = entries.into_iter().flatten().filter(|entry| {
        let table = entry.table.last();
        table.is_some_and(|table| own.contains(&table.as_str()))
    });
    entries.map(|entry| crate_name(&entry.key)).collect()
}
