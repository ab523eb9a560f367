//! What two units have in common as texts, beyond their tokens in order: how long they are the same
//! without a break, and how many of their lines stand in both as they are written, comments
//! included. Whoever copies leaves lines behind; whoever writes the like again does not.

use coalesce_model::TokenClass;
use rustc_hash::FxHasher;
use std::hash::Hasher as _;

use crate::source::{SourceFile, Token, Unit};

/// Tokens from which on a longer stretch says nothing more.
pub const STRETCH: u32 = 128;
/// Tokens of a stretch that is looked for.
const SEED: usize = 4;
/// Places of one seed that are looked at: what stands there more often is in any list.
const PLACES: usize = 16;
/// Characters from which on a line says something: a bracket alone does not.
const SAYS: usize = 3;
/// No place.
const NONE: u32 = u32::MAX;

/// Room that one thread uses again and again.
#[derive(Default)]
pub struct Stretch {
    /// For each hash of a seed its first place in the shorter text.
    first: Vec<u32>,
    /// For each place the next one of the same hash.
    next: Vec<u32>,
}

impl Stretch {
    /// The most tokens in a row that stand in both, [`STRETCH`] at most; 0 where it is less than
    /// four.
    pub fn length(&mut self, a: &[u32], b: &[u32]) -> u32 {
        let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        self.fill(short);
        let mut longest = 0;
        for (at, seed) in long.windows(SEED).enumerate() {
            let mut place = self.first.get(self.bucket(seed)).copied().unwrap_or(NONE);
            for _ in 0..PLACES {
                if place == NONE {
                    break;
                }
                let from = place as usize;
                if begins(short, from, long, at) {
                    let run = short.iter().skip(from).zip(long.iter().skip(at));
                    let run = run.take_while(|(a, b)| a == b).count();
                    longest = longest.max(run);
                }
                place = self.next.get(from).copied().unwrap_or(NONE);
            }
            if longest >= STRETCH as usize {
                return STRETCH;
            }
        }
        let longest = if longest < SEED { 0 } else { longest };
        u32::try_from(longest).unwrap_or(STRETCH).min(STRETCH)
    }

    fn fill(&mut self, short: &[u32]) {
        self.first.clear();
        self.first
            .resize((2 * short.len()).next_power_of_two().max(SEED), NONE);
        self.next.clear();
        self.next.resize(short.len(), NONE);
        for (at, seed) in short.windows(SEED).enumerate().rev() {
            let bucket = self.bucket(seed);
            let at_32 = u32::try_from(at).unwrap_or(NONE);
            if let (Some(first), Some(next)) = (self.first.get_mut(bucket), self.next.get_mut(at)) {
                *next = std::mem::replace(first, at_32);
            }
        }
    }

    fn bucket(&self, seed: &[u32]) -> usize {
        let mix = |hash: u32, token: &u32| (hash.rotate_left(5) ^ token).wrapping_mul(0x9e37_79b1);
        let hash = seed.iter().fold(0, mix);
        (hash ^ (hash >> 15)) as usize & (self.first.len() - 1)
    }
}

/// Whether a run begins at these places: one that goes on was counted where it began.
fn begins(short: &[u32], from: usize, long: &[u32], at: usize) -> bool {
    match (from.checked_sub(1), at.checked_sub(1)) {
        (Some(from), Some(at)) => short.get(from) != long.get(at),
        _ => true,
    }
}

/// The lines of these tokens as they are written, comments and brackets alone aside, as numbers.
#[must_use]
pub fn lines_of_code(file: &SourceFile, tokens: &[Token]) -> Vec<u32> {
    let text = file.text.as_bytes();
    let mut found: Vec<u32> = Vec::new();
    let (mut line, mut says, mut last) = (FxHasher::default(), false, None);
    for token in tokens {
        let between = last.and_then(|last| text.get(last..token.start as usize));
        if between.is_some_and(|between| memchr::memchr(b'\n', between).is_some()) {
            found.extend(says.then(|| folded(line.finish())));
            (line, says) = (FxHasher::default(), false);
        }
        line.write_u32(token.id);
        says |= token.class != TokenClass::Punct;
        last = Some(token.span().end as usize);
    }
    found.extend(says.then(|| folded(line.finish())));
    found
}

/// A hash in half of its bits.
fn folded(hash: u64) -> u32 {
    u32::try_from((hash ^ (hash >> 32)) & 0xffff_ffff).unwrap_or(0)
}

/// The different lines of a unit, without indentation, as hashes, sorted; and which are comments.
pub struct TextLines(Vec<(u64, bool)>);

impl TextLines {
    /// Those of this unit.
    #[must_use]
    pub fn new(file: &SourceFile, unit: &Unit) -> Self {
        Self(lines(file, unit))
    }
}

/// Lines that two units have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Different lines that stand in both.
    pub shared: u32,
    /// Different lines of the one with fewer.
    pub fewer: u32,
    /// Whether a comment is among those in both.
    pub comment: bool,
}

impl Lines {
    /// None in common, and none there.
    pub const NONE: Self = Self {
        shared: 0,
        fewer: 0,
        comment: false,
    };

    /// Compares the texts of two units, heads and comments included.
    #[must_use]
    pub fn of(left: &TextLines, right: &TextLines) -> Self {
        let (left, right) = (&left.0, &right.0);
        let mut shared = Self {
            fewer: u32::try_from(left.len().min(right.len())).unwrap_or(u32::MAX),
            ..Self::NONE
        };
        for (hash, comment) in left {
            if right.binary_search_by_key(hash, |line| line.0).is_ok() {
                shared.shared += 1;
                shared.comment |= comment;
            }
        }
        shared
    }

    /// All of them in common.
    pub(crate) const fn at_best(self) -> Self {
        Self {
            shared: self.fewer,
            comment: true,
            ..self
        }
    }

    /// The share of the fewer lines, 0 to 1.
    #[must_use]
    pub fn share(self) -> f32 {
        self.shared as f32 / self.fewer.max(1) as f32
    }
}

fn lines(file: &SourceFile, unit: &Unit) -> Vec<(u64, bool)> {
    let byte = |token: Option<&Token>| token.map_or(0, |token| token.start as usize);
    let first = byte(file.tokens.get(unit.first as usize));
    let last = (unit.end as usize).checked_sub(1);
    let last = last.and_then(|last| file.tokens.get(last));
    let end = last.map_or(first, |token| token.span().end as usize);
    let text = file.text.get(first..end).unwrap_or("");
    let bytes = text.as_bytes();
    let comment = file.lexicon().line_comment.as_bytes();
    let (mut found, mut start) = (Vec::new(), 0);
    for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        let line = bytes.get(start..end).unwrap_or_default().trim_ascii();
        start = end + 1;
        if line.len() >= SAYS {
            let mut hasher = FxHasher::default();
            hasher.write(line);
            found.push((hasher.finish(), line.starts_with(comment)));
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|line| line.0);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition.
    fn longest(a: &[u32], b: &[u32]) -> usize {
        let run = |x: usize, y: usize| {
            let pairs = a.iter().skip(x).zip(b.iter().skip(y));
            pairs.take_while(|(a, b)| a == b).count()
        };
        let all = (0..a.len()).flat_map(|x| (0..b.len()).map(move |y| (x, y)));
        all.map(|(x, y)| run(x, y)).max().unwrap_or(0)
    }

    #[test]
    fn the_longest_stretch_is_found() {
        let mut state = 7_u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        let mut stretch = Stretch::default();
        for _ in 0..400 {
            let lengths = (random(60) as usize, random(60) as usize);
            // Few kinds of tokens, but no seed in more than sixteen places.
            let a: Vec<u32> = (0..lengths.0).map(|_| random(4)).collect();
            let b: Vec<u32> = (0..lengths.1).map(|_| random(4)).collect();
            let expected = longest(&a, &b);
            let expected = if expected < SEED { 0 } else { expected };
            assert_eq!(stretch.length(&a, &b) as usize, expected, "{a:?} {b:?}");
        }
        let long: Vec<u32> = (0..300).collect();
        assert_eq!(stretch.length(&long, &long), STRETCH);
    }
}
