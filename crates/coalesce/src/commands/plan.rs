//! `plan`: what a migration would change and why. Writes nothing but the file of `--out`.

use coalesce_engine::{plan, save_plan};
use coalesce_model::envelope::{Body, Command, Envelope, Grade};
use coalesce_report::typed;

use super::{Page, applying::falls_short, label, open, some_manifests};
use crate::{
    cli,
    exit::{Exit, Outcome},
    named_files,
};

/// What to type next, for the same manifests; none where there is nothing that could be.
#[must_use]
pub fn next(global: &cli::Global, arguments: &cli::Plan, envelope: &Envelope) -> Option<String> {
    let Body::Plan(plan) = &envelope.body else {
        return None;
    };
    let grade = plan.answer.grade.filter(|_| plan.saved.is_none())?;
    let named = |words: &[&str]| {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        words.extend(arguments.manifests.words());
        typed::command(&label(global), &words)
    };
    let (what_for, command) = if plan.operations.is_empty() {
        let command = typed::command(&label(global), &["check"]);
        ("every entry is done; what CI runs from now on", command)
    } else if grade == Grade::NotProven {
        let command = named(&["migrate", "--verify"]);
        ("to try it on a copy, then change the tree", command)
    } else {
        ("to change the tree", named(&["migrate"]))
    };
    Some(format!("{what_for}: {command}\n"))
}

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
        named_files::write(session.tree.root(), path, &save_plan(&session, &worked)?)?;
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
