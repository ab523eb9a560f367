//! The shims of a tree: where they are, when they go, and who still names them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use coalesce_index::importers;
use coalesce_model::{
    ByteSpan, Form, ItemShim, LanguageGraph, LanguageKind, Module, ModuleKind, Reference, Texts,
    TreePath, envelope::ShimEntry, manifest::Manifest,
};
use coalesce_tree::threads;

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
    let is_shim = |module: &Module| module.kind == ModuleKind::Shim;
    let all = graph.modules().iter().zip(&users);
    all.filter(|(module, _)| is_shim(module))
        .map(|(module, users)| {
            let text = texts.text(&module.path).unwrap_or_default();
            let manifest = marker(&text);
            let outside = users.iter().filter_map(|user| graph.modules().get(*user));
            let outside = outside.filter(|user| !is_shim(user));
            let users: BTreeSet<String> = outside.map(|user| user.name.clone()).collect();
            ShimEntry {
                name: module.name.clone(),
                path: module.path.clone(),
                remove_in: release(manifests, manifest.as_deref()).or_else(|| removal(&text)),
                manifest,
                users: users.into_iter().collect(),
            }
        })
        .collect()
}

/// The release that the manifest of this id says removes its shims.
fn release(manifests: &[Manifest], id: Option<&str>) -> Option<String> {
    let mut manifests = manifests.iter();
    manifests
        .find(|manifest| Some(manifest.id.as_str()) == id)?
        .remove_in
        .clone()
}

/// The shims of single items, in modules that go on being some.
fn item_shims(
    graph: &dyn LanguageGraph,
    texts: &dyn Texts,
    manifests: &[Manifest],
) -> Vec<ShimEntry> {
    let shims = graph.item_shims();
    if shims.is_empty() {
        return Vec::new();
    }
    let mut users: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for import in graph.imports() {
        if let Some(user) = graph.modules().get(import.importer) {
            users.entry(&import.name).or_default().insert(&user.name);
        }
    }
    let entry = |shim: ItemShim| {
        let text = texts.text(&shim.path).unwrap_or_default();
        let own = text.split_once(&format!("coalesce: item shim {} ", shim.manifest));
        let users = users.get(shim.name.as_str()).into_iter().flatten();
        let users = users.filter(|user| **user != shim.module);
        ShimEntry {
            remove_in: release(manifests, Some(&shim.manifest)).or_else(|| removal(own?.1)),
            users: users.map(|user| (*user).to_owned()).collect(),
            name: shim.name,
            path: shim.path,
            manifest: Some(shim.manifest),
        }
    };
    shims.into_iter().map(entry).collect()
}

/// Where the text of shims stands: this program has written it, and it is there once for each on purpose.
#[derive(Clone, Debug, Default)]
pub struct ShimTexts {
    /// How many shims there are, of modules and of single items.
    pub count: usize,
    modules: BTreeSet<TreePath>,
    items: BTreeMap<TreePath, Vec<ByteSpan>>,
}

impl ShimTexts {
    /// Those of a tree.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        let mut found = Self::default();
        for graph in session.graphs() {
            let modules = graph.modules().iter();
            let shims = modules.filter(|module| module.kind == ModuleKind::Shim);
            let paths = shims.map(|module| module.path.clone());
            found.modules.extend(paths);
            found.add_items(graph, &session.tree);
        }
        found.count += found.modules.len();
        found
    }

    /// What a language would take out to retire a shim of an item is the text of that shim: it begins with the marker.
    fn add_items(&mut self, graph: &dyn LanguageGraph, texts: &dyn Texts) {
        let shims = graph.item_shims();
        if shims.is_empty() {
            return;
        }
        let names: Vec<String> = shims.into_iter().map(|shim| shim.name).collect();
        for (path, edits) in graph.retire_items(&names, texts).edits {
            let text = texts.text(&path).unwrap_or_default();
            let spans = edits.iter().map(|edit| edit.span);
            let shims = spans.filter(|span| span.of(&text).is_some_and(has_item_marker));
            let shims: Vec<ByteSpan> = shims.collect();
            self.count += shims.len();
            self.items.entry(path).or_default().extend(shims);
        }
    }

    /// The text of a file as far as it is no shim, every byte of it where it was; `None` where all of it is one.
    #[must_use]
    pub fn rest_of(&self, path: &TreePath, text: &Arc<str>) -> Option<Arc<str>> {
        if self.modules.contains(path) {
            return None;
        }
        let Some(spans) = self.items.get(path) else {
            return Some(Arc::clone(text));
        };
        let is_in_shim = |at: usize| {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            spans.iter().any(|span| span.start <= at && at < span.end)
        };
        let blank = |(at, byte): (usize, u8)| match byte {
            b'\n' | b'\r' => byte,
            _ if is_in_shim(at) => b' ',
            _ => byte,
        };
        let bytes: Vec<u8> = text.bytes().enumerate().map(blank).collect();
        // Spans end between characters, so what is left is text.
        Some(String::from_utf8(bytes).map_or_else(|_| Arc::clone(text), Arc::from))
    }
}

fn has_item_marker(text: &str) -> bool {
    text.contains("coalesce: item shim ")
}

/// The names of `shims` that are those of single items.
pub fn of_items(session: &Session, shims: &[ShimEntry]) -> BTreeSet<String> {
    let wanted: BTreeSet<&str> = shims.iter().map(|shim| shim.name.as_str()).collect();
    let graphs = session.graphs();
    let all = graphs.iter().flat_map(|graph| graph.item_shims());
    all.map(|shim| shim.name)
        .filter(|name| wanted.contains(name.as_str()))
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
    if shims.is_empty() {
        return Vec::new();
    }
    threads::start();
    let items = of_items(session, shims);
    let modules = shims.iter().filter(|shim| !items.contains(&shim.name));
    let own: BTreeSet<&TreePath> = modules.map(|shim| &shim.path).collect();
    let mut all = named(session, shims, &items);
    for found in &mut all {
        found.sort();
        found.dedup_by(|a, b| a.path == b.path && a.span == b.span);
        found.retain(|reference| {
            let written = !matches!(reference.form, Form::Prose | Form::Declaration);
            let history = reference.path.as_str().starts_with("migrations/");
            written && !history && !own.contains(&reference.path)
        });
    }
    all
}

/// What names each shim, in code and in text files; each language goes through its files once.
fn named(session: &Session, shims: &[ShimEntry], items: &BTreeSet<String>) -> Vec<Vec<Reference>> {
    let mut all = vec![Vec::new(); shims.len()];
    for graph in session.graphs() {
        let language = graph.language();
        let own_items = graph.item_shims().into_iter().map(|shim| shim.name);
        let own_items: BTreeSet<String> = own_items.collect();
        let is_module = |name: &str| {
            let wanted = LanguageKind::of_name(name);
            wanted.is_none_or(|wanted| wanted == language) && graph.knows(name)
        };
        let is_item = |name: &str| items.contains(name);
        let of_items = Asked::new(shims, |name| is_item(name) && own_items.contains(name));
        let of_modules = Asked::new(shims, |name| !is_item(name) && is_module(name));
        let texts = &session.tree;
        of_items.add_to(&mut all, graph.item_shim_references(&of_items.names, texts));
        of_modules.add_to(&mut all, graph.references_of(&of_modules.names, texts));
        for asked in [&of_items, &of_modules] {
            let in_texts = coalesce_text::references(&asked.names, language, texts);
            asked.add_to(&mut all, in_texts);
        }
    }
    all
}

/// Names of shims that a language is asked about at once.
struct Asked<'s> {
    /// Where each stands among all shims.
    places: Vec<usize>,
    names: Vec<&'s str>,
}

impl<'s> Asked<'s> {
    fn new(shims: &'s [ShimEntry], is_asked: impl Fn(&str) -> bool) -> Self {
        let shims = shims.iter().enumerate();
        let asked = shims.filter(|(_, shim)| is_asked(&shim.name));
        let (places, names) = asked.map(|(at, shim)| (at, shim.name.as_str())).unzip();
        Self { places, names }
    }

    /// Adds what was found of each name to what is known of its shim.
    fn add_to(&self, all: &mut [Vec<Reference>], found: Vec<Vec<Reference>>) {
        for (at, found) in self.places.iter().zip(found) {
            if let Some(own) = all.get_mut(*at) {
                own.extend(found);
            }
        }
    }
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
