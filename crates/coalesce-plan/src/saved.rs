//! A plan on disk: what would be done, and the state of every file that it was worked out for.

use std::collections::BTreeMap;

use coalesce_model::{
    ContentHash, NotRewritten, Rewrite, TreePath, Unproven, envelope::CycleCounts,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Assembled, Operation};

/// Version of the format; another one is refused.
const VERSION: u32 = 4;

/// What `plan --out` writes and `migrate --plan` applies, unchanged or not at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SavedPlan {
    /// Version of the format.
    pub plan: u32,
    /// Ids of the manifests it came from.
    pub manifests: Vec<String>,
    /// What it was worked out from.
    pub source: PlanSource,
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

/// What a plan was worked out from. It is worked out again before it is applied: what else a plan says
/// is believed only where that comes to the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PlanSource {
    /// Manifests.
    #[serde(rename_all = "kebab-case")]
    Manifests {
        /// Each with its name and its text.
        manifests: Vec<SavedManifest>,
        /// Whether full names in prose change too.
        prose: bool,
        /// Whether edited Rust files are laid out again.
        layout: bool,
        /// Whether files that cannot be read may name what moves.
        allow_unread: bool,
    },
    /// Shims that go.
    #[serde(rename_all = "kebab-case")]
    Shims {
        /// The manifests that say which shims there are.
        manifests: Vec<SavedManifest>,
        /// Those of these old names.
        names: Vec<String>,
        /// Those that this release removes.
        due: Option<String>,
        /// Those that nobody names.
        unused: bool,
        /// Also those that somebody names.
        even_used: bool,
    },
}

impl Default for PlanSource {
    fn default() -> Self {
        Self::Manifests {
            manifests: Vec::new(),
            prose: false,
            layout: true,
            allow_unread: false,
        }
    }
}

/// A manifest as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SavedManifest {
    /// Its file, as it was given.
    pub path: String,
    /// What it says.
    pub text: String,
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
    /// What it says is not what it was worked out from comes to.
    #[error(
        "it says something else than what it was made from asks of this tree: nothing of it is done"
    )]
    Altered,
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
            source: PlanSource::default(),
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

    /// Refuses a plan that says anything else than `other`, which was worked out from its source.
    ///
    /// # Errors
    /// [`SavedPlanError::Altered`].
    pub fn check_against(&self, other: &Self) -> Result<(), SavedPlanError> {
        if self == other {
            Ok(())
        } else {
            Err(SavedPlanError::Altered)
        }
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
        let altered = SavedPlan {
            operations: Vec::new(),
            ..plan.clone()
        };
        assert!(plan.check_against(&read).is_ok());
        assert!(matches!(
            altered.check_against(&plan),
            Err(SavedPlanError::Altered)
        ));
    }

    #[test]
    fn plans_of_other_formats_are_refused_by_name() {
        for version in [1, 2, 3, 9] {
            let text = format!("{{\"plan\": {version}, \"anything\": []}}");
            let error = SavedPlan::parse(&text).unwrap_err();
            assert!(matches!(error, SavedPlanError::Version(found) if found == version));
            let said = format!("plan format {version} is not supported");
            assert!(error.to_string().starts_with(&said), "{error}");
        }
    }
}
