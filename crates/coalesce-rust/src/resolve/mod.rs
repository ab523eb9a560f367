//! From the facts of all files to modules, items and what every path names.

mod bindings;
mod crates;
mod declarations;
mod expansions;
mod files;
mod impls;
mod imports;
mod lookup;
mod methods;
mod names;
mod order;
mod parts;
mod reexports;
mod rows;
mod tree;
mod uses;
mod world;

use std::sync::Arc;

use coalesce_model::TreePath;

pub use uses::{PathUse, ResolvedSegment, UseSite};
pub use world::{
    Body, BodyId, Crate, CrateId, FileId, ItemId, ItemNode, ModuleId, ModuleNode, SourceFile,
    Target, World,
};

pub(crate) use expansions::{ExpandedCall, MOST_READINGS, Said, paths_of_body};
pub(crate) use impls::ImplSite;
pub(crate) use lookup::{Found, Lookup};
pub(crate) use methods::{MacroMethods, MethodHomes, PastedName, SaidByMacro};
pub(crate) use names::is_within;
pub(crate) use parts::parts;
pub(crate) use rows::is_one_of_standard;
pub(crate) use tree::{MOST_MODULES, id};
pub(crate) use uses::{Site, form, leading_colons};
pub(crate) use world::{Binding, Interner, Reach, Res, SpaceId, SpaceKind, Sym};

/// Resolves all facts, sorted by path, of a tree with these paths.
#[must_use]
pub fn resolve(files: &[(TreePath, Arc<crate::Facts>)], paths: &[TreePath]) -> World {
    let mut world = tree::load(files, paths);
    names::define(&mut world);
    imports::resolve(&mut world);
    world
}
