//! What two units have in common as texts, beyond their tokens in order: how long they are the same
//! without a break, and how many of their lines stand in both as they are written, comments
//! included. Whoever copies leaves lines behind; whoever writes the like again does not.

use rustc_hash::FxHasher;
use std::hash::Hasher as _;

use crate::source::{SourceFile, Token, Unit};

/// Tokens from which on a longer stretch says nothing more.
pub const STRETCH: u32 = 128;
const CAP: u16 = STRETCH as u16;
/// Cells of a table that are filled: 2048 tokens beside 2048.
const CELLS: usize = 1 << 22;
/// Characters from which on a line says something: a bracket alone does not.
const SAYS: usize = 3;

/// Room that one thread uses again and again.
#[derive(Default)]
pub struct Stretch {
    before: Vec<u16>,
    now: Vec<u16>,
}

impl Stretch {
    /// The most tokens in a row that stand in both, [`STRETCH`] at most. Of what is too long for a
    /// table, only the beginnings are compared.
    pub fn length(&mut self, a: &[u32], b: &[u32]) -> u32 {
        let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        let most = CELLS / short.len().max(1);
        let long = long.get(..most).unwrap_or(long);
        self.before.clear();
        self.before.resize(long.len() + 1, 0);
        self.now.clear();
        self.now.resize(long.len() + 1, 0);
        let mut longest = 0;
        for token in short {
            let (Some((_, now)), before) = (self.now.split_first_mut(), &self.before) else {
                break;
            };
            for ((cell, other), before) in now.iter_mut().zip(long).zip(before) {
                // Without a branch, so that the compiler does many at once.
                *cell = if token == other {
                    before.saturating_add(1)
                } else {
                    0
                };
            }
            longest = longest.max(now.iter().copied().max().unwrap_or(0));
            if longest >= CAP {
                break;
            }
            std::mem::swap(&mut self.before, &mut self.now);
        }
        u32::from(longest.min(CAP))
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
    pub fn new(a: (&SourceFile, &Unit), b: (&SourceFile, &Unit)) -> Self {
        let (left, right) = (lines(a.0, a.1), lines(b.0, b.1));
        let mut shared = Self {
            fewer: u32::try_from(left.len().min(right.len())).unwrap_or(u32::MAX),
            ..Self::NONE
        };
        for (hash, comment) in &left {
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

/// The different lines of a unit, without indentation, as hashes, sorted; and which are comments.
fn lines(file: &SourceFile, unit: &Unit) -> Vec<(u64, bool)> {
    let byte = |token: Option<&Token>| token.map_or(0, |token| token.start as usize);
    let first = byte(file.tokens.get(unit.first as usize));
    let last = (unit.end as usize).checked_sub(1);
    let last = last.and_then(|last| file.tokens.get(last));
    let end = last.map_or(first, |token| token.span().end as usize);
    let text = file.text.get(first..end).unwrap_or("");
    let mut found: Vec<(u64, bool)> = text
        .lines()
        .map(str::trim)
        .filter(|line| line.len() >= SAYS)
        .map(|line| {
            let mut hasher = FxHasher::default();
            hasher.write(line.as_bytes());
            (hasher.finish(), is_comment(line))
        })
        .collect();
    found.sort_unstable();
    found.dedup_by_key(|line| line.0);
    found
}

fn is_comment(line: &str) -> bool {
    line.starts_with("//") || (line.starts_with('#') && !line.starts_with("#["))
}
