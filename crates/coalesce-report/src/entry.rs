//! The pages of `move`, `replace`, `merge`, `remove` and `init`.

use coalesce_model::envelope::{EntryMigration, Envelope, Grade, Init};

use crate::{
    migration,
    page::{BOLD, DIM, PLACE, PLAIN, Page, read_counts},
    plan,
};

/// Writes the page of a command of one entry.
pub fn write(page: &mut Page, envelope: &Envelope, entry: &EntryMigration) {
    if page.quiet() {
        return migration::write_quiet(page, envelope, &entry.migrate);
    }
    manifest(page, entry);
    if entry.migrate.applied || entry.migrate.verification.is_some() {
        migration::write_migrate(page, envelope, &entry.migrate);
    } else if entry.migrate.plan.operations.is_empty() && !entry.migrate.plan.answer.refused() {
        page.line("nothing to do: it is done");
    } else {
        plan::write(page, envelope, &entry.migrate.plan);
    }
    if let Some(next) = &entry.next {
        let what_for = if entry.migrate.plan.answer.grade == Some(Grade::NotProven) {
            "to try it on a copy, then change the tree: "
        } else {
            "to change the tree: "
        };
        page.put(PLAIN, what_for).put(BOLD, next).end();
    }
}

/// The manifest that the command stands for.
fn manifest(page: &mut Page, entry: &EntryMigration) {
    let heading = match &entry.manifest_saved {
        Some(path) => format!("This manifest was written to {path}:"),
        None => "This stands for the manifest".to_owned(),
    };
    page.put(DIM, heading).end();
    for line in entry.manifest.lines().filter(|line| !line.is_empty()) {
        page.put(PLAIN, "    ").put(PLAIN, line).end();
    }
    page.gap();
}

/// Writes the page of `init`.
pub fn write_init(page: &mut Page, envelope: &Envelope, init: &Init) {
    if page.quiet() {
        return;
    }
    crate::audit::roots(page, &envelope.roots, crate::page::SECTION_LIMIT);
    page.gap();
    page.put(PLAIN, "wrote ").put(PLACE, &init.manifest);
    if let Some(schema) = &init.schema_written {
        page.put(PLAIN, " and ")
            .put(PLACE, schema)
            .put(PLAIN, ", which editors check it by");
    }
    page.end();
    page.line(read_counts(&init.files));
    page.next("take the `# ` away from an entry, then", &["plan"]);
}
