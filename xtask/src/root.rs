//! Where the repository is.

use std::path::PathBuf;

/// The repository above the package that cargo runs, or else the current directory.
pub fn repository_root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let parent = package.as_deref().and_then(|package| package.parent());
    parent.map_or_else(|| PathBuf::from("."), ToOwned::to_owned)
}
