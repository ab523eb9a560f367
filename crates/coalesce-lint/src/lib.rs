//! The rules that keep a consolidated tree clean. `check` runs them all.
//!
//! Pure functions of the index. Each rule is a file under `rules`, named after its code.

mod baseline;
mod rules;

pub use baseline::{Baseline, BaselineError};

use coalesce_index::Index;
use coalesce_model::{Finding, Mention, manifest::Forbid};

/// What the rules look at.
pub struct Subject<'a> {
    /// The tree.
    pub index: &'a Index<'a>,
    /// What the manifests forbid.
    pub forbids: &'a [Forbid],
    /// Full names in configuration files that may be forbidden.
    pub configuration: &'a [Mention],
    /// What was there when the baseline was written.
    pub baseline: Option<&'a Baseline>,
}

/// Runs every rule; findings sorted by file and place, those of the baseline left out.
#[must_use]
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = rules::unresolved_internal_import::check(subject);
    findings.extend(rules::forbidden_path::check(subject));
    findings.extend(rules::new_eager_cycle::check(subject));
    findings.sort_by(|a, b| (&a.path, a.span, a.code).cmp(&(&b.path, b.span, b.code)));
    findings.dedup();
    findings
}
