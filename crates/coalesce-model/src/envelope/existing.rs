//! What `find` says of code that is looked for.

use schemars::JsonSchema;
use serde::Serialize;

use super::Share;
use crate::{LanguageKind, TreePath};

/// What `find` found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Find {
    /// What was looked for: `snippet` or `signature`.
    pub wanted: String,
    /// What is like it, the nearest first.
    pub existing: Vec<ExistingEntry>,
}

/// How a place of the tree is like what is looked for, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExistingRelation {
    /// Its name and parameters are alike; its body was not asked about.
    Signature,
    /// Much of the text is common; what they do may differ.
    Alike,
    /// What is looked for stands inside of it.
    Inside,
    /// A copy with changes: `audit` would tell both.
    Copy,
    /// The same but for local names and messages.
    Same,
}

impl ExistingRelation {
    /// As a page has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Signature => "signature",
            Self::Alike => "alike",
            Self::Inside => "inside",
            Self::Copy => "copy",
            Self::Same => "same",
        }
    }
}

/// A function or type of the tree that is like what is looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExistingEntry {
    /// File.
    pub path: TreePath,
    /// Its name in the file.
    pub item: String,
    /// First and last line, 1-based.
    pub lines: [u32; 2],
    /// Its language.
    pub language: LanguageKind,
    /// How it is like what is looked for.
    pub relation: ExistingRelation,
    /// Common tokens of all; of signatures, common words of the names and common parameters.
    pub similarity: Share,
    /// How likely a maintainer calls both duplicated code; not said of signatures.
    pub likelihood: Option<Share>,
}
