//! `rollback` and `recover`: the way back from a migration, finished or cut off.

use coalesce_apply::{Recovery, Store};
use coalesce_model::envelope::{
    Body, Command, Envelope, MigrationEntry, Recover, RecoverOutcome, Rollback,
};

use super::{confirm, label};
use crate::{
    cli,
    exit::{Failure, Outcome},
};

/// Runs `rollback`.
///
/// # Errors
/// When files have changed since the migration, or it is not known.
pub fn run(global: &cli::Global, arguments: &cli::Rollback) -> anyhow::Result<Outcome> {
    let store = Store::open(&global.root).map_err(failure)?;
    let named =
        |record: &coalesce_apply::Record| arguments.id.as_ref().is_none_or(|id| *id == record.id);
    if let Some(record) = store
        .history()
        .map_err(failure)?
        .iter()
        .find(|record| named(record))
    {
        let question = format!(
            "undo {}, putting back {} files?",
            record.id,
            record.paths.len()
        );
        confirm(arguments.yes, &question)?;
    }
    let undone = store.rollback(arguments.id.as_deref()).map_err(failure)?;
    let body = match undone {
        Some(undone) => Rollback {
            migration: Some(undone.id),
            restored: undone.paths,
        },
        None => Rollback::default(),
    };
    Ok(Outcome::success(Envelope::new(
        label(global),
        Command::Rollback,
        Body::Rollback(body),
    )))
}

/// Runs `recover`.
///
/// # Errors
/// When files are in a state that is neither before nor after the migration.
pub fn recover(global: &cli::Global, arguments: &cli::Recover) -> anyhow::Result<Outcome> {
    let store = Store::open(&global.root).map_err(failure)?;
    let way = if arguments.finish {
        Recovery::Finish
    } else {
        Recovery::Undo
    };
    let recovered = store.recover(way).map_err(failure)?;
    let body = match recovered {
        Some(done) => Recover {
            migration: Some(done.id),
            outcome: if arguments.finish {
                RecoverOutcome::Finished
            } else {
                RecoverOutcome::Undone
            },
            paths: done.paths,
        },
        None => Recover {
            migration: None,
            outcome: RecoverOutcome::Nothing,
            paths: Vec::new(),
        },
    };
    Ok(Outcome::success(Envelope::new(
        label(global),
        Command::Recover,
        Body::Recover(body),
    )))
}

/// The unfinished migration, and those that can be undone, newest first.
///
/// # Errors
/// When a journal cannot be read.
pub fn journal_entries(
    store: &Store,
) -> anyhow::Result<(Option<MigrationEntry>, Vec<MigrationEntry>)> {
    let entry = |record: coalesce_apply::Record| MigrationEntry {
        id: record.id,
        files: record.paths.len(),
    };
    let unfinished = store.unfinished().map_err(failure)?.map(entry);
    let history = store
        .history()
        .map_err(failure)?
        .into_iter()
        .map(entry)
        .collect();
    Ok((unfinished, history))
}

/// An error of the store as the user should see it.
pub fn failure(error: coalesce_apply::Error) -> Failure {
    Failure::user(error.to_string())
}
