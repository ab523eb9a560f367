//! How likely it is that a maintainer, shown two units, says "this is duplicated code".
//!
//! A logistic function of what they have in common. Its weights are not chosen: they are fitted to
//! classes and pairs of public source trees that were read one by one (`xtask/labels/`, and how:
//! ARCHITECTURE.md), one set for each language. It says nothing of whether two units *are* copies;
//! much that is the same word for word is nothing that anybody would merge.
//!
//! Also from which likelihood on a pair is told: less where the name, or what is looked for, is
//! evidence of another kind.

use coalesce_model::LanguageKind;

use crate::evidence::Evidence;

/// What is known of a pair, as far as it is weighed.
const FEATURES: usize = 15;

/// The weights of one language.
struct Weights {
    /// What is added for a pair of which nothing else is known.
    base: f32,
    /// For each feature, in the order of [`features`].
    of: [f32; FEATURES],
}

const PYTHON: Weights = Weights {
    base: -5.309,
    of: [
        0.707, 1.703, 0.722, -0.686, 1.310, -0.610, 0.841, 0.422, 0.236, 0.328, 0.325, 0.807,
        -0.041, -0.618, -7.781,
    ],
};

const RUST: Weights = Weights {
    base: -6.988,
    of: [
        0.845, 2.361, 0.491, -3.465, 2.996, -0.496, 0.297, 0.689, 0.446, 0.732, 0.711, 0.786,
        0.134, -0.264, -12.696,
    ],
};

/// From which likelihood on a pair is told: where nine of ten are ones in trees that the weights
/// were not fitted to.
const LIKELY_PYTHON: f32 = 0.75;
const LIKELY_RUST: f32 = 0.8;
/// The same for what calls an interface of the catalogue, which is what is looked for.
const LIKELY_GPU: f32 = 0.5;
/// The same for functions and types of two files that are copies going by their common name: it is
/// most of the answer.
const LIKELY_NAMESAKE: f32 = 0.1;
/// The same in Rust, where traits and modules give names: only of types that do not differ at all.
const LIKELY_EQUAL: f32 = 0.4;
/// From this likelihood on a pair is close enough to being told that it joins what is, and keeps
/// nothing apart.
pub const NEARLY: f32 = 0.5;

/// From so many tokens on, whatever is equal is told.
const WHOLE_TOKENS: u32 = 45;
/// The same of what decides something.
const WHOLE_DECIDING_TOKENS: u32 = 30;

/// The likelihood, 0 to 1.
#[must_use]
pub fn likelihood(evidence: &Evidence) -> f32 {
    let weights = match evidence.language {
        LanguageKind::Python => &PYTHON,
        // Nobody has read enough pairs of kernels yet; their shape is nearer to Rust's.
        LanguageKind::Rust | LanguageKind::Kernel => &RUST,
    };
    let features = features(evidence);
    let weighed = weights
        .of
        .iter()
        .zip(features)
        .map(|(weight, feature)| weight * feature);
    let sum = weights.base + weighed.sum::<f32>();
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

/// From which likelihood on a pair is told; `copies` where names and sizes say already that it is
/// one of copies.
#[must_use]
pub const fn told_from(evidence: &Evidence, copies: bool) -> f32 {
    let named = evidence.same_name && (evidence.functions || evidence.declarations);
    let namesakes = named && !evidence.same_file && !evidence.tests;
    match evidence.language {
        _ if is_whole(evidence) => 0.0,
        LanguageKind::Python if namesakes && copies => LIKELY_NAMESAKE,
        LanguageKind::Rust if namesakes && evidence.declarations && is_equal(evidence) => {
            LIKELY_EQUAL
        }
        _ if evidence.gpu && !evidence.tests => LIKELY_GPU,
        LanguageKind::Python => LIKELY_PYTHON,
        LanguageKind::Rust | LanguageKind::Kernel => LIKELY_RUST,
    }
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
