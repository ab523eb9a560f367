//! `refs NAME`: the places in code and configuration that name a module or an item.

use coalesce_engine::Session;
use coalesce_model::{
    LanguageKind, Module, Reference,
    envelope::{Body, Command, Envelope, Refs},
    manifest::name_meant,
};

use super::{Page, open};
use crate::{
    cli,
    exit::{Failure, Outcome},
};

/// Runs `refs`.
///
/// # Errors
/// When the tree cannot be read, or has no such name.
pub fn run(global: &cli::Global, arguments: &cli::Refs) -> anyhow::Result<Outcome> {
    let session = open(global)?;
    Ok(Outcome::success(refs(&session, global, &arguments.name)?))
}

/// The references of `name` in code, strings, configuration and documents.
fn refs(session: &Session, global: &cli::Global, name: &str) -> Result<Envelope, Failure> {
    let graphs = session.graphs();
    let wanted = LanguageKind::of_name(name);
    let graphs: Vec<_> = graphs
        .into_iter()
        .filter(|graph| wanted.is_none_or(|language| graph.language() == language))
        .collect();
    let known = |graph: &dyn coalesce_model::LanguageGraph, name: &str| {
        let called = |module: &Module| module.name == name || module.also.iter().any(|n| n == name);
        graph.knows(name) || graph.modules().iter().any(called)
    };
    let placed = || {
        let mut places = graphs.iter().map(|graph| by_place(graph.modules(), name));
        places.find_map(|place| place)
    };
    let unknown = !graphs.iter().any(|graph| known(*graph, name));
    let placed = unknown.then(placed).flatten();
    let name = placed.as_deref().unwrap_or(name);
    if !graphs.iter().any(|graph| known(*graph, name)) {
        return Err(unknown_name(session, name));
    }
    let mut references: Vec<Reference> = Vec::new();
    for graph in graphs.iter().filter(|graph| known(**graph, name)) {
        references.extend(graph.references(name, &session.tree));
        let in_texts = coalesce_text::references(&[name], graph.language(), &session.tree);
        references.extend(in_texts.into_iter().flatten());
    }
    references.sort();
    references.dedup_by(|a, b| a.path == b.path && a.span == b.span);
    let mut page = Page::new(session, global);
    let entries = references
        .iter()
        .filter_map(|reference| page.locator.reference(reference))
        .collect();
    let body = Refs {
        files: session.files(),
        name: name.to_owned(),
        references: entries,
    };
    Ok(page.envelope(Command::Refs, &[], Body::Refs(body)))
}

/// A name that nothing of the tree has.
pub(super) fn unknown_name(session: &Session, name: &str) -> Failure {
    let mut names: Vec<String> = Vec::new();
    for graph in session.graphs() {
        let separator = graph.language().separator();
        for module in graph.modules() {
            names.push(module.name.clone());
            let items = module.defines.iter();
            names.extend(items.map(|item| format!("{}{separator}{item}", module.name)));
        }
    }
    let message = format!("no module or item of the tree is called `{name}`");
    let ends = |full: &&String| {
        let head = full.strip_suffix(name);
        head.is_some_and(|head| head.ends_with(['.', ':']))
    };
    let near = name_meant(name, names.iter().map(String::as_str));
    let longer = || {
        names
            .iter()
            .find(ends)
            .map(|full| format!("did you mean `{full}`?"))
    };
    Failure::user(message).hints(near.or_else(longer))
}

/// The name of what `name` means when it is spelled from the root of the tree instead of from an
/// import root: `src.pkg.Item`, `examples.app.main`.
pub(super) fn by_place(modules: &[Module], name: &str) -> Option<String> {
    if name.contains("::") {
        return None;
    }
    let below = |module: &Module| {
        let path = module.path.as_str();
        let stem = path.strip_suffix(".py").or(path.strip_suffix(".pyi"))?;
        let place = stem
            .strip_suffix("/__init__")
            .unwrap_or(stem)
            .replace('/', ".");
        let rest = name.strip_prefix(&place)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| format!("{}{rest}", module.name))
    };
    let longest = modules
        .iter()
        .filter_map(|module| Some((module.path.as_str().len(), below(module)?)));
    Some(longest.max()?.1)
}
