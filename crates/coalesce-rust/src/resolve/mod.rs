//! From the facts of all files to modules, items and what every path names.

mod uses;
mod world;

pub use uses::{PathUse, ResolvedSegment, UseSite};
pub use world::{Body, BodyId, Crate, CrateId, FileId, ItemId, ItemNode, ModuleId, ModuleNode, SourceFile, Target};
