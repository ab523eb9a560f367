//! What two units have in common, in numbers, and what they do not.

use std::cmp::Ordering;

use coalesce_model::{LanguageKind, UnitKind};

use crate::{
    corpus::{Composition, Corpus, Entry, Weighted},
    grams::{self, Pair, Runs},
    lcs::Lcs,
    likelihood::likelihood,
    likeness::{self, Lines, Stretch, TextLines},
    opposites, substitution,
    verdict::{self, Verdict},
};

/// Functions of one name in a project beyond which the name is everybody's.
pub const NAMESAKES: u32 = 24;

/// Tokens from which on it is cheaper to count what both can have in common at most than to align
/// them at once.
const BOUNDED: u32 = 512;

/// What a comparison of two units found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Tokens of the longest common subsequence, local names and messages being equal.
    pub common: u32,
    /// Tokens of the smaller and of the larger body.
    pub sizes: (u32, u32),
    /// Runs of tokens that both have, and all of the one with fewer.
    pub runs: (u32, u32),
    /// Whether they stand in one file.
    pub same_file: bool,
    /// Weight of the features that both have.
    pub shared: f32,
    /// Weight of the features that only the first, only the second has.
    pub only: (f32, f32),
    /// Weight of local names that both have, and of all local names of the one with less.
    pub locals: (f32, f32),
    /// Share of parameter names in common, of all.
    pub parameters: f32,
    /// Whether the names are the same and not everybody's.
    pub same_name: bool,
    /// How many functions of a project have the name of the first when two do; names that everybody
    /// gives have many.
    pub name_count: u32,
    /// Whether both are methods, which have names of their interfaces.
    pub methods: bool,
    /// Whether both are functions outside of types, which have names of their own.
    pub functions: bool,
    /// Whether both call something of their own name.
    pub forwards: bool,
    /// Whether one is named as the opposite of the other.
    pub opposite: bool,
    /// Whether they are one text with one or two words in place of others throughout, and long enough
    /// that this is no accident.
    pub substituted: bool,
    /// Whether they are tests with other cases.
    pub other_cases: bool,
    /// Whether both are tests, or stand among tests.
    pub tests: bool,
    /// Whether both call an interface of the catalogue.
    pub gpu: bool,
    /// Whether they are types without functions.
    pub declarations: bool,
    /// Runs of the smaller one that stand close together in the larger one, of all, 0 to 1; told
    /// where one is much larger than the other.
    pub gathered: f32,
    /// Their language.
    pub language: LanguageKind,
    /// The less of what their bodies consist of.
    pub composition: Composition,
    /// Distinct names, keys and numbers of the one with fewer.
    pub features: u32,
    /// Most tokens in a row that both have.
    pub stretch: u32,
    /// Lines that both have as they are written.
    pub lines: Lines,
}

/// Room for comparing texts of one corpus that one thread uses again and again.
#[derive(Default)]
pub struct Room {
    /// For alignments.
    pub lcs: Lcs,
    /// For what is the same without a break.
    pub stretch: Stretch,
    left: Left,
    /// Tokens of the second one.
    right: Vec<u32>,
}

/// What was worked out of the first of a pair: pairs are sorted, so the next one often begins with it, too.
#[derive(Default)]
struct Left {
    /// Its file and unit.
    of: Option<(u32, u32)>,
    blind: Vec<u32>,
    lines: Option<TextLines>,
}

impl Room {
    /// Makes room for the tokens of two entries.
    fn enter(&mut self, corpus: &Corpus, a: &Entry, b: &Entry) {
        let of = Some((a.file, a.unit));
        if self.left.of != of {
            self.left.of = of;
            self.left.lines = None;
            blind(corpus, a, &mut self.left.blind);
        }
        blind(corpus, b, &mut self.right);
    }

    /// Lines that two entries have in common, of which the first was entered.
    fn lines(&mut self, corpus: &Corpus, a: &Entry, b: &Entry) -> Lines {
        let lines = |entry| TextLines::new(corpus.file(entry), corpus.unit(entry));
        let left = self.left.lines.get_or_insert_with(|| lines(a));
        Lines::of(left, &lines(b))
    }
}

impl Evidence {
    /// Nothing in common.
    const fn none(language: LanguageKind) -> Self {
        Self {
            common: 0,
            sizes: (0, 0),
            runs: (0, 0),
            same_file: false,
            shared: 0.0,
            only: (0.0, 0.0),
            locals: (0.0, 0.0),
            parameters: 0.0,
            same_name: false,
            name_count: 0,
            methods: false,
            functions: false,
            forwards: false,
            opposite: false,
            substituted: false,
            other_cases: false,
            tests: false,
            gpu: false,
            declarations: false,
            gathered: 0.0,
            language,
            composition: Composition::NONE,
            features: 0,
            stretch: 0,
            lines: Lines::NONE,
        }
    }

    /// What names and sizes alone say, without local names, runs and alignment.
    #[must_use]
    pub fn of_names(corpus: &Corpus, pair: Pair) -> Option<Self> {
        let a = corpus.entries.get(pair.0 as usize)?;
        let b = corpus.entries.get(pair.1 as usize)?;
        let (unit_a, unit_b) = (corpus.unit(a), corpus.unit(b));
        let name_count = a.namesakes;
        let is_named = unit_a.name == unit_b.name && unit_a.name != 0 && name_count <= NAMESAKES;
        let given = a.name_is_given && b.name_is_given;
        let both = |kind| unit_a.kind == kind && unit_b.kind == kind;
        let features = a.features.len().min(b.features.len());
        let mut evidence = Self {
            substituted: is_substituted(corpus, a, b),
            declarations: both(UnitKind::Class),
            sizes: (a.size.min(b.size), a.size.max(b.size)),
            same_file: a.file == b.file,
            forwards: a.forwards && b.forwards,
            tests: a.tests && b.tests,
            gpu: a.gpu && b.gpu,
            methods: both(UnitKind::Method),
            functions: both(UnitKind::Function),
            name_count,
            same_name: is_named && !given,
            composition: a.composition.least(b.composition),
            features: u32::try_from(features).unwrap_or(u32::MAX),
            lines: Lines {
                fewer: unit_a.line_count().min(unit_b.line_count()),
                ..Lines::NONE
            },
            ..Self::none(corpus.language(a))
        };
        if evidence.same_name
            || evidence.substituted
            || verdict::is_of_a_size(&evidence)
            || verdict::is_long(&evidence)
        {
            (evidence.shared, evidence.only.0, evidence.only.1) = overlap(&a.features, &b.features);
        }
        Some(evidence)
    }

    /// The same with local names, parameters and the runs that both have.
    #[must_use]
    pub fn with_runs(self, corpus: &Corpus, runs: &Runs, pair: Pair) -> Self {
        let entry = |at: u32| corpus.entries.get(at as usize);
        let (Some(a), Some(b)) = (entry(pair.0), entry(pair.1)) else {
            return self;
        };
        // Only what a common name says depends on them.
        let named = Self {
            other_cases: a.cases != b.cases,
            ..if self.same_name {
                self.with_interface(a, b)
            } else {
                self
            }
        };
        let (small, large) = if a.size <= b.size {
            (pair.0, b)
        } else {
            (pair.1, a)
        };
        let apart = self.sizes.1 * 2 > self.sizes.0 * 3 && verdict::is_long(&self);
        let shared = runs.shared(pair.0, pair.1);
        // Of a list of calls another word throughout is another thing that is done.
        let listed = Self {
            runs: shared,
            ..self
        };
        Self {
            substituted: self.substituted && !listed.is_list(),
            runs: shared,
            gathered: if apart {
                grams::gathered(runs.of(small), self.sizes.0, corpus.body(large))
            } else {
                1.0
            },
            ..named
        }
    }

    fn with_interface(self, a: &Entry, b: &Entry) -> Self {
        let locals = overlap(&a.locals, &b.locals);
        Self {
            locals: (locals.0, locals.0 + locals.1.min(locals.2)),
            parameters: overlap_count(&a.parameters, &b.parameters),
            ..self
        }
    }

    /// Compares two entries, of which names were compared already; `None` when it turns out early
    /// that they have too little in common for any verdict.
    #[must_use]
    pub fn with_text(self, corpus: &Corpus, a: &Entry, b: &Entry, room: &mut Room) -> Option<Self> {
        let opposite = self.is_opposite(name(corpus, a), name(corpus, b));
        room.enter(corpus, a, b);
        let with = |common: usize| Self {
            opposite,
            common: u32::try_from(common).unwrap_or(u32::MAX),
            ..self
        };
        if a.size.min(b.size) >= BOUNDED {
            let most = with(room.lcs.bound(&room.left.blind, &room.right)).at_best();
            if verdict::verdict(&most, likelihood(&most, &corpus.fitted)) == Verdict::Unrelated {
                return None;
            }
        }
        let aligned = with(room.lcs.length(&room.left.blind, &room.right));
        // What is costly is not asked where no answer makes a difference.
        if !verdict::can_be_told(&aligned.at_best(), &corpus.fitted) {
            return Some(aligned);
        }
        let with_lines = Self {
            lines: room.lines(corpus, a, b),
            ..aligned
        };
        if !verdict::can_be_told(&with_lines.best_stretch(), &corpus.fitted) {
            return Some(with_lines);
        }
        Some(Self {
            stretch: room.stretch.length(&room.left.blind, &room.right),
            ..with_lines
        })
    }

    fn with_lines(self, corpus: &Corpus, a: &Entry, b: &Entry) -> Self {
        let lines = |entry| TextLines::new(corpus.file(entry), corpus.unit(entry));
        Self {
            lines: Lines::of(&lines(a), &lines(b)),
            ..self
        }
    }

    /// All that there is to say of two entries, whatever it costs and whatever comes of it; `runs`
    /// are those of both. `None` where `pair` names no entries.
    #[must_use]
    pub fn of_pair(corpus: &Corpus, runs: &Runs, pair: Pair, room: &mut Room) -> Option<Self> {
        let a = corpus.entries.get(pair.0 as usize)?;
        let b = corpus.entries.get(pair.1 as usize)?;
        if (a.exact, a.size) == (b.exact, b.size) {
            return Self::of_equals(corpus, pair);
        }
        let names = Self::of_names(corpus, pair)?;
        let known = names.with_runs(corpus, runs, pair).with_interface(a, b);
        room.enter(corpus, a, b);
        let common = room.lcs.length(&room.left.blind, &room.right);
        Some(Self {
            common: u32::try_from(common).unwrap_or(u32::MAX),
            stretch: room.stretch.length(&room.left.blind, &room.right),
            opposite: known.is_opposite(name(corpus, a), name(corpus, b)),
            ..known.with_lines(corpus, a, b)
        })
    }

    /// The evidence of two entries that are the same but for local names and messages.
    #[must_use]
    pub fn of_equals(corpus: &Corpus, pair: Pair) -> Option<Self> {
        let a = corpus.entries.get(pair.0 as usize)?;
        let b = corpus.entries.get(pair.1 as usize)?;
        Some(Self {
            common: a.size,
            shared: 1.0,
            only: (0.0, 0.0),
            runs: (1, 1),
            gathered: 1.0,
            stretch: a.size.min(likeness::STRETCH),
            ..Self::of_names(corpus, pair)?.with_lines(corpus, a, b)
        })
    }

    /// Whether names say that both are two on purpose.
    fn is_opposite(&self, a: &str, b: &str) -> bool {
        let is_parameter = self.substituted && opposites::are_sides(a, b);
        !is_parameter && opposites::are_opposite(a, b)
    }

    /// The same where the words that differ throughout are a parameter.
    #[must_use]
    pub fn with_parameter(self) -> Self {
        Self {
            common: self.sizes.0,
            shared: self.shared + self.only.0.min(self.only.1),
            only: (0.0, 0.0),
            runs: (self.runs.1, self.runs.1),
            stretch: self.sizes.0.min(likeness::STRETCH),
            ..self
        }
    }

    /// The same where all lines are in common and nothing breaks what is.
    fn at_best(self) -> Self {
        Self {
            lines: self.lines.at_best(),
            ..self.best_stretch()
        }
    }

    /// The same where nothing breaks what is in common.
    fn best_stretch(self) -> Self {
        Self {
            stretch: self.common.min(likeness::STRETCH),
            ..self
        }
    }

    /// Common tokens of all, 0 to 1.
    #[must_use]
    pub fn similarity(&self) -> f32 {
        2.0 * self.common as f32 / (self.sizes.0 + self.sizes.1).max(1) as f32
    }

    /// Common tokens of the smaller one, 0 to 1.
    #[must_use]
    pub fn containment(&self) -> f32 {
        self.common as f32 / self.sizes.0.max(1) as f32
    }

    /// Common runs of the smaller one, 0 to 1.
    #[must_use]
    pub fn run_containment(&self) -> f32 {
        self.runs.0 as f32 / self.runs.1.max(1) as f32
    }

    /// Whether the smaller one says the same thing again and again: a table, a list of calls.
    #[must_use]
    pub const fn is_repetitive(&self) -> bool {
        self.runs.1 * 2 < self.sizes.0
    }

    /// Whether so much of the smaller one is said more than once that a list of the kind holds the
    /// rest as well.
    #[must_use]
    pub const fn is_list(&self) -> bool {
        self.runs.1 * 3 < self.sizes.0 * 2
    }

    /// Whether one has a name, key or number that the other lacks.
    #[must_use]
    pub const fn differs(&self) -> bool {
        self.only.0 > 0.0 || self.only.1 > 0.0
    }

    /// Weight of common features of all, 0 to 1.
    #[must_use]
    pub fn alike(&self) -> f32 {
        let all = self.shared + self.only.0 + self.only.1;
        if all > 0.0 { self.shared / all } else { 0.0 }
    }

    /// Weight of common features of the one with less, 0 to 1.
    #[must_use]
    pub fn contained(&self) -> f32 {
        let less = self.shared + self.only.0.min(self.only.1);
        if less > 0.0 { self.shared / less } else { 0.0 }
    }

    /// Weight of common local names of the one with less, 0 to 1.
    #[must_use]
    pub fn local_names(&self) -> f32 {
        if self.locals.1 > 0.0 {
            self.locals.0 / self.locals.1
        } else {
            0.0
        }
    }
}

/// Tokens from which on a text that is another one but for one or two words is hardly an accident: of labelled pairs of 66
/// and more, nine of ten that were read are duplicated, and all 12 of those that were merged or kept apart were merged.
const SUBSTITUTED_TOKENS: u32 = 60;
/// The same of what decides something: of such pairs that maintainers merged or keep apart all were merged.
const SUBSTITUTED_DECIDING_TOKENS: u32 = 45;

/// Whether another text that is one with this but for a word or two is hardly an accident; tests aside.
pub const fn may_be_substituted(entry: &Entry) -> bool {
    let decides = entry.composition.control > 0;
    let long = entry.size >= SUBSTITUTED_TOKENS;
    !entry.tests && (long || (decides && entry.size >= SUBSTITUTED_DECIDING_TOKENS))
}

/// Whether two entries, tests aside, are one text with other words in it.
fn is_substituted(corpus: &Corpus, a: &Entry, b: &Entry) -> bool {
    let can_be = may_be_substituted(a) && (a.shape, a.size) == (b.shape, b.size);
    let text = |entry| (corpus.file(entry), corpus.body(entry));
    can_be
        && a.exact != b.exact
        && !b.tests
        && corpus.language(a) == corpus.language(b)
        && substitution::pairs_between(text(a), text(b)).is_some()
}

/// The name of an entry's unit; empty for what has none.
fn name<'c>(corpus: &'c Corpus, entry: &Entry) -> &'c str {
    let span = corpus.unit(entry).name_span;
    span.of(&corpus.file(entry).text).unwrap_or("")
}

/// The tokens of a body, local names and messages being equal.
fn blind(corpus: &Corpus, entry: &Entry, into: &mut Vec<u32>) {
    into.clear();
    into.extend(corpus.body(entry).iter().map(crate::Token::blind));
}

/// Weights of what is in both, only in the first, only in the second; lists are sorted.
fn overlap(a: &[Weighted], b: &[Weighted]) -> (f32, f32, f32) {
    let (mut both, mut only_a, mut only_b) = (0.0, 0.0, 0.0);
    let (mut left, mut right) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(left), b.get(right)) {
        match x.id.cmp(&y.id) {
            Ordering::Equal => {
                both += x.weight;
                left += 1;
                right += 1;
            }
            Ordering::Less => {
                only_a += x.weight;
                left += 1;
            }
            Ordering::Greater => {
                only_b += y.weight;
                right += 1;
            }
        }
    }
    let rest = |list: &[Weighted], from: usize| -> f32 {
        let rest = list.get(from..).unwrap_or_default();
        rest.iter().map(|feature| feature.weight).sum()
    };
    (both, only_a + rest(a, left), only_b + rest(b, right))
}

/// The share of `a` and `b` that is in both; 1 when both are empty.
fn overlap_count(a: &[u32], b: &[u32]) -> f32 {
    let both = a.iter().filter(|id| b.binary_search(id).is_ok()).count();
    let all = a.len() + b.len() - both;
    if all == 0 {
        1.0
    } else {
        both as f32 / all as f32
    }
}
