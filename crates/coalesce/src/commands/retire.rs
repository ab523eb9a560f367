//! `retire`: the removal of shims that are due or that nobody uses, as a plan or at once.

use coalesce_engine::{SelectedShim, ShimSelection, checks_of, save_plan};
use coalesce_model::envelope::{Body, Command, Locator, Retire, RetiredShim};

use super::{Page, applying::Application, manifests, open, open_store};
use crate::{
    cli,
    exit::{Exit, Outcome},
    named_files,
};

/// Runs `retire`.
///
/// # Errors
/// When the tree cannot be read or written, or a name is no shim.
pub fn run(global: &cli::Global, arguments: &cli::Retire) -> anyhow::Result<Outcome> {
    let store = open_store(global)?;
    let session = open(global)?;
    let wanted = ShimSelection {
        names: arguments.names.clone(),
        due: arguments.due.clone(),
        unused: arguments.unused,
        even_used: arguments.even_used,
    };
    let manifests = manifests(&session, &[])?;
    let (selected, mut worked) = coalesce_engine::retire(&session, &manifests, &wanted)?;
    let mut page = Page::new(&session, global);
    let checks = checks_of(&manifests);
    let application = Application {
        session: &session,
        store: &store,
        options: &arguments.applying,
        checks: &checks,
    };
    let mut carried = application.carry_out_if(arguments.apply, &mut worked, &mut page.locator)?;
    if let Some(path) = arguments
        .out
        .as_ref()
        .filter(|_| carried.exit == Exit::Success && !worked.nothing_to_do())
    {
        named_files::write(session.tree.root(), path, &save_plan(&session, &worked)?)?;
        carried.body.plan.saved = Some(path.display().to_string());
    }
    let body = Body::Retire(Retire {
        shims: shims(&selected, &mut page.locator),
        plan: carried.body.plan,
        migration: carried.body.migration,
        applied: carried.body.applied,
        committed: carried.body.committed,
    });
    Ok(page.outcome(Command::Retire, &carried.findings, body, carried.exit))
}

fn shims(selected: &[SelectedShim], locator: &mut Locator<'_>) -> Vec<RetiredShim> {
    let entry = |selected: &SelectedShim| RetiredShim {
        shim: selected.shim.clone(),
        goes: selected.goes,
        references: selected
            .references
            .iter()
            .filter_map(|reference| locator.reference(reference))
            .collect(),
    };
    selected.iter().map(entry).collect()
}
