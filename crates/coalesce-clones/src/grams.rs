//! Which pairs of units are worth a closer look: those that share rare runs of four tokens.
//!
//! A prefix filter: of two units that have at least `SHARED` of the smaller one's runs in common,
//! one of the smaller one's rarest runs stands in the other, so only those are looked up. Runs that
//! are everywhere are not looked up at all; whole copies, however many, are grouped before and come
//! in here once.

use rayon::prelude::*;

use crate::{
    corpus::{Corpus, Counts},
    source::Token,
    verdict,
};

/// The share of the smaller unit's runs that two units must have in common, in percent.
const SHARED: usize = 35;
/// A run that stands in more units than this tells nothing.
const COMMON: u32 = 32;
/// Where all runs of a unit are common, its rarest are looked up all the same, up to this count.
const LAST_RESORT: u32 = 256;
/// Pairs that are looked at for one unit.
const MOST: usize = 24;

/// Units whose partners, or rows, are found before these are put to the rest.
const AT_ONCE: usize = 1 << 16;

/// A pair of entries, the smaller index first.
pub type Pair = (u32, u32);

/// The distinct runs of four tokens of chosen entries, local names and messages left out.
pub struct Runs {
    /// For each chosen entry its runs, sorted.
    runs: Vec<Box<[u32]>>,
    /// Which entries were chosen, sorted.
    chosen: Vec<u32>,
    /// For each entry its place among the chosen ones, from 1; 0 for others.
    places: Vec<u32>,
    /// Tokens of each chosen entry.
    sizes: Vec<u32>,
}

impl Runs {
    /// The runs of `chosen` entries, which are sorted.
    #[must_use]
    pub fn new(corpus: &Corpus, chosen: Vec<u32>) -> Self {
        let runs = chosen.par_iter().map(|at| runs_of(corpus, *at)).collect();
        let size = |at: &u32| {
            corpus
                .entries
                .get(*at as usize)
                .map_or(0, |entry| entry.size)
        };
        let mut places = vec![0; corpus.entries.len()];
        for (at, place) in chosen.iter().zip(1..) {
            if let Some(own) = places.get_mut(*at as usize) {
                *own = place;
            }
        }
        Self {
            runs,
            sizes: chosen.iter().map(size).collect(),
            chosen,
            places,
        }
    }

    /// The entries that were chosen, sorted.
    #[must_use]
    pub fn chosen(&self) -> &[u32] {
        &self.chosen
    }

    /// The runs of an entry; none when it was not chosen.
    #[must_use]
    pub fn of(&self, entry: u32) -> &[u32] {
        let place = self.places.get(entry as usize).copied().unwrap_or(0);
        let at = (place as usize).checked_sub(1);
        at.and_then(|at| self.runs.get(at)).map_or(&[], |runs| runs)
    }

    /// How many runs two entries have in common, and how many the one with fewer has.
    #[must_use]
    pub fn shared(&self, a: u32, b: u32) -> (u32, u32) {
        let (a, b) = (self.of(a), self.of(b));
        let (mut left, mut right, mut both) = (0, 0, 0u32);
        while let (Some(x), Some(y)) = (a.get(left), b.get(right)) {
            both += u32::from(x == y);
            left += usize::from(x <= y);
            right += usize::from(y <= x);
        }
        (
            both,
            u32::try_from(a.len().min(b.len())).unwrap_or(u32::MAX),
        )
    }
}

/// The most of a unit's sorted runs that stand in one part of `body` half as long again as the unit
/// is, of all of them, 0 to 1: a copy inside of something larger is in one place there.
#[must_use]
pub fn gathered(runs: &[u32], size: u32, body: &[Token]) -> f32 {
    let place = |run: &[Token]| runs.binary_search(&hash(run)).ok();
    let places: Vec<Option<usize>> = body.windows(4).map(place).collect();
    let width = size as usize + size as usize / 2;
    let mut counts = vec![0u32; runs.len()];
    let (mut distinct, mut most) = (0usize, 0usize);
    for (at, entering) in places.iter().enumerate() {
        if let Some(count) = entering.and_then(|run| counts.get_mut(run)) {
            distinct += usize::from(*count == 0);
            *count += 1;
        }
        let leaving = at.checked_sub(width).and_then(|at| places.get(at));
        if let Some(count) = leaving
            .copied()
            .flatten()
            .and_then(|run| counts.get_mut(run))
        {
            *count -= 1;
            distinct -= usize::from(*count == 0);
        }
        most = most.max(distinct);
    }
    most as f32 / runs.len().max(1) as f32
}

/// How often each run is there.
fn counted(runs: &[Box<[u32]>]) -> Counts {
    let mut counts = Counts::new(runs.iter().map(|runs| runs.len()).sum());
    for run in runs.iter().flat_map(|runs| runs.iter()) {
        counts.add(*run);
    }
    counts
}

/// Pairs among the chosen entries that share enough, sorted.
#[must_use]
pub fn candidates(all: &Runs) -> Vec<Pair> {
    let Runs {
        runs,
        chosen,
        sizes,
        ..
    } = all;
    let counts = counted(runs);
    let postings = Postings::new(runs, &counts);
    let entries = |(a, b): Pair| {
        let (a, b) = (*chosen.get(a as usize)?, *chosen.get(b as usize)?);
        Some((a.min(b), a.max(b)))
    };
    let mut pairs: Vec<Pair> = Vec::new();
    for first in (0..chosen.len()).step_by(AT_ONCE) {
        let some = first..chosen.len().min(first + AT_ONCE);
        let found = some.into_par_iter().map_init(Tally::default, |tally, at| {
            let found = partners(at, runs, &counts, &postings, tally);
            fitting(at, found, sizes)
        });
        pairs.par_extend(found.flatten_iter().filter_map(entries));
    }
    pairs.par_sort_unstable();
    pairs.dedup();
    pairs
}

fn runs_of(corpus: &Corpus, at: u32) -> Box<[u32]> {
    let Some(entry) = corpus.entries.get(at as usize) else {
        return Box::default();
    };
    let body = corpus.body(entry);
    let mut runs: Vec<u32> = body.windows(4).map(hash).collect();
    if body.len() < 4 {
        runs.push(hash(body));
    }
    runs.sort_unstable();
    runs.dedup();
    runs.into_boxed_slice()
}

fn hash(run: &[Token]) -> u32 {
    let mix = |hash: u64, token: &Token| {
        (hash.rotate_left(5) ^ u64::from(token.blind())).wrapping_mul(0x517c_c1b7_2722_0a95)
    };
    let hash = run.iter().fold(0, mix);
    u32::try_from(hash >> 32).unwrap_or(0)
}

/// Pairs whose sizes allow that one is a copy of the other or stands in it.
fn fitting(at: usize, mut found: Vec<Pair>, sizes: &[u32]) -> Vec<Pair> {
    let own = sizes.get(at).copied().unwrap_or(0);
    found.retain(|(_, other)| {
        let other = sizes.get(*other as usize).copied().unwrap_or(0);
        verdict::can_be_copies(own.min(other), own.max(other))
    });
    found
}

/// Units by run, for runs that are in several but not in too many.
struct Postings {
    /// (run, unit), sorted.
    rows: Vec<(u32, u32)>,
    /// Where the rows of runs with the same top bits begin.
    starts: Vec<u32>,
    shift: u32,
}

impl Postings {
    fn new(runs: &[Box<[u32]>], counts: &Counts) -> Self {
        let mut rows: Vec<(u32, u32)> = Vec::new();
        for (some, first) in runs.chunks(AT_ONCE).zip((0..).step_by(AT_ONCE)) {
            let units = some.par_iter().enumerate();
            rows.par_extend(units.flat_map_iter(|(at, runs)| {
                let unit = u32::try_from(first + at).unwrap_or(u32::MAX);
                let found = runs.iter().filter(|run| {
                    let count = counts.get(**run);
                    (2..=LAST_RESORT).contains(&count)
                });
                found.map(move |run| (*run, unit))
            }));
        }
        rows.par_sort_unstable();
        let bits = (usize::BITS - rows.len().leading_zeros()).clamp(8, 24);
        let shift = 32 - bits;
        let mut starts = vec![0u32; (1 << bits) + 1];
        for (run, _) in &rows {
            if let Some(start) = starts.get_mut((run >> shift) as usize + 1) {
                *start += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self {
            rows,
            starts,
            shift,
        }
    }

    fn units(&self, run: u32) -> impl Iterator<Item = u32> {
        let bucket = (run >> self.shift) as usize;
        let at = |bucket: usize| self.starts.get(bucket).copied().unwrap_or(0) as usize;
        let rows = self
            .rows
            .get(at(bucket)..at(bucket + 1))
            .unwrap_or_default();
        let from = rows.partition_point(|row| row.0 < run);
        let same = rows.iter().skip(from).take_while(move |row| row.0 == run);
        same.map(|row| row.1)
    }
}

/// How many looked-up runs each other unit shares; used again for the next unit.
#[derive(Default)]
struct Tally {
    shared: Vec<u16>,
    touched: Vec<u32>,
    rare: Vec<(u32, u32)>,
}

/// The units that share most of the rarest runs of unit `at`.
fn partners(
    at: usize,
    runs: &[Box<[u32]>],
    counts: &Counts,
    postings: &Postings,
    tally: &mut Tally,
) -> Vec<Pair> {
    let own = runs.get(at).map_or::<&[u32], _>(&[], |runs| runs);
    tally.rare.clear();
    tally
        .rare
        .extend(own.iter().map(|run| (counts.get(*run), *run)));
    tally.rare.sort_unstable();
    let prefix = own.len() - (own.len() * SHARED).div_ceil(100) + 1;
    tally.shared.resize(runs.len(), 0);
    let mut looked_up = 0;
    for (count, run) in tally.rare.iter().take(prefix) {
        let common = *count > COMMON;
        if *count < 2 || *count > LAST_RESORT || (common && looked_up >= 8) {
            continue;
        }
        looked_up += 1;
        for unit in postings.units(*run).filter(|unit| *unit as usize != at) {
            if let Some(shared) = tally.shared.get_mut(unit as usize) {
                if *shared == 0 {
                    tally.touched.push(unit);
                }
                *shared = shared.saturating_add(1);
            }
        }
    }
    best(at, tally)
}

/// The partners with most in common, ties by place; the tally is left clean.
fn best(at: usize, tally: &mut Tally) -> Vec<Pair> {
    let own = u32::try_from(at).unwrap_or(u32::MAX);
    let mut found: Vec<(u16, u32)> = Vec::with_capacity(tally.touched.len());
    for unit in tally.touched.drain(..) {
        if let Some(shared) = tally.shared.get_mut(unit as usize) {
            found.push((u16::MAX - *shared, unit));
            *shared = 0;
        }
    }
    if found.len() > MOST {
        found.select_nth_unstable(MOST);
        found.truncate(MOST);
    }
    found.into_iter().map(|(_, unit)| (own, unit)).collect()
}
