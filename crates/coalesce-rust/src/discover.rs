//! Packages, workspaces and targets, from parsed `Cargo.toml` files and the list of files.
//!
//! Cargo is never run. Only what names modules is read: targets, editions, dependencies.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, TreePath};
use serde::{Deserialize, Serialize};
use toml_edit::{Item, TableLike};

/// An edition of the language, as far as paths differ.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Edition {
    /// `use` paths start at the crate root.
    #[default]
    E2015,
    /// `use` paths are like all others.
    E2018,
    /// As 2018.
    E2021,
    /// As 2018.
    E2024,
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TargetKind {
    /// The library.
    Lib,
    /// A program.
    Bin,
    /// An example.
    Example,
    /// An integration test.
    Test,
    /// A benchmark.
    Bench,
    /// The build script.
    BuildScript,
}

/// A dependency of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The name in code, underscored.
    pub name: String,
    /// The package it names.
    pub package: String,
    /// Its path relative to the manifest that says it.
    pub path: Option<String>,
    /// Whether the workspace says what it is (`workspace = true`).
    pub inherited: bool,
    /// The table that it stands in.
    pub kind: DependencyKind,
}

/// Which targets see a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DependencyKind {
    /// All but the build script.
    Normal,
    /// Tests, examples, benches.
    Dev,
    /// The build script.
    Build,
    /// `[workspace.dependencies]`: what members may inherit.
    Workspace,
    /// `[patch.…]`: where a package really comes from.
    Patch,
}

/// A target that the manifest spells out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredTarget {
    /// What it is.
    pub kind: TargetKind,
    /// `name = …`
    pub name: Option<String>,
    /// `path = …`
    pub path: Option<String>,
    /// `edition = …`
    pub edition: Option<Edition>,
}

/// What a `Cargo.toml` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFacts {
    /// `[package] name`; `None` for a virtual manifest.
    pub package: Option<String>,
    /// `edition`, of the package or, in a virtual manifest, of `[workspace.package]`.
    pub edition: Option<Edition>,
    /// `edition.workspace = true`
    pub edition_inherited: bool,
    /// `[workspace.package] edition`
    pub workspace_edition: Option<Edition>,
    /// Whether there is a `[workspace]`.
    pub workspace: bool,
    /// `build = "…"`, or `Some("")` for `build = false`.
    pub build: Option<String>,
    /// Targets that are spelled out.
    pub targets: Vec<DeclaredTarget>,
    /// Kinds whose targets are not found by themselves (`autobins = false`).
    pub no_auto: Vec<TargetKind>,
    /// Dependencies of all tables.
    pub dependencies: Vec<Dependency>,
    /// Why it does not parse.
    pub problem: Option<(ByteSpan, String)>,
}

/// A package of the tree.
#[derive(Clone, Debug)]
pub struct Package {
    /// `[package] name`
    pub name: String,
    /// The directory of its manifest.
    pub directory: TreePath,
    /// Its targets.
    pub targets: Vec<Target>,
    /// Its dependencies, inherited ones filled in; paths relative to the tree.
    pub dependencies: Vec<ResolvedDependency>,
}

/// A dependency with its directory in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedDependency {
    /// The name in code, underscored.
    pub name: String,
    /// The package it names.
    pub package: String,
    /// Directory in the tree, for path dependencies.
    pub directory: Option<TreePath>,
    /// Which targets see it.
    pub kind: DependencyKind,
}

/// A target of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What it is.
    pub kind: TargetKind,
    /// The crate's name in code.
    pub name: String,
    /// Root file.
    pub path: TreePath,
    /// Its edition.
    pub edition: Edition,
    /// How it was found, as a sentence fragment.
    pub reason: String,
}

impl Edition {
    fn of(text: &str) -> Option<Self> {
        match text {
            "2015" => Some(Self::E2015),
            "2018" => Some(Self::E2018),
            "2021" => Some(Self::E2021),
            "2024" => Some(Self::E2024),
            _ => None,
        }
    }
}

impl TargetKind {
    /// The kind as roots call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lib => "lib",
            Self::Bin => "bin",
            Self::Example => "example",
            Self::Test => "test",
            Self::Bench => "bench",
            Self::BuildScript => "build-script",
        }
    }

    /// The directory whose files are targets of this kind, below the package.
    const fn directory(self) -> &'static str {
        match self {
            Self::Lib | Self::BuildScript => "",
            Self::Bin => "src/bin",
            Self::Example => "examples",
            Self::Test => "tests",
            Self::Bench => "benches",
        }
    }
}

/// Kinds that a manifest lists as `[[kind]]`.
const LISTED: [TargetKind; 4] = [
    TargetKind::Bin,
    TargetKind::Example,
    TargetKind::Test,
    TargetKind::Bench,
];

/// A package's name as code writes it.
#[must_use]
pub fn crate_name(package: &str) -> String {
    package.replace('-', "_")
}

/// What a `Cargo.toml` says.
#[must_use]
pub fn manifest_facts(text: &str) -> ManifestFacts {
    let document = match toml_edit::Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let span = ByteSpan::from_range(error.span().unwrap_or(0..0));
            return ManifestFacts {
                problem: Some((span, error.message().to_owned())),
                ..ManifestFacts::default()
            };
        }
    };
    let root = document.as_table();
    let package = root
        .get("package")
        .or_else(|| root.get("project"))
        .and_then(Item::as_table_like);
    let workspace = root.get("workspace").and_then(Item::as_table_like);
    let mut facts = ManifestFacts {
        package: package.and_then(|package| text_of(package, "name")),
        edition: package
            .and_then(|package| text_of(package, "edition"))
            .and_then(|text| Edition::of(&text)),
        edition_inherited: package
            .and_then(|package| {
                package
                    .get("edition")?
                    .as_table_like()?
                    .get("workspace")?
                    .as_bool()
            })
            .unwrap_or(false),
        workspace: workspace.is_some(),
        build: package.and_then(build_of),
        ..ManifestFacts::default()
    };
    if let Some(workspace) = workspace {
        let shared = workspace.get("package").and_then(Item::as_table_like);
        facts.workspace_edition = shared
            .and_then(|shared| text_of(shared, "edition"))
            .and_then(|text| Edition::of(&text));
        dependencies_of(
            workspace.get("dependencies"),
            DependencyKind::Workspace,
            &mut facts.dependencies,
        );
    }
    read_targets(root, package, &mut facts);
    read_dependencies(root, &mut facts.dependencies);
    facts
}

fn text_of(table: &dyn TableLike, key: &str) -> Option<String> {
    Some(table.get(key)?.as_str()?.to_owned())
}

fn build_of(package: &dyn TableLike) -> Option<String> {
    let item = package.get("build")?;
    match item.as_bool() {
        Some(false) => Some(String::new()),
        Some(true) => None,
        None => item.as_str().map(str::to_owned),
    }
}

fn read_targets(
    root: &toml_edit::Table,
    package: Option<&dyn TableLike>,
    facts: &mut ManifestFacts,
) {
    if let Some(lib) = root.get("lib").and_then(Item::as_table_like) {
        facts.targets.push(declared(TargetKind::Lib, lib));
    }
    for kind in LISTED {
        let name = kind.name();
        for table in tables(root.get(name)) {
            facts.targets.push(declared(kind, table));
        }
        let auto = if kind == TargetKind::Bench {
            "autobenches".to_owned()
        } else {
            format!("auto{name}s")
        };
        if package.and_then(|package| package.get(&auto)?.as_bool()) == Some(false) {
            facts.no_auto.push(kind);
        }
    }
    if package.and_then(|package| package.get("autolib")?.as_bool()) == Some(false) {
        facts.no_auto.push(TargetKind::Lib);
    }
}

fn tables(item: Option<&Item>) -> Vec<&dyn TableLike> {
    match item {
        Some(Item::ArrayOfTables(array)) => {
            array.iter().map(|table| table as &dyn TableLike).collect()
        }
        Some(Item::Value(toml_edit::Value::Array(array))) => array
            .iter()
            .filter_map(|value| Some(value.as_inline_table()? as &dyn TableLike))
            .collect(),
        _ => Vec::new(),
    }
}

fn declared(kind: TargetKind, table: &dyn TableLike) -> DeclaredTarget {
    let edition = text_of(table, "edition").and_then(|text| Edition::of(&text));
    DeclaredTarget {
        kind,
        name: text_of(table, "name"),
        path: text_of(table, "path"),
        edition,
    }
}

fn read_dependencies(root: &toml_edit::Table, into: &mut Vec<Dependency>) {
    let mut read = |table: &dyn TableLike| {
        dependencies_of(table.get("dependencies"), DependencyKind::Normal, into);
        for key in ["dev-dependencies", "dev_dependencies"] {
            dependencies_of(table.get(key), DependencyKind::Dev, into);
        }
        for key in ["build-dependencies", "build_dependencies"] {
            dependencies_of(table.get(key), DependencyKind::Build, into);
        }
    };
    read(root);
    if let Some(targets) = root.get("target").and_then(Item::as_table_like) {
        for (_, target) in targets.iter() {
            if let Some(target) = target.as_table_like() {
                read(target);
            }
        }
    }
    if let Some(patches) = root.get("patch").and_then(Item::as_table_like) {
        for (_, source) in patches.iter() {
            dependencies_of(Some(source), DependencyKind::Patch, into);
        }
    }
}

fn dependencies_of(item: Option<&Item>, kind: DependencyKind, into: &mut Vec<Dependency>) {
    let Some(table) = item.and_then(Item::as_table_like) else {
        return;
    };
    for (key, value) in table.iter() {
        let details = value.as_table_like();
        let text = |name: &str| details.and_then(|details| text_of(details, name));
        into.push(Dependency {
            name: crate_name(key),
            package: text("package").unwrap_or_else(|| key.to_owned()),
            path: text("path"),
            inherited: details
                .and_then(|details| details.get("workspace")?.as_bool())
                .unwrap_or(false),
            kind,
        });
    }
}

/// Finds the packages of a tree with their targets, sorted by directory.
#[must_use]
pub fn packages(manifests: &[(TreePath, &ManifestFacts)], paths: &[TreePath]) -> Vec<Package> {
    let by_directory: BTreeMap<TreePath, &ManifestFacts> = manifests
        .iter()
        .filter_map(|(path, facts)| Some((path.parent()?, *facts)))
        .collect();
    let tree = Tree {
        by_directory,
        paths,
    };
    tree.by_directory
        .iter()
        .filter_map(|(directory, facts)| {
            let name = facts.package.clone()?;
            let targets = tree.targets(directory, facts, &name);
            let dependencies = tree.dependencies(directory, facts);
            Some(Package {
                name,
                directory: directory.clone(),
                targets,
                dependencies,
            })
        })
        .collect()
}

struct Tree<'a> {
    by_directory: BTreeMap<TreePath, &'a ManifestFacts>,
    paths: &'a [TreePath],
}

impl Tree<'_> {
    fn has(&self, path: &TreePath) -> bool {
        self.paths.binary_search(path).is_ok()
    }

    /// The manifest of the workspace that a package belongs to.
    fn workspace(&self, directory: &TreePath) -> Option<(TreePath, &ManifestFacts)> {
        let mut at = Some(directory.clone());
        while let Some(directory) = at {
            if let Some(facts) = self
                .by_directory
                .get(&directory)
                .filter(|facts| facts.workspace)
            {
                return Some((directory, facts));
            }
            at = directory.parent();
        }
        None
    }

    fn edition(&self, directory: &TreePath, facts: &ManifestFacts) -> Edition {
        if facts.edition_inherited {
            let workspace = self.workspace(directory);
            return workspace
                .and_then(|(_, workspace)| workspace.workspace_edition)
                .unwrap_or_default();
        }
        facts.edition.unwrap_or_default()
    }

    fn dependencies(&self, directory: &TreePath, facts: &ManifestFacts) -> Vec<ResolvedDependency> {
        let own = facts.dependencies.iter();
        let own = own.filter(|dependency| {
            !matches!(
                dependency.kind,
                DependencyKind::Workspace | DependencyKind::Patch
            )
        });
        own.map(|dependency| self.dependency(directory, dependency))
            .collect()
    }

    fn dependency(&self, directory: &TreePath, dependency: &Dependency) -> ResolvedDependency {
        let workspace = self.workspace(directory);
        let mut resolved = ResolvedDependency {
            name: dependency.name.clone(),
            package: dependency.package.clone(),
            directory: dependency
                .path
                .as_deref()
                .and_then(|path| directory.join(path).ok()),
            kind: dependency.kind,
        };
        let Some((root, workspace)) = workspace else {
            return resolved;
        };
        let shared = |kind, name: &str| {
            workspace
                .dependencies
                .iter()
                .find(|other| other.kind == kind && other.name == name)
        };
        if dependency.inherited
            && let Some(shared) = shared(DependencyKind::Workspace, &dependency.name)
        {
            resolved.package.clone_from(&shared.package);
            resolved.directory = shared.path.as_deref().and_then(|path| root.join(path).ok());
        }
        if resolved.directory.is_none() {
            let patch = workspace.dependencies.iter().find(|other| {
                other.kind == DependencyKind::Patch && other.package == resolved.package
            });
            resolved.directory = patch.and_then(|patch| root.join(patch.path.as_deref()?).ok());
        }
        resolved
    }

    fn targets(&self, directory: &TreePath, facts: &ManifestFacts, package: &str) -> Vec<Target> {
        let edition = self.edition(directory, facts);
        let mut found = Vec::new();
        self.library(directory, facts, package, &mut found);
        for kind in LISTED {
            let declared: Vec<&DeclaredTarget> = facts
                .targets
                .iter()
                .filter(|target| target.kind == kind)
                .collect();
            for target in &declared {
                if let Some((path, name)) = self.declared_path(directory, package, target) {
                    let reason = format!("[[{}]] of package {package}", kind.name());
                    found.push(Target {
                        kind,
                        name,
                        path,
                        edition: target.edition.unwrap_or(edition),
                        reason,
                    });
                }
            }
            let off = facts.no_auto.contains(&kind)
                || (edition == Edition::E2015 && !declared.is_empty());
            if !off {
                self.automatic(directory, package, (kind, edition), &mut found);
            }
        }
        self.build_script(directory, facts, package, &mut found);
        found
    }

    fn library(
        &self,
        directory: &TreePath,
        facts: &ManifestFacts,
        package: &str,
        found: &mut Vec<Target>,
    ) {
        let declared = facts
            .targets
            .iter()
            .find(|target| target.kind == TargetKind::Lib);
        let path = declared
            .and_then(|target| target.path.as_deref())
            .unwrap_or("src/lib.rs");
        let Ok(path) = directory.join(path) else {
            return;
        };
        if !self.has(&path) || (declared.is_none() && facts.no_auto.contains(&TargetKind::Lib)) {
            return;
        }
        let name = declared
            .and_then(|target| target.name.as_deref())
            .unwrap_or(package);
        let edition = declared
            .and_then(|target| target.edition)
            .unwrap_or(self.edition(directory, facts));
        let reason = format!("library of package {package}");
        found.push(Target {
            kind: TargetKind::Lib,
            name: crate_name(name),
            path,
            edition,
            reason,
        });
    }

    fn build_script(
        &self,
        directory: &TreePath,
        facts: &ManifestFacts,
        package: &str,
        found: &mut Vec<Target>,
    ) {
        let path = facts.build.as_deref().unwrap_or("build.rs");
        let Ok(path) = directory.join(path) else {
            return;
        };
        if facts.build.as_deref() != Some("") && self.has(&path) {
            let name = "build_script_build".to_owned();
            let edition = self.edition(directory, facts);
            let reason = format!("build script of package {package}");
            found.push(Target {
                kind: TargetKind::BuildScript,
                name,
                path,
                edition,
                reason,
            });
        }
    }

    fn declared_path(
        &self,
        directory: &TreePath,
        package: &str,
        target: &DeclaredTarget,
    ) -> Option<(TreePath, String)> {
        let name = target.name.clone().or_else(|| {
            let path = target.path.as_deref()?.rsplit('/').next()?;
            Some(path.trim_end_matches(".rs").to_owned())
        })?;
        let code = crate_name(&name);
        if let Some(path) = &target.path {
            let path = directory.join(path).ok()?;
            return self.has(&path).then_some((path, code));
        }
        let folder = target.kind.directory();
        let mut guesses = vec![
            format!("{folder}/{name}.rs"),
            format!("{folder}/{name}/main.rs"),
        ];
        if target.kind == TargetKind::Bin && name == package {
            guesses.insert(0, "src/main.rs".to_owned());
        }
        let paths = guesses
            .iter()
            .filter_map(|guess| directory.join(guess).ok());
        paths
            .into_iter()
            .find(|path| self.has(path))
            .map(|path| (path, code))
    }

    fn automatic(
        &self,
        directory: &TreePath,
        package: &str,
        (kind, edition): (TargetKind, Edition),
        found: &mut Vec<Target>,
    ) {
        let mut add = |path: TreePath, name: &str| {
            let code = crate_name(name);
            let known = found
                .iter()
                .any(|target| target.kind == kind && (target.path == path || target.name == code));
            if !known {
                let reason = format!("{} of package {package}, by its place", kind.name());
                found.push(Target {
                    kind,
                    name: code,
                    path,
                    edition,
                    reason,
                });
            }
        };
        if kind == TargetKind::Bin
            && let Ok(path) = directory.join("src/main.rs")
            && self.has(&path)
        {
            add(path, package);
        }
        let Ok(folder) = directory.join(kind.directory()) else {
            return;
        };
        let below = format!("{}/", folder.as_str());
        let start = self
            .paths
            .partition_point(|path| path.as_str() < below.as_str());
        for path in self
            .paths
            .iter()
            .skip(start)
            .take_while(|path| path.as_str().starts_with(&below))
        {
            let rest = path.as_str().get(below.len()..).unwrap_or_default();
            match rest.split_once('/') {
                None if path.extension() == Some("rs") => add(path.clone(), path.file_stem()),
                Some((name, "main.rs")) => add(path.clone(), name),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use coalesce_model::{MemoryTexts, Texts};

    use super::*;

    fn targets(fixture: &str) -> Vec<String> {
        let texts = MemoryTexts::fixture(fixture);
        let manifests: Vec<(TreePath, ManifestFacts)> = texts
            .paths()
            .iter()
            .filter(|path| path.file_name() == "Cargo.toml")
            .map(|path| (path.clone(), manifest_facts(&texts.text(path).unwrap())))
            .collect();
        let manifests: Vec<(TreePath, &ManifestFacts)> = manifests
            .iter()
            .map(|(path, facts)| (path.clone(), facts))
            .collect();
        let mut lines = Vec::new();
        for package in packages(&manifests, texts.paths()) {
            for target in &package.targets {
                lines.push(format!(
                    "{} {} {} {:?}",
                    target.kind.name(),
                    target.name,
                    target.path,
                    target.edition
                ));
            }
            for dependency in &package.dependencies {
                let directory = dependency
                    .directory
                    .as_ref()
                    .map_or("-".to_owned(), ToString::to_string);
                lines.push(format!(
                    "{} needs {} = {} at {directory}",
                    package.name, dependency.name, dependency.package
                ));
            }
        }
        lines
    }

    #[test]
    fn targets_are_found_by_place_and_by_declaration() {
        let found = targets(
            "
//- Cargo.toml
[workspace]
members = [\"a\"]
[workspace.package]
edition = \"2021\"
[workspace.dependencies]
base = { path = \"b\", package = \"b-lib\" }
//- a/Cargo.toml
[package]
name = \"a-x\"
edition.workspace = true
[dependencies]
base.workspace = true
renamed = { package = \"serde\", version = \"1\" }
[[bin]]
name = \"tool\"
path = \"cli/tool.rs\"
//- a/build.rs
//- a/cli/tool.rs
//- a/src/bin/one.rs
//- a/src/bin/two/main.rs
//- a/src/bin/two/helper.rs
//- a/src/lib.rs
//- a/src/main.rs
//- a/tests/common/mod.rs
//- a/tests/it.rs
//- b/Cargo.toml
package = { name = \"b-lib\" }
lib = { name = \"b_core\", path = \"lib.rs\" }
//- b/lib.rs
",
        );
        assert_eq!(
            found,
            [
                "lib a_x a/src/lib.rs E2021",
                "bin tool a/cli/tool.rs E2021",
                "bin a_x a/src/main.rs E2021",
                "bin one a/src/bin/one.rs E2021",
                "bin two a/src/bin/two/main.rs E2021",
                "test it a/tests/it.rs E2021",
                "build-script build_script_build a/build.rs E2021",
                "a-x needs base = b-lib at b",
                "a-x needs renamed = serde at -",
                "lib b_core b/lib.rs E2015",
            ]
        );
    }
}
