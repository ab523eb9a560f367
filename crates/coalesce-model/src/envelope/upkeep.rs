//! The own fields of `verify` and `retire`: is a migration good, and what is left of it to remove.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Committed, EditedLines, Files, Grade, NotChecked, Plan, ReferenceEntry, ShimEntry,
    UnprovenEntry,
};
use crate::{Code, TreePath};

/// What `verify` found out by running the project's own checks in a scratch copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verify {
    /// What was read.
    pub files: Files,
    /// The manifests that the plan was made from, by id.
    pub manifests: Vec<String>,
    /// Every check that ran, in order.
    pub runs: Vec<CheckRun>,
    /// What fails after the migration and did not before.
    pub failures: Vec<VerifyFailure>,
    /// How many failures there were before and are after as well: they say nothing of the plan.
    pub failing_before: usize,
    /// Imports of files that the plan writes that the compiler calls unused, and did not before.
    pub unused_imports: Vec<UnusedImport>,
    /// What the compiler found wrong with the plan's own edits, and was mended in the plan.
    pub mended: Vec<Mended>,
    /// What was left out of the scratch copy, or not checked although nobody asked for it, and why.
    pub left_out: Vec<String>,
    /// What a manifest names to be checked and could not be, or not as a whole.
    pub not_checked: Vec<NotChecked>,
    /// Whether the plan passed.
    pub passed: bool,
    /// What a plan that passed was proven by; null for one that did not.
    pub grade: Option<Grade>,
    /// What was compiled, imported or run on the planned tree.
    pub configurations: Vec<String>,
    /// The edited lines of code, and those that nothing of that has reached.
    pub edited_lines: EditedLines,
    /// Those lines, by file.
    pub unreached: Vec<UnreachedLines>,
    /// How many of the places that reading could not prove the compiler, or the imports, have settled.
    pub settled: usize,
    /// Those that the imports of Python have settled.
    pub settled_places: Vec<UnprovenEntry>,
    /// The interpreter that these were imported with; null where there are none.
    pub settled_by: Option<String>,
}

/// An error of the planned tree that was mended in the plan, by what the compiler suggests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Mended {
    /// The file in the planned tree.
    pub path: TreePath,
    /// The line there, 1-based, before it was mended.
    pub line: u32,
    /// The error, its code first.
    pub error: String,
    /// What was done.
    pub mended: String,
}

/// Edited lines of a file that no configuration has compiled, or run at an import.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct UnreachedLines {
    /// The file in the planned tree.
    pub path: TreePath,
    /// The lines there, 1-based.
    pub lines: Vec<u32>,
    /// Why nothing reached them.
    pub why: String,
}

/// An import that nobody uses after the migration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct UnusedImport {
    /// The file in the planned tree.
    pub path: TreePath,
    /// Its line there, 1-based, before anything was taken out.
    pub line: u32,
    /// What it imports: the last name of the path, with `as` where it has that.
    pub name: String,
    /// Why it stays; null where it was taken out of the plan.
    pub kept: Option<String>,
}

/// Which tree a check ran on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TreeState {
    /// The tree as it is.
    Before,
    /// The tree as the plan leaves it.
    After,
    /// The same without the shims that the plan makes.
    ShimsHidden,
}

/// One program that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckRun {
    /// On which tree.
    pub state: TreeState,
    /// What was started, and where relative to the root.
    pub command: String,
    /// How many things it judged: targets, modules, tests; 1 for a command.
    pub judged: usize,
    /// How many of them failed.
    pub failed: usize,
    /// Whether this is what an earlier run found for the very same tree.
    pub remembered: bool,
}

/// One thing that fails after the migration and did not before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct VerifyFailure {
    /// What kind of failure; `explain` has a page on each.
    pub code: Code,
    /// On which tree it failed.
    pub state: TreeState,
    /// What failed: a target, a module, a test, a command.
    pub subject: String,
    /// What it said, first line first.
    pub message: String,
    /// The file in the migrated tree.
    pub path: Option<String>,
    /// The line there, 1-based.
    pub line: Option<u32>,
    /// The planned change that brought it about, where one stands at the place.
    pub cause: Option<FailureCause>,
}

/// The planned change behind a failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct FailureCause {
    /// The file before the migration.
    pub path: TreePath,
    /// The line there, 1-based; 0 for the file as a whole.
    pub line: u32,
    /// What is named there before.
    pub from: String,
    /// What is named there after; the same where the reference was left as it is.
    pub to: String,
    /// Why it changed, or why it did not.
    pub reason: String,
}

/// What `retire` would remove, or has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Retire {
    /// The plan.
    #[serde(flatten)]
    pub plan: Plan,
    /// Every shim that was asked about, by name.
    pub shims: Vec<RetiredShim>,
    /// Whether the plan was applied.
    pub applied: bool,
    /// The name by which `rollback` undoes it.
    pub migration: Option<String>,
    /// The commits of `--commits`; null where none were made.
    pub committed: Option<Committed>,
}

/// One shim that `retire` was asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RetiredShim {
    /// The shim.
    #[serde(flatten)]
    pub shim: ShimEntry,
    /// Whether it goes.
    pub goes: bool,
    /// Where it is still named: code, strings, configuration, links.
    pub references: Vec<ReferenceEntry>,
}
