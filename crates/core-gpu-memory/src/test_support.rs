//! For tests and benchmarks: a small generator of numbers that a seed repeats exactly, what programs
//! ask for of memory, and short forms of what tests need often.

use core_gpu_driver::{DriverError, Event, EventKind, Stream};

/// Lets one stream's work come before what another does from now on.
///
/// # Errors
/// As the driver's calls fail.
pub fn order(before: &Stream, after: &Stream) -> Result<(), DriverError> {
    let event = Event::new(before.driver(), EventKind::Order)?;
    before.record(&event)?;
    after.wait(&event)
}

/// Variables as a program has them.
#[must_use]
pub fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    owned.collect()
}

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

/// What a program asks for, step by step, with at most a thousand blocks at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trace {
    /// Any length up to 1 MiB.
    Random,
    /// Any length up to 256 KiB: fills up, empties, fills up.
    GrowShrink,
    /// First short ones, then ever longer ones up to 1 MiB, while the short ones go.
    SizeShift,
}

impl Trace {
    /// All of them, by name.
    pub const ALL: [(&'static str, Trace); 3] = [
        ("random", Trace::Random),
        ("grow-shrink", Trace::GrowShrink),
        ("size-shift", Trace::SizeShift),
    ];

    /// The trace of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Trace> {
        let mut all = Trace::ALL.into_iter();
        all.find(|(known, _)| *known == name)
            .map(|(_, trace)| trace)
    }

    /// The length of the next request in bytes, and whether a block goes instead if there is one.
    pub fn next(self, rng: &mut Rng, step: u64, live: usize) -> (usize, bool) {
        let full = live >= 1_000;
        match self {
            Trace::Random => (1 + rng.below(1 << 20) as usize, full || rng.below(2) == 0),
            Trace::GrowShrink => {
                let shrinks = (step / 2_000) % 2 == 1;
                let length = 1 + rng.below(256 << 10) as usize;
                (length, full || rng.below(8) < if shrinks { 7 } else { 1 })
            }
            Trace::SizeShift => {
                let longest = 1_u64 << (10 + (step / 5_000) % 11);
                (1 + rng.below(longest) as usize, full || rng.below(2) == 0)
            }
        }
    }
}
