//! Python, as the rest of Coalesce sees it.

use std::sync::Arc;

use coalesce_model::{
    AddedImport, ByteSpan, Change, Edit, Finding, FoundItem, Grammar, Import, ImportChange,
    ItemShim, Language, LanguageGraph, LanguagePlan, Mention, Module, Outline, Reference, Rewrite,
    Root, Settings, Texts, TreePath, Unproven,
    language::{LeadingModule, LookupRegressions, RewriteOptions, SameValue},
    manifest::Accessor,
};

use crate::{
    analysis::Analysis,
    executed, extract,
    facts::PythonFacts,
    graph::{Entity, PythonGraph},
    leading, lookups, order, outline, project, references, requirements, retire, retire_items,
    rewrite,
};

/// The Python language.
#[derive(Clone, Copy, Debug, Default)]
pub struct Python;

impl Language for Python {
    type Facts = PythonFacts;
    type Graph = PythonGraph;

    const FACTS_VERSION: u32 = 26;

    const STRUCTURE_IS_LESS: bool = true;

    const RESOLVES_IN_PARALLEL: bool = false;

    fn grammar(&self) -> &'static dyn Grammar {
        &Python
    }

    fn claims(&self, path: &TreePath) -> bool {
        matches!(path.extension(), Some("py" | "pyi"))
            || matches!(path.file_name(), "pyproject.toml" | "setup.cfg")
            || project::is_metadata(path)
    }

    fn facts(&self, path: &TreePath, text: &str) -> PythonFacts {
        extract::facts(path, text)
    }

    fn structure(&self, path: &TreePath, text: &str) -> PythonFacts {
        extract::structure(path, text)
    }

    fn outline(&self, path: &TreePath, text: &str) -> Option<Outline> {
        let source = matches!(path.extension(), Some("py" | "pyi"));
        source.then(|| outline::outline(text))
    }

    fn syntax_problem(&self, path: &TreePath, text: &str) -> Option<(ByteSpan, String)> {
        let source = matches!(path.extension(), Some("py" | "pyi"));
        source.then(|| Analysis::new(text).syntax_error).flatten()
    }

    fn facts_and_problem(
        &self,
        path: &TreePath,
        text: &str,
    ) -> (PythonFacts, Option<(ByteSpan, String)>) {
        let facts = self.facts(path, text);
        let problem = facts.syntax_error.clone();
        (facts, problem)
    }

    fn resolve(
        &self,
        files: &[(TreePath, Arc<PythonFacts>)],
        paths: &[TreePath],
        settings: &Settings,
    ) -> PythonGraph {
        PythonGraph::new(files, paths, settings)
    }
}

impl LanguageGraph for PythonGraph {
    fn grammar(&self) -> &'static dyn Grammar {
        &Python
    }

    fn leading_module(&self, from: &str, to: &str, texts: &dyn Texts) -> Option<LeadingModule> {
        leading::module(self, from, to, texts)
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
        self.problems()
    }

    fn unchecked_imports(&self) -> &[Import] {
        &self.unchecked
    }

    fn knows(&self, name: &str) -> bool {
        !self.lookup_all(name).is_empty()
    }

    fn imports_only(&self, name: &str, of: &str) -> bool {
        let module = self.find(None, of).map(Entity::Module);
        let found = self.lookup_all(name);
        // A file of that name is in the way, whatever its package imports.
        let is_free = self.modules.iter().all(|other| other.name != name);
        is_free && module.is_some_and(|module| found.iter().all(|one| *one == module))
    }

    fn imports_from_outside(&self, name: &str) -> bool {
        let Some((home, last)) = name.rsplit_once('.') else {
            return false;
        };
        let home = self.find(None, home);
        home.is_some_and(|home| self.binds(home, last) && self.lookup_all(name).is_empty())
    }

    fn canonical(&self, name: &str) -> Option<String> {
        self.full_name(&self.lookup(name))
    }

    fn is_published(&self, name: &str, texts: &dyn Texts) -> bool {
        let package = name.split('.').next().unwrap_or_default();
        let Some(module) = self.find(None, package) else {
            return false;
        };
        let path = self.modules.get(module).map(|module| &module.path);
        let mut around = std::iter::successors(path.and_then(TreePath::parent), TreePath::parent);
        around.any(|directory| project::is_published(texts, &directory))
    }

    fn same_value(&self, old: &str, new: &str, texts: &dyn Texts) -> Option<SameValue> {
        rewrite::same_value(self, (old, new), texts)
    }

    fn signatures_apart(
        &self,
        pairs: &[(String, String)],
        _: &[Change],
        texts: &dyn Texts,
    ) -> Vec<Option<(String, String)>> {
        rewrite::signatures_apart(self, pairs, texts)
    }

    fn item(&self, name: &str) -> Option<FoundItem> {
        self.item_named(name)
    }

    fn outline(&self, path: &TreePath, text: &str) -> Option<Outline> {
        Language::outline(&Python, path, text)
    }

    fn references(&self, name: &str, texts: &dyn Texts) -> Vec<Reference> {
        let mut found = self.references_of(&[name], texts);
        found.pop().unwrap_or_default()
    }

    fn references_of(&self, names: &[&str], texts: &dyn Texts) -> Vec<Vec<Reference>> {
        references::references(self, names, texts)
    }

    fn ways(&self, changes: &[Change]) -> usize {
        rewrite::ways(changes)
    }

    fn rewrite(
        &self,
        changes: &[Change],
        options: RewriteOptions,
        texts: &dyn Texts,
    ) -> LanguagePlan {
        rewrite::rewrite(self, changes, options, texts)
    }

    fn access(&self, accessor: &Accessor, texts: &dyn Texts) -> LanguagePlan {
        rewrite::access(self, accessor, texts)
    }

    fn retire(&self, shims: &[TreePath], texts: &dyn Texts) -> LanguagePlan {
        retire::retire(shims, texts)
    }

    fn item_shims(&self) -> Vec<ItemShim> {
        retire_items::all(self)
    }

    fn item_shim_references(&self, names: &[&str], texts: &dyn Texts) -> Vec<Vec<Reference>> {
        retire_items::references(self, names, texts)
    }

    fn retire_items(&self, names: &[String], texts: &dyn Texts) -> LanguagePlan {
        retire_items::retire(self, names, texts)
    }

    fn is_code(&self, text: &str) -> bool {
        let analysis = Analysis::without_annotations(text);
        analysis.syntax_error.is_none() && !analysis.imports.is_empty()
    }

    fn rewrite_fragment(&self, changes: &[Change], code: &str) -> Vec<(Rewrite, Edit)> {
        rewrite::fragment(self, changes, code)
    }

    fn execution_differences(
        &self,
        after: &Self,
        changes: &[Change],
        before_texts: &dyn Texts,
    ) -> Vec<Unproven> {
        let mut unproven = executed::differences(self, after, changes, before_texts);
        unproven.extend(requirements::unproven(self, after, changes));
        unproven
    }

    fn added_imports(
        &self,
        after: &Self,
        changes: &[Change],
        after_texts: &dyn Texts,
    ) -> Vec<AddedImport> {
        executed::added_imports(self, after, changes, after_texts)
    }

    fn attribute_regressions(
        &self,
        after: &Self,
        changes: &[Change],
        before_texts: &dyn Texts,
        after_texts: &dyn Texts,
    ) -> LookupRegressions {
        lookups::regressions(self, after, changes, before_texts, after_texts)
    }

    fn deferrals(
        &self,
        after: &Self,
        changes: &[Change],
        after_texts: &dyn Texts,
    ) -> Vec<ImportChange> {
        order::deferrals(self, after, changes, after_texts)
    }

    fn nearer_imports(
        &self,
        after: &Self,
        changes: &[Change],
        after_texts: &dyn Texts,
    ) -> Vec<ImportChange> {
        order::nearer_imports(self, after, changes, after_texts)
    }

    fn find_regressions(
        &self,
        after: &Self,
        changes: &[Change],
        _before_texts: &dyn Texts,
        after_texts: &dyn Texts,
    ) -> Vec<Finding> {
        let mut findings = order::order_regressions(self, after, changes, after_texts);
        findings.extend(requirements::regressions(self, after, changes));
        findings
    }
}
