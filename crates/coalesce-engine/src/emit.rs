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
    let mut files = Vec::new();
    for (name, text) in coalesce_plan::guard_tests(&worked.checked.changes) {
        files.push((directory.join(&name)?, text));
    }
    let rust = worked.checked.changes.contains_key(&LanguageKind::Rust);
    if rust && !worked.refused() {
        files.extend(deprecations(
            worked,
            session,
            &directory.join(GUARD_PACKAGE)?,
        )?);
    }
    let mut written = Vec::new();
    for (path, text) in files {
        if session.tree.exists(&path) {
            return Err(
                Failure::user(format!("{path} exists already")).hint("name another directory")
            );
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

/// A package that names each old name which the plan keeps; nothing when it keeps none.
fn deprecations(
    worked: &MigrationPlan,
    session: &Session,
    directory: &TreePath,
) -> Result<Vec<(TreePath, String)>, Failure> {
    let operations = &worked.assembled.operations;
    let part = &session.rust;
    let settings = &session.settings;
    let after: RustGraph = planned(
        &part.language,
        &part.files,
        operations,
        settings,
        &session.tree,
    );
    let overlay = planned_tree(&session.tree, operations);
    let changed: Vec<TreePath> = overlay.changed_paths().cloned().collect();
    let names = coalesce_rust::old_names(&after, &changed, &session.tree, &overlay);
    let packages = after
        .world
        .packages
        .iter()
        .map(|package| &package.directory);
    let read = |package: &TreePath| {
        Some(Dependency {
            directory: package.clone(),
            manifest: overlay.text(&package.join("Cargo.toml").ok()?)?.to_string(),
        })
    };
    let dependencies: Vec<Dependency> = packages.filter_map(read).collect();
    let up = "../".repeat(directory.as_str().split('/').count());
    let manifests = worked.manifests.join(", ");
    let Some(made) = coalesce_rust::package(&names, &dependencies, &up, &manifests) else {
        return Ok(Vec::new());
    };
    let mut files = Vec::new();
    for (name, text) in made {
        files.push((directory.join(name)?, text));
    }
    // The versions that the tree is built with, so that nothing has to be looked up.
    let of = names.first().map(|name| &name.package);
    if let Some(lock) = of.and_then(|package| lock(package, &overlay)) {
        files.push((directory.join("Cargo.lock")?, lock));
    }
    Ok(files)
}

/// The nearest lock file above a package.
fn lock(package: &TreePath, overlay: &Overlay<'_>) -> Option<String> {
    let mut at = Some(package.clone());
    while let Some(directory) = at {
        if let Some(text) = overlay.text(&directory.join("Cargo.lock").ok()?) {
            return Some(text.to_string());
        }
        at = directory.parent();
    }
    None
}
