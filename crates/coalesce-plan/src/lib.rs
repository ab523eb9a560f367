//! From manifests and an index to a plan: what goes where, proven on the planned tree.
//!
//! Pure: nothing here reads a disk or changes one. The steps are [`check`] (do the entries fit the
//! tree), [`expand`] (what merges come to), the languages' own `rewrite` (how a reference is spelled), [`assemble`] (file operations
//! and the texts they leave) and [`prove`] (resolve the planned tree and compare).

mod assemble;
mod check;
mod guard_tests;
mod merge;
mod names;
mod overlay;
pub mod propose;
mod prove;
mod published;
mod saved;

pub use assemble::{Assembled, Operation, assemble};
pub use check::{Checked, EntryReport, EntryState, OpenMerge, check};
pub use guard_tests::guard_tests;
pub use merge::{Merged, expand, impls};
pub use overlay::planned_tree;
pub use prove::{Proof, planned, prove};
pub use saved::{PlanSource, Proven, SavedManifest, SavedPlan, SavedPlanError};
