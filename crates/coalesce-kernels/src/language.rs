//! Kernels, as the rest of Coalesce sees them: files that are compared. Nothing names their items from
//! other files in a way that could be followed, so nothing of them is moved.

use std::{collections::HashSet, sync::Arc};

use coalesce_model::{
    ByteSpan, Change, Edit, Finding, FoundItem, Grammar, Import, Language, LanguageGraph,
    LanguageKind, LanguagePlan, Mention, Module, ModuleKind, Outline, Reference, Rewrite, Root,
    Settings, Severity, Texts, TreePath, UnitKind, finding::codes, language::RewriteOptions,
};
use serde::{Deserialize, Serialize};

use crate::outline;

/// Endings of files that hold kernels and nothing else.
const KERNELS: [&str; 6] = ["cu", "cuh", "hip", "cl", "metal", "wgsl"];
/// Endings of headers, which may belong to anything: they count beside kernels.
const HEADERS: [&str; 2] = ["h", "hpp"];

/// Kernels of any GPU language.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kernels;

/// What one file contributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelFacts {
    /// Lines of the file.
    pub lines: u32,
    /// Names of its functions and types, in order, each once.
    pub defines: Vec<String>,
}

impl Language for Kernels {
    type Facts = KernelFacts;
    type Graph = KernelGraph;

    const FACTS_VERSION: u32 = 1;

    fn grammar(&self) -> &'static dyn Grammar {
        &Kernels
    }

    fn claims(&self, path: &TreePath) -> bool {
        path.extension().is_some_and(|own| KERNELS.contains(&own))
    }

    fn claims_beside(&self, path: &TreePath) -> bool {
        path.extension().is_some_and(|own| HEADERS.contains(&own))
    }

    fn facts(&self, _: &TreePath, text: &str) -> KernelFacts {
        let all = ByteSpan::from_range(0..text.len());
        let outline = outline(text, all);
        let mut defines: Vec<String> = Vec::new();
        let mut known: HashSet<&str> = HashSet::new();
        let named = outline.units.iter().filter(|unit| {
            let kinds = [UnitKind::Class, UnitKind::Function];
            kinds.contains(&unit.kind) && unit.parent == Some(0)
        });
        for name in named.filter_map(|unit| unit.name.of(text)) {
            if known.insert(name) {
                defines.push(name.to_owned());
            }
        }
        KernelFacts {
            lines: outline.units.first().map_or(0, |unit| unit.lines.1),
            defines,
        }
    }

    fn outline(&self, path: &TreePath, text: &str) -> Option<Outline> {
        let known = self.claims(path) || self.claims_beside(path);
        known.then(|| outline(text, ByteSpan::from_range(0..text.len())))
    }

    fn syntax_problem(&self, _: &TreePath, _: &str) -> Option<(ByteSpan, String)> {
        None
    }

    fn resolve(
        &self,
        files: &[(TreePath, Arc<KernelFacts>)],
        _: &[TreePath],
        _: &Settings,
    ) -> KernelGraph {
        let module = |(path, facts): &(TreePath, Arc<KernelFacts>)| Module {
            name: path.to_string(),
            path: path.clone(),
            language: LanguageKind::Kernel,
            kind: ModuleKind::Module,
            lines: facts.lines,
            defines: facts.defines.clone(),
            exports: Vec::new(),
            inline: None,
            package: false,
            also: Vec::new(),
        };
        KernelGraph {
            modules: files.iter().map(module).collect(),
        }
    }
}

/// The kernel files of a tree. They are modules under their paths; nothing imports them.
#[derive(Clone, Debug, Default)]
pub struct KernelGraph {
    modules: Vec<Module>,
}

/// What is said wherever somebody asks for a change.
const COMPARED_ONLY: &str = "kernels are compared, never moved or rewritten";

impl LanguageGraph for KernelGraph {
    fn grammar(&self) -> &'static dyn Grammar {
        &Kernels
    }

    fn roots(&self) -> &[Root] {
        &[]
    }

    fn modules(&self) -> &[Module] {
        &self.modules
    }

    fn imports(&self) -> &[Import] {
        &[]
    }

    fn mentions(&self) -> &[Mention] {
        &[]
    }

    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }

    fn knows(&self, name: &str) -> bool {
        self.modules.iter().any(|module| module.name == name)
    }

    fn item(&self, _: &str) -> Option<FoundItem> {
        None
    }

    fn refuses_items(&self) -> Option<&'static str> {
        Some(COMPARED_ONLY)
    }

    fn outline(&self, path: &TreePath, text: &str) -> Option<Outline> {
        Kernels.outline(path, text)
    }

    fn references(&self, _: &str, _: &dyn Texts) -> Vec<Reference> {
        Vec::new()
    }

    fn rewrite(&self, changes: &[Change], _: RewriteOptions, _: &dyn Texts) -> LanguagePlan {
        let refusal = |change: &Change| {
            let from = change.from.clone();
            let module = self.modules.iter().find(|module| module.name == from)?;
            Some(Finding {
                code: codes::UNSAFE_CHANGE,
                severity: Severity::Error,
                path: module.path.clone(),
                span: None,
                message: COMPARED_ONLY.to_owned(),
                help: Some("change them by hand; `diff` shows what differs".to_owned()),
            })
        };
        LanguagePlan {
            refusals: changes.iter().filter_map(refusal).collect(),
            ..LanguagePlan::default()
        }
    }

    fn retire(&self, _: &[TreePath], _: &dyn Texts) -> LanguagePlan {
        LanguagePlan::default()
    }

    fn rewrite_fragment(&self, _: &[Change], _: &str) -> Vec<(Rewrite, Edit)> {
        Vec::new()
    }

    fn find_regressions(
        &self,
        _: &Self,
        _: &[Change],
        _: &dyn Texts,
        _: &dyn Texts,
    ) -> Vec<Finding> {
        Vec::new()
    }
}
