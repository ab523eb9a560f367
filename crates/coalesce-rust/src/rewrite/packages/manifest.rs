//! The manifest of a package that takes over a library: its dependencies, features and targets,
//! joined with those of the one that goes.
//!
//! Two requirements of one dependency are joined where they name the same thing; what differs in
//! source or in its major release is refused.

use std::collections::BTreeMap;

use coalesce_cargo::{
    dependencies::{self as entries, Entry},
    document,
    features::{self, Fate, Features},
    join::{add, fate},
    lock::{self, Lock},
    package, workspace,
};
use coalesce_model::{Finding, TreePath, lines};

use super::{
    super::{
        mapping::{Library, Mapping},
        structure::Structure,
    },
    book::{Book, Wrong},
    defaults::come_together,
    effective::Effective,
    shim, targets, users,
};
use crate::discover::{DependencyKind, Package, crate_name};

/// One library on its way into another package.
pub(super) struct Merge<'m, 'a> {
    pub mapping: &'m Mapping<'a>,
    pub structure: &'m Structure,
    pub library: &'m Library,
    pub book: &'m mut Book<'a>,
    /// The shim of its root, where one stays.
    pub shim: Option<&'m str>,
    pub notes: Vec<Finding>,
}

/// What the manifest of a library says.
pub(super) struct Said {
    pub entries: Vec<Entry>,
    pub features: Features,
}

impl Said {
    pub fn of(text: &str) -> Result<Self, coalesce_cargo::Error> {
        Ok(Self {
            entries: entries::dependencies(text)?,
            features: features::features(text)?,
        })
    }

    /// The features that are on for whoever asks for nothing.
    pub fn defaults(&self) -> Vec<String> {
        features::of(&self.features, "default")
            .cloned()
            .unwrap_or_default()
    }
}

impl<'m> Merge<'m, '_> {
    pub fn run(&mut self) -> Result<(), Wrong> {
        let world = self.mapping.world;
        let (old, new) = (
            self.package(self.library.package),
            self.package(self.library.target),
        );
        let old_path = world.manifest_of(self.library.package);
        let new_path = world.manifest_of(self.library.target);
        if old_path == new_path {
            return Ok(());
        }
        let text = self.book.text(&old_path)?;
        let said = Said::of(&text).map_err(|why| (old_path.clone(), why.to_string()))?;
        if self.mapping.is_replaced(self.library.module) {
            self.for_tests(&said, old, new, &new_path)?;
        } else {
            self.dependencies(&said, old, new, (&old_path, &new_path))?;
            self.features(&said, old, new, &new_path)?;
        }
        self.targets(&text, &new_path)?;
        self.script(&text, &new_path)?;
        users::all(self, &said)?;
        let kept = self.leave(&said, old, &old_path)?;
        self.lock(old, new, &kept)
    }

    /// Leaves a shim, or nothing; the packages that the shim goes on naming.
    fn leave(
        &mut self,
        said: &Said,
        old: &Package,
        old_path: &TreePath,
    ) -> Result<Vec<String>, Wrong> {
        if let Some(shim) = self.shim {
            return self.leave_shim(said, shim, old_path);
        }
        self.leave_workspace(old)?;
        Ok(Vec::new())
    }

    /// The features of the package that takes over.
    pub fn features_there(&mut self) -> Result<Features, Wrong> {
        let path = self.mapping.world.manifest_of(self.library.target);
        let text = self.book.text(&path)?;
        features::features(&text).map_err(|why| (path, why.to_string()))
    }

    pub fn package(&self, at: usize) -> &'m Package {
        self.mapping.world.package(at)
    }

    /// The package of the tree that an entry names.
    pub fn leads_to(&self, package: &Package, entry: &Entry) -> Option<&'m Package> {
        let kind = entry.kind();
        let name = crate_name(&entry.key);
        let known = package
            .dependencies
            .iter()
            .find(|known| known.name == name && known.kind == kind)?;
        let directory = known.directory.as_ref()?;
        let packages = &self.mapping.world.packages;
        packages
            .iter()
            .find(|package| package.directory == *directory)
    }

    pub fn note(&mut self, path: &TreePath, message: String) {
        self.notes.push(Finding::note(path.clone(), message));
    }

    /// Brings every dependency along.
    fn dependencies(
        &mut self,
        said: &Said,
        old: &Package,
        new: &Package,
        (old_path, new_path): (&TreePath, &TreePath),
    ) -> Result<(), Wrong> {
        for entry in &said.entries {
            let leads = self.leads_to(old, entry);
            if leads.is_some_and(|leads| is_one_of(leads, old, new)) {
                continue;
            }
            if let Some(other) = self.going(leads) {
                self.instead(&other, entry, new_path)?;
                continue;
            }
            let mut entry = rebased(entry, old, new, old_path)?;
            if let Some(key) = leads.and_then(|leads| key_of(new, leads, &entry)) {
                entry.put("package", None);
                entry.key = key;
            }
            self.bring(&entry, new, new_path)?;
        }
        Ok(())
    }

    /// Writes a line into the manifest of a package, unless that has it.
    fn bring(&mut self, entry: &Entry, new: &Package, new_path: &TreePath) -> Result<(), Wrong> {
        let shared = self.shared(&new.directory);
        self.book.change(new_path, |text| {
            Ok(add(text, entry, shared.as_deref(), &new.directory)?)
        })
    }

    /// The library that goes in the same migration, if a package is that of one.
    fn going(&self, package: Option<&Package>) -> Option<Library> {
        let package = package?;
        let mut others = self.mapping.libraries.iter();
        let found = others.find(|library| {
            let known = self.package(library.package);
            known.directory == package.directory
        });
        found.copied()
    }

    /// Brings the line for what takes over another library that goes.
    fn instead(
        &mut self,
        other: &Library,
        entry: &Entry,
        new_path: &TreePath,
    ) -> Result<(), Wrong> {
        let target = self.library.target;
        if other.target == target {
            return Ok(());
        }
        let wrong = |why: coalesce_cargo::Error| (new_path.clone(), why.to_string());
        let path = self.mapping.world.manifest_of(other.package);
        let text = self.mapping.texts.text(&path).unwrap_or_default();
        let said = Said::of(&text).map_err(wrong)?;
        let mut merge = Merge {
            mapping: self.mapping,
            structure: self.structure,
            library: other,

            book: self.book,
            shim: None,
            notes: Vec::new(),
        };
        let line = users::line_for(&mut merge, target, entry, &said)?;
        let new = self.package(target);
        self.bring(&line, new, new_path)
    }

    /// The text of the manifest of the workspace around a directory.
    pub fn shared(&mut self, directory: &TreePath) -> Option<String> {
        let (path, _) = workspace::root(self.mapping.texts, directory)?;
        self.book.text(&path).ok()
    }

    /// Tests that come along to a primary need what they needed.
    fn for_tests(
        &mut self,
        said: &Said,
        old: &Package,
        new: &Package,
        new_path: &TreePath,
    ) -> Result<(), Wrong> {
        let targets = targets::named(self.structure, self.mapping, self.library);
        if targets.is_empty() {
            return Ok(());
        }
        for entry in &said.entries {
            let leads = self.leads_to(old, entry);
            let own = leads.is_some_and(|leads| is_one_of(leads, old, new));
            if own || entry.kind() == DependencyKind::Build || entry.is("optional") {
                continue;
            }
            let mut entry = entry.clone();
            if let Some(last) = entry.table.last_mut() {
                "dev-dependencies".clone_into(last);
            }
            if let Some(other) = self.going(leads) {
                self.instead(&other, &entry, new_path)?;
                continue;
            }
            let entry = rebased(&entry, old, new, new_path)?;
            self.bring(&entry, new, new_path)?;
        }
        Ok(())
    }

    /// Joins the features.
    fn features(
        &mut self,
        said: &Said,
        old: &Package,
        new: &Package,
        new_path: &TreePath,
    ) -> Result<(), Wrong> {
        let text = self.book.text(new_path)?;
        let wrong = |why: coalesce_cargo::Error| (new_path.clone(), why.to_string());
        let there = entries::dependencies(&text).map_err(wrong)?;
        let fates = self.fates(said, old, new, &there);
        let mut more: Features = said
            .features
            .iter()
            .map(|(name, list)| (name.clone(), features::translated(list, &fates)))
            .collect();
        for name in features::implicit(&said.features, &said.entries) {
            let plain = !matches!(fates.get(&name), Some(Fate::Key { optional: true, .. }));
            let explicit = features::features(&text)
                .map_err(wrong)?
                .iter()
                .any(|(_, list)| list.contains(&format!("dep:{name}")));
            if plain {
                more.push((name, Vec::new()));
            } else if explicit {
                more.push((name.clone(), vec![format!("dep:{name}")]));
            }
        }
        let gives_defaults = self.gives_defaults()?;
        more.retain(|(name, list)| name != "default" || gives_defaults && !list.is_empty());
        self.book
            .change(new_path, |text| Ok(features::join(text, &more)?))
    }

    /// Whether what is on by default in the library is so in the package that it goes into.
    pub fn gives_defaults(&self) -> Result<bool, Wrong> {
        come_together(self.mapping, self.library.package, self.library.target)
    }

    /// What becomes of each dependency, as lists of features name it.
    fn fates(
        &self,
        said: &Said,
        old: &Package,
        new: &Package,
        there: &[Entry],
    ) -> BTreeMap<String, Fate> {
        let fates = said.entries.iter().map(|entry| {
            let leads = self.leads_to(old, entry);
            let other = self.going(leads).map(|other| self.package(other.target));
            let after = other.or(leads);
            if after.is_some_and(|leads| leads.directory == new.directory) {
                return (entry.key.clone(), Fate::Own);
            }
            let key = match other {
                Some(other) => Some(other.name.clone()),
                None => leads.and_then(|leads| key_of(new, leads, entry)),
            };
            let fate = fate(there, key.as_ref().unwrap_or(&entry.key));
            (entry.key.clone(), fate)
        });
        fates.collect()
    }

    /// Tests and their like that the manifest has to name.
    fn targets(&mut self, old: &str, new_path: &TreePath) -> Result<(), Wrong> {
        let wrong = |why: coalesce_cargo::Error| (new_path.clone(), why.to_string());
        let found = targets::named(self.structure, self.mapping, self.library);
        for target in &found {
            let is_it = |name: &str| crate_name(name) == target.old;
            let said = package::target_fields(old, target.table, is_it).map_err(wrong)?;
            if said.is_none() && target.path.is_none() {
                continue;
            }
            let mut fields = said.unwrap_or_default();
            fields.retain(|(name, _)| name != "name" && name != "path");
            let text = self.book.text(new_path)?;
            let eol = lines::line_break(&text);
            let mut block = format!("[[{}]]{eol}name = \"{}\"{eol}", target.table, target.name);
            if let Some(path) = target.path.as_ref().or(target.given.as_ref()) {
                block.push_str(&format!("path = \"{path}\"{eol}"));
            }
            for (name, value) in fields {
                block.push_str(&format!("{name} = {value}{eol}"));
            }
            let text = format!("{}{eol}{eol}{block}", text.trim_end());
            self.book.set(new_path, text)?;
        }
        Ok(())
    }

    /// `build = "…"`, where the build script has not the usual name.
    fn script(&mut self, old: &str, new_path: &TreePath) -> Result<(), Wrong> {
        let wrong = |why: coalesce_cargo::Error| (new_path.clone(), why.to_string());
        let said = package::build_script(old).map_err(wrong)?;
        let Some(said) = said.filter(|said| said != "build.rs") else {
            return Ok(());
        };
        if self.mapping.is_replaced(self.library.module) {
            return Ok(());
        }
        let line = format!("build = \"{said}\"");
        self.book.change(new_path, |text| {
            Ok(document::put_line(
                text,
                &["package".to_owned()],
                "build",
                &line,
            )?)
        })
    }

    fn leave_shim(
        &mut self,
        said: &Said,
        shim_text: &str,
        old_path: &TreePath,
    ) -> Result<Vec<String>, Wrong> {
        let mut line = users::line(self, self.library.package)?;
        let on = features::defaults(&self.features_there()?);
        let mut more = asked(self.mapping, self.library, said);
        more.retain(|name| !on.contains(name));
        line.ask(&more);
        let mut kept = Vec::new();
        self.book.change(old_path, |text| {
            let made = shim::manifest(text, said, &line, shim_text)?;
            kept = made.kept;
            Ok(made.text)
        })?;
        Ok(kept)
    }

    /// The workspace knows the package no more.
    fn leave_workspace(&mut self, old: &Package) -> Result<(), Wrong> {
        let Some((path, root)) = workspace::root(self.mapping.texts, &old.directory) else {
            return Ok(());
        };
        self.book.change(&path, |text| {
            Ok(workspace::without(text, &root, &old.directory)?)
        })
    }

    fn lock(&mut self, old: &Package, new: &Package, kept: &[String]) -> Result<(), Wrong> {
        let path = lock::path(self.mapping.texts, &old.directory);
        let Some(path) = path else { return Ok(()) };
        let mut lock = Lock::read(&self.book.text(&path)?);
        let brought = lock.dependencies(&old.name).unwrap_or_default();
        let same = |entry: &str, name: &str| entry.split(' ').next() == Some(name);
        let tests = !targets::named(self.structure, self.mapping, self.library).is_empty();
        if !self.mapping.is_replaced(self.library.module) || tests {
            let mut all = lock.dependencies(&new.name).unwrap_or_default();
            all.extend(brought.iter().cloned());
            all.retain(|entry| !same(entry, &old.name) && !same(entry, &new.name));
            lock.set(&new.name, all);
        }
        lock.redirect(&old.name, &new.name);
        if self.shim.is_some() {
            let is_kept = |entry: &String| kept.iter().any(|name| same(entry, name));
            let mut left: Vec<String> = brought.into_iter().filter(is_kept).collect();
            left.push(new.name.clone());
            lock.set(&old.name, left);
        } else {
            lock.remove(&old.name);
        }
        lock.sweep();
        let text = lock.text();
        self.book.set(&path, text)
    }
}

fn is_one_of(leads: &Package, old: &Package, new: &Package) -> bool {
    [&old.directory, &new.directory].contains(&&leads.directory)
}

/// A line of the one package as the other one says it.
fn rebased(entry: &Entry, old: &Package, new: &Package, path: &TreePath) -> Result<Entry, Wrong> {
    let mut entry = entry.clone();
    entry
        .rebase(&old.directory, &new.directory)
        .map_err(|why| (path.clone(), why.to_string()))?;
    Ok(entry)
}

/// The name that a package has for another one of the tree, where that is not the key of an entry
/// and is the other one's own.
fn key_of(package: &Package, of: &Package, entry: &Entry) -> Option<String> {
    let mut known = package.dependencies.iter();
    let known = known.any(|known| {
        known.directory.as_ref() == Some(&of.directory) && known.name == crate_name(&of.name)
    });
    (known && entry.key != of.name).then(|| of.name.clone())
}

/// The features that a library asks of the package that it goes into, `default` among them: who
/// asked for the library asks for these.
pub(super) fn asked(mapping: &Mapping<'_>, library: &Library, said: &Said) -> Vec<String> {
    let world = mapping.world;
    let (old, new) = (
        world.package(library.package),
        world.package(library.target),
    );
    let mut book = Book::new(mapping.texts, BTreeMap::new());
    let mut found: Vec<String> = Vec::new();
    for entry in &said.entries {
        let name = crate_name(&entry.key);
        let leads = old.dependencies.iter().any(|known| {
            let same = known.name == name && known.kind == entry.kind();
            same && known.directory.as_ref() == Some(&new.directory)
        });
        if !leads || entry.kind() != DependencyKind::Normal {
            continue;
        }
        // The workspace may say some of it.
        let line = Effective::of(&mut book, mapping.texts, old, entry);
        found.extend(line.entry.features());
        if line.defaults {
            found.push("default".to_owned());
        }
    }
    found
}
