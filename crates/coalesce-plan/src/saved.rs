//! A plan on disk: what would be done, and the state of every file that it was worked out for.

use std::collections::BTreeMap;

use coalesce_model::{
    ContentHash, NotRewritten, Rewrite, TreePath, Unproven, envelope::CycleCounts,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Assembled, Operation};

/// Version of the format; another one is refused.
const VERSION: u32 = 3;

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
    /// Every reference that changes, and why.
    pub rewrites: Vec<Rewrite>,
    /// Every reference that does not, and why.
    pub not_rewritten: Vec<NotRewritten>,
    /// Every place that could not be proven, and why.
    pub unproven: Vec<Unproven>,
    /// What was proven.
    pub proven: Proven,
    /// The hash of each source file and of each path that an operation touches, as it was; `null`
    /// where none was. What was proven of one set of sources says nothing of another.
    pub files: BTreeMap<TreePath, Option<ContentHash>>,
}

/// What the proof of a plan has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Proven {
    /// Imports between modules of the planned tree that resolve.
    pub resolved_imports: usize,
    /// Import cycles before.
    pub cycles_before: CycleCounts,
    /// Import cycles after.
    pub cycles_after: CycleCounts,
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
    /// A plan for a tree with these source files, in the state that `hash` tells.
    pub fn new<'p>(
        manifests: Vec<String>,
        plan: Assembled,
        proven: Proven,
        sources: impl IntoIterator<Item = &'p TreePath>,
        hash: impl Fn(&TreePath) -> Option<ContentHash>,
    ) -> Self {
        let sources = sources.into_iter();
        let mut files: BTreeMap<_, _> = sources.map(|path| (path.clone(), hash(path))).collect();
        for operation in &plan.operations {
            files.insert(operation.path().clone(), hash(operation.path()));
            if let Operation::Move { to, .. } = operation {
                files.insert(to.clone(), hash(to));
            }
        }
        Self {
            plan: VERSION,
            manifests,
            operations: plan.operations,
            rewrites: plan.rewrites,
            not_rewritten: plan.not_rewritten,
            unproven: plan.unproven,
            proven,
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

    /// Refuses a tree that is not the one the plan was made for; `sources` are its source files.
    ///
    /// # Errors
    /// [`SavedPlanError::Stale`], naming every file that differs.
    pub fn check<'p>(
        &self,
        sources: impl IntoIterator<Item = &'p TreePath>,
        hash: impl Fn(&TreePath) -> Option<ContentHash>,
    ) -> Result<(), SavedPlanError> {
        let new = |path: &&TreePath| !self.files.contains_key(*path);
        let mut stale: Vec<_> = sources.into_iter().filter(new).cloned().collect();
        let changed = self.files.iter().filter(|(path, was)| hash(path) != **was);
        stale.extend(changed.map(|(path, _)| path.clone()));
        stale.sort();
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
        let (other, new) = (
            TreePath::new("b.py").unwrap(),
            TreePath::new("c.py").unwrap(),
        );
        let plan = Assembled {
            operations: vec![Operation::Edit {
                path: path.clone(),
                text: "x".into(),
            }],
            ..Assembled::default()
        };
        let now = |_: &TreePath| Some(ContentHash::of(b"y"));
        let proven = Proven::default();
        let plan = SavedPlan::new(vec!["0001-x".into()], plan, proven, [&other], now);
        let read = SavedPlan::parse(&plan.to_json().unwrap()).unwrap();
        assert_eq!(read, plan);
        assert!(read.check([&other], now).is_ok());
        for (sources, hash, stale) in [
            (vec![&other], None, vec![&path, &other]),
            (vec![&other, &new], now(&path), vec![&new]),
        ] {
            let Err(SavedPlanError::Stale(paths)) = read.check(sources, |_| hash) else {
                panic!("{stale:?} is stale");
            };
            assert!(paths.iter().eq(stale));
        }
        assert!(matches!(
            SavedPlan::parse("{\"plan\": 9}"),
            Err(SavedPlanError::Version(9))
        ));
    }
}
