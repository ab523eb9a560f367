//! What was there when the rules were switched on, so that only what is new fails.

use std::collections::BTreeSet;

use coalesce_index::Index;
use coalesce_model::{Finding, TreePath};
use serde::{Deserialize, Serialize};

use crate::{Subject, rules};

const VERSION: u32 = 1;

/// A baseline file: JSON, sorted, one line for each entry, so that it diffs and merges well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    baseline: u32,
    /// Modules of each eager cycle.
    eager_cycles: BTreeSet<BTreeSet<String>>,
    /// `(file, message)` of unresolved imports; lines shift, so they are left out.
    unresolved: BTreeSet<(TreePath, String)>,
}

/// Why a baseline cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// It is no baseline.
    #[error("not a baseline: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It was written by another version.
    #[error("baseline format {0} is not supported by this version, which writes {VERSION}")]
    Version(u32),
}

impl Baseline {
    /// The state of a tree.
    #[must_use]
    pub fn of(index: &Index<'_>) -> Self {
        let subject = Subject {
            index,
            forbids: &[],
            configuration: &[],
            baseline: None,
        };
        let cycles = index.cycles().into_iter().filter(|cycle| cycle.eager);
        Self {
            baseline: VERSION,
            eager_cycles: cycles
                .map(|cycle| cycle.modules.into_iter().collect())
                .collect(),
            unresolved: rules::unresolved_internal_import::check(&subject)
                .into_iter()
                .map(|finding| (finding.path, finding.message))
                .collect(),
        }
    }

    /// Reads a baseline.
    ///
    /// # Errors
    /// [`BaselineError`] when the text is none, or of another version.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let baseline: Self = serde_json::from_str(text)?;
        if baseline.baseline == VERSION {
            Ok(baseline)
        } else {
            Err(BaselineError::Version(baseline.baseline))
        }
    }

    /// The text of the file.
    ///
    /// # Errors
    /// None in practice: every part is data that JSON can hold.
    pub fn to_json(&self) -> Result<String, BaselineError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Whether a cycle of these modules is inside one that was there.
    #[must_use]
    pub fn has_cycle(&self, modules: &[String]) -> bool {
        self.eager_cycles
            .iter()
            .any(|known| modules.iter().all(|module| known.contains(module)))
    }

    /// Whether this unresolved import was there.
    #[must_use]
    pub fn has_unresolved(&self, finding: &Finding) -> bool {
        self.unresolved
            .contains(&(finding.path.clone(), finding.message.clone()))
    }
}
