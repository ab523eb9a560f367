//! The packages that depend on a library which goes: their lines name what takes over.
//!
//! A line keeps its place, its features and whether it is optional. Where both were asked for, one
//! line stays and asks for both.

use std::collections::BTreeMap;

use coalesce_cargo::{
    dependencies::{self as entries, Entry, find},
    document,
    features::{self, Fate},
    join::{fate, join, now_always},
    package, workspace,
};
use coalesce_model::{Texts, TreePath};

use super::{
    book::{Book, Wrong},
    manifest::{Merge, Said, asked},
};
use crate::discover::{DependencyKind, Package};

/// Edits the manifest of every user.
pub(super) fn all(merge: &mut Merge<'_, '_>, said: &Said) -> Result<(), Wrong> {
    for at in 0..merge.mapping.world.packages.len() {
        let (package, path) = (merge.package(at), merge.mapping.world.manifest_of(at));
        let gone = merge
            .mapping
            .libraries
            .iter()
            .any(|library| library.package == at);
        let names_it = package.dependencies.iter().any(|known| {
            let old = merge.package(merge.library.package);
            known.directory.as_ref() == Some(&old.directory)
        });
        if !names_it || gone {
            continue;
        }
        if at == merge.library.target {
            target(merge, package, &path, said)?;
        } else {
            one(merge, at, package, &path, said)?;
        }
    }
    Ok(())
}

/// The dependencies that a manifest says.
fn lines_of(merge: &mut Merge<'_, '_>, path: &TreePath) -> Result<Vec<Entry>, Wrong> {
    let text = merge.book.text(path)?;
    entries::dependencies(&text).map_err(|why| (path.clone(), why.to_string()))
}

/// The entries of a package that name the library.
fn own(merge: &mut Merge<'_, '_>, package: &Package, path: &TreePath) -> Result<Vec<Entry>, Wrong> {
    let all = lines_of(merge, path)?;
    let old = merge.package(merge.library.package);
    let old = old.directory.clone();
    let named = |entry: &Entry| {
        let leads = merge.leads_to(package, entry);
        leads.is_some_and(|leads| leads.directory == old)
    };
    Ok(all.into_iter().filter(|entry| named(entry)).collect())
}

/// The package that takes over needs the library no more: it has it.
fn target(
    merge: &mut Merge<'_, '_>,
    package: &Package,
    path: &TreePath,
    said: &Said,
) -> Result<(), Wrong> {
    let entries = own(merge, package, path)?;
    let on = features::defaults(&said.features);
    for entry in &entries {
        let mut more: Vec<String> = entry.features();
        more.retain(|name| !on.contains(name) || entry.default_features() == Some(false));
        merge.book.change(path, |text| Ok(without(text, entry)?))?;
        if !more.is_empty() && entry.kind() == DependencyKind::Normal {
            let list = more.join("`, `");
            let joined = vec![("default".to_owned(), more)];
            let book = &mut merge.book;
            book.change(path, |text| Ok(features::join(text, &joined)?))?;
            let message =
                format!("`{list}` is on by default now, since it was asked of what comes");
            merge.note(path, message);
        }
    }
    Ok(())
}

/// A manifest without a line for what its package has itself now; the feature that the line was stays.
fn without(text: &str, entry: &Entry) -> Result<String, coalesce_cargo::Error> {
    let fates = BTreeMap::from([(entry.key.clone(), Fate::Own)]);
    let there = features::features(text)?;
    let was =
        entry.is("optional") && features::implicit(&there, std::slice::from_ref(entry)).len() == 1;
    let mut text = features::follow(text, &fates)?;
    if was {
        text = features::put(&text, &entry.key, &[])?;
    }
    let again = find(&text, entry)?;
    entries::remove(&text, &again)
}

/// A package that depends on the library.
fn one(
    merge: &mut Merge<'_, '_>,
    at: usize,
    package: &Package,
    path: &TreePath,
    said: &Said,
) -> Result<(), Wrong> {
    for entry in own(merge, package, path)? {
        let mut new = line_for(merge, at, &entry, said)?;
        let there = lines_of(merge, path)?;
        let known = taking_over(merge, package, &there, &entry, &new);
        if let Some(known) = known {
            let joined = joined(said, known, &mut new);
            merge_into(merge, path, &entry, known, &joined)?;
        } else {
            let book = &mut merge.book;
            book.change(path, |text| Ok(put(text, &entry, &new)?))?;
        }
        let there = lines_of(merge, path)?;
        let key = known.map_or(new.key.clone(), |known| known.key.clone());
        lists(merge, path, &entry, fate(&there, &key))?;
    }
    Ok(())
}

/// The line of a package that is there already for what takes over, or that has the key of the new one.
fn taking_over<'e>(
    merge: &Merge<'_, '_>,
    package: &Package,
    there: &'e [Entry],
    old: &Entry,
    new: &Entry,
) -> Option<&'e Entry> {
    let target = merge.package(merge.library.target);
    let in_table = || there.iter().filter(|other| other.table == old.table);
    let known = in_table().find(|other| {
        let leads = merge.leads_to(package, other);
        leads.is_some_and(|leads| leads.directory == target.directory)
    });
    known.or_else(|| in_table().find(|other| other.key == new.key))
}

/// A line that asks for what two ask for.
fn joined(said: &Said, known: &Entry, new: &mut Entry) -> Entry {
    if known.default_features() == Some(false) && new.default_features() != Some(false) {
        new.ask(&said.defaults());
        new.put("default-features", Some("false".to_owned()));
    }
    join(known, new)
}

/// Two lines become the one that was there.
fn merge_into(
    merge: &mut Merge<'_, '_>,
    path: &TreePath,
    old: &Entry,
    known: &Entry,
    joined: &Entry,
) -> Result<(), Wrong> {
    merge.book.change(path, |text| {
        let mut text = text.to_owned();
        if joined.fields != known.fields {
            text = entries::replace(&text, &find(&text, known)?, joined)?;
        }
        if known.is("optional") && !joined.is("optional") {
            text = now_always(&text, &joined.key)?;
        }
        Ok(entries::remove(&text, &find(&text, old)?)?)
    })
}

/// Another line in the place of one; where lines are sorted, where it belongs.
fn put(text: &str, old: &Entry, new: &Entry) -> Result<String, coalesce_cargo::Error> {
    let all = entries::dependencies(text)?;
    let names: Vec<&str> = all
        .iter()
        .filter(|entry| entry.table == old.table)
        .map(|entry| entry.key.as_str())
        .collect();
    let sorted = names.len() > 1 && names.windows(2).all(|pair| pair.first() <= pair.last());
    if !sorted {
        return entries::replace(text, &find(text, old)?, new);
    }
    let text = entries::insert(text, new)?;
    entries::remove(&text, &find(&text, old)?)
}

/// What lists of features said of the library.
fn lists(merge: &mut Merge<'_, '_>, path: &TreePath, old: &Entry, fate: Fate) -> Result<(), Wrong> {
    merge.book.change(path, |text| {
        let there = features::features(text)?;
        let implicit = features::implicit(&there, std::slice::from_ref(old)).len() == 1;
        let again = match &fate {
            Fate::Key { key, optional } if implicit && *key != old.key => {
                Some(optional.then(|| format!("dep:{key}")))
            }
            _ => None,
        };
        let fates = BTreeMap::from([(old.key.clone(), fate)]);
        let text = features::follow(text, &fates)?;
        match again {
            // The feature that the dependency was by its name stays.
            Some(list) => {
                let list: Vec<String> = list.into_iter().collect();
                Ok(features::put(&text, &old.key, &list)?)
            }
            None => Ok(text),
        }
    })
}

/// The line that names the package which takes over, asking for what another line asked.
pub(super) fn line_for(
    merge: &mut Merge<'_, '_>,
    at: usize,
    old: &Entry,
    said: &Said,
) -> Result<Entry, Wrong> {
    let mut new = line(merge, at)?;
    new.table.clone_from(&old.table);
    new.braces = old.braces;
    let shared = merge.shared_before(at, merge.library.package);
    let inherited = shared.filter(|_| old.is("workspace"));
    let plain: Vec<&Entry> = inherited.iter().chain([old]).collect();
    if !plain.iter().any(|entry| entry.raw("version").is_some()) {
        new.put("version", None);
    }
    for entry in plain {
        new.ask(&entry.features());
        if entry.default_features() == Some(false) {
            new.put("default-features", Some("false".to_owned()));
        }
    }
    if new.default_features() != Some(false) && !merge.gives_defaults()? {
        ask_for_defaults(merge, &mut new, said)?;
    }
    if !merge.mapping.is_replaced(merge.library.module) {
        ask_for_library(merge, &mut new, said)?;
    }
    if new.is("workspace") {
        leave_out_shared(merge, at, &mut new)?;
    }
    for name in ["optional", "public"] {
        new.put(name, old.raw(name).map(str::to_owned));
    }
    Ok(new)
}

/// Has a line ask for each feature that was on by default.
fn ask_for_defaults(merge: &Merge<'_, '_>, new: &mut Entry, said: &Said) -> Result<(), Wrong> {
    let defaults = said.defaults();
    if let Some(other) = defaults.iter().find(|name| name.contains([':', '/'])) {
        let path = merge.mapping.world.manifest_of(merge.library.package);
        let message = format!(
            "`default` turns `{other}` on here, and some who would have that by it go without: give it a feature first"
        );
        return Err((path, message));
    }
    new.ask(&defaults);
    Ok(())
}

/// Has a line ask for the features that the library was, but for those that are on anyway.
fn ask_for_library(merge: &mut Merge<'_, '_>, new: &mut Entry, said: &Said) -> Result<(), Wrong> {
    let mut more = asked(merge.mapping, merge.library, said);
    let all = new.default_features() != Some(false);
    let there = merge.features_there()?;
    let on = features::defaults(&there);
    let known = |name: &String| features::of(&there, name).is_some();
    more.retain(|name| {
        if all {
            !on.contains(name)
        } else {
            name != "default" || known(name)
        }
    });
    new.ask(&more);
    Ok(())
}

/// Leaves out of a line what the workspace says for it.
fn leave_out_shared(merge: &mut Merge<'_, '_>, at: usize, new: &mut Entry) -> Result<(), Wrong> {
    let Some(there) = merge.shared_entry(at, merge.library.target)? else {
        return Ok(());
    };
    let known = there.features();
    let mut features = new.features();
    features.retain(|name| !known.contains(name));
    let features = (!features.is_empty()).then(|| document::list(&features));
    new.put("features", features);
    if there.default_features() != Some(false) {
        new.put("default-features", None);
    }
    Ok(())
}

/// What the workspace of a package says of another one.
pub(in super::super) fn shared_entry(
    book: &mut Book<'_>,
    texts: &dyn Texts,
    user: &Package,
    of: &Package,
) -> Result<Option<Entry>, Wrong> {
    let Some((path, root)) = workspace::root(texts, &user.directory) else {
        return Ok(None);
    };
    let text = book.text(&path)?;
    workspace::shared(&text, &root, &of.directory).map_err(|why| (path, why.to_string()))
}

impl Merge<'_, '_> {
    /// What the workspace of a package said of another one before anything was edited.
    fn shared_before(&self, user: usize, of: usize) -> Option<Entry> {
        let (user, of) = (self.package(user), self.package(of));
        let (path, root) = workspace::root(self.mapping.texts, &user.directory)?;
        workspace::shared(&self.mapping.texts.text(&path)?, &root, &of.directory).ok()?
    }

    /// What the workspace of a package says of another one.
    fn shared_entry(&mut self, user: usize, of: usize) -> Result<Option<Entry>, Wrong> {
        let (user, of) = (self.package(user), self.package(of));
        shared_entry(self.book, self.mapping.texts, user, of)
    }
}

/// The line of a package for the one that takes over: as the workspace says it, else by its path.
pub(super) fn line(merge: &mut Merge<'_, '_>, at: usize) -> Result<Entry, Wrong> {
    let table = ["dependencies".to_owned()];
    let user = merge.package(at);
    let target = merge.package(merge.library.target);
    let mut entry = Entry::new(&table, &target.name);
    // Cargo takes no second name for one package.
    if let Some(named) = line_by_name(merge, at)? {
        return Ok(named);
    }
    if let Some(shared) = merge.shared_entry(at, merge.library.target)? {
        entry.key.clone_from(&shared.key);
        entry.put("workspace", Some("true".to_owned()));
        return Ok(entry);
    }
    let manifest = merge.mapping.world.manifest_of(merge.library.target);
    let version = version(merge, &manifest, &target.directory);
    entry.put("version", version.map(|version| format!("\"{version}\"")));
    let path = target.directory.relative_to(&user.directory);
    entry.put("path", Some(format!("\"{path}\"")));
    Ok(entry)
}

/// A line of a package for the one that takes over, by another name than its own, as one that is always on.
fn line_by_name(merge: &mut Merge<'_, '_>, at: usize) -> Result<Option<Entry>, Wrong> {
    let path = merge.mapping.world.manifest_of(at);
    let (user, target) = (merge.package(at), merge.package(merge.library.target));
    let lines = lines_of(merge, &path)?;
    let known = lines.into_iter().find(|entry| {
        let leads = merge.leads_to(user, entry);
        entry.key != target.name && leads.is_some_and(|leads| leads.directory == target.directory)
    });
    Ok(known.map(|mut named| {
        named.put("optional", None);
        named
    }))
}

/// The version of a package, inherited or its own.
fn version(merge: &mut Merge<'_, '_>, path: &TreePath, directory: &TreePath) -> Option<String> {
    let text = merge.book.text(path).ok()?;
    if let Some(version) = package::version(&text).ok()? {
        return Some(version);
    }
    let (root, _) = workspace::root(merge.mapping.texts, directory)?;
    let text = merge.book.text(&root).ok()?;
    package::shared_version(&text).ok()?
}
