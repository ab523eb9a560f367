//! The commands: each reads a tree, works out what it has to say, and returns it as an envelope.
//!
//! Nothing is printed here, and only `migrate`, `rollback` and `recover` change a tree, through
//! `coalesce-apply`.

mod audit;
mod check;
mod migrate;
mod plan;
mod refs;
mod rollback;
mod status;
mod work;

use coalesce_model::{
    Finding, Root, Texts as _, TreePath,
    envelope::{Body, Command, Envelope, Files, Locator, SkippedFile},
    manifest::{Manifest, ManifestError},
};

use crate::{
    cli::{self, Invocation},
    exit::{Failure, Outcome},
    named_files,
    session::Session,
};

/// Runs one command.
///
/// # Errors
/// A [`Failure`] for what the user can mend; anything else is a mistake of ours.
pub fn run(invocation: &Invocation) -> anyhow::Result<Outcome> {
    let global = &invocation.global;
    match &invocation.command {
        cli::Command::Audit(arguments) => audit::run(global, arguments),
        cli::Command::Refs(arguments) => refs::run(global, arguments),
        cli::Command::Plan(arguments) => plan::run(global, arguments),
        cli::Command::Migrate(arguments) => migrate::run(global, arguments),
        cli::Command::Rollback(arguments) => rollback::run(global, arguments),
        cli::Command::Recover(arguments) => rollback::recover(global, arguments),
        cli::Command::Status(_) => status::run(global),
        cli::Command::Check(arguments) => check::run(global, arguments),
        cli::Command::Explain(arguments) => Ok(Outcome::success(
            coalesce_report::explain::envelope(arguments.code),
        )),
    }
}

/// Opens the tree that the command line names.
fn open(global: &cli::Global) -> anyhow::Result<Session> {
    Session::open(&global.root, !global.no_cache)
}

/// The root as it was given.
fn label(global: &cli::Global) -> String {
    global.root.display().to_string()
}

/// Makes envelopes of one tree, with lines and columns.
struct Page<'s> {
    session: &'s Session,
    root: String,
    locator: Locator<'s>,
}

impl<'s> Page<'s> {
    fn new(session: &'s Session, global: &cli::Global) -> Self {
        Self {
            session,
            root: label(global),
            locator: Locator::new(&session.tree),
        }
    }

    fn envelope(mut self, command: Command, findings: &[Finding], body: Body) -> Envelope {
        let findings = findings
            .iter()
            .map(|finding| self.locator.finding(finding))
            .collect();
        let roots: Vec<Root> = self
            .session
            .graphs()
            .iter()
            .flat_map(|graph| graph.roots())
            .cloned()
            .collect();
        Envelope {
            roots,
            findings,
            ..Envelope::new(self.root, command, body)
        }
    }
}

/// What was read, and what was not and why.
fn files(session: &Session) -> Files {
    let skipped = session.tree.skips();
    let skipped: Vec<_> = skipped
        .iter()
        .map(|skip| SkippedFile {
            path: skip.path.to_string(),
            reason: skip.reason.to_string(),
        })
        .collect();
    Files {
        read: session.read(),
        skipped,
    }
}

/// The manifests that are named, or all in `migrations/` of the tree.
fn manifests(session: &Session, named: &[std::path::PathBuf]) -> anyhow::Result<Vec<Manifest>> {
    let texts: Vec<(String, String)> = if named.is_empty() {
        let directory = TreePath::new("migrations")?;
        let own = session.tree.paths().iter().filter(|path| {
            path.parent().as_ref() == Some(&directory) && path.extension() == Some("toml")
        });
        own.filter_map(|path| Some((path.to_string(), session.tree.text(path)?.to_string())))
            .collect()
    } else {
        named
            .iter()
            .map(|path| named_files::read(path).map(|text| (path.display().to_string(), text)))
            .collect::<Result<_, _>>()?
    };
    let mut manifests = Vec::new();
    for (path, text) in &texts {
        manifests
            .push(Manifest::parse(path, text).map_err(|errors| manifest_failure(&errors, &texts))?);
    }
    Ok(manifests)
}

/// The first error in full, the others as hints: all are shown at once.
fn manifest_failure(errors: &[ManifestError], texts: &[(String, String)]) -> Failure {
    let text_of = |error: &ManifestError| {
        texts
            .iter()
            .find(|(path, _)| *path == error.path)
            .map_or("", |(_, text)| text)
    };
    let Some((first, rest)) = errors.split_first() else {
        return Failure::config("the manifests do not fit the tree");
    };
    let failure = Failure::manifest(first, text_of(first));
    rest.iter().fold(failure, |failure, error| {
        let remedy = error
            .help
            .as_ref()
            .map(|help| format!(" ({help})"))
            .unwrap_or_default();
        failure.hint(format!("also {error}{remedy}"))
    })
}

/// [`manifest_failure`] for manifests that were already read.
fn entry_failure(errors: &[ManifestError], manifests: &[Manifest]) -> Failure {
    let texts: Vec<_> = manifests
        .iter()
        .map(|manifest| (manifest.path.clone(), manifest.text.clone()))
        .collect();
    manifest_failure(errors, &texts)
}
