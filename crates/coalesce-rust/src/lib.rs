//! Rust: crates and targets, facts, resolution, references, and how a moved module is rewritten.
//!
//! Pure functions over text: nothing here reads a disk, starts a program, or runs anything of the
//! tree; `Cargo.toml` files are parsed, never given to cargo.

mod condition_macros;
mod conditions;
mod deprecations;
pub mod discover;
pub mod facts;
mod grammar;
mod graph;
mod leading;
mod lexer;
mod lints;
mod old_names;
mod outline;
mod raw_names;
mod references;
mod regressions;
pub mod resolve;
mod retire;
mod retire_items;
mod rewrite;
mod shim;
mod signatures;
mod syntax;
mod unused;
mod words;

pub use conditions::{ConditionalLines, Configuration, conditional_lines};
pub use deprecations::{Dependency, OldName, old_names, package};
pub use facts::Facts;
pub use graph::{Rust, RustGraph};
pub use lexer::same_code;
pub use unused::Imports;
