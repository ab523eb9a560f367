//! From all units to the pairs that are copies of each other, and those that only look so.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::{
    corpus::{Corpus, Entry},
    evidence::{self, Evidence, Room},
    grams::{self, Pair, Runs},
    likelihood::{Fitted, likelihood},
    verdict::{self, Verdict},
};

/// Units of one name that each unit of this name is compared with: those nearest in size.
const NAMESAKES: usize = 24;
/// Units of one shape that each of them is compared with: those that follow it by place.
const OF_A_SHAPE: usize = 8;
/// Pairs that are compared before what is kept of them is put to the rest.
const AT_ONCE: usize = 1 << 16;

/// What is too small to be worth a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Minimum {
    /// Lines of a unit.
    pub lines: u32,
    /// Tokens of its body.
    pub tokens: u32,
}

impl Default for Minimum {
    fn default() -> Self {
        Self {
            lines: 2,
            tokens: 12,
        }
    }
}

/// Weight that the distinctive names of a unit must have together: a getter has less.
const DISTINCTIVE: f32 = 8.0;

/// A compared pair.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// Entries, the smaller index first.
    pub pair: Pair,
    /// What they have in common.
    pub evidence: Evidence,
    /// What that amounts to.
    pub verdict: Verdict,
    /// How likely a maintainer calls it duplicated, 0 to 1.
    pub likelihood: f32,
}

impl Compared {
    fn new(pair: Pair, evidence: Evidence, fitted: &Fitted) -> Self {
        let likelihood = likelihood(&evidence, fitted);
        Self {
            pair,
            verdict: verdict::verdict(&evidence, likelihood),
            evidence,
            likelihood,
        }
    }
}

/// What is kept of a compared pair while classes are made: in a large tree there are tens of millions.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// Entries, the smaller index first.
    pub pair: Pair,
    /// What they are to each other.
    pub verdict: Verdict,
    /// How likely a maintainer calls it duplicated, 0 to 1.
    pub likelihood: f32,
    /// How much of both is the same, 0 to 1.
    pub similarity: f32,
    /// How sure it is: the surest are joined first.
    pub sureness: f32,
}

impl From<Compared> for Judged {
    fn from(compared: Compared) -> Self {
        let evidence = &compared.evidence;
        let similarity = evidence.similarity();
        let named = f32::from(u8::from(evidence.same_name)) * 0.5;
        Self {
            pair: compared.pair,
            verdict: compared.verdict,
            likelihood: compared.likelihood,
            similarity,
            sureness: similarity + evidence.alike() + named,
        }
    }
}

/// Units that say the same, word for word but for local names and messages.
#[derive(Clone, Debug)]
pub struct Groups {
    /// For each group its entries, by place; groups by their first entry.
    pub groups: Vec<Vec<u32>>,
}

impl Groups {
    /// Groups the entries that are large enough.
    #[must_use]
    pub fn new(corpus: &Corpus, minimum: Minimum) -> Self {
        let mut keyed: Vec<(u64, u32)> = corpus
            .entries
            .par_iter()
            .enumerate()
            .filter(|(_, entry)| counts(corpus, entry, minimum))
            .map(|(at, entry)| {
                let language = corpus.language(entry) as u64;
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                (entry.exact ^ (u64::from(entry.size) << 8) ^ language, at)
            })
            .collect();
        keyed.par_sort_unstable();
        let mut groups: Vec<Vec<u32>> = keyed
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| same.iter().map(|(_, at)| *at).collect())
            .collect();
        groups.par_sort_unstable_by_key(|group| group.first().copied());
        Self { groups }
    }

    /// The first entry of each group.
    #[must_use]
    pub fn representatives(&self) -> Vec<u32> {
        self.groups
            .iter()
            .filter_map(|group| group.first().copied())
            .collect()
    }
}

/// What is said of entries that are the same but for local names and messages.
#[must_use]
pub fn of_equals(corpus: &Corpus, pair: Pair) -> Option<Compared> {
    let equal = Evidence::of_equals(corpus, pair)?;
    Some(Compared::new(pair, equal, &corpus.fitted))
}

/// Whether a unit is large and distinctive enough to be a duplicate.
#[must_use]
pub fn counts(corpus: &Corpus, entry: &Entry, minimum: Minimum) -> bool {
    let unit = corpus.unit(entry);
    if entry.work < minimum.tokens || unit.line_count() < minimum.lines {
        return false;
    }
    let weights = entry.features.iter().map(|feature| feature.weight);
    weights.sum::<f32>() >= DISTINCTIVE && !entry.delegates
}

/// Pairs of representatives that share rare runs, a name or a shape, sorted.
#[must_use]
pub fn candidates(corpus: &Corpus, runs: &Runs) -> Vec<Pair> {
    let mut pairs = grams::candidates(runs);
    pairs.extend(namesakes(corpus, runs.chosen()));
    pairs.extend(of_a_shape(corpus, runs.chosen()));
    pairs.par_sort_unstable();
    pairs.dedup();
    pairs
}

/// Compares what is worth it among representatives; unrelated pairs are left out, and of siblings those whose units
/// have siblings already: they tie nothing together that is not tied. There may be as many pairs of siblings as units,
/// two dozen times. Sorted.
#[must_use]
pub fn compare(corpus: &Corpus, runs: &Runs) -> Vec<Judged> {
    let mut judged = Vec::new();
    let mut tied = vec![false; corpus.entries.len()];
    for some in candidates(corpus, runs).chunks(AT_ONCE) {
        let compared = some.par_iter().map_init(Room::default, |room, pair| {
            compare_one(corpus, runs, *pair, room).map(Judged::from)
        });
        let compared: Vec<Judged> = compared.flatten().collect();
        judged.extend(
            compared
                .into_iter()
                .filter(|one| one.verdict != Verdict::Sibling || ties(&mut tied, one.pair)),
        );
    }
    judged
}

/// Whether one of two units was tied to nothing yet; both are, afterwards.
fn ties(tied: &mut [bool], pair: Pair) -> bool {
    let mut ties = false;
    for at in [pair.0, pair.1] {
        if let Some(known) = tied.get_mut(at as usize) {
            ties |= !std::mem::replace(known, true);
        }
    }
    ties
}

/// The evidence and verdict of one pair; `None` when there is nothing to it.
pub fn compare_one(corpus: &Corpus, runs: &Runs, pair: Pair, room: &mut Room) -> Option<Compared> {
    match comparison(corpus, runs, pair, room) {
        Comparison::Compared(compared) if compared.verdict != Verdict::Unrelated => Some(compared),
        _ => None,
    }
}

/// How far the comparison of two units goes.
#[derive(Clone, Copy, Debug)]
pub enum Comparison {
    /// They are no two units of one language.
    NotComparable,
    /// Names and sizes are too different.
    OtherNames(Evidence),
    /// Runs of tokens are too different.
    OtherRuns(Evidence),
    /// What both can have in common at most is too little.
    OtherText(Evidence),
    /// All was looked at that makes a difference.
    Compared(Compared),
}

/// Compares two units, the cheap questions first.
pub fn comparison(corpus: &Corpus, runs: &Runs, pair: Pair, room: &mut Room) -> Comparison {
    let entry = |at: u32| corpus.entries.get(at as usize);
    let (Some(a), Some(b)) = (entry(pair.0), entry(pair.1)) else {
        return Comparison::NotComparable;
    };
    if corpus.language(a) != corpus.language(b) || is_inside(corpus, a, b) {
        return Comparison::NotComparable;
    }
    let Some(names) = Evidence::of_names(corpus, pair) else {
        return Comparison::NotComparable;
    };
    if !verdict::is_possible(&names) {
        return Comparison::OtherNames(names);
    }
    let with_runs = names.with_runs(corpus, runs, pair);
    if !verdict::is_likely(&with_runs) {
        return Comparison::OtherRuns(with_runs);
    }
    match with_runs.with_text(corpus, a, b, room) {
        Some(evidence) => Comparison::Compared(Compared::new(pair, evidence, &corpus.fitted)),
        None => Comparison::OtherText(with_runs),
    }
}

/// Whether one unit is a part of the other.
fn is_inside(corpus: &Corpus, a: &Entry, b: &Entry) -> bool {
    let (left, right) = (corpus.unit(a), corpus.unit(b));
    a.file == b.file && left.first < right.end && right.first < left.end
}

/// Pairs of units that share a name.
fn namesakes(corpus: &Corpus, representatives: &[u32]) -> Vec<Pair> {
    let size = |at: &u32| {
        corpus
            .entries
            .get(*at as usize)
            .map_or(0, |entry| entry.size)
    };
    let mut pairs = Vec::new();
    for mut same in of_one_name(corpus, representatives) {
        same.sort_unstable_by_key(|at| (size(at), *at));
        for (at, a) in same.iter().enumerate() {
            let near = same.iter().skip(at + 1).take(NAMESAKES);
            pairs.extend(near.map(|b| (*a.min(b), *a.max(b))));
        }
    }
    pairs
}

/// Units of one name that is not everybody's.
fn of_one_name(corpus: &Corpus, representatives: &[u32]) -> Vec<Vec<u32>> {
    let mut by_name: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for at in representatives {
        let Some(entry) = corpus.entries.get(*at as usize) else {
            continue;
        };
        let name = corpus.unit(entry).name;
        if name != 0 && entry.namesakes <= evidence::NAMESAKES {
            by_name.entry(name).or_default().push(*at);
        }
    }
    by_name.into_values().collect()
}

/// Pairs of units that are the same but for words, long enough that these may be a parameter.
fn of_a_shape(corpus: &Corpus, representatives: &[u32]) -> Vec<Pair> {
    let keyed = representatives.iter().filter_map(|at| {
        let entry = corpus.entries.get(*at as usize)?;
        evidence::may_be_substituted(entry).then_some((entry.shape, *at))
    });
    let mut keyed: Vec<(u64, u32)> = keyed.collect();
    keyed.par_sort_unstable();
    let mut pairs = Vec::new();
    for same in keyed.chunk_by(|a, b| a.0 == b.0) {
        for (at, (_, a)) in same.iter().enumerate() {
            let near = same.iter().skip(at + 1).take(OF_A_SHAPE);
            pairs.extend(near.map(|(_, b)| (*a, *b)));
        }
    }
    pairs
}
