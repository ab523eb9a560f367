//! `gpu-outside-home`: a call of a GPU library for something that `coalesce.toml` gives a home.

use coalesce_model::{Finding, RoleHome, Severity, finding::codes};

use crate::{RoleUse, Subject};

/// One finding for each file, library and role; silent without a `[[gpu-home]]`.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let found = subject.roles.iter().filter_map(|used| {
        let home = missed_home(subject, used)?;
        Some(finding(subject, used, home))
    });
    found.collect()
}

/// The home of a role that is used somewhere else. Of several homes for one role each is one.
fn missed_home<'s>(subject: &'s Subject<'_>, used: &RoleUse) -> Option<&'s RoleHome> {
    let homes = subject.settings.homes.iter();
    let mut homes = homes.filter(|home| home.roles.contains(&used.role));
    let modules = subject.modules_of(&used.path);
    let at_home = |home: &RoleHome| {
        let mut patterns = home.modules.iter();
        patterns.any(|pattern| {
            modules
                .iter()
                .any(|name| pattern.matches_name_or_parent(name))
        })
    };
    let first = homes.clone().next()?;
    (!homes.any(at_home)).then_some(first)
}

fn finding(subject: &Subject<'_>, used: &RoleUse, home: &RoleHome) -> Finding {
    let patterns = home.modules.iter().map(|pattern| pattern.as_str());
    let patterns: Vec<&str> = patterns.collect();
    Finding {
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
        help: home.message.clone(),
    }
}
