//! The page of `status`: how far each manifest has come, what was cut off, which shims are left.

use coalesce_model::envelope::{Envelope, ManifestEntry, MigrationEntry, ShimEntry, State, Status};

use crate::page::{BAD, BOLD, DIM, GOOD, PLACE, PLAIN, Page, WARN, count, listed, read_counts};

/// Importers that are shown beside a shim.
const USERS_SHOWN: usize = 6;

/// Writes the page.
pub fn write(page: &mut Page, envelope: &Envelope, status: &Status) {
    if let Some(unfinished) = &status.unfinished {
        write_unfinished(page, unfinished);
    }
    for finding in &envelope.findings {
        page.finding(finding);
    }
    for manifest in &status.manifests {
        write_manifest(page, manifest);
    }
    if !status.shims.is_empty() {
        page.section(BOLD, "Shims that are left", status.shims.len(), "");
        page.some(&status.shims, write_shim);
    }
    if page.quiet() {
        return;
    }
    if !status.migrations.is_empty() {
        let heading = "Migrations that can be undone";
        page.section(BOLD, heading, status.migrations.len(), "");
        page.some(&status.migrations, |page, migration| {
            let files = count(migration.files, "file");
            page.line(format_args!("  {}  {files}", migration.id));
        });
    }
    page.gap();
    write_counts(page, status);
    next(page, status);
}

/// A migration that was cut off, and the two ways on.
fn write_unfinished(page: &mut Page, unfinished: &MigrationEntry) {
    page.put(BAD, "unfinished")
        .put(PLAIN, format_args!(": {} was cut off", unfinished.id))
        .end();
    page.line(format_args!(
        "    run `{}` or `{}`",
        page.command(&["recover", "--finish"]),
        page.command(&["recover", "--undo"])
    ));
    page.gap();
}

/// How many manifests have come how far, and how many shims are left; of half of a migration nobody can tell.
fn write_counts(page: &mut Page, status: &Status) {
    if status.unfinished.is_some() {
        page.line("the tree is between two states: what is done of manifests is told after that");
        page.line(read_counts(&status.files));
        return;
    }
    let of = |state| {
        let manifests = status.manifests.iter();
        manifests.filter(|entry| entry.state == state).count()
    };
    page.line(format_args!(
        "{}: {} done, {} partly, {} open; {} left",
        count(status.manifests.len(), "manifest"),
        of(State::Done),
        of(State::Partly),
        of(State::Open),
        count(status.shims.len(), "shim"),
    ));
    page.line(read_counts(&status.files));
}

/// What to type next, of what is left.
fn next(page: &mut Page, status: &Status) {
    let open = |manifest: &ManifestEntry| manifest.state != State::Done;
    if status.unfinished.is_some() {
        return;
    }
    if status.manifests.iter().any(open) {
        page.next("what the open entries would change", &["plan"]);
    } else if status.shims.iter().any(|shim| shim.users.is_empty()) {
        page.next("what goes with unused shims", &["retire", "--unused"]);
    } else if let Some(shim) = status.shims.first() {
        page.next("who still uses the first shim", &["refs", &shim.name]);
    } else if status.manifests.is_empty() {
        page.next("a manifest to begin with", &["init"]);
    } else {
        page.next("what CI runs from now on", &["check"]);
    }
}

fn state(page: &mut Page, state: State) {
    let (style, label) = match state {
        State::Done => (GOOD, "done  "),
        State::Partly => (WARN, "partly"),
        State::Open => (BOLD, "open  "),
    };
    page.put(style, label).put(PLAIN, "  ");
}

fn write_manifest(page: &mut Page, manifest: &ManifestEntry) {
    state(page, manifest.state);
    page.put(BOLD, &manifest.id);
    if !manifest.description.is_empty() {
        page.put(PLAIN, format_args!("  {}", manifest.description));
    }
    page.end();
    // What is done needs no detail; what is not says which part is left.
    if manifest.state == State::Done {
        return;
    }
    for entry in &manifest.entries {
        page.put(PLAIN, "    ");
        state(page, entry.state);
        page.put(PLAIN, format_args!("{} {}", entry.verb, entry.from));
        if !entry.to.is_empty() {
            page.put(PLAIN, format_args!(" -> {}", entry.to));
        }
        page.end();
    }
}

/// Where a shim is, what it is called, and how long it stays.
pub fn shim_name(page: &mut Page, shim: &ShimEntry) {
    page.put(PLAIN, "  ")
        .put(PLACE, &shim.path)
        .put(PLAIN, "  ")
        .put(BOLD, &shim.name);
    if let Some(release) = &shim.remove_in {
        page.put(PLAIN, format_args!("  goes in {release}"));
    }
    if let Some(manifest) = &shim.manifest {
        page.put(DIM, format_args!("  from {manifest}"));
    }
}

fn write_shim(page: &mut Page, shim: &ShimEntry) {
    shim_name(page, shim);
    if shim.users.is_empty() {
        page.put(GOOD, "  unused");
    } else {
        page.put(
            WARN,
            format_args!("  used by {}", listed(&shim.users, USERS_SHOWN)),
        );
    }
    page.end();
}
