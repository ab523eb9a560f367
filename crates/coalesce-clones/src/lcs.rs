//! The length of the longest common subsequence, 64 places at a time.
//!
//! Bit-parallel as in Hyyrö's formulation: one column of the table is a row of machine words, and a
//! symbol of the other sequence costs a handful of operations for each word. That is still a product
//! of two lengths, so long sequences are cut first where both have a run that stands nowhere else in
//! them: what is found then is a common subsequence, but not always the longest.

use rustc_hash::FxHashMap;

use crate::anchors;

/// Cells of a table that are filled without cutting: 2048 tokens beside 2048.
const CELLS: usize = 1 << 22;

/// Room that one thread uses again and again.
#[derive(Default)]
pub struct Lcs {
    symbols: FxHashMap<u32, u32>,
    /// For each symbol, `words` machine words: where it stands in the shorter sequence.
    masks: Vec<u64>,
    column: Vec<u64>,
}

impl Lcs {
    /// The length of the longest common subsequence of `a` and `b`.
    pub fn length(&mut self, a: &[u32], b: &[u32]) -> usize {
        let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        let (ends, short, long) = without_ends(short, long);
        let middle = if short.len().saturating_mul(long.len()) <= CELLS {
            self.middle(short, long)
        } else {
            self.cut(short, long)
        };
        ends + middle
    }

    /// Long sequences, piece by piece between what can only belong together.
    fn cut(&mut self, short: &[u32], long: &[u32]) -> usize {
        let anchors = anchors::find(short, long);
        let mut length = anchors.len();
        let mut start = (0, 0);
        for end in anchors.into_iter().chain([(short.len(), long.len())]) {
            let short = short.get(start.0..end.0).unwrap_or_default();
            let long = long.get(start.1..end.1).unwrap_or_default();
            length += self.pieces(short, long);
            start = (end.0 + 1, end.1 + 1);
        }
        length
    }

    /// What stands between two anchors; where that is too much, the n-th part of one beside the n-th
    /// part of the other.
    fn pieces(&mut self, short: &[u32], long: &[u32]) -> usize {
        let (ends, short, long) = without_ends(short, long);
        let mut parts = 1;
        while (short.len() / parts).saturating_mul(long.len() / parts) > CELLS {
            parts += 1;
        }
        let bound = |of: usize, part: usize| of / parts * part + (of % parts).min(part);
        let piece = |of: &[u32], part: usize| bound(of.len(), part)..bound(of.len(), part + 1);
        let lengths = (0..parts).map(|part| {
            let (a, b) = (piece(short, part), piece(long, part));
            let a = short.get(a).unwrap_or_default();
            let b = long.get(b).unwrap_or_default();
            if a.len() <= b.len() {
                self.middle(a, b)
            } else {
                self.middle(b, a)
            }
        });
        ends + lengths.sum::<usize>()
    }

    /// No less than the length of the longest common subsequence, in a time of `a` and `b` together.
    pub fn bound(&mut self, a: &[u32], b: &[u32]) -> usize {
        self.symbols.clear();
        for symbol in a {
            *self.symbols.entry(*symbol).or_default() += 1;
        }
        let mut both = 0;
        for symbol in b {
            if let Some(left) = self.symbols.get_mut(symbol).filter(|left| **left > 0) {
                *left -= 1;
                both += 1;
            }
        }
        both
    }

    fn middle(&mut self, short: &[u32], long: &[u32]) -> usize {
        if short.is_empty() {
            return 0;
        }
        let words = short.len().div_ceil(64);
        self.fill(short, words);
        self.column.clear();
        self.column.resize(words, u64::MAX);
        for symbol in long {
            let Some(row) = self.symbols.get(symbol) else {
                continue;
            };
            let start = *row as usize * words;
            let mask = self.masks.get(start..start + words).unwrap_or_default();
            let mut carry = false;
            for (word, mask) in self.column.iter_mut().zip(mask) {
                let matched = *word & mask;
                let (sum, first) = word.overflowing_add(matched);
                let (sum, second) = sum.overflowing_add(u64::from(carry));
                carry = first || second;
                *word = sum | (*word & !mask);
            }
        }
        let used = |(at, word): (usize, &u64)| {
            let bits = (short.len() - at * 64).min(64);
            let valid = if bits == 64 {
                u64::MAX
            } else {
                (1 << bits) - 1
            };
            (!word & valid).count_ones() as usize
        };
        self.column.iter().enumerate().map(used).sum()
    }

    fn fill(&mut self, short: &[u32], words: usize) {
        self.symbols.clear();
        self.masks.clear();
        for (at, symbol) in short.iter().enumerate() {
            let next = u32::try_from(self.symbols.len()).unwrap_or(u32::MAX);
            let row = *self.symbols.entry(*symbol).or_insert(next) as usize;
            if row == next as usize {
                self.masks.resize(self.masks.len() + words, 0);
            }
            if let Some(word) = self.masks.get_mut(row * words + at / 64) {
                *word |= 1 << (at % 64);
            }
        }
    }
}

/// How much is equal at both ends, and what is left between.
fn without_ends<'s>(short: &'s [u32], long: &'s [u32]) -> (usize, &'s [u32], &'s [u32]) {
    let head = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let short = short.get(head..).unwrap_or_default();
    let long = long.get(head..).unwrap_or_default();
    let tail = short.iter().rev().zip(long.iter().rev());
    let tail = tail.take_while(|(a, b)| a == b).count();
    let short = short.get(..short.len() - tail).unwrap_or_default();
    let long = long.get(..long.len() - tail).unwrap_or_default();
    (head + tail, short, long)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The table that everybody knows.
    fn plain(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y {
                    corner + 1
                } else {
                    above.max(row[at])
                };
                corner = above;
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn it_is_as_long_as_the_table_says(
            a in prop::collection::vec(0u32..6, 0..200),
            b in prop::collection::vec(0u32..6, 0..200),
        ) {
            prop_assert_eq!(Lcs::default().length(&a, &b), plain(&a, &b));
            prop_assert!(Lcs::default().bound(&a, &b) >= plain(&a, &b));
        }

        #[test]
        fn what_is_cut_is_common_all_the_same(
            a in prop::collection::vec(0u32..60, 0..200),
            b in prop::collection::vec(0u32..60, 0..200),
        ) {
            prop_assert!(Lcs::default().cut(&a, &b) <= plain(&a, &b));
        }
    }

    /// Distinct symbols with one in seven changed or left out.
    fn with_changes(symbols: u32) -> Vec<u32> {
        let changed = |at: u32| match at % 14 {
            3 => Some(at + symbols),
            9 => None,
            _ => Some(at),
        };
        (0..symbols).filter_map(changed).collect()
    }

    #[test]
    fn long_copies_lose_next_to_nothing_by_the_cuts() {
        let (a, b): (Vec<u32>, _) = ((0..40_000).collect(), with_changes(40_000));
        let kept = b.iter().filter(|symbol| **symbol < 40_000).count();
        assert_eq!(Lcs::default().length(&a, &b), kept);
    }

    #[test]
    fn long_ones_that_repeat_themselves_are_cut_in_even_parts() {
        let table = |from: u32| -> Vec<u32> { (0..20_000).map(|at| (at + from) % 7).collect() };
        let found = Lcs::default().length(&table(0), &table(3));
        assert!(found > 19_000, "{found}");
    }
}
