//! Tests, examples, benches of a package whose library goes elsewhere: they go along.
//!
//! They keep their paths below the package where those are free; else all of a kind go to a folder
//! of their own, which the manifest then names.

use std::collections::BTreeSet;

use coalesce_model::{Texts, TreePath};

use super::super::{
    mapping::{Library, Mapping},
    structure::Structure,
};
use crate::discover::{Package, Target, TargetKind, crate_name};

/// The kinds that go along, and their folders.
const KINDS: [(TargetKind, &str); 3] = [
    (TargetKind::Test, "tests"),
    (TargetKind::Example, "examples"),
    (TargetKind::Bench, "benches"),
];

/// Moves the files of all of them.
pub(super) fn arrange(structure: &mut Structure, mapping: &Mapping<'_>, library: &Library) {
    let world = mapping.world;
    let (old, new) = (
        world.package(library.package),
        world.package(library.target),
    );
    if !mapping.is_replaced(library.module) {
        script(structure, mapping, old, new);
    }
    for (kind, folder) in KINDS {
        let Ok(from) = old.directory.join(folder) else {
            continue;
        };
        let files = files_of_kind(mapping, old, kind, &from);
        let moved = files.into_iter().filter_map(|path| {
            let after = after(structure, old, new, (kind, folder), &path, mapping.texts)?;
            Some((path, after))
        });
        let moved: Vec<(TreePath, TreePath)> = moved.collect();
        structure.files.extend(moved);
    }
}

/// The files of a folder, and the targets of its kind that stand elsewhere in the package.
fn files_of_kind(
    mapping: &Mapping<'_>,
    package: &Package,
    kind: TargetKind,
    folder: &TreePath,
) -> BTreeSet<TreePath> {
    let paths = mapping.texts.paths().iter();
    let below = paths.filter(|path| path.strip_prefix(folder).is_some());
    let roots = targets(package, kind).map(|target| &target.path);
    let roots = roots.filter(|path| path.strip_prefix(&package.directory).is_some());
    below.chain(roots).cloned().collect()
}

/// The build script goes along, with what it includes, at the same place of its new package.
fn script(structure: &mut Structure, mapping: &Mapping<'_>, old: &Package, new: &Package) {
    let world = mapping.world;
    let found: Vec<TreePath> = targets(old, TargetKind::BuildScript)
        .flat_map(|target| {
            let file = world.file_at(&target.path);
            let facts = file.map(|file| world.facts(file));
            let home = target.path.parent();
            let includes = facts.into_iter().flat_map(|facts| &facts.includes);
            let included: Vec<TreePath> = includes
                .filter_map(|include| home.as_ref()?.join(&include.value).ok())
                .filter(|path| mapping.texts.exists(path))
                .collect();
            std::iter::once(target.path.clone()).chain(included)
        })
        .collect();
    for path in found {
        let rest = path.strip_prefix(&old.directory);
        if let Some(after) = rest.and_then(|rest| new.directory.join(rest).ok()) {
            structure.files.entry(path).or_insert(after);
        }
    }
}

fn targets(package: &Package, kind: TargetKind) -> impl Iterator<Item = &Target> {
    package
        .targets
        .iter()
        .filter(move |target| target.kind == kind)
}

/// Where a file of the package goes, or nowhere when it has been moved already.
fn after(
    structure: &Structure,
    old: &Package,
    new: &Package,
    (kind, folder): (TargetKind, &str),
    path: &TreePath,
    texts: &dyn Texts,
) -> Option<TreePath> {
    if structure.files.contains_key(path) {
        return None;
    }
    let rest = path.strip_prefix(&old.directory)?;
    let own = apart(old, new, kind, folder, texts);
    let rest = match rest.strip_prefix(folder).filter(|_| own) {
        Some(rest) => format!("{folder}/{}{rest}", crate_name(&old.name)),
        None => rest.to_owned(),
    };
    new.directory.join(&rest).ok()
}

/// Whether the files of a kind need a folder of their own, because one of them or a target's name
/// is taken.
fn apart(old: &Package, new: &Package, kind: TargetKind, folder: &str, texts: &dyn Texts) -> bool {
    let (Ok(from), Ok(to)) = (old.directory.join(folder), new.directory.join(folder)) else {
        return false;
    };
    let taken = texts.paths().iter().any(|path| {
        let rest = path.strip_prefix(&from);
        rest.and_then(|rest| to.join(rest).ok())
            .is_some_and(|path| texts.exists(&path))
    });
    let named =
        targets(old, kind).any(|target| targets(new, kind).any(|known| known.name == target.name));
    taken || named
}

/// What the manifest of the package that takes over has to say of a target that it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// `test`, `example`, `bench`.
    pub table: &'static str,
    /// Its name before.
    pub old: String,
    /// Its name after.
    pub name: String,
    /// Its root file below the package, where it is not found by its place.
    pub path: Option<String>,
    /// Its root file below the package, where the manifest gave it before.
    pub given: Option<String>,
}

/// The targets that come to a package, as its manifest names them.
pub(super) fn named(structure: &Structure, mapping: &Mapping<'_>, library: &Library) -> Vec<Named> {
    let world = mapping.world;
    let (old, new) = (
        world.package(library.package),
        world.package(library.target),
    );
    let mut found = Vec::new();
    for (kind, folder) in KINDS {
        let own = apart(old, new, kind, folder, mapping.texts);
        let named = targets(old, kind).filter_map(|target| {
            let rest = structure.files.get(&target.path)?;
            let rest = rest.strip_prefix(&new.directory)?;
            Some(named_target(old, new, target, folder, rest, own))
        });
        found.extend(named);
    }
    found
}

/// A target whose root file is at `rest` of the package now; `own` where its kind has a folder of its own there.
fn named_target(
    old: &Package,
    new: &Package,
    target: &Target,
    folder: &str,
    rest: &str,
    own: bool,
) -> Named {
    let taken = targets(new, target.kind).any(|known| known.name == target.name);
    let name = if taken {
        format!("{}_{}", crate_name(&old.name), target.name)
    } else {
        target.name.clone()
    };
    let by_place = rest
        .strip_prefix(&format!("{folder}/"))
        .is_some_and(|rest| !rest.contains('/') || rest.ends_with("/main.rs"));
    Named {
        table: target.kind.name(),
        old: target.name.clone(),
        name,
        path: own.then(|| rest.to_owned()),
        given: (!by_place).then(|| rest.to_owned()),
    }
}
