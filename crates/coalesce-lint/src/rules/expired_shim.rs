//! `expired-shim`: a shim that the release which is being made removes.

use coalesce_model::{Finding, Severity, finding::codes, release};

use crate::Subject;

/// Shims whose release is not later than the one that is being made; silent without one.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let Some(current) = subject.release else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (shim, _) in subject.shims {
        let Some(due) = &shim.remove_in else {
            continue;
        };
        // A release that is no number was refused when the command line was read; one of a shim says
        // when it goes in its own words.
        if release::compare(due, current).is_ok_and(std::cmp::Ordering::is_le) {
            findings.push(Finding {
                code: codes::EXPIRED_SHIM,
                severity: Severity::Error,
                path: shim.path.clone(),
                span: None,
                message: format!("the shim `{}` was to go in {due}", shim.name),
                help: Some(format!(
                    "`coalesce retire --due {current} --apply` removes it"
                )),
            });
        }
    }
    findings
}
