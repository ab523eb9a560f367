//! A copy of the tree that consolidations are tried on, and whether it is as it was.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use coalesce_engine::{Progress, Session};
use coalesce_model::{ContentHash, TreePath};

/// Folders that are no part of the tree: what builds, imports and version control leave.
const LEFT_OUT: &[&str] = &[
    ".git",
    ".coalesce",
    "target",
    "__pycache__",
    ".pytest_cache",
    ".hypothesis",
];

/// A tree as the program reads it, without cache and progress.
pub fn read_tree(root: &Path) -> anyhow::Result<Session> {
    let session = Session::open(root, false, Progress::silent());
    session.with_context(|| format!("failed to read {}", root.display()))
}

/// The copy.
pub struct Scratch {
    folder: tempfile::TempDir,
    original: BTreeMap<PathBuf, ContentHash>,
}

impl Scratch {
    /// Copies the files of `tree`; a link that leads on inside of it stays one, others are left out.
    pub fn copy(tree: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        for path in entries(tree)? {
            let to = folder.path().join("tree").join(path.strip_prefix(tree)?);
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent)?;
            }
            if path.is_symlink() {
                link(tree, &path, &to)?;
                continue;
            }
            // Not `fs::copy`: files of a registry are read-only, and what is read-only is refused.
            let bytes = fs::read(&path);
            fs::write(
                &to,
                bytes.with_context(|| format!("failed to read {}", path.display()))?,
            )?;
        }
        let mut scratch = Self {
            folder,
            original: BTreeMap::new(),
        };
        scratch.original = scratch.hashes()?;
        Ok(scratch)
    }

    /// Where it is.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    /// A path beside it, for what is no part of the tree.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes some files of the tree; what they were, for `restore`.
    pub fn write(
        &self,
        texts: &BTreeMap<TreePath, String>,
    ) -> anyhow::Result<BTreeMap<PathBuf, Option<Vec<u8>>>> {
        let mut before = BTreeMap::new();
        for (path, text) in texts {
            let path = self.root().join(path.as_str());
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            let old = path.exists().then(|| fs::read(&path)).transpose()?;
            fs::write(&path, text)?;
            before.insert(path, old);
        }
        Ok(before)
    }

    /// Gives files back what they were.
    pub fn restore(before: &BTreeMap<PathBuf, Option<Vec<u8>>>) -> anyhow::Result<()> {
        for (path, old) in before {
            match old {
                Some(bytes) => fs::write(path, bytes)?,
                None => fs::remove_file(path)?,
            }
        }
        Ok(())
    }

    /// Takes the tree as it is now for the one that it was.
    pub fn settle(&mut self) -> anyhow::Result<()> {
        self.original = self.hashes()?;
        Ok(())
    }

    /// Copies the tree as it is to a folder that is not there yet.
    pub fn keep(&self, folder: &Path) -> anyhow::Result<()> {
        let root = self.root();
        for path in files(&root)? {
            let to = folder.join(path.strip_prefix(&root)?);
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::copy(&path, &to)?;
        }
        Ok(())
    }

    /// The first path that is not as it was; `None` where all are.
    pub fn first_change(&self) -> anyhow::Result<Option<PathBuf>> {
        let now = self.hashes()?;
        let gone = self.original.iter();
        let gone = gone.filter(|(path, hash)| now.get(*path) != Some(hash));
        let come = now
            .iter()
            .filter(|(path, _)| !self.original.contains_key(*path));
        let different = gone.chain(come).map(|(path, _)| path).min();
        Ok(different.cloned())
    }

    fn hashes(&self) -> anyhow::Result<BTreeMap<PathBuf, ContentHash>> {
        let root = self.root();
        let mut hashes = BTreeMap::new();
        for path in files(&root)? {
            // A check may write a lock file where there was none.
            let below = path.strip_prefix(&root)?;
            if below != Path::new("Cargo.lock") {
                hashes.insert(below.to_owned(), ContentHash::of(&fs::read(&path)?));
            }
        }
        Ok(hashes)
    }
}

/// Makes the same link; nothing where it leads out of the tree, or where links are not made so.
fn link(tree: &Path, from: &Path, to: &Path) -> anyhow::Result<()> {
    let leads = fs::read_link(from)?;
    let inside = from.canonicalize();
    let inside = inside.is_ok_and(|target| target.starts_with(tree));
    #[cfg(unix)]
    if inside && leads.is_relative() {
        std::os::unix::fs::symlink(leads, to)?;
    }
    #[cfg(not(unix))]
    let _ = (leads, inside, to);
    Ok(())
}

fn files(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = entries(root)?;
    files.retain(|path| !path.is_symlink());
    Ok(files)
}

/// Files and links.
fn entries(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut walk = ignore::WalkBuilder::new(root);
    walk.standard_filters(false).filter_entry(|entry| {
        let name = entry.file_name().to_str();
        !name.is_some_and(|name| LEFT_OUT.contains(&name))
    });
    let mut files = Vec::new();
    for entry in walk.build() {
        let entry = entry?;
        let kind = entry.file_type();
        if kind.is_some_and(|kind| kind.is_file() || kind.is_symlink()) {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}
