//! Which findings of `check` are told: those below some paths, of listed files, or of changed ones.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use coalesce_engine::Session;
use coalesce_model::{Finding, LanguageKind, Texts as _, TreePath, envelope::FindingEntry};

use crate::{cli, commands::rollback::failure, exit::Failure, named_files};

/// Which findings are told.
pub struct Scope {
    below: Vec<TreePath>,
    listed: Option<BTreeSet<TreePath>>,
    since: Option<String>,
    /// What files with findings were at that revision, once they are narrowed down.
    old: coalesce_apply::BytesBefore,
}

impl Scope {
    /// What the command line asks about.
    ///
    /// # Errors
    /// When a path leads outside of the tree or nowhere, or the list cannot be read.
    pub fn of(root: &Path, arguments: &cli::Check) -> Result<Self, Failure> {
        let below = arguments.paths.iter().map(|path| existing(root, path));
        let listed = arguments.files.as_deref().map(|path| {
            no_source(path)?;
            let text = named_files::read_or_input(path)?;
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let paths = lines.map(|line| Ok(place(root, Path::new(line))?.path));
            paths.collect::<Result<BTreeSet<_>, Failure>>()
        });
        Ok(Self {
            below: below.collect::<Result<_, _>>()?,
            listed: listed.transpose()?,
            since: arguments.changed_since.clone(),
            old: coalesce_apply::BytesBefore::new(),
        })
    }

    /// Says no to a revision that the repository does not know.
    ///
    /// # Errors
    /// When it does not, or cannot be read.
    pub fn know_revision(&self, session: &Session) -> Result<(), Failure> {
        match &self.since {
            Some(since) => bytes_before(session, since, BTreeSet::new()).map(drop),
            None => Ok(()),
        }
    }

    /// Leaves the findings that were asked about; how many others there are.
    ///
    /// # Errors
    /// When the repository cannot be read, or does not know the revision.
    pub fn narrow(
        &mut self,
        session: &Session,
        findings: &mut Vec<Finding>,
    ) -> anyhow::Result<usize> {
        let before = findings.len();
        findings.retain(|finding| self.has(&finding.path));
        if let Some(since) = &self.since {
            let paths = findings.iter().map(|finding| finding.path.clone());
            self.old = bytes_before(session, since, paths.collect())?;
            findings.retain(|finding| {
                // What concerns the tree as a whole is nobody's file.
                finding.path.is_root() || differs(session, &finding.path, &self.old)
            });
        }
        Ok(before - findings.len())
    }

    /// Says of each finding that [`Self::narrow`] has left whether it is on a line that has changed.
    pub fn mark_changed(&self, session: &Session, entries: &mut [FindingEntry]) {
        if self.since.is_none() {
            return;
        }
        let paths = entries
            .iter()
            .filter_map(|entry| TreePath::new(&entry.path).ok());
        let told: BTreeSet<TreePath> = paths.collect();
        let mut lines: BTreeMap<&TreePath, BTreeSet<u32>> = BTreeMap::new();
        for (path, bytes) in self.old.iter().filter(|(path, _)| told.contains(*path)) {
            let new = session.tree.text(path).unwrap_or_default();
            let before = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
            let changed = coalesce_report::diff::changed_lines(&before, &new);
            lines.insert(path, changed.into_iter().collect());
        }
        for entry in entries.iter_mut() {
            let path = TreePath::new(&entry.path).ok();
            let changed = path.and_then(|path| lines.get(&path));
            // A finding of a whole file that has changed concerns the change.
            entry.changed = Some(match (changed, entry.range) {
                (Some(lines), Some(range)) => lines.contains(&range.line),
                (Some(_), None) => true,
                (None, _) => false,
            });
        }
    }

    fn has(&self, path: &TreePath) -> bool {
        let below = self
            .below
            .iter()
            .any(|above| path.strip_prefix(above).is_some());
        (self.below.is_empty() || below)
            && self
                .listed
                .as_ref()
                .is_none_or(|listed| listed.contains(path))
    }
}

fn bytes_before(
    session: &Session,
    since: &str,
    paths: BTreeSet<TreePath>,
) -> Result<coalesce_apply::BytesBefore, Failure> {
    let paths: Vec<TreePath> = paths.into_iter().filter(|path| !path.is_root()).collect();
    coalesce_apply::bytes_before(session.tree.root(), since, &paths).map_err(failure)
}

fn differs(session: &Session, path: &TreePath, old: &coalesce_apply::BytesBefore) -> bool {
    let before = old.get(path).and_then(Option::as_deref);
    session.tree.text(path).as_deref().map(str::as_bytes) != before
}

/// A path of the command line. One that is mistyped would narrow everything away, and all would seem clean.
fn existing(root: &Path, path: &Path) -> Result<TreePath, Failure> {
    let place = place(root, path)?;
    if !place.exists {
        let message = format!("there is no `{}` below {}", place.path, root.display());
        let hint = "paths are told from the root of the tree on, or from the current directory";
        let near = named_files::meant(path);
        return Err(Failure::user(message).hint(near.unwrap_or_else(|| hint.to_owned())));
    }
    Ok(place.path)
}

/// What a path that somebody wrote means in the tree.
struct NamedPath {
    path: TreePath,
    exists: bool,
}

/// Finds a path from the root on, and where nothing is there, from the current directory on: that is
/// what other tools hand over, also where the tree is a part of a repository.
fn place(root: &Path, path: &Path) -> Result<NamedPath, Failure> {
    let exists = |path: &TreePath| root.join(path.as_str()).symlink_metadata().is_ok();
    let from_root = tree_path(&path.to_string_lossy());
    if let Ok(path) = &from_root
        && exists(path)
    {
        let path = path.clone();
        return Ok(NamedPath { path, exists: true });
    }
    let absolute = std::path::absolute(path).ok();
    let from_here = absolute.and_then(|absolute| {
        let roots = [std::path::absolute(root).ok()?, root.canonicalize().ok()?];
        let inside = roots
            .iter()
            .find_map(|root| absolute.strip_prefix(root).ok())?
            .to_string_lossy();
        TreePath::new(&inside.replace('\\', "/")).ok()
    });
    let path = from_here.map_or(from_root, Ok)?;
    Ok(NamedPath {
        exists: exists(&path),
        path,
    })
}

/// A source file is no list of files: every line of it would name nothing, and all would seem clean.
fn no_source(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    if LanguageKind::of_extension(&ending).is_none() {
        return Ok(());
    }
    let path = path.display();
    let message =
        format!("`--files` takes a list of files, a path a line, and {path} is a source file");
    let hint = format!("`coalesce check {path}` tells what is found in it");
    Err(Failure::user(message).hint(hint))
}

fn tree_path(text: &str) -> Result<TreePath, Failure> {
    TreePath::new(text).map_err(|error| Failure::user(error.to_string()))
}
