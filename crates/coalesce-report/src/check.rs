//! The page of `check`: findings as a compiler prints them, and one line of counts.

use std::collections::BTreeSet;

use coalesce_model::envelope::{Check, Envelope};

use crate::page::{BAD, GOOD, PLACE, PLAIN, Page, count, read_counts};

/// Writes the page.
pub fn write(page: &mut Page, envelope: &Envelope, check: &Check) {
    for finding in &envelope.findings {
        page.finding(finding);
    }
    if let Some(written) = &check.written {
        page.put(PLAIN, "wrote the baseline ")
            .put(PLACE, written)
            .end();
    }
    if page.quiet() {
        return;
    }
    page.gap();
    page.put(PLAIN, format_args!("{}: ", read_counts(&check.files)));
    if envelope.findings.is_empty() {
        page.put(GOOD, "clean");
        if let Some(baseline) = &check.baseline {
            page.put(PLAIN, format_args!(" but for what {baseline} lists"));
        }
    } else {
        let files: BTreeSet<_> = envelope
            .findings
            .iter()
            .map(|finding| &finding.path)
            .collect();
        let found = count(envelope.findings.len(), "finding");
        page.put(BAD, found)
            .put(PLAIN, format_args!(" in {}", count(files.len(), "file")));
        if let Some(baseline) = &check.baseline {
            page.put(PLAIN, format_args!(", none of them in {baseline}"));
        }
    }
    page.end();
}
