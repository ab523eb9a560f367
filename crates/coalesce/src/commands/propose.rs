//! `audit --propose`: writes a manifest that `plan` accepts as it is.
//!
//! Every entry is tried by the planner, alone and then with the others; what it refuses stays in the
//! manifest as a comment with the reason.

use coalesce_clones::Report;
use coalesce_model::{
    Texts as _,
    envelope::{CycleCounts, Forecast, Proposal, ProposedEntry, ProposedState},
    manifest::Manifest,
};
use coalesce_plan::{
    Operation,
    propose::{Draft, DraftEntry, Drafting},
};
use rayon::prelude::*;

use super::{
    relation::Relations,
    work::{Worked, work_out},
};
use crate::{cli, exit::Failure, named_files, session::Session};

/// Drafts, tries and writes the manifest.
///
/// # Errors
/// When the file exists already or cannot be written.
pub fn propose(
    session: &Session,
    report: &Report,
    arguments: &cli::Audit,
    path: &std::path::Path,
) -> anyhow::Result<Proposal> {
    if path.exists() {
        let failure = Failure::user(format!("{} exists already", path.display()));
        return Err(failure
            .hint("name another file; a proposal overwrites nothing")
            .into());
    }
    let relations = Relations::new(session);
    let relate = |from: &_, into: &_| relations.of(from, into);
    let drafting = Drafting {
        report,
        graphs: &session.graphs(),
        texts: &session.tree,
        relate: &relate,
        shims: arguments.shims,
    };
    let (draft, seconds) = drafting.draft();
    let trial = Trial {
        session,
        path: path.display().to_string(),
    };
    let (mut draft, forecast) = trial.settle(draft, seconds);
    draft.forecast = told(&draft, &forecast);
    named_files::write(path, &draft.text())?;
    Ok(Proposal {
        path: path.display().to_string(),
        entries: draft.entries.iter().map(entry).collect(),
        forecast,
    })
}

/// The planner, asked about entries before anybody relies on them.
struct Trial<'s> {
    session: &'s Session,
    path: String,
}

impl Trial<'_> {
    /// The draft with what the planner refuses marked so, and what following the rest would change.
    fn settle(&self, mut draft: Draft, mut seconds: Vec<Option<DraftEntry>>) -> (Draft, Forecast) {
        let told = draft.entries.len();
        self.session
            .progress
            .stage(format_args!("trying {told} entries"));
        let alone: Vec<_> = (0..draft.entries.len())
            .into_par_iter()
            .map(|at| self.alone(&draft, at, seconds.get(at).and_then(Option::as_ref)))
            .collect();
        for (at, outcome) in alone.into_iter().enumerate() {
            let Some(slot) = draft.entries.get_mut(at) else {
                continue;
            };
            match outcome {
                Alone::Fits => {}
                Alone::SecondFits => {
                    if let Some(second) = seconds.get_mut(at).and_then(Option::take) {
                        *slot = second;
                    }
                }
                Alone::Refused(why) => slot.refused = Some(why),
            }
        }
        let open: Vec<usize> = (0..draft.entries.len())
            .filter(|at| draft.entries.get(*at).is_some_and(DraftEntry::is_open))
            .collect();
        let mut together = Together {
            trial: self,
            accepted: Vec::new(),
            last: None,
        };
        together.take(&mut draft, &open);
        let forecast = together
            .last
            .map(|worked| forecast(&worked, self.session))
            .unwrap_or_default();
        (draft, forecast)
    }

    fn alone(&self, draft: &Draft, at: usize, second: Option<&DraftEntry>) -> Alone {
        let why = match self.work(draft, &[at]) {
            Ok(_) => return Alone::Fits,
            Err(why) => why,
        };
        let swapped = second.map(|entry| Draft {
            entries: vec![entry.clone()],
            ..draft.clone()
        });
        match swapped.map(|swapped| self.work(&swapped, &[0])) {
            Some(Ok(_)) => Alone::SecondFits,
            _ => Alone::Refused(why),
        }
    }

    /// The plan of these entries, or why there is none.
    fn work(&self, draft: &Draft, entries: &[usize]) -> Result<Worked, String> {
        let text = draft.text_of(entries);
        let manifest = Manifest::parse(&self.path, &text).map_err(|errors| {
            let first = errors.first();
            first.map_or_else(String::new, |error| error.message.clone())
        })?;
        let manifests = [manifest];
        let arguments = cli::Manifests::default();
        let worked = work_out(self.session, &manifests, &arguments).map_err(|error| {
            error.downcast_ref::<Failure>().map_or_else(
                || error.to_string(),
                |failure| failure.entry().message.clone(),
            )
        })?;
        match worked.assembled.refusals.first() {
            Some(refusal) => Err(format!("{}: {}", refusal.path, refusal.message)),
            None => Ok(worked),
        }
    }
}

/// What the planner says of an entry alone.
enum Alone {
    Fits,
    /// The entry is refused, the one the other way round is not.
    SecondFits,
    Refused(String),
}

/// Entries that fit each other.
struct Together<'t, 's> {
    trial: &'t Trial<'s>,
    accepted: Vec<usize>,
    last: Option<Worked>,
}

impl Together<'_, '_> {
    /// Takes the entries that fit what was taken before: all at once where they do, else by halves.
    fn take(&mut self, draft: &mut Draft, entries: &[usize]) {
        if entries.is_empty() {
            return;
        }
        let mut all = self.accepted.clone();
        all.extend(entries);
        match self.trial.work(draft, &all) {
            Ok(worked) => {
                self.accepted = all;
                self.last = Some(worked);
            }
            Err(why) if entries.len() == 1 => {
                let entry = entries.first().and_then(|at| draft.entries.get_mut(*at));
                if let Some(entry) = entry {
                    entry.refused = Some(format!("it does not fit the entries above: {why}"));
                }
            }
            Err(_) => {
                let (left, right) = entries.split_at(entries.len() / 2);
                self.take(draft, left);
                self.take(draft, right);
            }
        }
    }
}

fn forecast(worked: &Worked, session: &Session) -> Forecast {
    let lines = |text: &str| i64::try_from(text.lines().count()).unwrap_or(i64::MAX);
    let before = |path: &_| session.tree.text(path).map_or(0, |text| lines(&text));
    let removed = |operation: &Operation| match operation {
        Operation::Move { text: None, .. } => 0,
        Operation::Move {
            from,
            text: Some(text),
            ..
        } => before(from) - lines(text),
        Operation::Create { text, .. } => -lines(text),
        Operation::Edit { path, text } => before(path) - lines(text),
        Operation::Delete { path } => before(path),
    };
    let assembled = &worked.assembled;
    Forecast {
        files: assembled.operations.len(),
        references: assembled.rewrites.len(),
        lines_removed: assembled.operations.iter().map(removed).sum(),
        cycles_before: worked.proven.cycles_before,
        cycles_after: worked.proven.cycles_after,
    }
}

/// The forecast in sentences, for the top of the manifest.
fn told(draft: &Draft, forecast: &Forecast) -> Vec<String> {
    let open = draft.entries.iter().filter(|entry| entry.is_open()).count();
    let left = draft.entries.len() - open;
    let cycles = |counts: CycleCounts| counts.eager + counts.lazy;
    vec![
        format!(
            "Proposed by `coalesce audit --propose`. Entries that can be followed: {open}; left to you, as \
             comments: {left}."
        ),
        format!(
            "Following them changes {} files and {} references, and leaves {}; import cycles: {} before, \
             {} after.",
            forecast.files,
            forecast.references,
            forecast.lines(),
            cycles(forecast.cycles_before),
            cycles(forecast.cycles_after)
        ),
        "Look: `coalesce plan` on this file. Take the `# ` away from what you have decided."
            .to_owned(),
    ]
}

fn entry(entry: &DraftEntry) -> ProposedEntry {
    ProposedEntry {
        verb: entry.verb.as_str().to_owned(),
        from: entry.from.clone(),
        to: entry.to.clone(),
        state: if !entry.decisions.is_empty() {
            ProposedState::Decide
        } else if entry.refused.is_some() {
            ProposedState::Refused
        } else {
            ProposedState::Open
        },
        reasons: entry.reasons.clone(),
        decide: entry
            .decisions
            .iter()
            .map(|decision| decision.name.clone())
            .collect(),
        refused: entry.refused.clone(),
    }
}
