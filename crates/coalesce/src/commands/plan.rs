//! `plan`: what a migration would change and why. Writes nothing but the file of `--out`.

use coalesce_engine::{plan, save_plan};
use coalesce_model::envelope::{Body, Command};

use super::{Page, applying::falls_short, open, some_manifests};
use crate::{
    cli,
    exit::{Exit, Outcome},
    named_files,
};

/// Runs `plan`.
///
/// # Errors
/// When the tree or a manifest cannot be read, or an entry does not fit the tree.
pub fn run(global: &cli::Global, arguments: &cli::Plan) -> anyhow::Result<Outcome> {
    let session = open(global)?;
    let manifests = some_manifests(&session, &arguments.manifests.manifests)?;
    let worked = plan(&session, &manifests, arguments.manifests.options())?;
    let mut page = Page::new(&session, global);
    let mut body = worked.to_entry(&session, &mut page.locator);
    if let Some(path) = arguments.out.as_ref().filter(|_| !worked.refused()) {
        named_files::write(path, &save_plan(&session, &worked)?)?;
        body.saved = Some(path.display().to_string());
    }
    let short = arguments
        .require
        .and_then(|grade| falls_short(&body.answer, grade));
    let mut findings = worked.findings();
    findings.extend(short.clone());
    let envelope = page.envelope(Command::Plan, &findings, Body::Plan(body));
    let exit = match (worked.refused(), short) {
        (true, _) => Exit::Failed,
        (false, Some(_)) => Exit::Findings,
        (false, None) => Exit::Success,
    };
    Ok(Outcome { envelope, exit })
}
