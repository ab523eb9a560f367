//! From pairs to classes: every copy once, with all its members.
//!
//! Pairs are joined in order of their similarity. Two classes become one only where most of their
//! members are copies of each other, and no two of them are known to be siblings; so a chain of small
//! differences does not tie together what is not alike.

use rustc_hash::FxHashMap;

use crate::{
    corpus::Corpus,
    grams::{Pair, Runs},
    lcs::Lcs,
    pairs::{self, Compared, Groups},
    verdict::Verdict,
};

/// Members of a class that are compared with those of another before both are joined.
const SAMPLED: usize = 6;

/// A pair below this similarity joins classes only where all of their members are copies.
const LOOSE: f32 = 0.6;

/// Units that are copies of each other.
#[derive(Clone, Debug)]
pub struct Class {
    /// Entries, by place.
    pub members: Vec<u32>,
    /// The least similarity that made a member part of it, 0 to 1.
    pub similarity: f32,
    /// Whether members only look alike.
    pub sibling: bool,
}

/// Classes of duplicates, and of siblings among those that are no duplicates.
#[must_use]
pub fn classes(corpus: &Corpus, runs: &Runs, groups: &Groups, compared: &[Compared]) -> Vec<Class> {
    let mut known: FxHashMap<Pair, Verdict> = FxHashMap::default();
    known.extend(
        compared
            .iter()
            .map(|compared| (compared.pair, compared.verdict)),
    );
    let mut joining = Joining::new(corpus, runs, groups, known);
    let mut order: Vec<&Compared> = compared
        .iter()
        .filter(|compared| compared.verdict == Verdict::Duplicate)
        .collect();
    order.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.pair.cmp(&b.pair)));
    let mut left = Vec::new();
    for compared in order {
        if !joining.join(compared) {
            left.push(compared);
        }
    }
    let mut classes = joining.duplicates(groups);
    classes.extend(left_over(groups, &left, &classes));
    let siblings = compared
        .iter()
        .filter(|compared| compared.verdict == Verdict::Sibling);
    classes.extend(sibling_classes(groups, siblings));
    classes
}

/// How sure a pair is.
fn score(compared: &Compared) -> f32 {
    let evidence = &compared.evidence;
    evidence.similarity() + evidence.alike() + f32::from(u8::from(evidence.same_name)) * 0.5
}

struct Joining<'c> {
    corpus: &'c Corpus,
    runs: &'c Runs,
    /// Class of a representative.
    class_of: FxHashMap<u32, usize>,
    /// Representatives of each class; empty once it was joined to another.
    members: Vec<Vec<u32>>,
    similarity: Vec<f32>,
    known: FxHashMap<Pair, Verdict>,
    lcs: Lcs,
}

impl<'c> Joining<'c> {
    fn new(
        corpus: &'c Corpus,
        runs: &'c Runs,
        groups: &Groups,
        known: FxHashMap<Pair, Verdict>,
    ) -> Self {
        let representatives = groups.representatives();
        Self {
            corpus,
            runs,
            class_of: representatives.iter().copied().zip(0..).collect(),
            similarity: vec![1.0; representatives.len()],
            members: representatives.into_iter().map(|at| vec![at]).collect(),
            known,
            lcs: Lcs::default(),
        }
    }

    /// Joins the classes of a pair; false when they do not go together.
    fn join(&mut self, compared: &Compared) -> bool {
        let (a, b) = compared.pair;
        let (Some(left), Some(right)) = (self.class_of.get(&a), self.class_of.get(&b)) else {
            return true;
        };
        let (left, right) = (*left.min(right), *left.max(right));
        if left == right {
            return true;
        }
        // What only stands inside of the other ties nothing else together.
        let loose = compared.evidence.similarity() < LOOSE;
        if !self.go_together(left, right, loose) {
            return false;
        }
        let moved = self
            .members
            .get_mut(right)
            .map(std::mem::take)
            .unwrap_or_default();
        for member in &moved {
            self.class_of.insert(*member, left);
        }
        if let Some(members) = self.members.get_mut(left) {
            members.extend(moved);
        }
        let least = [left, right].map(|at| self.similarity.get(at).copied().unwrap_or(1.0));
        if let Some(similarity) = self.similarity.get_mut(left) {
            *similarity = least[0].min(least[1]).min(compared.evidence.similarity());
        }
        true
    }

    fn go_together(&mut self, left: usize, right: usize, loose: bool) -> bool {
        let sample = |at: usize| -> Vec<u32> {
            let members = self.members.get(at).map(Vec::as_slice).unwrap_or_default();
            members.iter().take(SAMPLED).copied().collect()
        };
        let (left, right) = (sample(left), sample(right));
        let (mut duplicates, mut all) = (0, 0);
        for a in &left {
            for b in &right {
                all += 1;
                match self.verdict((*a.min(b), *a.max(b))) {
                    Verdict::Duplicate => duplicates += 1,
                    Verdict::Sibling => return false,
                    Verdict::Unrelated => {}
                }
            }
        }
        if loose {
            duplicates == all
        } else {
            duplicates * 2 >= all
        }
    }

    fn verdict(&mut self, pair: Pair) -> Verdict {
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        let compared = pairs::compare_one(self.corpus, self.runs, pair, &mut self.lcs);
        let verdict = compared.map_or(Verdict::Unrelated, |compared| compared.verdict);
        self.known.insert(pair, verdict);
        verdict
    }

    fn duplicates(&self, groups: &Groups) -> Vec<Class> {
        let by_first = by_first(groups);
        let classes = self.members.iter().zip(&self.similarity);
        let classes = classes.map(|(members, similarity)| Class {
            members: expand(members, &by_first),
            similarity: *similarity,
            sibling: false,
        });
        classes.filter(|class| class.members.len() > 1).collect()
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

/// Pairs whose classes could not be joined, each with one side that is in no class: they are a class
/// of their own, so that no copy is passed over.
fn left_over(groups: &Groups, left: &[&Compared], classes: &[Class]) -> Vec<Class> {
    let by_first = by_first(groups);
    let mut placed: FxHashMap<u32, usize> = FxHashMap::default();
    for (at, class) in classes.iter().enumerate() {
        placed.extend(class.members.iter().map(|member| (*member, at)));
    }
    let mut added = Vec::new();
    for compared in left {
        let (a, b) = compared.pair;
        if placed.contains_key(&a) && placed.contains_key(&b) {
            continue;
        }
        for member in [a, b] {
            placed.entry(member).or_insert(usize::MAX);
        }
        added.push(Class {
            members: expand(&[a, b], &by_first),
            similarity: compared.evidence.similarity(),
            sibling: false,
        });
    }
    added
}

/// Siblings, joined as they come: what looks alike to one looks alike to all.
fn sibling_classes<'p>(groups: &Groups, pairs: impl Iterator<Item = &'p Compared>) -> Vec<Class> {
    let by_first = by_first(groups);
    let mut class_of: FxHashMap<u32, usize> = FxHashMap::default();
    let mut classes: Vec<(Vec<u32>, f32)> = Vec::new();
    for compared in pairs {
        let (a, b) = compared.pair;
        let similarity = compared.evidence.similarity();
        let (at, new) = match (class_of.get(&a).copied(), class_of.get(&b).copied()) {
            (None, None) => {
                classes.push((vec![a, b], similarity));
                class_of.extend([(a, classes.len() - 1), (b, classes.len() - 1)]);
                continue;
            }
            (Some(at), None) => (at, b),
            (None, Some(at)) => (at, a),
            (Some(_), Some(_)) => continue,
        };
        class_of.insert(new, at);
        if let Some(class) = classes.get_mut(at) {
            class.0.push(new);
            class.1 = class.1.min(similarity);
        }
    }
    let class = |(members, similarity): (Vec<u32>, f32)| Class {
        members: expand(&members, &by_first),
        similarity,
        sibling: true,
    };
    classes.into_iter().map(class).collect()
}
