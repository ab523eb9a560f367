//! The packages of a tree and their targets, declared and found by place.

use std::collections::BTreeMap;

use coalesce_model::TreePath;

use super::{
    DeclaredTarget, Dependency, DependencyKind, Edition, LISTED, ManifestFacts, Package,
    ResolvedDependency, Target, TargetKind, crate_name,
};

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
            is_unconditional: dependency.is_unconditional,
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
        found.extend(self.library(directory, facts, package));
        for kind in LISTED {
            let declared = facts.targets.iter().filter(|target| target.kind == kind);
            let declared: Vec<&DeclaredTarget> = declared.collect();
            let targets = declared.iter();
            found.extend(targets.filter_map(|target| {
                let (path, name) = self.declared_path(directory, package, target)?;
                Some(Target {
                    kind,
                    name,
                    path,
                    edition: target.edition.unwrap_or(edition),
                    reason: format!("[[{}]] of package {package}", kind.name()),
                })
            }));
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
    ) -> Option<Target> {
        let mut targets = facts.targets.iter();
        let declared = targets.find(|target| target.kind == TargetKind::Lib);
        let path = declared.and_then(|target| target.path.as_deref());
        let path = directory.join(path.unwrap_or("src/lib.rs")).ok()?;
        let automatic = !facts.no_auto.contains(&TargetKind::Lib);
        if !self.has(&path) || (declared.is_none() && !automatic) {
            return None;
        }
        let name = declared.and_then(|target| target.name.as_deref());
        let edition = declared.and_then(|target| target.edition);
        Some(Target {
            kind: TargetKind::Lib,
            name: crate_name(name.unwrap_or(package)),
            path,
            edition: edition.unwrap_or_else(|| self.edition(directory, facts)),
            reason: format!("library of package {package}"),
        })
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
    use crate::manifest::manifest_facts;

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
