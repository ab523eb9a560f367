//! `expired-shim`: a shim that the release which is being made removes.

use coalesce_model::{Finding, Severity, envelope::ShimEntry, finding::codes, release};

use crate::Subject;

/// Shims whose release is not later than the one that is being made; silent without one.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let due = subject.shims.iter().filter_map(|(shim, _)| {
        let (current, due) = subject.release.zip(shim.remove_in.as_deref())?;
        is_due(shim, subject.release).then_some((shim, current, due))
    });
    due.map(|(shim, current, due)| Finding {
        code: codes::EXPIRED_SHIM,
        severity: Severity::Error,
        path: shim.path.clone(),
        span: None,
        message: format!("the shim `{}` was to go in {due}", shim.name),
        help: Some(format!(
            "`coalesce retire --due {current} --apply` removes it"
        )),
    })
    .collect()
}

/// Whether a shim was to go in the release that is being made, or before it.
///
/// A release that is no number was refused when the command line was read; one of a shim says when it
/// goes in its own words.
pub fn is_due(shim: &ShimEntry, current: Option<&str>) -> bool {
    current
        .zip(shim.remove_in.as_deref())
        .is_some_and(|(current, due)| {
            release::compare(due, current).is_ok_and(std::cmp::Ordering::is_le)
        })
}
