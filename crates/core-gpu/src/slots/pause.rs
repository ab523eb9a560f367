//! How long to wait before asking again: longer each time up to a limit, and never in step with
//! others.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    time::Duration,
};

/// The first pause at most, and any at most, in microseconds.
const FIRST: u64 = 500;
const LONGEST: u64 = 20_000;

/// Pauses, one after another.
#[derive(Debug)]
pub(super) struct Pause {
    limit: u64,
    state: u64,
}

impl Pause {
    pub(super) fn new() -> Self {
        // The standard library's keys are random: that is all that is needed here.
        let state = RandomState::new().build_hasher().finish() | 1;
        Self {
            limit: FIRST,
            state,
        }
    }

    /// A number below `bound`, or 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        // Marsaglia's shifts: enough to be out of step.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.checked_rem(bound).unwrap_or(0)
    }

    /// The next pause: from half of the limit to the limit, which doubles.
    pub(super) fn next(&mut self) -> Duration {
        let half = self.limit / 2;
        let pause = half + self.below(half + 1);
        self.limit = (self.limit * 2).min(LONGEST);
        Duration::from_micros(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_below_the_longest() {
        let mut pause = Pause::new();
        let pauses: Vec<_> = (0..100).map(|_| pause.next().as_micros()).collect();
        assert!(pauses.iter().all(|pause| (250..=20_000).contains(pause)));
        assert!(pauses.iter().skip(10).all(|pause| *pause >= 10_000));
    }
}
