//! `unresolved-internal-import`: an import names a package of the tree, but nothing that is there.

use coalesce_model::{Finding, finding::codes};

use crate::Subject;

/// What the languages report; whether a name can be supplied by something invisible is theirs to
/// know. An import that the baseline already has is not reported again.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let graphs = subject.index.graphs().iter();
    let found = graphs
        .flat_map(|graph| graph.findings())
        .filter(|finding| finding.code == codes::UNRESOLVED_IMPORT);
    found
        .filter(|finding| {
            subject
                .baseline
                .is_none_or(|baseline| !baseline.has_unresolved(finding))
        })
        .collect()
}
