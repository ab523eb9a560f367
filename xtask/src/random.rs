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
    /// The row that belongs to `seed`.
    pub const fn new(seed: u64) -> Self {
        Self {
            state: seed.wrapping_mul(STEP),
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
