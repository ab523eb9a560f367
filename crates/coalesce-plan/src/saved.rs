//! A plan on disk: what would be done, and the state of every file that it was worked out for.

use std::collections::BTreeMap;

use coalesce_model::{ContentHash, TreePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Operation;

/// Version of the format; another one is refused.
const VERSION: u32 = 1;

/// What `plan --out` writes and `migrate --plan` applies, unchanged or not at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SavedPlan {
    /// Version of the format.
    pub plan: u32,
    /// Ids of the manifests it came from.
    pub manifests: Vec<String>,
    /// What would be done.
    pub operations: Vec<Operation>,
    /// The hash of each file that an operation reads, as it was; `null` where none was.
    pub files: BTreeMap<TreePath, Option<ContentHash>>,
}

/// Why a saved plan cannot be applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SavedPlanError {
    /// It is no plan.
    #[error("not a plan: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It was written by another version.
    #[error("plan format {0} is not supported by this version, which writes {VERSION}")]
    Version(u32),
    /// The tree has changed since.
    #[error("the tree has changed since the plan was made: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Stale(Vec<TreePath>),
}

impl SavedPlan {
    /// A plan for the tree in the state that `hash` tells.
    pub fn new(
        manifests: Vec<String>,
        operations: Vec<Operation>,
        hash: impl Fn(&TreePath) -> Option<ContentHash>,
    ) -> Self {
        let mut files = BTreeMap::new();
        for operation in &operations {
            files.insert(operation.path().clone(), hash(operation.path()));
            if let Operation::Move { to, .. } = operation {
                files.insert(to.clone(), hash(to));
            }
        }
        Self {
            plan: VERSION,
            manifests,
            operations,
            files,
        }
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// [`SavedPlanError::Malformed`] and [`SavedPlanError::Version`].
    pub fn parse(text: &str) -> Result<Self, SavedPlanError> {
        let value: serde_json::Value = serde_json::from_str(text)?;
        let version = value
            .get("plan")
            .and_then(serde_json::Value::as_u64)
            .and_then(|version| u32::try_from(version).ok());
        if let Some(version) = version.filter(|version| *version != VERSION) {
            return Err(SavedPlanError::Version(version));
        }
        Ok(serde_json::from_value(value)?)
    }

    /// The JSON of the plan.
    ///
    /// # Errors
    /// None in practice: every part is data that JSON can hold.
    pub fn to_json(&self) -> Result<String, SavedPlanError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Refuses a tree that is not the one the plan was made for.
    ///
    /// # Errors
    /// [`SavedPlanError::Stale`], naming every file that differs.
    pub fn check(
        &self,
        hash: impl Fn(&TreePath) -> Option<ContentHash>,
    ) -> Result<(), SavedPlanError> {
        let stale: Vec<_> = self
            .files
            .iter()
            .filter(|(path, was)| hash(path) != **was)
            .map(|(path, _)| path.clone())
            .collect();
        if stale.is_empty() {
            Ok(())
        } else {
            Err(SavedPlanError::Stale(stale))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_survives_its_file_and_refuses_another_tree() {
        let path = TreePath::new("a.py").unwrap();
        let operations = vec![Operation::Edit {
            path: path.clone(),
            text: "x".into(),
        }];
        let now = |_: &TreePath| Some(ContentHash::of(b"y"));
        let plan = SavedPlan::new(vec!["0001-x".into()], operations, now);
        let read = SavedPlan::parse(&plan.to_json().unwrap()).unwrap();
        assert_eq!(read, plan);
        assert!(read.check(now).is_ok());
        assert!(
            matches!(read.check(|_| None), Err(SavedPlanError::Stale(paths)) if paths == [path])
        );
        assert!(matches!(
            SavedPlan::parse("{\"plan\": 9}"),
            Err(SavedPlanError::Version(9))
        ));
    }
}
