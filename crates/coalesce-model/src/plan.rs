//! A plan as data: what a language proposes for a set of changes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByteSpan, Edit, Evidence, Finding, Form, TreePath};

/// How far a change may be trusted.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Safety {
    /// Resolved and proven: applied.
    Safe,
    /// Applied, and worth a look.
    NeedsReview,
    /// Shown only, never applied.
    ReportOnly,
}

/// One reference and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Rewrite {
    /// File, by its path before the migration.
    pub path: TreePath,
    /// The place in the original text.
    pub span: ByteSpan,
    /// How the reference is written.
    pub form: Form,
    /// Why it counts as one.
    pub evidence: Evidence,
    /// The full name before.
    pub from: String,
    /// The full name after.
    pub to: String,
    /// Why it changes the way it does, as a sentence fragment.
    pub reason: String,
    /// How far to trust it.
    pub safety: Safety,
}

/// A reference that stays as it is, and why: printed, never silent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NotRewritten {
    /// File, by its path before the migration.
    pub path: TreePath,
    /// The place in the original text.
    pub span: ByteSpan,
    /// How the reference is written.
    pub form: Form,
    /// What is named.
    pub name: String,
    /// Why it stays, as a sentence fragment.
    pub why: String,
}

/// A file that goes to another path; edits of its text are keyed by `from`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FileMove {
    /// Path before.
    pub from: TreePath,
    /// Path after.
    pub to: TreePath,
}

/// A file that comes into being: a shim, a parent package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NewFile {
    /// Path.
    pub path: TreePath,
    /// Its whole text.
    pub text: String,
    /// Why it is needed, as a sentence fragment.
    pub reason: String,
}

/// What one language proposes for a set of changes. Pure data: nothing has happened yet.
#[derive(Clone, Debug, Default)]
pub struct LanguagePlan {
    /// Files that move. A moved directory is spelled out file by file, data files included.
    pub moves: Vec<FileMove>,
    /// Files that come into being; may take the old path of a file that moves away.
    pub creates: Vec<NewFile>,
    /// Files that go away (replaced modules, `__init__.py` of emptied packages).
    pub deletes: Vec<TreePath>,
    /// Edits by path before the migration, in offsets of the original text; any order.
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    /// Every reference that changes, for the page.
    pub rewrites: Vec<Rewrite>,
    /// Every reference that should and does not.
    pub not_rewritten: Vec<NotRewritten>,
    /// Why the plan must not be applied; empty for a plan that may.
    pub refusals: Vec<Finding>,
    /// What else the reader should know: made packages, widened visibility, broken files.
    pub notes: Vec<Finding>,
}
