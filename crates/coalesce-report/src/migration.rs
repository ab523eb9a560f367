//! The pages of `migrate`, `rollback` and `recover`: what was done, and how to take it back.

use coalesce_model::{
    TreePath,
    envelope::{Envelope, Migrate, Recover, RecoverOutcome, Rollback},
};

use crate::{
    page::{BAD, BOLD, GOOD, PLACE, PLAIN, Page, count},
    plan, verify,
};

/// Writes the page of `migrate`.
pub fn write_migrate(page: &mut Page, envelope: &Envelope, migrate: &Migrate) {
    if page.quiet() {
        return write_quiet(page, envelope, migrate);
    }
    plan::needs_review(page, &migrate.plan);
    plan::not_rewritten(page, &migrate.plan.not_rewritten, plan::NOT_REWRITTEN_SHOWN);
    plan::unproven(page, &migrate.plan.unproven, plan::NOT_REWRITTEN_SHOWN);
    plan::findings(page, envelope);
    for (what, path) in migrate
        .baseline
        .iter()
        .map(|path| ("baseline", path))
        .chain(migrate.tests.iter().map(|path| ("guard test", path)))
    {
        page.put(PLAIN, format_args!("wrote the {what} "))
            .put(PLACE, path)
            .end();
    }
    if migrate.plan.operations.is_empty() && !migrate.plan.answer.refused() {
        page.line("nothing to do: every entry is done");
        return;
    }
    plan::summary(page, &migrate.plan);
    if let Some(verification) = &migrate.verification {
        verify::mended(page, verification);
        verify::unused_imports(page, verification);
        verify::failures(page, verification);
        verify::unreached(page, verification);
        verify::verdict(page, verification);
    }
    applied(page, migrate);
    plan::answer(page, &migrate.plan.answer);
}

/// Findings, what was done, and the answer.
fn write_quiet(page: &mut Page, envelope: &Envelope, migrate: &Migrate) {
    plan::findings(page, envelope);
    if let Some(verification) = &migrate.verification {
        verify::failures(page, verification);
    }
    applied(page, migrate);
    plan::answer(page, &migrate.plan.answer);
}

/// Whether it was applied, and how to take it back.
fn applied(page: &mut Page, migrate: &Migrate) {
    if migrate.applied {
        page.put(GOOD, "applied");
        let id = migrate.migration.as_deref().unwrap_or_default();
        page.put(PLAIN, ", undo with ")
            .put(BOLD, format!("coalesce rollback {id}").trim_end())
            .end();
    } else if !migrate.plan.operations.is_empty() || migrate.plan.answer.refused() {
        page.put(BAD, "not applied")
            .put(PLAIN, ": the tree is as it was")
            .end();
    }
}

/// Writes the page of `rollback`.
pub fn write_rollback(page: &mut Page, envelope: &Envelope, rollback: &Rollback) {
    plan::findings(page, envelope);
    paths(page, &rollback.restored);
    match &rollback.migration {
        None => page.line("nothing to undo"),
        Some(id) => page.line(format_args!(
            "{id} is undone: {} as before",
            count(rollback.restored.len(), "file")
        )),
    }
}

/// Writes the page of `recover`.
pub fn write_recover(page: &mut Page, envelope: &Envelope, recover: &Recover) {
    plan::findings(page, envelope);
    paths(page, &recover.paths);
    let id = recover.migration.as_deref().unwrap_or("the migration");
    let files = count(recover.paths.len(), "file");
    match recover.outcome {
        RecoverOutcome::Finished => page.line(format_args!("{id} is finished: {files} written")),
        RecoverOutcome::Undone => page.line(format_args!("{id} is undone: {files} as before")),
        RecoverOutcome::Nothing => page.line("no migration is unfinished"),
    }
}

fn paths(page: &mut Page, paths: &[TreePath]) {
    if page.quiet() {
        return;
    }
    page.some(paths, |page, path| {
        page.put(PLAIN, "  ").put(PLACE, path).end()
    });
}
