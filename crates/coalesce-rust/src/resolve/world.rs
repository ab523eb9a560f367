//! The tables of a resolved tree: packages, crates, modules with their bodies, items.
//!
//! One module is (crate, path). It may have several bodies: one for each `cfg` variant of its
//! declaration. One file may be a body of modules of several crates.

use std::sync::Arc;

use coalesce_model::TreePath;

use crate::{
    discover::{Edition, TargetKind},
    facts::{ItemKind, Namespaces, ScopeId, SourceFacts},
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
    pub facts: Arc<crate::Facts>,
    /// The bodies that stand in it, by place; several for one scope when several crates load it.
    pub bodies: Vec<BodyId>,
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
    /// Its modules, in order of declaration.
    pub children: Vec<ModuleId>,
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
    /// The body and the index into its file's `modules` where it is declared; `None` for a root.
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

/// What a name leads to.
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

/// The facts of a source file.
pub(crate) fn source(facts: &crate::Facts) -> Option<&SourceFacts> {
    match facts {
        crate::Facts::Source(source) => Some(source),
        crate::Facts::Manifest(_) => None,
    }
}
