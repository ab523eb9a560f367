//! Plans in which an import takes a name from where it is defined, or waits until something is called: the last resort
//! where every way of a plan reads a name before it is bound, and that alone.

use std::collections::BTreeSet;

use coalesce_model::{Change, Finding, ImportChange, Unproven, UnprovenKind, finding::codes};
use coalesce_plan::Operation;

use super::{MigrationPlan, Task, texts};
use crate::session::{LanguagePart, Session};

/// How many ways are tried: those beyond differ in what goes along, and are asked for by nobody.
const MAXIMUM_WAYS: usize = 4;

/// How many files are changed one after the other so that they take names from nearer: more is another change than the one
/// that was asked for.
const MAXIMUM_STEPS: usize = 3;

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
    nearer(task, way).or_else(|| {
        let mut plan = task.take_way(way);
        let notes = edit(task, &mut plan, |part, session, operations, changes| {
            part.deferrals(session, operations, changes)
        })?;
        proven(task, plan, notes)
    })
}

/// The plan, if it can be proven.
fn proven(task: &Task<'_>, mut plan: MigrationPlan, notes: Vec<Finding>) -> Option<MigrationPlan> {
    let unproven = &plan.assembled.unproven;
    let waiting = unproven.iter().filter(|one| is_waiting(one));
    let waiting: BTreeSet<String> = waiting.map(|one| one.name.clone()).collect();
    let before = unproven.len();
    plan.prove_all(task.session, task.checked, false);
    plan.tell_missing_imports();
    // What waits is told once, by who lets it wait.
    let proof = plan.assembled.unproven.split_off(before);
    let more = proof.into_iter();
    let more = more.filter(|one| !(is_waiting(one) && waiting.contains(&one.name)));
    plan.assembled.unproven.extend(more);
    plan.assembled.notes.extend(notes);
    (!plan.refused()).then_some(plan)
}

fn is_waiting(unproven: &Unproven) -> bool {
    unproven.kind == UnprovenKind::NotLoaded
}

/// The plan whose imports take from nearer what comes too late where they take it from, step by step.
fn nearer(task: &Task<'_>, way: usize) -> Option<MigrationPlan> {
    let mut plan = task.take_way(way);
    let mut notes = Vec::new();
    for _ in 0..MAXIMUM_STEPS {
        let more = edit(task, &mut plan, |part, session, operations, changes| {
            part.nearer_imports(session, operations, changes)
        });
        match more {
            Some(more) => notes.extend(more),
            None => break,
        }
    }
    let changed = !notes.is_empty();
    changed.then(|| proven(task, plan, notes)).flatten()
}

/// What of a tree is changed so that everything is bound in time.
type Mends = fn(&dyn LanguagePart, &Session, &[Operation], &[Change]) -> Vec<ImportChange>;

/// Makes these changes, and says so; none where there is nothing to change.
fn edit(task: &Task<'_>, plan: &mut MigrationPlan, mends: Mends) -> Option<Vec<Finding>> {
    let mut notes = Vec::new();
    for (kind, changes) in &task.checked.changes {
        let part: &dyn LanguagePart = task.session.part(*kind);
        let operations = &plan.assembled.operations;
        for change in mends(part, task.session, operations, changes) {
            let operations = &mut plan.assembled.operations;
            texts::edit(operations, &change.path, change.edits, &task.session.tree)?;
            notes.push(change.note);
            plan.assembled.unproven.extend(change.unproven);
            plan.lost_names.extend(change.lost_names);
        }
    }
    (!notes.is_empty()).then_some(notes)
}
