//! The shims of a tree: where they are, when they go, and who still names them.

use std::collections::BTreeSet;

use coalesce_index::importers;
use coalesce_model::{
    Form, ItemShim, LanguageGraph, LanguageKind, Module, ModuleKind, Reference, Texts, TreePath,
    envelope::ShimEntry, manifest::Manifest,
};

use crate::Session;

/// All shims of the tree, by name.
pub fn shims(session: &Session, manifests: &[Manifest]) -> Vec<ShimEntry> {
    let graphs = session.graphs();
    let graphs = graphs.iter();
    let mut shims: Vec<ShimEntry> = graphs
        .flat_map(|graph| shims_of(*graph, &session.tree, manifests))
        .collect();
    for graph in session.graphs() {
        shims.extend(item_shims(graph, &session.tree, manifests));
    }
    shims.sort_by(|a, b| a.name.cmp(&b.name));
    shims
}

fn shims_of(
    graph: &dyn LanguageGraph,
    texts: &dyn Texts,
    manifests: &[Manifest],
) -> Vec<ShimEntry> {
    let users = importers(graph);
    let shim = |module: &Module| module.kind == ModuleKind::Shim;
    let all = graph
        .modules()
        .iter()
        .zip(&users)
        .filter(|(module, _)| shim(module));
    all.map(|(module, users)| {
        let text = texts.text(&module.path).unwrap_or_default();
        let manifest = marker(&text);
        let known = manifests
            .iter()
            .find(|other| Some(&other.id) == manifest.as_ref());
        let outside = users
            .iter()
            .filter_map(|user| graph.modules().get(*user))
            .filter(|user| !shim(user));
        let mut users: Vec<String> = outside.map(|user| user.name.clone()).collect();
        users.sort();
        users.dedup();
        ShimEntry {
            name: module.name.clone(),
            path: module.path.clone(),
            remove_in: known
                .and_then(|manifest| manifest.remove_in.clone())
                .or_else(|| removal(&text)),
            manifest,
            users,
        }
    })
    .collect()
}

/// The shims of single items, in modules that go on being some.
fn item_shims(
    graph: &dyn LanguageGraph,
    texts: &dyn Texts,
    manifests: &[Manifest],
) -> Vec<ShimEntry> {
    let entry = |shim: ItemShim| {
        let text = texts.text(&shim.path).unwrap_or_default();
        let own = text.split_once(&format!("coalesce: item shim {} ", shim.manifest));
        let known = manifests.iter().find(|other| other.id == shim.manifest);
        let imports = graph.imports().iter();
        let users = imports.filter(|import| import.name == shim.name);
        let users = users.filter_map(|import| graph.modules().get(import.importer));
        let users: BTreeSet<&str> = users.map(|user| user.name.as_str()).collect();
        ShimEntry {
            remove_in: known
                .and_then(|manifest| manifest.remove_in.clone())
                .or_else(|| removal(own?.1)),
            users: users
                .into_iter()
                .filter(|user| *user != shim.module)
                .map(str::to_owned)
                .collect(),
            name: shim.name,
            path: shim.path,
            manifest: Some(shim.manifest),
        }
    };
    graph.item_shims().into_iter().map(entry).collect()
}

/// The names of `shims` that are those of single items.
pub fn of_items(session: &Session, shims: &[ShimEntry]) -> BTreeSet<String> {
    let graphs = session.graphs();
    let all = graphs.iter().flat_map(|graph| graph.item_shims());
    all.map(|shim| shim.name)
        .filter(|name| shims.iter().any(|shim| shim.name == *name))
        .collect()
}

/// The id that the marker comment of a shim names.
fn marker(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("coalesce: shim ")?;
    let id = rest.split_whitespace().next()?;
    Some(id.to_owned())
}

/// The release that the shim itself says removes it.
fn removal(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("it will be removed in ")?;
    let release = rest.split(|c: char| c.is_whitespace() || "\"`;)".contains(c));
    let release = release.map(|word| word.trim_end_matches('.')).next()?;
    (!release.is_empty()).then(|| release.to_owned())
}

/// Everything that would miss the shims, shim by shim: what names them in code, strings,
/// configuration and links. Prose does not, nor do the shims themselves and `migrations/`.
pub fn references(session: &Session, shims: &[ShimEntry]) -> Vec<Vec<Reference>> {
    let items = of_items(session, shims);
    let modules = shims.iter().filter(|shim| !items.contains(&shim.name));
    let own: BTreeSet<&TreePath> = modules.map(|shim| &shim.path).collect();
    shims
        .iter()
        .map(|shim| {
            let mut all = if items.contains(&shim.name) {
                item_named(session, &shim.name)
            } else {
                named(session, &shim.name)
            };
            all.retain(|reference| {
                let written = !matches!(reference.form, Form::Prose | Form::Declaration);
                let history = reference.path.as_str().starts_with("migrations/");
                written && !history && !own.contains(&reference.path)
            });
            all
        })
        .collect()
}

fn item_named(session: &Session, name: &str) -> Vec<Reference> {
    let mut all = Vec::new();
    for graph in session.graphs() {
        if graph.item_shims().iter().any(|shim| shim.name == name) {
            all.extend(graph.item_shim_references(name, &session.tree));
            let language = graph.language();
            all.extend(coalesce_text::references(name, language, &session.tree));
        }
    }
    all.sort();
    all.dedup_by(|a, b| a.path == b.path && a.span == b.span);
    all
}

fn named(session: &Session, name: &str) -> Vec<Reference> {
    let wanted = LanguageKind::of_name(name);
    let mut all = Vec::new();
    for graph in session.graphs() {
        let language = graph.language();
        if wanted.is_some_and(|wanted| wanted != language) || !graph.knows(name) {
            continue;
        }
        all.extend(graph.references(name, &session.tree));
        all.extend(coalesce_text::references(name, language, &session.tree));
    }
    all.sort();
    all.dedup_by(|a, b| a.path == b.path && a.span == b.span);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shim_says_when_it_goes() {
        for (text, release) in [
            (
                "# coalesce: shim 0001-x\n\"\"\"`a` is deprecated, use `b`; it will be removed in 4.0.0.\n",
                Some("4.0.0"),
            ),
            (
                "//! Moved to [`crate::b`]; it will be removed in 2.0.\n",
                Some("2.0"),
            ),
            (
                "note = \"use `b`; it will be removed in 2.0.0-rc.1\")]",
                Some("2.0.0-rc.1"),
            ),
            ("# coalesce: shim 0001-x\n", None),
        ] {
            assert_eq!(removal(text).as_deref(), release, "{text}");
        }
    }
}
