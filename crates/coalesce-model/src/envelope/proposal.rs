//! What `audit --propose` wrote: which copy stays, what becomes of the others, and what a person has
//! to decide.

use schemars::JsonSchema;
use serde::Serialize;

use super::CycleCounts;

/// A proposed manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proposal {
    /// The file that was written, as it was named.
    pub path: String,
    /// What stands in it, in its order.
    pub entries: Vec<ProposedEntry>,
    /// What following its open entries would change; `null` where none can be followed.
    pub forecast: Option<Forecast>,
}

/// One entry of a proposed manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProposedEntry {
    /// `replace`, `merge` or `remove`.
    pub verb: String,
    /// The name that goes.
    pub from: String,
    /// The name that stays; empty for a removal.
    pub to: String,
    /// Whether it can be followed as it is.
    pub state: ProposedState,
    /// Sentences that say why.
    pub reasons: Vec<String>,
    /// Names of definitions that differ between the copies.
    pub decide: Vec<String>,
    /// What the planner said against it.
    pub refused: Option<String>,
}

/// How far a proposed entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProposedState {
    /// It can be followed as it is.
    Open,
    /// The copies differ: it is a comment until somebody has decided.
    Decide,
    /// The planner refuses it or cannot prove it: it is a comment with the reason.
    Refused,
}

/// What following the open entries of a proposal would change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Forecast {
    /// Files that change, come or go.
    pub files: usize,
    /// References that are rewritten.
    pub references: usize,
    /// Lines that the tree has less; negative where shims outweigh what goes.
    pub lines_removed: i64,
    /// Import cycles before.
    pub cycles_before: CycleCounts,
    /// Import cycles after.
    pub cycles_after: CycleCounts,
}

impl Forecast {
    /// The difference in lines, in words: `12 lines fewer`.
    #[must_use]
    pub fn lines(&self) -> String {
        let number = self.lines_removed.unsigned_abs();
        let noun = if number == 1 { "line" } else { "lines" };
        let than = if self.lines_removed < 0 {
            "more"
        } else {
            "fewer"
        };
        format!("{number} {noun} {than}")
    }
}
