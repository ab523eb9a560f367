//! The facts of all files, resolved: modules, imports, and what a name of a module means.
//!
//! Resolution has three values. A name that something invisible could supply (a star import from
//! outside, `__getattr__`, a compiled extension) is opaque, never missing.

mod absent;
mod bindings;
mod look;
mod names;
mod problems;
mod resolved;

use std::sync::{Arc, OnceLock};

use absent::{declared, extensions, project_files};
use bindings::{Bound, bindings, exports, star_imports};
use coalesce_model::{
    Allowed, Guard, Import, LanguageKind, Mention, Module, ModuleKind, Root, Settings, TreePath,
};
use look::{Known, Look, REMEMBERED};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    facts::{Content, ImportStatement, Leaf, PythonFacts},
    roots::{FileNames, is_source, name_files},
};

/// How many re-exports are followed before a chain counts as opaque.
const MAXIMUM_CHAIN: usize = 24;

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entity {
    /// A module of the tree.
    Module(usize),
    /// A name that a module of the tree defines.
    Item(usize, String),
    /// Something outside the tree.
    External,
    /// The tree should have it, and has not.
    Missing,
    /// It may or may not be there.
    Opaque,
}

/// A chain of names that was followed.
#[derive(Debug)]
pub struct FollowedChain {
    /// The modules that it leads through, in order.
    pub through: Vec<usize>,
    /// What it leads to, as far as it is followed: a module where it ends at one.
    pub end: Entity,
}

/// The resolved Python part of a tree.
#[derive(Default)]
pub struct PythonGraph {
    pub(crate) roots: Vec<Root>,
    pub(crate) modules: Vec<Module>,
    pub(crate) facts: Vec<Arc<PythonFacts>>,
    pub(crate) imports: Vec<Import>,
    /// Imports of which nobody can tell whether they work.
    pub(crate) unchecked: Vec<Import>,
    pub(crate) mentions: Vec<Mention>,
    by_path: FxHashMap<TreePath, usize>,
    /// Directories with an `__init__.py`.
    packages: FxHashSet<TreePath>,
    by_name: FxHashMap<String, Vec<usize>>,
    /// What the names of modules begin with.
    outermost: FxHashSet<String>,
    /// What the text of each module binds, once somebody asks: of most modules of a run nobody does.
    bound: Vec<OnceLock<FxHashMap<String, Bound>>>,
    /// Of each module the statements that are star imports, in order.
    stars: Vec<Vec<usize>>,
    /// Where those lead to.
    star_sources: Vec<StarSources>,
    extensions: FxHashMap<TreePath, Vec<String>>,
    /// Full names of compiled modules that project files say are built.
    built: FxHashSet<String>,
    /// Distributions that project files say are always installed along.
    pub(crate) requirements: FxHashSet<String>,
    /// What each project file declares.
    pub(crate) projects: Vec<(TreePath, Arc<PythonFacts>)>,
    /// What manifests allow to change when modules are imported.
    pub(crate) allowed: Allowed,
    /// Whether refusals say what would help.
    pub(crate) advice: bool,
}

/// The modules that a module has star imports of.
#[derive(Default)]
struct StarSources {
    /// Each once, the one that hides the others' names first.
    modules: Vec<usize>,
    /// Whether one leads to nothing that is known.
    unknown: bool,
}

/// Of a module with more star imports than that, what it has under a name is remembered by every look.
const MANY_STARS: usize = 8;

impl PythonGraph {
    /// Resolves the facts of all files.
    pub(crate) fn new(
        files: &[(TreePath, Arc<PythonFacts>)],
        paths: &[TreePath],
        settings: &Settings,
    ) -> Self {
        let naming = name_files(files, settings);
        let rows = sorted_rows(files, naming.names);
        let mut graph = Self::without_modules(naming.roots, files, paths, settings);
        for (names, path, facts) in rows {
            graph.add(names.canonical, names.also, path, facts);
        }
        graph.kinds();
        graph.resolve_stars();
        graph.resolve_imports();
        graph.collect_mentions();
        graph
    }

    /// What the files declare and the settings say, and no module yet.
    fn without_modules(
        roots: Vec<Root>,
        files: &[(TreePath, Arc<PythonFacts>)],
        paths: &[TreePath],
        settings: &Settings,
    ) -> Self {
        Self {
            roots,
            extensions: extensions(paths),
            built: declared(files, |facts| &facts.extensions),
            requirements: declared(files, |facts| &facts.requirements),
            projects: project_files(files),
            allowed: settings.allowed.clone(),
            advice: settings.advice,
            ..Self::default()
        }
    }

    fn add(&mut self, name: String, also: Vec<String>, path: TreePath, facts: Arc<PythonFacts>) {
        let index = self.modules.len();
        self.list(index, std::iter::once(&name).chain(&also));
        self.by_path.insert(path.clone(), index);
        if path.file_name() == "__init__.py" {
            self.packages.extend(path.parent());
        }
        let stars = star_imports(&facts);
        let exports = exports(&facts, &path);
        self.modules.push(Module {
            name,
            package: path.file_stem() == "__init__",
            language: LanguageKind::Python,
            kind: ModuleKind::Module,
            lines: facts.lines,
            defines: facts.defines.clone(),
            exports,
            inline: None,
            also,
            path,
        });
        self.facts.push(facts);
        self.bound.push(OnceLock::new());
        self.stars.push(stars);
    }

    /// Lists a module by the names that it has.
    fn list<'n>(&mut self, index: usize, names: impl Iterator<Item = &'n String>) {
        for name in names {
            self.by_name.entry(name.clone()).or_default().push(index);
            let first = name.split('.').next().unwrap_or_default();
            if !self.outermost.contains(first) {
                self.outermost.insert(first.to_owned());
            }
        }
    }

    fn resolve_stars(&mut self) {
        let modules = 0..self.modules.len();
        self.star_sources = modules.map(|module| self.star_sources_of(module)).collect();
    }

    fn star_sources_of(&self, module: usize) -> StarSources {
        let mut sources = StarSources::default();
        let mut seen = FxHashSet::default();
        let facts = self.facts.get(module);
        // A later star import hides what an earlier one brought.
        for statement in self.stars.get(module).into_iter().flatten().rev() {
            let import = facts.and_then(|facts| facts.imports.get(*statement));
            match import.map(|import| self.base_module(module, import)) {
                Some(Some(source)) if source != module => {
                    let is_new = seen.insert(source);
                    sources.modules.extend(is_new.then_some(source));
                }
                Some(None) => sources.unknown = true,
                Some(Some(_)) | None => {}
            }
        }
        sources
    }

    /// The kind of each module; a package is a stub only when nothing is below it.
    fn kinds(&mut self) {
        let kinds: Vec<ModuleKind> = (0..self.modules.len())
            .map(|index| self.kind(index))
            .collect();
        for (module, kind) in self.modules.iter_mut().zip(kinds) {
            module.kind = kind;
        }
    }

    fn kind(&self, index: usize) -> ModuleKind {
        let (Some(facts), Some(module)) = (self.facts.get(index), self.modules.get(index)) else {
            return ModuleKind::Module;
        };
        if facts.shim.is_some() {
            return ModuleKind::Shim;
        }
        // pytest looks for it by its name: it may be empty, or import fixtures for those beside it.
        if module.path.file_name() == "conftest.py" {
            return ModuleKind::Module;
        }
        let holds_others = self.holds_others(index, module);
        match facts.content {
            Content::Nothing if !holds_others => ModuleKind::Stub,
            Content::Imports if !holds_others && self.redirects(index, facts) => {
                ModuleKind::Redirect
            }
            _ => ModuleKind::Module,
        }
    }

    /// Whether a module is a package with others below it, which are the next ones by name.
    fn holds_others(&self, index: usize, module: &Module) -> bool {
        module.package && {
            let below = format!("{}.", module.name);
            let next = self.modules.get(index + 1);
            next.is_some_and(|next| next.name.starts_with(&below))
        }
    }

    /// Whether a module imports something at module level, and something of the tree.
    fn redirects(&self, index: usize, facts: &PythonFacts) -> bool {
        let mut imports = facts.imports.iter();
        facts.imports.iter().any(|import| import.top_level)
            && imports.any(|import| self.base_module(index, import).is_some())
    }

    /// The module index of a file.
    #[must_use]
    pub fn module_of(&self, path: &TreePath) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// The package that relative imports of a module count from.
    #[must_use]
    pub fn package_of(&self, index: usize) -> &str {
        let Some(module) = self.modules.get(index) else {
            return "";
        };
        if module.package {
            &module.name
        } else {
            module
                .name
                .rsplit_once('.')
                .map_or("", |(parent, _)| parent)
        }
    }

    /// The module of that name, as seen from a module: the nearest one when several have it, and
    /// files beside a script before all others.
    #[must_use]
    pub fn find(&self, from: Option<usize>, name: &str) -> Option<usize> {
        let here = from
            .and_then(|from| self.modules.get(from))
            .map(|module| &module.path);
        if let Some(directory) = here.map(directory_of) {
            let script = !self.packages.contains(directory);
            if let Some(beside) = script.then(|| self.at(directory, name)).flatten() {
                return Some(beside);
            }
        }
        // A package may be named by its file as well.
        let found = self.by_name.get(name).or_else(|| {
            let package = name.strip_suffix(".__init__")?;
            self.by_name.get(package)
        })?;
        if let [only] = found.as_slice() {
            return Some(*only);
        }
        self.nearest(found, here, name)
    }

    /// Of several modules of a name the one that is nearest to a place.
    fn nearest(&self, found: &[usize], here: Option<&TreePath>, name: &str) -> Option<usize> {
        let near = |index: &&usize| {
            let module = self.modules.get(**index);
            let path = module.map_or("", |module| module.path.as_str());
            let shared = here.map_or(0, |here| shared_directories(here.as_str(), path));
            // What is mainly called so comes before what some import also calls so.
            let mainly = module.is_some_and(|module| module.name == name);
            (shared, mainly, !path.ends_with(".pyi"))
        };
        found.iter().rev().max_by_key(near).copied()
    }

    /// What the name means that a leaf of an import statement binds; both by their numbers.
    #[must_use]
    pub fn bound_entity(&self, module: usize, (statement, leaf): (u32, u32)) -> Option<Entity> {
        let known = Known::default();
        let look = Look::new(&known);
        self.bound_entity_at(module, statement as usize, leaf as usize, look)
    }

    /// Follows a chain of names from a module: its own name, or one that a leaf of an import binds, and attributes.
    #[must_use]
    pub fn follow<'n>(
        &self,
        module: usize,
        local: Option<(u32, u32)>,
        mut chain: impl Iterator<Item = &'n str>,
    ) -> FollowedChain {
        let mut end = match (chain.next(), local) {
            (None, _) => Entity::Opaque,
            (Some(root), None) => self.member(module, root),
            (Some(_), Some(leaf)) => self.bound_entity(module, leaf).unwrap_or(Entity::Opaque),
        };
        let mut through = Vec::new();
        while let Entity::Module(package) = end {
            through.push(package);
            let Some(name) = chain.next() else { break };
            end = self.member(package, name);
        }
        FollowedChain { through, end }
    }

    /// Whether modules of the tree are named below this name, though it is no module itself.
    #[must_use]
    pub fn is_namespace(&self, name: &str) -> bool {
        let below = format!("{name}.");
        let at = self
            .modules
            .partition_point(|module| module.name.as_str() < below.as_str());
        self.modules
            .get(at)
            .is_some_and(|module| module.name.starts_with(&below))
    }

    /// The module at a dotted name below a directory.
    fn at(&self, directory: &str, name: &str) -> Option<usize> {
        // Asked for every import of a tree: one text for all that are looked for.
        let mut path = String::with_capacity(directory.len() + name.len() + 16);
        path.push_str(directory);
        for segment in name.split('.').filter(|segment| !segment.is_empty()) {
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(segment);
        }
        let base = path.len();
        [".py", "/__init__.py", ".pyi", "/__init__.pyi"]
            .iter()
            .find_map(|end| {
                path.truncate(base);
                path.push_str(end);
                self.by_path.get(path.as_str()).copied()
            })
    }

    /// The module that the `from` part of a statement names.
    #[must_use]
    pub fn base_module(&self, importer: usize, import: &ImportStatement) -> Option<usize> {
        let from = import.from.as_ref()?;
        if from.level == 0 {
            return self.find(Some(importer), &from.module);
        }
        let mut directory = directory_of(&self.modules.get(importer)?.path);
        for _ in 1..from.level {
            if directory.is_empty() {
                return None;
            }
            directory = above(directory);
        }
        if from.module.is_empty() {
            let slash = if directory.is_empty() { "" } else { "/" };
            return ["__init__.py", "__init__.pyi"].iter().find_map(|file| {
                let path = format!("{directory}{slash}{file}");
                self.by_path.get(path.as_str()).copied()
            });
        }
        self.at(directory, &from.module)
    }

    /// The module that the `from` part of a statement names in code of no module.
    fn base_outside(&self, import: &ImportStatement) -> Option<usize> {
        let from = import.from.as_ref().filter(|from| from.level == 0)?;
        self.find(None, &from.module)
    }

    /// What a leaf of an import statement means; without an importer, in code of no module.
    #[must_use]
    pub fn leaf_entity(
        &self,
        importer: impl Into<Option<usize>>,
        import: &ImportStatement,
        leaf: &Leaf,
    ) -> Entity {
        let known = Known::default();
        self.leaf_entity_at(importer.into(), import, leaf, Look::new(&known))
    }

    fn leaf_entity_at(
        &self,
        importer: Option<usize>,
        import: &ImportStatement,
        leaf: &Leaf,
        look: Look<'_>,
    ) -> Entity {
        let base = importer.map_or_else(
            || self.base_outside(import),
            |importer| self.base_module(importer, import),
        );
        self.leaf_entity_of(importer, import, leaf, base, look)
    }

    /// The same with the module that the `from` part names, which all leaves of a statement have.
    fn leaf_entity_of(
        &self,
        importer: Option<usize>,
        import: &ImportStatement,
        leaf: &Leaf,
        base: Option<usize>,
        look: Look<'_>,
    ) -> Entity {
        if look.depth > MAXIMUM_CHAIN {
            return Entity::Opaque;
        }
        let name = leaf.name.text.as_str();
        let Some(from) = &import.from else {
            return self.imported_module(importer, name);
        };
        if let Some(module) = base {
            return self.leaf_of_module((importer, import), module, name, look);
        }
        if from.level == 0 && self.is_outside(importer, &from.module) {
            return Entity::External;
        }
        self.leaf_of_folder(importer, import, name)
    }

    /// What `import name` means.
    fn imported_module(&self, importer: Option<usize>, name: &str) -> Entity {
        if self.is_outside(importer, name) {
            return Entity::External;
        }
        match self.find(importer, name) {
            Some(module) => Entity::Module(module),
            None => self.absent(importer, name),
        }
    }

    /// What a leaf means of a statement that names a module of the tree.
    fn leaf_of_module(
        &self,
        (importer, import): (Option<usize>, &ImportStatement),
        module: usize,
        name: &str,
        look: Look<'_>,
    ) -> Entity {
        // `from . import sub` in the package itself: the binding is its own submodule.
        if importer == Some(module)
            && self.binds(module, name)
            && let Some(submodule) = self.submodule(module, name)
        {
            let above = self.item_bound_above(module, import.span.start, name, look);
            return above.unwrap_or(Entity::Module(submodule));
        }
        if name == "*" {
            return Entity::Module(module);
        }
        match self.member_at(module, name, look.further()) {
            Entity::Missing if self.reads_types(importer, import) => self
                .twin_member_at(module, name, look.further())
                .unwrap_or(Entity::Missing),
            found => found,
        }
    }

    /// Whether a package that imports a submodule of itself gets it, and nothing that it has bound by that name above.
    pub(crate) fn gets_own_submodule(&self, package: usize, at: u32, name: &str) -> bool {
        let known = Known::default();
        self.item_bound_above(package, at, name, Look::new(&known))
            .is_none()
    }

    /// What a package has bound by the name of a submodule above a place in it, where that is no module:
    /// `from .policy import policy`, and then `from . import policy as pol`.
    fn item_bound_above(
        &self,
        module: usize,
        at: u32,
        name: &str,
        look: Look<'_>,
    ) -> Option<Entity> {
        let (statement, leaf) = self.bindings(module)?.get(name)?.import?;
        let binding = self.facts.get(module)?.imports.get(statement)?;
        if binding.span.start >= at {
            return None;
        }
        let bound = self.bound_entity_at(module, statement, leaf, look)?;
        matches!(bound, Entity::Item(..)).then_some(bound)
    }

    /// What a leaf means of a statement that names no module: of a namespace package it may still be one.
    fn leaf_of_folder(
        &self,
        importer: Option<usize>,
        import: &ImportStatement,
        name: &str,
    ) -> Entity {
        let package = importer.map_or("", |importer| self.package_of(importer));
        let Some(base) = import.base(package) else {
            return Entity::Missing;
        };
        match self.find(importer, &format!("{base}.{name}")) {
            Some(module) => Entity::Module(module),
            None => self.absent(importer, &base),
        }
    }

    /// Whether no module of the tree can have a name as a module sees it, since none begins like it. Most imports of a
    /// tree are such ones. Beside a script any file may be called so.
    fn is_outside(&self, importer: Option<usize>, name: &str) -> bool {
        let first = name.split('.').next().unwrap_or_default();
        let own = importer.and_then(|importer| self.modules.get(importer));
        let is_script = own.is_none_or(|own| !self.packages.contains(directory_of(&own.path)));
        !is_script && !self.outermost.contains(first)
    }

    /// Whether a statement is for type checkers alone, which see names that only files of types have.
    fn reads_types(&self, importer: Option<usize>, import: &ImportStatement) -> bool {
        let stub = |module: &Module| module.path.extension() == Some("pyi");
        let own = importer.and_then(|importer| self.modules.get(importer));
        import.guard == Guard::TypeChecking || own.is_some_and(stub)
    }

    /// Whether the text of a module binds `name`, by an import or otherwise.
    pub(crate) fn binds(&self, module: usize, name: &str) -> bool {
        self.bindings(module)
            .is_some_and(|bound| bound.contains_key(name))
    }

    /// The names that the text of a module binds.
    pub(crate) fn bound_names(&self, module: usize) -> impl Iterator<Item = &str> {
        let bound = self.bindings(module).into_iter().flatten();
        bound.map(|(name, _)| name.as_str())
    }

    /// What the text of a module binds.
    fn bindings(&self, module: usize) -> Option<&FxHashMap<String, Bound>> {
        let (bound, facts) = (self.bound.get(module)?, self.facts.get(module)?);
        Some(bound.get_or_init(|| bindings(facts)))
    }

    /// What `name` is in a module: bound there, a submodule, or supplied by a star import.
    #[must_use]
    pub fn member(&self, module: usize, name: &str) -> Entity {
        let known = Known::default();
        self.member_at(module, name, Look::new(&known))
    }

    fn member_at(&self, module: usize, name: &str, look: Look<'_>) -> Entity {
        if look.depth > MAXIMUM_CHAIN {
            return Entity::Opaque;
        }
        // Most names are found at once.
        let stars = self.star_sources.get(module);
        let many = stars.is_some_and(|stars| stars.modules.len() > MANY_STARS);
        if look.depth < REMEMBERED && !many {
            return self.member_of(module, name, look);
        }
        if let Some(found) = look.begin(module, name) {
            return found;
        }
        let found = self.member_of(module, name, look);
        look.end(module, name, &found);
        found
    }

    fn member_of(&self, module: usize, name: &str, look: Look<'_>) -> Entity {
        let (Some(facts), Some(bound)) = (self.facts.get(module), self.bindings(module)) else {
            return Entity::Opaque;
        };
        if let Some(found) = bound.get(name) {
            return self.bound_member(module, name, *found, look);
        }
        if let Some(submodule) = self.submodule(module, name) {
            return self.submodule_or_star(module, submodule, name, look);
        }
        if facts.lazy_stub
            && let Some(found) = self.twin_member_at(module, name, look.further())
        {
            return found;
        }
        let opaque = self.may_give(module, facts, name, look)
            || facts.syntax_error.is_some()
            || is_dunder(name);
        self.member_of_stars(module, name, opaque, look)
    }

    /// What a name is that the text of a module binds.
    fn bound_member(&self, module: usize, name: &str, found: Bound, look: Look<'_>) -> Entity {
        let imported = found
            .import
            .and_then(|(statement, leaf)| self.bound_entity_at(module, statement, leaf, look));
        match imported {
            Some(entity)
                if !found.defined || matches!(entity, Entity::Module(_) | Entity::Item(..)) =>
            {
                entity
            }
            _ => Entity::Item(module, name.to_owned()),
        }
    }

    /// What the name of a submodule is in its package, of which star imports may bring another thing by this name: that of
    /// the submodule itself takes its place, for it is bound once the submodule is loaded; of others either may come last.
    fn submodule_or_star(
        &self,
        module: usize,
        submodule: usize,
        name: &str,
        look: Look<'_>,
    ) -> Entity {
        let stars = self.star_sources.get(module);
        for source in stars.into_iter().flat_map(|stars| &stars.modules) {
            let brought = self.star_member_at(*source, name, look.further());
            match brought {
                Entity::Item(..) if *source == submodule => return brought,
                Entity::Item(..) => return Entity::Opaque,
                _ => {}
            }
        }
        Entity::Module(submodule)
    }

    /// What a name is that a star import may bring; `opaque` is whether something else may.
    fn member_of_stars(&self, module: usize, name: &str, opaque: bool, look: Look<'_>) -> Entity {
        let mut opaque = opaque;
        let stars = self.star_sources.get(module);
        for source in stars.into_iter().flat_map(|stars| &stars.modules) {
            match self.star_member_at(*source, name, look.further()) {
                Entity::Missing => {}
                Entity::Opaque => opaque = true,
                found => return found,
            }
        }
        opaque |= stars.is_some_and(|stars| stars.unknown);
        let generated = self.modules.get(module).is_some_and(|found| found.package)
            && self.may_be_generated(module, name);
        if opaque || generated {
            Entity::Opaque
        } else {
            Entity::Missing
        }
    }

    /// Whether a module may have a name that its text does not show.
    fn may_give(&self, module: usize, facts: &PythonFacts, name: &str, look: Look<'_>) -> bool {
        let is_tabled = facts.tabled
            && !facts.makes_modules
            && facts.made_modules.is_empty()
            && !self.outermost.contains("lazy_loader");
        if !is_tabled || !facts.lazy_stub {
            return facts.dynamic && !is_tabled;
        }
        // The file of types beside it is read when it is imported. Where it is not in the tree, a build makes it.
        let own = self.modules.get(module).map(|module| &module.path);
        let types = own.and_then(|own| self.by_path.get(format!("{own}i").as_str()).copied());
        let Some(types) = types else {
            return true;
        };
        // `lazy_loader` passes over `as`, and takes imports wherever they stand.
        let imports = self
            .facts
            .get(types)
            .into_iter()
            .flat_map(|facts| &facts.imports);
        let mut leaves = imports.flat_map(|import| &import.leaves);
        leaves.any(|leaf| leaf.name.text == name || leaf.bound() == name)
            || self.member_at(types, name, look.further()) != Entity::Missing
    }

    fn bound_entity_at(
        &self,
        module: usize,
        statement: usize,
        leaf: usize,
        look: Look<'_>,
    ) -> Option<Entity> {
        let import = self.facts.get(module)?.imports.get(statement)?;
        let leaf = import.leaves.get(leaf)?;
        if import.from.is_none() && leaf.alias.is_none() {
            // `import a.b` binds `a`.
            return Some(match self.find(Some(module), leaf.bound()) {
                Some(top) => Entity::Module(top),
                None => Entity::External,
            });
        }
        Some(self.leaf_entity_at(Some(module), import, leaf, look.further()))
    }

    /// The submodule of a package.
    #[must_use]
    pub fn submodule(&self, package: usize, name: &str) -> Option<usize> {
        let module = self.modules.get(package).filter(|module| module.package)?;
        self.at(directory_of(&module.path), name)
    }

    /// What a star import of `source` supplies under `name`.
    pub(crate) fn star_member(&self, source: usize, name: &str) -> Entity {
        let known = Known::default();
        self.star_member_at(source, name, Look::new(&known))
    }

    fn star_member_at(&self, source: usize, name: &str, look: Look<'_>) -> Entity {
        let Some(facts) = self.facts.get(source) else {
            return Entity::Opaque;
        };
        match &facts.all {
            Some(all) if !all.iter().any(|entry| entry.text == name) => {
                if facts.dynamic {
                    Entity::Opaque
                } else {
                    Entity::Missing
                }
            }
            None if name.starts_with('_') => Entity::Missing,
            Some(_) => self.member_at(source, name, look),
            // Without `__all__` a submodule comes along only when something has imported it.
            None => self.member_at(source, name, look),
        }
    }

    fn collect_mentions(&mut self) {
        let mut mentions = Vec::new();
        for (module, facts) in self.modules.iter().zip(&self.facts) {
            let own = facts.names.iter().filter(|(name, _)| {
                let top = name.text.split('.').next().unwrap_or_default();
                self.by_name.contains_key(top)
            });
            mentions.extend(own.map(|(name, line)| Mention {
                path: module.path.clone(),
                span: name.span,
                line: *line,
                name: name.text.clone(),
            }));
        }
        mentions.sort_by(|a: &Mention, b| (&a.path, a.span).cmp(&(&b.path, b.span)));
        self.mentions = mentions;
    }
}

/// The rows of a graph, by names and paths.
type Row = (FileNames, TreePath, Arc<PythonFacts>);

/// The Python files with their names and facts, in the order of names.
fn sorted_rows(files: &[(TreePath, Arc<PythonFacts>)], names: Vec<FileNames>) -> Vec<Row> {
    let named = files.iter().zip(names);
    let named = named.filter(|((path, _), _)| is_source(path));
    let mut rows: Vec<Row> = named
        .map(|((path, facts), names)| (names, path.clone(), Arc::clone(facts)))
        .collect();
    rows.sort_by(|a, b| (&a.0.canonical, &a.1).cmp(&(&b.0.canonical, &b.1)));
    rows
}

/// The directory of a file; empty at the root.
fn directory_of(path: &TreePath) -> &str {
    above(path.as_str())
}

fn above(path: &str) -> &str {
    let end = memchr::memrchr(b'/', path.as_bytes()).unwrap_or(0);
    path.get(..end).unwrap_or_default()
}

/// Whether a name is one that Python itself gives to modules, or may.
fn is_dunder(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__")
}

/// How many directories two paths have in common.
fn shared_directories(here: &str, path: &str) -> usize {
    let (here, path) = (here.split('/'), path.split('/'));
    here.zip(path).take_while(|(a, b)| a == b).count()
}
