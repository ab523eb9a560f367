//! Duplicates: which functions, classes, modules and blocks are copies of each other, what each copy
//! does that the others do not, and what only looks alike.
//!
//! Pure functions over outlines that a language made of texts: nothing is read, nothing printed, and
//! the same input gives the same classes. It does not say which copy should stay, and changes
//! nothing.
//!
//! The way of the data: [`SourceFile`] (tokens and units of one file) → [`Corpus`] (all units, what
//! is rare) → candidates (exact groups, rare runs of tokens, rare names) → evidence and verdict for
//! each pair → classes.

pub mod acting;
pub mod align;
pub mod anchors;
mod attribution;
pub mod baseline;
mod beside;
pub mod catalogue;
pub mod chapters;
pub mod classes;
pub mod common;
mod compiled_for_tests;
pub mod containers;
pub mod corpus;
pub mod coverage;
pub mod evidence;
pub mod families;
pub mod forwarders;
pub mod grams;
mod identical;
pub mod lcs;
pub mod likelihood;
pub mod likeness;
pub mod merging;
pub mod opposites;
pub mod order;
pub mod pairs;
pub mod passages;
pub mod renaming;
pub mod report;
pub mod source;
pub mod standing;
pub mod substitution;
mod twins;
pub mod verdict;

pub use baseline::{Baseline, BaselineError};
pub use chapters::Chapter;
pub use corpus::Corpus;
pub use report::{Duplicate, Member, Options, Report, find};
pub use source::{SourceFile, Token, Unit};
