//! `migrate`: plan, checks, apply.

use std::path::Path;

use coalesce_apply::Store;
use coalesce_engine::{
    MigrationPlan, PreparedMigration, Session, UncommittedChanges, checks_of, checks_of_plan,
    emit_tests, plan, read_saved_plan, verify,
};
use coalesce_model::envelope::{Body, Command, Migrate, Verify};

use super::{Page, check, confirm, open, rollback::failure, some_manifests};
use crate::{
    cli,
    exit::{Exit, Failure, Outcome},
    named_files,
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
            let wanted = arguments.verify.then(|| checks_of_plan(&session, &worked));
            (worked, wanted.transpose()?.unwrap_or_default())
        }
        None => {
            let manifests = some_manifests(&session, &arguments.manifests.manifests)?;
            let worked = plan(&session, &manifests, arguments.manifests.options())?;
            (worked, checks_of(&manifests))
        }
    };
    let tests = match &arguments.emit_tests {
        Some(directory) => emit_tests(&mut worked, &session, directory)?,
        None => Vec::new(),
    };
    let mut page = Page::new(&session, global);
    let mut body = Migrate {
        plan: worked.to_entry(&session, &mut page.locator),
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
            body.plan = worked.to_entry(&session, &mut page.locator);
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
pub fn saved(session: &Session, path: &Path) -> anyhow::Result<MigrationPlan> {
    let text = named_files::read(path)?;
    Ok(read_saved_plan(
        session,
        &path.display().to_string(),
        &text,
    )?)
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
    plan: &MigrationPlan,
    allowed: Allowed,
) -> anyhow::Result<String> {
    let uncommitted = if allowed.dirty {
        UncommittedChanges::Touch
    } else {
        UncommittedChanges::Refuse
    };
    let prepared = PreparedMigration::new(session, plan, uncommitted)?;
    let count = prepared.file_count();
    let question = format!(
        "write or remove {count} files of {}?",
        session.tree.root().display()
    );
    session.progress.end();
    confirm(allowed.yes, &question)?;
    session
        .progress
        .stage(format_args!("writing {count} files"));
    Ok(prepared.apply(store)?.id)
}
