//! What a repository's commits hold, in a program that is built without `git`: it cannot tell, and says
//! so.

use std::{collections::BTreeMap, path::Path};

use coalesce_model::TreePath;

use crate::{Error, ErrorKind, Sought};

/// Files with the bytes that they had.
pub type BytesBefore = BTreeMap<TreePath, Option<Vec<u8>>>;

/// Always an error: what nobody has looked at is not called committed.
///
/// # Errors
/// Always.
pub fn uncommitted(_root: &Path, _paths: &[TreePath]) -> Result<Vec<TreePath>, Error> {
    Err(unknown())
}

/// Always an error: without `git` no revision is known.
///
/// # Errors
/// Always.
pub fn bytes_before(
    _root: &Path,
    _revision: &str,
    _paths: &[TreePath],
) -> Result<BytesBefore, Error> {
    Err(unknown())
}

/// Nothing: without `git` no list of a repository can be read.
///
/// # Errors
/// Never.
pub fn left_out(_root: &Path, _sought: Vec<Sought>) -> Result<Vec<TreePath>, Error> {
    Ok(Vec::new())
}

pub(crate) fn unknown() -> Error {
    let message = "this program is built without `git`, and cannot tell what is committed";
    Error::new(ErrorKind::Repository, message)
}
