//! Where the repository is, and which files are its own.

use std::path::PathBuf;

use anyhow::Context as _;

use crate::root::repository_root;

/// The repository that this program was built from.
pub struct Repository {
    /// Its root directory.
    pub root: PathBuf,
}

/// A file of the repository.
pub struct File {
    /// Path relative to the root, with `/`.
    pub path: String,
    /// Its text; `None` for what is not UTF-8.
    pub text: Option<String>,
}

impl Repository {
    /// The repository above the package that cargo runs, or else the current directory.
    pub fn find() -> Self {
        Self {
            root: repository_root(),
        }
    }

    /// Every file that is not ignored, sorted by path.
    pub fn files(&self) -> anyhow::Result<Vec<File>> {
        let mut files = Vec::new();
        let mut walk = ignore::WalkBuilder::new(&self.root);
        // Hidden folders hold the files of CI; git's own is no part of the repository.
        walk.hidden(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git");
        for entry in walk.build() {
            let entry = entry?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let bytes = std::fs::read(entry.path())
                .with_context(|| format!("failed to read {}", entry.path().display()))?;
            let below = entry.path().strip_prefix(&self.root)?;
            let path = below.to_string_lossy().replace('\\', "/");
            files.push(File {
                path,
                text: String::from_utf8(bytes).ok(),
            });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }
}
