//! From copied units to what is told: which repositories share code, which modules and functions stand in
//! several, and which of them is behind.

use std::{cmp::Reverse, collections::BTreeMap};

use coalesce_clones::corpus::is_test_path;
use coalesce_model::envelope::{
    Behind, Fleet, FleetCopy, FleetDifference, FleetMember, RepositoryPair, Share,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    closer::Texts,
    engine::{Asked, Engine, File, Unit},
};

/// Of units that more files have, each is counted with so many of the others alone.
const MEMBERS: usize = 256;
/// The share of the smaller of two modules that the other one has.
const MODULE_SHARE: f32 = 0.7;
/// Lines of functions that two modules have in common at least, and a function that is told alone has.
const LINES: u64 = 12;
/// Differences that are told of two members.
const TOLD: usize = 12;

/// What is told of all that was asked.
#[must_use]
pub fn answer(asked: &Asked, texts: &Texts, engine: Engine) -> Fleet {
    let (copies, compared) = texts.copies(asked);
    let families = Families::new(asked, &copies);
    let shared = SharedFiles::new(asked, &families);
    let modules = shared.modules(asked);
    let inside: FxHashSet<usize> = modules.iter().flatten().copied().collect();
    let modules = modules
        .iter()
        .map(|files| shared.module(asked, texts, files));
    let alone = families.0.iter();
    let alone = alone.filter_map(|family| function(asked, texts, family, &inside));
    let mut told: Vec<FleetCopy> = modules.chain(alone).collect();
    // What a program does comes before its tests.
    told.sort_by_cached_key(|copy| (among_tests(copy), Reverse(copy.lines), copy.members.clone()));
    Fleet {
        engine: engine.module().to_owned(),
        repositories: lines_by_repository(asked).len(),
        units: asked.files.iter().map(|file| file.units).sum(),
        candidates: asked.candidates.iter().filter(|pair| !pair.same).count(),
        compared,
        unread_files: texts.gone,
        pairs: shared.pairs(asked),
        copies: told,
    }
}

/// Whether at most one member is no test.
fn among_tests(copy: &FleetCopy) -> bool {
    let program = copy.members.iter().filter(|one| !is_test_path(&one.path));
    program.count() < 2
}

/// Units that are copies of each other, in several repositories; each sorted by file and place.
struct Families(Vec<Vec<i64>>);

impl Families {
    fn new(asked: &Asked, copies: &[(i64, i64)]) -> Self {
        let same = asked.candidates.iter().filter(|pair| pair.same);
        let pairs = same
            .map(|pair| (pair.a, pair.b))
            .chain(copies.iter().copied());
        let mut families = joined(pairs.collect());
        families.retain(|family| {
            let mut repositories = family.iter().filter_map(|unit| {
                let file = asked.files.get(asked.units.get(unit)?.file)?;
                Some(file.repository.as_str())
            });
            let first = repositories.next();
            repositories.any(|other| Some(other) != first)
        });
        for family in &mut families {
            family.sort_by_key(|unit| {
                let told = asked.units.get(unit);
                told.map(|told| (told.file, told.lines, *unit))
            });
        }
        families.sort();
        Self(families)
    }
}

/// What is joined by pairs, in one step or several.
fn joined<T: Copy + Ord + std::hash::Hash>(pairs: Vec<(T, T)>) -> Vec<Vec<T>> {
    let mut first: FxHashMap<T, T> = FxHashMap::default();
    for (a, b) in pairs {
        let (a, b) = (top(&mut first, a), top(&mut first, b));
        let (a, b) = (a.min(b), a.max(b));
        first.insert(b, a);
        first.entry(a).or_insert(a);
    }
    let mut members: Vec<T> = first.keys().copied().collect();
    members.sort_unstable();
    let mut groups: BTreeMap<T, Vec<T>> = BTreeMap::new();
    for member in members {
        groups
            .entry(top(&mut first, member))
            .or_default()
            .push(member);
    }
    groups.into_values().collect()
}

fn top<T: Copy + Eq + std::hash::Hash>(first: &mut FxHashMap<T, T>, member: T) -> T {
    let mut at = member;
    while let Some(next) = first.get(&at).copied().filter(|next| *next != at) {
        at = next;
    }
    // The next question is a short one.
    if at != member {
        first.insert(member, at);
    }
    at
}

/// For each file of one repository the lines that one of another has as well, and whether it has most.
type SharedByFile = BTreeMap<usize, (u64, bool)>;

/// For each pair of files of two repositories the units that they share: of one and of the other.
struct SharedFiles(BTreeMap<(usize, usize), Vec<(i64, i64)>>);

impl SharedFiles {
    fn new(asked: &Asked, families: &Families) -> Self {
        let mut shared: BTreeMap<(usize, usize), Vec<(i64, i64)>> = BTreeMap::new();
        for (a, b) in families.0.iter().flat_map(|family| pairs_of(family)) {
            let (left, right) = (asked.units.get(&a), asked.units.get(&b));
            if let (Some(left), Some(right)) = (left, right)
                && repository(asked, left) != repository(asked, right)
            {
                let pairs = shared.entry((left.file, right.file)).or_default();
                pairs.push((a, b));
            }
        }
        let symbol = |unit: &i64| asked.units.get(unit).map(|unit| unit.symbol.as_str());
        let lines = |unit: &i64| asked.units.get(unit).map_or(0, Unit::line_count);
        for pairs in shared.values_mut() {
            // Of several copies in both, those of one name belong together, then those of one length.
            pairs.sort_by_key(|(a, b)| (symbol(a) != symbol(b), lines(a).abs_diff(lines(b))));
            one_to_one(pairs);
        }
        Self(shared)
    }

    /// Lines that two files share, those of the smaller unit of each pair.
    fn lines(asked: &Asked, pairs: &[(i64, i64)]) -> u64 {
        let lines = |unit: &i64| asked.units.get(unit).map_or(0, Unit::line_count);
        pairs
            .iter()
            .map(|(a, b)| u64::from(lines(a).min(lines(b))))
            .sum()
    }

    fn share(asked: &Asked, files: (usize, usize), pairs: &[(i64, i64)]) -> f32 {
        let all = |file: usize| asked.files.get(file).map_or(0, |file| file.lines);
        let smaller = all(files.0).min(all(files.1)).max(1);
        (Self::lines(asked, pairs) as f32 / smaller as f32).min(1.0)
    }

    /// Files that are copies as a whole.
    fn modules(&self, asked: &Asked) -> Vec<Vec<usize>> {
        let whole = self.0.iter().filter(|(files, pairs)| {
            Self::lines(asked, pairs) >= LINES && Self::share(asked, **files, pairs) >= MODULE_SHARE
        });
        joined(whole.map(|(files, _)| *files).collect())
    }

    /// The pairs of units of two files, the first file's first.
    fn between(&self, a: usize, b: usize) -> Vec<(i64, i64)> {
        let turned = |pairs: &Vec<(i64, i64)>| pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let straight = self.0.get(&(a, b)).cloned();
        straight.unwrap_or_else(|| self.0.get(&(b, a)).map_or_else(Vec::new, turned))
    }

    fn module(&self, asked: &Asked, texts: &Texts, files: &[usize]) -> FleetCopy {
        let files = newest_first(asked, files);
        let first = files.first().copied().unwrap_or_default();
        let mut comparison = Comparison::default();
        let (mut lines, mut share) = (0, 1.0_f32);
        for (at, file) in files.iter().enumerate().skip(1) {
            let pairs = self.between(first, *file);
            lines += Self::lines(asked, &pairs);
            // Two may be joined by a third one alone.
            if !pairs.is_empty() {
                share = share.min(Self::share(asked, (first, *file), &pairs));
            }
            comparison.add(texts, at, &pairs);
        }
        let told = files.iter().filter_map(|file| asked.files.get(*file));
        let members = told.map(module_member).collect();
        comparison.told(true, members, lines, share)
    }

    fn pairs(&self, asked: &Asked) -> Vec<RepositoryPair> {
        let name = |file: usize| {
            let file = asked.files.get(file);
            file.map_or("", |file| file.repository.as_str())
        };
        // Files of which several share one are counted once: by the file on the side of the first name.
        let mut shared: BTreeMap<(&str, &str), SharedByFile> = BTreeMap::new();
        for ((a, b), pairs) in &self.0 {
            let lines = Self::lines(asked, pairs);
            let whole = lines >= LINES && Self::share(asked, (*a, *b), pairs) >= MODULE_SHARE;
            let files = shared.entry((name(*a), name(*b))).or_default();
            let best = files.entry(*a).or_default();
            *best = (best.0.max(lines), best.1 || whole);
        }
        let all = lines_by_repository(asked);
        let of = |name: &str| all.get(name).copied().unwrap_or(0);
        let told = shared.into_iter().map(|((a, b), files)| {
            let smaller = of(a).min(of(b)).max(1);
            repository_pair([a, b], &files, smaller)
        });
        let mut told: Vec<RepositoryPair> = told.filter(|pair| pair.lines >= LINES).collect();
        told.sort_by(|a, b| (b.lines, &a.repositories).cmp(&(a.lines, &b.repositories)));
        told
    }
}

fn lines_by_repository(asked: &Asked) -> BTreeMap<&str, u64> {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for file in &asked.files {
        *all.entry(&file.repository).or_default() += file.lines;
    }
    all
}

/// The newest first, where commits tell it; else the one with most lines.
fn newest_first(asked: &Asked, files: &[usize]) -> Vec<usize> {
    let mut files = files.to_vec();
    files.sort_by_key(|file| {
        let told = asked.files.get(*file);
        let changed = told.and_then(|told| told.changed);
        let lines = told.map(|told| told.lines);
        (Reverse(changed), Reverse(lines), *file)
    });
    files
}

/// What is told of two repositories, the smaller of which has so many lines.
fn repository_pair(names: [&str; 2], files: &SharedByFile, smaller: u64) -> RepositoryPair {
    let lines: u64 = files.values().map(|(lines, _)| lines).sum();
    RepositoryPair {
        repositories: names.map(str::to_owned),
        lines,
        share: Share::new((lines as f32 / smaller as f32).min(1.0)),
        modules: files.values().filter(|(_, whole)| *whole).count(),
    }
}

/// The pairs of a family, each unit with [`MEMBERS`] of the others at most.
fn pairs_of(family: &[i64]) -> impl Iterator<Item = (i64, i64)> {
    family.iter().enumerate().flat_map(|(at, a)| {
        let others = family.iter().skip(at + 1).take(MEMBERS);
        others.map(move |b| (*a, *b))
    })
}

/// Leaves each unit in one pair alone.
fn one_to_one(pairs: &mut Vec<(i64, i64)>) {
    let (mut left, mut right) = (FxHashSet::default(), FxHashSet::default());
    pairs.retain(|(a, b)| {
        let free = !left.contains(a) && !right.contains(b);
        if free {
            left.insert(*a);
            right.insert(*b);
        }
        free
    });
}

fn repository<'a>(asked: &'a Asked, unit: &Unit) -> Option<&'a str> {
    Some(asked.files.get(unit.file)?.repository.as_str())
}

/// Units that stand in no module that is told as a whole, or in several of them.
fn function(
    asked: &Asked,
    texts: &Texts,
    family: &[i64],
    inside: &FxHashSet<usize>,
) -> Option<FleetCopy> {
    let told = |unit: &i64| asked.units.get(unit);
    let outside = |unit: &i64| told(unit).is_some_and(|told| !inside.contains(&told.file));
    if !family.iter().any(outside) {
        return None;
    }
    let mut units = outermost(asked, family);
    let mut repositories = units
        .iter()
        .filter_map(|unit| repository(asked, told(unit)?));
    let one = repositories.next();
    if repositories.all(|other| Some(other) == one) {
        return None;
    }
    let changed = |unit: &i64| asked.files.get(told(unit)?.file)?.changed;
    units.sort_by_key(|unit| Reverse(changed(unit)));
    let first = *units.first()?;
    let mut comparison = Comparison::default();
    let mut lines = 0;
    for (at, unit) in units.iter().enumerate().skip(1) {
        lines += SharedFiles::lines(asked, &[(first, *unit)]);
        comparison.add(texts, at, &[(first, *unit)]);
    }
    let members = units.iter().filter_map(|unit| member(asked, told(unit)?));
    (lines >= LINES).then(|| comparison.told(false, members.collect(), lines, 1.0))
}

/// The units of a family that stand in no other one of it.
fn outermost(asked: &Asked, family: &[i64]) -> Vec<i64> {
    let stands_in = |unit: &i64, other: &i64| {
        let (one, around) = (asked.units.get(unit), asked.units.get(other));
        one.zip(around).is_some_and(|(one, around)| {
            one.file == around.file
                && one.lines != around.lines
                && around.lines.0 <= one.lines.0
                && one.lines.1 <= around.lines.1
        })
    };
    let mut units = family.to_vec();
    units.retain(|unit| !family.iter().any(|other| stands_in(unit, other)));
    units
}

fn member(asked: &Asked, unit: &Unit) -> Option<FleetMember> {
    let file = asked.files.get(unit.file)?;
    Some(FleetMember {
        item: unit.symbol.clone(),
        lines: Some([unit.lines.0, unit.lines.1]),
        ..module_member(file)
    })
}

/// A file as a whole.
fn module_member(file: &File) -> FleetMember {
    FleetMember {
        repository: file.repository.clone(),
        path: file.path.clone(),
        item: String::new(),
        lines: None,
        commit: file.commit.clone(),
        changed: file.changed,
    }
}

/// What members have that the first one has not, and the other way round.
#[derive(Default)]
struct Comparison(Vec<FleetDifference>);

impl Comparison {
    fn add(&mut self, texts: &Texts, member: usize, pairs: &[(i64, i64)]) {
        let mut found = Vec::new();
        for (a, b) in pairs {
            // What has one text was not read.
            for difference in texts.differences(*a, *b).unwrap_or_default() {
                found.push(FleetDifference {
                    member,
                    in_first: difference.member == 0,
                    aspect: difference.aspect,
                    line: difference.line,
                    text: difference.text,
                });
            }
        }
        self.0.extend(found);
    }

    fn told(self, module: bool, members: Vec<FleetMember>, lines: u64, share: f32) -> FleetCopy {
        let behind = self.behind(&members);
        let Self(mut differences) = self;
        let same = differences.is_empty();
        let mut counts: FxHashMap<(usize, bool), usize> = FxHashMap::default();
        differences.retain(|one| {
            let count = counts.entry((one.member, one.in_first)).or_default();
            *count += 1;
            *count <= TOLD
        });
        FleetCopy {
            module,
            members,
            lines,
            share: Share::new(share),
            same,
            differences,
            behind,
        }
    }

    /// The members that lack what the first one has: by their dates, where commits tell them.
    fn behind(&self, members: &[FleetMember]) -> Vec<Behind> {
        let has = |member: usize, in_first: bool| {
            let mut of_member = self.0.iter().filter(|one| one.member == member);
            of_member.any(|one| one.in_first == in_first)
        };
        let changed = |at: usize| members.get(at).and_then(|member| member.changed);
        let behind = (1..members.len()).filter_map(|member| {
            let by_date = changed(0).zip(changed(member));
            let (lacks, adds) = (has(member, true), has(member, false));
            let is_behind = match by_date {
                Some((first, own)) => own < first && (lacks || adds),
                None => lacks && !adds,
            };
            is_behind.then_some(Behind {
                member,
                by_date: by_date.is_some(),
            })
        });
        behind.collect()
    }
}
