//! `migrate`: plan, checks, apply.

use std::{collections::BTreeMap, path::Path};

use coalesce_apply::{Content, FileChange, Metadata, Stamp, Store};
use coalesce_model::{
    ContentHash, Texts as _, TreePath,
    envelope::{Body, Command, Migrate, Verify},
};
use coalesce_plan::{Assembled, Operation, SavedPlan};

use super::{
    Page, check, confirm,
    emit::emit_tests,
    files, open,
    plan::hash,
    rollback::failure,
    some_manifests,
    verify::{table, table_of_plan, verify},
    work::{Worked, work_out},
};
use crate::{
    cli,
    exit::{Exit, Failure, Outcome},
    named_files,
    session::Session,
};

/// Runs `migrate`.
///
/// # Errors
/// When a manifest does not fit, the plan is refused, or the tree cannot be written; the tree is
/// then as it was.
pub fn run(global: &cli::Global, arguments: &cli::Migrate) -> anyhow::Result<Outcome> {
    let store = Store::open(&global.root).map_err(failure)?;
    refuse_unfinished(&store)?;
    let session = open(global)?;
    let (mut worked, table) = match &arguments.plan {
        Some(path) => {
            let worked = saved(&session, path)?;
            let wanted = arguments.verify.then(|| table_of_plan(&session, &worked));
            (worked, wanted.transpose()?.unwrap_or_default())
        }
        None => {
            let manifests = some_manifests(&session, &arguments.manifests.manifests)?;
            let worked = work_out(&session, &manifests, &arguments.manifests)?;
            (worked, table(&manifests))
        }
    };
    let tests = match &arguments.emit_tests {
        Some(directory) => emit_tests(&mut worked, &session, directory)?,
        None => Vec::new(),
    };
    let mut page = Page::new(&session, global);
    let mut body = Migrate {
        plan: worked.body(&session, &mut page, files(&session)),
        tests,
        ..Migrate::default()
    };
    if arguments.verify && !worked.refused() {
        let verification = verify(&session, &mut worked, &table)?;
        if verification
            .unused_imports
            .iter()
            .any(|import| import.kept.is_none())
        {
            body.plan = worked.body(&session, &mut page, files(&session));
        }
        body.verification = Some(verification);
    }
    let good = |verification: &Verify| verification.passed;
    let passed = body.verification.as_ref().is_none_or(good);
    let stopped = worked.refused() || !passed;
    if !stopped && !worked.nothing_to_do() {
        let allowed = Allowed {
            dirty: arguments.allow_dirty,
            yes: arguments.yes,
        };
        body.migration = Some(apply(&session, &store, &worked, allowed)?);
        body.applied = true;
    }
    if let Some(path) = arguments.write_baseline.as_ref().filter(|_| !stopped) {
        check::write_baseline(&open(global)?, path)?;
        body.baseline = Some(path.display().to_string());
    }
    let envelope = page.envelope(Command::Migrate, &worked.findings(), Body::Migrate(body));
    Ok(Outcome {
        envelope,
        exit: if stopped { Exit::Failed } else { Exit::Success },
    })
}

/// Refuses a tree whose last migration was cut off.
pub fn refuse_unfinished(store: &Store) -> anyhow::Result<()> {
    if let Some(record) = store.unfinished().map_err(failure)? {
        let message = format!("the migration {} was cut off", record.id);
        return Err(Failure::user(message)
            .hint("`coalesce recover --finish` carries it through, `--undo` puts everything back")
            .into());
    }
    Ok(())
}

/// A saved plan, refused when the tree is not the one that it was made for.
///
/// # Errors
/// When it cannot be read, or was made for another state of the tree.
pub fn saved(session: &Session, path: &Path) -> anyhow::Result<Worked> {
    let text = named_files::read(path)?;
    let config = |error: coalesce_plan::SavedPlanError| {
        Failure::config(format!("{}: {error}", path.display()))
    };
    let plan = SavedPlan::parse(&text).map_err(config)?;
    plan.check(session.sources(), |path| hash(session, path))
        .map_err(|error| config(error).hint("make the plan anew with `coalesce plan --out`"))?;
    Ok(Worked {
        manifests: plan.manifests,
        assembled: Assembled {
            operations: plan.operations,
            rewrites: plan.rewrites,
            not_rewritten: plan.not_rewritten,
            unproven: plan.unproven,
            ..Assembled::default()
        },
        proven: plan.proven,
        ..Worked::default()
    })
}

/// What whoever calls has allowed beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// To touch files with uncommitted changes.
    pub dirty: bool,
    /// To write without asking.
    pub yes: bool,
}

/// Writes what was worked out; the name by which `rollback` undoes it.
///
/// # Errors
/// When a file has uncommitted changes or cannot be written; the tree is then as it was.
pub fn apply(
    session: &Session,
    store: &Store,
    worked: &Worked,
    allowed: Allowed,
) -> anyhow::Result<String> {
    let changes = file_changes(session, &worked.assembled.operations)?;
    let touched: Vec<TreePath> = changes.iter().map(|change| change.path.clone()).collect();
    if !allowed.dirty {
        refuse_dirty(session, &touched)?;
    }
    let question = format!(
        "write or remove {} files of {}?",
        touched.len(),
        session.tree.root().display()
    );
    session.progress.end();
    confirm(allowed.yes, &question)?;
    session
        .progress
        .stage(format_args!("writing {} files", touched.len()));
    let metadata = Metadata {
        manifests: worked.manifests.clone(),
    };
    let applied = store.apply(&changes, &metadata).map_err(failure)?;
    Ok(applied.id)
}

fn refuse_dirty(session: &Session, paths: &[TreePath]) -> anyhow::Result<()> {
    let dirty = coalesce_apply::uncommitted(session.tree.root(), paths).map_err(failure)?;
    if dirty.is_empty() {
        return Ok(());
    }
    let message = format!(
        "uncommitted changes in {} of the files that the migration touches: {}",
        dirty.len(),
        some(&dirty)
    );
    Err(Failure::user(message)
        .hint("commit them first, or pass --allow-dirty")
        .into())
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
/// When a file cannot be read any more.
pub fn file_changes(
    session: &Session,
    operations: &[Operation],
) -> anyhow::Result<Vec<FileChange>> {
    let mut after: BTreeMap<TreePath, Option<Content>> = BTreeMap::new();
    for operation in operations {
        match operation {
            Operation::Move { from, to, text } => {
                after.entry(from.clone()).or_insert(None);
                let (bytes, mode) = session.tree.content(from)?;
                let bytes = text
                    .as_ref()
                    .map_or(bytes, |text| text.clone().into_bytes());
                after.insert(
                    to.clone(),
                    Some(Content {
                        bytes,
                        mode: Some(mode),
                    }),
                );
            }
            Operation::Create { path, text, .. } | Operation::Edit { path, text } => {
                after.insert(
                    path.clone(),
                    Some(Content {
                        bytes: text.clone().into_bytes(),
                        mode: None,
                    }),
                );
            }
            Operation::Delete { path } => drop(after.entry(path.clone()).or_insert(None)),
        }
    }
    let change = |(path, after): (TreePath, Option<Content>)| {
        let before = if session.tree.exists(&path) {
            let (bytes, mode) = session.tree.content(&path)?;
            Some(Stamp {
                hash: ContentHash::of(&bytes),
                mode,
            })
        } else {
            None
        };
        Ok(FileChange {
            path,
            before,
            after,
        })
    };
    after.into_iter().map(change).collect()
}
