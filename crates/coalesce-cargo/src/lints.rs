//! The levels that packages give to lints, and the conditions that they declare there: `[lints]`, of themselves or of
//! their workspace.

use coalesce_model::{Texts, TreePath};
use toml_edit::{Item, TableLike};

use crate::{document::parse, workspace};

/// A lint as attributes name it (`missing_docs`, `clippy::panic`), and its level.
pub type LintLevel = (String, String);

/// What the manifest in a directory says of lints, what it takes from its workspace included. A
/// manifest that does not parse says nothing.
#[must_use]
pub fn lints(texts: &dyn Texts, directory: &TreePath) -> Vec<LintLevel> {
    with_table(texts, directory, levels)
}

/// What the manifest in a directory declares of conditions beside its features: the texts of `check-cfg`, what it takes
/// from its workspace included.
#[must_use]
pub fn declared_conditions(texts: &dyn Texts, directory: &TreePath) -> Vec<String> {
    with_table(texts, directory, |lints| {
        let said = lints
            .get("rust")
            .and_then(|rust| rust.get("unexpected_cfgs"));
        let list = said.and_then(|said| said.get("check-cfg")?.as_array());
        let texts = list.into_iter().flatten().filter_map(|one| one.as_str());
        texts.map(str::to_owned).collect()
    })
}

/// What the table of lints says that holds for the package in a directory; nothing where there is none.
fn with_table<T>(
    texts: &dyn Texts,
    directory: &TreePath,
    read: impl Fn(&Item) -> Vec<T>,
) -> Vec<T> {
    let path = directory.join("Cargo.toml").ok();
    let text = path.and_then(|path| texts.text(&path));
    let own = text.as_deref().and_then(|text| parse(text).ok());
    let Some(lints) = own.as_ref().and_then(|own| own.get("lints")) else {
        return Vec::new();
    };
    if lints.get("workspace").and_then(Item::as_bool) != Some(true) {
        return read(lints);
    }
    let root = workspace::root(texts, directory).and_then(|(path, _)| texts.text(&path));
    let root = root.as_deref().and_then(|text| parse(text).ok());
    let shared = root.as_ref().and_then(|root| root.get("workspace"));
    shared
        .and_then(|workspace| workspace.get("lints"))
        .map(read)
        .unwrap_or_default()
}

/// The tables of all tools, a lint of rustc without its tool.
fn levels(lints: &Item) -> Vec<LintLevel> {
    let tools = lints.as_table_like().into_iter().flat_map(TableLike::iter);
    let mut found = Vec::new();
    for (tool, lints) in tools {
        let lints = lints.as_table_like().into_iter().flat_map(TableLike::iter);
        for (lint, said) in lints {
            let level = said.as_str().or_else(|| said.get("level")?.as_str());
            let name = match tool {
                "rust" => lint.to_owned(),
                _ => format!("{tool}::{lint}"),
            };
            found.extend(level.map(|level| (name, level.to_owned())));
        }
    }
    found
}
