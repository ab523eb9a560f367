//! Which crate may use which: the table that keeps the arrows of `ARCHITECTURE.md`.

use crate::repository::File;

/// For each package the workspace members that it may depend on, tests included. A new edge is a
/// commit of its own, with its reason.
const EDGES: &[(&str, &[&str])] = &[
    ("coalesce-model", &[]),
    ("coalesce-tree", &["coalesce-model"]),
    // Manifests are read and edited without the front end of a language: built and tested in seconds.
    ("coalesce-cargo", &["coalesce-model"]),
    ("coalesce-rust", &["coalesce-cargo", "coalesce-model"]),
    ("coalesce-kernels", &["coalesce-model"]),
    ("coalesce-python", &["coalesce-model"]),
    ("coalesce-text", &["coalesce-model"]),
    ("coalesce-index", &["coalesce-model"]),
    // The languages are there for its tests only: outlines come in ready-made.
    (
        "coalesce-clones",
        &[
            "coalesce-kernels",
            "coalesce-model",
            "coalesce-python",
            "coalesce-rust",
        ],
    ),
    (
        "coalesce-plan",
        &["coalesce-clones", "coalesce-index", "coalesce-model"],
    ),
    (
        "coalesce-lint",
        &["coalesce-index", "coalesce-model", "coalesce-tree"],
    ),
    ("coalesce-apply", &["coalesce-model", "coalesce-tree"]),
    ("coalesce-report", &["coalesce-model"]),
    // The protocol alone: the program carries the tools out.
    ("coalesce-mcp", &["coalesce-model", "coalesce-report"]),
    // Stands on the engine as any other program would.
    (
        "coalesce-lsp",
        &[
            "coalesce-engine",
            "coalesce-model",
            "coalesce-plan",
            "coalesce-text",
            "coalesce-tree",
        ],
    ),
    ("coalesce-verify", &["coalesce-model"]),
    // All that leads from manifests to a changed tree; programs stand on it.
    (
        "coalesce-engine",
        &[
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
    ),
    (
        "coalesce",
        &[
            "coalesce-apply",
            "coalesce-clones",
            "coalesce-engine",
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
            // Behind the feature `devices`: the one place where the two halves meet.
            "core-gpu",
            "gpu-sim",
        ],
    ),
    // End to end; the report for its differences, the languages for what soaks.
    (
        "coalesce-tests",
        &[
            "coalesce",
            "coalesce-kernels",
            "coalesce-model",
            "coalesce-python",
            "coalesce-report",
            "coalesce-rust",
        ],
    ),
    ("core-gpu-driver", &[]),
    ("gpu-sim", &["core-gpu-driver"]),
    // No edge from the toolkit to it, nor from it to the toolkit: they have the parsers in common.
    (
        "gpu-ast",
        &["core-gpu-driver", "core-gpu-memory", "gpu-sim"],
    ),
    ("core-gpu-memory", &["core-gpu-driver", "gpu-sim"]),
    (
        "core-gpu",
        &["core-gpu-driver", "core-gpu-memory", "gpu-sim"],
    ),
    ("core-gpu-etcd", &["core-gpu"]),
    ("core-gpu-python", &["core-gpu", "gpu-sim"]),
    ("optimization-gpu", &["core-gpu"]),
    ("optimization-gpu-memory", &["core-gpu"]),
    ("optimization-gpu-profiler", &["core-gpu"]),
    ("optimization-gpu-wrapper", &["core-gpu"]),
    // All beside the first are there for `weights`, which compares units that are given.
    (
        "xtask",
        &[
            "coalesce",
            "coalesce-clones",
            // `judge` asks it what a tree has.
            "coalesce-engine",
            "coalesce-model",
            "coalesce-python",
            "coalesce-rust",
            "coalesce-tree",
        ],
    ),
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
        let Some((_, allowed)) = EDGES.iter().find(|(name, _)| *name == package) else {
            problems.push(format!(
                "{}: `{package}` is not in the table of allowed edges",
                file.path
            ));
            continue;
        };
        for dependency in dependencies(&manifest) {
            let member = EDGES.iter().any(|(name, _)| *name == dependency);
            if member && !allowed.contains(&dependency.as_str()) {
                problems.push(format!(
                    "{}: `{package}` must not use `{dependency}`",
                    file.path
                ));
            }
            if dependency == "anyhow" && !ANYHOW.contains(&package) {
                problems.push(format!("{}: `{package}` must not use `anyhow`", file.path));
            }
        }
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

fn dependencies(manifest: &toml::Table) -> Vec<String> {
    ["dependencies", "dev-dependencies", "build-dependencies"]
        .iter()
        .filter_map(|section| manifest.get(*section)?.as_table())
        .flat_map(|table| table.keys().cloned())
        .collect()
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
