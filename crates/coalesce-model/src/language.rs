//! What a language has to provide. Everything here is a pure function over text: no disk, no
//! program started, nothing of the tree executed.

use std::{collections::BTreeSet, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    AddedImport, ByteSpan, Change, CheckSettings, Finding, Grammar, Import, ImportChange,
    LanguageKind, LanguagePlan, Mention, Module, Outline, Reference, Rewrite, Root, Texts,
    TreePath, Unproven, manifest::Accessor,
};

/// What `coalesce.toml` says, as far as languages need it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Python import roots, instead of those that would be found.
    pub python_roots: Option<Vec<TreePath>>,
    /// What counts as a duplicate.
    pub duplicates: DuplicateSettings,
    /// What the manifests of a plan allow to change at import.
    pub allowed: Allowed,
    /// Whether a refusal says what would help, where that has to be tried to be known.
    pub advice: bool,
    /// What `check` looks for besides what it always does.
    pub check: CheckSettings,
}

/// What may change when modules are imported; without an entry, such a change is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Allowed {
    /// Packages from outside of the tree that modules may come to need when they are imported.
    #[serde(default)]
    pub requirements: Vec<String>,
    /// Modules whose guarded imports (`try: … except ImportError`) may come alive or die.
    #[serde(default)]
    pub guarded_imports: Vec<String>,
}

/// What `coalesce.toml` says about duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DuplicateSettings {
    /// Lines that a unit must have.
    pub min_lines: Option<u32>,
    /// Tokens that the body of a unit must have.
    pub min_tokens: Option<u32>,
    /// Whether files that say they are generated are looked at.
    pub generated: bool,
    /// Globs of files that are looked at; all when there is none.
    pub include: Vec<String>,
    /// Globs of files that are not looked at.
    pub exclude: Vec<String>,
}

/// One language: facts of a file, and the way from all facts to a graph.
pub trait Language: Sync {
    /// What one file contributes: owned, compact, without syntax tree. Cached on disk.
    type Facts: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// All facts, resolved.
    type Graph: LanguageGraph;

    /// Raise it when `Facts` or what fills it changes: cached facts of another version are dropped.
    const FACTS_VERSION: u32;

    /// Whether [`Language::structure`] gives less than [`Language::facts`], so that the two are kept apart.
    const STRUCTURE_IS_LESS: bool = false;

    /// Whether [`Language::resolve`] works on several threads.
    const RESOLVES_IN_PARALLEL: bool = true;

    /// How it is written.
    fn grammar(&self) -> &'static dyn Grammar;

    /// Which language.
    fn kind(&self) -> LanguageKind {
        self.grammar().lexicon().language
    }

    /// Whether the file holds facts: a source file, or a project file such as `Cargo.toml`.
    fn claims(&self, path: &TreePath) -> bool;

    /// Whether a file counts where one that [`Language::claims`] says yes to stands in the same directory:
    /// headers beside kernels.
    fn claims_beside(&self, path: &TreePath) -> bool {
        let _ = path;
        false
    }

    /// Of all files of a tree those that hold facts: claimed ones, and what counts beside them.
    fn claimed<'p>(&self, paths: &'p [TreePath]) -> BTreeSet<&'p TreePath> {
        let own: Vec<&TreePath> = paths.iter().filter(|path| self.claims(path)).collect();
        let directories: BTreeSet<Option<TreePath>> =
            match paths.iter().any(|path| self.claims_beside(path)) {
                true => own.iter().map(|path| path.parent()).collect(),
                false => BTreeSet::new(),
            };
        let beside = paths
            .iter()
            .filter(|path| self.claims_beside(path) && directories.contains(&path.parent()));
        own.into_iter().chain(beside).collect()
    }

    /// The facts of one file. Never fails: a file that does not parse gives what its tokens give,
    /// marked so.
    fn facts(&self, path: &TreePath, text: &str) -> Self::Facts;

    /// Of the facts of one file those that say which modules, imports and names there are: enough to look at a tree, not
    /// to plan what changes it.
    fn structure(&self, path: &TreePath, text: &str) -> Self::Facts {
        self.facts(path, text)
    }

    /// The tokens and units of one file, for comparing; `None` for project files. One pass of a
    /// lexer, which never fails: what is not finished ends with the text.
    fn outline(&self, path: &TreePath, text: &str) -> Option<Outline>;

    /// Where and why a text of this language does not parse, by the full parser. Asked of every
    /// edited text before anything is written; `None` for project files.
    fn syntax_problem(&self, path: &TreePath, text: &str) -> Option<(ByteSpan, String)>;

    /// The facts of a text with its [`Language::syntax_problem`], for languages that parse once for
    /// both.
    fn facts_and_problem(
        &self,
        path: &TreePath,
        text: &str,
    ) -> (Self::Facts, Option<(ByteSpan, String)>) {
        (self.facts(path, text), self.syntax_problem(path, text))
    }

    /// Resolves the facts of all claimed files, sorted by path, into one graph. `paths` is every
    /// file of the tree. Deterministic.
    fn resolve(
        &self,
        files: &[(TreePath, Arc<Self::Facts>)],
        paths: &[TreePath],
        settings: &Settings,
    ) -> Self::Graph;
}

/// What is taken from each file of a tree and kept between runs: a language's facts, or an index of
/// what several languages have.
pub trait Taken: Sync {
    /// What is taken from one file: owned and compact.
    type Of: Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Raise it when [`Taken::Of`] or what fills it changes.
    const VERSION: u32;

    /// What it is kept under; no two kinds share one.
    fn kept_as(&self) -> String;

    /// The files that something is taken from, of all files of a tree.
    fn files<'p>(&self, paths: &'p [TreePath]) -> BTreeSet<&'p TreePath>;

    /// Takes it. Never fails.
    fn take(&self, path: &TreePath, text: &str) -> Self::Of;
}

impl<L: Language> Taken for L {
    type Of = L::Facts;

    const VERSION: u32 = L::FACTS_VERSION;

    fn kept_as(&self) -> String {
        self.kind().as_str().to_owned()
    }

    fn files<'p>(&self, paths: &'p [TreePath]) -> BTreeSet<&'p TreePath> {
        self.claimed(paths)
    }

    fn take(&self, path: &TreePath, text: &str) -> L::Facts {
        self.facts(path, text)
    }
}

/// What [`Language::structure`] gives, taken from each file of a tree.
pub struct Structure<'l, L>(pub &'l L);

impl<L: Language> Taken for Structure<'_, L> {
    type Of = L::Facts;

    const VERSION: u32 = L::FACTS_VERSION;

    fn kept_as(&self) -> String {
        let whole = self.0.kept_as();
        match L::STRUCTURE_IS_LESS {
            true => format!("{whole}-structure"),
            false => whole,
        }
    }

    fn files<'p>(&self, paths: &'p [TreePath]) -> BTreeSet<&'p TreePath> {
        self.0.claimed(paths)
    }

    fn take(&self, path: &TreePath, text: &str) -> L::Facts {
        self.0.structure(path, text)
    }
}

/// How far text that is not code is rewritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewriteOptions {
    /// Full names in prose (comments, docstrings, documents) change too.
    pub prose: bool,
    /// Which of the ways that [`LanguageGraph::ways`] counts is taken, from 0.
    pub way: usize,
}

/// The shim of one item, in a module that goes on being one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemShim {
    /// The full old name of the item.
    pub name: String,
    /// The module that has the shim.
    pub module: String,
    /// Its file.
    pub path: TreePath,
    /// Id of the manifest that has made it.
    pub manifest: String,
}

/// What stands at the name of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemPlace {
    /// The definition, or several of one name (overloads, namespaces, conditions).
    Defined,
    /// The name leads on to the definition of this full name.
    Reexport(String),
    /// A shim that the manifest of this id left.
    Shim(String),
}

/// An item of the tree, as the name in a manifest finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundItem {
    /// The module whose name the item's begins with: index into [`LanguageGraph::modules`].
    pub module: usize,
    /// What stands there.
    pub place: ItemPlace,
}

/// A module that leads on from an old name to a new one, as it would be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeadingModule {
    /// Its file, which is not there.
    pub path: TreePath,
    /// Its text.
    pub text: String,
    /// The file that has to declare it, and what is added behind the text of that.
    pub declaration: Option<(TreePath, String)>,
}

/// What becomes of names that led somewhere and are looked up elsewhere than they stand.
#[derive(Debug, Default)]
pub struct LookupRegressions {
    /// Those that lead nowhere, to something else, or to what is not seen.
    pub refusals: Vec<Finding>,
    /// Those of which nobody can tell where they lead.
    pub unproven: Vec<Unproven>,
}

/// How two names come to have one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameValue {
    /// The second is an import of the first.
    Imported,
    /// Each is given the same, under the same conditions.
    Given,
}

/// A document that is the documentation of a module or an item.
#[derive(Clone, Debug, Default)]
pub struct Documentation {
    /// Its blocks of code of the language: each line with its line break, and the bytes before the code.
    pub code: Vec<Vec<(ByteSpan, usize)>>,
    /// Its links to what changes, and the edit of each.
    pub links: Vec<(Rewrite, crate::Edit)>,
    /// Links that would have to be edited in two ways, or in the documentation of one of several modules alone.
    pub divided: Vec<ByteSpan>,
}

/// The resolved modules, imports and names of one language.
pub trait LanguageGraph: Send + Sync {
    /// How the language is written.
    fn grammar(&self) -> &'static dyn Grammar;

    /// Which language.
    fn language(&self) -> LanguageKind {
        self.grammar().lexicon().language
    }

    /// Roots and how they were found, sorted.
    fn roots(&self) -> &[Root];

    /// All modules, sorted by name.
    fn modules(&self) -> &[Module];

    /// All imports, sorted by file and place.
    fn imports(&self) -> &[Import];

    /// String literals that are full names of modules or items of the tree, or look like names
    /// below its packages.
    fn mentions(&self) -> &[Mention];

    /// Unresolved internal imports, files that do not parse, source files that no module reaches.
    fn findings(&self) -> Vec<Finding>;

    /// Imports from modules of the tree of which nobody can tell by reading whether they work: the name
    /// is made at run time or by a build. Each is among [`Self::imports`] as well.
    fn unchecked_imports(&self) -> &[Import] {
        &[]
    }

    /// Names of items and re-exports, `module<sep>item`, for suggestions and ambiguity: whether
    /// `name` is a module or an item of the tree.
    fn knows(&self, name: &str) -> bool;

    /// The full names that users of its packages can write: modules and what they offer, private ones
    /// and tests left out.
    fn public_names(&self) -> BTreeSet<String> {
        let separator = self.language().separator();
        let is_private = |segment: &str| {
            segment.starts_with('_') || matches!(segment, "test" | "tests" | "conftest")
        };
        let public = |module: &&Module| !module.name.split(separator).any(is_private);
        let mut names = BTreeSet::new();
        for module in self.modules().iter().filter(public) {
            names.insert(module.name.clone());
            let offered = module.exports.iter().filter(|name| !name.starts_with('_'));
            names.extend(offered.map(|name| format!("{}{separator}{name}", module.name)));
        }
        names
    }

    /// Whether `name` is that of a member of a type which everybody can write who can write the type's, where members can
    /// be moved by themselves.
    fn has_public_member(&self, name: &str, texts: &dyn Texts) -> bool {
        let _ = (name, texts);
        false
    }

    /// Whether who has the packages from elsewhere may have the one with a public name: it is made to be published.
    fn is_published(&self, name: &str, texts: &dyn Texts) -> bool {
        let _ = (name, texts);
        false
    }

    /// Whether a module called `name` would meet something of that name. Languages that keep
    /// functions and modules apart say less than [`LanguageGraph::knows`].
    fn is_taken(&self, name: &str) -> bool {
        self.knows(name)
    }

    /// Whether `name` is that of an import of the module `of` and of nothing else, so that the module may arrive there.
    fn imports_only(&self, name: &str, of: &str) -> bool {
        let _ = (name, of);
        false
    }

    /// Whether a module has `name`, `module<sep>name`, by an import of something outside of the tree alone.
    fn imports_from_outside(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// The item called `name`, `module<sep>item`; `None` when no module has one. A name may be that
    /// of a module as well; then the manifest has to say which it means.
    fn item(&self, name: &str) -> Option<FoundItem>;

    /// Why items of this language are not moved; `None` where they are.
    fn refuses_items(&self) -> Option<&'static str> {
        None
    }

    /// The full name of what `name` means once re-exports are followed; `None` when that is not
    /// something of the tree, or the language does not say.
    fn canonical(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// The full name of the item that a public name leads to; `None` where that is a module, or not of the tree.
    fn definition_of(&self, name: &str) -> Option<String> {
        self.canonical(name)
    }

    /// The full name of what a path leads to that stands in a module, or that begins with a package where `module` is empty:
    /// re-exports and other names of packages are followed. `None` where that is not one thing of the tree, where a glob
    /// brings the name that it begins with, or where the language does not say.
    fn meant(&self, module: &str, path: &[String]) -> Option<String> {
        let _ = (module, path);
        None
    }

    /// How two names are known to have one value, whatever the words are that give it to them; `None` where they are not.
    fn same_value(&self, old: &str, new: &str, texts: &dyn Texts) -> Option<SameValue> {
        let _ = (old, new, texts);
        None
    }

    /// Of each pair of functions or classes, by the full names of their definitions, what callers of the first and of the
    /// second write behind its name; `None` where that is the same, where there is more than one definition, or where
    /// nobody calls what it is. Names that `changes` give are no difference.
    fn signatures_apart(
        &self,
        pairs: &[(String, String)],
        changes: &[Change],
        texts: &dyn Texts,
    ) -> Vec<Option<(String, String)>> {
        let _ = (changes, texts);
        vec![None; pairs.len()]
    }

    /// The tokens and units of one file: [`Language::outline`].
    fn outline(&self, path: &TreePath, text: &str) -> Option<Outline>;

    /// Every reference of the module or item `name`, its own definition left out, sorted.
    fn references(&self, name: &str, texts: &dyn Texts) -> Vec<Reference>;

    /// The same of several names, in their order. A language that goes through its tree for an answer
    /// goes through it once for all of them.
    fn references_of(&self, names: &[&str], texts: &dyn Texts) -> Vec<Vec<Reference>> {
        let names = names.iter();
        names.map(|name| self.references(name, texts)).collect()
    }

    /// The module that would lead on from the name `from`, which is no module's, to the module `to`; `None` where it has no
    /// place, or the language has no such modules.
    fn leading_module(&self, from: &str, to: &str, texts: &dyn Texts) -> Option<LeadingModule> {
        let _ = (from, to, texts);
        None
    }

    /// In how many ways the changes could be worked out: where the first one would break something,
    /// the next may not.
    fn ways(&self, changes: &[Change]) -> usize {
        let _ = changes;
        1
    }

    /// Works the changes out. They are already checked: each `from` is a module of this graph or an
    /// item that one defines, a move's `to` is not (or leads to that item) and a replacement's `to`
    /// is, none names another one's target. What cannot be moved safely is a refusal of the plan.
    fn rewrite(
        &self,
        changes: &[Change],
        options: RewriteOptions,
        texts: &dyn Texts,
    ) -> LanguagePlan;

    /// How guarded imports of a library give way to a function that gives it. Nothing where the language has no
    /// such imports.
    fn access(&self, accessor: &Accessor, texts: &dyn Texts) -> LanguagePlan {
        let _ = (accessor, texts);
        LanguagePlan::default()
    }

    /// What it takes to remove shims: their files go, and what declares them. `shims` are paths of
    /// modules of [`crate::ModuleKind::Shim`]. Who still uses them is the caller's business.
    fn retire(&self, shims: &[TreePath], texts: &dyn Texts) -> LanguagePlan;

    /// The shims of single items that stand in modules of their own right. None where the language
    /// has no such shims.
    fn item_shims(&self) -> Vec<ItemShim> {
        Vec::new()
    }

    /// For each of `names` who names an item by it, a name that a shim keeps, outside of the module with
    /// the shim.
    fn item_shim_references(&self, names: &[&str], texts: &dyn Texts) -> Vec<Vec<Reference>> {
        let _ = texts;
        vec![Vec::new(); names.len()]
    }

    /// What it takes to remove the shims of the items of these names. Who still uses them is the
    /// caller's business.
    fn retire_items(&self, names: &[String], texts: &dyn Texts) -> LanguagePlan {
        let _ = (names, texts);
        LanguagePlan::default()
    }

    /// Whether a text is code of the language and nothing else, with an import in it.
    fn is_code(&self, _text: &str) -> bool {
        false
    }

    /// The references of a piece of code that belongs to no module — a fenced block of a document,
    /// a notebook cell — and the edits that follow. Spans are offsets in `code`.
    fn rewrite_fragment(&self, changes: &[Change], code: &str) -> Vec<(Rewrite, crate::Edit)>;

    /// The same of several pieces, as of one document: what the changes mean for the tree is worked out once.
    fn rewrite_fragments(
        &self,
        changes: &[Change],
        codes: &[&str],
    ) -> Vec<Vec<(Rewrite, crate::Edit)>> {
        let codes = codes.iter();
        codes
            .map(|code| self.rewrite_fragment(changes, code))
            .collect()
    }

    /// What a document of the tree is where code has it for its documentation: the code in it is tests, and its links
    /// lead to items. `None` for any other document.
    fn documentation(
        &self,
        changes: &[Change],
        path: &TreePath,
        texts: &dyn Texts,
    ) -> Option<Documentation> {
        let _ = (changes, path, texts);
        None
    }

    /// What a compiler would warn of in `after`, and does not warn of in this graph, the one before: what nothing names
    /// any more, lints and conditions that stand elsewhere now.
    fn find_new_warnings(
        &self,
        after: &Self,
        before_texts: &dyn Texts,
        after_texts: &dyn Texts,
    ) -> Vec<Unproven>
    where
        Self: Sized,
    {
        let _ = (after, before_texts, after_texts);
        Vec::new()
    }

    /// Public names that are there in `after` as well and no longer do all that they did, this graph being before: what
    /// those notice who use the packages from elsewhere.
    fn lesser_names(&self, after: &Self) -> Vec<Finding>
    where
        Self: Sized,
    {
        let _ = after;
        Vec::new()
    }

    /// What becomes of names that are looked up in another place than they stand in, this graph being before:
    /// what bodies of macros say is read where they are called. `changes` maps names. Empty where there are none.
    fn lookup_regressions(&self, after: &Self, changes: &[Change]) -> LookupRegressions
    where
        Self: Sized,
    {
        let _ = (after, changes);
        LookupRegressions::default()
    }

    /// What becomes of names that others read of a module as attributes, or name in texts, this graph being before. `changes`
    /// maps names. Empty where resolving the planned tree shows all of that.
    fn attribute_regressions(
        &self,
        after: &Self,
        changes: &[Change],
        before_texts: &dyn Texts,
        after_texts: &dyn Texts,
    ) -> LookupRegressions
    where
        Self: Sized,
    {
        let _ = (after, changes, before_texts, after_texts);
        LookupRegressions::default()
    }

    /// What importing a module ran besides what it names, this graph being before, and does not run in `after`,
    /// where that may matter. `changes` maps names. Empty where modules run nothing.
    fn execution_differences(
        &self,
        after: &Self,
        changes: &[Change],
        before_texts: &dyn Texts,
    ) -> Vec<Unproven>
    where
        Self: Sized,
    {
        let _ = (after, changes, before_texts);
        Vec::new()
    }

    /// Imports that `after` needs besides, this graph being before, so that modules which were loaded along with what
    /// is elsewhere now stay attributes of the packages around them. `changes` maps names. Empty where nothing is loaded
    /// on the way.
    fn added_imports(
        &self,
        after: &Self,
        changes: &[Change],
        after_texts: &dyn Texts,
    ) -> Vec<AddedImport>
    where
        Self: Sized,
    {
        let _ = (after, changes, after_texts);
        Vec::new()
    }

    /// Imports of `after` that have to wait until something is called so that none of
    /// [`Self::find_regressions`] is left that is about the order of imports. Empty where that does not
    /// help, or order is no issue.
    fn deferrals(
        &self,
        after: &Self,
        changes: &[Change],
        after_texts: &dyn Texts,
    ) -> Vec<ImportChange>
    where
        Self: Sized,
    {
        let _ = (after, changes, after_texts);
        Vec::new()
    }

    /// Imports of `after` that take names from where they are defined, not from what passes them on and has not bound
    /// them yet: one step towards none of [`Self::find_regressions`] being left. Empty where none helps.
    fn nearer_imports(
        &self,
        after: &Self,
        changes: &[Change],
        after_texts: &dyn Texts,
    ) -> Vec<ImportChange>
    where
        Self: Sized,
    {
        let _ = (after, changes, after_texts);
        Vec::new()
    }

    /// What would break in `after`, this graph being before, and refuses the plan: in Python names read before they are bound
    /// that were bound before, in Rust visibility, conditions and features of the planned tree. `changes` maps module names.
    fn find_regressions(
        &self,
        after: &Self,
        changes: &[Change],
        before_texts: &dyn Texts,
        after_texts: &dyn Texts,
    ) -> Vec<Finding>
    where
        Self: Sized;
}
