//! From a plan to a changed tree: what each file is before and after, and the plan on disk.

use std::{collections::BTreeMap, path::Path};

use coalesce_apply::{Applied, Content, FileChange, Metadata, Stamp, Store};
use coalesce_model::{ContentHash, Texts as _, TreePath, manifest::Manifest};
use coalesce_plan::{Operation, PlanSource, SavedManifest, SavedPlan};

use crate::{
    Failure, MigrationPlan, PlanOptions, Session, ShimSelection, manifests::parse_manifests, plan,
    retire,
};

/// A plan that is ready to be written: every file in its state before and after.
#[derive(Debug)]
pub struct PreparedMigration<'p> {
    plan: &'p MigrationPlan,
    changes: Vec<FileChange>,
}

/// What becomes of files with changes that no commit has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UncommittedChanges {
    /// The migration is refused, naming them.
    Refuse,
    /// They are touched like any other; `rollback` knows their text.
    Touch,
}

impl<'p> PreparedMigration<'p> {
    /// Works out what is to be written. Nothing is, yet.
    ///
    /// # Errors
    /// When the plan is refused, a file cannot be read any more, or has uncommitted changes that are
    /// not to be touched.
    pub fn new(
        session: &Session,
        plan: &'p MigrationPlan,
        uncommitted: UncommittedChanges,
    ) -> Result<Self, Failure> {
        if let Some(refusal) = plan.assembled.refusals.first() {
            let message = format!("the plan is refused: {}: {}", refusal.path, refusal.message);
            return Err(Failure::user(message));
        }
        let changes = file_changes(session, &plan.assembled.operations)?;
        let touched: Vec<TreePath> = changes.iter().map(|change| change.path.clone()).collect();
        if uncommitted == UncommittedChanges::Refuse {
            refuse_dirty(session, &touched)?;
        }
        Ok(Self { plan, changes })
    }

    /// How many files are written or removed.
    #[must_use]
    pub fn file_count(&self) -> usize {
        self.changes.len()
    }

    /// Writes all of it, or nothing; what was done, with the name by which `rollback` undoes it.
    ///
    /// # Errors
    /// When a file has changed meanwhile, or cannot be written; the tree is then as it was.
    pub fn apply(&self, store: &Store) -> Result<Applied, Failure> {
        let metadata = Metadata {
            manifests: self.plan.manifests.clone(),
        };
        Ok(store.apply(&self.changes, &metadata)?)
    }
}

/// The text of a file that holds the plan, for [`read_saved_plan`].
///
/// # Errors
/// None in practice: every part is data that JSON can hold.
pub fn save_plan(session: &Session, plan: &MigrationPlan) -> Result<String, Failure> {
    Ok(to_save(session, plan).to_json()?)
}

fn to_save(session: &Session, plan: &MigrationPlan) -> SavedPlan {
    let saved = SavedPlan::new(
        plan.manifests.clone(),
        plan.assembled.clone(),
        plan.proven,
        session.sources(),
        |path| hash(session, path),
    );
    SavedPlan {
        source: plan.source.clone(),
        ..saved
    }
}

/// A plan from the text of a file called `label`. Anybody may have written it: it is worked out again
/// from the manifests that it holds, and what comes of that is the plan.
///
/// # Errors
/// When it cannot be read, was made for another state of the tree, or says anything else than what its
/// manifests ask of it.
pub fn read_saved_plan(
    session: &Session,
    label: &str,
    text: &str,
) -> Result<MigrationPlan, Failure> {
    let config =
        |error: coalesce_plan::SavedPlanError| Failure::config(format!("{label}: {error}"));
    let anew = "make the plan anew with `coalesce plan --out`";
    let saved = SavedPlan::parse(text).map_err(config)?;
    saved
        .check(session.sources(), |path| hash(session, path))
        .map_err(|error| config(error).hint(anew))?;
    let again = work_out_again(session, &saved.source)?;
    saved
        .check_against(&to_save(session, &again))
        .map_err(|error| config(error).hint(anew))?;
    Ok(again)
}

/// The manifests that a plan keeps, as they are read in this tree.
pub(crate) fn read_manifests(
    session: &Session,
    saved: &[SavedManifest],
) -> Result<Vec<Manifest>, Failure> {
    let texts = saved
        .iter()
        .map(|manifest| (manifest.path.clone(), manifest.text.clone()));
    parse_manifests(session, texts.collect())
}

impl PlanOptions {
    /// What the plan of a source was asked for.
    pub(crate) fn of(source: &PlanSource) -> Self {
        match source {
            PlanSource::Manifests {
                prose,
                layout,
                allow_unread,
                ..
            } => Self {
                prose: *prose,
                layout: *layout,
                allow_unread: *allow_unread,
                ..Self::default()
            },
            PlanSource::Shims { .. } => Self::default(),
        }
    }
}

fn work_out_again(session: &Session, source: &PlanSource) -> Result<MigrationPlan, Failure> {
    let read = |saved: &[SavedManifest]| read_manifests(session, saved);
    match source {
        PlanSource::Manifests { manifests, .. } => {
            plan(session, &read(manifests)?, PlanOptions::of(source))
        }
        PlanSource::Shims {
            manifests,
            names,
            due,
            unused,
            even_used,
        } => {
            let wanted = ShimSelection {
                names: names.clone(),
                due: due.clone(),
                unused: *unused,
                even_used: *even_used,
            };
            Ok(retire(session, &read(manifests)?, &wanted)?.1)
        }
    }
}

/// Manifests as a saved plan keeps them: one of the tree by its path there, wherever the plan is
/// applied from.
pub(crate) fn keep_manifests(session: &Session, manifests: &[Manifest]) -> Vec<SavedManifest> {
    let path = |manifest: &Manifest| {
        let inside = session.tree.tree_path(Path::new(&manifest.path)).ok();
        let same = |path: &TreePath| session.tree.text(path).as_deref() == Some(&manifest.text);
        let inside = inside.filter(same).map(|path| path.to_string());
        inside.unwrap_or_else(|| manifest.path.clone())
    };
    let keep = |manifest: &Manifest| SavedManifest {
        path: path(manifest),
        text: manifest.text.clone(),
    };
    manifests.iter().map(keep).collect()
}

/// The hash of a file's bytes as this run sees them; `None` when there is no such file.
fn hash(session: &Session, path: &TreePath) -> Option<ContentHash> {
    let read = || {
        let content = session.tree.content(path);
        content.ok().map(|(bytes, _)| ContentHash::of(&bytes))
    };
    session.tree.seen(path).or_else(read)
}

fn refuse_dirty(session: &Session, paths: &[TreePath]) -> Result<(), Failure> {
    let dirty = coalesce_apply::uncommitted(session.tree.root(), paths)?;
    if dirty.is_empty() {
        return Ok(());
    }
    let message = format!(
        "uncommitted changes in {} of the files that the migration touches: {}",
        dirty.len(),
        some(&dirty)
    );
    Err(Failure::user(message).hint("commit them first, or pass --allow-dirty"))
}

/// A few of the paths by name; `git status` has them all.
fn some(paths: &[TreePath]) -> String {
    const SHOWN: usize = 5;
    let names = paths.iter().take(SHOWN).map(ToString::to_string);
    let names = names.collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(SHOWN) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

/// The state of every touched path before and after. A path that one file leaves and another one
/// takes is one change.
///
/// # Errors
/// When a file cannot be read any more, or is not what the plan was made from.
pub fn file_changes(
    session: &Session,
    operations: &[Operation],
) -> Result<Vec<FileChange>, Failure> {
    let mut states = PlannedStates::default();
    for operation in operations {
        states.add(session, operation)?;
    }
    states.into_changes(session)
}

/// What a plan leaves at each path that it touches, and what it moves away from there.
#[derive(Default)]
struct PlannedStates {
    /// `None` where there is no file any more.
    after: BTreeMap<TreePath, Option<Content>>,
    /// Stamps of the files that move.
    moved: BTreeMap<TreePath, Stamp>,
}

impl PlannedStates {
    fn add(&mut self, session: &Session, operation: &Operation) -> Result<(), Failure> {
        match operation {
            Operation::Move { from, to, text } => {
                self.leave(from);
                let (old, stamp) = planned_content(session, from)?;
                let new = text.as_ref().map(|text| text.clone().into_bytes());
                self.put(to, new.unwrap_or(old), Some(stamp.mode));
                self.moved.insert(from.clone(), stamp);
            }
            Operation::Create { path, text, .. } | Operation::Edit { path, text } => {
                self.put(path, text.clone().into_bytes(), None);
            }
            Operation::Delete { path } => self.leave(path),
        }
        Ok(())
    }

    fn put(&mut self, path: &TreePath, bytes: Vec<u8>, mode: Option<u32>) {
        let content = Content { bytes, mode };
        self.after.insert(path.clone(), Some(content));
    }

    /// A file goes, unless another one has taken its path.
    fn leave(&mut self, path: &TreePath) {
        self.after.entry(path.clone()).or_insert(None);
    }

    fn into_changes(mut self, session: &Session) -> Result<Vec<FileChange>, Failure> {
        let change = |(path, after): (TreePath, Option<Content>)| {
            let before = match self.moved.remove(&path) {
                None if session.tree.exists(&path) => Some(planned_content(session, &path)?.1),
                stamp => stamp,
            };
            Ok(FileChange {
                path,
                before,
                after,
            })
        };
        self.after.into_iter().map(change).collect()
    }
}

/// The bytes of a file, which are those that the plan was made from: somebody may have saved another
/// text since.
fn planned_content(session: &Session, path: &TreePath) -> Result<(Vec<u8>, Stamp), Failure> {
    let (bytes, mode) = session.tree.content(path)?;
    let hash = ContentHash::of(&bytes);
    if session.tree.seen(path).is_some_and(|seen| seen != hash) {
        let message = format!("{path} was changed while the tree was read; nothing was written");
        return Err(Failure::user(message).hint("run the command again"));
    }
    Ok((bytes, Stamp { hash, mode }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Progress, manifests};

    #[test]
    fn what_is_saved_after_the_tree_was_read_is_not_written_over() {
        for (name, moves) in [("p/user.py", "edited"), ("p/kernels.py", "moved")] {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path();
            fs::create_dir(root.join("p")).unwrap();
            for (file, text) in [
                ("pyproject.toml", "[project]\nname = \"p\"\n"),
                ("p/__init__.py", ""),
                ("p/kernels.py", "X = 1\n"),
                ("p/user.py", "from p.kernels import X\n"),
            ] {
                fs::write(root.join(file), text).unwrap();
            }
            let session = Session::open(root, false, Progress::silent()).unwrap();
            let text = "schema = 1\n[[move]]\nfrom = \"p.kernels\"\nto = \"p.core\"\n";
            let texts = vec![("m.toml".to_owned(), text.to_owned())];
            let manifests = manifests(&session, texts).unwrap();
            let plan = plan(&session, &manifests, PlanOptions::default()).unwrap();
            fs::write(root.join(name), "mine\n").unwrap();
            let prepared = PreparedMigration::new(&session, &plan, UncommittedChanges::Touch);
            let error = prepared.map(|_| ()).unwrap_err().to_string();
            assert!(
                error.contains(name) && error.contains("changed"),
                "{moves}: {error}"
            );
            assert_eq!(fs::read_to_string(root.join(name)).unwrap(), "mine\n");
        }
    }
}
