//! `verify`: the project's own checks on the planned tree, against a run before.
//!
//! Everything happens in the scratch copy of `coalesce-verify`; the tree itself is only read.

mod mend;
mod prune;
mod reach;
mod settle;
mod states;
mod verdict;

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use coalesce_model::{
    TreePath,
    envelope::{CheckRun, Grade, TreeState, Verify},
    manifest::{Manifest, VerifyTable},
};
use coalesce_tree::{SourceTree, cache_directory};
use coalesce_verify::{Check, Checker, Limits, Outcome as Checked, Scratch, Wanted};

use crate::{
    Failure, MigrationPlan, Progress, Session, applying::file_changes, manifests::manifests,
};
use verdict::Ran;

/// How long a program may take when no manifest says.
const SECONDS: u64 = 1200;
/// How much a program may print: every message of a large workspace, many times over.
const OUTPUT_BYTES: usize = 1 << 28;

/// What the manifests say about checks, taken together.
pub fn checks_of(manifests: &[Manifest]) -> VerifyTable {
    let mut joined = VerifyTable::default();
    for VerifyTable {
        commands,
        tests,
        timeout,
        matrix,
    } in manifests.iter().map(|manifest| &manifest.verify)
    {
        joined.commands.extend(commands.iter().cloned());
        joined.tests.extend(tests.iter().cloned());
        joined.timeout = joined.timeout.max(*timeout);
        joined.matrix.extend(matrix.iter().cloned());
    }
    for list in [&mut joined.commands, &mut joined.tests] {
        let mut seen = BTreeSet::new();
        list.retain(|entry| seen.insert(entry.clone()));
    }
    joined
}

/// The same for a saved plan, whose manifests stand in the tree or nowhere.
///
/// # Errors
/// When a manifest in `migrations/` cannot be read.
pub fn checks_of_plan(session: &Session, worked: &MigrationPlan) -> Result<VerifyTable, Failure> {
    let mut manifests = manifests(session, Vec::new())?;
    manifests.retain(|manifest| worked.manifests.contains(&manifest.id));
    Ok(checks_of(&manifests))
}

/// Runs the project's checks on the tree as it is and as the plan leaves it; imports that nobody
/// turns out to use leave the plan.
///
/// # Errors
/// When a check cannot be made; a project that fails its checks is no error.
pub fn verify(
    session: &Session,
    worked: &mut MigrationPlan,
    table: &VerifyTable,
) -> Result<Verify, Failure> {
    let mut verify = Verify {
        files: session.files(),
        manifests: worked.manifests.clone(),
        passed: true,
        ..Verify::default()
    };
    if worked.nothing_to_do() {
        return Ok(verify);
    }
    let Some(cache) = cache_directory() else {
        let failure = Failure::user("there is no cache directory for the scratch copy");
        return Err(failure.hint("name one with COALESCE_CACHE_DIR"));
    };
    let scratch = Scratch::open(&cache, session.tree.root())?;
    let limits = Limits {
        time: Duration::from_secs(table.timeout.unwrap_or(SECONDS)),
        output_bytes: OUTPUT_BYTES,
    };
    let label = Mutex::new(String::new());
    let watch = |done, of| {
        let label = label.lock().unwrap_or_else(PoisonError::into_inner);
        session
            .progress
            .stage(format_args!("{label}: {done} of {of}"));
    };
    let bench = Bench {
        scratch: &scratch,
        checker: Checker::new(&scratch, limits, &watch),
        progress: &session.progress,
        label: &label,
    };
    bench.all(session, worked, table, &mut verify)?;
    session.progress.end();
    if let Some(why) = scratch.writable() {
        let message = format!("a guard: what ran could write to the tree itself ({why})");
        verify.left_out.push(message);
    }
    let changed = changed_meanwhile(session, &cache)?;
    if let Some(first) = changed.first() {
        verify.passed = false;
        let count = changed.len();
        let message =
            format!("the verdict: {count} files of the tree changed meanwhile, as {first}");
        verify.left_out.push(message);
    }
    Ok(verify)
}

/// Files of the tree that are not as they were when it was read: what was found is of another tree.
fn changed_meanwhile(session: &Session, cache: &Path) -> Result<Vec<TreePath>, Failure> {
    let root = session.tree.root();
    let now = SourceTree::open(root)?;
    let stamps = |tree: &SourceTree| {
        let files = tree.files().iter();
        // What is kept for the next run may be kept in the tree.
        files
            .filter(|file| !root.join(file.path.as_str()).starts_with(cache))
            .map(|file| (file.path.clone(), file.bytes, file.modified))
            .collect::<BTreeSet<_>>()
    };
    let (before, now) = (stamps(&session.tree), stamps(&now));
    let mut paths: Vec<TreePath> = before
        .symmetric_difference(&now)
        .map(|(path, ..)| path.clone())
        .collect();
    paths.dedup();
    Ok(paths)
}

/// Where checks are run.
struct Bench<'b> {
    scratch: &'b Scratch,
    checker: Checker<'b>,
    progress: &'b Progress,
    /// What is under way, for whoever watches.
    label: &'b Mutex<String>,
}

impl Bench<'_> {
    fn all(
        &self,
        session: &Session,
        worked: &mut MigrationPlan,
        table: &VerifyTable,
        verify: &mut Verify,
    ) -> Result<(), Failure> {
        let (before, left_out) = states::before(session)?;
        verify.left_out = left_out;
        let operations = worked.assembled.operations.clone();
        let operations = operations.as_slice();
        let configurations = states::configurations(session, table, operations);
        let checks = states::checks(session, table, operations, &configurations);
        let mut baseline = self.baseline(&before, &checks, false, &mut verify.left_out)?;

        let changes = file_changes(session, operations)?;
        let after = states::after(&before, changes);
        self.bring(&after)?;
        let mut session_after = self.session()?;
        let checks_after = states::checks(&session_after, table, operations, &configurations);

        let hidden = states::without_shims(&session_after, &after, operations);
        verify.left_out.extend(hidden.left_out.iter().cloned());
        let checks_of =
            |session: &Session| states::checks(session, table, operations, &configurations);
        let ran_hidden = self.run_hidden(&hidden, (&after, &checks_after), &baseline, checks_of)?;
        let mut ran_after = self.run(&checks_after, &baseline)?;
        let start = prune::Start {
            session,
            before: &before,
            after: &after,
            operations,
            renames: &verdict::renames(session, &session_after, operations),
            baseline: &baseline,
            ran_after: &ran_after,
        };
        if let Some(improved) = self.improve(start, verify)? {
            worked.assembled.operations = improved.operations;
            ran_after = improved.ran_after;
            session_after = self.session()?;
        }
        let judge = verdict::Judge {
            session,
            session_after: &session_after,
            worked,
            hidden: &hidden,
        };
        judge.judge(&baseline, &ran_after, &ran_hidden, verify);
        if self.is_outdated(&before, &baseline, verify.passed)? {
            baseline = self.baseline(&before, &checks, true, &mut Vec::new())?;
            judge.judge(&baseline, &ran_after, &ran_hidden, verify);
        }
        if verify.passed {
            let ran = (baseline.as_slice(), ran_after.as_slice());
            self.grade((session, &session_after), ran, worked, verify)?;
        }
        let all = baseline.iter().chain(&ran_after).chain(&ran_hidden);
        verify.runs = all.map(Ran::entry).collect();
        Ok(())
    }

    /// What a plan that passed is worth, and what is left open of it.
    fn grade(
        &self,
        (session, session_after): (&Session, &Session),
        ran: (&[Ran], &[Ran]),
        worked: &mut MigrationPlan,
        verify: &mut Verify,
    ) -> Result<(), Failure> {
        reach::Reach::of(session_after, ran.1).judge(session, worked, verify);
        self.settle_by_import(session, ran, worked, verify)?;
        if !worked.assembled.unproven.is_empty() {
            verify.grade = Some(Grade::NotProven);
        }
        Ok(())
    }

    /// What is found without the shims, where there are any.
    fn run_hidden(
        &self,
        hidden: &states::Hidden,
        (after, checks_after): (&Wanted, &[states::Planned]),
        baseline: &[Ran],
        checks_of: impl Fn(&Session) -> Vec<states::Planned>,
    ) -> Result<Vec<Ran>, Failure> {
        if hidden.shims.is_empty() {
            return Ok(Vec::new());
        }
        let ran = self.hidden(&hidden.wanted, checks_after, baseline, checks_of)?;
        // Last, so that it is what the next run finds.
        self.bring(after)?;
        Ok(ran)
    }

    /// The plan with what the compiler would mend, and without what nobody uses; `None` where it stays.
    fn improve(
        &self,
        start: prune::Start<'_>,
        verify: &mut Verify,
    ) -> Result<Option<prune::Pruned>, Failure> {
        let Some(mended) = self.mend(&start, &mut verify.mended)? else {
            return self.prune(&start, &mut verify.unused_imports);
        };
        let changes = file_changes(start.session, &mended.operations)?;
        let start = prune::Start {
            after: &states::after(start.before, changes),
            operations: &mended.operations,
            ran_after: &mended.ran_after,
            ..start
        };
        let pruned = self.prune(&start, &mut verify.unused_imports)?;
        Ok(Some(pruned.unwrap_or(mended)))
    }

    fn bring(&self, wanted: &Wanted) -> Result<(), Failure> {
        self.progress
            .stage(format_args!("copying {} files to check them", wanted.len()));
        self.scratch.bring(wanted)?;
        Ok(())
    }

    /// The copy as it is now, resolved.
    fn session(&self) -> Result<Session, Failure> {
        Session::open(self.scratch.tree(), false, Progress::silent())
    }

    /// The checks of the tree as it is: those that were made before for the same files are
    /// remembered, unless `anew`.
    fn baseline(
        &self,
        wanted: &Wanted,
        checks: &[states::Planned],
        anew: bool,
        left_out: &mut Vec<String>,
    ) -> Result<Vec<Ran>, Failure> {
        let mut all = Vec::new();
        let mut brought = false;
        for states::Planned { check, optional } in checks {
            self.stage("before", check);
            let known = if anew {
                None
            } else {
                self.checker.recall(check, wanted)?
            };
            match known {
                Some(outcome) if outcome.hopeless.is_none() => {
                    all.push(Ran::new(TreeState::Before, check, outcome));
                    continue;
                }
                Some(_) if *optional => {
                    let label = check.label();
                    left_out.push(format!(
                        "{label}: it fails before the change (remembered: the tree is the same)"
                    ));
                    continue;
                }
                _ => {}
            }
            // Only now: what is copied and taken back looks new to a build tool.
            if !std::mem::replace(&mut brought, true) {
                self.bring(wanted)?;
                self.stage("before", check);
            }
            match self.checker.baseline(check, wanted) {
                Ok(outcome) => all.push(Ran::new(TreeState::Before, check, outcome)),
                Err(error)
                    if *optional && error.kind() == coalesce_verify::ErrorKind::BaselineFails =>
                {
                    left_out.push(format!("{}: it fails before the change", check.label()));
                }
                Err(error) => return Err(error.into()),
            }
        }
        if all.is_empty() {
            let failure = Failure::user("there is nothing in this tree that could be checked");
            return Err(failure.hint("name a check with `commands` in `[verify]` of the manifest"));
        }
        Ok(all)
    }

    /// The same checks on another tree.
    fn run(&self, checks: &[states::Planned], baseline: &[Ran]) -> Result<Vec<Ran>, Failure> {
        let mut all = Vec::new();
        for states::Planned { check, .. } in checks {
            if !baseline.iter().any(|ran| ran.is_like(check)) {
                continue;
            }
            self.stage("after", check);
            let outcome = self.checker.run(check)?;
            all.push(Ran::new(TreeState::After, check, outcome));
        }
        Ok(all)
    }

    /// Whether to run the baseline again: what was remembered may be of another environment than today's.
    fn is_outdated(
        &self,
        before: &Wanted,
        baseline: &[Ran],
        passed: bool,
    ) -> Result<bool, Failure> {
        let remembered = baseline.iter().any(|ran| ran.outcome.remembered);
        Ok((!passed && remembered) || self.is_doubtful(before, baseline)?)
    }

    /// Whether a test that is remembered as failing passes now: tests fail for many reasons, and one
    /// that does must not excuse what the change breaks.
    fn is_doubtful(&self, before: &Wanted, baseline: &[Ran]) -> Result<bool, Failure> {
        for ran in baseline.iter().filter(|ran| ran.outcome.remembered) {
            let Check::Tests { roots, .. } = &ran.check else {
                continue;
            };
            let failures = &ran.outcome.failures;
            let paths: Vec<String> = failures.iter().map(|one| one.subject.clone()).collect();
            if paths.is_empty() {
                continue;
            }
            self.bring(before)?;
            let roots = roots.clone();
            let again = Check::Tests { roots, paths };
            self.stage("once more before", &again);
            let again = self.checker.run(&again)?;
            if again.failures.len() < failures.len() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The checks of the planned tree without its shims. Cargo would find nothing new in files that
    /// it has passed, and copying them would make all of them new to it; so such a pass is remembered.
    fn hidden(
        &self,
        wanted: &Wanted,
        checks_after: &[states::Planned],
        baseline: &[Ran],
        checks: impl Fn(&Session) -> Vec<states::Planned>,
    ) -> Result<Vec<Ran>, Failure> {
        let is_cargo = |check: &Check| matches!(check, Check::Cargo { .. });
        let compared = |check: &Check| baseline.iter().any(|ran| ran.is_like(check));
        let state = TreeState::ShimsHidden;
        let mut ran: Vec<Ran> = Vec::new();
        for states::Planned { check, .. } in checks_after {
            if is_cargo(check) && compared(check) {
                let known = self.checker.recall(check, wanted)?;
                let passed = known.filter(|outcome| outcome.failures.is_empty());
                ran.extend(passed.map(|outcome| Ran::new(state, check, outcome)));
            }
        }
        let known = |ran: &[Ran], check: &Check| ran.iter().any(|one| one.is_like(check));
        let mut left = checks_after.iter().map(|planned| &planned.check);
        if left.all(|check| known(&ran, check) || !compared(check)) {
            return Ok(ran);
        }
        self.bring(wanted)?;
        for states::Planned { check, .. } in checks(&self.session()?) {
            if known(&ran, &check) && is_cargo(&check) || !compared(&check) {
                continue;
            }
            self.stage("without the shims", &check);
            let outcome = if is_cargo(&check) {
                self.checker.run_and_keep(&check, wanted)
            } else {
                self.checker.run(&check)
            };
            ran.push(Ran::new(state, &check, outcome?));
        }
        Ok(ran)
    }

    fn stage(&self, state: &str, check: &Check) {
        let text = format!("{state}: {}", check.label());
        self.progress.stage(&text);
        *self.label.lock().unwrap_or_else(PoisonError::into_inner) = text;
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
