//! `status`: how far the manifests are, what was cut off, and who still uses shims.

use coalesce_apply::Store;
use coalesce_index::importers;
use coalesce_model::{
    LanguageGraph, Module, ModuleKind, Texts,
    envelope::{Body, Command, Envelope, ManifestEntry, ManifestLine, ShimEntry, State, Status},
    manifest::Manifest,
};
use coalesce_plan::{Checked, EntryReport, EntryState};

use super::{Page, files, manifests, misfit, open, rollback};
use crate::{cli, exit::Outcome, session::Session};

/// Runs `status`.
///
/// # Errors
/// When the tree or the journal cannot be read, or a manifest does not fit the tree.
pub fn run(global: &cli::Global) -> anyhow::Result<Outcome> {
    let session = open(global)?;
    let manifests = manifests(&session, &[])?;
    let store = Store::open(&global.root).map_err(rollback::failure)?;
    Ok(Outcome::success(status(
        &session, global, &manifests, &store,
    )?))
}

/// The state of the manifests, of the journal and of the shims.
fn status(
    session: &Session,
    global: &cli::Global,
    manifests: &[Manifest],
    store: &Store,
) -> anyhow::Result<Envelope> {
    let index = session.index();
    let checked = coalesce_plan::check(manifests, &index, &session.tree)
        .map_err(|errors| misfit(&errors, manifests, session))?;
    let (unfinished, migrations) = rollback::journal_entries(store)?;
    let mut shims: Vec<ShimEntry> = index
        .graphs()
        .iter()
        .flat_map(|graph| shims(*graph, &session.tree, manifests))
        .collect();
    shims.sort_by(|a, b| a.name.cmp(&b.name));
    let body = Status {
        files: files(session),
        manifests: manifests
            .iter()
            .map(|manifest| manifest_entry(manifest, &checked))
            .collect(),
        unfinished,
        migrations,
        shims,
    };
    Ok(Page::new(session, global).envelope(Command::Status, &[], Body::Status(body)))
}

fn manifest_entry(manifest: &Manifest, checked: &Checked) -> ManifestEntry {
    let own: Vec<&EntryReport> = checked
        .entries
        .iter()
        .filter(|entry| entry.manifest == manifest.id)
        .collect();
    let done = own
        .iter()
        .filter(|entry| entry.state == EntryState::Done)
        .count();
    let state = match done {
        done if done == own.len() => State::Done,
        0 => State::Open,
        _ => State::Partly,
    };
    let line = |entry: &&EntryReport| ManifestLine {
        verb: entry.verb.as_str().to_owned(),
        from: entry.from.clone(),
        to: entry.to.clone(),
        state: if entry.state == EntryState::Done {
            State::Done
        } else {
            State::Open
        },
    };
    ManifestEntry {
        id: manifest.id.clone(),
        description: manifest.description.clone(),
        state,
        entries: own.iter().map(line).collect(),
    }
}

fn shims(graph: &dyn LanguageGraph, texts: &dyn Texts, manifests: &[Manifest]) -> Vec<ShimEntry> {
    let users = importers(graph);
    let shim = |module: &Module| module.kind == ModuleKind::Shim;
    let all = graph
        .modules()
        .iter()
        .zip(&users)
        .filter(|(module, _)| shim(module));
    all.map(|(module, users)| {
        let manifest = texts.text(&module.path).and_then(|text| marker(&text));
        let known = manifests
            .iter()
            .find(|other| Some(&other.id) == manifest.as_ref());
        let outside = users
            .iter()
            .filter_map(|user| graph.modules().get(*user))
            .filter(|user| !shim(user));
        let mut users: Vec<String> = outside.map(|user| user.name.clone()).collect();
        users.sort();
        users.dedup();
        ShimEntry {
            name: module.name.clone(),
            path: module.path.clone(),
            remove_in: known.and_then(|manifest| manifest.remove_in.clone()),
            manifest,
            users,
        }
    })
    .collect()
}

/// The id that the marker comment of a shim names.
fn marker(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("coalesce: shim ")?;
    let id = rest.split_whitespace().next()?;
    Some(id.to_owned())
}
