//! Reads one `Cargo.toml`.

use coalesce_model::ByteSpan;
use toml_edit::{Item, TableLike};

use super::{
    DeclaredTarget, Dependency, DependencyKind, Edition, LISTED, ManifestFacts, TargetKind,
    crate_name,
};

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
    let package = root.get("package").or_else(|| root.get("project"));
    let package = package.and_then(Item::as_table_like);
    let mut facts = ManifestFacts::default();
    if let Some(package) = package {
        read_package(package, &mut facts);
    }
    if let Some(workspace) = root.get("workspace").and_then(Item::as_table_like) {
        read_workspace(workspace, &mut facts);
    }
    read_targets(root, package, &mut facts);
    read_dependencies(root, &mut facts.dependencies);
    facts
}

fn read_package(package: &dyn TableLike, facts: &mut ManifestFacts) {
    facts.package = text_of(package, "name");
    facts.edition = edition_of(package);
    let edition = package.get("edition").and_then(Item::as_table_like);
    let inherited = edition.and_then(|edition| edition.get("workspace")?.as_bool());
    facts.edition_inherited = inherited.unwrap_or(false);
    facts.build = build_of(package);
}

fn read_workspace(workspace: &dyn TableLike, facts: &mut ManifestFacts) {
    facts.workspace = true;
    let shared = workspace.get("package").and_then(Item::as_table_like);
    facts.workspace_edition = shared.and_then(edition_of);
    let dependencies = workspace.get("dependencies");
    dependencies_of(
        dependencies,
        DependencyKind::Workspace,
        &mut facts.dependencies,
    );
}

fn edition_of(table: &dyn TableLike) -> Option<Edition> {
    Edition::of(&text_of(table, "edition")?)
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
        let auto = match kind {
            TargetKind::Bench => "autobenches".to_owned(),
            _ => format!("auto{name}s"),
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
    DeclaredTarget {
        kind,
        name: text_of(table, "name"),
        path: text_of(table, "path"),
        edition: edition_of(table),
    }
}

fn read_dependencies(root: &toml_edit::Table, into: &mut Vec<Dependency>) {
    read_tables(root, into);
    let mut of_systems = Vec::new();
    if let Some(targets) = root.get("target").and_then(Item::as_table_like) {
        for (_, target) in targets.iter() {
            if let Some(target) = target.as_table_like() {
                read_tables(target, &mut of_systems);
            }
        }
    }
    for dependency in &mut of_systems {
        dependency.is_unconditional = false;
    }
    into.append(&mut of_systems);
    if let Some(patches) = root.get("patch").and_then(Item::as_table_like) {
        for (_, source) in patches.iter() {
            dependencies_of(Some(source), DependencyKind::Patch, into);
        }
    }
}

fn read_tables(table: &dyn TableLike, into: &mut Vec<Dependency>) {
    dependencies_of(table.get("dependencies"), DependencyKind::Normal, into);
    for key in ["dev-dependencies", "dev_dependencies"] {
        dependencies_of(table.get(key), DependencyKind::Dev, into);
    }
    for key in ["build-dependencies", "build_dependencies"] {
        dependencies_of(table.get(key), DependencyKind::Build, into);
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
            is_unconditional: details.and_then(|details| details.get("optional")?.as_bool())
                != Some(true),
            kind,
        });
    }
}
