//! Which features of one package are certain where code of another one stands under features of its
//! own: by what the manifests say, and only by that.

use std::collections::{BTreeMap, BTreeSet};

use toml_edit::{Item, TableLike};

use super::{
    Tree,
    condition_scopes::{ConditionScope, ConditionScopes},
    conditions::inside,
};
use crate::{discover::crate_name, resolve::CrateId};

/// What manifests say about features, each read once.
pub(crate) struct Features<'a> {
    tree: Tree<'a>,
    manifests: BTreeMap<usize, Manifest>,
    scopes: ConditionScopes<'a>,
}

/// What a manifest says about features.
#[derive(Clone, Default)]
struct Manifest {
    /// What each feature brings.
    features: BTreeMap<String, Vec<String>>,
    /// Dependencies by their name in the manifest: the package, and the features that they have.
    dependencies: BTreeMap<String, Dependency>,
    /// `required-features` of its programs, tests, examples and benchmarks, by name in code.
    required: BTreeMap<String, Vec<String>>,
}

/// The feature that a condition asks for.
fn feature_of(condition: &str) -> Option<&str> {
    condition.strip_prefix("feature=\"")?.strip_suffix('"')
}

/// Whether a condition never holds for the other crates that name something: they have a crate as it is without tests.
pub(crate) fn is_off_for_others(condition: &str) -> bool {
    let mut parts = inside(condition, "all").into_iter().flatten();
    ConditionScopes::is_of_one_crate(condition) || parts.any(is_off_for_others)
}

/// What each feature of a manifest brings.
fn features_of(root: &dyn TableLike) -> BTreeMap<String, Vec<String>> {
    let features = root.get("features").and_then(Item::as_table_like);
    let features = features.into_iter().flat_map(|table| table.iter());
    features
        .map(|(name, list)| (name.to_owned(), strings(Some(list))))
        .collect()
}

/// `required-features` of the targets that a manifest names.
fn required_of(root: &dyn TableLike) -> BTreeMap<String, Vec<String>> {
    let kinds = ["bin", "test", "example", "bench"].into_iter();
    let targets = kinds.filter_map(|kind| root.get(kind)?.as_array_of_tables());
    let targets = targets.flat_map(|targets| targets.iter());
    let required = targets.filter_map(|target| {
        let name = target.get("name")?.as_str()?;
        let list = strings(target.get("required-features"));
        Some((crate_name(name), list))
    });
    required.collect()
}

/// The strings of a list.
fn strings(list: Option<&Item>) -> Vec<String> {
    let list = list.and_then(Item::as_array);
    let list = list.into_iter().flat_map(|list| list.iter());
    list.filter_map(|one| Some(one.as_str()?.to_owned()))
        .collect()
}

#[derive(Clone, Default)]
struct Dependency {
    package: String,
    features: Vec<String>,
}

impl<'a> Features<'a> {
    pub fn new(tree: Tree<'a>) -> Self {
        Self {
            tree,
            manifests: BTreeMap::new(),
            scopes: ConditionScopes::new(tree),
        }
    }

    /// Whether a condition of what is in the crate `target` holds wherever the conditions `own` of code of the crate
    /// `user` do.
    pub fn implies(
        &mut self,
        (user, own): (CrateId, &BTreeSet<String>),
        target: CrateId,
        condition: &str,
    ) -> bool {
        if own.contains(condition) && self.is_shared(user, target, condition) {
            return true;
        }
        let parts = |word: &str| inside(condition, word);
        if let Some(parts) = parts("any") {
            return parts
                .iter()
                .any(|part| self.implies((user, own), target, part));
        }
        if let Some(parts) = parts("all") {
            return parts
                .iter()
                .all(|part| self.implies((user, own), target, part));
        }
        if let Some([inner]) = parts("not").as_deref() {
            return user != target && is_off_for_others(inner);
        }
        let Some(name) = feature_of(condition) else {
            return false;
        };
        let package = |krate: CrateId| self.tree.world[krate].package;
        self.has_feature((package(user), own), package(target), name)
    }

    /// Whether it is not known if a condition that code has is one of what is in another crate, too.
    pub fn is_in_doubt(
        &mut self,
        (user, own): (CrateId, &BTreeSet<String>),
        target: CrateId,
        condition: &str,
    ) -> bool {
        user != target
            && own.contains(condition)
            && self.scopes.of(condition, user, target) == ConditionScope::Unknown
    }

    /// Whether a condition that holds in one crate holds in the other as well.
    fn is_shared(&mut self, user: CrateId, target: CrateId, condition: &str) -> bool {
        if user == target {
            return true;
        }
        let package = |krate: CrateId| self.tree.world[krate].package;
        let same_package = package(user) == package(target);
        match self.scopes.of(condition, user, target) {
            ConditionScope::Everything => true,
            ConditionScope::Package => same_package,
            ConditionScope::Crate | ConditionScope::Unknown => false,
        }
    }

    /// Whether a package has a feature on wherever the conditions `own` of code of the package `user` hold.
    fn has_feature(
        &mut self,
        (user, own): (usize, &BTreeSet<String>),
        target: usize,
        name: &str,
    ) -> bool {
        let named = own.iter().filter_map(|one| feature_of(one));
        let switched = self.closure(user, named.map(str::to_owned).collect());
        if user == target {
            return switched.contains(name);
        }
        let granted = self.granted(user, &switched, target);
        self.closure(target, granted).contains(name)
    }

    /// The conditions that cargo asks for before it compiles a target: its `required-features`.
    pub fn required(&mut self, package: usize, target: &str) -> Vec<String> {
        let manifest = self.manifest(package);
        let required = manifest.required.get(target).into_iter().flatten();
        required.map(|name| format!("feature=\"{name}\"")).collect()
    }

    /// The features that a package's dependency on another one has, given what of its own is on.
    fn granted(&mut self, user: usize, own: &BTreeSet<String>, target: usize) -> Vec<String> {
        let target = self.tree.world.package(target).name.clone();
        let manifest = self.manifest(user);
        let mut found = Vec::new();
        let known = manifest.dependencies.iter();
        for (key, dependency) in known.filter(|(_, known)| known.package == target) {
            found.extend(dependency.features.iter().cloned());
            let asked = own.iter().filter_map(|said| said.split_once('/'));
            let asked = asked.filter(|(name, _)| name.trim_end_matches('?') == key);
            let asked = asked.filter(|(_, feature)| !feature.is_empty());
            found.extend(asked.map(|(_, feature)| feature.to_owned()));
        }
        found
    }

    /// All that features of a package switch on, themselves among it.
    fn closure(&mut self, package: usize, first: Vec<String>) -> BTreeSet<String> {
        let manifest = self.manifest(package);
        let mut waiting = first;
        let mut found = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            waiting.extend(manifest.features.get(&name).into_iter().flatten().cloned());
            found.insert(name);
        }
        found
    }

    fn manifest(&mut self, package: usize) -> Manifest {
        if let Some(known) = self.manifests.get(&package) {
            return known.clone();
        }
        let read = self.read(package).unwrap_or_default();
        self.manifests.insert(package, read.clone());
        read
    }

    fn read(&self, package: usize) -> Option<Manifest> {
        let manifest = self.tree.world.manifest_of(package);
        let text = self.tree.texts.text(&manifest)?;
        let document = toml_edit::Document::parse(&*text).ok()?;
        let root = document.as_table();
        let mut manifest = Manifest {
            features: features_of(root),
            required: required_of(root),
            ..Manifest::default()
        };
        let systems = root.get("target").and_then(Item::as_table_like);
        let systems = systems.into_iter().flat_map(|table| table.iter());
        let systems = systems.filter_map(|(_, item)| item.as_table_like());
        for table in systems.chain(std::iter::once::<&dyn TableLike>(root)) {
            self.read_dependencies(table, &mut manifest.dependencies);
        }
        Some(manifest)
    }

    /// Adds the dependencies of the manifest, or of its part for a system. What tests ask for besides is not there
    /// for others.
    fn read_dependencies(&self, table: &dyn TableLike, found: &mut BTreeMap<String, Dependency>) {
        let tables = ["dependencies", "dev-dependencies"].into_iter();
        let tables = tables.filter_map(|kind| Some((kind, table.get(kind)?.as_table_like()?)));
        for (kind, (key, item)) in
            tables.flat_map(|(kind, table)| table.iter().map(move |entry| (kind, entry)))
        {
            if kind != "dependencies" && found.contains_key(key) {
                continue;
            }
            let dependency = self.dependency(key, item);
            let known = found.entry(key.to_owned()).or_default();
            known.package = dependency.package;
            known.features.extend(dependency.features);
        }
    }

    /// A dependency, with what the workspace says of it.
    fn dependency(&self, key: &str, item: &Item) -> Dependency {
        let own = item.as_table_like();
        let inherits = own.and_then(|own| own.get("workspace")?.as_bool()) == Some(true);
        let mut found = Dependency {
            package: key.to_owned(),
            features: Vec::new(),
        };
        let mut defaults = true;
        if inherits {
            self.inherited(key, &mut |table| {
                defaults &= read_dependency(table, &mut found);
            });
        }
        if let Some(own) = own {
            let said = read_dependency(own, &mut found);
            // A member cannot take back what the workspace asks for.
            defaults = if inherits {
                defaults || said && own.contains_key("default-features")
            } else {
                said
            };
        }
        if defaults {
            found.features.push("default".to_owned());
        }
        found
    }

    /// Reads what `[workspace.dependencies]` says of a name, wherever in the tree that stands.
    fn inherited(&self, key: &str, read: &mut dyn FnMut(&dyn TableLike)) {
        let mut manifests = self.tree.texts.paths().iter();
        let root = manifests.find_map(|path| {
            if path.file_name() != "Cargo.toml" {
                return None;
            }
            let text = self.tree.texts.text(path)?;
            let said = text.contains("[workspace.dependencies") || text.contains("[workspace]");
            said.then_some(text)
        });
        let document = root.and_then(|text| toml_edit::Document::parse(text.to_string()).ok());
        let found = document.as_ref().and_then(|document| {
            let workspace = document.get("workspace")?.as_table_like()?;
            let all = workspace.get("dependencies")?.as_table_like()?;
            all.get(key)?.as_table_like()
        });
        if let Some(found) = found {
            read(found);
        }
    }
}

/// Reads a dependency's table; whether it has the default features.
fn read_dependency(table: &dyn TableLike, found: &mut Dependency) -> bool {
    if let Some(package) = table.get("package").and_then(Item::as_str) {
        package.clone_into(&mut found.package);
    }
    let list = table.get("features").and_then(Item::as_array);
    let list = list.into_iter().flat_map(|list| list.iter());
    let names = list.filter_map(|one| Some(one.as_str()?.to_owned()));
    found.features.extend(names);
    table.get("default-features").and_then(Item::as_bool) != Some(false)
}
