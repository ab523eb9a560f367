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
pub const FEATURES: usize = 15;

/// The weights of one language.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// What is added for a pair of which nothing else is known.
    pub base: f32,
    /// For each feature, in the order of [`features`].
    pub of: [f32; FEATURES],
}

/// The weights of all languages. Others than the default ones serve to try the finder on trees that
/// its weights were not fitted to.
#[derive(Clone, Copy, Debug)]
pub struct Fitted {
    /// Those of Python.
    pub python: Weights,
    /// Those of Rust, and of kernels, of which nobody has read enough pairs yet: their shape is nearer
    /// to Rust's.
    pub rust: Weights,
}

impl Default for Fitted {
    fn default() -> Self {
        Self {
            python: PYTHON,
            rust: RUST,
        }
    }
}

impl Fitted {
    const fn of(&self, language: LanguageKind) -> &Weights {
        match language {
            LanguageKind::Python => &self.python,
            LanguageKind::Rust | LanguageKind::Kernel => &self.rust,
        }
    }
}

const PYTHON: Weights = Weights {
    base: -4.685,
    of: [
        0.566, 1.950, 0.706, -0.982, 1.256, -0.655, 0.955, 0.398, 0.213, 0.366, 0.190, 0.801,
        -0.084, -0.629, -8.307,
    ],
};

const RUST: Weights = Weights {
    base: -6.659,
    of: [
        0.903, 2.234, 0.622, -3.769, 2.950, -0.514, 0.294, 0.731, 0.464, 0.676, 0.749, 0.648,
        0.104, -0.260, -11.840,
    ],
};

/// From which likelihood on a pair is told: where in Python seven of eight, in Rust five of six are
/// ones in trees that the weights were not fitted to, of classes half of which were read because they
/// are hard.
const LIKELY_PYTHON: f32 = 0.7;
const LIKELY_RUST: f32 = 0.7;
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
pub fn likelihood(evidence: &Evidence, fitted: &Fitted) -> f32 {
    let weights = fitted.of(evidence.language);
    let features = if evidence.substituted {
        features(&evidence.with_parameter())
    } else {
        features(evidence)
    };
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
pub const fn told_together_from(language: LanguageKind) -> f32 {
    match language {
        LanguageKind::Python => LIKELY_PYTHON,
        LanguageKind::Rust | LanguageKind::Kernel => LIKELY_RUST,
    }
}

/// From which likelihood on a pair is told; `copies` where names and sizes say already that it is
/// one of copies.
#[must_use]
pub const fn told_from(evidence: &Evidence, copies: bool) -> f32 {
    let named = evidence.same_name && (evidence.functions || evidence.declarations);
    let namesakes = named && !evidence.same_file && !evidence.tests;
    match evidence.language {
        _ if is_whole(evidence) || evidence.substituted => 0.0,
        LanguageKind::Python if namesakes && copies => LIKELY_NAMESAKE,
        LanguageKind::Rust if namesakes && evidence.declarations && is_equal(evidence) => {
            LIKELY_EQUAL
        }
        _ if evidence.gpu && !evidence.tests => LIKELY_GPU,
        language => told_together_from(language),
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
