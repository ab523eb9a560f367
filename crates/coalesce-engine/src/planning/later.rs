//! Plans in which an import waits until something is called: the last resort where every way of a plan reads a name
//! before it is bound, and that alone.

use coalesce_model::{Finding, finding::codes};

use super::{MigrationPlan, Task, texts};
use crate::session::LanguagePart;

/// How many ways are tried: those beyond differ in what goes along, and are asked for by nobody.
const MAXIMUM_WAYS: usize = 4;

/// The first way that can be proven so.
pub(super) fn in_some_way(task: &Task<'_>, ways: usize) -> Option<MigrationPlan> {
    (0..ways.min(MAXIMUM_WAYS)).find_map(|way| in_way(task, way))
}

fn in_way(task: &Task<'_>, way: usize) -> Option<MigrationPlan> {
    let refused = task.try_way(way, false);
    let mut refusals = refused.assembled.refusals.iter();
    if !refusals.all(|finding| finding.code == codes::READ_BEFORE_BOUND) {
        return None;
    }
    let mut plan = task.take_way(way);
    let notes = defer(task, &mut plan)?;
    plan.prove_all(task.session, task.checked, false);
    plan.tell_missing_imports();
    plan.assembled.notes.extend(notes);
    (!plan.refused()).then_some(plan)
}

/// Lets wait what has to, and says so.
fn defer(task: &Task<'_>, plan: &mut MigrationPlan) -> Option<Vec<Finding>> {
    let mut notes = Vec::new();
    for (kind, changes) in &task.checked.changes {
        let part: &dyn LanguagePart = task.session.part(*kind);
        let operations = &plan.assembled.operations;
        for deferral in part.deferrals(task.session, operations, changes) {
            let operations = &mut plan.assembled.operations;
            texts::edit(
                operations,
                &deferral.path,
                deferral.edits,
                &task.session.tree,
            )?;
            notes.push(deferral.note);
            plan.assembled.unproven.push(deferral.unproven);
        }
    }
    (!notes.is_empty()).then_some(notes)
}
