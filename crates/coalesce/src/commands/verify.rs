//! `verify`: the project's own checks on the planned tree, against a run before.

use coalesce_engine::{answer, checks_of, checks_of_plan, plan, verify};
use coalesce_model::{
    Finding,
    envelope::{Body, Command},
};

use super::{Page, applying::falls_short, migrate::saved, open, some_manifests};
use crate::{
    cli,
    exit::{Exit, Failure, Outcome},
};

/// Runs `verify`.
///
/// # Errors
/// When there is no plan to verify, or a check cannot be made.
pub fn run(global: &cli::Global, arguments: &cli::Verify) -> anyhow::Result<Outcome> {
    let session = open(global)?;
    let (mut worked, checks) = match &arguments.plan {
        Some(path) => {
            let worked = saved(&session, path)?;
            let checks = checks_of_plan(&session, &worked)?;
            (worked, checks)
        }
        None => {
            let manifests = some_manifests(&session, &arguments.manifests.manifests)?;
            let checks = checks_of(&manifests);
            let options = arguments.manifests.options();
            (plan(&session, &manifests, options)?, checks)
        }
    };
    if worked.refused() {
        let failure = Failure::user("the plan is refused, so there is nothing to verify");
        return Err(failure.hint("`coalesce plan` says why").into());
    }
    let body = verify(&session, &mut worked, &checks)?;
    let answer = answer(&worked, Some(&body));
    let short = arguments.require.filter(|_| body.passed);
    let short = short.and_then(|grade| falls_short(&answer, grade));
    let exit = if body.passed && short.is_none() {
        Exit::Success
    } else {
        Exit::Findings
    };
    let findings: Vec<Finding> = short.into_iter().collect();
    let page = Page::new(&session, global);
    let envelope = page.envelope(Command::Verify, &findings, Body::Verify(body));
    Ok(Outcome { envelope, exit })
}
