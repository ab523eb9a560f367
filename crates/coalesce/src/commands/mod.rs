//! The commands: each reads a tree, works out what it has to say, and returns it as an envelope.
//!
//! Nothing is printed here. Only `migrate`, `rollback` and `recover`, with `--apply` `retire`, `move`,
//! `replace`, `merge` and `remove`, and with `--fix` `check`, change a tree, through `coalesce-apply`.

pub mod about;
mod applying;
mod audit;
mod check;
#[cfg(feature = "devices")]
mod cluster;
#[cfg(feature = "devices")]
mod devices;
mod diff;
mod duplicates;
mod entry;
mod find;
mod fleet;
mod homes;
mod init;
mod migrate;
mod plan;
mod refs;
mod retire;
mod rollback;
mod spoken;
mod status;
mod verify;

use coalesce_apply::Store;
use coalesce_engine::{Extent, Progress, Session};
use coalesce_model::{
    Finding, Root, Severity, TreePath,
    envelope::{Body, Command, Envelope, Locator},
    finding::codes,
    manifest::Manifest,
};

use coalesce_report::typed;

use crate::{
    cli::{self, Invocation},
    exit::{Exit, Failure, Outcome},
    named_files,
    progress::TerminalLine,
    terminal,
};

/// Ends what a command began that runs again and again.
pub fn end() {
    #[cfg(feature = "devices")]
    cluster::withdraw();
}

/// Runs one command.
///
/// # Errors
/// A [`Failure`] for what the user can mend; anything else is a mistake of ours.
pub fn run(invocation: &Invocation) -> anyhow::Result<Outcome> {
    let mut outcome = carry_out(invocation)?;
    let root = label(&invocation.global);
    for finding in &mut outcome.envelope.findings {
        let help = finding.help.take();
        finding.help = help.map(|help| typed::rooted(&help, &root));
    }
    if let Some(path) = invocation.command.html()
        && let Some(page) = coalesce_report::html(&outcome.envelope)?
    {
        named_files::write(&invocation.global.root, path, &page)?;
    }
    Ok(outcome)
}

/// What a page ends with that only the command line knows: what to type next.
#[must_use]
pub fn next(invocation: &Invocation, envelope: &Envelope) -> Option<String> {
    match &invocation.command {
        cli::Command::Plan(arguments) if !invocation.global.quiet => {
            plan::next(&invocation.global, arguments, envelope)
        }
        _ => None,
    }
}

fn carry_out(invocation: &Invocation) -> anyhow::Result<Outcome> {
    let global = &invocation.global;
    if matches!(
        invocation.command,
        cli::Command::Plan(_) | cli::Command::Check(_) | cli::Command::Verify(_)
    ) {
        // Half of a migration is no tree to be judged.
        if let Ok(store) = Store::open(&global.root) {
            migrate::refuse_unfinished(&store)?;
        }
    }
    if let Some(command) = entry::EntryCommand::of(&invocation.command) {
        return entry::run(global, &command);
    }
    match &invocation.command {
        cli::Command::Help(_)
        | cli::Command::Completions(_)
        | cli::Command::Man(_)
        | cli::Command::Move(_)
        | cli::Command::Replace(_)
        | cli::Command::Merge(_)
        | cli::Command::Remove(_) => {
            anyhow::bail!("this command is none that makes an envelope of its own")
        }
        cli::Command::Init(arguments) => init::run(global, arguments),
        cli::Command::Audit(arguments) => audit::run(global, arguments),
        cli::Command::Refs(arguments) => refs::run(global, arguments),
        cli::Command::Find(arguments) => find::run(global, arguments),
        cli::Command::Fleet(arguments) => fleet::run(global, arguments),
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
        #[cfg(feature = "lsp")]
        cli::Command::Lsp(_) => Err(Failure::internal("a server has no page").into()),
        #[cfg(feature = "mcp")]
        cli::Command::Mcp(_) => Err(Failure::internal("a server has no page").into()),
    }
}

/// What to say first of a tree whose last migration was cut off, by a command that only tells.
pub fn cut_off(invocation: &Invocation) -> Option<String> {
    let tells = matches!(
        invocation.command,
        cli::Command::Audit(_)
            | cli::Command::Refs(_)
            | cli::Command::Diff(_)
            | cli::Command::Find(_)
            | cli::Command::Init(_)
    );
    let store = tells.then(|| Store::open(&invocation.global.root));
    let record = store?.ok()?.unfinished().ok()??;
    Some(format!(
        "the migration {} was cut off, so the tree is between two states: `coalesce recover` puts \
         everything back, `coalesce recover --finish` carries it through",
        record.id
    ))
}

/// Something to know of what was written, as findings.
fn remarks(remarks: &[coalesce_apply::Remark]) -> Vec<Finding> {
    let note = |remark: &coalesce_apply::Remark| Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Warning,
        path: TreePath::root(),
        span: None,
        message: remark.to_string(),
        help: None,
    };
    remarks.iter().map(note).collect()
}

/// Opens the tree that the command line names.
fn open(global: &cli::Global) -> Result<Session, Failure> {
    open_for(Extent::Whole, global)
}

/// Opens the tree for a command that needs so much of each file.
fn open_for(extent: Extent, global: &cli::Global) -> Result<Session, Failure> {
    let progress = if terminal::watched(global.quiet) {
        Progress::watched_by(TerminalLine::default())
    } else {
        Progress::silent()
    };
    Session::open_for(extent, &global.root, !global.no_cache, progress)
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

    /// How a command ends.
    fn outcome(self, command: Command, findings: &[Finding], body: Body, exit: Exit) -> Outcome {
        Outcome {
            envelope: self.envelope(command, findings, body),
            exit,
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

/// The journal of the tree, which a migration that was cut off keeps from being changed further.
fn open_store(global: &cli::Global) -> anyhow::Result<Store> {
    let store = Store::open(&global.root).map_err(rollback::failure)?;
    migrate::refuse_unfinished(&store)?;
    Ok(store)
}

/// The roots of all languages.
fn roots(session: &Session) -> Vec<Root> {
    let graphs = session.graphs();
    let roots = graphs.iter().flat_map(|graph| graph.roots());
    roots.cloned().collect()
}

/// The manifests that are named, or all in `migrations/` of the tree.
fn manifests(session: &Session, named: &[std::path::PathBuf]) -> Result<Vec<Manifest>, Failure> {
    let texts = named
        .iter()
        .map(|path| named_files::read(path).map(|text| (path.display().to_string(), text)))
        .collect::<Result<Vec<_>, _>>()?;
    coalesce_engine::manifests(session, texts)
}

fn asks_for_nothing(manifest: &Manifest) -> bool {
    let Manifest {
        entries,
        removals,
        forbids,
        accessors,
        ..
    } = manifest;
    entries.is_empty() && removals.is_empty() && forbids.is_empty() && accessors.is_empty()
}

fn no_manifest() -> Failure {
    let message = "there is no manifest: no file `migrations/*.toml` in the root";
    let hint =
        "write `migrations/0001-….toml`, name a manifest, or name another root with `--root`";
    Failure::user(message).hint(hint)
}

/// [`manifests`] for a command that is of no use without one: an empty list is a wrong directory
/// more often than a wish.
fn some_manifests(
    session: &Session,
    named: &[std::path::PathBuf],
) -> Result<Vec<Manifest>, Failure> {
    let manifests = manifests(session, named)?;
    if manifests.is_empty() {
        return Err(no_manifest());
    }
    // What asks for nothing would be told as done.
    let idle = manifests.iter().all(asks_for_nothing);
    if let Some(first) = manifests.first().filter(|_| idle) {
        let message = format!("{} has no entry: there is nothing to do", first.path);
        let hint = "take the `# ` away from an entry of it, or write one: `coalesce help manifest`";
        return Err(Failure::user(message).hint(hint));
    }
    Ok(manifests)
}
