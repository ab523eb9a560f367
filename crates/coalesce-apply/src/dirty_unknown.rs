//! Which files have changes that no commit holds, in a program that is built without `git`: it cannot
//! tell, and says so.

use std::path::Path;

use coalesce_model::TreePath;

use crate::{Error, ErrorKind};

/// Always an error: what nobody has looked at is not called committed.
///
/// # Errors
/// Always.
pub fn uncommitted(_root: &Path, _paths: &[TreePath]) -> Result<Vec<TreePath>, Error> {
    let message = "this program is built without `git`, and cannot tell what is committed";
    Err(Error::new(ErrorKind::Repository, message))
}
