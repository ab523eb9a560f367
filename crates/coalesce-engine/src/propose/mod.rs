//! Proposes a manifest that `plan` accepts as it is.
//!
//! Every entry is tried by the planner, alone and then with the others; what it refuses stays in the
//! manifest as a comment with the reason. The trying is in `trial`.

mod homes;
mod rehome;
mod trial;

pub use homes::{PackageReach, unfit};

use std::sync::atomic::{AtomicUsize, Ordering};

use coalesce_clones::Report;
use coalesce_model::{
    Texts as _,
    envelope::{CycleCounts, Forecast, Proposal, ProposedEntry, ProposedState},
};
use coalesce_plan::{
    Operation,
    propose::{Draft, DraftEntry, Drafting},
};

use crate::{MigrationPlan, Session, relation::Relations};

/// A manifest that is proposed.
#[derive(Clone, Debug)]
pub struct ProposedManifest {
    /// Its text.
    pub text: String,
    /// What it asks for, and what following it would come to.
    pub proposal: Proposal,
}

/// What is wanted of a proposal.
pub struct ProposalOptions<'o> {
    /// The path that the manifest will have.
    pub label: &'o str,
    /// Whether old names go on working.
    pub shims: bool,
    /// The share of the time that is left, 1 to 0; asked between entries. What was not tried by the end
    /// is a comment.
    pub time_left: &'o (dyn Fn() -> f32 + Sync),
}

/// The time that is left when comparing copies ends, so that some entries are tried.
const FOR_TRYING: f32 = 0.6;
/// The time that is left when entries are no longer tried alone, so that they are proven together.
const FOR_PROVING: f32 = 0.35;
/// The time that has to be left for another home to be tried.
const FOR_REHOMING: f32 = 0.15;

/// Drafts and tries a manifest that makes the copies give way to one of them.
#[must_use]
pub fn propose(
    session: &Session,
    report: &Report,
    options: &ProposalOptions<'_>,
) -> ProposedManifest {
    session.progress.stage("comparing the copies");
    let relations = Relations::new(session);
    let relate = |from: &_, into: &_| relations.of(from, into);
    let compared = AtomicUsize::new(0);
    let stop = |share: f32| {
        let number = compared.fetch_add(1, Ordering::Relaxed) + 1;
        let stage = format_args!("comparing the copies of class {number}");
        session.progress.stage(stage);
        (options.time_left)() < 1.0 - share * (1.0 - FOR_TRYING)
    };
    let drafting = Drafting {
        report,
        graphs: &session.graphs(),
        texts: &session.tree,
        relate: &relate,
        homes: &homes::TreeHomes::new(session),
        shims: options.shims,
        stop: &stop,
    };
    let (draft, seconds) = drafting.draft();
    let (mut draft, worked) = trial::settle(session, options, draft, seconds);
    let forecast = worked.map(|worked| forecast(&worked, session));
    draft.forecast = told(&draft, forecast.as_ref());
    ProposedManifest {
        text: draft.text(),
        proposal: Proposal {
            path: options.label.to_owned(),
            entries: draft.entries.iter().map(entry).collect(),
            forecast,
        },
    }
}

fn forecast(worked: &MigrationPlan, session: &Session) -> Forecast {
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
fn told(draft: &Draft, forecast: Option<&Forecast>) -> Vec<String> {
    let open = draft.entries.iter().filter(|entry| entry.is_open()).count();
    let left = draft.entries.len() - open;
    let mut sentences = vec![format!(
        "Proposed by `coalesce audit --propose`. Entries that can be followed: {open}{}; left to you, as \
         comments: {left}.",
        beside(draft, open)
    )];
    let cycles = |counts: CycleCounts| counts.eager + counts.lazy;
    sentences.extend(forecast.map(|forecast| {
        format!(
            "Following them changes {} and {}, and leaves {}; import cycles: {} before, {} after.",
            counted(forecast.files, "file"),
            counted(forecast.references, "reference"),
            forecast.lines(),
            cycles(forecast.cycles_before),
            cycles(forecast.cycles_after)
        )
    }));
    sentences.push(
        "Look: `coalesce plan` on this file. Take the `# ` away from what you have decided."
            .to_owned(),
    );
    sentences
}

/// What stands in the manifest along with the entries that can be followed.
fn beside(draft: &Draft, open: usize) -> String {
    let moves = draft.moves();
    match (open, moves) {
        (0, _) => String::new(),
        (_, 0) => ", each with a `[[forbid]]` of the old name".to_owned(),
        (_, moves) => format!(
            ", each with a `[[forbid]]` of the old name, and {moves} `[[move]]` before them"
        ),
    }
}

fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
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
