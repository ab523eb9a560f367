//! What fails after and did not before, each with the planned change that brought it about.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    LineIndex, Module, Texts as _, TreePath,
    envelope::{FailureCause, TreeState, Verify, VerifyFailure},
    finding::codes,
};
use coalesce_plan::Operation;
use coalesce_verify::{Blame, Check, Failure, Outcome, Renames, compare};

use super::states::{Hidden, is_shim};
use crate::{MigrationPlan, Session, shims::references};

/// One check that ran.
pub struct Ran {
    /// On which tree.
    pub state: TreeState,
    /// The check.
    pub check: Check,
    /// What it found.
    pub outcome: Outcome,
}

impl Ran {
    /// Whether it is the same check, names and number of modules aside.
    pub fn is_like(&self, other: &Check) -> bool {
        match (&self.check, other) {
            (Check::Cargo { .. }, Check::Cargo { .. }) => self.check == *other,
            (Check::Command { text: a }, Check::Command { text: b }) => a == b,
            (Check::Imports { .. }, Check::Imports { .. })
            | (Check::Tests { .. }, Check::Tests { .. }) => true,
            _ => false,
        }
    }
}

/// Everything that failures are judged by.
pub struct Judge<'j> {
    /// The tree as it is.
    pub session: &'j Session,
    /// The planned tree.
    pub session_after: &'j Session,
    /// The plan.
    pub worked: &'j MigrationPlan,
    /// The shims that were hidden.
    pub hidden: &'j Hidden,
}

impl Judge<'_> {
    /// Fills in what is new, and whether that is nothing.
    pub fn judge(&self, before: &[Ran], after: &[Ran], hidden: &[Ran], verify: &mut Verify) {
        let assembled = &self.worked.assembled;
        let renames = renames(self.session, self.session_after, &assembled.operations);
        let blame = Blame::new(
            &self.session.tree,
            &self.session_after.tree,
            &renames,
            &assembled.rewrites,
            &assembled.not_rewritten,
        );
        let users = self.shim_users(&renames);
        verify.failures.clear();
        verify.failing_before = 0;
        let mut told: BTreeSet<(String, String)> = BTreeSet::new();
        for ran in after.iter().chain(hidden) {
            let none = Outcome::default();
            let baseline = before.iter().find(|other| other.is_like(&ran.check));
            let baseline = baseline.map_or(&none, |ran| &ran.outcome);
            let (mut new, both) = compare(baseline, &ran.outcome, &renames);
            if ran.state == TreeState::After {
                verify.failing_before += both;
            }
            new.retain(|failure| told.insert((failure.subject.clone(), failure.key.clone())));
            verify.failures.extend(new.into_iter().map(|failure| {
                let mut entry = entry(ran.state, failure, &blame, &users);
                entry.cause = entry.cause.or_else(|| self.named_in(failure));
                entry
            }));
        }
        verify.passed = verify.failures.is_empty();
    }

    /// What moves, where no reference stands at the place, but the message names it: a path that a
    /// macro or a running program puts together.
    fn named_in(&self, failure: &Failure) -> Option<FailureCause> {
        let first = failure.message.lines().next().unwrap_or_default();
        let said = words(first, |c| c.is_alphanumeric() || c == '_');
        let in_full = words(&failure.message, |c| {
            c.is_alphanumeric() || "_.:".contains(c)
        });
        let after = by_path(self.session_after);
        let before = by_path(self.session);
        let mut operations = self.worked.assembled.operations.iter();
        operations.find_map(|operation| {
            let Operation::Move { from, to, .. } = operation else {
                return None;
            };
            let (old, new) = (before.get(from)?.first()?, after.get(to)?.first()?);
            let last = old.rsplit(['.', ':']).next().unwrap_or_default();
            let is_named = said.contains(last) || in_full.contains(old);
            is_named.then(|| FailureCause {
                path: from.clone(),
                line: 0,
                from: (*old).to_owned(),
                to: (*new).to_owned(),
                reason: "the message names it, and no reference stands at the place".to_owned(),
            })
        })
    }

    /// Places of the planned tree that still name a shim.
    fn shim_users(&self, renames: &Renames) -> BTreeMap<(TreePath, u32), FailureCause> {
        let mut users = BTreeMap::new();
        let named = references(self.session_after, &self.hidden.shims);
        for (shim, references) in self.hidden.shims.iter().zip(named) {
            for reference in references {
                let text = self.session_after.tree.text(&reference.path);
                let line = text.map_or(0, |text| {
                    LineIndex::new(&text).line_number(reference.span.start)
                });
                let cause = FailureCause {
                    path: renames.path(&reference.path).clone(),
                    line,
                    from: shim.name.clone(),
                    to: shim.name.clone(),
                    reason: "still names the shim".to_owned(),
                };
                users.insert((reference.path, line), cause);
            }
        }
        users
    }
}

/// The words of a text, as far as they are made of such characters.
fn words(text: &str, is_part: fn(char) -> bool) -> BTreeSet<&str> {
    text.split(|c| !is_part(c)).collect()
}

/// How modules and files are called after, and were before.
pub fn renames(session: &Session, session_after: &Session, operations: &[Operation]) -> Renames {
    let before = by_path(session);
    let after = by_path(session_after);
    let mut names = Vec::new();
    let mut paths = Vec::new();
    for operation in operations {
        let Operation::Move { from, to, .. } = operation else {
            continue;
        };
        paths.push((to.clone(), from.clone()));
        let (old, new) = (before.get(from), after.get(to));
        for (old, new) in old.into_iter().flatten().zip(new.into_iter().flatten()) {
            names.push(((*new).to_owned(), (*old).to_owned()));
            names.extend(as_written_inside(new, old));
        }
    }
    Renames::new(names, paths)
}

/// Names of modules by their files. Shims stand where something moved away, and have no past.
fn by_path(session: &Session) -> BTreeMap<&TreePath, Vec<&str>> {
    let mut names: BTreeMap<&TreePath, Vec<&str>> = BTreeMap::new();
    let modules = session.graphs();
    let modules = modules.iter().flat_map(|graph| graph.modules());
    let files = modules.filter(|module: &&Module| module.inline.is_none() && !is_shim(module));
    for module in files {
        names.entry(&module.path).or_default().push(&module.name);
    }
    names
}

/// `crate::a` for `name::a`: the compiler calls modules of the crate so.
fn as_written_inside(new: &str, old: &str) -> Option<(String, String)> {
    let (krate, new) = new.split_once("::")?;
    let (other, old) = old.split_once("::")?;
    (krate == other).then(|| (format!("crate::{new}"), format!("crate::{old}")))
}

fn entry(
    state: TreeState,
    failure: &Failure,
    blame: &Blame<'_>,
    users: &BTreeMap<(TreePath, u32), FailureCause>,
) -> VerifyFailure {
    let place = failure.places.first();
    let uses_shim = || {
        let places = failure.places.iter();
        let mut causes = places.filter_map(|place| users.get(&(place.path.clone(), place.line)));
        causes.next().cloned()
    };
    let cause = match state {
        TreeState::ShimsHidden => uses_shim().or_else(|| blame.cause(&failure.places)),
        _ => blame.cause(&failure.places),
    };
    VerifyFailure {
        code: match state {
            TreeState::ShimsHidden => codes::FAILS_WITHOUT_SHIM,
            TreeState::Before | TreeState::After => codes::NEW_FAILURE,
        },
        state,
        subject: failure.subject.clone(),
        message: failure.message.clone(),
        path: place.map(|place| place.path.to_string()),
        line: place.map(|place| place.line),
        cause,
    }
}
