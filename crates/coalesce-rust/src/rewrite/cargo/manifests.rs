//! Writes what packages get into their manifests and lock files.

use std::collections::BTreeSet;

use coalesce_cargo::{
    dependencies::{self, Entry},
    features, join, lock, package, workspace,
};
use coalesce_model::{ByteSpan, Evidence, Finding, Form, Rewrite, Safety, TreePath};

use super::{Gets, Wanted, Wish, gates, is_macro_package, known_edges, package_at, sees};
use crate::{
    discover::{DependencyKind, Package, crate_name},
    rewrite::{
        cycles,
        mapping::Mapping,
        packages::{Book, Wrong, are_off_for_all, shared_entry},
    },
};

/// Manifests and lock files on the way to what they will be.
pub(super) struct Writing<'w, 'm> {
    pub mapping: &'w Mapping<'m>,
    /// The packages that something leaves.
    pub sources: BTreeSet<usize>,
    pub book: Book<'w>,
    pub rewrites: Vec<Rewrite>,
    pub notes: Vec<Finding>,
}

/// A manifest that gets something.
pub(super) struct User<'w> {
    pub package: &'w Package,
    pub path: TreePath,
    pub entries: Vec<Entry>,
    pub features: features::Features,
}

impl User<'_> {
    /// The features as gates go by them.
    fn gates(&self) -> gates::Package<'_> {
        gates::Package {
            features: &self.features,
        }
    }

    /// A change of what the manifest says.
    pub fn rewrite(&self, from: String, to: String, reason: String) -> Rewrite {
        Rewrite {
            path: self.path.clone(),
            span: ByteSpan::default(),
            form: Form::Configuration,
            evidence: Evidence::Resolved,
            from,
            to,
            reason,
            safety: Safety::Safe,
        }
    }
}

impl<'w> Writing<'w, '_> {
    /// Gives a package what it gets.
    pub fn add(&mut self, gets: &Gets, wish: &Wish) -> Result<(), Wrong> {
        let user = self.user(gets.package)?;
        let (wanted, by) = (&gets.wanted, &wish.by);
        self.refuse_macros(gets, &wish.by)
            .map_err(|why| (user.path.clone(), why))?;
        let gate = self.gate(&user, gets, wish)?;
        let known = self.known(&user, gets, wish);
        if !known.is_empty() {
            return self.turn_on(&user, &known, gate.as_ref(), by);
        }
        let new = match wanted {
            Wanted::Tree { package } => self.tree_entries(&user, *package, gets.kind)?,
            Wanted::Outside { name, source } => {
                self.outside_entries(&user, *source, name, gets.kind)?
            }
        };
        if new.is_empty() {
            return Err((user.path.clone(), unknown_source(wanted, by)));
        }
        for entry in new {
            self.put(&user, entry, gate.as_ref(), wish)?;
        }
        self.lock(&user, wanted)
    }

    /// An error where a package would need what arrives in a package of procedural macros: that can give it
    /// nothing else.
    fn refuse_macros(&self, gets: &Gets, by: &str) -> Result<(), String> {
        if let Wanted::Tree { package } = gets.wanted
            && is_macro_package(self.mapping.world, self.mapping.texts, package)
            && self.arrives_in(package)
        {
            let name = &self.package(package).name;
            return Err(format!(
                "`{by}` would need `{name}`, which can give it nothing but procedural macros"
            ));
        }
        Ok(())
    }

    /// Whether something goes to a package: who needs that of it needs more than it had.
    fn arrives_in(&self, package: usize) -> bool {
        let world = self.mapping.world;
        let mut crates = world.crates.iter().filter(|krate| krate.package == package);
        crates.any(|krate| {
            let mut changes = self.mapping.changes.iter();
            changes.any(|change| change.to.split("::").next() == Some(krate.canonical.as_str()))
        })
    }

    fn package(&self, at: usize) -> &'w Package {
        self.mapping.world.package(at)
    }

    pub fn user(&mut self, index: usize) -> Result<User<'w>, Wrong> {
        let path = self.mapping.world.manifest_of(index);
        let text = self.book.text(&path)?;
        let wrong = |why: coalesce_cargo::Error| (path.clone(), why.to_string());
        let package = self.package(index);
        Ok(User {
            package,
            entries: dependencies::dependencies(&text).map_err(wrong)?,
            features: features::features(&text).map_err(wrong)?,
            path,
        })
    }

    /// The package of the tree that an entry leads to.
    pub fn leads_to(&self, user: &Package, entry: &Entry) -> Option<usize> {
        let (kind, name) = (entry.kind(), crate_name(&entry.key));
        let mut known = user.dependencies.iter();
        let known = known.find(|known| known.name == name && known.kind == kind)?;
        package_at(self.mapping.world, known.directory.as_ref())
    }

    /// The lines of a package by which its code came by what it needs now: those that lead to a
    /// package which something leaves, themselves or by what they need.
    fn providers<'u>(&self, user: &'u User<'_>, kind: DependencyKind) -> Vec<&'u Entry> {
        let edges = known_edges(self.mapping.world);
        let reaches = |of: usize| {
            let mut sources = self.sources.iter();
            sources.any(|source| of == *source || cycles::way(&edges, of, *source).is_some())
        };
        let lines = user.entries.iter().filter(|entry| {
            let leads = self.leads_to(user.package, entry);
            sees(kind, entry.kind()) && leads.is_some_and(reaches)
        });
        lines.collect()
    }

    /// The features without which nothing of the package needs it. What was there whatever features
    /// were on stays so.
    fn gate(
        &mut self,
        user: &User<'_>,
        gets: &Gets,
        wish: &Wish,
    ) -> Result<Option<BTreeSet<String>>, Wrong> {
        if gets.kind != DependencyKind::Normal {
            return Ok(None);
        }
        let own = user.gates();
        if let Wanted::Tree { .. } = gets.wanted {
            let providers = self.providers(user, gets.kind);
            if !providers.is_empty() {
                let turned_on = own.activators(&providers);
                return Ok(turned_on.and_then(|on| own.gate(&wish.conditions, Some(&on))));
            }
        }
        let Some(known) = self.optional_before(user, gets)? else {
            return Ok(None);
        };
        let gate = own.gate(&wish.conditions, None);
        Ok(gate.or_else(|| (!known.is_empty()).then_some(known)))
    }

    /// The features of the package that turn it on where the code comes from: what was optional there is as much
    /// so here, where the features are. `None` where it was always on.
    fn optional_before(
        &mut self,
        user: &User<'_>,
        gets: &Gets,
    ) -> Result<Option<BTreeSet<String>>, Wrong> {
        let mut known = BTreeSet::new();
        for source in self.origins(gets) {
            let there = self.user(source)?;
            let lines = there.entries.iter().filter(|entry| match &gets.wanted {
                Wanted::Tree { package } => self.leads_to(there.package, entry) == Some(*package),
                Wanted::Outside { name, .. } => crate_name(&entry.key) == *name,
            });
            let lines: Vec<&Entry> = lines
                .filter(|entry| sees(gets.kind, entry.kind()))
                .collect();
            if lines.iter().any(|entry| !entry.is("optional")) {
                return Ok(None);
            }
            known.extend(there.gates().activators(&lines).unwrap_or_default());
        }
        known.retain(|name| features::of(&user.features, name).is_some());
        Ok(Some(known))
    }

    /// The packages that had it for the code that needs it now.
    fn origins(&self, gets: &Gets) -> BTreeSet<usize> {
        match &gets.wanted {
            Wanted::Outside { source, .. } => BTreeSet::from([*source]),
            Wanted::Tree { package } => {
                let mut sources = self.sources.clone();
                sources.retain(|source| *source != gets.package && source != package);
                sources
            }
        }
    }

    /// The lines that give the package what it wants already, though not always.
    fn known(&self, user: &User<'_>, gets: &Gets, wish: &Wish) -> Vec<Entry> {
        let leads = |entry: &Entry| match &gets.wanted {
            Wanted::Tree { package } => self.leads_to(user.package, entry) == Some(*package),
            Wanted::Outside { name, .. } => crate_name(&entry.key) == *name,
        };
        let lines = user.entries.iter();
        let lines: Vec<&Entry> = lines
            .filter(|entry| sees(gets.kind, entry.kind()) && leads(entry))
            .collect();
        let everywhere = lines.iter().any(|entry| entry.target().is_none());
        if !everywhere && !self.is_covered(user, gets, wish, &lines) {
            return Vec::new();
        }
        let lines = lines.into_iter();
        let lines = lines.filter(|entry| !everywhere || entry.target().is_none());
        lines.cloned().collect()
    }

    /// Whether lines for some systems are enough: the code is for those, or comes by what is.
    fn is_covered(&self, user: &User<'_>, gets: &Gets, wish: &Wish, lines: &[&Entry]) -> bool {
        let systems: BTreeSet<&str> = lines.iter().filter_map(|entry| entry.target()).collect();
        let providers = self.providers(user, gets.kind);
        let by_provider = !providers.is_empty()
            && providers.iter().all(|entry| {
                let target = entry.target();
                target.is_some_and(|target| systems.contains(target))
            });
        let says = |condition: &String| {
            let mut systems = systems.iter();
            systems.any(|system| plain(system) == *condition)
        };
        let by_condition = wish.conditions.iter().all(|all| all.iter().any(says));
        !systems.is_empty() && (by_provider || by_condition)
    }

    /// Sees to it that a dependency that is there is on where it is needed.
    fn turn_on(
        &mut self,
        user: &User<'_>,
        known: &[Entry],
        gate: Option<&BTreeSet<String>>,
        by: &str,
    ) -> Result<(), Wrong> {
        let own = user.gates();
        for entry in known.iter().filter(|entry| entry.is("optional")) {
            match gate {
                Some(gate) if own.is_on(entry, gate) => continue,
                Some(gate) => self.activate(user, &entry.key, gate)?,
                None => self.book.change(&user.path, |text| {
                    let mut always = entry.clone();
                    always.put("optional", None);
                    let old = dependencies::find(text, entry)?;
                    let text = dependencies::replace(text, &old, &always)?;
                    Ok(join::now_always(&text, &entry.key)?)
                })?,
            }
            self.tell(user, &entry.key, by);
        }
        Ok(())
    }

    fn activate(
        &mut self,
        user: &User<'_>,
        key: &str,
        gate: &BTreeSet<String>,
    ) -> Result<(), Wrong> {
        for name in gate {
            let known = features::of(&user.features, name).is_some()
                || features::implicit(&user.features, &user.entries).contains(name);
            // A feature that comes with what moves brings its list along.
            if known {
                self.book
                    .change(&user.path, |text| Ok(features::activate(text, name, key)?))?;
            }
        }
        Ok(())
    }

    fn tell(&mut self, user: &User<'_>, package: &str, by: &str) {
        let reason = format!("`{by}` needs it");
        self.rewrites
            .push(user.rewrite(String::new(), package.to_owned(), reason));
    }

    /// Writes a line, and the features that turn it on.
    fn put(
        &mut self,
        user: &User<'_>,
        mut entry: Entry,
        gate: Option<&BTreeSet<String>>,
        wish: &Wish,
    ) -> Result<(), Wrong> {
        let optional = gate.is_some() && entry.kind() == DependencyKind::Normal;
        entry.put("optional", optional.then(|| "true".to_owned()));
        self.book
            .change(&user.path, |text| Ok(dependencies::insert(text, &entry)?))?;
        if let Some(gate) = gate.filter(|_| optional) {
            self.activate(user, &entry.key, gate)?;
        }
        let name = self.name_of(user, &entry);
        self.tell(user, &name, &wish.by);
        Ok(())
    }

    /// The package that an entry names, which the workspace may say for it.
    fn name_of(&mut self, user: &User<'_>, entry: &Entry) -> String {
        let shared = workspace::root(self.mapping.texts, &user.package.directory)
            .filter(|_| entry.is("workspace"))
            .and_then(|(path, _)| self.book.text(&path).ok())
            .and_then(|text| workspace::shared_dependencies(&text).ok());
        let shared = shared.into_iter().flatten();
        let found = shared.into_iter().find(|shared| shared.key == entry.key);
        found.map_or_else(|| entry.package(), |found| found.package())
    }

    /// The lines for a package of the tree: as the workspace says it, else by its path, with the
    /// version that others give.
    fn tree_entries(
        &mut self,
        user: &User<'_>,
        of: usize,
        kind: DependencyKind,
    ) -> Result<Vec<Entry>, Wrong> {
        let target = self.package(of);
        if let Some(named) = self.line_by_name(user, of) {
            let tables = self.tables(user, of, kind).into_iter();
            return Ok(tables.map(|path| named.in_table(path)).collect());
        }
        let mut entry = Entry::new(&[table(kind)], &target.name);
        let shared = match shared_entry(&mut self.book, self.mapping.texts, user.package, target)? {
            Some(shared) => Some(shared.key),
            None => self.share(user, target)?,
        };
        match shared {
            Some(key) => leave_to_workspace(&mut entry, key, user),
            None => {
                let version = self.version_of(target);
                entry.put("version", version.map(|version| format!("\"{version}\"")));
                let path = target.directory.relative_to(&user.package.directory);
                entry.put("path", Some(format!("\"{path}\"")));
                if are_off_for_all(self.mapping, of)? {
                    entry.put("default-features", Some("false".to_owned()));
                }
            }
        }
        let tables = self.tables(user, of, kind).into_iter();
        Ok(tables.map(|path| entry.in_table(path)).collect())
    }

    /// A line that a package has for another one of the tree where that is of no use, as one that is always on: cargo
    /// takes no second name for one package.
    fn line_by_name(&self, user: &User<'_>, of: usize) -> Option<Entry> {
        let mut lines = user.entries.iter();
        let known = lines.find(|entry| self.leads_to(user.package, entry) == Some(of));
        let target = &self.package(of).name;
        let mut named = known.filter(|known| known.key != *target)?.clone();
        named.put("optional", None);
        Some(named)
    }

    /// Has the workspace say what a package of the tree is, where all that the user has of the tree is
    /// said so; the key that it gets there.
    fn share(&mut self, user: &User<'_>, target: &Package) -> Result<Option<String>, Wrong> {
        let Some((path, root)) = workspace::root(self.mapping.texts, &user.package.directory)
        else {
            return Ok(None);
        };
        let lines = user.entries.iter();
        let mut of_tree = lines
            .filter(|entry| self.leads_to(user.package, entry).is_some())
            .peekable();
        let inherits = of_tree.peek().is_some() && of_tree.all(|entry| entry.is("workspace"));
        let text = self.book.text(&path)?;
        let shared =
            workspace::shared_dependencies(&text).map_err(|why| (path.clone(), why.to_string()))?;
        let taken = shared.iter().any(|entry| entry.key == target.name);
        if !inherits || taken {
            return Ok(None);
        }
        let entry = self.shared_line(target, &root, &shared);
        self.book
            .change(&path, |text| Ok(dependencies::insert(text, &entry)?))?;
        Ok(Some(target.name.clone()))
    }

    /// The line by which the workspace at `root` says what a package is, with its version where all others that it
    /// has by their paths have theirs.
    fn shared_line(&mut self, target: &Package, root: &TreePath, shared: &[Entry]) -> Entry {
        let mut entry = Entry::new(
            &["workspace".to_owned(), "dependencies".to_owned()],
            &target.name,
        );
        let mut versions = shared.iter().filter(|entry| entry.raw("path").is_some());
        let versions = versions.all(|entry| entry.raw("version").is_some());
        let version = self.own_version(target).filter(|_| versions);
        entry.put("version", version.map(|version| format!("\"{version}\"")));
        let directory = target.directory.relative_to(root);
        entry.put("path", Some(format!("\"{directory}\"")));
        entry
    }

    /// The version that others ask for beside the path of a package.
    fn version_of(&mut self, target: &Package) -> Option<String> {
        let world = self.mapping.world;
        (0..world.packages.len()).find_map(|at| {
            let text = self.mapping.texts.text(&world.manifest_of(at))?;
            let entries = dependencies::dependencies(&text).ok()?;
            let mut named = entries
                .iter()
                .filter(|entry| entry.package() == target.name);
            named.find_map(|entry| entry.raw("path").and(entry.string("version")))
        })
    }

    /// The version that a package has, its workspace's where it says so.
    fn own_version(&mut self, target: &Package) -> Option<String> {
        let path = target.directory.join("Cargo.toml").ok()?;
        let own = package::version(&self.book.text(&path).ok()?).ok()?;
        own.or_else(|| {
            let (root, _) = workspace::root(self.mapping.texts, &target.directory)?;
            package::shared_version(&self.book.text(&root).ok()?).ok()?
        })
    }

    /// The tables for a package of the tree: where all that moves comes from packages that have it on
    /// some systems alone, so has this one; and where the code came by lines for some systems alone.
    fn tables(&self, user: &User<'_>, of: usize, kind: DependencyKind) -> Vec<Vec<String>> {
        let plain = vec![vec![table(kind)]];
        let target = self.package(of);
        let providers = self.providers(user, kind);
        if !providers.is_empty() {
            return system_tables(&providers, kind).map_or(plain, Vec::from_iter);
        }
        let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
        for source in self.sources.iter().filter(|source| **source != of) {
            let entries = self.entries_before(*source);
            let named = entries.iter();
            let named: Vec<&Entry> = named
                .filter(|entry| entry.package() == target.name)
                .collect();
            let Some(tables) = system_tables(&named, kind) else {
                return plain;
            };
            found.extend(tables);
        }
        if found.is_empty() {
            plain
        } else {
            found.into_iter().collect()
        }
    }

    /// The dependencies that a package had before anything was edited.
    fn entries_before(&self, package: usize) -> Vec<Entry> {
        let manifest = self.mapping.world.manifest_of(package);
        let text = self.mapping.texts.text(&manifest);
        let entries = text.and_then(|text| dependencies::dependencies(&text).ok());
        entries.unwrap_or_default()
    }

    /// The lines that another package has for a library, as they are written there; in a table of the
    /// kind that is wanted, one for each system where there is none for all.
    fn outside_entries(
        &mut self,
        user: &User<'_>,
        source: usize,
        name: &str,
        kind: DependencyKind,
    ) -> Result<Vec<Entry>, Wrong> {
        let there = self.user(source)?;
        let mut found: Vec<Entry> = there.entries;
        found.retain(|entry| crate_name(&entry.key) == name);
        if let Some(at) = found.iter().position(|entry| entry.target().is_none()) {
            found = vec![found.swap_remove(at)];
        }
        let wrong = |why: coalesce_cargo::Error| (user.path.clone(), why.to_string());
        let mut made = Vec::new();
        for mut entry in found {
            self.as_here(user, there.package, &mut entry)
                .map_err(wrong)?;
            let path = match entry.kind() {
                DependencyKind::Normal => table_for(&entry, kind),
                _ => entry.table.clone(),
            };
            made.push(entry.in_table(path));
        }
        Ok(made)
    }

    /// A line of one package as another one says it: paths from its folder, and what it inherits only
    /// from a workspace that both are in.
    fn as_here(
        &mut self,
        user: &User<'_>,
        there: &Package,
        entry: &mut Entry,
    ) -> Result<(), coalesce_cargo::Error> {
        let roots = [&there.directory, &user.package.directory]
            .map(|directory| workspace::root(self.mapping.texts, directory));
        let [old, new] = roots;
        if entry.is("workspace") && old != new {
            return self.inherit_before(entry, old, &user.package.directory);
        }
        let shared = new.and_then(|(path, _)| self.book.text(&path).ok());
        let shared = shared.map(|text| workspace::shared_dependencies(&text));
        let shared = shared.transpose()?.unwrap_or_default();
        let beside = user.entries.iter().filter(|entry| entry.target().is_none());
        let inherits = beside.clone().any(|entry| entry.is("workspace"))
            && beside.clone().all(|entry| {
                entry.is("workspace") || shared.iter().all(|shared| shared.key != entry.key)
            });
        let same = shared.iter().find(|shared| shared.key == entry.key);
        if let Some(shared) = same.filter(|shared| inherits && shared.gives(entry)) {
            entry.leave_to(shared);
            let mut inherited = beside.filter(|entry| entry.is("workspace"));
            entry.braces = inherited.all(|entry| entry.braces);
            return Ok(());
        }
        entry.rebase(&there.directory, &user.package.directory)
    }

    /// Has a line say itself what it inherited from the workspace `old`.
    fn inherit_before(
        &self,
        entry: &mut Entry,
        old: Option<(TreePath, TreePath)>,
        directory: &TreePath,
    ) -> Result<(), coalesce_cargo::Error> {
        let shared = old
            .as_ref()
            .and_then(|(path, _)| self.mapping.texts.text(path));
        let shared = shared.map(|text| workspace::shared_dependencies(&text));
        let shared = shared.transpose()?.unwrap_or_default();
        let own = shared.into_iter().find(|shared| shared.key == entry.key);
        let own = own.ok_or_else(|| coalesce_cargo::Error::Gone(entry.key.clone()))?;
        entry.inherit(&own);
        let root = old.map_or_else(TreePath::root, |(_, root)| root);
        entry.rebase(&root, directory)
    }

    /// Adds the edge to the lock file, if there is one.
    fn lock(&mut self, user: &User<'_>, wanted: &Wanted) -> Result<(), Wrong> {
        let Some(path) = lock::path(self.mapping.texts, &user.package.directory) else {
            return Ok(());
        };
        let (name, source) = self.locked_as(wanted);
        let mut is_locked = true;
        self.book.change(&path, |text| {
            let mut lock = lock::Lock::read(text);
            is_locked = lock.depend(&user.package.name, &name, source.as_deref());
            Ok(if is_locked {
                lock.text()
            } else {
                text.to_owned()
            })
        })?;
        if !is_locked {
            self.notes.push(not_locked(path, &user.package.name, &name));
        }
        Ok(())
    }

    /// By which name the lock file knows what is wanted, and the package whose edge to it is followed.
    fn locked_as(&self, wanted: &Wanted) -> (String, Option<String>) {
        match wanted {
            Wanted::Tree { package } => (self.package(*package).name.clone(), None),
            Wanted::Outside { name, source } => {
                let there = self.package(*source);
                let mut known = there.dependencies.iter();
                let known = known.find(|known| known.name == *name);
                let name = known.map(|known| known.package.clone());
                (name.unwrap_or_default(), Some(there.name.clone()))
            }
        }
    }
}

/// Why there is no line for what is wanted.
fn unknown_source(wanted: &Wanted, by: &str) -> String {
    match wanted {
        Wanted::Tree { .. } => format!("`{by}` needs a package whose manifest is not read"),
        Wanted::Outside { name, .. } => {
            format!("`{by}` names `{name}`, and where that comes from is not known")
        }
    }
}

/// Has a line inherit all from the workspace's of that key, written as the others of the user are.
fn leave_to_workspace(entry: &mut Entry, key: String, user: &User<'_>) {
    entry.key = key;
    entry.put("workspace", Some("true".to_owned()));
    let mut inherited = user.entries.iter().filter(|entry| entry.is("workspace"));
    entry.braces = inherited.all(|entry| entry.braces);
}

/// The tables of lines, for code of a kind, where all of them are for some systems alone.
fn system_tables(lines: &[&Entry], kind: DependencyKind) -> Option<BTreeSet<Vec<String>>> {
    let systems = lines.iter().all(|entry| entry.target().is_some());
    let tables = lines.iter().map(|entry| table_for(entry, kind)).collect();
    (systems && !lines.is_empty()).then_some(tables)
}

/// The table of a line, for code of a kind.
fn table_for(entry: &Entry, kind: DependencyKind) -> Vec<String> {
    let mut path = entry.table.clone();
    if let Some(last) = path.last_mut() {
        *last = table(kind);
    }
    path
}

fn not_locked(path: TreePath, user: &str, name: &str) -> Finding {
    let message = format!("`{user}` now depends on `{name}`, which is not locked");
    Finding::note(path, message)
        .with_help("`cargo update --workspace` writes the lock file anew".to_owned())
}

/// The table of a kind.
fn table(kind: DependencyKind) -> String {
    let name = match kind {
        DependencyKind::Dev => "dev-dependencies",
        DependencyKind::Build => "build-dependencies",
        DependencyKind::Normal | DependencyKind::Workspace | DependencyKind::Patch => {
            "dependencies"
        }
    };
    name.to_owned()
}

/// The condition that the name of a table is, as conditions of modules are compared.
fn plain(target: &str) -> String {
    let inner = target
        .strip_prefix("cfg(")
        .and_then(|rest| rest.strip_suffix(')'));
    inner.unwrap_or(target).split_whitespace().collect()
}
