//! Rust as a [`Language`], and its resolved graph.

mod findings;
mod imports;
mod modules;

use std::{collections::BTreeSet, sync::Arc};

use coalesce_cargo::package;
use coalesce_model::{
    ByteSpan, Change, Documentation, Edit, Finding, FoundItem, Grammar, Import, ItemShim, Language,
    LanguageGraph, LanguagePlan, Mention, Module, Outline, Reference, Rewrite, Root, Settings,
    Texts, TreePath, Unproven,
    language::{LeadingModule, LookupRegressions, RewriteOptions},
};

use crate::{
    discover::{self, TargetKind},
    facts::{self, Facts},
    leading, outline, references,
    regressions::{
        Tree, TreeWithGlobs, ambiguous_links, ambiguous_methods, ambiguous_names,
        ambiguous_reexports, captured_names, conditions_in_doubt, conditions_said_again,
        deprecated_uses, enums_behind_aliases, expectations_in_doubt, expectations_left,
        hidden_beside_globs, idle_macro_imports, idle_reexports, left_unused, lookup_regressions,
        nameless_beside_globs, names_perhaps_ambiguous, needless_qualifications, raised_lints,
        redundant_links, regressions, unused_dependencies, unusual_names,
    },
    resolve::{self, ModuleId, Reach, Res, World},
    retire, retire_items, rewrite, signatures,
};

/// The language.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rust;

impl Language for Rust {
    type Facts = Facts;
    type Graph = RustGraph;

    const FACTS_VERSION: u32 = facts::VERSION;

    fn grammar(&self) -> &'static dyn Grammar {
        &Rust
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

    fn outline(&self, path: &TreePath, text: &str) -> Option<Outline> {
        (path.extension() == Some("rs")).then(|| outline::outline(text))
    }

    fn syntax_problem(&self, path: &TreePath, text: &str) -> Option<(ByteSpan, String)> {
        if path.extension() == Some("rs") {
            facts::syntax_problem(text)
        } else {
            None
        }
    }

    fn facts_and_problem(
        &self,
        path: &TreePath,
        text: &str,
    ) -> (Facts, Option<(ByteSpan, String)>) {
        let facts = self.facts(path, text);
        let problem = match &facts {
            Facts::Source(source) => source.problem.as_ref(),
            Facts::Manifest(_) => None,
        };
        let problem = problem.map(|problem| (problem.span, problem.message.to_string()));
        (facts, problem)
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
    /// The tree that this is the graph of.
    fn tree<'t>(&'t self, texts: &'t dyn Texts) -> Tree<'t> {
        Tree {
            world: &self.world,
            texts,
        }
    }

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

    /// The edition of the crate that a file belongs to, as rustc and rustfmt spell it.
    #[must_use]
    pub fn edition_of(&self, path: &TreePath) -> Option<&'static str> {
        let file = &self.world[self.world.file_at(path)?];
        let body = &self.world[file.bodies.first()?];
        let krate = self.world[body.module].krate;
        Some(self.world[krate].edition.year())
    }

    /// The edition of the package around a file that no crate holds yet.
    #[must_use]
    pub fn edition_near(&self, path: &TreePath) -> Option<&'static str> {
        let directory = |krate: &resolve::Crate| &self.world.package(krate.package).directory;
        let inside = |krate: &&resolve::Crate| path.strip_prefix(directory(krate)).is_some();
        let crates = self.world.crates.iter().filter(inside);
        let nearest = crates.max_by_key(|krate| directory(krate).as_str().len());
        nearest.map(|krate| krate.edition.year())
    }
}

impl RustGraph {
    /// A single `impl` block of a module, by the name that a manifest gives it.
    fn block(&self, module: usize, name: &str) -> Option<FoundItem> {
        let (parent, header) = name.rsplit_once("::")?;
        let home = self.world.modules_named(parent).first().copied()?;
        let found = rewrite::blocks::named(&self.world, home, header);
        let place = coalesce_model::ItemPlace::Defined;
        (!found.is_empty()).then_some(FoundItem { module, place })
    }

    /// A method of a type of a module, by its full name.
    fn method(&self, name: &str) -> Option<FoundItem> {
        let place = rewrite::functions::place_of(&self.world, name)?;
        let (of, _) = name.rsplit_once("::")?;
        let (parent, _) = of.rsplit_once("::")?;
        let module = self
            .modules
            .iter()
            .position(|module| module.name == parent)?;
        Some(FoundItem { module, place })
    }
}

impl LanguageGraph for RustGraph {
    fn grammar(&self) -> &'static dyn Grammar {
        &Rust
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
        self.findings.clone()
    }

    fn knows(&self, name: &str) -> bool {
        !references::Wanted::of(&self.world, name).is_empty()
            || self.world.exports(name)
            || !self.world.leads_to(name).is_empty()
    }

    fn public_names(&self) -> BTreeSet<String> {
        let world = &self.world;
        let libraries = world
            .crates
            .iter()
            .filter(|krate| krate.kind == TargetKind::Lib);
        let mut open: Vec<ModuleId> = libraries.filter_map(|krate| krate.root).collect();
        let mut names = BTreeSet::new();
        while let Some((id, node)) = open.pop().map(|id| (id, &world[id])) {
            let bound = world.bound_names(id);
            let public: BTreeSet<Arc<str>> = bound
                .filter(|(name, reach)| *reach == Reach::Public && &**name != "_")
                .map(|(name, _)| name)
                .collect();
            let child = |id: &ModuleId| Some(world[*id].name.as_str());
            let is_public = |id: &&ModuleId| child(id).is_some_and(|name| public.contains(name));
            open.extend(node.children.iter().filter(is_public));
            names.extend(
                public
                    .iter()
                    .map(|name| format!("{}::{name}", node.canonical)),
            );
        }
        names
    }

    fn item(&self, name: &str) -> Option<FoundItem> {
        if let Some(found) = self.method(name) {
            return Some(found);
        }
        let (parent, _) = name.rsplit_once("::")?;
        let named = |wanted: &str| self.modules.iter().position(|module| module.name == wanted);
        let module = named(parent)?;
        if rewrite::blocks::is_block(name) {
            return self.block(module, name);
        }
        // A name may be that of a module as well.
        let place = match named(name) {
            None => self.world.item_place(name)?,
            Some(_) => self.world.item_beside(name)?,
        };
        Some(FoundItem { module, place })
    }

    fn is_taken(&self, name: &str) -> bool {
        self.world.type_named(name).is_some()
    }

    fn imports_only(&self, name: &str, of: &str) -> bool {
        self.world.imports_only(name, of)
    }

    fn canonical(&self, name: &str) -> Option<String> {
        match self.world.type_named(name)? {
            Res::Module(module) => Some(self.world[module].canonical.clone()),
            _ => None,
        }
    }

    fn has_public_member(&self, name: &str, texts: &dyn Texts) -> bool {
        rewrite::functions::is_public(&self.world, name, texts)
    }

    fn is_published(&self, name: &str, texts: &dyn Texts) -> bool {
        let krate = name.split("::").next().unwrap_or_default();
        let mut crates = self.world.crates.iter();
        let package = crates
            .find(|one| one.canonical == krate)
            .and_then(|one| self.world.packages.get(one.package));
        package.is_some_and(|package| package::is_published(texts, &package.directory))
    }

    fn definition_of(&self, name: &str) -> Option<String> {
        let led = self.world.leads_to(name).into_iter();
        let mut items = led.filter_map(|res| match res {
            Res::Item(item) => Some(&self.world[item]),
            _ => None,
        });
        let item = items.next()?;
        Some(format!(
            "{}::{}",
            self.world[item.module].canonical, item.name
        ))
    }

    fn meant(&self, module: &str, path: &[String]) -> Option<String> {
        self.world.meant(module, path)
    }

    fn signatures_apart(
        &self,
        pairs: &[(String, String)],
        changes: &[Change],
        texts: &dyn Texts,
    ) -> Vec<Option<(String, String)>> {
        signatures::apart(&self.world, pairs, changes, texts)
    }

    fn outline(&self, path: &TreePath, text: &str) -> Option<Outline> {
        Language::outline(&Rust, path, text)
    }

    fn references(&self, name: &str, texts: &dyn Texts) -> Vec<Reference> {
        let mut found = self.references_of(&[name], texts);
        found.pop().unwrap_or_default()
    }

    fn references_of(&self, names: &[&str], texts: &dyn Texts) -> Vec<Vec<Reference>> {
        references::references(&self.world, names, texts)
    }

    fn rewrite(
        &self,
        changes: &[Change],
        options: RewriteOptions,
        texts: &dyn Texts,
    ) -> LanguagePlan {
        rewrite::rewrite(self, changes, options, texts)
    }

    fn retire(&self, shims: &[TreePath], texts: &dyn Texts) -> LanguagePlan {
        retire::retire(&self.world, shims, texts)
    }

    fn item_shims(&self) -> Vec<ItemShim> {
        retire_items::all(&self.world)
    }

    fn item_shim_references(&self, names: &[&str], _texts: &dyn Texts) -> Vec<Vec<Reference>> {
        retire_items::references(&self.world, names)
    }

    fn retire_items(&self, names: &[String], texts: &dyn Texts) -> LanguagePlan {
        retire_items::retire(&self.world, names, texts)
    }

    fn rewrite_fragment(&self, changes: &[Change], code: &str) -> Vec<(Rewrite, Edit)> {
        let mut found = rewrite::rewrite_fragments(self, changes, &[code]);
        found.pop().unwrap_or_default()
    }

    fn rewrite_fragments(&self, changes: &[Change], codes: &[&str]) -> Vec<Vec<(Rewrite, Edit)>> {
        rewrite::rewrite_fragments(self, changes, codes)
    }

    fn documentation(
        &self,
        changes: &[Change],
        path: &TreePath,
        texts: &dyn Texts,
    ) -> Option<Documentation> {
        rewrite::documentation(self, changes, path, texts)
    }

    fn find_new_warnings(
        &self,
        after: &Self,
        before_texts: &dyn Texts,
        after_texts: &dyn Texts,
    ) -> Vec<Unproven> {
        let (before, after) = (self.tree(before_texts), after.tree(after_texts));
        let mut found = left_unused(before, after);
        found.extend(ambiguous_links(before, after));
        found.extend(ambiguous_methods(before, after));
        found.extend(names_perhaps_ambiguous(before, after));
        let (old, new) = (TreeWithGlobs::of(before), TreeWithGlobs::of(after));
        found.extend(ambiguous_reexports(&old, &new));
        found.extend(captured_names(before, after));
        found.extend(deprecated_uses(before, after));
        found.extend(redundant_links(before, after));
        found.extend(expectations_in_doubt(before, after));
        found.extend(expectations_left(before, after));
        found.extend(hidden_beside_globs(&old, &new));
        found.extend(idle_macro_imports(before, after));
        found.extend(idle_reexports(&old, &new));
        found.extend(conditions_in_doubt(before, after));
        found.extend(conditions_said_again(before, after));
        found.extend(raised_lints(before, after));
        found.extend(nameless_beside_globs(before, after));
        found.extend(needless_qualifications(before, after));
        found.extend(unused_dependencies(before, after));
        found.extend(unusual_names(before, after));
        found
    }

    fn lesser_names(&self, after: &Self) -> Vec<Finding> {
        enums_behind_aliases(&self.world, &after.world)
    }

    fn lookup_regressions(&self, after: &Self, changes: &[Change]) -> LookupRegressions {
        lookup_regressions(&self.world, &after.world, changes)
    }

    fn find_regressions(
        &self,
        after: &Self,
        _changes: &[Change],
        before_texts: &dyn Texts,
        after_texts: &dyn Texts,
    ) -> Vec<Finding> {
        let (before, after) = (self.tree(before_texts), after.tree(after_texts));
        let mut found = regressions(before, after);
        found.extend(ambiguous_names(before, after));
        found
    }
}
