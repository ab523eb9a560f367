//! The commands: each reads a tree, works out what it has to say, and returns it as an envelope.
//!
//! Nothing is printed here, and only `migrate`, `retire --apply`, `rollback` and `recover` change a
//! tree, through
//! `coalesce-apply`.

mod audit;
mod check;
#[cfg(feature = "devices")]
mod devices;
mod diff;
mod duplicates;
mod emit;
mod links;
mod migrate;
mod plan;
mod propose;
mod refs;
mod relation;
mod retire;
mod rollback;
mod shims;
mod status;
mod verify;
mod work;

use coalesce_model::{
    Finding, Root, Texts as _, TreePath,
    envelope::{Body, Command, Envelope, Files, Locator, SkippedFile},
    manifest::{Manifest, ManifestError},
};

use coalesce_tree::SourceTree;

use crate::{
    cli::{self, Invocation},
    exit::{Failure, Outcome},
    named_files,
    progress::Progress,
    session::Session,
    terminal,
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
        cli::Command::Diff(arguments) => diff::run(global, arguments),
        cli::Command::Plan(arguments) => plan::run(global, arguments),
        cli::Command::Migrate(arguments) => migrate::run(global, arguments),
        cli::Command::Rollback(arguments) => rollback::run(global, arguments),
        cli::Command::Recover(arguments) => rollback::recover(global, arguments),
        cli::Command::Status(_) => status::run(global),
        cli::Command::Check(arguments) => check::run(global, arguments),
        cli::Command::Verify(arguments) => verify::run(global, arguments),
        cli::Command::Retire(arguments) => retire::run(global, arguments),
        cli::Command::Explain(arguments) => Ok(Outcome::success(
            coalesce_report::explain::envelope(arguments.code),
        )),
        #[cfg(feature = "devices")]
        cli::Command::Devices(arguments) => devices::run(global, arguments),
    }
}

/// Opens the tree that the command line names.
fn open(global: &cli::Global) -> anyhow::Result<Session> {
    let progress = Progress::new(terminal::watched(global.quiet));
    Session::open(&global.root, !global.no_cache, progress)
}

/// Asks whoever is at the terminal, unless told not to.
fn confirm(told: bool, question: &str) -> anyhow::Result<()> {
    if !told && terminal::ask(question)? == terminal::Answer::No {
        let failure = Failure::user("nothing was done");
        return Err(failure.hint("`--yes` asks nothing").into());
    }
    Ok(())
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
        Envelope {
            roots: roots(self.session),
            findings,
            ..Envelope::new(self.root, command, body)
        }
    }
}

/// The roots of all languages.
fn roots(session: &Session) -> Vec<Root> {
    let graphs = session.graphs();
    let roots = graphs.iter().flat_map(|graph| graph.roots());
    roots.cloned().collect()
}

/// What was read, and what was not and why.
fn files(session: &Session) -> Files {
    files_of(&session.tree, session.read())
}

/// [`files`] once facts are gone; `read` files gave some.
fn files_of(tree: &SourceTree, read: usize) -> Files {
    let skipped = tree.skips();
    let skipped: Vec<_> = skipped
        .iter()
        .map(|skip| SkippedFile {
            path: skip.path.to_string(),
            reason: skip.reason.to_string(),
        })
        .collect();
    Files { read, skipped }
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
    one_id_each(&manifests)?;
    Ok(manifests)
}

/// [`manifests`] for a command that is of no use without one: an empty list is a wrong directory
/// more often than a wish.
fn some_manifests(
    session: &Session,
    named: &[std::path::PathBuf],
) -> anyhow::Result<Vec<Manifest>> {
    let manifests = manifests(session, named)?;
    if manifests.is_empty() {
        let failure =
            Failure::user("there is no manifest: no file `migrations/*.toml` in the root");
        let hint =
            "write `migrations/0001-….toml`, name a manifest, or name another root with `--root`";
        return Err(failure.hint(hint).into());
    }
    Ok(manifests)
}

/// Shims and the journal name a manifest by its id alone, so no two may share one.
fn one_id_each(manifests: &[Manifest]) -> Result<(), Failure> {
    let mut seen = std::collections::BTreeMap::new();
    for manifest in manifests {
        let Some(earlier) = seen.insert(&manifest.id, &manifest.path) else {
            continue;
        };
        let message = format!("{earlier} has the same id, `{}`", manifest.id);
        let help = "the id is the file name without its extension; rename one of them";
        let start = coalesce_model::ByteSpan::from_range(0..0);
        let error = manifest.error(start, message, Some(help.to_owned()));
        return Err(entry_failure(&[error], manifests));
    }
    Ok(())
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

/// Why entries do not fit the tree. A module that was not read is missing for a reason.
fn misfit(errors: &[ManifestError], manifests: &[Manifest], session: &Session) -> Failure {
    let skips = session.tree.skips();
    let named = |error: &ManifestError| {
        let text = manifests
            .iter()
            .find(|manifest| manifest.path == error.path)?;
        let name = error.span.of(&text.text)?.trim_matches(['"', '\'']);
        Some(name.replace("::", "/").replace('.', "/"))
    };
    let names: Vec<String> = errors.iter().filter_map(named).collect();
    let is_named = |skip: &&coalesce_tree::Skip| {
        let path = skip.path.as_str();
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let ends_with = |path: &str, name: &str| {
            path.strip_suffix(name)
                .is_some_and(|head| head.is_empty() || head.ends_with('/'))
        };
        names.iter().any(|name| {
            // A module below a linked directory was not read either.
            let mut above = name.match_indices('/').filter_map(|(at, _)| name.get(..at));
            ends_with(path, name)
                || ends_with(stem, name)
                || above.any(|above| above.contains('/') && ends_with(path, above))
        })
    };
    let failure = entry_failure(errors, manifests);
    let said = |skip: &&coalesce_tree::Skip| {
        let path = skip.path.as_str();
        errors.iter().any(|error| error.message.contains(path))
    };
    skips
        .iter()
        .filter(|skip| is_named(skip) && !said(skip))
        .fold(failure, |failure, skip| {
            failure.hint(format!("{} was not read: {}", skip.path, skip.reason))
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
