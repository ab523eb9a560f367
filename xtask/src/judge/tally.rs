//! The counts, failures first.

use std::{collections::BTreeMap, fmt};

use super::{
    consolidation::{Consolidation, Kind},
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

    fn count(&self, kind: Option<Kind>, word: &str) -> usize {
        let rounds = self.rounds.iter().filter(|(done, outcome)| {
            outcome.word() == word && kind.is_none_or(|kind| kind == done.kind)
        });
        rounds.count()
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
        write!(f, "{:8}", "")?;
        for (_, heading) in COLUMNS {
            write!(f, " {heading:>8}")?;
        }
        writeln!(f)?;
        let kinds = Kind::ALL.map(|kind| (kind.as_str(), Some(kind)));
        for (name, kind) in kinds.into_iter().chain([("all", None)]) {
            write!(f, "{name:8}")?;
            for (word, _) in COLUMNS {
                write!(f, " {:>8}", self.count(kind, word))?;
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
