//! Passages: statements in a row that stand in several long units which are no copies of each other, or in
//! Python outside of functions and types: at the top of a script, below `__main__`.
//!
//! All statements that stand more than once are sorted by what follows them (a suffix array of statements,
//! local names and messages left out). Neighbours in that order share the longest runs, and each run that
//! several share, and that is no part of a longer one of the same places, is a passage. What is
//! found depends on the places of a passage alone: a further file adds places and passages, and takes none.

use coalesce_model::UnitKind;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    align::{self, LineCounter, Statement},
    corpus::Corpus,
    source::{SourceFile, Unit},
};

/// Statements of a passage.
const STATEMENTS: usize = 8;
/// Its tokens: fewer are what any two texts of one trade have in a row.
const TOKENS: u32 = 80;
/// Of a unit that is a passage by more than this share in percent, other questions are asked.
const WHOLE: u32 = 90;
/// Statements that two places are followed for; a longer passage is told so far.
const FOLLOWED: usize = 128;
/// Statements after which what stands there comes again, at most, and how long that goes on in a row: a table,
/// or the same within each other, is no passage.
const PERIOD: usize = 4;
const REPETITION: usize = 16;
/// Places of one passage that are told.
const PLACES: usize = 64;

/// Files with passages as units, which stand behind all other units of their file.
pub struct Passages {
    /// The files that have some.
    pub corpus: Corpus,
    /// For each passage its entries.
    pub groups: Vec<Vec<u32>>,
}

/// Statements of a unit, with gaps.
type Statements = Vec<Option<Statement>>;

/// A statement: which unit of the list it stands in, and where in it.
type Place = (u32, u32);

/// Units that are searched, with their statements.
struct Searched {
    /// File and unit.
    units: Vec<(u32, u32)>,
    /// Of each unit; `None` where something stands between two that no passage goes across.
    statements: Vec<Statements>,
    /// For each statement a number that equal ones share; `None` for what stands once.
    ids: Vec<Vec<Option<u64>>>,
}

/// A run of statements that several units have.
struct Run {
    length: usize,
    places: Vec<Place>,
}

/// Finds them; `None` where there are none.
#[must_use]
pub fn find(corpus: &Corpus) -> Option<Passages> {
    let searched = Searched::new(corpus);
    let mut found: FxHashMap<u32, Vec<Unit>> = FxHashMap::default();
    // Of each passage its file and place among the passages of that.
    let mut members: Vec<Vec<(u32, usize)>> = Vec::new();
    for run in searched.runs() {
        let mut places = Vec::new();
        for (unit, at) in run.places {
            let Some((file, passage)) = searched.passage(corpus, (unit, at), run.length) else {
                continue;
            };
            let place = place_of(passage, found.entry(file).or_default());
            places.push((file, place));
        }
        places.sort_unstable();
        places.dedup();
        if places.len() > 1 {
            members.push(places);
        }
    }
    (!members.is_empty()).then(|| together(corpus, &found, &members))
}

/// The place of a passage among those of its file, where it stands afterwards.
fn place_of(passage: Unit, own: &mut Vec<Unit>) -> usize {
    let range = |unit: &Unit| (unit.first, unit.end);
    let known = own.iter().position(|unit| range(unit) == range(&passage));
    let place = known.unwrap_or(own.len());
    if known.is_none() {
        own.push(passage);
    }
    place
}

fn together(
    corpus: &Corpus,
    found: &FxHashMap<u32, Vec<Unit>>,
    members: &[Vec<(u32, usize)>],
) -> Passages {
    let mut at: Vec<u32> = found.keys().copied().collect();
    at.sort_unstable();
    let with = |file: &u32| {
        let mut own = corpus.files.get(*file as usize)?.clone();
        own.units.extend(found.get(file)?.iter().cloned());
        Some(own)
    };
    // Sorted as they are, so each stays where it is.
    let mut all = Corpus::new(at.iter().filter_map(with).collect());
    all.fitted = corpus.fitted;
    let mut entries: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for (number, entry) in (0..).zip(&all.entries) {
        entries.insert((entry.file, entry.unit), number);
    }
    let entry = |(file, place): &(u32, usize)| {
        let new = at.binary_search(file).ok()?;
        let before = corpus.files.get(*file as usize)?.units.len();
        let key = (
            u32::try_from(new).ok()?,
            u32::try_from(before + place).ok()?,
        );
        entries.get(&key).copied()
    };
    let group = |places: &Vec<(u32, usize)>| -> Vec<u32> {
        let mut group: Vec<u32> = places.iter().filter_map(entry).collect();
        group.sort_unstable();
        group
    };
    let mut groups: Vec<Vec<u32>> = members.iter().map(group).collect();
    groups.retain(|group| group.len() > 1);
    groups.sort();
    groups.dedup();
    Passages {
        corpus: all,
        groups,
    }
}

impl Searched {
    fn new(corpus: &Corpus) -> Self {
        let entries = corpus.entries.par_iter();
        let of_units = entries.filter_map(|entry| {
            let (file, unit) = (corpus.file(entry), corpus.unit(entry));
            if entry.size < TOKENS || !is_outermost(file, unit) {
                return None;
            }
            let statements = align::statements(file, unit).into_iter().map(Some);
            Some(((entry.file, entry.unit), statements.collect()))
        });
        let files = corpus.files.par_iter().enumerate();
        let of_modules = files.filter_map(|(at, file)| {
            let runs = file.lexicon().runs_modules;
            let statements = runs.then(|| outside(file))?;
            Some(((u32::try_from(at).ok()?, 0), statements))
        });
        let searched = of_units.chain(of_modules);
        let long = searched.filter(|(_, own): &(_, Statements)| own.len() >= STATEMENTS);
        let (units, statements): (Vec<(u32, u32)>, Vec<Statements>) = long.unzip();
        let ids = ids(corpus, &units, &statements);
        Self {
            units,
            statements,
            ids,
        }
    }

    fn id(&self, (unit, at): Place) -> Option<u64> {
        *self.ids.get(unit as usize)?.get(at as usize)?
    }

    /// The numbers from a place on, up to the first statement that stands nowhere else.
    fn following(&self, (unit, at): Place) -> impl Iterator<Item = u64> {
        let ids = self
            .ids
            .get(unit as usize)
            .and_then(|ids| ids.get(at as usize..));
        let ids = ids.unwrap_or_default().iter();
        ids.map_while(|id| *id).take(FOLLOWED)
    }

    /// All runs that several units share, each at its full length.
    fn runs(&self) -> Vec<Run> {
        let mut places: Vec<Place> = Vec::new();
        for (unit, ids) in (0..).zip(&self.ids) {
            let mut behind = 0;
            for (at, id) in ids.iter().enumerate().rev() {
                behind = if id.is_some() { behind + 1 } else { 0 };
                if behind >= STATEMENTS {
                    places.push((unit, u32::try_from(at).unwrap_or(u32::MAX)));
                }
            }
        }
        places
            .par_sort_unstable_by(|a, b| self.following(*a).cmp(self.following(*b)).then(a.cmp(b)));
        let common = places.par_windows(2).map(|pair| match pair {
            [a, b] => {
                let both = self.following(*a).zip(self.following(*b));
                both.take_while(|(a, b)| a == b).count()
            }
            _ => 0,
        });
        let common: Vec<usize> = common.collect();
        let mut found = Vec::new();
        // Runs that are open: their length, and the first of their places.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (at, length) in common.iter().copied().chain([0]).enumerate() {
            let mut first = at;
            while let Some((longer, begin)) = open.pop_if(|(longer, _)| *longer > length) {
                let own = places.get(begin..=at).unwrap_or_default();
                found.extend(self.run(longer, own));
                first = begin;
            }
            if length >= STATEMENTS && open.last().is_none_or(|(last, _)| *last < length) {
                open.push((length, first));
            }
        }
        found
    }

    /// Places as a run; `None` where it is a part of one that begins earlier, or is in one unit alone.
    fn run(&self, length: usize, places: &[Place]) -> Option<Run> {
        let before = |place: &Place| {
            let at = place.1.checked_sub(1)?;
            self.id((place.0, at))
        };
        let first = places.first()?;
        let earlier = before(first);
        if earlier.is_some() && places.iter().all(|place| before(place) == earlier) {
            return None;
        }
        let units: FxHashSet<u32> = places.iter().map(|(unit, _)| *unit).collect();
        if units.len() < 2 {
            return None;
        }
        let mut places = places.to_vec();
        places.sort_unstable();
        // Of one that repeats itself, places do not overlap.
        let mut last: Option<Place> = None;
        places.retain(|place| {
            let apart = last.is_none_or(|last| {
                last.0 != place.0 || place.1 as usize >= last.1 as usize + length
            });
            if apart {
                last = Some(*place);
            }
            apart
        });
        // Of those that are left none may go on like all others: they are a longer run.
        let behind = |place: &Place| self.id((place.0, place.1 + u32::try_from(length).ok()?));
        let later = places
            .first()
            .and_then(behind)
            .filter(|_| length < FOLLOWED);
        if later.is_some() && places.iter().all(|place| behind(place) == later) {
            return None;
        }
        places.truncate(PLACES);
        Some(Run { length, places })
    }

    /// A run as a unit of its file; `None` where it is too short, most of the unit around it, or cuts
    /// through another unit.
    fn passage(&self, corpus: &Corpus, (unit, at): Place, length: usize) -> Option<(u32, Unit)> {
        let (file_at, unit_at) = *self.units.get(unit as usize)?;
        let statements = self.statements.get(unit as usize)?;
        let own = statements.get(at as usize..at as usize + length)?;
        let (first, last) = (own.first()?.as_ref()?, own.last()?.as_ref()?);
        let begins = first.line;
        let (first, end) = (first.tokens.0, last.tokens.1);
        let file = corpus.files.get(file_at as usize)?;
        let around = file.units.get(unit_at as usize)?;
        let size = end - first;
        let is_whole =
            around.kind != UnitKind::Module && size * 100 > (around.end - around.body) * WHOLE;
        if size < TOKENS || is_whole {
            return None;
        }
        let cuts = |other: &Unit| {
            other.first < end
                && first < other.end
                && !(first <= other.first && other.end <= end)
                && !(other.first <= first && end <= other.end)
        };
        if file.units.iter().any(cuts) {
            return None;
        }
        let last = file.tokens.get(end as usize - 1)?.span();
        let start = file.tokens.get(first as usize)?.start;
        let text = file
            .text
            .as_bytes()
            .get(start as usize..last.end as usize)?;
        let lines = u32::try_from(memchr::memchr_iter(b'\n', text).count()).unwrap_or(0);
        let passage = Unit {
            kind: UnitKind::Block,
            name: 0,
            name_span: coalesce_model::ByteSpan::empty(start),
            parent: Some(unit_at),
            first,
            body: first,
            end,
            lines: (begins, begins + lines),
            allowed: None,
        };
        Some((file_at, passage))
    }
}

/// Takes the numbers of statements away that repeat themselves over and over.
fn leave_out_repetition(ids: &mut [Option<u64>]) {
    let mut is_left_out = vec![false; ids.len()];
    for period in 1..=PERIOD {
        let later = ids.get(period..).unwrap_or_default();
        let again = ids.iter().zip(later);
        let again: Vec<bool> = again.map(|(a, b)| a.is_some() && a == b).collect();
        let mut at = 0;
        for stretch in again.chunk_by(|a, b| a == b) {
            let repeats = stretch.first() == Some(&true) && stretch.len() >= REPETITION;
            let end = at + stretch.len();
            if let Some(own) = is_left_out.get_mut(at..end + period).filter(|_| repeats) {
                own.fill(true);
            }
            at = end;
        }
    }
    for (id, _) in ids.iter_mut().zip(is_left_out).filter(|(_, out)| *out) {
        *id = None;
    }
}

/// Whether a unit is code that is searched by itself, and not as a part of what is around it. Blocks are
/// parts of a module that runs them.
fn is_outermost(file: &SourceFile, unit: &Unit) -> bool {
    let is_code = |unit: &Unit| match unit.kind {
        UnitKind::Function | UnitKind::Method => true,
        UnitKind::Block => !file.lexicon().runs_modules,
        _ => false,
    };
    let around = unit.parent.and_then(|at| file.units.get(at as usize));
    is_code(unit) && !around.is_some_and(is_code)
}

/// What a module does outside of its functions and types; imports are gaps, too.
fn outside(file: &SourceFile) -> Statements {
    let stands_apart = |unit: &&Unit| {
        !matches!(unit.kind, UnitKind::Module | UnitKind::Block) && unit.first < unit.end
    };
    let apart = file.units.iter().filter(stands_apart);
    let mut apart: Vec<(u32, u32)> = apart.map(|unit| (unit.first, unit.end)).collect();
    apart.sort_unstable();
    let end = u32::try_from(file.tokens.len()).unwrap_or(u32::MAX);
    let mut lines = LineCounter::of_file(file);
    let (mut found, mut at) = (Statements::new(), 0);
    for (first, behind) in apart.into_iter().chain([(end, end)]) {
        if first > at {
            let own = align::statements_in(file, (at, first), &mut lines);
            found.extend(own.into_iter().map(Some).chain([None]));
        }
        at = at.max(behind);
    }
    found
}

/// Those that are there more than once.
fn repeated(all: &mut [u64]) -> FxHashSet<u64> {
    all.par_sort_unstable();
    all.chunk_by(|a, b| a == b)
        .filter(|same| same.len() > 1)
        .filter_map(|same| same.first().copied())
        .collect()
}

/// Numbers of statements that stand more than once in units of one language.
fn ids(corpus: &Corpus, units: &[(u32, u32)], statements: &[Statements]) -> Vec<Vec<Option<u64>>> {
    let language = |file: u32| {
        let file = corpus.files.get(file as usize);
        file.map_or(0, |file| file.language as u64)
    };
    let of = |file: u32, statement: &Statement| statement.blind ^ (language(file) << 61);
    let mut all: Vec<u64> = units
        .iter()
        .zip(statements)
        .flat_map(|((file, _), list)| list.iter().flatten().map(|one| of(*file, one)))
        .collect();
    let repeated = repeated(&mut all);
    let numbered = units.par_iter().zip(statements).map(|((file, _), list)| {
        let number = |statement: &Option<Statement>| {
            let id = of(*file, statement.as_ref()?);
            repeated.contains(&id).then_some(id)
        };
        let mut numbers: Vec<Option<u64>> = list.iter().map(number).collect();
        leave_out_repetition(&mut numbers);
        numbers
    });
    numbered.collect()
}
