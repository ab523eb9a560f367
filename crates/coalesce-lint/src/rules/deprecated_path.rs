//! `deprecated-path`: an import of a shim, outside of shims.

use std::collections::BTreeMap;

use coalesce_model::{
    Finding, Import, ImportTarget, LanguageGraph, LanguageKind, Module, ModuleKind, Severity,
    TreePath,
    finding::codes,
    manifest::{Manifest, is_guard},
};
use coalesce_tree::PathFilter;

use super::names;
use crate::{MENDED, Subject};

/// Imports of the whole tree, tests and scripts included.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let kept: Vec<PathFilter> = subject.manifests.iter().filter_map(kept_uses).collect();
    let on_purpose =
        |path: &TreePath| is_guard(path, None) || kept.iter().any(|files| files.passes(path));
    let graphs = subject.index.graphs().iter();
    graphs
        .flat_map(|graph| of_graph(subject, *graph, &on_purpose))
        .collect()
}

fn of_graph(
    subject: &Subject<'_>,
    graph: &dyn LanguageGraph,
    on_purpose: &dyn Fn(&TreePath) -> bool,
) -> Vec<Finding> {
    let items = graph.item_shims().into_iter();
    let items: BTreeMap<String, TreePath> = items.map(|shim| (shim.name, shim.path)).collect();
    let is_shim = |module: &&Module| module.kind == ModuleKind::Shim;
    let modules = graph.modules().iter().filter(is_shim);
    let modules: BTreeMap<&str, &Module> = modules
        .map(|module| (module.name.as_str(), module))
        .collect();
    if modules.is_empty() && items.is_empty() {
        return Vec::new();
    }
    let users = graph.imports().iter().filter(|import| {
        let importer = graph.modules().get(import.importer);
        !importer.as_ref().is_some_and(is_shim) && !on_purpose(&import.path)
    });
    let told = users.filter_map(|import| {
        let told = deprecated(graph, import)
            .or_else(|| deprecated_attribute(&modules, import))
            .or_else(|| deprecated_item(&items, import))?;
        Some(finding(subject, import, told))
    });
    told.collect()
}

fn finding(subject: &Subject<'_>, import: &Import, (name, what): (&str, What)) -> Finding {
    Finding {
        code: codes::DEPRECATED_PATH,
        severity: Severity::Error,
        path: import.path.clone(),
        span: Some(import.span),
        message: format!("`{name}` is a deprecated shim"),
        help: Some(help(subject, name, what)),
    }
}

/// What a shim stands for.
#[derive(Clone, Copy)]
enum What {
    Module,
    /// A module, by the attribute that its package keeps.
    Attribute,
    Item,
}

/// What to write instead: by its name where the manifest that left the shim is there to say it.
fn help(subject: &Subject<'_>, name: &str, what: What) -> String {
    if !is_known(subject, name) {
        return match what {
            What::Module | What::Attribute => "import the module that it forwards to",
            What::Item => "import it from the module that has it now",
        }
        .to_owned();
    }
    let now = now(subject.manifests, name);
    match (now, what) {
        (Some(now), What::Module) => format!("import `{now}`{MENDED}"),
        (None, What::Module) => format!("import what it forwards to{MENDED}"),
        // Only imports of modules by their own names are led on.
        (Some(now), What::Attribute | What::Item) => format!("import `{now}`"),
        (None, What::Attribute | What::Item) => {
            "import it from the module that has it now".to_owned()
        }
    }
}

/// What an old name leads to by the entries of the manifests, one after the other.
fn now(manifests: &[Manifest], name: &str) -> Option<String> {
    let entries = || manifests.iter().flat_map(|manifest| &manifest.entries);
    let mut now = name.to_owned();
    // A name that comes back would lead on for ever.
    for _ in 0..entries().count() {
        let separator = LanguageKind::of_name(&now).map_or(".", LanguageKind::separator);
        let led = entries().filter_map(|entry| {
            let from = entry.from.text.as_str();
            let rest = now.strip_prefix(from)?;
            let fits = rest.is_empty() || rest.starts_with(separator);
            fits.then(|| (from.len(), format!("{}{rest}", entry.to.text)))
        });
        match led.max_by_key(|(length, _)| *length) {
            Some((_, next)) if next != name => now = next,
            _ => break,
        }
    }
    (now != name).then_some(now)
}

/// The files that a manifest says use old names on purpose. Planning has tried the globs.
fn kept_uses(manifest: &Manifest) -> Option<PathFilter> {
    let globs = Some(&manifest.keep_uses).filter(|globs| !globs.is_empty())?;
    PathFilter::new(globs, &[]).ok()
}

/// Whether the manifest that left the shim is one of the tree, so that it can lead imports on.
fn is_known(subject: &Subject<'_>, name: &str) -> bool {
    let mut shims = subject.shims.iter().map(|(shim, _)| shim);
    let shim = shims.find(|shim| shim.name == name);
    let id = shim.and_then(|shim| shim.manifest.as_ref());
    let mut manifests = subject.manifests.iter();
    id.is_some_and(|id| manifests.any(|manifest| manifest.id == *id))
}

/// The name of the shim that an import is one of, and what to do.
fn deprecated<'g>(graph: &'g dyn LanguageGraph, import: &Import) -> Option<(&'g str, What)> {
    let ImportTarget::Module(target) = import.target else {
        return None;
    };
    let module = graph
        .modules()
        .get(target)
        .filter(|module| module.kind == ModuleKind::Shim)?;
    // A package of shims is imported on the way to what it holds; only the importer's own words count.
    let named = names(module)
        .iter()
        .any(|name| import.name.starts_with(name));
    (named && !is_own(module, &import.path)).then_some((&module.name, What::Module))
}

/// The name of a shim that its package keeps as an attribute: `from package import old` leads past the
/// shim to the new module, and breaks all the same when the shim goes.
fn deprecated_attribute<'g>(
    shims: &BTreeMap<&str, &'g Module>,
    import: &Import,
) -> Option<(&'g str, What)> {
    let module = shims.get(import.name.as_str())?;
    (!is_own(module, &import.path)).then_some((&module.name, What::Attribute))
}

/// Whether a file is a test or example of the very package whose library is the shim: these show that
/// it forwards.
fn is_own(shim: &Module, user: &TreePath) -> bool {
    let root = shim.path.file_name() == "lib.rs";
    let source = shim.path.parent().filter(|_| root);
    let package = source
        .filter(|source| source.file_name() == "src")
        .and_then(|source| source.parent());
    let rest = package.and_then(|package| user.strip_prefix(&package));
    let tests = ["tests/", "examples/", "benches/"];
    rest.is_some_and(|rest| tests.iter().any(|folder| rest.starts_with(folder)))
}

/// An item by the name that a shim of a module keeps; the module itself may name it.
fn deprecated_item<'s>(
    shims: &'s BTreeMap<String, TreePath>,
    import: &Import,
) -> Option<(&'s str, What)> {
    let (name, path) = shims.get_key_value(&import.name)?;
    (*path != import.path).then_some((name, What::Item))
}
