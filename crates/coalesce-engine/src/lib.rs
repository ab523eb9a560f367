//! The way from manifests to a proven plan, and from there to a changed tree and back: what the
//! `coalesce` program does, for programs of one's own.
//!
//! A [`Session`] is one tree, read and resolved. [`plan`] works out what manifests ask of it and proves
//! it on the tree as it would be; [`verify`] runs the project's own checks on that tree, in a copy;
//! [`PreparedMigration`] writes it through a journal, from which [`Store::rollback`] takes it back.
//! [`retire`] plans the removal of shims, [`propose`] drafts manifests.
//!
//! Nothing is printed here and nobody is asked: a [`Watcher`] is told what is under way. `examples/` has
//! a move from beginning to end.

mod applying;
mod commits;
mod emit;
mod existing;
mod failure;
mod formatter;
mod grading;
mod history;
mod kept;
mod links;
mod manifests;
mod operation;
mod planning;
mod progress;
mod propose;
mod relation;
mod renewal;
mod retire;
mod session;
mod shims;
mod unread;
mod verify;

pub use applying::{
    PreparedMigration, UncommittedChanges, file_changes, read_saved_plan, save_plan,
};
pub use coalesce_apply::{Commits, Store};
pub use commits::PlannedCommits;
pub use emit::emit_tests;
pub use existing::{Wanted, existing, source_files};
pub use failure::Failure;
pub use grading::answer;
pub use history::{History, history};
pub use manifests::{manifests, misfit};
pub use planning::{Depth, MigrationPlan, PlanOptions, plan};
pub use progress::{Overall, Progress, Watcher};
pub use propose::{PackageReach, ProposalOptions, ProposedManifest, propose, unfit};
pub use retire::{SelectedShim, ShimSelection, removal, retire};
pub use session::{
    Extent, LanguagePart, OUTLINERS, Outliner, Part, Session, SourcePaths, Sources, files_of,
};
pub use shims::{ShimTexts, references, shims};
pub use verify::{checks_of, checks_of_plan, verify};
