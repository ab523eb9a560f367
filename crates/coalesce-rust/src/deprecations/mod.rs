//! The old names that a planned tree keeps, and a package that shows which of them rustc warns about.
//!
//! Reads the planned tree: what is deprecated there, in our words, and was not before. Writes texts
//! only; nothing is compiled here.

mod names;
mod package;

pub use names::{OldName, old_names};
pub use package::{Dependency, package};
