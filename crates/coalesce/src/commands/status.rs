//! `status`: how far the manifests are, what was cut off, and who still uses shims.

use coalesce_apply::Store;
use coalesce_engine::{Session, misfit, shims};
use coalesce_model::{
    envelope::{Body, Command, ManifestEntry, ManifestLine, State, Status},
    manifest::Manifest,
};
use coalesce_plan::{Checked, EntryReport, EntryState};

use super::{Page, manifests, open, rollback};
use crate::{cli, exit::Outcome};

/// Runs `status`.
///
/// # Errors
/// When the tree or the journal cannot be read, or a manifest does not fit the tree.
pub fn run(global: &cli::Global) -> anyhow::Result<Outcome> {
    let session = open(global)?;
    let store = Store::open(&global.root).map_err(rollback::failure)?;
    let (unfinished, migrations) = rollback::journal_entries(&store)?;
    let mut body = Status {
        files: session.files(),
        unfinished,
        migrations,
        ..Status::default()
    };
    // Half of a migration is no tree that a manifest could be held against: first it is finished or undone.
    if body.unfinished.is_none() {
        let manifests = manifests(&session, &[])?;
        fill(&mut body, &session, &manifests)?;
    }
    let page = Page::new(&session, global);
    let envelope = page.envelope(Command::Status, &[], Body::Status(body));
    Ok(Outcome::success(envelope))
}

/// Adds the state of the manifests and of the shims.
fn fill(body: &mut Status, session: &Session, manifests: &[Manifest]) -> anyhow::Result<()> {
    let index = session.index();
    let checked = coalesce_plan::check(manifests, &index, &session.tree)
        .map_err(|errors| misfit(&errors, manifests, session))?;
    let entry = |manifest| manifest_entry(manifest, &checked);
    body.manifests = manifests.iter().map(entry).collect();
    body.shims = shims(session, manifests);
    Ok(())
}

fn manifest_line(entry: &EntryReport) -> ManifestLine {
    ManifestLine {
        verb: entry.verb.as_str().to_owned(),
        from: entry.from.clone(),
        to: entry.to.clone(),
        state: match entry.state {
            EntryState::Done => State::Done,
            EntryState::Open => State::Open,
        },
    }
}

fn manifest_entry(manifest: &Manifest, checked: &Checked) -> ManifestEntry {
    let own = checked.entries.iter();
    let own = own.filter(|entry| entry.manifest == manifest.id);
    let own: Vec<&EntryReport> = own.collect();
    let done = own.iter().filter(|entry| entry.state == EntryState::Done);
    let state = match done.count() {
        // One that asks for nothing yet is not done, either.
        0 => State::Open,
        done if done == own.len() => State::Done,
        _ => State::Partly,
    };
    ManifestEntry {
        id: manifest.id.clone(),
        description: manifest.description.clone(),
        state,
        entries: own.into_iter().map(manifest_line).collect(),
    }
}
