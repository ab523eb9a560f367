//! How likely it is that a maintainer who is shown some places merges them.
//!
//! That two texts are copies ([`crate::likelihood`]) is half of an answer: methods that an interface
//! asks for, the same shape around other calls, and what is too short for anybody to care are copies
//! that nobody wants gone. This is the other half; what a page says first is weighed by [`crate::acting`]. What tells
//! them apart is how much is the same in the same words: statements, and decisions among them. It is
//! a logistic function too, of what the texts of a class are to each other and of nothing else; its
//! weights are fitted to readings of classes and to pairs that maintainers merged or keep apart
//! (`cargo xtask weights DIRECTORY --merging`).

use coalesce_model::outline::marks;
use rustc_hash::FxHashMap;
use similar::DiffOp;

use crate::{
    align,
    common::{self, Role},
    corpus::Composition,
    lcs::Lcs,
    likelihood::logistic,
    likeness::{self, Stretch},
    renaming,
    source::{SourceFile, Token, Unit},
    substitution,
};

/// What is known of a class, as far as it is weighed.
pub const FEATURES: usize = 2;

/// What is added for a class of which nothing is known, and the weight of each feature.
const BASE: f32 = -1.440;
const WEIGHTS: [f32; FEATURES] = [0.516, 0.521];

/// Members that are compared with the first one: what holds of these holds of a class.
const COMPARED: usize = 6;
/// Statements of a unit that are aligned.
const ALIGNED: usize = 1_500;

/// A unit in its file.
pub type Place<'f> = (&'f SourceFile, &'f Unit);

/// What the texts of a class are to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measure {
    /// What is weighed for the likelihood; counts are taken as logarithms.
    pub features: [f32; FEATURES],
    /// Tokens of the statements that two members have in common, of all that one has, 0 to 1.
    pub share: f32,
    /// Tokens of the statements that two members have in common.
    pub common: f32,
    /// Places where one goes on otherwise than the other, or has words of its own.
    pub breaks: f32,
    /// Words that decide what runs, of the one that has fewer of them.
    pub decisions: f32,
    /// The most lines in a row that two members have, as they are written.
    pub run: f32,
    /// Statements that two members have in common.
    pub statements: f32,
    /// Calls, of the one that has fewer of them.
    pub calls: f32,
    /// Whether several files have it and comments of one say whose text it is (see the module `attribution`).
    pub attributed: bool,
}

impl Measure {
    /// What the first member is to each of the next ones, the mean of it.
    #[must_use]
    pub fn new(members: &[Place<'_>]) -> Self {
        let mut mean = Self::default();
        let Some((first, others)) = members.split_first() else {
            return mean;
        };
        let first = MeasuredText::new(first);
        let others = others.iter().take(COMPARED);
        let count = others.len().max(1) as f32;
        for other in others {
            mean.add(&of_pair(&first, &MeasuredText::new(other)), 1.0 / count);
        }
        mean
    }

    fn add(&mut self, other: &Self, times: f32) {
        for (mean, feature) in self.features.iter_mut().zip(other.features) {
            *mean += feature * times;
        }
        self.share += other.share * times;
        self.common += other.common * times;
        self.breaks += other.breaks * times;
        self.decisions += other.decisions * times;
        self.run += other.run * times;
        self.statements += other.statements * times;
        self.calls += other.calls * times;
    }

    /// How like it is to code that maintainers merged, 0 to 1.
    #[must_use]
    pub fn likelihood(&self) -> f32 {
        logistic(BASE, &WEIGHTS, &self.features)
    }

    /// Whether the texts do not differ at all.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.breaks == 0.0 && self.share > 0.0
    }

    /// Tokens that go where one of so many copies stays.
    #[must_use]
    pub fn gain(&self, places: usize) -> f32 {
        self.common * places.saturating_sub(1) as f32
    }
}

/// What is asked of one text again and again.
struct MeasuredText<'f> {
    /// The text of the body.
    body: substitution::Text<'f>,
    statements: Vec<align::Statement>,
    /// Names, keys and numbers that the unit did not make, with their weights.
    words: FxHashMap<u32, f32>,
    composition: Composition,
    /// Its lines, as they are written, as numbers.
    lines: Vec<u32>,
    calls: usize,
}

impl<'f> MeasuredText<'f> {
    fn new((file, unit): &Place<'f>) -> Self {
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
            body: (file, body),
            statements,
            words,
            composition: Composition::new(body),
            lines: likeness::lines_of_code(file, body),
            calls: body.iter().filter(|token| token.has(marks::CALLEE)).count(),
        }
    }

    /// Tokens of its statements.
    fn tokens(&self) -> u32 {
        self.statements.iter().map(size).sum()
    }
}

/// Tokens of a statement.
const fn size(statement: &align::Statement) -> u32 {
    statement.tokens.1 - statement.tokens.0
}

fn of_pair(a: &MeasuredText<'_>, b: &MeasuredText<'_>) -> Measure {
    let parts = align::align(&a.statements, &b.statements);
    let equal = parts.iter().filter_map(|part| match part {
        DiffOp::Equal { old_index, len, .. } => a.statements.get(*old_index..*old_index + *len),
        _ => None,
    });
    let equal: Vec<&[align::Statement]> = equal.collect();
    let torn = renaming::torn((a.body.0, &a.statements), (b.body.0, &b.statements), &parts);
    let common = equal.iter().map(|run| run.len()).sum::<usize>() - torn.len();
    let torn_tokens = torn.iter().filter_map(|(at, _)| a.statements.get(*at));
    let torn_tokens: u32 = torn_tokens.map(size).sum();
    let tokens = equal.iter().copied().flatten().map(size).sum::<u32>() - torn_tokens;
    let many = a.statements.len().max(b.statements.len()).max(1);
    // What both say in the same words: either alone is what an interface or a trade has in common.
    let same = (common as f32 / many as f32).min(alike(&a.words, &b.words));
    let control = a.composition.least(b.composition).control;
    let (share, tokens) = in_common(a, b, tokens);
    let measure = Measure {
        features: [
            (common as f32).ln_1p() * same,
            (control as f32).ln_1p() * same,
        ],
        share,
        common: tokens,
        breaks: (parts.len() - equal.len() + torn.len()) as f32,
        decisions: control as f32,
        run: Stretch::default().length(&a.lines, &b.lines) as f32,
        statements: common as f32,
        calls: a.calls.min(b.calls) as f32,
        attributed: false,
    };
    if measure.breaks == 0.0 {
        return measure;
    }
    // One text with other words in it differs in these words and in nothing else.
    match substitution::pairs_between(a.body, b.body) {
        Some(pairs) => Measure {
            share: 1.0,
            common: a.tokens() as f32,
            breaks: pairs as f32,
            ..measure
        },
        None => measure,
    }
}

/// Tokens of a text in which a changed word makes a whole statement another one that counts.
const SHORT: usize = 600;
/// From this share of their tokens on, short texts are one whatever their statements say.
const ALMOST: f32 = 0.9;

/// How much is in common, of all that one has and in tokens: those of equal statements, `tokens`, and of
/// short texts that hardly differ all that both have in one order.
fn in_common(a: &MeasuredText<'_>, b: &MeasuredText<'_>, tokens: u32) -> (f32, f32) {
    let tokens = tokens as f32;
    let share = tokens / a.tokens().max(b.tokens()).max(1) as f32;
    let longer = a.body.1.len().max(b.body.1.len());
    if longer > SHORT || share >= ALMOST {
        return (share, tokens);
    }
    let blind =
        |text: substitution::Text<'_>| -> Vec<u32> { text.1.iter().map(Token::blind).collect() };
    let common = Lcs::default().length(&blind(a.body), &blind(b.body)) as f32;
    let of_all = common / longer.max(1) as f32;
    if of_all >= ALMOST {
        (of_all, common)
    } else {
        (share, tokens)
    }
}

/// The weight of the words that both have, of all that one has.
fn alike(a: &FxHashMap<u32, f32>, b: &FxHashMap<u32, f32>) -> f32 {
    let sum = |of: &FxHashMap<u32, f32>| of.values().sum::<f32>();
    let both = a.iter().filter(|(id, _)| b.contains_key(id));
    let both = both.map(|(_, weight)| weight).sum::<f32>();
    let all = sum(a) + sum(b) - both;
    if all > 0.0 { both / all } else { 0.0 }
}
