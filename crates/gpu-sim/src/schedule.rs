//! In which order a machine does what could be done: the freedom that a real device has, made a
//! choice. Every schedule keeps the order that streams and events demand, and no other.

/// A machine's choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// All work is done at once, as far as it can be.
    Eager,
    /// Work is done when somebody waits for it, and only what that needs. A forgotten wait shows.
    #[default]
    Latest,
    /// All streams are eager but one, which is late: the n-th made on the machine, from zero on.
    OneLate(usize),
    /// Whatever this seed says, after every call and before every wait.
    Seeded(u64),
}

/// Numbers that look random and are the same for the same seed (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; zero when that is zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        match bound as u64 {
            0 => 0,
            bound => (self.next() % bound) as usize,
        }
    }
}
