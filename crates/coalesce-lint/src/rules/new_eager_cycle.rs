//! `new-eager-cycle`: modules that execute each other's import, where the baseline had no such
//! cycle. Without a baseline the rule has nothing to compare with and stays silent.

use coalesce_model::{Finding, Severity, finding::codes};

use crate::Subject;

/// One finding for each component that reaches beyond every component of the baseline.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let Some(baseline) = subject.baseline else {
        return Vec::new();
    };
    let cycles = subject
        .index
        .cycles()
        .into_iter()
        .filter(|cycle| cycle.eager && !baseline.has_cycle(&cycle.modules));
    cycles
        .filter_map(|cycle| {
            let edge = cycle.shortest.first()?;
            let steps: Vec<_> = cycle
                .shortest
                .iter()
                .map(|edge| {
                    format!(
                        "{} imports {} ({}:{})",
                        edge.from, edge.to, edge.path, edge.line
                    )
                })
                .collect();
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
                    "make one of these imports lazy, or move what both need to a third module"
                        .to_owned(),
                ),
            })
        })
        .collect()
}
