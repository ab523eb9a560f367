//! `rollback` and `recover`: the way back from a migration, finished or cut off.

use coalesce_apply::{Recovery, Store};
use coalesce_model::{
    Finding, MemoryTexts,
    envelope::{
        Body, Command, Envelope, Locator, MigrationEntry, Recover, RecoverOutcome, Rollback,
    },
};

use super::{confirm, label, remarks};
use crate::{
    cli,
    exit::{Failure, Outcome},
    terminal,
};

/// Runs `rollback`.
///
/// # Errors
/// When files have changed since the migration, or it is not known.
pub fn run(global: &cli::Global, arguments: &cli::Rollback) -> anyhow::Result<Outcome> {
    let store = Store::open(&global.root).map_err(failure)?;
    ask(&store, arguments)?;
    let undone = store.rollback(arguments.id.as_deref()).map_err(failure)?;
    let told = undone.as_ref().map(|undone| remarks(&undone.remarks));
    let body = match undone {
        Some(undone) => Rollback {
            migration: Some(undone.id),
            restored: undone.paths,
        },
        None => Rollback::default(),
    };
    Ok(told_of(
        global,
        Command::Rollback,
        Body::Rollback(body),
        told,
    ))
}

/// Asks whether the migration that is named, or the latest, shall be undone.
fn ask(store: &Store, arguments: &cli::Rollback) -> anyhow::Result<()> {
    let history = store.history().map_err(failure)?;
    let id = arguments.id.as_ref();
    let record = history.iter().find(|one| id.is_none_or(|id| *id == one.id));
    if let Some(record) = record {
        let (id, count) = (&record.id, record.paths.len());
        let question = format!("undo {id}, putting back {count} files?");
        confirm(arguments.yes, &question)?;
    }
    Ok(())
}

/// What was done without a look at the sources, and what there is to know of it.
fn told_of(
    global: &cli::Global,
    command: Command,
    body: Body,
    told: Option<Vec<Finding>>,
) -> Outcome {
    // Nothing of a tree that was not read has a line.
    let texts = MemoryTexts::default();
    let mut locator = Locator::new(&texts);
    let findings = told.unwrap_or_default();
    Outcome::success(Envelope {
        findings: findings
            .iter()
            .map(|finding| locator.finding(finding))
            .collect(),
        ..Envelope::new(label(global), command, body)
    })
}

/// Runs `recover`.
///
/// # Errors
/// When files are in a state that is neither before nor after the migration.
pub fn recover(global: &cli::Global, arguments: &cli::Recover) -> anyhow::Result<Outcome> {
    let store = Store::open(&global.root).map_err(failure)?;
    let way = chosen_way(&store, arguments)?;
    let recovered = store.recover(way).map_err(failure)?;
    let told = recovered.as_ref().map(|done| remarks(&done.remarks));
    let body = match recovered {
        Some(done) => Recover {
            migration: Some(done.id),
            outcome: match way {
                Recovery::Finish => RecoverOutcome::Finished,
                Recovery::Undo => RecoverOutcome::Undone,
            },
            paths: done.paths,
        },
        None => Recover {
            migration: None,
            outcome: RecoverOutcome::Nothing,
            paths: Vec::new(),
        },
    };
    Ok(told_of(global, Command::Recover, Body::Recover(body), told))
}

/// The way that was asked for; else whoever is at the terminal decides, and where nobody is,
/// everything is put back.
fn chosen_way(store: &Store, arguments: &cli::Recover) -> anyhow::Result<Recovery> {
    if arguments.finish {
        return Ok(Recovery::Finish);
    }
    let cut_off = if arguments.undo {
        None
    } else {
        store.unfinished().map_err(failure)?
    };
    let Some(record) = cut_off else {
        return Ok(Recovery::Undo);
    };
    let question = format!(
        "the migration {} was cut off: carry it through? otherwise everything is put back",
        record.id
    );
    Ok(match terminal::ask(&question)? {
        terminal::Answer::Yes => Recovery::Finish,
        terminal::Answer::No | terminal::Answer::NobodyThere => Recovery::Undo,
    })
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
