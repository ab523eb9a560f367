//! `retire`: the removal of shims that are due or that nobody uses, as a plan or at once.

use coalesce_apply::Store;
use coalesce_engine::{ShimSelection, save_plan};
use coalesce_model::envelope::{Body, Command, Retire, RetiredShim};

use super::{
    Page, manifests,
    migrate::{Allowed, apply, refuse_unfinished},
    open, remarks,
    rollback::failure,
};
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
    let store = Store::open(&global.root).map_err(failure)?;
    refuse_unfinished(&store)?;
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
    let mut body = Retire {
        plan: worked.to_entry(&session, &mut page.locator),
        shims: selected
            .iter()
            .map(|selected| RetiredShim {
                shim: selected.shim.clone(),
                goes: selected.goes,
                references: selected
                    .references
                    .iter()
                    .filter_map(|reference| page.locator.reference(reference))
                    .collect(),
            })
            .collect(),
        ..Retire::default()
    };
    if !worked.refused() && !worked.nothing_to_do() {
        if let Some(path) = &arguments.out {
            named_files::write(path, &save_plan(&session, &worked)?)?;
            body.plan.saved = Some(path.display().to_string());
        }
        if arguments.apply {
            let allowed = Allowed {
                dirty: arguments.allow_dirty,
                yes: arguments.yes,
            };
            let applied = apply(&session, &store, &worked, allowed)?;
            body.migration = Some(applied.id);
            body.applied = true;
            worked.assembled.notes.extend(remarks(&applied.remarks));
        }
    }
    let refused = worked.refused();
    let envelope = page.envelope(Command::Retire, &worked.findings(), Body::Retire(body));
    let exit = if refused { Exit::Failed } else { Exit::Success };
    Ok(Outcome { envelope, exit })
}
