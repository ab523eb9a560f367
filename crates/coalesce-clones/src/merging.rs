//! How likely it is that a maintainer who is shown some places merges them.
//!
//! That two texts are copies ([`crate::likelihood`]) is half of an answer: methods that an interface
//! asks for, the same shape around other calls, and what is too short for anybody to care are copies
//! that nobody wants gone. This is the other half, and it decides what a page says first. What tells
//! them apart is how much is the same in the same words: statements, and decisions among them. It is
//! a logistic function too, of what the texts of a class are to each other and of nothing else; its
//! weights are fitted to readings of classes and to pairs that maintainers merged or keep apart
//! (`cargo xtask weights DIRECTORY --merging`).

use rustc_hash::FxHashMap;
use similar::DiffOp;

use crate::{
    align,
    common::{self, Role},
    corpus::Composition,
    source::{SourceFile, Unit},
};

/// What is known of a class, as far as it is weighed.
pub const FEATURES: usize = 2;

/// What is added for a class of which nothing is known, and the weight of each feature.
const BASE: f32 = -1.440;
const WEIGHTS: [f32; FEATURES] = [0.516, 0.521];

/// From which likelihood on a class is among what a page says first: where four of five that were
/// read are merged, in trees that the weights were not fitted to.
pub const FIRST: f32 = 0.6;

/// Members that are compared with the first one: what holds of these holds of a class.
const COMPARED: usize = 6;
/// Statements of a unit that are aligned.
const ALIGNED: usize = 1_500;

/// A unit in its file.
pub type Place<'f> = (&'f SourceFile, &'f Unit);

/// The likelihood, 0 to 1.
#[must_use]
pub fn likelihood(members: &[Place<'_>]) -> f32 {
    let weighed = WEIGHTS.iter().zip(features(members));
    let sum = BASE
        + weighed
            .map(|(weight, feature)| weight * feature)
            .sum::<f32>();
    1.0 / (1.0 + (-sum).exp())
}

/// What is weighed of a class: for each feature the mean over its first members, each beside the first.
/// Counts are taken as logarithms.
#[must_use]
pub fn features(members: &[Place<'_>]) -> [f32; FEATURES] {
    let mut means = [0.0; FEATURES];
    let Some((first, others)) = members.split_first() else {
        return means;
    };
    let first = MeasuredText::new(first);
    let others = others.iter().take(COMPARED);
    let count = others.len().max(1) as f32;
    for other in others {
        let of_pair = of_pair(&first, &MeasuredText::new(other));
        for (mean, feature) in means.iter_mut().zip(of_pair) {
            *mean += feature / count;
        }
    }
    means
}

/// What is asked of one text again and again.
struct MeasuredText {
    statements: Vec<align::Statement>,
    /// Names, keys and numbers that the unit did not make, with their weights.
    words: FxHashMap<u32, f32>,
    composition: Composition,
}

impl MeasuredText {
    fn new((file, unit): &Place<'_>) -> Self {
        let body = file.body_of(unit);
        let mut statements = align::statements(file, unit);
        statements.truncate(ALIGNED);
        let roles = body.iter().filter_map(|token| {
            let role = Role::of(token).filter(|role| *role != Role::Local)?;
            Some(role.id(token.id))
        });
        let mut words = FxHashMap::default();
        for id in roles {
            words
                .entry(id)
                .or_insert_with(|| common::weight(file.language, id));
        }
        Self {
            statements,
            words,
            composition: Composition::new(body),
        }
    }
}

fn of_pair(a: &MeasuredText, b: &MeasuredText) -> [f32; FEATURES] {
    let equal = |part: &DiffOp| match part {
        DiffOp::Equal { len, .. } => *len,
        _ => 0,
    };
    let parts = align::align(&a.statements, &b.statements);
    let common: usize = parts.iter().map(equal).sum();
    let many = a.statements.len().max(b.statements.len()).max(1);
    // What both say in the same words: either alone is what an interface or a trade has in common.
    let same = (common as f32 / many as f32).min(alike(&a.words, &b.words));
    let control = a.composition.least(b.composition).control;
    [
        (common as f32).ln_1p() * same,
        (control as f32).ln_1p() * same,
    ]
}

/// The weight of the words that both have, of all that one has.
fn alike(a: &FxHashMap<u32, f32>, b: &FxHashMap<u32, f32>) -> f32 {
    let sum = |of: &FxHashMap<u32, f32>| of.values().sum::<f32>();
    let both = a.iter().filter(|(id, _)| b.contains_key(id));
    let both = both.map(|(_, weight)| weight).sum::<f32>();
    let all = sum(a) + sum(b) - both;
    if all > 0.0 { both / all } else { 0.0 }
}
