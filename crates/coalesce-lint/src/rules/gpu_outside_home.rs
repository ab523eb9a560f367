//! `gpu-outside-home`: a call of a GPU library for something that `coalesce.toml` gives a home.

use coalesce_model::{Finding, Severity, finding::codes};

use crate::Subject;

/// One finding for each file, library and role; silent without a `[[gpu-home]]`.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for used in subject.roles {
        let homes = subject.settings.homes.iter();
        let mut homes = homes.filter(|home| home.roles.contains(&used.role));
        let modules = subject.modules_of(&used.path);
        let at_home = |home: &coalesce_model::RoleHome| {
            modules.iter().any(|name| {
                home.modules
                    .iter()
                    .any(|pattern| pattern.matches_name_or_parent(name))
            })
        };
        // Of several homes for one role each is one.
        let Some(first) = homes.clone().next() else {
            continue;
        };
        if homes.any(at_home) {
            continue;
        }
        let patterns: Vec<&str> = first
            .modules
            .iter()
            .map(|pattern| pattern.as_str())
            .collect();
        findings.push(Finding {
            code: codes::GPU_OUTSIDE_HOME,
            severity: Severity::Error,
            path: used.path.clone(),
            span: subject.line_span(&used.path, used.line),
            message: format!(
                "{} is called here to {}, which belongs to `{}`",
                used.package,
                used.role,
                patterns.join("`, `")
            ),
            help: first.message.clone(),
        });
    }
    findings
}
