//! `verify`: the project's own checks on the planned tree, against a run before.
//!
//! Everything happens in the scratch copy of `coalesce-verify`; the tree itself is only read.

mod matrix;
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
use coalesce_plan::{PlanSource, SavedManifest};
use coalesce_tree::{SourceTree, cache_directory};
use coalesce_verify::{Check, Checker, Limits, Outcome as Checked, Scratch, Wanted};

use crate::{
    Failure, MigrationPlan, Progress, Session, applying::file_changes, manifests::manifests,
};
use matrix::Silent;
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
    let ids: BTreeSet<String> = match &worked.source {
        // Those that were done before have checks as well.
        PlanSource::Manifests {
            manifests: saved, ..
        } => saved.iter().filter_map(id_of).collect(),
        PlanSource::Shims { .. } => worked.manifests.iter().cloned().collect(),
    };
    manifests.retain(|manifest| ids.contains(&manifest.id));
    Ok(checks_of(&manifests))
}

/// The id of a manifest that a plan keeps.
fn id_of(saved: &SavedManifest) -> Option<String> {
    let stem = Path::new(&saved.path).file_stem()?;
    Some(stem.to_string_lossy().into_owned())
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
    verify_on(&scratch, session, worked, table, &mut verify)?;
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

/// Verifies a plan on a scratch copy, telling whoever watches how far it is.
fn verify_on(
    scratch: &Scratch,
    session: &Session,
    worked: &mut MigrationPlan,
    table: &VerifyTable,
    verify: &mut Verify,
) -> Result<(), Failure> {
    let label = Mutex::new(String::new());
    let progress = &session.progress;
    let watch = |done, of| {
        let label = label.lock().unwrap_or_else(PoisonError::into_inner);
        progress.stage(format_args!("{label}: {done} of {of}"));
    };
    let limits = Limits {
        time: Duration::from_secs(table.timeout.unwrap_or(SECONDS)),
        output_bytes: OUTPUT_BYTES,
    };
    let bench = Bench {
        scratch,
        checker: Checker::new(scratch, limits, &watch),
        progress,
        label: &label,
    };
    bench.verify(session, worked, table, verify)
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

/// The tree as it is, and what its checks found.
struct TreeBefore {
    files: Wanted,
    checks: Vec<states::Planned>,
    ran: Vec<Ran>,
}

/// The planned tree, and what its checks found with the plan's shims and without them.
struct TreeAfter {
    files: Wanted,
    session: Session,
    hidden: states::Hidden,
    ran: Vec<Ran>,
    ran_hidden: Vec<Ran>,
}

/// What is found in a check of the tree as it is.
enum BaselineRun {
    Ran(Checked),
    /// It may be left out, and is for this reason.
    LeftOut(String),
}

impl states::Need {
    /// Leaves a check out that fails before; nothing where it may not be. What it says matters to who asked for it.
    fn left_out(self, why: &str, obstacle: &str) -> Option<BaselineRun> {
        match self {
            Self::Required => None,
            Self::Optional => Some(BaselineRun::LeftOut(why.to_owned())),
            Self::Asked => Some(BaselineRun::LeftOut(format!("{why}: {obstacle}"))),
        }
    }
}

impl Bench<'_> {
    /// Checks both trees, judges what differs, and grades a plan that passes.
    fn verify(
        &self,
        session: &Session,
        worked: &mut MigrationPlan,
        table: &VerifyTable,
        verify: &mut Verify,
    ) -> Result<(), Failure> {
        let operations = worked.assembled.operations.clone();
        let selection = states::CheckSelection::new(session, table, &operations);
        let mut before = self.run_before(session, &selection, verify)?;
        let mut after = self.run_after(session, &selection, &before, verify)?;
        self.improve_plan(session, worked, &before, &mut after, verify)?;
        let judge = verdict::Judge {
            session,
            session_after: &after.session,
            worked,
            hidden: &after.hidden,
        };
        judge.judge(&before.ran, &after.ran, &after.ran_hidden, verify);
        if self.is_outdated(&before, verify.passed)? {
            before.ran = self.baseline(&before, true)?.0;
            judge.judge(&before.ran, &after.ran, &after.ran_hidden, verify);
        }
        if verify.passed {
            self.grade(session, (&before, &after), worked, verify)?;
        }
        let all = before.ran.iter().chain(&after.ran).chain(&after.ran_hidden);
        verify.runs = all.map(Ran::entry).collect();
        Ok(())
    }

    fn run_before(
        &self,
        session: &Session,
        selection: &states::CheckSelection<'_>,
        verify: &mut Verify,
    ) -> Result<TreeBefore, Failure> {
        let (files, left_out) = states::before(session)?;
        verify.left_out = left_out;
        let mut before = TreeBefore {
            files,
            checks: selection.of(session),
            ran: Vec::new(),
        };
        let (ran, silent) = self.baseline(&before, false)?;
        before.ran = ran;
        verify.left_out.extend_from_slice(&silent.left_out);
        verify.not_checked = silent.not_checked(selection.table, &before.ran);
        Ok(before)
    }

    fn run_after(
        &self,
        session: &Session,
        selection: &states::CheckSelection<'_>,
        before: &TreeBefore,
        verify: &mut Verify,
    ) -> Result<TreeAfter, Failure> {
        let operations = selection.operations;
        let files = states::after(&before.files, file_changes(session, operations)?);
        self.bring(&files)?;
        let session = self.session()?;
        let checks = selection.of(&session);
        let hidden = states::without_shims(&session, &files, operations);
        verify.left_out.extend(hidden.left_out.iter().cloned());
        let mut ran_hidden = Vec::new();
        if !hidden.shims.is_empty() {
            ran_hidden = self.hidden(&hidden.wanted, &checks, &before.ran, selection)?;
            // Last, so that it is what the next run finds.
            self.bring(&files)?;
        }
        Ok(TreeAfter {
            ran: self.run(&checks, &before.ran)?,
            files,
            session,
            hidden,
            ran_hidden,
        })
    }

    /// Puts a better plan in the place of this one, where the checks tell of one.
    fn improve_plan(
        &self,
        session: &Session,
        worked: &mut MigrationPlan,
        before: &TreeBefore,
        after: &mut TreeAfter,
        verify: &mut Verify,
    ) -> Result<(), Failure> {
        let operations = worked.assembled.operations.as_slice();
        let start = prune::Start {
            session,
            before: &before.files,
            after: &after.files,
            operations,
            renames: &verdict::renames(session, &after.session, operations),
            baseline: &before.ran,
            ran_after: &after.ran,
        };
        if let Some(improved) = self.improve(start, verify)? {
            worked.assembled.operations = improved.operations;
            after.ran = improved.ran_after;
            after.session = self.session()?;
        }
        Ok(())
    }

    /// What a plan that passed is worth, and what is left open of it.
    fn grade(
        &self,
        session: &Session,
        (before, after): (&TreeBefore, &TreeAfter),
        worked: &mut MigrationPlan,
        verify: &mut Verify,
    ) -> Result<(), Failure> {
        reach::Reach::of(&after.session, &after.ran).judge(session, worked, verify);
        self.settle_by_import(session, (&before.ran, &after.ran), worked, verify)?;
        if !worked.assembled.unproven.is_empty() {
            verify.grade = Some(Grade::NotProven);
        }
        Ok(())
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
    fn baseline(&self, before: &TreeBefore, anew: bool) -> Result<(Vec<Ran>, Silent), Failure> {
        let mut all = Vec::new();
        let mut silent = Silent::default();
        let mut brought = false;
        for planned in &before.checks {
            let check = &planned.check;
            self.stage("before", check);
            let recalled = if anew {
                None
            } else {
                self.recall_baseline(planned, &before.files)?
            };
            // Only now: what is copied and taken back looks new to a build tool.
            if recalled.is_none() && !std::mem::replace(&mut brought, true) {
                self.bring(&before.files)?;
                self.stage("before", check);
            }
            let found = match recalled {
                Some(found) => found,
                None => self.run_baseline(planned, &before.files)?,
            };
            match found {
                BaselineRun::Ran(outcome) => {
                    silent.add_failing(planned, &outcome);
                    all.push(Ran::new(TreeState::Before, check, outcome));
                }
                BaselineRun::LeftOut(why) => silent.add(planned, why),
            }
        }
        if all.is_empty() {
            let failure = Failure::user("there is nothing in this tree that could be checked");
            return Err(failure.hint("name a check with `commands` in `[verify]` of the manifest"));
        }
        Ok((all, silent))
    }

    /// What is remembered of a check of the same files, if that is of use.
    fn recall_baseline(
        &self,
        planned: &states::Planned,
        files: &Wanted,
    ) -> Result<Option<BaselineRun>, Failure> {
        let known = self.checker.recall(&planned.check, files)?;
        Ok(known.and_then(|outcome| {
            let Some(obstacle) = outcome.obstacle() else {
                return Some(BaselineRun::Ran(outcome));
            };
            let why = "it fails before the change (remembered: the tree is the same)";
            planned.need.left_out(why, &obstacle)
        }))
    }

    fn run_baseline(
        &self,
        planned: &states::Planned,
        files: &Wanted,
    ) -> Result<BaselineRun, Failure> {
        let check = &planned.check;
        if planned.need == states::Need::Required {
            return Ok(BaselineRun::Ran(self.checker.baseline(check, files)?));
        }
        let outcome = self.checker.run_and_keep(check, files)?;
        let obstacle = outcome.obstacle();
        let left_out = obstacle.and_then(|obstacle| {
            planned
                .need
                .left_out("it fails before the change", &obstacle)
        });
        Ok(left_out.unwrap_or(BaselineRun::Ran(outcome)))
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
    fn is_outdated(&self, before: &TreeBefore, passed: bool) -> Result<bool, Failure> {
        let remembered = before.ran.iter().any(|ran| ran.outcome.remembered);
        Ok((!passed && remembered) || self.is_doubtful(&before.files, &before.ran)?)
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
        selection: &states::CheckSelection<'_>,
    ) -> Result<Vec<Ran>, Failure> {
        let is_compared = |check: &Check| baseline.iter().any(|ran| ran.is_like(check));
        let is_known = |ran: &[Ran], check: &Check| ran.iter().any(|one| one.is_like(check));
        let checks = checks_after.iter().map(|planned| &planned.check);
        let mut compared = checks.filter(|check| is_compared(check));
        let mut ran = self.recall_hidden(wanted, compared.clone())?;
        if compared.all(|check| is_known(&ran, check)) {
            return Ok(ran);
        }
        self.bring(wanted)?;
        for states::Planned { check, .. } in selection.of(&self.session()?) {
            if is_known(&ran, &check) && is_cargo(&check) || !is_compared(&check) {
                continue;
            }
            self.stage("without the shims", &check);
            let outcome = if is_cargo(&check) {
                self.checker.run_and_keep(&check, wanted)
            } else {
                self.checker.run(&check)
            };
            ran.push(Ran::new(TreeState::ShimsHidden, &check, outcome?));
        }
        Ok(ran)
    }

    /// Checks by Cargo that are remembered as passed without the shims.
    fn recall_hidden<'c>(
        &self,
        wanted: &Wanted,
        checks: impl Iterator<Item = &'c Check>,
    ) -> Result<Vec<Ran>, Failure> {
        let mut ran = Vec::new();
        for check in checks.filter(|check| is_cargo(check)) {
            let known = self.checker.recall(check, wanted)?;
            let passed = known.filter(|outcome| outcome.failures.is_empty());
            ran.extend(passed.map(|outcome| Ran::new(TreeState::ShimsHidden, check, outcome)));
        }
        Ok(ran)
    }

    fn stage(&self, state: &str, check: &Check) {
        let text = format!("{state}: {}", check.label());
        self.progress.stage(&text);
        *self.label.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

const fn is_cargo(check: &Check) -> bool {
    matches!(check, Check::Cargo { .. })
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
