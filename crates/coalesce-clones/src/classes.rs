//! From pairs to classes: every copy once, with all its members.
//!
//! Pairs are joined in order of their similarity. Two classes become one only where most of their
//! members are copies of each other, and no two of them are clearly siblings; so a chain of small
//! differences does not tie together what is not alike.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    corpus::Corpus,
    evidence::Room,
    grams::{Pair, Runs},
    likelihood::{NEARLY, together, told_together_from},
    pairs::{self, Groups, Judged},
    verdict::Verdict,
};

/// Members of a class that are compared with those of another before both are joined.
const SAMPLED: usize = 6;

/// Fewer files with the same are pairs.
const FEW_FILES: usize = 3;

/// A pair below this similarity joins classes only where all of their members are copies.
const LOOSE: f32 = 0.6;

/// Units that are copies of each other.
#[derive(Clone, Debug)]
pub struct Class {
    /// Entries, by place.
    pub members: Vec<u32>,
    /// The least similarity that made a member part of it, 0 to 1.
    pub similarity: f32,
    /// How likely a maintainer calls it duplicated, 0 to 1: the mean of the pairs that made it.
    pub likelihood: f32,
    /// What its members are to each other.
    pub verdict: Verdict,
}

/// Classes of duplicates, of copies that are nothing to tell alone, and of siblings among those that
/// are neither.
#[must_use]
pub fn classes(corpus: &Corpus, runs: &Runs, groups: &Groups, compared: &[Judged]) -> Vec<Class> {
    let mut joining = Joining::new(corpus, runs, groups, compared);
    let mut left: Vec<&Judged> = Vec::new();
    for verdict in [Verdict::Duplicate, Verdict::Minor] {
        let mut order: Vec<&Judged> = compared
            .iter()
            .filter(|compared| compared.verdict == verdict)
            .collect();
        order.sort_by(|a, b| b.sureness.total_cmp(&a.sureness).then(a.pair.cmp(&b.pair)));
        left.extend(order.into_iter().filter(|compared| !joining.join(compared)));
    }
    // What is nothing to tell alone stays apart from what is, but where all of it is told it is one thing.
    left.retain(|compared| compared.verdict != Verdict::Duplicate || !joining.join_told(compared));
    let mut classes = joining.classes(groups);
    classes.extend(left_over(groups, &left));
    let siblings = compared
        .iter()
        .filter(|compared| compared.verdict == Verdict::Sibling);
    classes.extend(sibling_classes(groups, siblings));
    classes
}

/// Representatives that were joined.
#[derive(Clone, Debug)]
struct Joined {
    /// The representatives; none once they were joined to others.
    members: Vec<u32>,
    /// The least similarity of a pair that joined them.
    similarity: f32,
    /// Likelihoods of the pairs that joined them, and how many these are.
    likelihoods: (f32, u32),
    /// Whether one of these pairs is told.
    told: bool,
}

impl Joined {
    /// A group whose members are the same.
    fn group(corpus: &Corpus, group: &[u32]) -> Self {
        let equals = match group {
            [a, b, ..] => pairs::of_equals(corpus, (*a, *b)),
            _ => None,
        };
        let likelihood = equals.map(|equals| equals.likelihood);
        Self {
            members: group.first().copied().into_iter().collect(),
            similarity: 1.0,
            likelihoods: likelihood.map_or((0.0, 0), |likelihood| (likelihood, 1)),
            told: equals.is_some_and(|equals| equals.verdict == Verdict::Duplicate),
        }
    }
}

struct Joining<'c> {
    corpus: &'c Corpus,
    runs: &'c Runs,
    /// Class of a representative.
    class_of: FxHashMap<u32, usize>,
    joined: Vec<Joined>,
    /// What was compared, sorted by pair.
    compared: &'c [Judged],
    /// What other pairs are, and how likely.
    others: FxHashMap<Pair, (Verdict, f32)>,
    room: Room,
}

impl<'c> Joining<'c> {
    fn new(corpus: &'c Corpus, runs: &'c Runs, groups: &Groups, compared: &'c [Judged]) -> Self {
        let groups = groups.groups.par_iter();
        let joined: Vec<Joined> = groups.map(|group| Joined::group(corpus, group)).collect();
        let representatives = joined.iter().filter_map(|group| group.members.first());
        Self {
            corpus,
            runs,
            class_of: representatives.copied().zip(0..).collect(),
            joined,
            compared,
            others: FxHashMap::default(),
            room: Room::default(),
        }
    }

    /// The classes of a pair, the first one first, where these are two.
    fn two_classes(&self, (a, b): Pair) -> Option<(usize, usize)> {
        let (left, right) = (*self.class_of.get(&a)?, *self.class_of.get(&b)?);
        (left != right).then(|| (left.min(right), left.max(right)))
    }

    /// Joins the classes of a pair; false when they do not go together.
    fn join(&mut self, compared: &Judged) -> bool {
        let Some((left, right)) = self.two_classes(compared.pair) else {
            return true;
        };
        let told = |at: usize| self.joined.get(at).is_some_and(|class| class.told);
        // What is nothing to tell does not come in with what is.
        if compared.likelihood < NEARLY && (told(left) || told(right)) {
            return false;
        }
        // What only stands inside of the other ties nothing else together.
        let loose = compared.similarity < LOOSE;
        self.go_together(left, right, loose) && self.make_one(compared, (left, right))
    }

    /// Joins the classes of a pair where each two members of both are told as copies; false otherwise.
    fn join_told(&mut self, compared: &Judged) -> bool {
        let Some((left, right)) = self.two_classes(compared.pair) else {
            return true;
        };
        let pairs = self.sampled_pairs(left, right);
        let mut told = |pair: &Pair| self.verdict(*pair).0 == Verdict::Duplicate;
        pairs.iter().all(&mut told) && self.make_one(compared, (left, right))
    }

    /// Makes one class of two, which a pair ties.
    fn make_one(&mut self, compared: &Judged, (left, right): (usize, usize)) -> bool {
        let gone = self.joined.get_mut(right).map(|class| Joined {
            members: std::mem::take(&mut class.members),
            ..class.clone()
        });
        let (Some(gone), Some(class)) = (gone, self.joined.get_mut(left)) else {
            return false;
        };
        for member in &gone.members {
            self.class_of.insert(*member, left);
        }
        class.members.extend(gone.members);
        let similarity = compared.similarity.min(gone.similarity);
        class.similarity = class.similarity.min(similarity);
        class.likelihoods.0 += gone.likelihoods.0 + compared.likelihood;
        class.likelihoods.1 += gone.likelihoods.1 + 1;
        class.told |= gone.told || compared.verdict == Verdict::Duplicate;
        true
    }

    /// Members of two classes, each with each; of large ones the first.
    fn sampled_pairs(&self, left: usize, right: usize) -> Vec<Pair> {
        let sample = |at: usize| {
            let members = self.joined.get(at).map(|class| class.members.as_slice());
            members.unwrap_or_default().iter().take(SAMPLED)
        };
        let each = sample(left).flat_map(|a| sample(right).map(move |b| (*a.min(b), *a.max(b))));
        each.collect()
    }

    fn go_together(&mut self, left: usize, right: usize, loose: bool) -> bool {
        let pairs = self.sampled_pairs(left, right);
        let (mut duplicates, mut siblings) = (0, 0);
        for pair in &pairs {
            match self.verdict(*pair) {
                (Verdict::Duplicate | Verdict::Minor, _) => duplicates += 1,
                (Verdict::Sibling, likelihood) if likelihood >= NEARLY => duplicates += 1,
                (Verdict::Sibling, _) => siblings += 1,
                (Verdict::Unrelated, _) => {}
            }
        }
        if loose {
            duplicates == pairs.len()
        } else {
            duplicates * 2 >= pairs.len() && siblings * 4 <= pairs.len()
        }
    }

    fn verdict(&mut self, pair: Pair) -> (Verdict, f32) {
        let known = self.compared.binary_search_by_key(&pair, |one| one.pair);
        if let Some(known) = known.ok().and_then(|at| self.compared.get(at)) {
            return (known.verdict, known.likelihood);
        }
        if let Some(known) = self.others.get(&pair) {
            return *known;
        }
        let compared = pairs::compare_one(self.corpus, self.runs, pair, &mut self.room);
        let verdict = compared.map_or((Verdict::Unrelated, 0.0), |compared| {
            (compared.verdict, compared.likelihood)
        });
        self.others.insert(pair, verdict);
        verdict
    }

    fn classes(&self, groups: &Groups) -> Vec<Class> {
        let by_first = by_first(groups);
        let classes = self.joined.iter().map(|class| {
            let members = expand(&class.members, &by_first);
            let likelihood = class.likelihoods.0 / class.likelihoods.1.max(1) as f32;
            Class {
                verdict: if class.told || self.are_told_together(&members, likelihood) {
                    Verdict::Duplicate
                } else {
                    Verdict::Minor
                },
                members,
                similarity: class.similarity,
                likelihood,
            }
        });
        classes.filter(|class| class.members.len() > 1).collect()
    }

    /// Whether copies of which no two are worth a word are so all together: in several files, tests
    /// aside.
    fn are_told_together(&self, members: &[u32], likelihood: f32) -> bool {
        let entries = members
            .iter()
            .filter_map(|at| self.corpus.entries.get(*at as usize));
        let entries: Vec<_> = entries.filter(|entry| !entry.tests).collect();
        let files: FxHashSet<u32> = entries.iter().map(|entry| entry.file).collect();
        let Some(first) = entries.first().filter(|_| files.len() >= FEW_FILES) else {
            return false;
        };
        let from = told_together_from(self.corpus.language(first));
        together(likelihood, files.len()) >= from
    }
}

/// All entries of the groups that representatives stand for, by place.
fn expand(representatives: &[u32], by_first: &FxHashMap<u32, &[u32]>) -> Vec<u32> {
    let groups = representatives.iter().filter_map(|at| by_first.get(at));
    let mut members: Vec<u32> = groups.flat_map(|group| group.iter().copied()).collect();
    members.sort_unstable();
    members
}

fn by_first(groups: &Groups) -> FxHashMap<u32, &[u32]> {
    let groups = groups.groups.iter();
    groups
        .filter_map(|group| Some((*group.first()?, group.as_slice())))
        .collect()
}

/// Pairs whose classes could not be joined are a class of their own: no copy is passed over, and what
/// stands around both is matched by all that is the same in them, whatever else there is.
fn left_over(groups: &Groups, left: &[&Judged]) -> Vec<Class> {
    let by_first = by_first(groups);
    let class = |compared: &&Judged| {
        let (a, b) = compared.pair;
        Class {
            members: expand(&[a, b], &by_first),
            similarity: compared.similarity,
            likelihood: compared.likelihood,
            verdict: compared.verdict,
        }
    };
    left.iter().map(class).collect()
}

/// Siblings, joined as they come: what looks alike to one looks alike to all.
fn sibling_classes<'p>(groups: &Groups, pairs: impl Iterator<Item = &'p Judged>) -> Vec<Class> {
    let by_first = by_first(groups);
    let mut class_of: FxHashMap<u32, usize> = FxHashMap::default();
    let mut classes: Vec<Class> = Vec::new();
    for compared in pairs {
        let (a, b) = compared.pair;
        let similarity = compared.similarity;
        let (at, new) = match (class_of.get(&a).copied(), class_of.get(&b).copied()) {
            (None, None) => {
                class_of.extend([(a, classes.len()), (b, classes.len())]);
                classes.push(Class {
                    members: vec![a, b],
                    similarity,
                    likelihood: compared.likelihood,
                    verdict: Verdict::Sibling,
                });
                continue;
            }
            (Some(at), None) => (at, b),
            (None, Some(at)) => (at, a),
            (Some(_), Some(_)) => continue,
        };
        class_of.insert(new, at);
        if let Some(class) = classes.get_mut(at) {
            class.members.push(new);
            class.similarity = class.similarity.min(similarity);
            class.likelihood = class.likelihood.min(compared.likelihood);
        }
    }
    for class in &mut classes {
        class.members = expand(&class.members, &by_first);
    }
    classes
}
