//! The files of a library that becomes a module: its sources, what they include, and the programs
//! that belong to its package.
//!
//! What a manifest says of them is not looked at here.

use std::collections::BTreeSet;

use coalesce_model::{ChangeKind, Finding, Texts, TreePath};

use super::super::{
    layout,
    mapping::{Library, Mapping},
    place::Place,
    structure::{Arrival, Structure},
};
use crate::{
    discover::{Package, TargetKind},
    facts::Include,
    resolve::{ModuleId, World},
};

/// Arranges the files of one library.
pub(in super::super) fn arrange(
    structure: &mut Structure,
    mapping: &Mapping<'_>,
    library: &Library,
    place: &Place,
) {
    let Some(change) = mapping.changes.get(library.change) else {
        return;
    };
    let package = mapping.world.package(library.package);
    let sources = sources(mapping, library);
    match change.kind {
        ChangeKind::Move | ChangeKind::Supersede => {
            structure.ways(mapping, library.change, place);
            move_sources(structure, mapping, library, place, &sources);
            structure.arrivals.push(Arrival {
                module: library.module,
                head: String::new(),
            });
        }
        ChangeKind::Replace { .. } | ChangeKind::Remove => structure.deletes.extend(sources),
    }
    super::targets::arrange(structure, mapping, library);
    if change.shim.is_none() {
        leave(structure, mapping, &package.directory);
    }
}

/// The files that are modules of the library, and all else in their directory but for other
/// targets; a package whose directory is that of its sources has them among all the rest.
fn sources(mapping: &Mapping<'_>, library: &Library) -> BTreeSet<TreePath> {
    let world = mapping.world;
    let mut found: BTreeSet<TreePath> = bodies(world, library)
        .filter(|(_, path)| in_package(world, library, path))
        .map(|(_, path)| path.clone())
        .collect();
    let Some(directory) = source_directory(mapping, library) else {
        return found;
    };
    let package = world.package(library.package);
    if package.directory == directory {
        return found;
    }
    let others: Vec<&TreePath> = package
        .targets
        .iter()
        .filter(|target| target.kind != TargetKind::Lib)
        .map(|target| &target.path)
        .collect();
    let paths = mapping.texts.paths().iter();
    let below =
        paths.filter(|path| path.strip_prefix(&directory).is_some() && !others.contains(path));
    found.extend(below.cloned());
    found
}

/// The directory of the root file.
fn source_directory(mapping: &Mapping<'_>, library: &Library) -> Option<TreePath> {
    mapping.file_of(library.module).parent()
}

fn in_package(world: &World, library: &Library, path: &TreePath) -> bool {
    let package = world.package(library.package);
    path.strip_prefix(&package.directory).is_some()
}

/// Every body of the library's modules that is a file, and its path.
pub(super) fn bodies<'w>(
    world: &'w World,
    library: &Library,
) -> impl Iterator<Item = (ModuleId, &'w TreePath)> + use<'w> {
    let krate = library.krate;
    world.bodies.iter().filter_map(move |body| {
        let own = world[body.module].krate == krate;
        let path = &world[body.file].path;
        (own && body.scope.0 == 0).then_some((body.module, path))
    })
}

fn move_sources(
    structure: &mut Structure,
    mapping: &Mapping<'_>,
    library: &Library,
    place: &Place,
    sources: &BTreeSet<TreePath>,
) {
    let home = place
        .parent()
        .and_then(|parent| structure.directory_of(mapping, &parent));
    let (Some(home), Some(old)) = (home, source_directory(mapping, library)) else {
        return;
    };
    let root = mapping.file_of(library.module);
    let Ok(new) = home.join(place.name()) else {
        return;
    };
    let Some(root_after) = root_after(mapping, &home, place) else {
        return;
    };
    for path in sources {
        let after = if *path == root {
            Some(root_after.clone())
        } else {
            rest_of(mapping, library, &old, path).and_then(|rest| new.join(rest).ok())
        };
        structure
            .files
            .extend(after.map(|after| (path.clone(), after)));
    }
    let shim = mapping.changes.get(library.change);
    if shim.is_some_and(|change| change.shim.is_none()) {
        let moved = included(mapping, library).into_iter().filter_map(|path| {
            let after = new.join(path.file_name()).ok()?;
            Some((path, after))
        });
        for (path, after) in moved {
            structure.files.entry(path).or_insert(after);
        }
    }
}

/// Where the root file goes: `home/name.rs`, or `home/name/mod.rs` where its new siblings are so.
fn root_after(mapping: &Mapping<'_>, home: &TreePath, place: &Place) -> Option<TreePath> {
    let parent = place.parent().and_then(|parent| mapping.at(&parent));
    let by_mod_rs = parent.is_some_and(|parent| layout::prefers_mod_rs(mapping.world, parent));
    if by_mod_rs {
        return home.join(place.name()).ok()?.join("mod.rs").ok();
    }
    home.join(&format!("{}.rs", place.name())).ok()
}

/// What of a path is below the sources of the library, or else below its package.
fn rest_of<'p>(
    mapping: &Mapping<'_>,
    library: &Library,
    sources: &TreePath,
    path: &'p TreePath,
) -> Option<&'p str> {
    let package = mapping.world.package(library.package);
    path.strip_prefix(sources)
        .or_else(|| path.strip_prefix(&package.directory))
}

/// Files of the package that its library includes and that are none of its sources.
fn included(mapping: &Mapping<'_>, library: &Library) -> BTreeSet<TreePath> {
    let world = mapping.world;
    let mut found = BTreeSet::new();
    for (_, path) in bodies(world, library) {
        let facts = world.file_at(path).map(|file| world.facts(file));
        let package = world.package(library.package);
        for include in facts.into_iter().flat_map(|facts| &facts.includes) {
            let target = included_path(package, path, include);
            found.extend(
                target
                    .filter(|path| mapping.texts.exists(path) && in_package(world, library, path)),
            );
        }
    }
    found
}

fn included_path(package: &Package, path: &TreePath, include: &Include) -> Option<TreePath> {
    let value = include.value.trim_start_matches('/');
    if include.from_manifest {
        return package.directory.join(value).ok();
    }
    path.parent()?.join(value).ok()
}

/// Without a shim, the folder goes with all that is left in it but for packages inside it.
fn leave(structure: &mut Structure, mapping: &Mapping<'_>, directory: &TreePath) {
    let left: Vec<&TreePath> = own_files(mapping.world, mapping.texts, directory)
        .filter(|path| !structure.files.contains_key(*path) && !structure.deletes.contains(*path))
        .collect();
    let names: Vec<&str> = left
        .iter()
        .filter(|path| !matches!(path.file_name(), "Cargo.toml" | ".gitignore"))
        .map(|path| path.file_name())
        .collect();
    if !names.is_empty() {
        structure.notes.push(
            Finding::warning(
                directory.clone(),
                format!("the package goes, and with it {}", names.join(", ")),
            )
            .with_help("move what you want to keep by hand first".to_owned()),
        );
    }
    structure.deletes.extend(left.into_iter().cloned());
}

/// All files of a package's folder, but for those of packages inside it.
pub(super) fn own_files<'t>(
    world: &World,
    texts: &'t dyn Texts,
    directory: &TreePath,
) -> impl Iterator<Item = &'t TreePath> {
    let packages = world.packages.iter();
    let inside: Vec<&TreePath> = packages
        .map(|package| &package.directory)
        .filter(|other| *other != directory && other.strip_prefix(directory).is_some())
        .collect();
    let below = texts.paths().iter();
    below
        .filter(|path| path.strip_prefix(directory).is_some())
        .filter(move |path| {
            !inside
                .iter()
                .any(|inside| path.strip_prefix(inside).is_some())
        })
}
