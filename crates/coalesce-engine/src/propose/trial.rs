//! Asks the planner about the entries of a draft, before anybody relies on them.
//!
//! First each entry alone, as far as the languages refuse it: that is cheap, and done in parallel.
//! Then the proof, which resolves the planned tree: for all entries at once, by halves where it is
//! refused. The layout of texts refuses nothing and is made once, at the end. Nothing is left out.

use std::sync::atomic::{AtomicUsize, Ordering};

use coalesce_model::manifest::Manifest;
use coalesce_plan::{
    Operation,
    propose::{Draft, DraftEntry},
};
use rayon::prelude::*;

use super::{FOR_PROVING, FOR_REHOMING, ProposalOptions, rehome};
use crate::{
    MigrationPlan, Session,
    planning::{Depth, PlanOptions, plan},
    progress::Overall,
};

/// The draft with what the planner refuses marked so, and the plan of the rest; `None` when nothing
/// can be followed. `seconds` are the entries the other way round, `path` is the manifest's.
pub fn settle(
    session: &Session,
    options: &ProposalOptions<'_>,
    mut draft: Draft,
    mut seconds: Vec<Option<DraftEntry>>,
) -> (Draft, Option<MigrationPlan>) {
    let trial = Trial {
        session,
        path: options.label.to_owned(),
        time_left: options.time_left,
        told: session.progress.overall(),
    };
    trial.alone(&mut draft, &mut seconds);
    let decided = untried(&draft, false);
    trial.prove_each(&mut draft, &mut seconds, &decided);
    let mut together = Together {
        trial: &trial,
        how: PROVEN,
        accepted: Vec::new(),
        last: None,
    };
    let open = untried(&draft, true);
    together.take(&mut draft, &mut seconds, &open);
    together.rehome(&mut draft);
    let worked = together.laid_out(&mut draft, &mut seconds);
    (draft, worked)
}

/// Entries that nothing has refused yet: those that somebody can follow, or those that are comments.
fn untried(draft: &Draft, open: bool) -> Vec<usize> {
    let entries = draft.entries.iter().enumerate();
    entries
        .filter(|(_, entry)| entry.refused.is_none() && entry.is_open() == open)
        .map(|(at, _)| at)
        .collect()
}

const CHANGES: PlanOptions = PlanOptions {
    prose: false,
    depth: Depth::Changes,
    layout: false,
    allow_unread: false,
};
const PROVEN: PlanOptions = PlanOptions {
    depth: Depth::Proof,
    ..CHANGES
};
const LAID_OUT: PlanOptions = PlanOptions {
    layout: true,
    ..PROVEN
};

struct Trial<'s> {
    session: &'s Session,
    path: String,
    time_left: &'s (dyn Fn() -> f32 + Sync),
    told: Overall<'s>,
}

/// Why an entry is a comment that nobody had the time to try.
pub(super) const NOT_TRIED: &str = "there was no time to try it; `coalesce plan` tells";

impl Trial<'_> {
    /// Each entry alone, as far as the languages refuse it.
    fn alone(&self, draft: &mut Draft, seconds: &mut [Option<DraftEntry>]) {
        let (begun, count) = (AtomicUsize::new(0), draft.entries.len());
        let entries: Vec<usize> = (0..count).collect();
        let outcomes: Vec<Alone> = entries
            .par_iter()
            .with_max_len(1)
            .map(|&at| {
                if (self.time_left)() < FOR_PROVING {
                    return Alone::Refused(NOT_TRIED.to_owned());
                }
                let number = begun.fetch_add(1, Ordering::Relaxed) + 1;
                self.tell(draft, at, format_args!("trying entry {number} of {count}"));
                self.either(draft, at, seconds.get(at).and_then(Option::as_ref), CHANGES)
            })
            .collect();
        for (at, outcome) in outcomes.into_iter().enumerate() {
            outcome.mark(draft, seconds, at);
        }
    }

    /// The proof of entries that are followed one by one, if at all.
    fn prove_each(&self, draft: &mut Draft, seconds: &mut [Option<DraftEntry>], entries: &[usize]) {
        // What is undecided is a comment in any case, tried or not.
        if entries.is_empty() || (self.time_left)() < FOR_PROVING {
            return;
        }
        self.tell_proof(draft, entries);
        if let [at] = entries {
            let second = seconds.get(*at).and_then(Option::as_ref);
            let outcome = self.either(draft, *at, second, PROVEN);
            outcome.mark(draft, seconds, *at);
        } else if self.work(draft, entries, PROVEN).is_err() {
            let (left, right) = entries.split_at(entries.len() / 2);
            self.prove_each(draft, seconds, left);
            self.prove_each(draft, seconds, right);
        }
    }

    /// An entry alone; where it is refused, the one the other way round.
    fn either(
        &self,
        draft: &Draft,
        at: usize,
        second: Option<&DraftEntry>,
        how: PlanOptions,
    ) -> Alone {
        let why = match self.work(draft, &[at], how) {
            Ok(_) => return Alone::Fits,
            Err(why) => why,
        };
        let swapped = second.map(|entry| Draft {
            description: draft.description.clone(),
            entries: vec![entry.clone()],
            ..Draft::default()
        });
        match swapped.map(|swapped| self.work(&swapped, &[0], how)) {
            Some(Ok(_)) => Alone::SecondFits,
            _ => Alone::Refused(why),
        }
    }

    /// The plan of these entries, or why there is none; of entries that can be followed as they are, also why they are not proven.
    fn work(
        &self,
        draft: &Draft,
        entries: &[usize],
        how: PlanOptions,
    ) -> Result<MigrationPlan, String> {
        let text = draft.text_of(entries);
        let manifest = Manifest::parse(&self.path, &text).map_err(|errors| {
            let first = errors.first();
            first.map_or_else(String::new, |error| error.message.clone())
        })?;
        let manifests = [manifest];
        let worked = plan(self.session, &manifests, how)
            .map_err(|failure| failure.entry().message.clone())?;
        if let Some(refusal) = worked.assembled.refusals.first() {
            return Err(format!("{}: {}", refusal.path, refusal.message));
        }
        let mut entries = entries.iter().filter_map(|at| draft.entries.get(*at));
        let followed = entries.all(DraftEntry::is_open);
        match not_proven(&worked).filter(|_| followed && how.depth == Depth::Proof) {
            Some(why) => Err(why),
            None => Ok(worked),
        }
    }

    fn tell(&self, draft: &Draft, at: usize, what: std::fmt::Arguments<'_>) {
        let name = draft.entries.get(at).map_or("", |entry| &entry.from);
        self.told.stage(format_args!("{what}: {name}"));
    }

    fn tell_proof(&self, draft: &Draft, entries: &[usize]) {
        let (count, all) = (entries.len(), draft.entries.len());
        let Some(&first) = entries.first() else {
            return;
        };
        if count == 1 {
            let number = first + 1;
            self.tell(
                draft,
                first,
                format_args!("proving entry {number} of {all}"),
            );
        } else {
            let what = format_args!("proving {count} of {all} entries together, from");
            self.tell(draft, first, what);
        }
    }
}

/// What reading could not prove of a plan: nobody is offered that as something to follow.
fn not_proven(worked: &MigrationPlan) -> Option<String> {
    let (first, others) = worked.assembled.unproven.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        more => format!(", and {}", super::counted(more, "more place")),
    };
    Some(format!(
        "not proven: {}: `{}`: {}{more}",
        first.path, first.name, first.why
    ))
}

/// What the planner says of an entry alone.
enum Alone {
    Fits,
    /// The entry is refused, the one the other way round is not.
    SecondFits,
    Refused(String),
}

impl Alone {
    fn mark(self, draft: &mut Draft, seconds: &mut [Option<DraftEntry>], at: usize) {
        let Some(slot) = draft.entries.get_mut(at) else {
            return;
        };
        match self {
            Self::Fits => {}
            Self::SecondFits => {
                if let Some(second) = seconds.get_mut(at).and_then(Option::take) {
                    *slot = second;
                }
            }
            Self::Refused(why) => slot.refused = Some(why),
        }
    }
}

/// Entries that fit each other.
struct Together<'t, 's> {
    trial: &'t Trial<'s>,
    how: PlanOptions,
    accepted: Vec<usize>,
    last: Option<MigrationPlan>,
}

impl Together<'_, '_> {
    /// Takes the entries that fit what was taken before: all at once where they do, else by halves.
    fn take(&mut self, draft: &mut Draft, seconds: &mut [Option<DraftEntry>], entries: &[usize]) {
        if (self.trial.time_left)() <= 0.0 {
            for at in entries {
                Alone::Refused(NOT_TRIED.to_owned()).mark(draft, seconds, *at);
            }
            return;
        }
        let why = match self.fit(draft, entries) {
            Ok(()) => return,
            Err(why) => why,
        };
        if let [at] = entries {
            self.one(draft, seconds, *at, why);
        } else {
            let (left, right) = entries.split_at(entries.len() / 2);
            self.take(draft, seconds, left);
            self.take(draft, seconds, right);
        }
    }

    /// An entry that does not fit: alone it may, or the other way round.
    fn one(
        &mut self,
        draft: &mut Draft,
        seconds: &mut [Option<DraftEntry>],
        at: usize,
        why: String,
    ) {
        let second = seconds.get(at).and_then(Option::as_ref);
        let outcome = self.trial.either(draft, at, second, self.how);
        let is_second = matches!(outcome, Alone::SecondFits);
        let unfit = match &outcome {
            Alone::Fits => Some(why),
            Alone::SecondFits | Alone::Refused(_) => None,
        };
        outcome.mark(draft, seconds, at);
        let open = draft.entries.get(at).is_some_and(DraftEntry::is_open);
        let unfit = if is_second && open {
            self.fit(draft, &[at]).err()
        } else {
            unfit
        };
        if let (Some(why), Some(entry)) = (unfit, draft.entries.get_mut(at)) {
            entry.refused = Some(format!("it does not fit the entries above: {why}"));
        }
    }

    /// Takes the entries as they are, or says why they do not fit.
    fn fit(&mut self, draft: &Draft, entries: &[usize]) -> Result<(), String> {
        if entries.is_empty() {
            return Ok(());
        }
        self.trial.tell_proof(draft, entries);
        let mut all = self.accepted.clone();
        all.extend(entries);
        self.last = Some(self.trial.work(draft, &all, self.how)?);
        self.accepted = all;
        Ok(())
    }

    /// Tries another home for copies of one text of which not all can go to the first.
    fn rehome(&mut self, draft: &mut Draft) {
        for group in rehome::groups(draft) {
            for home in rehome::homes(self.trial.session, draft, &group) {
                if (self.trial.time_left)() < FOR_REHOMING || self.try_home(draft, &group, &home) {
                    break;
                }
            }
        }
    }

    /// Takes this home for a group where more copies can go to it than to the one that they have.
    fn try_home(&mut self, draft: &mut Draft, group: &[usize], home: &str) -> bool {
        let mut tried = rehome::with_home(draft, group, home);
        let others = self.accepted.iter().copied();
        let mut together = Together {
            trial: self.trial,
            how: self.how,
            accepted: others.filter(|at| !group.contains(at)).collect(),
            last: None,
        };
        let mut seconds = vec![None; tried.entries.len()];
        together.take(&mut tried, &mut seconds, group);
        let better = rehome::open(&tried, group) > rehome::open(draft, group);
        if better {
            (self.accepted, self.last) = (together.accepted, together.last);
            *draft = tried;
        }
        better
    }

    /// The plan of what was taken, in its layout: what `plan` will make of the manifest.
    fn laid_out(
        mut self,
        draft: &mut Draft,
        seconds: &mut [Option<DraftEntry>],
    ) -> Option<MigrationPlan> {
        let is_rust = |operation: &Operation| operation.path().extension() == Some("rs");
        let rust = |worked: &MigrationPlan| worked.assembled.operations.iter().any(is_rust);
        if !self.last.as_ref().is_some_and(rust) || (self.trial.time_left)() <= 0.0 {
            // rustfmt has nothing to say.
            return self.last;
        }
        let accepted = std::mem::take(&mut self.accepted);
        self.how = LAID_OUT;
        self.last = None;
        self.take(draft, seconds, &accepted);
        self.last
    }
}
