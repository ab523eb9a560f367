//! `migrate`: plan, checks, apply.

use std::path::Path;

use coalesce_apply::{Applied, Store};
use coalesce_engine::{
    MigrationPlan, PreparedMigration, Session, UncommittedChanges, answer, checks_of,
    checks_of_plan, emit_tests, plan, read_saved_plan, verify,
};
use coalesce_model::{
    Finding, Severity, TreePath,
    envelope::{self, Body, Command, Grade, Migrate},
    finding::codes,
    manifest::VerifyTable,
};

use super::{Page, check, confirm, open, remarks, rollback::failure, some_manifests};
use crate::{
    cli,
    exit::{Exit, Failure, Outcome, describe},
    named_files,
    terminal::{self, Answer},
};

/// Runs `migrate`.
///
/// # Errors
/// When a manifest does not fit, the plan is refused, or the tree cannot be written; the tree is
/// then as it was.
pub fn run(global: &cli::Global, arguments: &cli::Migrate) -> anyhow::Result<Outcome> {
    let store = Store::open(&global.root).map_err(failure)?;
    refuse_unfinished(&store)?;
    let session = open(global)?;
    let (mut worked, table) = planned(&session, arguments)?;
    let tests = match &arguments.emit_tests {
        Some(directory) => emit_tests(&mut worked, &session, directory)?,
        None => Vec::new(),
    };
    let mut page = Page::new(&session, global);
    let wanted = arguments.verify || offer_to_verify(&session, &worked, arguments)?;
    let verification = if wanted && !worked.refused() {
        Some(verify(&session, &mut worked, &table)?)
    } else {
        None
    };
    let mut body = Migrate {
        plan: worked.to_entry(&session, &mut page.locator),
        tests,
        ..Migrate::default()
    };
    body.plan.answer = answer(&worked, verification.as_ref());
    let passed = verification
        .as_ref()
        .is_none_or(|verification| verification.passed);
    body.verification = verification;
    let mut findings = worked.findings();
    let mut stopped = worked.refused() || !passed;
    if !stopped && !worked.nothing_to_do() {
        let short = too_little(&session, &body.plan, arguments)?;
        stopped = short.is_some();
        findings.extend(short);
    }
    if !stopped && !worked.nothing_to_do() {
        let allowed = Allowed {
            dirty: arguments.allow_dirty,
            yes: arguments.yes,
        };
        let applied = apply(&session, &store, &worked, allowed)?;
        body.migration = Some(applied.id);
        body.applied = true;
        findings.extend(remarks(&applied.remarks));
    }
    let mut exit = if stopped { Exit::Failed } else { Exit::Success };
    if let Some(path) = arguments.write_baseline.as_ref().filter(|_| !stopped) {
        match open(global)
            .map_err(Into::into)
            .and_then(|after| check::write_baseline(&after, path))
        {
            Ok(()) => body.baseline = Some(path.display().to_string()),
            // The tree is changed: only the baseline is missing.
            Err(error) if body.applied => {
                findings.push(no_baseline(&describe(&error).message));
                exit = Exit::Partly;
            }
            Err(error) => return Err(error),
        }
    }
    let envelope = page.envelope(Command::Migrate, &findings, Body::Migrate(body));
    Ok(Outcome { envelope, exit })
}

/// The plan that was saved, or that the manifests come to, and the checks that go with it.
fn planned(
    session: &Session,
    arguments: &cli::Migrate,
) -> anyhow::Result<(MigrationPlan, VerifyTable)> {
    if let Some(path) = &arguments.plan {
        let worked = saved(session, path)?;
        let wanted = arguments.verify.then(|| checks_of_plan(session, &worked));
        let checks = wanted.transpose()?.unwrap_or_default();
        return Ok((worked, checks));
    }
    let manifests = some_manifests(session, &arguments.manifests.manifests)?;
    let worked = plan(session, &manifests, arguments.manifests.options())?;
    Ok((worked, checks_of(&manifests)))
}

fn no_baseline(why: &str) -> Finding {
    Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Error,
        path: TreePath::root(),
        span: None,
        message: format!("the migration is applied, and the baseline is not written: {why}"),
        help: Some("write it with `coalesce check --write-baseline FILE`".to_owned()),
    }
}

/// Asks whoever is at the terminal whether the project's own checks shall run first.
fn offer_to_verify(
    session: &Session,
    plan: &MigrationPlan,
    arguments: &cli::Migrate,
) -> anyhow::Result<bool> {
    if arguments.yes || plan.refused() || plan.nothing_to_do() {
        return Ok(false);
    }
    session.progress.end();
    let question =
        "compile and import the planned tree on a copy first? it runs the project's code";
    Ok(terminal::ask(question)? == Answer::Yes)
}

/// Why a plan is not applied of which too little was proven; nothing where whoever is asked says yes.
fn too_little(
    session: &Session,
    plan: &envelope::Plan,
    arguments: &cli::Migrate,
) -> anyhow::Result<Option<Finding>> {
    let answer = &plan.answer;
    if let Some(required) = arguments.require {
        return Ok(falls_short(answer, required));
    }
    if answer.grade != Some(Grade::NotProven) || arguments.allow_unproven {
        return Ok(None);
    }
    let short = falls_short(answer, Grade::Resolved);
    if arguments.yes {
        return Ok(short);
    }
    session.progress.end();
    // The page comes only after the question.
    let places = coalesce_report::unproven_places(&plan.unproven);
    let question = format!("{places}\nchange the tree all the same?");
    match terminal::ask(&question)? {
        Answer::Yes => Ok(None),
        Answer::No => Err(Failure::user("nothing was done").into()),
        Answer::NobodyThere => Ok(short),
    }
}

/// That less was proven than is required.
#[must_use]
pub fn falls_short(answer: &envelope::Answer, required: Grade) -> Option<Finding> {
    let grade = answer.grade.filter(|grade| *grade < required)?;
    let message = match grade {
        Grade::NotProven => "some places could not be proven".to_owned(),
        _ => format!(
            "it was proven as far as `{}`, not `{}`",
            grade.as_str(),
            required.as_str()
        ),
    };
    let help = match grade {
        Grade::NotProven => {
            "read them above; `migrate --verify` settles what a compiler can, `--allow-unproven` \
             applies the plan as it is"
        }
        Grade::Resolved if answer.configurations.is_empty() => {
            "`migrate --verify` compiles and imports the planned tree"
        }
        Grade::Resolved => {
            "some edited lines were in no configuration: name one that has them with `matrix` in \
             `[verify]` of the manifest"
        }
        Grade::Compiled | Grade::Tested => "name tests with `tests` in `[verify]` of the manifest",
    };
    Some(Finding {
        code: codes::NOT_PROVEN,
        severity: Severity::Error,
        path: TreePath::root(),
        span: None,
        message,
        help: Some(help.to_owned()),
    })
}

/// Refuses a tree whose last migration was cut off.
pub fn refuse_unfinished(store: &Store) -> anyhow::Result<()> {
    if let Some(record) = store.unfinished().map_err(failure)? {
        let message = format!("the migration {} was cut off", record.id);
        return Err(Failure::user(message)
            .hint("`coalesce recover --finish` carries it through, `--undo` puts everything back")
            .into());
    }
    Ok(())
}

/// A saved plan, refused when the tree is not the one that it was made for.
///
/// # Errors
/// When it cannot be read, or was made for another state of the tree.
pub fn saved(session: &Session, path: &Path) -> anyhow::Result<MigrationPlan> {
    let text = named_files::read(path)?;
    Ok(read_saved_plan(
        session,
        &path.display().to_string(),
        &text,
    )?)
}

/// What whoever calls has allowed beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// To touch files with uncommitted changes.
    pub dirty: bool,
    /// To write without asking.
    pub yes: bool,
}

/// Writes what was worked out; what was done, with the name by which `rollback` undoes it.
///
/// # Errors
/// When a file has uncommitted changes or cannot be written; the tree is then as it was.
pub fn apply(
    session: &Session,
    store: &Store,
    plan: &MigrationPlan,
    allowed: Allowed,
) -> anyhow::Result<Applied> {
    let uncommitted = if allowed.dirty {
        UncommittedChanges::Touch
    } else {
        UncommittedChanges::Refuse
    };
    let prepared = PreparedMigration::new(session, plan, uncommitted)?;
    let count = prepared.file_count();
    let question = format!(
        "write or remove {count} files of {}?",
        session.tree.root().display()
    );
    session.progress.end();
    confirm(allowed.yes, &question)?;
    session
        .progress
        .stage(format_args!("writing {count} files"));
    Ok(prepared.apply(store)?)
}
