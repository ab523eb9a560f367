//! `check --fix`: imports of old names are led on by the manifests that were applied, through a plan
//! and the journal, as `migrate` does it.

use std::collections::BTreeSet;

use coalesce_apply::Store;
use coalesce_engine::{PlanOptions, Session, checks_of, misfit, plan};
use coalesce_model::{
    Severity, TreePath,
    envelope::{Fixed, Locator},
    finding::codes,
    manifest::Manifest,
};
use coalesce_plan::EntryState;

use crate::{
    cli,
    commands::{applying::Application, manifests, rollback::failure},
    exit::{Exit, Failure},
};

/// Leads later uses of old names on; nothing that is still to be migrated is touched, and no file in which a
/// comment allows an old name.
///
/// # Errors
/// When a manifest does not fit the tree, the plan is refused, or the tree cannot be written; it is
/// then as it was.
pub fn lead_on(
    session: &Session,
    global: &cli::Global,
    arguments: &cli::Check,
    allowed: &BTreeSet<TreePath>,
) -> anyhow::Result<Fixed> {
    let options = &arguments.applying;
    let mut followed = followed(session, manifests(session, &[])?)?;
    if let Some(manifest) = followed.first_mut() {
        manifest.keep_uses.extend(allowed.iter().map(glob_of));
    }
    if followed.iter().all(|manifest| manifest.entries.is_empty()) {
        return Ok(Fixed::default());
    }
    let mut worked = plan(session, &followed, PlanOptions::default())?;
    if worked.nothing_to_do() && !worked.refused() {
        return Ok(Fixed::default());
    }
    let store = Store::open(&global.root).map_err(failure)?;
    let checks = checks_of(&followed);
    let application = Application {
        session,
        store: &store,
        options,
        checks: &checks,
    };
    let mut locator = Locator::new(&session.tree);
    let carried = application.carry_out(&mut worked, &mut locator)?;
    if carried.exit != Exit::Success {
        let first = carried
            .findings
            .iter()
            .find(|finding| finding.severity == Severity::Error);
        let why = first.map_or_else(String::new, |finding| format!(": {}", finding.message));
        let unproven = first.is_some_and(|finding| finding.code == codes::NOT_PROVEN);
        let failure = Failure::user(format!("what `--fix` would change is not applied{why}"))
            .hint("`coalesce plan` shows all of it");
        return Err(if unproven {
            let verified = "`coalesce check --fix --verify` settles what running the project can";
            failure.hint(format!(
                "{verified}, `coalesce check --fix --allow-unproven` applies it as it is"
            ))
        } else {
            failure
        }
        .into());
    }
    let rewrites = carried.body.plan.rewrites.iter();
    let edited: BTreeSet<_> = rewrites.map(|rewrite| &rewrite.path).collect();
    Ok(Fixed {
        files: edited.len(),
        migration: carried.body.migration,
        committed: carried.body.committed,
        baseline: None,
    })
}

/// The glob that a file and nothing else fits.
fn glob_of(path: &TreePath) -> String {
    let mut glob = "/".to_owned();
    for character in path.as_str().chars() {
        if !(character.is_alphanumeric() || "/._-".contains(character)) {
            glob.push('\\');
        }
        glob.push(character);
    }
    glob
}

/// The manifests without what is still to do.
fn followed(session: &Session, mut manifests: Vec<Manifest>) -> Result<Vec<Manifest>, Failure> {
    let checked = coalesce_plan::check(&manifests, &session.index(), &session.tree)
        .map_err(|errors| misfit(&errors, &manifests, session))?;
    for manifest in &mut manifests {
        manifest.entries.retain(|entry| {
            checked.entries.iter().any(|report| {
                report.state == EntryState::Done
                    && report.manifest == manifest.id
                    && report.from == entry.from.text
            })
        });
        manifest.removals.clear();
        manifest.accessors.clear();
    }
    manifests.retain(|manifest| !manifest.entries.is_empty());
    Ok(manifests)
}
