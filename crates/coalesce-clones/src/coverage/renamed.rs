//! Copies under another name, or in another place: what is left of both sides when all that is called
//! alike has been matched.
//!
//! Functions and methods are compared as the duplicate finder compares them; classes by how much of
//! their members stand for each other.

use rustc_hash::FxHashMap;

use super::{Entry, PartKind, Place, Read, Relation, matching, parts::Part};
use crate::{corpus::Corpus, evidence::Room, grams::Runs, pairs, verdict::Verdict};

/// Words that a body needs to be the same by more than chance.
const TELLING: usize = 8;
/// The share of the smaller class that the other must have.
const COVERED: f32 = 0.5;
/// Pairs of classes that are looked at.
const CLASSES: usize = 4096;

/// A part that one side alone has, and the names around it.
struct Alone<'r> {
    part: &'r Part,
    around: String,
}

/// Entries of what stands for each other under two names.
pub(super) fn pairs(a: &Read<'_>, b: &Read<'_>, entries: &[Entry]) -> Vec<Entry> {
    let mut found = Vec::new();
    let containers = |part: &Part| part.is_container() && part.kind != PartKind::Module;
    let callables = |part: &Part| matches!(part.kind, PartKind::Function | PartKind::Method);
    let (left, right) = unmatched(a, b, entries, &containers);
    classes((a, &left), (b, &right), &mut found);
    let taken = taken(&found);
    let free = |alone: &Alone<'_>, side: usize, read: &Read<'_>| {
        let (first, _) = alone.part.tokens();
        let start = read
            .meaning
            .reader
            .token(first)
            .map_or(0, |token| token.start);
        let taken = taken.get(side).map(Vec::as_slice).unwrap_or_default();
        !taken.iter().any(|(from, to)| *from <= start && start < *to)
    };
    let (mut left, mut right) = unmatched(a, b, entries, &callables);
    left.retain(|alone| free(alone, 0, a));
    right.retain(|alone| free(alone, 1, b));
    functions((a, &left), (b, &right), &mut found);
    found
}

/// Definitions of the modules themselves that have another name on the right side.
pub(super) fn aliases(a: &Read<'_>, b: &Read<'_>, pairs: &[Entry]) -> FxHashMap<String, String> {
    let own = |read: &Read<'_>, place: &Place| {
        let mut parts = read.parts.iter();
        place.kind != PartKind::Impl && parts.any(|part| part.name == place.name)
    };
    let named = pairs.iter().filter_map(|pair| {
        let (left, right) = (pair.left.as_ref()?, pair.right.as_ref()?);
        let both = own(a, left) && own(b, right) && left.name != right.name;
        both.then(|| (left.name.clone(), right.name.clone()))
    });
    named.collect()
}

/// Bytes of each side that entries take.
fn taken(entries: &[Entry]) -> [Vec<(u32, u32)>; 2] {
    let bytes = |place: &Option<Place>| {
        place
            .as_ref()
            .map(|place| (place.span.start, place.span.end))
    };
    [
        entries
            .iter()
            .filter_map(|entry| bytes(&entry.left))
            .collect(),
        entries
            .iter()
            .filter_map(|entry| bytes(&entry.right))
            .collect(),
    ]
}

/// Puts entries where their left side stands, and takes away what they replace.
pub(super) fn place(entries: &mut Vec<Entry>, pairs: Vec<Entry>) {
    let start = |place: &Option<Place>| place.as_ref().map(|place| place.span.start);
    let mut by_left: FxHashMap<u32, Entry> = FxHashMap::default();
    let mut rights: Vec<u32> = Vec::new();
    for pair in pairs {
        rights.extend(start(&pair.right));
        if let Some(left) = start(&pair.left) {
            by_left.insert(left, pair);
        }
    }
    replace(entries, &mut by_left, &rights);
}

fn replace(entries: &mut Vec<Entry>, by_left: &mut FxHashMap<u32, Entry>, rights: &[u32]) {
    let start = |place: &Option<Place>| place.as_ref().map(|place| place.span.start);
    entries.retain(|entry| {
        let own = start(&entry.right);
        !(entry.relation == Relation::OnlyRight && own.is_some_and(|own| rights.contains(&own)))
    });
    for entry in entries {
        let own = start(&entry.left).filter(|_| entry.relation == Relation::OnlyLeft);
        match own.and_then(|own| by_left.remove(&own)) {
            Some(pair) => *entry = pair,
            None => replace(&mut entry.members, by_left, rights),
        }
    }
}

/// What one side alone has, of both sides.
fn unmatched<'r>(
    a: &'r Read<'_>,
    b: &'r Read<'_>,
    entries: &[Entry],
    wanted: &impl Fn(&Part) -> bool,
) -> (Vec<Alone<'r>>, Vec<Alone<'r>>) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    starts(entries, &mut left, &mut right);
    let of = |read: &'r Read<'_>, starts: &[u32]| {
        let mut found = Vec::new();
        gather(read, &read.parts, &read.around, starts, wanted, &mut found);
        found
    };
    (of(a, &left), of(b, &right))
}

/// Where that begins which one side alone has.
fn starts(entries: &[Entry], left: &mut Vec<u32>, right: &mut Vec<u32>) {
    for entry in entries {
        let own = |place: &Option<Place>| place.as_ref().map(|place| place.span.start);
        match entry.relation {
            Relation::OnlyLeft => left.extend(own(&entry.left)),
            Relation::OnlyRight => right.extend(own(&entry.right)),
            _ => {}
        }
        starts(&entry.members, left, right);
    }
}

fn gather<'r>(
    read: &'r Read<'_>,
    parts: &'r [Part],
    around: &str,
    starts: &[u32],
    wanted: &impl Fn(&Part) -> bool,
    found: &mut Vec<Alone<'r>>,
) {
    for part in parts {
        let first = read.meaning.reader.token(part.tokens().0);
        let is_alone = first.is_some_and(|first| starts.contains(&first.start));
        if is_alone && wanted(part) {
            found.push(Alone {
                part,
                around: around.to_owned(),
            });
        }
        let below = matching::below(read, part, around);
        gather(read, &part.parts, &below, starts, wanted, found);
    }
}

/// Brings together what fits best; each part once.
fn best(mut scored: Vec<(f32, (usize, usize), Entry)>, found: &mut Vec<Entry>) {
    let names = |entry: &Entry| {
        let name = |place: &Option<Place>| place.as_ref().map(|place| place.name.clone());
        (name(&entry.left), name(&entry.right))
    };
    scored.sort_by(|x, y| {
        let score = y.0.total_cmp(&x.0);
        score.then_with(|| (names(&x.2), x.1).cmp(&(names(&y.2), y.1)))
    });
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for (_, pair, entry) in scored {
        if taken
            .iter()
            .all(|other| other.0 != pair.0 && other.1 != pair.1)
        {
            taken.push(pair);
            found.push(entry);
        }
    }
}

fn classes(a: (&Read<'_>, &[Alone<'_>]), b: (&Read<'_>, &[Alone<'_>]), found: &mut Vec<Entry>) {
    if a.1.len() * b.1.len() > CLASSES {
        return;
    }
    let mut scored = Vec::new();
    for (x, left) in a.1.iter().enumerate() {
        for (y, right) in b.1.iter().enumerate() {
            if left.part.kind != right.part.kind || !shares_names(left.part, right.part) {
                continue;
            }
            let entry = matching::entry(
                (a.0, left.part, &left.around),
                (b.0, right.part, &right.around),
            );
            let smaller = weight(a.0, left.part).min(weight(b.0, right.part));
            let shared: f32 = entry
                .members
                .iter()
                .map(|member| shared(a.0, left.part, member))
                .sum();
            if smaller > 0.0 && shared >= COVERED * smaller && entry.relation.is_covered() {
                scored.push((shared / smaller, (x, y), entry));
            }
        }
    }
    best(scored, found);
}

/// Whether the smaller of two classes has a third of its members' names in common with the other.
fn shares_names(a: &Part, b: &Part) -> bool {
    let (few, many) = if a.parts.len() <= b.parts.len() {
        (a, b)
    } else {
        (b, a)
    };
    let known = |part: &&Part| many.parts.iter().any(|other| other.name == part.name);
    let shared = few
        .parts
        .iter()
        .filter(|part| !part.name.is_empty())
        .filter(known);
    shared.count() * 3 >= few.parts.len().max(1)
}

/// Words of all members.
fn weight(read: &Read<'_>, part: &Part) -> f32 {
    let words = part
        .parts
        .iter()
        .map(|part| matching::size(&read.meaning, part));
    words.sum::<usize>() as f32
}

/// Words of a member that both have; of a changed one half of them.
fn shared(read: &Read<'_>, part: &Part, member: &Entry) -> f32 {
    let Some(place) = member
        .left
        .as_ref()
        .filter(|_| member.relation.is_covered())
    else {
        return 0.0;
    };
    let own = part.parts.iter().find(|own| {
        let first = read.meaning.reader.token(own.tokens().0);
        first.is_some_and(|first| first.start == place.span.start)
    });
    let words = own.map_or(0, |own| matching::size(&read.meaning, own)) as f32;
    match member.relation {
        Relation::Same | Relation::Reworded | Relation::ChangedSignature => words,
        _ => words / 2.0,
    }
}

fn functions(a: (&Read<'_>, &[Alone<'_>]), b: (&Read<'_>, &[Alone<'_>]), found: &mut Vec<Entry>) {
    if a.1.is_empty() || b.1.is_empty() {
        return;
    }
    let judge = Judge::new(a.0, b.0);
    let texts = |side: (&Read<'_>, &[Alone<'_>])| -> Vec<Option<u64>> {
        let text = |alone: &Alone<'_>| {
            let tells = matching::size(&side.0.meaning, alone.part) >= TELLING;
            tells.then(|| matching::body(side.0, alone.part))
        };
        side.1.iter().map(text).collect()
    };
    let (lefts, rights) = (texts(a), texts(b));
    let mut room = Room::default();
    let mut scored = Vec::new();
    for ((x, left), own) in a.1.iter().enumerate().zip(&lefts) {
        for ((y, right), other) in b.1.iter().enumerate().zip(&rights) {
            let same = own.is_some() && own == other;
            let score = same.then_some(2.0);
            let Some(score) = score.or_else(|| judge.score(left.part, right.part, &mut room))
            else {
                continue;
            };
            let entry = matching::entry(
                (a.0, left.part, &left.around),
                (b.0, right.part, &right.around),
            );
            scored.push((score, (x, y), entry));
        }
    }
    best(scored, found);
}

/// The comparison of the duplicate finder, over the two files.
struct Judge {
    corpus: Corpus,
    runs: Runs,
    entries: FxHashMap<(u32, u32), u32>,
    files: (u32, u32),
}

impl Judge {
    fn new(a: &Read<'_>, b: &Read<'_>) -> Self {
        let one = a.file.path == b.file.path;
        let mut files = vec![a.file.clone()];
        if !one {
            files.push(b.file.clone());
        }
        let corpus = Corpus::new(files);
        let all = 0..u32::try_from(corpus.entries.len()).unwrap_or(u32::MAX);
        let runs = Runs::new(&corpus, all.collect());
        let entries = (0u32..).zip(&corpus.entries);
        let entries = entries.map(|(at, entry)| ((entry.file, entry.unit), at));
        // Files of a corpus are sorted by path; of two sides the left one comes first.
        Self {
            entries: entries.collect(),
            files: (0, u32::from(!one)),
            runs,
            corpus,
        }
    }

    /// How much two functions have in common; `None` where they are no copies.
    fn score(&self, a: &Part, b: &Part, room: &mut Room) -> Option<f32> {
        let left = *self.entries.get(&(self.files.0, a.unit?))?;
        let right = *self.entries.get(&(self.files.1, b.unit?))?;
        let pair = (left.min(right), left.max(right));
        let compared = pairs::compare_one(&self.corpus, &self.runs, pair, room)?;
        let duplicate = matches!(compared.verdict, Verdict::Duplicate | Verdict::Minor);
        duplicate.then(|| compared.evidence.similarity())
    }
}
