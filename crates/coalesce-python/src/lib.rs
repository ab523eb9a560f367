//! Python: project roots, facts, resolution, rewriting and shims, as pure functions over text.
//!
//! Nothing of the tree is imported or executed, and nothing is read from disk: texts come in
//! through `coalesce_model::Texts`.

pub mod analysis;
mod executed;
mod extract;
pub mod facts;
mod flow;
mod grammar;
pub mod graph;
mod language;
mod leading;
mod lookups;
mod names;
mod order;
mod outline;
mod parser;
mod patterns;
mod project;
mod project_edit;
mod references;
mod requirements;
mod retire;
mod retire_items;
mod rewrite;
mod roots;
mod shim;

pub use graph::PythonGraph;
pub use language::Python;
pub use requirements::standard::is_standard;
