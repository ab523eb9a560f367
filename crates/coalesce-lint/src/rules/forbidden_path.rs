//! `forbidden-path`: an import, a string or a configuration value names a path that a manifest
//! forbids.

use std::collections::BTreeMap;

use coalesce_model::{
    ByteSpan, Finding, LanguageGraph, Mention, Module, ModuleKind, Severity, TreePath,
    finding::codes,
    manifest::{Forbid, is_guard},
};

use super::names;
use crate::Subject;

/// Imports, string literals and configuration values of the whole tree, tests and scripts included.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let forbids = subject.forbids();
    if forbids.is_empty() {
        return Vec::new();
    }
    let graphs = subject.index.graphs().iter();
    let mut findings: Vec<Finding> = graphs
        .flat_map(|graph| of_graph(*graph, &forbids))
        .collect();
    let configured = subject.configuration.iter();
    findings.extend(configured.filter_map(|mention| mentioned(&forbids, mention, &[])));
    findings
}

fn of_graph(graph: &dyn LanguageGraph, forbids: &[&Forbid]) -> Vec<Finding> {
    let mut findings = imported(graph, forbids);
    let modules = by_path(graph);
    for mention in graph.mentions() {
        let module = modules.get(&mention.path);
        let shim = module.is_some_and(|module| module.kind == ModuleKind::Shim);
        if !shim && !is_guard(&mention.path, None) {
            let importers = module.map(|module| names(module)).unwrap_or_default();
            findings.extend(mentioned(forbids, mention, &importers));
        }
    }
    findings
}

fn imported(graph: &dyn LanguageGraph, forbids: &[&Forbid]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for import in graph.imports() {
        // Hardly one is, and every import of a tree is asked.
        let named = |forbid: &&Forbid| forbid.import.matches_name_or_parent(&import.name);
        if !forbids.iter().any(named) {
            continue;
        }
        let importer = graph.modules().get(import.importer);
        let shim = importer.is_some_and(|module| module.kind == ModuleKind::Shim);
        let importers = importer.map(names).unwrap_or_default();
        if shim || is_guard(&import.path, None) {
            continue;
        }
        findings.extend(
            forbidden(forbids, &import.name, &importers)
                .map(|forbid| place(forbid, &import.name, &import.path, import.span)),
        );
    }
    findings
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

fn forbidden<'f>(forbids: &[&'f Forbid], name: &str, importers: &[&str]) -> Option<&'f Forbid> {
    let excepted = |forbid: &Forbid| {
        importers.iter().any(|importer| {
            forbid
                .except
                .iter()
                .any(|pattern| pattern.matches(importer))
        })
    };
    let mut forbids = forbids.iter().copied();
    forbids.find(|forbid| !excepted(forbid) && forbid.import.matches_name_or_parent(name))
}

fn mentioned(forbids: &[&Forbid], mention: &Mention, importers: &[&str]) -> Option<Finding> {
    let forbid = forbidden(forbids, &mention.name, importers)?;
    Some(place(forbid, &mention.name, &mention.path, mention.span))
}

fn place(forbid: &Forbid, name: &str, path: &TreePath, span: ByteSpan) -> Finding {
    Finding {
        code: codes::FORBIDDEN_PATH,
        severity: Severity::Error,
        path: path.clone(),
        span: Some(span),
        message: format!("`{name}` is forbidden by `{}`", forbid.import.as_str()),
        help: forbid.message.clone(),
    }
}
