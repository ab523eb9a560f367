//! The manifest of a package that takes over a library: its dependencies, features and targets,
//! joined with those of the one that goes.
//!
//! Two requirements of one dependency are joined where they name the same thing; what differs in
//! source or in its major release is refused.

use std::collections::BTreeMap;

use coalesce_model::{Finding, Severity, Texts, TreePath, finding::codes};
use toml_edit::Item;

use super::{
    super::{
        cargo::manifest_of,
        lines,
        mapping::{Library, Mapping},
        structure::Structure,
    },
    book::{Book, Wrong},
    entries::{self, Entry},
    features::{self, Fate, Features},
    lock::Lock,
    shim, targets, users, workspace,
};
use crate::{
    discover::{DependencyKind, Package, crate_name},
    resolve::World,
};

/// One library on its way into another package.
pub(super) struct Merge<'m, 'a> {
    pub mapping: &'m Mapping<'a>,
    pub structure: &'m Structure,
    pub library: &'m Library,
    pub texts: &'m dyn Texts,
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
    pub fn of(text: &str) -> Result<Self, String> {
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
        let (Some(old), Some(new)) = (old, new) else {
            return Ok(());
        };
        let paths = (
            manifest_of(world, self.library.package),
            manifest_of(world, self.library.target),
        );
        let (Some(old_path), Some(new_path)) = paths else {
            return Ok(());
        };
        if old_path == new_path {
            return Ok(());
        }
        let text = self.book.text(&old_path)?;
        let said = Said::of(&text).map_err(|why| (old_path.clone(), why))?;
        if self.mapping.is_replaced(self.library.module) {
            self.for_tests(&said, old, new, &new_path)?;
        } else {
            self.dependencies(&said, old, new, (&old_path, &new_path))?;
            self.features(&said, old, new, &new_path)?;
        }
        self.targets(&text, &new_path)?;
        self.script(&text, &new_path)?;
        users::all(self, &said)?;
        let kept = match self.shim {
            Some(shim) => self.leave_shim(&said, shim, &old_path)?,
            None => {
                self.leave_workspace(old)?;
                Vec::new()
            }
        };
        self.lock(old, new, &kept)
    }

    /// The features of the package that takes over.
    pub fn features_there(&mut self) -> Result<Features, Wrong> {
        let Some(path) = manifest_of(self.mapping.world, self.library.target) else {
            return Ok(Features::new());
        };
        let text = self.book.text(&path)?;
        features::features(&text).map_err(|why| (path, why))
    }

    pub fn package(&self, at: usize) -> Option<&'m Package> {
        self.mapping.world.packages.get(at)
    }

    /// The package of the tree that an entry names.
    pub fn leads_to(&self, package: &Package, entry: &Entry) -> Option<&'m Package> {
        let kind = kind(entry);
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
        self.notes.push(Finding {
            code: codes::UNSAFE_CHANGE,
            severity: Severity::Note,
            path: path.clone(),
            span: None,
            message,
            help: None,
        });
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
            let own =
                |leads: &Package| [&old.directory, &new.directory].contains(&&leads.directory);
            if leads.is_some_and(own) {
                continue;
            }
            let mut entry = entry.clone();
            entry
                .rebase(&old.directory, &new.directory)
                .map_err(|why| (old_path.clone(), why))?;
            if let Some(key) = leads.and_then(|leads| key_of(new, leads, &entry)) {
                entry.put("package", None);
                entry.key = key;
            }
            let shared = self.shared(&new.directory);
            self.book.change(new_path, |text| {
                add(text, &entry, shared.as_deref(), &new.directory)
            })?;
        }
        Ok(())
    }

    /// The text of the manifest of the workspace around a directory.
    pub fn shared(&mut self, directory: &TreePath) -> Option<String> {
        let (path, _) = workspace::root(self.texts, directory)?;
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
        let targets = targets::named(self.structure, self.mapping, self.library, self.texts);
        if targets.is_empty() {
            return Ok(());
        }
        for entry in &said.entries {
            let own = self.leads_to(old, entry).is_some_and(|leads| {
                leads.directory == new.directory || leads.directory == old.directory
            });
            if own || kind(entry) == DependencyKind::Build || entry.is("optional") {
                continue;
            }
            let mut entry = entry.clone();
            entry
                .rebase(&old.directory, &new.directory)
                .map_err(|why| (new_path.clone(), why))?;
            if let Some(last) = entry.table.last_mut() {
                "dev-dependencies".clone_into(last);
            }
            let shared = self.shared(&new.directory);
            self.book.change(new_path, |text| {
                add(text, &entry, shared.as_deref(), &new.directory)
            })?;
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
        let mut fates: BTreeMap<String, Fate> = BTreeMap::new();
        let text = self.book.text(new_path)?;
        let wrong = |why: String| (new_path.clone(), why);
        let there = entries::dependencies(&text).map_err(wrong)?;
        for entry in &said.entries {
            let leads = self.leads_to(old, entry);
            let fate = if leads.is_some_and(|leads| leads.directory == new.directory) {
                Fate::Own
            } else {
                let key = leads.and_then(|leads| key_of(new, leads, entry));
                fate(&there, key.as_ref().unwrap_or(&entry.key))
            };
            fates.insert(entry.key.clone(), fate);
        }
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
        more.retain(|(name, list)| name != "default" || !list.is_empty());
        self.book
            .change(new_path, |text| features::join(text, &more))
    }

    /// Tests and their like that the manifest has to name.
    fn targets(&mut self, old: &str, new_path: &TreePath) -> Result<(), Wrong> {
        let wrong = |why: String| (new_path.clone(), why);
        let found = targets::named(self.structure, self.mapping, self.library, self.texts);
        for target in &found {
            let said = table_of(old, target).map_err(wrong)?;
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
        let wrong = |why: String| (new_path.clone(), why);
        let document = entries::parse(old).map_err(wrong)?;
        let said = document
            .get("package")
            .and_then(|package| package.get("build")?.as_str());
        let Some(said) = said.filter(|said| *said != "build.rs") else {
            return Ok(());
        };
        if self.mapping.is_replaced(self.library.module) {
            return Ok(());
        }
        let line = format!("build = \"{said}\"");
        self.book.change(new_path, |text| {
            entries::put_line(text, &["package".to_owned()], "build", &line)
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
        let mut more = asked(self.mapping.world, self.library, said);
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
        let Some((path, root)) = workspace::root(self.texts, &old.directory) else {
            return Ok(());
        };
        self.book.change(&path, |text| {
            workspace::without(text, &root, &old.directory)
        })
    }

    fn lock(&mut self, old: &Package, new: &Package, kept: &[String]) -> Result<(), Wrong> {
        let mut at = Some(old.directory.clone());
        let path = std::iter::from_fn(|| {
            let here = at.clone()?;
            at = here.parent();
            Some(here)
        })
        .filter_map(|directory| directory.join("Cargo.lock").ok())
        .find(|path| self.texts.exists(path));
        let Some(path) = path else { return Ok(()) };
        let mut lock = Lock::read(&self.book.text(&path)?);
        let brought = lock.dependencies(&old.name).unwrap_or_default();
        let same = |entry: &str, name: &str| entry.split(' ').next() == Some(name);
        let tests =
            !targets::named(self.structure, self.mapping, self.library, self.texts).is_empty();
        if !self.mapping.is_replaced(self.library.module) || tests {
            let mut all = lock.dependencies(&new.name).unwrap_or_default();
            all.extend(brought.iter().cloned());
            all.retain(|entry| !same(entry, &old.name) && !same(entry, &new.name));
            lock.set(&new.name, all);
        }
        lock.redirect(&old.name, &new.name);
        if self.shim.is_some() {
            let mut left: Vec<String> = brought
                .into_iter()
                .filter(|entry| kept.iter().any(|name| same(entry, name)))
                .collect();
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
pub(super) fn asked(world: &World, library: &Library, said: &Said) -> Vec<String> {
    let (Some(old), Some(new)) = (
        world.packages.get(library.package),
        world.packages.get(library.target),
    ) else {
        return Vec::new();
    };
    let mut found: Vec<String> = Vec::new();
    for entry in &said.entries {
        let name = crate_name(&entry.key);
        let leads = old.dependencies.iter().any(|known| {
            let same = known.name == name && known.kind == kind(entry);
            same && known.directory.as_ref() == Some(&new.directory)
        });
        if !leads || kind(entry) != DependencyKind::Normal {
            continue;
        }
        found.extend(entry.features());
        if entry.default_features() != Some(false) {
            found.push("default".to_owned());
        }
    }
    found
}

/// The table that an entry stands in, as a kind.
pub(super) fn kind(entry: &Entry) -> DependencyKind {
    match entry.table.last().map(String::as_str) {
        Some("dev-dependencies") => DependencyKind::Dev,
        Some("build-dependencies") => DependencyKind::Build,
        _ => DependencyKind::Normal,
    }
}

/// What lists may say of a dependency: optional only where every line is.
pub(super) fn fate(there: &[Entry], key: &str) -> Fate {
    let mut own = there
        .iter()
        .filter(|entry| entry.key == key && kind(entry) != DependencyKind::Dev)
        .peekable();
    if own.peek().is_none() {
        return Fate::Gone;
    }
    Fate::Key {
        key: key.to_owned(),
        optional: own.all(|entry| entry.is("optional")),
    }
}

/// The table that a manifest has for a target.
fn table_of(text: &str, target: &targets::Named) -> Result<Option<Vec<(String, String)>>, String> {
    let document = entries::parse(text)?;
    let tables = document
        .get(target.table)
        .and_then(Item::as_array_of_tables);
    let found = tables.into_iter().flatten().find(|table| {
        let name = table.get("name").and_then(Item::as_str);
        name.is_some_and(|name| crate_name(name) == target.old)
    });
    Ok(found.map(|table| {
        let fields = table.iter().filter_map(|(name, item)| {
            let said = text.get(item.span()?)?;
            Some((name.to_owned(), said.trim().to_owned()))
        });
        fields.collect()
    }))
}

/// Adds a dependency, or joins it with the one that is there.
fn add(
    text: &str,
    entry: &Entry,
    shared: Option<&str>,
    directory: &TreePath,
) -> Result<String, String> {
    let there = entries::dependencies(text)?;
    let plain = |other: &&Entry| {
        other.key == entry.key && other.table.len() == 1 && kind(other) == DependencyKind::Normal
    };
    if let Some(known) = there.iter().find(plain)
        && known.table != entry.table
        && kind(entry) != DependencyKind::Build
    {
        same(known, entry, shared, directory)?;
        let asked = known.features();
        let enough = entry.features().iter().all(|name| asked.contains(name));
        if enough && !known.is("optional") && known.default_features() != Some(false) {
            return Ok(text.to_owned());
        }
    }
    let known = there
        .iter()
        .find(|other| other.key == entry.key && other.table == entry.table);
    let Some(known) = known else {
        let clash = there
            .iter()
            .find(|other| other.key == entry.key && other.table != entry.table);
        if let Some(clash) = clash {
            same(clash, entry, shared, directory)?;
        }
        return entries::insert(text, entry);
    };
    same(known, entry, shared, directory)?;
    let joined = join(known, entry);
    let text = if joined.fields == known.fields {
        text.to_owned()
    } else {
        entries::replace(text, known, &joined)?
    };
    if known.is("optional") && !joined.is("optional") {
        return now_always(&text, &joined.key);
    }
    Ok(text)
}

/// What a dependency asks for when two lines become one.
pub(super) fn join(known: &Entry, more: &Entry) -> Entry {
    let mut joined = known.clone();
    joined.ask(&more.features());
    if known.is("optional") && !more.is("optional") {
        joined.put("optional", None);
    }
    if known.default_features() == Some(false) && more.default_features() != Some(false) {
        joined.put("default-features", None);
        joined.put("default_features", None);
    }
    if let (Some(own), Some(other)) = (known.string("version"), more.string("version"))
        && numbers(&other) > numbers(&own)
    {
        joined.put("version", more.raw("version").map(str::to_owned));
    }
    joined
}

/// A dependency that was optional and is no more: lists name it no longer, and the feature that it
/// was stays as one.
pub(super) fn now_always(text: &str, key: &str) -> Result<String, String> {
    let there = features::features(text)?;
    let named = format!("dep:{key}");
    let explicit = there.iter().any(|(_, list)| list.contains(&named));
    let fates = BTreeMap::from([(
        key.to_owned(),
        Fate::Key {
            key: key.to_owned(),
            optional: false,
        },
    )]);
    let mut result = features::follow(text, &fates)?;
    if !explicit && features::of(&there, key).is_none() {
        result = features::put(&result, key, &[])?;
    }
    Ok(result)
}

/// Refuses two lines of one key that do not name the same thing.
fn same(
    known: &Entry,
    more: &Entry,
    shared: Option<&str>,
    directory: &TreePath,
) -> Result<(), String> {
    let fields = |entry: &Entry| -> Result<Entry, String> {
        if !entry.is("workspace") {
            return Ok(entry.clone());
        }
        let all = match shared {
            Some(text) => entries::table(text, &["workspace", "dependencies"])?,
            None => Vec::new(),
        };
        let found = all.into_iter().find(|other| other.key == entry.key);
        Ok(found.unwrap_or_else(|| entry.clone()))
    };
    if known.is("workspace") && more.is("workspace") {
        return Ok(());
    }
    let inherits = known.is("workspace") != more.is("workspace");
    let (known, more) = (fields(known)?, fields(more)?);
    let place = |entry: &Entry| {
        let path = entry.string("path");
        path.and_then(|path| directory.join(&path).ok())
    };
    let paths = inherits || place(&known) == place(&more);
    let compatible = match (known.string("version"), more.string("version")) {
        (Some(a), Some(b)) => are_compatible(&a, &b),
        _ => true,
    };
    let sources = ["git", "registry", "branch", "tag", "rev"]
        .iter()
        .all(|name| known.raw(name) == more.raw(name));
    if known.package() == more.package() && paths && compatible && sources {
        return Ok(());
    }
    Err(format!(
        "`{}` is asked for in two ways: `{}` here, and `{}` by what comes",
        known.key,
        known.line(),
        more.line()
    ))
}

/// The numbers of a requirement, for comparison.
fn numbers(requirement: &str) -> Vec<u64> {
    let plain = requirement.trim_start_matches(['^', '=', '~', '>', ' ', 'v']);
    plain
        .split('.')
        .map_while(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        })
        .collect()
}

/// Whether two plain requirements take the same major release.
fn are_compatible(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let plain =
        |text: &str| text.starts_with('^') || text.starts_with(|c: char| c.is_ascii_digit());
    let (own, other) = (numbers(a), numbers(b));
    let leading = own
        .iter()
        .chain(std::iter::repeat_n(&0, 3))
        .position(|number| *number != 0)
        .unwrap_or(0);
    let head =
        |numbers: &[u64]| -> Vec<u64> { numbers.iter().copied().take(leading + 1).collect() };
    plain(a) && plain(b) && head(&own) == head(&other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_join_where_they_take_the_same_release() {
        for (a, b, fits) in [
            ("1", "1.2.3", true),
            ("1", "2", false),
            ("0.4", "0.4.20", true),
            ("0.3", "0.4", false),
            ("=1.0.0", "1.0", false),
            ("0.0.3", "0.0.4", false),
        ] {
            assert_eq!(are_compatible(a, b), fits, "{a} {b}");
        }
    }

    #[test]
    fn dependencies_join() {
        let text = "[dependencies]\nlog = { version = \"0.4\", optional = true }\n\n[features]\nx = [\"dep:log\", \"log?/std\"]\n";
        let more = entries::dependencies(
            "[dependencies]\nlog = { version = \"0.4.20\", features = [\"std\"] }\n",
        )
        .unwrap();
        let joined = add(text, &more[0], None, &TreePath::root()).unwrap();
        assert_eq!(
            joined,
            "[dependencies]\nlog = { version = \"0.4.20\", features = [\"std\"] }\n\n[features]\nx = [\"log/std\"]\n"
        );
        let other = entries::dependencies("[dependencies]\nlog = \"0.3\"\n").unwrap();
        assert!(add(text, &other[0], None, &TreePath::root()).is_err());
    }
}
