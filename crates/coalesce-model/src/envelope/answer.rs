//! What was proven of a plan, and no more: a grade, what it holds for, and what it leaves open.

use schemars::JsonSchema;
use serde::Serialize;

use crate::UnprovenKind;

/// What was proven of a plan. Each grade takes in those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Places that the change may concern could not be read or told: `unproven` lists them.
    NotProven,
    /// By reading: every path, import, visibility and condition of the planned tree that there is.
    Resolved,
    /// Besides, every edited file was compiled, or imported, and nothing fails that did not before.
    Compiled,
    /// Besides, the project's tests, or the commands that its manifest names, end as before.
    Tested,
}

impl Grade {
    /// All of them, the weakest first.
    pub const ALL: [Self; 4] = [
        Self::NotProven,
        Self::Resolved,
        Self::Compiled,
        Self::Tested,
    ];

    /// As it is typed and printed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotProven => "not-proven",
            Self::Resolved => "resolved",
            Self::Compiled => "compiled",
            Self::Tested => "tested",
        }
    }
}

/// The answer to what a plan is worth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Answer {
    /// The grade; null for a plan that is refused, of which nothing is claimed.
    pub grade: Option<Grade>,
    /// The same in a sentence, and why when it is refused.
    pub message: String,
    /// How many places could not be proven, by kind.
    pub unproven: Vec<UnprovenCount>,
    /// What was compiled, imported or run: a grade above *resolved* holds for these alone.
    pub configurations: Vec<String>,
    /// What the manifest names to be checked and could not be: a grade above *resolved* does not hold for these, and
    /// none is enough for `--require compiled`.
    pub not_checked: Vec<NotChecked>,
    /// The edited lines of code, and those that no configuration has compiled or run.
    pub edited_lines: EditedLines,
}

impl Answer {
    /// Whether the plan may not be applied at all.
    #[must_use]
    pub const fn refused(&self) -> bool {
        self.grade.is_none()
    }
}

/// A check that a manifest names, and that says nothing or too little of the change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct NotChecked {
    /// What would be run.
    pub check: String,
    /// Why it says nothing, or too little.
    pub why: String,
}

/// How many places of a kind could not be proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct UnprovenCount {
    /// The kind.
    pub kind: UnprovenKind,
    /// How many.
    pub places: usize,
}

/// Edited lines of code, in the planned tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EditedLines {
    /// All of them.
    pub all: usize,
    /// Those that no configuration has compiled, or run at an import: they are resolved by reading.
    pub only_resolved: usize,
}
