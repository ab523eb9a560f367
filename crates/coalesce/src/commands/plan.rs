//! `plan`: what a migration would change and why. Writes nothing but the file of `--out`.

use coalesce_model::{
    ContentHash, TreePath,
    envelope::{Body, Command},
};
use coalesce_plan::SavedPlan;

use super::{Page, files, open, some_manifests, work::work_out};
use crate::{
    cli,
    exit::{Exit, Outcome},
    named_files,
    session::Session,
};

/// Runs `plan`.
///
/// # Errors
/// When the tree or a manifest cannot be read, or an entry does not fit the tree.
pub fn run(global: &cli::Global, arguments: &cli::Plan) -> anyhow::Result<Outcome> {
    let session = open(global)?;
    let manifests = some_manifests(&session, &arguments.manifests.manifests)?;
    let worked = work_out(&session, &manifests, &arguments.manifests)?;
    let mut page = Page::new(&session, global);
    let mut body = worked.body(&session, &mut page, files(&session));
    if let Some(path) = arguments.out.as_ref().filter(|_| !worked.refused()) {
        let saved = SavedPlan::new(
            worked.manifests.clone(),
            worked.assembled.clone(),
            worked.proven,
            session.sources(),
            |path| hash(&session, path),
        );
        named_files::write(path, &saved.to_json()?)?;
        body.saved = Some(path.display().to_string());
    }
    let envelope = page.envelope(Command::Plan, &worked.findings(), Body::Plan(body));
    Ok(Outcome {
        envelope,
        exit: if worked.refused() {
            Exit::Failed
        } else {
            Exit::Success
        },
    })
}

/// The hash of a file's bytes as this run sees them; `None` when there is no such file.
pub fn hash(session: &Session, path: &TreePath) -> Option<ContentHash> {
    let read = || {
        let content = session.tree.content(path);
        content.ok().map(|(bytes, _)| ContentHash::of(&bytes))
    };
    session.tree.seen(path).or_else(read)
}
