//! `migrate`: plan, checks, apply.

use std::path::Path;

use coalesce_apply::Store;
use coalesce_engine::{
    MigrationPlan, Session, checks_of, checks_of_plan, emit_tests, plan, read_saved_plan,
};
use coalesce_model::{
    envelope::{Body, Command},
    manifest::VerifyTable,
};

use super::{
    Page,
    applying::{Application, CarriedOut, not_finished},
    check, open, open_store,
    rollback::failure,
    some_manifests,
};
use crate::{
    cli,
    exit::{Exit, Failure, Outcome, describe},
    named_files,
};

/// Runs `migrate`.
///
/// # Errors
/// When a manifest does not fit, the plan is refused, or the tree cannot be written; the tree is
/// then as it was.
pub fn run(global: &cli::Global, arguments: &cli::Migrate) -> anyhow::Result<Outcome> {
    let store = open_store(global)?;
    let session = open(global)?;
    let named = (arguments.plan.as_deref(), &arguments.manifests);
    let (mut worked, checks) = planned(&session, named, arguments.applying.verify)?;
    let tests = match &arguments.emit_tests {
        Some(directory) => emit_tests(&mut worked, &session, directory)?,
        None => Vec::new(),
    };
    let mut page = Page::new(&session, global);
    let application = Application {
        session: &session,
        store: &store,
        options: &arguments.applying,
        checks: &checks,
    };
    let mut carried = application.carry_out(&mut worked, &mut page.locator)?;
    carried.body.tests = tests;
    let baseline = arguments.write_baseline.as_ref();
    if let Some(path) = baseline.filter(|_| carried.exit == Exit::Success) {
        write_baseline(global, path, &mut carried)?;
    }
    let body = Body::Migrate(carried.body);
    Ok(page.outcome(Command::Migrate, &carried.findings, body, carried.exit))
}

/// Writes the baseline of the tree as it is now.
fn write_baseline(
    global: &cli::Global,
    path: &Path,
    carried: &mut CarriedOut,
) -> anyhow::Result<()> {
    let written = open(global)
        .map_err(Into::into)
        .and_then(|after| check::write_baseline(&after, path));
    match written {
        Ok(()) => carried.body.baseline = Some(path.display().to_string()),
        // The tree is changed: only the baseline is missing.
        Err(error) if carried.body.applied => {
            let why = describe(&error).message;
            let message =
                format!("the migration is applied, and the baseline is not written: {why}");
            let help = "write it with `coalesce check --write-baseline FILE`";
            carried.findings.push(not_finished(message, help));
            carried.exit = Exit::Partly;
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// The plan that was saved, or that the manifests come to, and the checks that go with it: with a saved one only where
/// it is verified.
///
/// # Errors
/// When no plan can be made, or the saved one is of another state of the tree.
pub fn planned(
    session: &Session,
    (saved_plan, manifests): (Option<&Path>, &cli::Manifests),
    verified: bool,
) -> anyhow::Result<(MigrationPlan, VerifyTable)> {
    if let Some(path) = saved_plan {
        let worked = saved(session, path)?;
        let wanted = verified.then(|| checks_of_plan(session, &worked));
        let checks = wanted.transpose()?.unwrap_or_default();
        return Ok((worked, checks));
    }
    let options = manifests.options();
    let manifests = some_manifests(session, &manifests.manifests)?;
    let worked = plan(session, &manifests, options)?;
    Ok((worked, checks_of(&manifests)))
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
