//! `migrate --emit-tests`: tests for the user's own suite, as further files of the migration.

use std::path::Path;

use coalesce_model::{LanguageKind, Overlay, Texts as _, TreePath, manifest::GUARD_PACKAGE};
use coalesce_plan::{Operation, planned, planned_tree};
use coalesce_rust::{Dependency, RustGraph};

use crate::{Failure, MigrationPlan, Session};

/// Adds the guard tests to the migration, so that `rollback` takes them away again; their paths.
///
/// # Errors
/// When the directory is outside of the tree, or one of the files exists.
pub fn emit_tests(
    worked: &mut MigrationPlan,
    session: &Session,
    directory: &Path,
) -> Result<Vec<String>, Failure> {
    let directory = session
        .tree
        .tree_path(directory)
        .map_err(|error| Failure::user(error.to_string()))?;
    let guards = coalesce_plan::guard_tests(&worked.checked.changes);
    let mut files = placed(&directory, guards)?;
    let rust = worked.checked.changes.contains_key(&LanguageKind::Rust);
    if rust && !worked.refused() {
        let package = directory.join(GUARD_PACKAGE)?;
        files.extend(deprecations(worked, session, &package)?);
    }
    let mut written = Vec::new();
    for (path, text) in files {
        if session.tree.exists(&path) {
            let failure = Failure::user(format!("{path} exists already"));
            return Err(failure.hint("name another directory"));
        }
        written.push(path.to_string());
        worked.assembled.operations.push(Operation::Create {
            path,
            text,
            reason: "a guard test".to_owned(),
        });
    }
    Ok(written)
}

/// Files by their names in a directory, as files of the tree.
fn placed<N: AsRef<str>>(
    directory: &TreePath,
    files: impl IntoIterator<Item = (N, String)>,
) -> Result<Vec<(TreePath, String)>, Failure> {
    let mut placed = Vec::new();
    for (name, text) in files {
        placed.push((directory.join(name.as_ref())?, text));
    }
    Ok(placed)
}

/// A package that names each old name which the plan keeps; nothing when it keeps none.
fn deprecations(
    worked: &MigrationPlan,
    session: &Session,
    directory: &TreePath,
) -> Result<Vec<(TreePath, String)>, Failure> {
    let operations = &worked.assembled.operations;
    let after = planned_graph(session, operations);
    let overlay = planned_tree(&session.tree, operations);
    let changed: Vec<TreePath> = overlay.changed_paths().cloned().collect();
    let names = coalesce_rust::old_names(&after, &changed, &session.tree, &overlay);
    let dependencies = dependencies(&after, &overlay);
    let up = "../".repeat(directory.as_str().split('/').count());
    let manifests = worked.manifests.join(", ");
    let Some(made) = coalesce_rust::package(&names, &dependencies, &up, &manifests) else {
        return Ok(Vec::new());
    };
    let mut files = placed(directory, made)?;
    // The versions that the tree is built with, so that nothing has to be looked up.
    let of = names.first().map(|name| &name.package);
    if let Some(lock) = of.and_then(|package| lock(package, &overlay)) {
        files.push((directory.join("Cargo.lock")?, lock));
    }
    Ok(files)
}

/// The modules of Rust as the plan leaves them.
fn planned_graph(session: &Session, operations: &[Operation]) -> RustGraph {
    let part = &session.rust;
    let settings = &session.settings;
    planned(
        &part.language,
        &part.files,
        operations,
        settings,
        &session.tree,
    )
}

/// What a package of tests may depend on: the packages of the planned tree.
fn dependencies(after: &RustGraph, overlay: &Overlay<'_>) -> Vec<Dependency> {
    let read = |directory: &TreePath| {
        Some(Dependency {
            directory: directory.clone(),
            manifest: overlay
                .text(&directory.join("Cargo.toml").ok()?)?
                .to_string(),
        })
    };
    let packages = after.world.packages.iter();
    packages
        .filter_map(|package| read(&package.directory))
        .collect()
}

/// The nearest lock file above a package.
fn lock(package: &TreePath, overlay: &Overlay<'_>) -> Option<String> {
    let mut above = std::iter::successors(Some(package.clone()), TreePath::parent);
    above.find_map(|directory| {
        let text = overlay.text(&directory.join("Cargo.lock").ok()?)?;
        Some(text.to_string())
    })
}
