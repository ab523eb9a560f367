//! A shim package that goes: its folder, its line in the workspace, and the lines of those who
//! depend on it without using it.

use std::collections::BTreeMap;

use coalesce_cargo::{
    dependencies as entries,
    features::{self, Fate},
    lock::{self, Lock},
    workspace,
};
use coalesce_model::{LanguagePlan, Texts, TreePath};

use super::{
    book::{Book, Wrong},
    files::own_files,
};
use crate::{
    discover::{Package, TargetKind, crate_name},
    resolve::World,
};

/// Removes the packages whose libraries have these root files; why one cannot go is the error.
pub(crate) fn packages(
    world: &World,
    roots: &[TreePath],
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) -> Vec<Wrong> {
    let mut book = Book::new(texts, std::mem::take(&mut plan.edits));
    let mut wrong = Vec::new();
    for root in roots {
        let done = package_of(world, root)
            .ok_or_else(|| (root.clone(), "no package has it".to_owned()))
            .and_then(|package| one(world, package, texts, &mut book));
        match done {
            Ok(deletes) => plan.deletes.extend(deletes),
            Err((_, why)) => wrong.push((root.clone(), why)),
        }
    }
    plan.edits = book.close();
    wrong
}

/// The package whose library a file is the root of.
pub(crate) fn package_of<'w>(world: &'w World, root: &TreePath) -> Option<&'w Package> {
    let krate = world
        .crates
        .iter()
        .find(|krate| krate.kind == TargetKind::Lib && krate.root_file == *root)?;
    Some(world.package(krate.package))
}

fn one(
    world: &World,
    package: &Package,
    texts: &dyn Texts,
    book: &mut Book<'_>,
) -> Result<Vec<TreePath>, Wrong> {
    let manifest = package.directory.join("Cargo.toml");
    let manifest = manifest.map_err(|error| (package.directory.clone(), error.to_string()))?;
    let root = workspace::root(texts, &package.directory);
    if let Some(why) = keeps(package, root.as_ref(), &manifest) {
        return Err((manifest, why));
    }
    for (at, user) in world.packages.iter().enumerate() {
        if user.directory != package.directory {
            forget(package, user, &world.manifest_of(at), book)?;
        }
    }
    if let Some((path, directory)) = root {
        book.change(&path, |text| {
            Ok(workspace::without(text, &directory, &package.directory)?)
        })?;
    }
    unlock(package, texts, book)?;
    Ok(files(world, package, texts))
}

/// Why a package cannot go.
fn keeps(
    package: &Package,
    root: Option<&(TreePath, TreePath)>,
    manifest: &TreePath,
) -> Option<String> {
    let mut others = package.targets.iter();
    if let Some(other) = others.find(|target| target.kind != TargetKind::Lib) {
        return Some(format!("its package has `{}` besides", other.name));
    }
    let is_root = root.is_some_and(|(path, _)| path == manifest);
    is_root.then(|| "its package is the root of the workspace".to_owned())
}

/// Takes the lines of a user out, and what its features said of them.
fn forget(
    package: &Package,
    user: &Package,
    path: &TreePath,
    book: &mut Book<'_>,
) -> Result<(), Wrong> {
    let names: Vec<&str> = user
        .dependencies
        .iter()
        .filter(|known| known.directory.as_ref() == Some(&package.directory))
        .map(|known| known.name.as_str())
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    book.change(path, |text| Ok(without(text, &names)?))
}

/// A manifest without the lines of these names, and without what its features said of them.
fn without(text: &str, names: &[&str]) -> Result<String, coalesce_cargo::Error> {
    let mut text = text.to_owned();
    let own = |entry: &entries::Entry| names.contains(&crate_name(&entry.key).as_str());
    while let Some(entry) = entries::dependencies(&text)?.into_iter().find(own) {
        let fates = BTreeMap::from([(entry.key.clone(), Fate::Gone)]);
        let there = features::features(&text)?;
        let implicit = features::implicit(&there, std::slice::from_ref(&entry)).len() == 1;
        text = entries::remove(&text, &entry)?;
        text = features::follow(&text, &fates)?;
        if implicit {
            text = features::put(&text, &entry.key, &[])?;
        }
    }
    Ok(text)
}

fn unlock(package: &Package, texts: &dyn Texts, book: &mut Book<'_>) -> Result<(), Wrong> {
    let Some(path) = lock::path(texts, &package.directory) else {
        return Ok(());
    };
    book.change(&path, |text| {
        let mut lock = Lock::read(text);
        lock.forget(&package.name);
        lock.remove(&package.name);
        lock.sweep();
        Ok(lock.text())
    })
}

/// All files of a package's folder, but for those of packages inside it.
fn files(world: &World, package: &Package, texts: &dyn Texts) -> Vec<TreePath> {
    let own = own_files(world, texts, &package.directory);
    own.cloned().collect()
}
