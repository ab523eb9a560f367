//! The length of the longest common subsequence, 64 places at a time.
//!
//! Bit-parallel as in Hyyrö's formulation: one column of the table is a row of machine words, and a
//! symbol of the other sequence costs a handful of operations for each word.

use rustc_hash::FxHashMap;

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
        let head = short.iter().zip(long).take_while(|(a, b)| a == b).count();
        let (short, long) = (
            short.get(head..).unwrap_or_default(),
            long.get(head..).unwrap_or_default(),
        );
        let tail = short.iter().rev().zip(long.iter().rev());
        let tail = tail.take_while(|(a, b)| a == b).count();
        let (short, long) = (
            short.get(..short.len() - tail).unwrap_or_default(),
            long.get(..long.len() - tail).unwrap_or_default(),
        );
        head + tail + self.middle(short, long)
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
        }
    }
}
