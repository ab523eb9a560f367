//! `orphan-file`: a source file that no module reaches.

use coalesce_model::{Finding, finding::codes};

use crate::Subject;

/// What the languages report.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    subject.told_by_languages(codes::ORPHAN_FILE)
}
