//! The pages of `migrate`, `rollback` and `recover`: what was done, and how to take it back.

use coalesce_model::{
    TreePath,
    envelope::{Committed, Envelope, Migrate, Recover, RecoverOutcome, Rollback, Verify},
};

use crate::{
    page::{BAD, BOLD, DIM, GOOD, PLACE, PLAIN, Page, count},
    plan, verify,
};

/// Writes the page of `migrate`.
pub fn write_migrate(page: &mut Page, envelope: &Envelope, migrate: &Migrate) {
    if page.quiet() {
        return write_quiet(page, envelope, migrate);
    }
    plan::needs_review(page, &migrate.plan);
    plan::not_rewritten(page, &migrate.plan.not_rewritten, plan::NOT_REWRITTEN_SHOWN);
    plan::published(page, envelope.command, &migrate.plan);
    plan::unproven(page, &migrate.plan.unproven, plan::NOT_REWRITTEN_SHOWN);
    plan::findings(page, envelope);
    let baseline = migrate.baseline.iter().map(|path| ("baseline", path));
    let tests = migrate.tests.iter().map(|path| ("guard test", path));
    for (what, path) in baseline.chain(tests) {
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
        write_verification(page, verification);
    }
    outcome(page, migrate);
    plan::answer(page, &migrate.plan.answer);
}

fn write_verification(page: &mut Page, verification: &Verify) {
    verify::mended(page, verification);
    verify::settled(page, verification);
    verify::unused_imports(page, verification);
    verify::failures(page, verification);
    verify::unreached(page, verification);
    verify::verdict(page, verification);
}

/// What keeps it from being applied, or was not done.
pub fn write_quiet(page: &mut Page, envelope: &Envelope, migrate: &Migrate) {
    plan::errors(page, envelope, &migrate.plan);
    if let Some(verification) = &migrate.verification {
        verify::failures(page, verification);
    }
}

/// The commits that were made, what was done, and how to take everything back.
pub fn applied(page: &mut Page, (done, id): (&str, &str), committed: Option<&Committed>) {
    for commit in committed.iter().flat_map(|committed| &committed.commits) {
        page.put(PLAIN, "commit ")
            .put(PLACE, short(&commit.hash))
            .put(PLAIN, format_args!("  {}  ", commit.subject))
            .put(DIM, count(commit.files, "file"))
            .end();
    }
    for note in committed.iter().flat_map(|committed| &committed.notes) {
        page.put(DIM, note).end();
    }
    page.put(GOOD, done).put(PLAIN, ", undo with ");
    let undo = match id {
        "" => page.command(&["rollback"]),
        id => page.command(&["rollback", id]),
    };
    page.put(BOLD, undo);
    if let Some(committed) = committed {
        // Files are put back by the one, the branch and the index by the other.
        page.put(PLAIN, ", then ")
            .put(BOLD, format_args!("git reset {}", short(&committed.base)));
    }
    page.end();
}

/// As much of a hash as git shows.
fn short(hash: &str) -> &str {
    hash.get(..10).unwrap_or(hash)
}

/// Whether it was applied, and how to take it back.
fn outcome(page: &mut Page, migrate: &Migrate) {
    if migrate.applied {
        let id = migrate.migration.as_deref().unwrap_or_default();
        applied(page, ("applied", id), migrate.committed.as_ref());
    } else if !migrate.plan.operations.is_empty() || migrate.plan.answer.refused() {
        page.put(BAD, "not applied")
            .put(PLAIN, ": the tree is as it was")
            .end();
    }
}

/// Writes the page of `rollback`.
pub fn write_rollback(page: &mut Page, envelope: &Envelope, rollback: &Rollback) {
    plan::findings(page, envelope);
    if page.quiet() {
        return;
    }
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
    if page.quiet() {
        return;
    }
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
    page.some(paths, |page, path| {
        page.put(PLAIN, "  ").put(PLACE, path).end()
    });
}
