//! How likely it is that a maintainer, shown two units, says "this is duplicated code".
//!
//! A logistic function of what they have in common. Its weights are not chosen: they are fitted to
//! classes and pairs of public source trees that were read one by one (`xtask/labels/`, and how:
//! ARCHITECTURE.md), one set for each language (`likelihood.toml`). It says nothing of whether two units *are* copies;
//! much that is the same word for word is nothing that anybody would merge.
//!
//! Also from which likelihood on a pair is told: less where the name, or what is looked for, is
//! evidence of another kind.

use std::{collections::BTreeMap, sync::LazyLock};

use coalesce_model::LanguageKind;
use serde::Deserialize;

use crate::evidence::Evidence;

/// What is known of a pair, as far as it is weighed.
pub const FEATURES: usize = 15;

/// The weights of one language.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Weights {
    /// What is added for a pair of which nothing else is known.
    pub base: f32,
    /// For each feature, in the order of [`features`].
    pub of: [f32; FEATURES],
}

/// What the table has of one language.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct LanguageRow {
    told_from: f32,
    copies_from: Option<f32>,
    equal_types_from: Option<f32>,
    /// The language by whose weights it is weighed, where it has none.
    like: Option<LanguageKind>,
    #[serde(flatten)]
    weights: Option<Weights>,
}

/// How many languages there are.
const LANGUAGES: usize = LanguageKind::ALL.len();

/// The rows of the table, in the order of the languages.
static ROWS: LazyLock<[LanguageRow; LANGUAGES]> = LazyLock::new(|| {
    let rows = toml::from_str(include_str!("likelihood.toml"));
    let mut rows: BTreeMap<LanguageKind, LanguageRow> = rows.expect("invariant: the table is one");
    LanguageKind::ALL.map(|language| {
        let row = rows.remove(&language);
        row.expect("invariant: the table has every language")
    })
});

/// Which row, and which weights, are those of a language.
fn place(language: LanguageKind) -> usize {
    let mut all = LanguageKind::ALL.iter();
    let place = all.position(|one| *one == language);
    place.expect("invariant: every language is among all of them")
}

fn row(language: LanguageKind) -> &'static LanguageRow {
    let row = ROWS.get(place(language));
    row.expect("invariant: the table has every language")
}

/// The weights of all languages. Others than the default ones serve to try the finder on trees that
/// its weights were not fitted to.
#[derive(Clone, Copy, Debug)]
pub struct Fitted([Weights; LANGUAGES]);

impl Default for Fitted {
    fn default() -> Self {
        *FITTED
    }
}

/// The weights of the table.
static FITTED: LazyLock<Fitted> = LazyLock::new(|| {
    let weights = Fitted::new(|language| row(language).weights.ok_or(language));
    weights.expect("invariant: who is weighed like another one names one with weights")
});

impl Fitted {
    /// Weights of each language that has its own.
    ///
    /// # Errors
    /// Those of `weights`.
    pub fn new<E>(weights: impl Fn(LanguageKind) -> Result<Weights, E>) -> Result<Self, E> {
        let mut found = [Weights {
            base: 0.0,
            of: [0.0; FEATURES],
        }; LANGUAGES];
        for (own, language) in found.iter_mut().zip(LanguageKind::ALL) {
            let like = row(language).like;
            *own = weights(like.unwrap_or(language))?;
        }
        Ok(Self(found))
    }

    fn of(&self, language: LanguageKind) -> &Weights {
        let weights = self.0.get(place(language));
        weights.expect("invariant: each language has weights")
    }
}

/// From which likelihood on what calls an interface of the catalogue is told, which is what is looked for.
const LIKELY_GPU: f32 = 0.5;
/// From this likelihood on a pair is close enough to being told that it joins what is, and keeps
/// nothing apart.
pub const NEARLY: f32 = 0.5;

/// From so many tokens on, whatever is equal is told.
const WHOLE_TOKENS: u32 = 45;
/// The same of what decides something.
const WHOLE_DECIDING_TOKENS: u32 = 30;

/// The likelihood, 0 to 1.
#[must_use]
pub fn likelihood(evidence: &Evidence, fitted: &Fitted) -> f32 {
    let weights = fitted.of(evidence.language);
    let features = if evidence.substituted {
        features(&evidence.with_parameter())
    } else {
        features(evidence)
    };
    logistic(weights.base, &weights.of, &features)
}

/// A logistic function of features, by these weights.
#[must_use]
pub fn logistic<const N: usize>(base: f32, weights: &[f32; N], features: &[f32; N]) -> f32 {
    let weighed = weights.iter().zip(features);
    let sum = base
        + weighed
            .map(|(weight, feature)| weight * feature)
            .sum::<f32>();
    1.0 / (1.0 + (-sum).exp())
}

/// What is weighed. Counts are taken as logarithms: the tenth statement in common says less than the
/// second.
#[must_use]
pub fn features(evidence: &Evidence) -> [f32; FEATURES] {
    let count = |count: u32| (count as f32).ln_1p();
    let flag = |flag: bool| f32::from(u8::from(flag));
    let composition = evidence.composition;
    [
        count(evidence.stretch),
        evidence.lines.share(),
        flag(evidence.lines.comment),
        evidence.run_containment(),
        evidence.alike(),
        count(evidence.sizes.0.saturating_sub(evidence.common)),
        count(composition.statements),
        count(composition.control),
        count(composition.locals),
        count(evidence.features),
        flag(evidence.same_name),
        flag(evidence.same_name && evidence.functions),
        count(evidence.name_count),
        flag(evidence.same_file),
        flag(evidence.tests) * (1.0 - evidence.similarity()),
    ]
}

/// How likely it is that a maintainer acts on so many places together, of which each pair is as likely
/// as `pair`: what is too little in two places is not in nine. The odds grow with the copies that would
/// go.
#[must_use]
pub fn together(pair: f32, places: usize) -> f32 {
    let odds = pair / (1.0 - pair).max(f32::EPSILON);
    let all = odds * places.saturating_sub(1) as f32;
    all / (1.0 + all)
}

/// From which likelihood on copies of a language are told.
#[must_use]
pub fn told_together_from(language: LanguageKind) -> f32 {
    row(language).told_from
}

/// From which likelihood on a pair is told; `copies` where names and sizes say already that it is
/// one of copies.
#[must_use]
pub fn told_from(evidence: &Evidence, copies: bool) -> f32 {
    if is_whole(evidence) || evidence.substituted {
        return 0.0;
    }
    let named = evidence.same_name && (evidence.functions || evidence.declarations);
    let namesakes = named && !evidence.same_file && !evidence.tests;
    let row = namesakes.then(|| row(evidence.language));
    let of_copies = row.and_then(|row| row.copies_from).filter(|_| copies);
    let are_equal_types = evidence.declarations && is_equal(evidence);
    let of_types = row.and_then(|row| row.equal_types_from);
    let of_types = of_types.filter(|_| are_equal_types);
    let of_gpu = Some(LIKELY_GPU).filter(|_| evidence.gpu && !evidence.tests);
    let own = || told_together_from(evidence.language);
    of_copies.or(of_types).or(of_gpu).unwrap_or_else(own)
}

/// Whether two are equal and there is something to it, whatever else speaks against it: whoever
/// renames the variables of a copy leaves no line as it was.
const fn is_whole(evidence: &Evidence) -> bool {
    let tokens = evidence.sizes.0;
    let decides = tokens >= WHOLE_DECIDING_TOKENS && evidence.composition.control > 0;
    is_equal(evidence) && (decides || tokens >= WHOLE_TOKENS)
}

/// Whether nothing of both differs but local names and messages.
const fn is_equal(evidence: &Evidence) -> bool {
    let (small, large) = evidence.sizes;
    evidence.common == small && small == large && !evidence.differs()
}
