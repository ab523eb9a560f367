//! `forbidden-path`: an import, a string or a configuration value names a path that a manifest
//! forbids, or imports a shim.

use std::collections::BTreeMap;

use coalesce_model::{
    Finding, Import, ImportTarget, LanguageGraph, LanguageKind, Mention, Module, ModuleKind,
    Severity, TreePath, finding::codes, manifest::Forbid,
};

use crate::Subject;

/// The package that a migration writes to hold rustc to what it says of old names.
const GUARD: &str = "migration-deprecations";

/// Imports, string literals and configuration values of the whole tree, tests and scripts included.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for graph in subject.index.graphs() {
        let modules = by_path(*graph);
        let shims: BTreeMap<String, TreePath> = graph
            .item_shims()
            .into_iter()
            .map(|shim| (shim.name, shim.path))
            .collect();
        for import in graph.imports() {
            let importer = graph.modules().get(import.importer);
            let importer_names = importer.map(names).unwrap_or_default();
            let shim = importer.is_some_and(|module| module.kind == ModuleKind::Shim);
            if shim || is_guard(&import.path) {
                continue;
            }
            let finding = forbidden(subject.forbids, &import.name, &importer_names)
                .map(|forbid| explain(forbid, &import.name));
            let finding = finding
                .or_else(|| deprecated(*graph, import))
                .or_else(|| deprecated_item(&shims, import));
            findings.extend(
                finding.map(|(message, help)| place(&import.path, import.span, message, help)),
            );
        }
        for mention in graph.mentions() {
            let importer_names = modules
                .get(&mention.path)
                .map(|module| names(module))
                .unwrap_or_default();
            let shim = modules
                .get(&mention.path)
                .is_some_and(|module| module.kind == ModuleKind::Shim);
            let own = shim || is_guard(&mention.path);
            findings.extend(mentioned(subject.forbids, mention, &importer_names).filter(|_| !own));
        }
    }
    findings.extend(
        subject
            .configuration
            .iter()
            .filter_map(|mention| mentioned(subject.forbids, mention, &[])),
    );
    findings
}

fn is_guard(path: &TreePath) -> bool {
    let mut folders = std::iter::successors(path.parent(), TreePath::parent);
    folders.any(|folder| folder.file_name() == GUARD)
}

fn by_path(graph: &dyn LanguageGraph) -> BTreeMap<&TreePath, &Module> {
    // The file's own module, not one that stands inside it.
    graph
        .modules()
        .iter()
        .filter(|module| module.inline.is_none())
        .map(|module| (&module.path, module))
        .collect()
}

fn names(module: &Module) -> Vec<&str> {
    std::iter::once(&module.name)
        .chain(&module.also)
        .map(String::as_str)
        .collect()
}

fn forbidden<'f>(forbids: &'f [Forbid], name: &str, importers: &[&str]) -> Option<&'f Forbid> {
    forbids.iter().find(|forbid| {
        let excepted = importers.iter().any(|importer| {
            forbid
                .except
                .iter()
                .any(|pattern| pattern.matches(importer))
        });
        !excepted && forbid.import.matches_name_or_parent(name)
    })
}

fn explain(forbid: &Forbid, name: &str) -> (String, Option<String>) {
    (
        format!("`{name}` is forbidden by `{}`", forbid.import.as_str()),
        forbid.message.clone(),
    )
}

fn deprecated(graph: &dyn LanguageGraph, import: &Import) -> Option<(String, Option<String>)> {
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
    (named && !is_own(module, &import.path)).then(|| {
        (
            format!("`{}` is a deprecated shim", module.name),
            Some("import the module that it forwards to".to_owned()),
        )
    })
}

/// Whether a file is a test or example of the very package whose library is the shim: these show that
/// it forwards.
fn is_own(shim: &Module, user: &TreePath) -> bool {
    let root = shim.language == LanguageKind::Rust && shim.path.file_name() == "lib.rs";
    let source = shim.path.parent().filter(|_| root);
    let package = source
        .filter(|source| source.file_name() == "src")
        .and_then(|source| source.parent());
    let rest = package.and_then(|package| user.strip_prefix(&package));
    let tests = ["tests/", "examples/", "benches/"];
    rest.is_some_and(|rest| tests.iter().any(|folder| rest.starts_with(folder)))
}

/// An item by the name that a shim of a module keeps; the module itself may name it.
fn deprecated_item(
    shims: &BTreeMap<String, TreePath>,
    import: &Import,
) -> Option<(String, Option<String>)> {
    let path = shims.get(&import.name)?;
    (*path != import.path).then(|| {
        (
            format!("`{}` is a deprecated shim", import.name),
            Some("import it from the module that has it now".to_owned()),
        )
    })
}

fn mentioned(forbids: &[Forbid], mention: &Mention, importers: &[&str]) -> Option<Finding> {
    let (message, help) = explain(forbidden(forbids, &mention.name, importers)?, &mention.name);
    Some(place(&mention.path, mention.span, message, help))
}

fn place(
    path: &TreePath,
    span: coalesce_model::ByteSpan,
    message: String,
    help: Option<String>,
) -> Finding {
    Finding {
        code: codes::FORBIDDEN_PATH,
        severity: Severity::Error,
        path: path.clone(),
        span: Some(span),
        message,
        help,
    }
}
