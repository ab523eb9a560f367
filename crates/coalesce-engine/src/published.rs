//! Which names somebody outside of the tree may use: those of packages that are made to be published.

use coalesce_model::{LanguageKind, Texts as _, envelope::LostName};

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
    let package = world
        .crates
        .iter()
        .find(|one| one.canonical == krate)
        .and_then(|one| world.packages.get(one.package));
    let Some(package) = package else {
        return false;
    };
    let text = |directory: &coalesce_model::TreePath| {
        let manifest = directory.join("Cargo.toml").ok();
        manifest.and_then(|manifest| session.tree.text(&manifest))
    };
    let own = text(&package.directory).unwrap_or_default();
    let inherits = own
        .lines()
        .any(|line| line.replace(' ', "").starts_with("publish.workspace=true"));
    let mut at = package.directory.parent().filter(|_| inherits);
    let mut texts = vec![own];
    while let Some(directory) = at {
        texts.extend(text(&directory));
        at = directory.parent();
    }
    let is_private = |line: &str| {
        let line = line.replace(' ', "");
        line.starts_with("publish=false") || line.starts_with("publish=[]")
    };
    !texts.iter().any(|text| text.lines().any(is_private))
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
