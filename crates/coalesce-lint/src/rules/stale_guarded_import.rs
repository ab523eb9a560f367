//! `stale-guarded-import`: a guarded import of something of the tree that is not there. No error ever
//! shows it.

use coalesce_index::guarded;
use coalesce_model::{Finding, ImportTarget, LanguageGraph, Severity, finding::codes};

use crate::Subject;

/// All graphs.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let graphs = subject.index.graphs().iter();
    graphs.flat_map(|graph| of_graph(*graph)).collect()
}

/// Guarded imports of one graph that lead nowhere.
pub fn of_graph(graph: &dyn LanguageGraph) -> Vec<Finding> {
    guarded(graph)
        .filter(|import| import.target == ImportTarget::Unresolved)
        .map(|import| Finding {
            code: codes::STALE_GUARD,
            severity: Severity::Error,
            path: import.path.clone(),
            span: Some(import.span),
            message: format!(
                "the guarded import of `{}` can no longer succeed, so the fallback always runs",
                import.name
            ),
            help: Some("import it from where it is now, or remove the attempt".to_owned()),
        })
        .collect()
}
