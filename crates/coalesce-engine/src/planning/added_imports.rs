//! Imports that a plan adds once its proof has shown what is no longer loaded on the way to what is elsewhere now.

use coalesce_model::AddedImport;

use super::{MigrationPlan, Task, texts};

/// The same plan with the imports that it lacks. Where they do not fit, or break something, the plan as it is, which is
/// not proven then.
pub(super) fn add(task: &Task<'_>, way: usize, mut plan: MigrationPlan) -> MigrationPlan {
    if plan.refused() || plan.added_imports.is_empty() {
        return plan;
    }
    let lacking = plan.added_imports.iter();
    let fitting: Vec<&AddedImport> = lacking.filter(|one| !one.edits.is_empty()).collect();
    if let Some(whole) = with(task, way, &fitting) {
        return whole;
    }
    plan.tell_missing_imports();
    plan
}

/// A plan that has some imports besides, if it can be proven.
fn with(task: &Task<'_>, way: usize, imports: &[&AddedImport]) -> Option<MigrationPlan> {
    if imports.is_empty() {
        return None;
    }
    let mut plan = task.take_way(way);
    for import in imports {
        let operations = &mut plan.assembled.operations;
        let edits = import.edits.clone();
        texts::edit(operations, &import.path, edits, &task.session.tree)?;
        plan.assembled.rewrites.push(import.rewrite.clone());
    }
    plan.assembled.rewrites.sort();
    let operations = &mut plan.assembled.operations;
    operations.sort_by(|a, b| a.path().cmp(b.path()));
    plan.prove_all(task.session, task.checked, false);
    plan.tell_missing_imports();
    (!plan.refused()).then_some(plan)
}

impl MigrationPlan {
    /// What is loaded no more, and nothing was done about it, is not proven.
    pub(super) fn tell_missing_imports(&mut self) {
        let missing = std::mem::take(&mut self.added_imports).into_iter();
        let unproven = missing.map(|one| one.unproven);
        self.assembled.unproven.extend(unproven);
    }
}
