//! `new-eager-cycle`: modules that execute each other's import, where the baseline had no such
//! cycle. Without a baseline the rule has nothing to compare with and stays silent.

use coalesce_index::Cycle;
use coalesce_model::{Finding, Severity, finding::codes};

use crate::Subject;

/// One finding for each component that reaches beyond every component of the baseline.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let Some(baseline) = subject.baseline else {
        return Vec::new();
    };
    let cycles = subject.index.cycles().into_iter();
    cycles
        .filter(|cycle| cycle.eager && !baseline.has_cycle(&cycle.modules))
        .filter_map(|cycle| finding(&cycle))
        .collect()
}

fn finding(cycle: &Cycle) -> Option<Finding> {
    let edge = cycle.shortest.first()?;
    let steps = cycle.shortest.iter();
    let steps = steps.map(|edge| {
        format!(
            "{} imports {} ({}:{})",
            edge.from, edge.to, edge.path, edge.line
        )
    });
    let steps: Vec<String> = steps.collect();
    Some(Finding {
        code: codes::NEW_EAGER_CYCLE,
        severity: Severity::Error,
        path: edge.path.clone(),
        span: None,
        message: format!(
            "{} modules now import each other: {}",
            cycle.modules.len(),
            steps.join(", ")
        ),
        help: Some(
            "make one of these imports lazy, or move what both need to a third module".to_owned(),
        ),
    })
}
