//! The tables of a resolved tree: packages, crates, modules with their bodies, items.
//!
//! One module is (crate, path). It may have several bodies: one for each `cfg` variant of its
//! declaration. One file may be a body of modules of several crates.

use std::{
    ops::{Index, IndexMut},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use coalesce_model::{ItemPlace, TreePath};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    bindings::Names,
    methods::{MacroMethods, MethodHomes},
    tree::id,
};
use crate::{
    discover::{Edition, Package, TargetKind, crate_name},
    facts::{Facts, ItemKind, Namespaces, ScopeId, SourceFacts},
};

/// Declares an index type of one table.
macro_rules! index {
    ($(#[$doc:meta] $name:ident)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The place in its table.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    /// Index into [`World::files`].
    FileId
    /// Index into [`World::crates`].
    CrateId
    /// Index into [`World::modules`].
    ModuleId
    /// Index into [`World::bodies`].
    BodyId
    /// Index into [`World::items`].
    ItemId
}

/// A source file.
#[derive(Debug)]
pub struct SourceFile {
    /// Where it is.
    pub path: TreePath,
    /// What it holds.
    pub facts: Arc<Facts>,
    /// The bodies that stand in it; several for one scope when several crates load it.
    pub bodies: Vec<BodyId>,
    pub(crate) loads: Vec<u32>,
}

/// A target of a package.
#[derive(Debug)]
pub struct Crate {
    /// Its name in code.
    pub name: String,
    /// What its canonical names start with: the name, or `root/file.rs//name` when another crate
    /// has the name already.
    pub canonical: String,
    /// The package; index into [`World::packages`].
    pub package: usize,
    /// What it is.
    pub kind: TargetKind,
    /// Its root file.
    pub root_file: TreePath,
    /// Its edition.
    pub edition: Edition,
    /// Its root module; `None` when the root file is missing.
    pub root: Option<ModuleId>,
    /// Names that `extern crate` is not needed for, with the crate of the tree that each names;
    /// `None`: one from outside. Sorted by name.
    pub externs: Vec<(String, Option<CrateId>)>,
}

/// A module of a crate.
#[derive(Debug)]
pub struct ModuleNode {
    /// Its crate.
    pub krate: CrateId,
    /// The module around it; `None` for the root.
    pub parent: Option<ModuleId>,
    /// Its name; the crate's for the root.
    pub name: String,
    /// `crate_name::a::b`
    pub canonical: String,
    /// Its bodies, in order of declaration.
    pub bodies: Vec<BodyId>,
    /// Its modules, in order of declaration; those of blocks are not among them.
    pub children: Vec<ModuleId>,
    /// Whether it stands in a block or the code of a document, where nothing outside can name it.
    pub local: bool,
}

/// One body of a module: a file, or the braces of an inline module.
#[derive(Clone, Debug)]
pub struct Body {
    /// Whose it is.
    pub module: ModuleId,
    /// The file that holds it.
    pub file: FileId,
    /// The scope in that file: scope 0, or that of an inline module.
    pub scope: ScopeId,
    /// The body and the index into its file's `modules` where it is declared; `None` for a root, an
    /// included file, and a module that the body of a macro declares.
    pub declared: Option<(BodyId, u32)>,
    /// Whether the file came by `include!`.
    pub included: bool,
}

/// An item of a module, all its `cfg` variants together.
#[derive(Clone, Debug)]
pub struct ItemNode {
    /// The module; for items of blocks the module around the block.
    pub module: ModuleId,
    /// Its name.
    pub name: String,
    /// What it is (of the first variant).
    pub kind: ItemKind,
    /// Where its name stands.
    pub namespaces: Namespaces,
    /// Whether it stands in a block, where nothing outside can name it.
    pub local: bool,
    /// The definitions: file and index into the file's `items`.
    pub definitions: Vec<(FileId, u32)>,
}

/// What a name leads to, for those who read results.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A module of the tree; the root of a crate is one.
    Module(ModuleId),
    /// An item of the tree.
    Item(ItemId),
    /// A variant of an enum.
    Variant(ItemId, Arc<str>),
    /// Something below an item: an associated function, constant or type.
    Member(ItemId, Arc<str>),
    /// Something outside the tree, by the name that it is reached by.
    External(Arc<str>),
}

/// A name or a path of names, each text once in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Sym(pub u32);

/// Texts, each once.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    known: FxHashMap<Arc<str>, Sym>,
    texts: Vec<Arc<str>>,
}

impl Interner {
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(sym) = self.known.get(text) {
            return *sym;
        }
        let sym = Sym(id(self.texts.len()));
        let text: Arc<str> = Arc::from(text);
        self.texts.push(Arc::clone(&text));
        self.known.insert(text, sym);
        sym
    }

    pub fn get(&self, text: &str) -> Option<Sym> {
        self.known.get(text).copied()
    }

    pub fn as_str(&self, sym: Sym) -> &str {
        self.texts.get(sym.0 as usize).map_or("", |text| text)
    }

    pub fn text(&self, sym: Sym) -> Arc<str> {
        self.texts
            .get(sym.0 as usize)
            .cloned()
            .unwrap_or_else(|| Arc::from(""))
    }
}

/// What a name leads to, in a form that is cheap to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Res {
    /// A module of the tree.
    Module(ModuleId),
    /// An item of the tree.
    Item(ItemId),
    /// A variant of an enum.
    Variant(ItemId, Sym),
    /// Something below an item.
    Member(ItemId, Sym),
    /// Something outside, by a crate's name and what follows it.
    External(Sym),
}

/// Index into [`World::spaces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SpaceId(pub u32);

impl SpaceId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How far a binding may be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Everywhere.
    Public,
    /// In this module and below.
    Within(ModuleId),
}

/// A name in a space and what it leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub res: Res,
    pub namespaces: Namespaces,
    pub reach: Reach,
    /// The import that brought it.
    pub import: Option<(FileId, u32)>,
    /// Whether a glob brought it: explicit names win over it.
    pub glob: bool,
}

/// What a space is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpaceKind {
    /// A module, all its bodies together.
    Module,
    /// A block or macro body; names not found go on to the parent.
    Block,
    /// A doc test: a crate of its own.
    DocCode,
}

/// A region with names of its own, of one crate.
#[derive(Debug)]
pub(crate) struct Space {
    pub kind: SpaceKind,
    pub module: ModuleId,
    pub parent: Option<SpaceId>,
    pub names: Names,
    /// Names may come from what cannot be seen: macros, globs from outside, broken files.
    pub opaque: bool,
    /// A glob of the standard library supplies names: never those of crates or modules of the tree.
    pub std_glob: bool,
    /// Names of imports that lead to something that cannot be seen.
    pub unknown: FxHashSet<Sym>,
}

impl Space {
    pub fn new(kind: SpaceKind, module: ModuleId, parent: Option<SpaceId>) -> Self {
        Self {
            kind,
            module,
            parent,
            names: Names::default(),
            opaque: false,
            std_glob: false,
            unknown: FxHashSet::default(),
        }
    }
}

/// One way a file is part of a crate. Inline modules share it.
#[derive(Debug)]
pub(crate) struct Load {
    pub file: FileId,
    /// The space of each scope of the file.
    pub spaces: Vec<SpaceId>,
    /// The body of each scope of the file.
    pub bodies: Vec<BodyId>,
}

/// The names in traits that were read so far: a text is parsed once, however many files ask.
#[derive(Debug, Default)]
pub(crate) struct TraitMembers(Mutex<FxHashMap<ItemId, Option<Arc<[String]>>>>);

impl TraitMembers {
    /// What is known of a trait, or else what `read` says of it.
    pub fn of(
        &self,
        item: ItemId,
        read: impl FnOnce() -> Option<Vec<String>>,
    ) -> Option<Arc<[String]>> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&item).cloned();
        // Not under the lock; two who ask at once read the same.
        known.unwrap_or_else(|| {
            let names: Option<Arc<[String]>> = read().map(Arc::from);
            lock().insert(item, names.clone());
            names
        })
    }
}

/// The resolved tree.
#[derive(Debug, Default)]
pub struct World {
    /// Packages, sorted by directory.
    pub packages: Vec<Package>,
    /// Source files, sorted by path.
    pub files: Vec<SourceFile>,
    /// Crates, by package and in the order of its targets.
    pub crates: Vec<Crate>,
    /// Modules, each after its parent.
    pub modules: Vec<ModuleNode>,
    /// Bodies of modules.
    pub bodies: Vec<Body>,
    /// Items.
    pub items: Vec<ItemNode>,
    pub(crate) names: Interner,
    /// The world's name of each name of each file.
    pub(crate) file_names: Vec<Vec<Sym>>,
    pub(crate) spaces: Vec<Space>,
    /// The space of each module.
    pub(crate) module_spaces: Vec<SpaceId>,
    pub(crate) loads: Vec<Load>,
    /// Variants of each item that is an enum.
    pub(crate) variants: FxHashMap<ItemId, Vec<Sym>>,
    pub(crate) missing: Vec<(FileId, u32)>,
    /// The first file that is not looked at because there are too many modules.
    pub(crate) left_out: Option<FileId>,
    pub(crate) trait_members: TraitMembers,
    /// Modules by the one that they are declared in and their name, but those of blocks: one file may
    /// declare a hundred thousand.
    pub(crate) children: FxHashMap<(ModuleId, String), ModuleId>,
    /// Modules of blocks, by load and declaration.
    pub(crate) local_modules: FxHashMap<(usize, u32), ModuleId>,
    /// Those of them that code of documents declares.
    pub(crate) document_modules: FxHashSet<ModuleId>,
    /// Modules by canonical name.
    pub(crate) by_name: FxHashMap<String, ModuleId>,
    /// What names of libraries lead to wherever they are said; worked out when it is first asked for.
    pub(crate) libraries: OnceLock<FxHashMap<Sym, ModuleId>>,
    /// Declarations of modules by the bodies around them and their names; read when one is first asked for.
    pub(super) declared: OnceLock<FxHashMap<(BodyId, Sym), Vec<u32>>>,
    /// Macros and their calls; read when they are first asked for.
    pub(super) expansions: OnceLock<super::expansions::Expansions>,
    /// Filled when it is first asked for.
    pub(super) impls: OnceLock<Vec<super::impls::ImplSite>>,
    /// Filled when one is first asked for.
    pub(super) impls_by_header: OnceLock<super::impls::ImplsByHeader>,
    /// Of all, those of a type, by their places in the list.
    pub(super) impls_by_type: OnceLock<FxHashMap<ItemId, Vec<u32>>>,
    /// Aliases with what they stand for; worked out when one is first asked for.
    pub(super) aliases: OnceLock<FxHashMap<ItemId, ItemId>>,
    /// The items by their modules and names, sorted when one is first asked for.
    pub(super) items_by_name: OnceLock<Vec<ItemId>>,
    /// The macros by their names; filled when one is first asked for.
    pub(super) macros_by_name: OnceLock<FxHashMap<String, Vec<ItemId>>>,
    /// Who has a method by its name; read when it is first asked for.
    pub(crate) method_homes: OnceLock<MethodHomes>,
    /// The methods that macros call; read when they are first asked for.
    pub(crate) macro_methods: OnceLock<MacroMethods>,
    /// The modules to which a `pub use` brings an item; worked out when it is first asked for.
    pub(super) reexported: OnceLock<FxHashMap<ItemId, Vec<ModuleId>>>,
    /// Modules that a `pub use` shows, with those that do; worked out when it is first asked for.
    pub(super) reexporters: OnceLock<FxHashMap<ModuleId, Vec<(ModuleId, Binding)>>>,
    /// The modules that others can name; worked out when one is first asked for.
    pub(crate) open_modules: OnceLock<FxHashSet<ModuleId>>,
}

macro_rules! table {
    ($($id:ident: $table:ident of $row:ident)*) => {$(
        /// The row of a number that this world gave.
        impl Index<$id> for World {
            type Output = $row;

            fn index(&self, at: $id) -> &$row {
                self.$table
                    .get(at.index())
                    .expect("invariant: a number is a place in its table")
            }
        }

        impl Index<&$id> for World {
            type Output = $row;

            fn index(&self, at: &$id) -> &$row {
                &self[*at]
            }
        }

        impl IndexMut<$id> for World {
            fn index_mut(&mut self, at: $id) -> &mut $row {
                self.$table
                    .get_mut(at.index())
                    .expect("invariant: a number is a place in its table")
            }
        }
    )*};
}

table! {
    FileId: files of SourceFile
    CrateId: crates of Crate
    ModuleId: modules of ModuleNode
    BodyId: bodies of Body
    ItemId: items of ItemNode
    SpaceId: spaces of Space
}

impl World {
    /// The facts of a file.
    #[must_use]
    pub fn facts(&self, file: FileId) -> &SourceFacts {
        match &*self[file].facts {
            Facts::Source(source) => source,
            Facts::Manifest(_) => unreachable!("invariant: only sources are numbered as files"),
        }
    }

    /// The root of the library that a name leads to wherever it is said: no crate and no module of
    /// the tree calls anything else so.
    pub(crate) fn library_called(&self, name: Sym) -> Option<ModuleId> {
        let known = self.libraries.get_or_init(|| self.libraries_by_name());
        known.get(&name).copied()
    }

    fn libraries_by_name(&self) -> FxHashMap<Sym, ModuleId> {
        let mut known: FxHashMap<Sym, Option<ModuleId>> = FxHashMap::default();
        let mut call = |name: &str, root: Option<ModuleId>| {
            let Some(sym) = self.names.get(name) else {
                return;
            };
            let entry = known.entry(sym).or_insert(root);
            *entry = entry.filter(|known| Some(*known) == root);
        };
        let root_of = |krate: CrateId| self[krate].root;
        for krate in &self.crates {
            if krate.kind == TargetKind::Lib {
                call(&krate.name, krate.root);
            }
            for (name, target) in &krate.externs {
                call(name, target.and_then(root_of));
            }
        }
        for space in &self.spaces {
            known.retain(|name, root| {
                let mut bound = space.names.get(name).into_iter().flatten();
                !bound.any(|one| {
                    one.namespaces.meets(Namespaces::TYPE) && root.map(Res::Module) != Some(one.res)
                })
            });
        }
        let known = known.into_iter();
        known
            .filter_map(|(name, root)| Some((name, root?)))
            .collect()
    }

    /// A load by its place in the table.
    pub(crate) fn load(&self, load: usize) -> &Load {
        self.loads
            .get(load)
            .expect("invariant: loads are named by their place in the table")
    }

    /// What a module binds a name to.
    pub(crate) fn bindings(&self, module: ModuleId, name: &str) -> &[Binding] {
        let sym = self.names.get(name);
        let names = &self[self.space_of(module)].names;
        sym.and_then(|sym| names.get(&sym)).unwrap_or_default()
    }

    /// The bodies of a module.
    pub(crate) fn bodies_of(&self, module: ModuleId) -> impl Iterator<Item = &Body> + Clone {
        self[module].bodies.iter().map(|body| &self[body])
    }

    /// The body of a module that stands in a file.
    pub(crate) fn body_in(&self, module: ModuleId, file: FileId) -> Option<BodyId> {
        let mut bodies = self[module].bodies.iter().copied();
        bodies.find(|body| self[*body].file == file)
    }

    /// The space of a module.
    pub(crate) fn space_of(&self, module: ModuleId) -> SpaceId {
        *self
            .module_spaces
            .get(module.index())
            .expect("invariant: every module has a space")
    }

    /// The module that a space is of, or in.
    pub(crate) fn module_of(&self, space: SpaceId) -> ModuleId {
        let space = self.spaces.get(space.0 as usize);
        space
            .expect("invariant: a space's number is its place in the table")
            .module
    }

    /// The file at a path.
    #[must_use]
    pub fn file_at(&self, path: &TreePath) -> Option<FileId> {
        let at = self
            .files
            .binary_search_by(|file| file.path.cmp(path))
            .ok()?;
        Some(FileId(u32::try_from(at).ok()?))
    }

    /// The modules of that canonical name. A crate that shares its name with another one answers to
    /// its plain name, too.
    #[must_use]
    pub fn modules_named(&self, name: &str) -> Vec<ModuleId> {
        if let Some(module) = self.by_name.get(name) {
            return vec![*module];
        }
        self.modules_below(name, |krate, head| krate.name == head)
    }

    /// The modules whose name starts with that of a package instead of one of its targets.
    pub(crate) fn modules_of_package(&self, name: &str) -> Vec<ModuleId> {
        let package = |krate: &Crate| {
            self.packages
                .get(krate.package)
                .map(|package| crate_name(&package.name))
        };
        self.modules_below(name, |krate, head| package(krate).as_deref() == Some(head))
    }

    fn modules_below(&self, name: &str, answers: impl Fn(&Crate, &str) -> bool) -> Vec<ModuleId> {
        let (head, rest) = name
            .split_once("::")
            .map_or((name, ""), |(head, rest)| (head, rest));
        let mut found = Vec::new();
        for krate in self.crates.iter().filter(|krate| answers(krate, head)) {
            let full = if rest.is_empty() {
                krate.canonical.clone()
            } else {
                format!("{}::{rest}", krate.canonical)
            };
            found.extend(self.by_name.get(&full));
        }
        found.dedup();
        found
    }

    pub(crate) fn space(&self, module: ModuleId) -> &Space {
        &self[self.space_of(module)]
    }

    /// Whether one of a module's bodies says `#![macro_use]`.
    pub(crate) fn gives_macros(&self, module: ModuleId) -> bool {
        let bodies = &self[module].bodies;
        bodies.iter().any(|body| {
            let body = &self[body];
            {
                let body = &body;
                let facts = self.facts(body.file);
                facts.gives_macros(body.scope)
            }
        })
    }

    /// What a module itself calls by a name where types and modules are named; what globs bring does
    /// not count.
    pub(crate) fn type_named(&self, name: &str) -> Option<Res> {
        if let Some(module) = self.modules_named(name).first() {
            return Some(Res::Module(*module));
        }
        let (outer, last) = name.rsplit_once("::")?;
        let sym = self.names.get(last)?;
        self.modules_named(outer).into_iter().find_map(|outer| {
            let bindings = self.space(outer).names.get(&sym)?;
            let own = bindings
                .iter()
                .find(|binding| !binding.glob && binding.namespaces.meets(Namespaces::TYPE))?;
            Some(own.res)
        })
    }

    /// The canonical name of what a name leads to.
    #[must_use]
    pub fn name_of(&self, target: &Target) -> String {
        match target {
            Target::Module(module) => self[*module].canonical.clone(),
            Target::Item(item) => self.item_name(*item),
            Target::Variant(item, name) | Target::Member(item, name) => {
                format!("{}::{name}", self.item_name(*item))
            }
            Target::External(name) => name.to_string(),
        }
    }

    fn item_name(&self, item: ItemId) -> String {
        let item = &self[item];
        let module = self[item.module].canonical.as_str();
        format!("{module}::{}", item.name)
    }

    /// The items of that name that a module defines, those of its functions too; for a root also the
    /// macros that its crate exports.
    #[must_use]
    pub fn items_of(&self, module: ModuleId, name: &str) -> Vec<ItemId> {
        let key = |item: &ItemId| (self[item].module, self[item].name.as_str());
        let sorted = self.items_by_name.get_or_init(|| {
            let mut sorted: Vec<ItemId> = (0..self.items.len()).map(|at| ItemId(id(at))).collect();
            sorted.sort_by_key(key);
            sorted
        });
        let from = sorted.partition_point(|item| key(item) < (module, name));
        let own = sorted.iter().skip(from);
        let own = own.take_while(|item| key(item) == (module, name));
        let mut items: Vec<ItemId> = own.copied().collect();
        let bound = self
            .names
            .get(name)
            .and_then(|sym| self.space(module).names.get(&sym));
        items.extend(
            bound
                .into_iter()
                .flatten()
                .filter_map(|binding| match binding.res {
                    Res::Item(item) if binding.import.is_none() => Some(item),
                    _ => None,
                }),
        );
        items.sort();
        items.dedup();
        items
    }

    /// How far the definition of an item is shown by its own module; `None` for one of a block.
    pub(crate) fn definition_reach(&self, item: ItemId) -> Option<Reach> {
        let node = &self[item];
        let sym = self.names.get(&node.name)?;
        let bindings = self.space(node.module).names.get(&sym)?;
        let own = bindings.iter();
        let own = own.filter(|one| one.import.is_none() && one.res == Res::Item(item));
        own.map(|one| one.reach).next()
    }

    /// The names of a module and how far each binding reaches, in no order.
    pub(crate) fn bound_names(
        &self,
        module: ModuleId,
    ) -> impl Iterator<Item = (Arc<str>, Reach)> + '_ {
        let names = self.space(module).names.iter();
        names.flat_map(|(sym, bindings)| {
            bindings
                .iter()
                .map(|binding| (self.names.text(*sym), binding.reach))
        })
    }

    /// What the names of a module that can be seen outside of it lead to, in no order.
    pub(crate) fn offered(&self, module: ModuleId) -> impl Iterator<Item = Res> + '_ {
        let bindings = self.space(module).names.values().flatten();
        let seen = bindings.filter(move |binding| binding.reach != Reach::Within(module));
        seen.map(|binding| binding.res)
    }

    /// What `module::name` leads to, in every namespace.
    pub(crate) fn bound(&self, name: &str) -> Vec<Res> {
        let Some((module, last)) = name.rsplit_once("::") else {
            return Vec::new();
        };
        let modules = self.modules_named(module).into_iter();
        let bindings = modules.flat_map(|module| self.bindings(module, last));
        bindings.map(|binding| binding.res).collect()
    }

    /// Whether `name` is `module::name` for a name that the module defines or re-exports.
    pub(crate) fn exports(&self, name: &str) -> bool {
        let Some((module, last)) = name.rsplit_once("::") else {
            return false;
        };
        let bound = |module: ModuleId| !self.bindings(module, last).is_empty();
        self.modules_named(module).into_iter().any(bound)
    }

    /// What stands at the name of an item: its definition, or an import that leads on.
    pub(crate) fn item_place(&self, name: &str) -> Option<ItemPlace> {
        let (parent, last) = name.rsplit_once("::")?;
        let sym = self.names.get(last)?;
        let module = *self.modules_named(parent).first()?;
        let bindings = self.space(module).names.get(&sym)?;
        if let Some(id) = self.item_shim(module, last) {
            return Some(ItemPlace::Shim(id));
        }
        let own = bindings.iter().find_map(|binding| match binding.res {
            Res::Item(item) if binding.import.is_none() => Some(item),
            _ => None,
        });
        if own.is_some() {
            return Some(ItemPlace::Defined);
        }
        let target = bindings.first()?.res;
        Some(ItemPlace::Reexport(self.name_of(&self.target(target))))
    }

    /// The item whose name is that of a module, too.
    pub(crate) fn item_beside(&self, name: &str) -> Option<ItemPlace> {
        let (parent, last) = name.rsplit_once("::")?;
        let sym = self.names.get(last)?;
        let module = *self.modules_named(parent).first()?;
        let bindings = self.space(module).names.get(&sym)?;
        let mut items = bindings.iter().filter_map(|binding| match binding.res {
            Res::Item(item) => {
                // Macros have names of their own, and do not move by them.
                let kind = self[item].kind;
                let is_macro = matches!(kind, ItemKind::Macro | ItemKind::Unknown);
                (!is_macro).then_some((binding.import.is_none(), binding.res))
            }
            _ => None,
        });
        let first = items.next()?;
        match std::iter::once(first).chain(items).any(|(own, _)| own) {
            true => Some(ItemPlace::Defined),
            false => Some(ItemPlace::Reexport(self.name_of(&self.target(first.1)))),
        }
    }

    /// The manifest that left a shim of this name in a module, or all of the module.
    fn item_shim(&self, module: ModuleId, name: &str) -> Option<String> {
        let bodies = self[module].bodies.iter();
        let own = bodies.map(|body| self[body].file);
        // The root has exported macros, wherever their text is.
        let sym = self.names.get(name)?;
        let bindings = self.space(module).names.get(&sym)?.iter();
        let macros = bindings.filter_map(|binding| match binding.res {
            Res::Item(item) if binding.namespaces.meets(Namespaces::MACRO) => {
                let (file, _) = self[item].definitions.first()?;
                Some(*file)
            }
            _ => None,
        });
        let mut facts = own.chain(macros).map(|file| self.facts(file));
        facts.find_map(|facts| {
            let mut shims = facts.item_shims.iter();
            let own = shims.find(|(_, known)| **known == *name);
            let whole = facts.shim_marker.as_ref();
            own.map(|(id, _)| id).or(whole).map(|id| id.to_string())
        })
    }

    pub(crate) fn has_variant(&self, item: ItemId, name: &str) -> bool {
        let variants = self.variants.get(&item);
        self.names
            .get(name)
            .is_some_and(|sym| variants.is_some_and(|variants| variants.contains(&sym)))
    }

    pub(crate) fn symbol(&self, sym: Sym) -> Arc<str> {
        self.names.text(sym)
    }

    pub(crate) fn load_count(&self) -> usize {
        self.loads.len()
    }

    pub(crate) fn space_kind(&self, space: SpaceId) -> Option<SpaceKind> {
        self.spaces.get(space.0 as usize).map(|space| space.kind)
    }

    /// `mod name;` without a file and without a `cfg`: file and index into its `modules`.
    pub(crate) fn missing_modules(&self) -> impl Iterator<Item = (FileId, u32)> + '_ {
        self.missing.iter().copied()
    }

    pub(crate) fn path_of_load(&self, load: usize) -> Option<&TreePath> {
        let load = self.loads.get(load)?;
        Some(&self[load.file].path)
    }

    pub(crate) fn target(&self, res: Res) -> Target {
        match res {
            Res::Module(module) => Target::Module(module),
            Res::Item(item) => Target::Item(item),
            Res::Variant(item, name) => Target::Variant(item, self.names.text(name)),
            Res::Member(item, name) => Target::Member(item, self.names.text(name)),
            Res::External(name) => Target::External(self.names.text(name)),
        }
    }
}
