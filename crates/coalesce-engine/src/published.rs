//! Which names somebody outside of the tree may use: those of packages that are made to be published.

use std::sync::Arc;

use coalesce_model::{LanguageKind, Texts as _, TreePath, envelope::LostName};

use crate::Session;

/// The names of packages that others can have.
pub fn published(session: &Session, lost: Vec<LostName>) -> Vec<LostName> {
    let python = is_python_package(session);
    let is_public = |lost: &LostName| match LanguageKind::of_name(&lost.name) {
        Some(LanguageKind::Rust) => is_published_crate(session, &lost.name),
        _ => python,
    };
    lost.into_iter().filter(is_public).collect()
}

fn is_published_crate(session: &Session, name: &str) -> bool {
    let krate = name.split("::").next().unwrap_or_default();
    let world = &session.rust.graph.world;
    let mut crates = world.crates.iter();
    let package = crates
        .find(|one| one.canonical == krate)
        .and_then(|one| world.packages.get(one.package));
    package.is_some_and(|package| {
        let mut texts = manifests_above(session, &package.directory);
        let own = texts.next().unwrap_or_default();
        let inherits = has_line(&own, &["publish.workspace=true"]);
        let is_private = |text: &str| has_line(text, &["publish=false", "publish=[]"]);
        let is_kept_back = is_private(&own) || inherits && texts.any(|text| is_private(&text));
        !is_kept_back
    })
}

/// The `Cargo.toml` of a directory, empty where there is none, and those of all above it.
fn manifests_above<'s>(
    session: &'s Session,
    directory: &TreePath,
) -> impl Iterator<Item = Arc<str>> + use<'s> {
    let directories = std::iter::successors(Some(directory.clone()), TreePath::parent);
    directories.map(|directory| {
        let manifest = directory.join("Cargo.toml").ok();
        let text = manifest.and_then(|manifest| session.tree.text(&manifest));
        text.unwrap_or_default()
    })
}

/// Whether a line of a manifest begins with one of these, blanks aside.
fn has_line(manifest: &str, beginnings: &[&str]) -> bool {
    let mut lines = manifest.lines().map(|line| line.replace(' ', ""));
    lines.any(|line| beginnings.iter().any(|begin| line.starts_with(begin)))
}

/// Whether the tree has what an index of packages takes.
fn is_python_package(session: &Session) -> bool {
    session
        .tree
        .paths()
        .iter()
        .any(|path| match path.file_name() {
            "setup.py" | "setup.cfg" => true,
            "pyproject.toml" => session.tree.text(path).is_some_and(|text| {
                text.lines()
                    .any(|line| matches!(line.trim(), "[project]" | "[tool.poetry]"))
            }),
            _ => false,
        })
}
