//! Numbers that look random and are the same for the same seed, on every machine.

/// The finalizer of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
pub const fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The odd number nearest to 2⁶⁴ divided by the golden ratio: splitmix64's step.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A row of such numbers.
pub struct Random {
    state: u64,
}

impl Random {
    /// The row that belongs to `seed`. It begins at its hash: a row that begins at a multiple of the step
    /// is the one of the next seed without its first number.
    pub const fn new(seed: u64) -> Self {
        Self {
            state: mixed(seed.wrapping_add(STEP)),
        }
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mixed(self.state)
    }

    /// One of `choices`; `None` where there is nothing to choose from.
    pub fn choose<'c, T>(&mut self, choices: &'c [T]) -> Option<&'c T> {
        let count = u64::try_from(choices.len())
            .ok()
            .filter(|count| *count > 0)?;
        usize::try_from(self.next() % count)
            .ok()
            .and_then(|at| choices.get(at))
    }

    /// Yes, in so many of a hundred cases.
    pub const fn percent(&mut self, share: u64) -> bool {
        self.next() % 100 < share
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn row(seed: u64) -> Vec<u64> {
        let mut random = Random::new(seed);
        (0..50).map(|_| random.next()).collect()
    }

    #[test]
    fn rows_of_seeds_that_follow_each_other_have_nothing_in_common() {
        let rows: Vec<Vec<u64>> = (0..200).map(row).collect();
        let numbers: BTreeSet<u64> = rows.iter().flatten().copied().collect();
        assert_eq!(numbers.len(), 200 * 50);
        // Nor are they alike one by one, as they would be if only the first were hashed.
        let choices = |row: &Vec<u64>| row.iter().map(|number| number % 10).collect::<Vec<_>>();
        for two in rows.windows(2) {
            let [one, next] = two else { unreachable!() };
            for shift in 0..5 {
                let pairs = choices(one).into_iter().skip(shift).zip(choices(next));
                let alike = pairs.filter(|(here, there)| here == there).count();
                assert!(alike < 25, "{alike} of 50 are alike, {shift} further");
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_row_each_time() {
        assert_eq!(row(7), row(7));
    }
}
