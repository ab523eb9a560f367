//! The counts, failures first.

use std::{collections::BTreeMap, fmt};

use super::{
    consolidation::{Consolidation, Kind},
    planted::Change,
    rounds::Outcome,
};

/// The words of outcomes with what stands above their counts.
const COLUMNS: [(&str, &str); 7] = [
    ("WRONG", "wrong"),
    ("NAMES", "names"),
    ("CRASHED", "crashed"),
    ("right", "right"),
    ("checked", "checked"),
    ("unproven", "unproven"),
    ("refused", "refused"),
];

/// What a row counts.
#[derive(Clone, Copy)]
enum Row {
    Kind(Kind),
    Change(Change),
    All,
}

impl Row {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.as_str(),
            Self::Change(change) => change.as_str(),
            Self::All => "all",
        }
    }

    fn has(self, done: &Consolidation) -> bool {
        match self {
            Self::Kind(kind) => done.kind == kind,
            Self::Change(change) => {
                let planted = done.planted.as_ref();
                planted.is_some_and(|planted| planted.changes.contains(&change))
            }
            Self::All => true,
        }
    }
}

/// All outcomes.
#[derive(Default)]
pub struct Tally {
    rounds: Vec<(Consolidation, Outcome)>,
}

impl Tally {
    /// One more.
    pub fn add(&mut self, done: &Consolidation, outcome: Outcome) {
        self.rounds.push((done.clone(), outcome));
    }

    /// How many were told to work and do not, or had no answer.
    pub fn failures(&self) -> usize {
        let rounds = self.rounds.iter();
        rounds.filter(|(_, outcome)| outcome.is_failure()).count()
    }

    fn count(&self, row: Row, word: &str) -> usize {
        let rounds = self.rounds.iter();
        let rounds = rounds.filter(|(done, outcome)| outcome.word() == word && row.has(done));
        rounds.count()
    }

    /// Kinds, what was changed in planted copies where there are any, and all.
    fn rows(&self) -> Vec<Row> {
        let planted = self.rounds.iter().any(|(done, _)| done.planted.is_some());
        let changes = Change::ALL.into_iter().filter(|_| planted).map(Row::Change);
        let kinds = Kind::ALL.into_iter().map(Row::Kind);
        kinds.chain(changes).chain([Row::All]).collect()
    }

    /// How often each reason was given for an outcome, most often first.
    fn reasons(&self, word: &str) -> Vec<(usize, String)> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (_, outcome) in &self.rounds {
            if outcome.word() == word {
                *counts.entry(without_names(outcome.reason())).or_default() += 1;
            }
        }
        let mut reasons: Vec<_> = counts
            .into_iter()
            .map(|(why, count)| (count, why))
            .collect();
        reasons.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        reasons
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (done, outcome) in &self.rounds {
            if outcome.is_failure() {
                writeln!(f, "{}: {}", outcome.word().to_lowercase(), done.summary())?;
                for line in outcome.reason().lines() {
                    writeln!(f, "    {line}")?;
                }
            }
        }
        for word in ["unproven", "refused"] {
            for (count, why) in self.reasons(word) {
                writeln!(f, "{word:8} {count:4} × {why}")?;
            }
        }
        write!(f, "{:10}", "")?;
        for (_, heading) in COLUMNS {
            write!(f, " {heading:>8}")?;
        }
        writeln!(f)?;
        for row in self.rows() {
            write!(f, "{:10}", row.as_str())?;
            for (word, _) in COLUMNS {
                write!(f, " {:>8}", self.count(row, word))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// A reason without what stands between backticks, so that the same one counts as the same.
fn without_names(reason: &str) -> String {
    let first = reason.lines().next().unwrap_or_default();
    let mut plain = String::new();
    for (at, part) in first.split('`').enumerate() {
        plain.push_str(if at % 2 == 0 { part } else { "…" });
    }
    plain.chars().take(160).collect()
}
