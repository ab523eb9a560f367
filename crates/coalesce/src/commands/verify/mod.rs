//! `verify`: the project's own checks on the planned tree, against a run before.
//!
//! Everything happens in the scratch copy of `coalesce-verify`; the tree itself is only read.

mod states;
mod verdict;

use std::time::Duration;

use coalesce_model::{
    envelope::{Body, CheckRun, Command, TreeState, Verify},
    manifest::{Manifest, VerifyTable},
};
use coalesce_tree::cache_directory;
use coalesce_verify::{Check, Checker, Error, Limits, Outcome as Checked, Scratch, Wanted};

use super::{
    Page, files, manifests,
    migrate::{file_changes, saved},
    open, some_manifests,
    work::{Worked, work_out},
};
use crate::{
    cli,
    exit::{Exit, Failure, Outcome},
    progress::Progress,
    session::Session,
};
use verdict::Ran;

/// How long a program may take when no manifest says.
const SECONDS: u64 = 1200;
/// How much a program may print: every message of a large workspace, many times over.
const OUTPUT_BYTES: usize = 1 << 28;

/// Runs `verify`.
///
/// # Errors
/// When there is no plan to verify, or a check cannot be made.
pub fn run(global: &cli::Global, arguments: &cli::Verify) -> anyhow::Result<Outcome> {
    let session = open(global)?;
    let (worked, table) = match &arguments.plan {
        Some(path) => {
            let worked = saved(&session, path)?;
            let table = table_of_plan(&session, &worked)?;
            (worked, table)
        }
        None => {
            let manifests = some_manifests(&session, &arguments.manifests.manifests)?;
            let table = table(&manifests);
            (work_out(&session, &manifests, &arguments.manifests)?, table)
        }
    };
    if worked.refused() {
        let failure = Failure::user("the plan is refused, so there is nothing to verify");
        return Err(failure.hint("`coalesce plan` says why").into());
    }
    let body = verify(&session, &worked, &table)?;
    let exit = if body.passed {
        Exit::Success
    } else {
        Exit::Findings
    };
    let envelope = Page::new(&session, global).envelope(Command::Verify, &[], Body::Verify(body));
    Ok(Outcome { envelope, exit })
}

/// What the manifests say about checks, taken together.
pub fn table(manifests: &[Manifest]) -> VerifyTable {
    let mut joined = VerifyTable::default();
    for VerifyTable {
        commands,
        tests,
        timeout,
    } in manifests.iter().map(|manifest| &manifest.verify)
    {
        joined.commands.extend(commands.iter().cloned());
        joined.tests.extend(tests.iter().cloned());
        joined.timeout = joined.timeout.max(*timeout);
    }
    for list in [&mut joined.commands, &mut joined.tests] {
        let mut seen = std::collections::BTreeSet::new();
        list.retain(|entry| seen.insert(entry.clone()));
    }
    joined
}

/// The same for a saved plan, whose manifests stand in the tree or nowhere.
///
/// # Errors
/// When a manifest in `migrations/` cannot be read.
pub fn table_of_plan(session: &Session, worked: &Worked) -> anyhow::Result<VerifyTable> {
    let mut manifests = manifests(session, &[])?;
    manifests.retain(|manifest| worked.manifests.contains(&manifest.id));
    Ok(table(&manifests))
}

/// Runs the project's checks on the tree as it is and as the plan leaves it.
///
/// # Errors
/// When a check cannot be made; a project that fails its checks is no error.
pub fn verify(session: &Session, worked: &Worked, table: &VerifyTable) -> anyhow::Result<Verify> {
    let mut verify = Verify {
        files: files(session),
        manifests: worked.manifests.clone(),
        passed: true,
        ..Verify::default()
    };
    if worked.nothing_to_do() {
        return Ok(verify);
    }
    let Some(cache) = cache_directory() else {
        let failure = Failure::user("there is no cache directory for the scratch copy");
        return Err(failure.hint("name one with COALESCE_CACHE_DIR").into());
    };
    let scratch = Scratch::open(&cache, session.tree.root()).map_err(failure)?;
    let limits = Limits {
        time: Duration::from_secs(table.timeout.unwrap_or(SECONDS)),
        output_bytes: OUTPUT_BYTES,
    };
    let bench = Bench {
        scratch: &scratch,
        checker: Checker::new(&scratch, limits),
        progress: &session.progress,
    };
    bench.all(session, worked, table, &mut verify)?;
    session.progress.end();
    Ok(verify)
}

/// Where checks are run.
struct Bench<'b> {
    scratch: &'b Scratch,
    checker: Checker<'b>,
    progress: &'b Progress,
}

impl Bench<'_> {
    fn all(
        &self,
        session: &Session,
        worked: &Worked,
        table: &VerifyTable,
        verify: &mut Verify,
    ) -> anyhow::Result<()> {
        let (before, left_out) = states::before(session)?;
        verify.left_out = left_out;
        let operations = &worked.assembled.operations;
        let checks = states::checks(session, table, operations);
        let mut baseline = self.baseline(&before, &checks, false, &mut verify.left_out)?;

        let changes = file_changes(session, operations)?;
        let after = states::after(&before, changes);
        self.bring(&after)?;
        let session_after = self.session()?;
        let checks_after = states::checks(&session_after, table, operations);
        let ran_after = self.run(TreeState::After, &checks_after, &baseline)?;

        let hidden = states::without_shims(&session_after, &after, operations);
        let mut left = hidden.left_out.clone();
        verify.left_out.append(&mut left);
        let mut ran_hidden = Vec::new();
        if !hidden.shims.is_empty() {
            self.bring(&hidden.wanted)?;
            let checks = states::checks(&self.session()?, table, operations);
            ran_hidden = self.run(TreeState::ShimsHidden, &checks, &baseline)?;
        }
        let judge = verdict::Judge {
            session,
            session_after: &session_after,
            worked,
            hidden: &hidden,
        };
        judge.judge(&baseline, &ran_after, &ran_hidden, verify);
        if !verify.passed && baseline.iter().any(|ran| ran.outcome.remembered) {
            // What was remembered may be a success in another environment than today's.
            baseline = self.baseline(&before, &checks, true, &mut Vec::new())?;
            judge.judge(&baseline, &ran_after, &ran_hidden, verify);
        }
        let all = baseline.iter().chain(&ran_after).chain(&ran_hidden);
        verify.runs = all.map(Ran::entry).collect();
        Ok(())
    }

    fn bring(&self, wanted: &Wanted) -> Result<(), Failure> {
        self.progress
            .stage(format_args!("copying {} files to check them", wanted.len()));
        self.scratch.bring(wanted).map_err(failure)?;
        Ok(())
    }

    /// The copy as it is now, resolved.
    fn session(&self) -> anyhow::Result<Session> {
        Session::open(self.scratch.tree(), false, Progress::new(false))
    }

    /// The checks that can be compared with. What is optional and cannot be checked even before is
    /// left out, and said to be.
    fn baseline(
        &self,
        wanted: &Wanted,
        checks: &[states::Planned],
        anew: bool,
        left_out: &mut Vec<String>,
    ) -> Result<Vec<Ran>, Failure> {
        self.bring(wanted)?;
        let mut all = Vec::new();
        for states::Planned { check, optional } in checks {
            self.stage("before", check);
            match self.checker.baseline(check, anew) {
                Ok(outcome) => all.push(Ran::new(TreeState::Before, check, outcome)),
                Err(error)
                    if *optional && error.kind() == coalesce_verify::ErrorKind::BaselineFails =>
                {
                    left_out.push(format!("{}: it fails before the change", check.label()));
                }
                Err(error) => return Err(failure(error)),
            }
        }
        if all.is_empty() {
            let failure = Failure::user("there is nothing in this tree that could be checked");
            return Err(failure.hint("name a check with `commands` in `[verify]` of the manifest"));
        }
        Ok(all)
    }

    /// The same checks on another tree.
    fn run(
        &self,
        state: TreeState,
        checks: &[states::Planned],
        baseline: &[Ran],
    ) -> Result<Vec<Ran>, Failure> {
        let mut all = Vec::new();
        for states::Planned { check, .. } in checks {
            if !baseline.iter().any(|ran| ran.is_like(check)) {
                continue;
            }
            let label = match state {
                TreeState::ShimsHidden => "without the shims",
                _ => "after",
            };
            self.stage(label, check);
            let outcome = self.checker.run(check).map_err(failure)?;
            all.push(Ran::new(state, check, outcome));
        }
        Ok(all)
    }

    fn stage(&self, state: &str, check: &Check) {
        self.progress
            .stage(format_args!("{state}: {}", check.label()));
    }
}

impl Ran {
    fn new(state: TreeState, check: &Check, outcome: Checked) -> Self {
        Self {
            state,
            check: check.clone(),
            outcome,
        }
    }

    fn entry(&self) -> CheckRun {
        CheckRun {
            state: self.state,
            command: self.check.label(),
            judged: self.outcome.judged,
            failed: self.outcome.failures.len(),
            remembered: self.outcome.remembered,
        }
    }
}

/// An error of the scratch copy or of a program as the user should see it.
fn failure(error: Error) -> Failure {
    let failure = Failure::user(error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
