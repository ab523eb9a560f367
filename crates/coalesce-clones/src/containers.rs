//! Classes, `impl` blocks and modules that are copies of each other, by the best matching of what
//! they consist of.
//!
//! The text of a whole class says little once methods were added or moved; what counts is how much of
//! the smaller one has a counterpart in the other.

use std::collections::BTreeMap;

use coalesce_model::UnitKind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    classes::Class,
    corpus::Corpus,
    identical,
    source::{SourceFile, Unit},
    verdict::Verdict,
};

/// Members of a duplicate class that each of them is matched with: those that follow it by place.
const MATCHED: usize = 96;
/// So many pairs of containers are compared, and some more for each entry: thousands of classes within
/// each other that are all alike would make as many as the square of the depth for each two functions.
/// Trees that people wrote have fewer pairs than entries (bevy: 5,064 and 30,948).
const MOST_PAIRS: usize = 50_000;
const MOST_PAIRS_OF_ENTRY: usize = 4;
/// The share of the smaller one that must have a counterpart.
const COVERED: f32 = 0.5;
/// The least share where the larger one has the names of most methods of the smaller one as well.
const COVERED_BY_TEXT: f32 = 0.25;

/// The least share where so many methods are copies.
const COVERED_BY_MANY: f32 = 0.2;
const MANY: usize = 4;
/// The share that is as good as all.
const EVERYTHING: f32 = 0.9;
/// Tokens from which on several copies, none of which is worth telling, are so together.
const TOGETHER: u32 = 45;
/// A method's name that more functions have is that of an interface: that two classes share such
/// methods says that they have the interface.
const OWN_NAME: u32 = 8;

/// What is not the same token by token is no more alike than this.
const ALMOST: f32 = 0.99;

/// A class, `impl` block or module: file and unit.
pub type Container = (u32, u32);

/// Two containers and what of them matches.
#[derive(Clone, Debug)]
pub struct Overlap {
    /// The two, by place.
    pub pair: (Container, Container),
    /// Entries that are duplicates of each other: one of the first, one of the second.
    pub matched: Vec<(u32, u32)>,
    /// Share of the smaller one's tokens that has a counterpart, 0 to 1.
    pub covered: f32,
    /// Whether the larger one is hardly more than the smaller one.
    pub whole: bool,
    /// Share of the smaller one's functions whose name is in the other, by tokens, 0 to 1.
    pub named: f32,
    /// Whether both are the same token by token.
    pub identical: bool,
    /// Share of the smaller one's tokens that stand in the other, 0 to 1: a counterpart counts as much
    /// as it is similar.
    pub alike: f32,
}

/// Containers that are copies of each other, all of them.
#[derive(Clone, Debug)]
pub struct ContainerClass {
    /// The containers, by place.
    pub members: Vec<Container>,
    /// The overlaps that tie them together.
    pub overlaps: Vec<Overlap>,
    /// The least share that is covered, 0 to 1.
    pub covered: f32,
    /// Whether all of them are hardly more than what they have in common.
    pub whole: bool,
}

/// Times that what could not be joined is tried again among itself.
const ROUNDS: usize = 4;

/// Joins overlaps to classes: two classes become one where at least half of their members overlap.
/// What cannot be joined makes classes of its own, so that a container may stand in several: what it
/// shares with one does not hide what it shares with another.
#[must_use]
pub fn join(overlaps: Vec<Overlap>) -> Vec<ContainerClass> {
    let known: Vec<(Container, Container)> = overlaps.iter().map(|one| one.pair).collect();
    let mut left = known.clone();
    let mut members = Vec::new();
    for _ in 0..ROUNDS {
        if left.is_empty() {
            break;
        }
        let (joined, rest) = join_once(&left, &known);
        members.extend(joined);
        left = rest;
    }
    members.extend(left.into_iter().map(|(a, b)| vec![a, b]));
    gather(members, overlaps)
}

/// A class while it comes together.
#[derive(Default)]
struct Cluster {
    members: Vec<Container>,
    /// How many of its members' overlaps are with members of another cluster, by that one's number.
    links: BTreeMap<usize, usize>,
}

/// Joins pairs, best first; the classes, and the pairs whose classes do not go together.
///
/// What two clusters have in common is counted along, and the smaller one goes into the larger one: ten
/// thousand copies of one class are joined without looking at all pairs of them again and again.
fn join_once(
    pairs: &[(Container, Container)],
    known: &[(Container, Container)],
) -> (Vec<Vec<Container>>, Vec<(Container, Container)>) {
    let mut clusters = Clusters::of(pairs);
    for (a, b) in known {
        if let Some((a, b)) = clusters.of_pair(*a, *b) {
            link(&mut clusters.all, a, b, 1);
        }
    }
    let mut left = Vec::new();
    for (a, b) in pairs {
        let pair = clusters.of_pair(*a, *b).filter(|(a, b)| a != b);
        let Some((a_in, b_in)) = pair else { continue };
        if clusters.go_together(a_in, b_in) {
            clusters.join(a_in, b_in);
        } else {
            left.push((*a, *b));
        }
    }
    // Some of what was left has come together since.
    left.retain(|(a, b)| clusters.of_member.get(a) != clusters.of_member.get(b));
    let classes = clusters.all.into_iter().map(|cluster| cluster.members);
    (classes.filter(|class| class.len() > 1).collect(), left)
}

/// Clusters, and which of them a container is in.
#[derive(Default)]
struct Clusters {
    all: Vec<Cluster>,
    of_member: FxHashMap<Container, usize>,
}

impl Clusters {
    /// Each container of the pairs alone.
    fn of(pairs: &[(Container, Container)]) -> Self {
        let mut clusters = Self::default();
        for member in pairs.iter().flat_map(|(a, b)| [*a, *b]) {
            clusters.of_member.entry(member).or_insert_with(|| {
                clusters.all.push(Cluster {
                    members: vec![member],
                    links: BTreeMap::new(),
                });
                clusters.all.len() - 1
            });
        }
        clusters
    }

    fn of_pair(&self, a: Container, b: Container) -> Option<(usize, usize)> {
        Some((*self.of_member.get(&a)?, *self.of_member.get(&b)?))
    }

    /// Whether half of the members of both overlap.
    fn go_together(&self, a: usize, b: usize) -> bool {
        let length = |at: usize| self.all.get(at).map_or(0, |one| one.members.len());
        let shared = self.all.get(a).and_then(|one| one.links.get(&b));
        shared.copied().unwrap_or(0) * 2 >= length(a) * length(b)
    }

    /// Makes one of two.
    fn join(&mut self, a: usize, b: usize) {
        let weight = |at: usize| {
            let cluster = self.all.get(at);
            cluster.map_or(0, |one| one.members.len() + one.links.len())
        };
        let (into, from) = if weight(a) >= weight(b) {
            (a, b)
        } else {
            (b, a)
        };
        let gone = self.all.get_mut(from).map(std::mem::take);
        let gone = gone.unwrap_or_default();
        let members = gone.members.iter().map(|member| (*member, into));
        self.of_member.extend(members);
        if let Some(cluster) = self.all.get_mut(into) {
            cluster.members.extend(gone.members);
        }
        self.take_links(gone.links, (from, into));
    }

    /// Gives a cluster the links of one that is gone.
    fn take_links(&mut self, links: BTreeMap<usize, usize>, (from, into): (usize, usize)) {
        for (other, count) in links {
            if let Some(other) = self.all.get_mut(other) {
                other.links.remove(&from);
            }
            if other != into {
                link(&mut self.all, into, other, count);
            }
        }
    }
}

/// Counts overlaps between two clusters.
fn link(clusters: &mut [Cluster], a: usize, b: usize, count: usize) {
    for (one, other) in [(a, b), (b, a)] {
        if let Some(cluster) = clusters.get_mut(one) {
            *cluster.links.entry(other).or_default() += count;
        }
    }
}

impl ContainerClass {
    /// The least of what its overlaps have in common, 0 to 1; 1 of what is the same throughout.
    #[must_use]
    pub fn alike(&self) -> f32 {
        let each = self.overlaps.iter().map(|overlap| overlap.alike);
        each.fold(1.0, f32::min)
    }

    /// Without members that stand in another one: a file and its own tests are one place. `None`
    /// where nothing is left that overlaps.
    #[must_use]
    pub fn outermost(mut self, corpus: &Corpus) -> Option<Self> {
        let all = self.members.clone();
        let inside = |(file, unit): &Container| {
            let units = corpus.files.get(*file as usize).map(|file| &file.units);
            let parent = |unit: u32| units.and_then(|units| units.get(unit as usize)?.parent);
            std::iter::successors(parent(*unit), |unit| parent(*unit))
                .any(|around| all.binary_search(&(*file, around)).is_ok())
        };
        self.members.retain(|member| !inside(member));
        let members = &self.members;
        let stays = |overlap: &Overlap| {
            let is_left = |one| members.binary_search(one).is_ok();
            is_left(&overlap.pair.0) && is_left(&overlap.pair.1)
        };
        self.overlaps.retain(stays);
        let covered = self.overlaps.iter().map(|overlap| overlap.covered);
        self.covered = covered.fold(1.0, f32::min);
        self.whole = self.overlaps.iter().all(|overlap| overlap.whole);
        (!self.overlaps.is_empty()).then_some(self)
    }
}

/// Gives each class the overlaps between its members.
fn gather(mut classes: Vec<Vec<Container>>, overlaps: Vec<Overlap>) -> Vec<ContainerClass> {
    for class in &mut classes {
        class.sort_unstable();
    }
    classes.sort();
    let mut classes_of: FxHashMap<Container, Vec<usize>> = FxHashMap::default();
    for (at, class) in classes.iter().enumerate() {
        for member in class {
            classes_of.entry(*member).or_default().push(at);
        }
    }
    let mut found: Vec<ContainerClass> = classes
        .into_iter()
        .map(|members| ContainerClass {
            members,
            overlaps: Vec::new(),
            covered: 1.0,
            whole: true,
        })
        .collect();
    for overlap in overlaps {
        let of = |at: &Container| classes_of.get(at).map(Vec::as_slice).unwrap_or_default();
        let (left, right) = (of(&overlap.pair.0), of(&overlap.pair.1));
        // Classes were counted upwards, so both lists are in order.
        for both in left.iter().filter(|at| right.binary_search(at).is_ok()) {
            if let Some(class) = found.get_mut(*both) {
                class.covered = class.covered.min(overlap.covered);
                class.whole &= overlap.whole;
                class.overlaps.push(overlap.clone());
            }
        }
    }
    found.retain(|class| !class.overlaps.is_empty());
    found
}

/// What containers consist of.
pub struct Contents {
    /// Entries of each container.
    entries: FxHashMap<Container, Vec<u32>>,
    /// Tokens of each container that stand in none of its parts: fields, tables.
    data: FxHashMap<Container, u32>,
}

impl Contents {
    /// The classes, `impl` blocks and modules that hold entries.
    #[must_use]
    pub fn new(corpus: &Corpus) -> Self {
        let mut entries: FxHashMap<Container, Vec<u32>> = FxHashMap::default();
        for at in 0..corpus.entries.len() {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            for container in around(corpus, at) {
                entries.entry(container).or_default().push(at);
            }
        }
        let mut data = FxHashMap::default();
        for (at, file) in corpus.files.iter().enumerate() {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            data.extend(data_of(file).map(|(unit, tokens)| ((at, unit), tokens)));
        }
        Self { entries, data }
    }

    /// The entries that stand directly or indirectly in a container; functions of functions are part
    /// of these.
    #[must_use]
    pub fn of(&self, container: Container) -> &[u32] {
        self.entries
            .get(&container)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Whether more of it stands outside of its functions than inside.
    fn is_mostly_data(&self, corpus: &Corpus, container: Container) -> bool {
        let entries: u32 = self.of(container).iter().map(|at| size(corpus, *at)).sum();
        self.data.get(&container).copied().unwrap_or(0) > entries
    }

    /// Tokens of its entries; where most of it is data, those of the data as well: it is no copy for
    /// the sake of two methods.
    fn tokens(&self, corpus: &Corpus, container: Container) -> u32 {
        let entries = self.of(container).iter().map(|at| size(corpus, *at)).sum();
        let data = self.data.get(&container).copied().unwrap_or(0);
        if data > entries {
            entries + data
        } else {
            entries
        }
    }
}

/// For each class and module, tokens that stand in no function, block or import of it.
fn data_of(file: &SourceFile) -> impl Iterator<Item = (u32, u32)> {
    let is_container = |unit: &Unit| {
        matches!(
            unit.kind,
            UnitKind::Class | UnitKind::Impl | UnitKind::Module
        )
    };
    let mut own = own_tokens(file);
    // Inner ones come later, so what they have reaches all around them.
    for (at, unit) in file.units.iter().enumerate().rev() {
        let tokens = own.get(at).copied().unwrap_or(0);
        let around = unit.parent.and_then(|parent| own.get_mut(parent as usize));
        if let Some(around) = around.filter(|_| is_container(unit)) {
            *around += tokens;
        }
    }
    let units = file.units.iter().zip(0..).zip(own);
    units.filter_map(move |((unit, at), tokens)| is_container(unit).then_some((at, tokens)))
}

/// For each unit of a file the tokens of its body that stand in no other unit.
fn own_tokens(file: &SourceFile) -> Vec<u32> {
    let bodies = file.units.iter();
    let mut own: Vec<u32> = bodies
        .map(|unit| unit.end.saturating_sub(unit.body))
        .collect();
    for unit in &file.units {
        let around = unit.parent.and_then(|parent| own.get_mut(parent as usize));
        if let Some(around) = around {
            *around = around.saturating_sub(unit.end.saturating_sub(unit.first));
        }
    }
    own
}

fn size(corpus: &Corpus, at: u32) -> u32 {
    corpus
        .entries
        .get(at as usize)
        .map_or(0, |entry| entry.size)
}

/// The class and the modules around an entry; none for what stands inside of a function.
pub(crate) fn around(corpus: &Corpus, at: u32) -> Vec<Container> {
    let Some(entry) = corpus.entries.get(at as usize) else {
        return Vec::new();
    };
    let file = corpus.file(entry);
    let mut found = Vec::new();
    let mut next = corpus.unit(entry).parent;
    while let Some(parent) = next {
        let Some(unit) = file.units.get(parent as usize) else {
            return found;
        };
        match unit.kind {
            UnitKind::Class | UnitKind::Impl | UnitKind::Module => {
                found.push((entry.file, parent));
            }
            _ => return Vec::new(),
        }
        next = unit.parent;
    }
    found
}

/// What of two containers is in one class.
#[derive(Default)]
struct Matched {
    /// Entries of one class, one of each container, and how similar its members are at least.
    pairs: Vec<(u32, u32, f32)>,
    /// Whether one of these classes is told.
    told: bool,
}

/// The containers that overlap enough to be called duplicates, best first.
#[must_use]
pub fn overlaps(corpus: &Corpus, contents: &Contents, classes: &[Class]) -> Vec<Overlap> {
    let mut matched: FxHashMap<(Container, Container), Matched> = FxHashMap::default();
    let most = MOST_PAIRS + MOST_PAIRS_OF_ENTRY * corpus.entries.len();
    'classes: for class in classes
        .iter()
        .filter(|class| class.verdict != Verdict::Sibling)
    {
        let members: Vec<(u32, Vec<Container>)> = class
            .members
            .iter()
            .map(|at| (*at, around(corpus, *at)))
            .collect();
        for (index, (a, around_a)) in members.iter().enumerate() {
            if matched.len() > most {
                break 'classes;
            }
            for (b, around_b) in members.iter().skip(index + 1).take(MATCHED) {
                for pair in same_kind(corpus, around_a, around_b) {
                    let matched = matched.entry(pair).or_default();
                    matched.pairs.push((*a, *b, class.similarity));
                    matched.told |= class.verdict == Verdict::Duplicate;
                }
            }
        }
    }
    // Code is told as the functions that it consists of.
    let mut same = identical::pairs(corpus);
    same.retain(|(left, _)| contents.is_mostly_data(corpus, *left));
    let overlap = |(pair, matched)| Overlap::new(corpus, contents, pair, matched);
    let mut overlaps: Vec<Overlap> = matched.into_iter().filter_map(overlap).collect();
    overlaps.retain(|overlap| !same.contains(&overlap.pair));
    let whole = |pair: &(Container, Container)| Overlap::identical(corpus, contents, *pair);
    overlaps.extend(same.iter().map(whole));
    overlaps.sort_by(|a, b| b.covered.total_cmp(&a.covered).then(a.pair.cmp(&b.pair)));
    overlaps
}

/// Pairs of different containers of one kind, one of each list.
fn same_kind<'l>(
    corpus: &'l Corpus,
    a: &'l [Container],
    b: &'l [Container],
) -> impl Iterator<Item = (Container, Container)> + 'l {
    a.iter().flat_map(move |left| {
        let right = b.iter().filter(move |right| {
            *left != **right
                && !b.contains(left)
                && !a.contains(right)
                && is_module(corpus, *left) == is_module(corpus, **right)
        });
        right.map(|right| (*left.min(right), *left.max(right)))
    })
}

fn is_module(corpus: &Corpus, (file, unit): Container) -> bool {
    let file = corpus.files.get(file as usize);
    let unit = file.and_then(|file| file.units.get(unit as usize));
    unit.is_some_and(|unit| unit.kind == UnitKind::Module)
}

/// The name of a class or module; `None` for what has none.
fn name_of(corpus: &Corpus, (file, unit): Container) -> Option<u32> {
    let file = corpus.files.get(file as usize)?;
    let name = file.units.get(unit as usize)?.name;
    (name != 0).then_some(name)
}

impl Overlap {
    /// Whether the two are files.
    #[must_use]
    pub const fn is_of_modules(&self) -> bool {
        self.pair.0.1 == 0 || self.pair.1.1 == 0
    }

    /// Two that are the same token by token: their entries stand for each other one by one.
    fn identical(corpus: &Corpus, contents: &Contents, pair: (Container, Container)) -> Self {
        let (left, right) = (contents.of(pair.0), contents.of(pair.1));
        let same = |a: &u32, b: &u32| size(corpus, *a) == size(corpus, *b);
        let matched = left.iter().zip(right).filter(|(a, b)| same(a, b));
        Self {
            pair,
            matched: matched.map(|(a, b)| (*a, *b)).collect(),
            covered: 1.0,
            whole: true,
            named: 1.0,
            identical: true,
            alike: 1.0,
        }
    }

    /// What matches of two containers; `None` when it is too little to speak of.
    fn new(
        corpus: &Corpus,
        contents: &Contents,
        pair: (Container, Container),
        matched: Matched,
    ) -> Option<Self> {
        let told = matched.told;
        let similarity = matched.pairs.iter();
        let similarity = similarity.map(|(a, b, similarity)| ((*a, *b), *similarity));
        let similarity: FxHashMap<(u32, u32), f32> = similarity.collect();
        let mut pairs: Vec<(u32, u32)> = similarity.keys().copied().collect();
        pairs.extend(small_equals(corpus, contents, pair));
        let matched = one_to_one(corpus, &pairs);
        let left = contents.tokens(corpus, pair.0);
        let right = contents.tokens(corpus, pair.1);
        let smaller = left.min(right).max(1) as f32;
        let tokens = matched
            .iter()
            .map(|pair| shared(corpus, *pair))
            .sum::<u32>();
        let covered = tokens as f32 / smaller;
        let alike = matched.iter().map(|pair| {
            let similarity = similarity.get(pair).copied().unwrap_or(1.0);
            shared(corpus, *pair) as f32 * similarity
        });
        let alike = (alike.sum::<f32>() / smaller).min(ALMOST);
        // Where none of what matches is worth telling, all of it together is if it is everything.
        let name = name_of(corpus, pair.0);
        let namesakes = name.is_some() && name == name_of(corpus, pair.1);
        let worth = told || (covered >= EVERYTHING && (namesakes || tokens >= TOGETHER));
        let (few, many) = if left <= right {
            pair
        } else {
            (pair.1, pair.0)
        };
        let named = named(corpus, contents.of(few), contents.of(many)) / smaller;
        let several = matched.len() >= 2;
        let enough = covered >= COVERED
            || is_enough_by_own_names(corpus, &matched, (smaller, named), is_module(corpus, few));
        // Types of one file are several on purpose: then half of the text has to be the same.
        let apart = pair.0.0 != pair.1.0 || covered >= COVERED;
        (several && enough && apart && worth).then_some(Self {
            pair,
            matched,
            covered: covered.min(1.0),
            whole: covered >= 0.8 && smaller >= 0.6 * left.max(right) as f32,
            named,
            identical: false,
            alike,
        })
    }
}

/// The tokens that two entries have in common at most.
fn shared(corpus: &Corpus, (a, b): (u32, u32)) -> u32 {
    size(corpus, a).min(size(corpus, b))
}

/// Whether what matches is enough by the entries whose names are their own, of containers of which the smaller has
/// so many tokens and the names of such a share are the other's too.
fn is_enough_by_own_names(
    corpus: &Corpus,
    matched: &[(u32, u32)],
    (smaller, named): (f32, f32),
    is_module: bool,
) -> bool {
    let own = matched.iter().filter(|(a, _)| is_own_name(corpus, *a));
    let count = own.clone().count();
    let covered = own.map(|pair| shared(corpus, *pair)).sum::<u32>() as f32 / smaller;
    (covered >= COVERED_BY_TEXT && named >= COVERED)
        || (covered >= COVERED_BY_MANY && count >= MANY && !is_module)
}

/// Entries of two containers that are equal and have one name, those too that are too little to be
/// told or compared: what they stand in is the same by them.
fn small_equals(
    corpus: &Corpus,
    contents: &Contents,
    pair: (Container, Container),
) -> Vec<(u32, u32)> {
    let key = |at: &u32| {
        let entry = corpus.entries.get(*at as usize)?;
        let name = corpus.unit(entry).name;
        (name != 0).then_some(((name, entry.exact, entry.size), *at))
    };
    let by_text: FxHashMap<_, u32> = contents.of(pair.1).iter().filter_map(key).collect();
    let left = contents.of(pair.0).iter().filter_map(key);
    left.filter_map(|(text, at)| Some((at, *by_text.get(&text)?)))
        .collect()
}

/// Whether the name of an entry was made for what it does.
fn is_own_name(corpus: &Corpus, at: u32) -> bool {
    let entry = corpus.entries.get(at as usize);
    entry.is_some_and(|entry| entry.namesakes <= OWN_NAME)
}

/// Each entry with one counterpart at most: those of the same name first, then larger ones.
fn one_to_one(corpus: &Corpus, matched: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let name = |at: u32| {
        corpus
            .entries
            .get(at as usize)
            .map_or(0, |entry| corpus.unit(entry).name)
    };
    let mut order: Vec<(u32, u32)> = matched.to_vec();
    order.sort_by_key(|(a, b)| {
        let tokens = size(corpus, *a).min(size(corpus, *b));
        (name(*a) != name(*b), std::cmp::Reverse(tokens), *a, *b)
    });
    let mut taken: FxHashSet<u32> = FxHashSet::default();
    let mut kept: Vec<(u32, u32)> = Vec::new();
    for (a, b) in order {
        if !taken.contains(&a) && !taken.contains(&b) {
            taken.extend([a, b]);
            kept.push((a, b));
        }
    }
    kept.sort_unstable();
    kept
}

/// Tokens of functions in `few` whose name a function in `many` has too.
fn named(corpus: &Corpus, few: &[u32], many: &[u32]) -> f32 {
    let name = |at: &u32| {
        corpus
            .entries
            .get(*at as usize)
            .map_or(0, |entry| corpus.unit(entry).name)
    };
    let mut names: Vec<u32> = many.iter().map(name).collect();
    names.sort_unstable();
    let shared = few.iter().filter(|at| {
        let own = name(at);
        own != 0 && names.binary_search(&own).is_ok()
    });
    shared.map(|at| size(corpus, *at)).sum::<u32>() as f32
}
