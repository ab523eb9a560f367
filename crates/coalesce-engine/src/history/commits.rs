//! Objects of a repository, and nothing else of it: no `git` is run, and no configuration is heeded.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use coalesce_model::TreePath;
use gix::{ObjectId, Repository, objs::TreeRefIter, open};

use super::History;
use crate::Failure;

/// Commits that are looked back; what was not changed in them is as old as that or older.
const COMMITS: usize = 4000;
/// How long a repository may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// When these files of the tree at `root` were last changed, along the first parents of the commit that
/// is checked out. Nothing is told where there is no repository, or where it holds nothing of the tree.
///
/// # Errors
/// When there is a repository and it cannot be read.
pub fn history(root: &Path, files: &[TreePath]) -> Result<History, Failure> {
    // This also refuses a repository of pipes and devices before anything of it is opened.
    let uncommitted = coalesce_apply::uncommitted(root, files)
        .map_err(|error| Failure::user(error.to_string()))?;
    let (root, files) = (root.to_owned(), files.to_vec());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || drop(sender.send(read(&root, &files))));
    let late = |_| Err("it did not answer within a minute".to_owned());
    let read = receiver.recv_timeout(PATIENCE).unwrap_or_else(late);
    let told = |error| Failure::user(format!("the repository cannot be read: {error}"));
    let history = read.map_err(told)?.unwrap_or_default();
    Ok(match history.commit {
        Some(_) => History {
            uncommitted,
            ..history
        },
        None => history,
    })
}

/// `None` where there is no repository that holds the tree.
fn read(root: &Path, files: &[TreePath]) -> Result<Option<History>, String> {
    let Some((repository, below)) = checkout(root)? else {
        return Ok(None);
    };
    let head = repository.head().map_err(words)?;
    if head.is_unborn() {
        return Ok(None);
    }
    let head = repository.head_commit().map_err(words)?;
    let tree = head.tree().map_err(words)?;
    let is_there = |path: &Path| {
        tree.lookup_entry_by_path(path)
            .is_ok_and(|one| one.is_some())
    };
    if !below.as_os_str().is_empty() && !is_there(&below) {
        return Ok(None);
    }
    let mut sought = Folder::default();
    for (at, file) in files.iter().enumerate() {
        sought.add(&below.join(file.as_str()), at);
    }
    let mut times = vec![None; files.len()];
    walk(&repository, head.id, &mut sought, &mut times)?;
    let changed = files.iter().zip(times);
    let changed = changed.filter_map(|(file, time)| Some((file.clone(), time?)));
    Ok(Some(History {
        commit: Some(head.id.to_string()),
        changed: changed.collect(),
        uncommitted: Vec::new(),
    }))
}

/// The repository around a tree, and the tree's place in it.
fn checkout(root: &Path) -> Result<Option<(Repository, PathBuf)>, String> {
    let root = root.canonicalize().map_err(words)?;
    let mut above = root.ancestors();
    let Some(top) = above.find(|folder| folder.join(".git").symlink_metadata().is_ok()) else {
        return Ok(None);
    };
    let repository = gix::open_opts(top, open::Options::isolated()).map_err(words)?;
    let below = root.strip_prefix(top).unwrap_or(Path::new("")).to_owned();
    Ok(Some((repository, below)))
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// From the newest commit on: a file was changed by the last commit before the first one that has
/// something else in its place.
fn walk(
    repository: &Repository,
    head: ObjectId,
    sought: &mut Folder,
    times: &mut [Option<i64>],
) -> Result<(), String> {
    let mut next = Some(head);
    let mut newer: Option<i64> = None;
    for _ in 0..COMMITS {
        if sought.inside.is_empty() {
            return Ok(());
        }
        // What is not answered by now is as old as the first commit.
        let Some(id) = next else { break };
        // A shallow clone ends somewhere: what is behind it is not told.
        let Some(commit) = repository.try_find_object(id).map_err(words)? else {
            return Ok(());
        };
        let commit = commit.try_into_commit().map_err(words)?;
        let tree = commit.tree_id().map_err(words)?.detach();
        let found = sought.compare(repository, Some(tree), newer.is_none())?;
        note(times, &found, newer);
        newer = Some(commit.time().map_err(words)?.seconds);
        next = commit.parent_ids().next().map(gix::Id::detach);
    }
    if next.is_none() {
        note(times, &sought.unanswered(), newer);
    }
    Ok(())
}

/// Notes a time for files that have none yet.
fn note(times: &mut [Option<i64>], files: &[usize], time: Option<i64>) {
    for at in files {
        if let Some(known) = times.get_mut(*at) {
            *known = known.or(time);
        }
    }
}

/// The sought files below a folder, and what stands there in the commit that was looked at last.
#[derive(Default)]
struct Folder {
    inside: BTreeMap<String, Folder>,
    /// The file that is sought here; `None` for folders, and once it is answered.
    file: Option<usize>,
    object: Option<ObjectId>,
}

impl Folder {
    fn add(&mut self, path: &Path, at: usize) {
        let mut folder = self;
        for part in path.iter().filter_map(|part| part.to_str()) {
            folder = folder.inside.entry(part.to_owned()).or_default();
        }
        folder.file = Some(at);
    }

    /// Files that have something else here than in the commit before; the first commit is only noted.
    fn compare(
        &mut self,
        repository: &Repository,
        object: Option<ObjectId>,
        first: bool,
    ) -> Result<Vec<usize>, String> {
        if object == self.object && !first {
            return Ok(Vec::new());
        }
        self.object = object;
        let mut found = Vec::new();
        // Of what the newest commit does not have, commits tell nothing.
        if !first || object.is_none() {
            found.extend(self.file.take().filter(|_| !first));
        }
        if self.inside.is_empty() {
            return Ok(found);
        }
        let there = self.entries(repository, object)?;
        for (name, folder) in &mut self.inside {
            found.extend(folder.compare(repository, there.get(name).copied(), first)?);
        }
        // What is answered is not asked again.
        self.inside
            .retain(|_, folder| folder.file.is_some() || !folder.inside.is_empty());
        Ok(found)
    }

    /// What an object has by the names that are sought in this folder. Where a file stood instead of the
    /// folder that is nothing.
    fn entries(
        &self,
        repository: &Repository,
        object: Option<ObjectId>,
    ) -> Result<BTreeMap<String, ObjectId>, String> {
        let mut there = BTreeMap::new();
        let Some(object) = object else {
            return Ok(there);
        };
        let object = repository.find_object(object).map_err(words)?;
        if object.kind != gix::objs::Kind::Tree {
            return Ok(there);
        }
        for entry in TreeRefIter::from_bytes(&object.data, repository.object_hash()) {
            let entry = entry.map_err(words)?;
            if let Ok(name) = std::str::from_utf8(entry.filename)
                && self.inside.contains_key(name)
            {
                there.insert(name.to_owned(), entry.oid.to_owned());
            }
        }
        Ok(there)
    }

    /// The files that are not answered.
    fn unanswered(&self) -> Vec<usize> {
        let below = self.inside.values().flat_map(Self::unanswered);
        self.file.into_iter().chain(below).collect()
    }
}
