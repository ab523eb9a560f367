//! Rust as a [`Language`], and its resolved graph.

mod findings;
mod imports;
mod modules;

use std::sync::Arc;

use coalesce_model::{
    ByteSpan, Change, Edit, Finding, Import, Language, LanguageGraph, LanguageKind, LanguagePlan,
    Mention, Module, Reference, Rewrite, Root, Settings, Texts, TreePath, language::RewriteOptions,
};

use crate::{
    discover,
    facts::{self, Facts},
    references,
    resolve::{self, World},
    rewrite,
};

/// The language.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rust;

impl Language for Rust {
    type Facts = Facts;
    type Graph = RustGraph;

    const FACTS_VERSION: u32 = facts::VERSION;

    fn kind(&self) -> LanguageKind {
        LanguageKind::Rust
    }

    fn claims(&self, path: &TreePath) -> bool {
        path.extension() == Some("rs") || path.file_name() == "Cargo.toml"
    }

    fn facts(&self, path: &TreePath, text: &str) -> Facts {
        if path.file_name() == "Cargo.toml" {
            return Facts::Manifest(Box::new(discover::manifest_facts(text)));
        }
        Facts::Source(Box::new(facts::source_facts(text)))
    }

    fn syntax_problem(&self, path: &TreePath, text: &str) -> Option<(ByteSpan, String)> {
        if path.extension() == Some("rs") {
            facts::syntax_problem(text)
        } else {
            None
        }
    }

    fn resolve(
        &self,
        files: &[(TreePath, Arc<Facts>)],
        paths: &[TreePath],
        _settings: &Settings,
    ) -> RustGraph {
        RustGraph::new(files, paths)
    }
}

/// The resolved modules, imports and names of a tree's Rust.
#[derive(Debug)]
pub struct RustGraph {
    /// The tables behind it.
    pub world: World,
    roots: Vec<Root>,
    modules: Vec<Module>,
    imports: Vec<Import>,
    mentions: Vec<Mention>,
    findings: Vec<Finding>,
}

impl RustGraph {
    fn new(files: &[(TreePath, Arc<Facts>)], paths: &[TreePath]) -> Self {
        let world = resolve::resolve(files, paths);
        let listed = modules::modules(&world);
        let imported = imports::imports(&world, &listed);
        let mut findings = findings::findings(&world, files);
        findings.extend(imported.findings);
        findings.sort();
        findings.dedup();
        Self {
            roots: modules::roots(&world),
            modules: listed.modules,
            imports: imported.imports,
            mentions: imports::mentions(&world),
            findings,
            world,
        }
    }
}

impl LanguageGraph for RustGraph {
    fn language(&self) -> LanguageKind {
        LanguageKind::Rust
    }

    fn roots(&self) -> &[Root] {
        &self.roots
    }

    fn modules(&self) -> &[Module] {
        &self.modules
    }

    fn imports(&self) -> &[Import] {
        &self.imports
    }

    fn mentions(&self) -> &[Mention] {
        &self.mentions
    }

    fn findings(&self) -> Vec<Finding> {
        self.findings.clone()
    }

    fn knows(&self, name: &str) -> bool {
        !references::Wanted::of(&self.world, name).is_empty() || self.world.exports(name)
    }

    fn references(&self, name: &str, _texts: &dyn Texts) -> Vec<Reference> {
        references::references(&self.world, name)
    }

    fn rewrite(
        &self,
        changes: &[Change],
        options: RewriteOptions,
        texts: &dyn Texts,
    ) -> LanguagePlan {
        rewrite::rewrite(self, changes, options, texts)
    }

    fn rewrite_fragment(&self, changes: &[Change], code: &str) -> Vec<(Rewrite, Edit)> {
        rewrite::rewrite_fragment(self, changes, code)
    }

    fn order_regressions(
        &self,
        _after: &Self,
        _changes: &[Change],
        _: &dyn Texts,
        _: &dyn Texts,
    ) -> Vec<Finding> {
        Vec::new()
    }
}
