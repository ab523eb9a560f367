//! The tree that an editor has open, and how its URIs and our paths lead to each other.

use std::path::{Path, PathBuf};

use coalesce_engine::{Failure, Progress, Session, Store};
use coalesce_model::TreePath;
use coalesce_tree::plain::{self, Links};
use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What stands for itself in a path.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');
/// Larger files are read by nobody here.
const MOST_BYTES: u64 = 64 << 20;

/// A tree by its root.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// As the client calls it.
    root: PathBuf,
    /// The same without links, where that is another path.
    real: PathBuf,
}

impl Workspace {
    /// The tree at `root`.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        let real = root.canonicalize().unwrap_or_else(|_| root.clone());
        Self { root, real }
    }

    /// The root directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path in the tree that a URI means; `None` outside of it.
    #[must_use]
    pub fn path_of(&self, uri: &str) -> Option<TreePath> {
        let path = file_path(uri)?;
        let inside = path
            .strip_prefix(&self.root)
            .or_else(|_| path.strip_prefix(&self.real));
        let inside = inside.ok()?.to_str()?;
        TreePath::new(inside.trim_end_matches('/')).ok()
    }

    /// The URI of a file of the tree.
    #[must_use]
    pub fn uri_of(&self, path: &TreePath) -> Option<Uri> {
        let full = self.root.join(path.as_str());
        let full = utf8_percent_encode(full.to_str()?, PLAIN).to_string();
        format!("file://{full}").parse().ok()
    }

    /// The text of a file as it is on disk; `None` where it has none.
    #[must_use]
    pub fn saved_text(&self, path: &TreePath) -> Option<String> {
        plain::read_to_string(&self.root.join(path.as_str()), MOST_BYTES, Links::Refuse).ok()
    }

    /// Reads and resolves the tree as it is on disk.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self) -> Result<Session, Failure> {
        Session::open(&self.root, true, Progress::silent())
    }

    /// The journal; refused where a migration was cut off.
    ///
    /// # Errors
    /// When it cannot be read, or something has to be recovered first.
    pub fn store(&self) -> Result<Store, Failure> {
        let store = Store::open(&self.root)?;
        match store.unfinished()? {
            None => Ok(store),
            Some(record) => Err(Failure::user(format!(
                "the migration {} was cut off; `coalesce recover` puts everything back",
                record.id
            ))),
        }
    }
}

/// The path that a `file:` URI of this machine means.
#[must_use]
pub fn file_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    Some(PathBuf::from(
        &*percent_decode_str(path).decode_utf8().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_lead_to_paths_below_the_root_alone() {
        let workspace = Workspace::new(PathBuf::from("/no/such root"));
        for (uri, path) in [
            ("file:///no/such%20root/a%2Bb/%C3%A9.py", Some("a+b/é.py")),
            ("file://localhost/no/such%20root/a.py", Some("a.py")),
            ("file:///no/such%20root/../../etc/passwd", None),
            ("file:///no/such%20root/%2e%2e/x.py", None),
            ("file:///elsewhere/a.py", None),
            ("file://host/no/such%20root/a.py", None),
            ("untitled:Untitled-1", None),
            ("file:///no/such%20root/%ff.py", None),
        ] {
            let found = workspace.path_of(uri);
            assert_eq!(found.as_ref().map(TreePath::as_str), path, "{uri}");
        }
        let path = TreePath::new("a+b/é.py").unwrap();
        let uri = workspace.uri_of(&path).unwrap();
        assert_eq!(workspace.path_of(uri.as_str()), Some(path));
    }
}
