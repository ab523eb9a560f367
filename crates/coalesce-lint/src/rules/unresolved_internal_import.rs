//! `unresolved-internal-import`: an import names a package of the tree, but nothing that is there.

use coalesce_model::{Finding, finding::codes};

use crate::Subject;

/// What the languages report; whether a name can be supplied by something invisible is theirs to
/// know.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    subject.told_by_languages(codes::UNRESOLVED_IMPORT)
}
