//! When files were last changed, as the commits of their repository tell.

#[cfg(feature = "git")]
mod commits;

use std::collections::BTreeMap;

use coalesce_model::TreePath;

#[cfg(feature = "git")]
pub use commits::history;

/// What the commits of a tree tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The commit that is checked out; `None` where nothing tells.
    pub commit: Option<String>,
    /// When files were last changed, in seconds since 1970: those of which the commits that are there
    /// tell it.
    pub changed: BTreeMap<TreePath, i64>,
    /// Files that have changes that no commit holds.
    pub uncommitted: Vec<TreePath>,
}

/// Nothing: this program was built without git.
///
/// # Errors
/// Never.
#[cfg(not(feature = "git"))]
pub fn history(_: &std::path::Path, _: &[TreePath]) -> Result<History, crate::Failure> {
    Ok(History::default())
}
