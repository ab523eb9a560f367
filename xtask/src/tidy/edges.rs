//! Which crate may use which: the table that keeps the arrows of `ARCHITECTURE.md`.

use std::collections::BTreeSet;

use crate::repository::File;

/// What a package may use of the workspace.
struct Row {
    package: &'static str,
    /// In what others get.
    uses: &'static [&'static str],
    /// In its tests, benches and examples besides.
    tests_use: &'static [&'static str],
}

/// For each package the workspace members that it may depend on. A new edge is a commit of its own, with
/// its reason.
const EDGES: &[Row] = &[
    Row {
        package: "coalesce-model",
        uses: &[],
        tests_use: &[],
    },
    Row {
        package: "coalesce-tree",
        uses: &["coalesce-model"],
        tests_use: &[],
    },
    // Manifests are read and edited without the front end of a language: built and tested in seconds.
    Row {
        package: "coalesce-cargo",
        uses: &["coalesce-model"],
        tests_use: &[],
    },
    Row {
        package: "coalesce-rust",
        uses: &["coalesce-cargo", "coalesce-model"],
        tests_use: &[],
    },
    Row {
        package: "coalesce-kernels",
        uses: &["coalesce-model"],
        tests_use: &[],
    },
    Row {
        package: "coalesce-python",
        uses: &["coalesce-model"],
        tests_use: &[],
    },
    Row {
        package: "coalesce-text",
        uses: &["coalesce-model"],
        tests_use: &[],
    },
    Row {
        package: "coalesce-index",
        uses: &["coalesce-model"],
        tests_use: &[],
    },
    // The languages are there for its tests only: outlines come in ready-made.
    Row {
        package: "coalesce-clones",
        uses: &["coalesce-model"],
        tests_use: &["coalesce-kernels", "coalesce-python", "coalesce-rust"],
    },
    Row {
        package: "coalesce-plan",
        uses: &["coalesce-clones", "coalesce-index", "coalesce-model"],
        tests_use: &[],
    },
    Row {
        package: "coalesce-lint",
        uses: &["coalesce-index", "coalesce-model", "coalesce-tree"],
        tests_use: &[],
    },
    Row {
        package: "coalesce-apply",
        uses: &["coalesce-model", "coalesce-tree"],
        tests_use: &[],
    },
    Row {
        package: "coalesce-report",
        uses: &["coalesce-model"],
        tests_use: &[],
    },
    // The protocol alone: the program carries the tools out.
    Row {
        package: "coalesce-mcp",
        uses: &["coalesce-model", "coalesce-report"],
        tests_use: &[],
    },
    // Stands on the engine as any other program would.
    Row {
        package: "coalesce-lsp",
        uses: &[
            "coalesce-engine",
            "coalesce-model",
            "coalesce-plan",
            "coalesce-text",
            "coalesce-tree",
        ],
        tests_use: &[],
    },
    Row {
        package: "coalesce-verify",
        uses: &["coalesce-model"],
        tests_use: &[],
    },
    // All that leads from manifests to a changed tree; programs stand on it.
    Row {
        package: "coalesce-engine",
        uses: &[
            "coalesce-apply",
            "coalesce-clones",
            "coalesce-index",
            "coalesce-kernels",
            "coalesce-model",
            "coalesce-plan",
            "coalesce-python",
            "coalesce-report",
            "coalesce-rust",
            "coalesce-text",
            "coalesce-tree",
            "coalesce-verify",
        ],
        tests_use: &[],
    },
    // What many repositories have of each other; an engine for SQL joins, and is called as a program.
    Row {
        package: "coalesce-fleet",
        uses: &[
            "coalesce-clones",
            "coalesce-engine",
            "coalesce-model",
            "coalesce-tree",
        ],
        tests_use: &[],
    },
    // Behind the feature `devices`: the one place where the two halves meet.
    Row {
        package: "coalesce",
        uses: &[
            "coalesce-apply",
            "coalesce-clones",
            "coalesce-engine",
            "coalesce-fleet",
            "coalesce-index",
            "coalesce-lint",
            "coalesce-lsp",
            "coalesce-mcp",
            "coalesce-model",
            "coalesce-plan",
            "coalesce-python",
            "coalesce-report",
            "coalesce-rust",
            "coalesce-text",
            "coalesce-tree",
            "coalesce-verify",
            "core-gpu",
            "core-gpu-etcd",
        ],
        tests_use: &["gpu-sim"],
    },
    // End to end; the report for its differences.
    Row {
        package: "coalesce-tests",
        uses: &["coalesce", "coalesce-model", "coalesce-report"],
        tests_use: &["coalesce-kernels", "coalesce-python", "coalesce-rust"],
    },
    Row {
        package: "core-gpu-driver",
        uses: &[],
        tests_use: &[],
    },
    Row {
        package: "gpu-sim",
        uses: &["core-gpu-driver"],
        tests_use: &[],
    },
    // No edge from the toolkit to it, nor from it to the toolkit: they have the parsers in common.
    Row {
        package: "gpu-ast",
        uses: &["core-gpu-driver", "core-gpu-memory"],
        tests_use: &["gpu-sim"],
    },
    Row {
        package: "core-gpu-memory",
        uses: &["core-gpu-driver"],
        tests_use: &["gpu-sim"],
    },
    Row {
        package: "core-gpu",
        uses: &["core-gpu-driver", "core-gpu-memory"],
        tests_use: &["core-gpu-trials", "gpu-sim"],
    },
    // For tests alone: what all stores of slots are tried with, and machines of their own.
    Row {
        package: "core-gpu-trials",
        uses: &["core-gpu"],
        tests_use: &[],
    },
    Row {
        package: "core-gpu-etcd",
        uses: &["core-gpu"],
        tests_use: &["core-gpu-trials"],
    },
    Row {
        package: "core-gpu-postgres",
        uses: &["core-gpu"],
        tests_use: &["core-gpu-trials"],
    },
    Row {
        package: "core-gpu-python",
        uses: &["core-gpu"],
        tests_use: &["gpu-sim"],
    },
    Row {
        package: "optimization-gpu",
        uses: &["core-gpu"],
        tests_use: &[],
    },
    Row {
        package: "optimization-gpu-memory",
        uses: &["core-gpu"],
        tests_use: &[],
    },
    Row {
        package: "optimization-gpu-profiler",
        uses: &["core-gpu"],
        tests_use: &[],
    },
    Row {
        package: "optimization-gpu-wrapper",
        uses: &["core-gpu"],
        tests_use: &[],
    },
    // All beside the first are there for `weights`, which compares units that are given.
    // `judge` asks it what a tree has.
    Row {
        package: "xtask",
        uses: &[
            "coalesce",
            "coalesce-clones",
            "coalesce-engine",
            "coalesce-model",
            "coalesce-python",
            "coalesce-rust",
            "coalesce-tree",
        ],
        tests_use: &[],
    },
];

/// Packages that may use `anyhow`: where errors are printed. Libraries have typed errors.
const ANYHOW: &[&str] = &["coalesce", "coalesce-tests", "xtask"];

/// Edges that the table does not allow, and manifests that do not follow the house rules.
pub fn problems(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files {
        let Some(package) = package_folder(&file.path) else {
            continue;
        };
        let parsed = file
            .text
            .as_deref()
            .unwrap_or_default()
            .parse::<toml::Table>();
        let Ok(manifest) = parsed else {
            problems.push(format!("{}: not TOML", file.path));
            continue;
        };
        let Some(row) = EDGES.iter().find(|row| row.package == package) else {
            problems.push(format!(
                "{}: `{package}` is not in the table of allowed edges",
                file.path
            ));
            continue;
        };
        problems.extend(row.problems(&file.path, &manifest));
        problems.extend(house_rules(&file.path, package, &manifest));
    }
    problems
}

/// What the package of a manifest has to be called; `None` for what is no member.
fn package_folder(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("/Cargo.toml")?;
    match folder {
        "xtask" => return Some(folder),
        "tests" => return Some("coalesce-tests"),
        _ => {}
    }
    folder
        .strip_prefix("crates/")
        .filter(|name| !name.contains('/'))
}

impl Row {
    /// Dependencies that it does not have, those of tests apart, and edges that are there no more.
    fn problems(&self, path: &str, manifest: &toml::Table) -> Vec<String> {
        let built = dependencies(manifest, &["dependencies", "build-dependencies"]);
        let tested = dependencies(manifest, &["dev-dependencies"]);
        let package = self.package;
        let mut problems = self.forbidden(path, &built, &tested);
        let spent = self.uses.iter().filter(|name| !built.contains(**name));
        let tests_use = self.tests_use.iter();
        let untested = tests_use.filter(|name| !tested.contains(**name));
        problems.extend(spent.chain(untested).map(|name| {
            format!("{path}: `{package}` does not use `{name}` any more: take it off the table")
        }));
        let anyhow = built.contains("anyhow") || tested.contains("anyhow");
        if anyhow && !ANYHOW.contains(&package) {
            problems.push(format!("{path}: `{package}` must not use `anyhow`"));
        }
        problems
    }

    /// Members that it must not use.
    fn forbidden(
        &self,
        path: &str,
        built: &BTreeSet<String>,
        tested: &BTreeSet<String>,
    ) -> Vec<String> {
        let package = self.package;
        let is_member = |name: &&String| EDGES.iter().any(|row| row.package == name.as_str());
        let may_build = |name: &str| self.uses.contains(&name);
        let may_test = |name: &str| may_build(name) || self.tests_use.contains(&name);
        let built = built
            .iter()
            .filter(is_member)
            .filter(|name| !may_build(name));
        let built = built.map(|name| format!("{path}: `{package}` must not use `{name}`"));
        let tested = tested
            .iter()
            .filter(is_member)
            .filter(|name| !may_test(name));
        let tested =
            tested.map(|name| format!("{path}: tests of `{package}` must not use `{name}`"));
        built.chain(tested).collect()
    }
}

fn dependencies(manifest: &toml::Table, sections: &[&str]) -> BTreeSet<String> {
    let tables = sections
        .iter()
        .filter_map(|section| manifest.get(*section)?.as_table());
    tables.flat_map(|table| table.keys().cloned()).collect()
}

fn house_rules(path: &str, folder: &str, manifest: &toml::Table) -> Vec<String> {
    let at = |section: &str, key: &str| manifest.get(section).and_then(|table| table.get(key));
    let mut problems = Vec::new();
    if at("package", "name").and_then(toml::Value::as_str) != Some(folder) {
        problems.push(format!("{path}: the package is not named after its folder"));
    }
    if at("lints", "workspace").and_then(toml::Value::as_bool) != Some(true) {
        problems.push(format!("{path}: the workspace's lints are not switched on"));
    }
    problems
}
