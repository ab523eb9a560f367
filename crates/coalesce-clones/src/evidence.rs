//! What two units have in common, in numbers, and what they do not.

use coalesce_model::UnitKind;

use crate::{
    corpus::{Corpus, Entry},
    grams::{Pair, Runs},
    lcs::Lcs,
};

/// What a comparison of two units found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// How many units have the name of the first; names of interfaces are many.
    pub name_count: u32,
    /// Whether both are methods, which have names of their interfaces.
    pub methods: bool,
    /// Whether both call something of their own name.
    pub forwards: bool,
}

impl Evidence {
    /// The same with the runs that both have.
    #[must_use]
    pub fn with_runs(self, runs: &Runs, pair: Pair) -> Self {
        Self {
            runs: runs.shared(pair.0, pair.1),
            ..self
        }
    }

    /// Compares two entries, of which names were compared already.
    #[must_use]
    pub fn with_text(self, corpus: &Corpus, a: &Entry, b: &Entry, lcs: &mut Lcs) -> Self {
        let mut evidence = self;
        let blind = |entry: &Entry| -> Vec<u32> {
            corpus.body(entry).iter().map(crate::Token::blind).collect()
        };
        let common = lcs.length(&blind(a), &blind(b));
        evidence.common = u32::try_from(common).unwrap_or(u32::MAX);
        evidence
    }

    /// What names and sizes alone say, without runs and alignment.
    #[must_use]
    pub fn of_names(corpus: &Corpus, pair: Pair) -> Option<Self> {
        let a = corpus.entries.get(pair.0 as usize)?;
        let b = corpus.entries.get(pair.1 as usize)?;
        let features = overlap(corpus, &a.features, &b.features);
        let locals = overlap(corpus, &a.locals, &b.locals);
        let parameters = overlap_count(&a.parameters, &b.parameters);
        let (name_a, name_b) = (corpus.unit(a).name, corpus.unit(b).name);
        Some(Self {
            runs: (0, 0),
            same_file: a.file == b.file,
            common: 0,
            sizes: (a.size.min(b.size), a.size.max(b.size)),
            shared: features.0,
            only: (features.1, features.2),
            locals: (locals.0, locals.0 + locals.1.min(locals.2)),
            parameters,
            forwards: a.forwards && b.forwards,
            methods: [a, b]
                .iter()
                .all(|entry| corpus.unit(entry).kind == UnitKind::Method),
            name_count: corpus.name_count(name_a),
            same_name: name_a == name_b && name_a != 0 && corpus.name_count(name_a) <= 24,
        })
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

/// Weights of what is in both, only in the first, only in the second; lists are sorted.
fn overlap(corpus: &Corpus, a: &[u32], b: &[u32]) -> (f32, f32, f32) {
    let (mut both, mut only_a, mut only_b) = (0.0, 0.0, 0.0);
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    loop {
        match (left.peek(), right.peek()) {
            (Some(x), Some(y)) if x == y => {
                both += corpus.weight(**x);
                left.next();
                right.next();
            }
            (Some(x), Some(y)) if x < y => {
                only_a += corpus.weight(**x);
                left.next();
            }
            (Some(x), None) => {
                only_a += corpus.weight(**x);
                left.next();
            }
            (_, Some(y)) => {
                only_b += corpus.weight(**y);
                right.next();
            }
            (None, None) => return (both, only_a, only_b),
        }
    }
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
