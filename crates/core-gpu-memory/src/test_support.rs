//! For tests and benchmarks: a small generator of numbers that a seed repeats exactly.

/// Xorshift with a mixed seed; good enough for traces, for nothing else.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The same numbers for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Rng {
        Rng((seed.wrapping_add(1)).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`; zero if `bound` is.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            0
        } else {
            (self.number() >> 11) % bound
        }
    }
}
