//! `verify`: the project's own checks on the planned tree, against a run before.

use coalesce_engine::{answer, verify};
use coalesce_model::{
    Finding,
    envelope::{Body, Command},
};

use super::{Page, applying::falls_short, migrate::planned, open};
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
    let named = (arguments.plan.as_deref(), &arguments.manifests);
    let (mut worked, checks) = planned(&session, named, true)?;
    if worked.refused() {
        let failure = Failure::user("the plan is refused, so there is nothing to verify");
        return Err(failure.hint("`coalesce plan` says why").into());
    }
    let body = verify(&session, &mut worked, &checks)?;
    let answer = answer(&worked, Some(&body));
    let short = arguments.require.filter(|_| body.passed);
    let short = short.and_then(|grade| falls_short(&answer, grade));
    let exit = match body.passed && short.is_none() {
        true => Exit::Success,
        false => Exit::Findings,
    };
    let findings: Vec<Finding> = short.into_iter().collect();
    let page = Page::new(&session, global);
    let envelope = page.envelope(Command::Verify, &findings, Body::Verify(body));
    Ok(Outcome { envelope, exit })
}
