//! Vector clocks: what is known to come before what. A point in the past is a stream and how much
//! was on it; a clock says, for each stream, how much of it comes before.

use std::collections::BTreeMap;

/// A stream's key within its machine.
pub type StreamKey = u64;

/// One piece of work: the stream that it is on, and its number there, from one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// The stream.
    pub stream: StreamKey,
    /// The number.
    pub sequence: u64,
}

/// For each stream, the last piece of work that comes before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(BTreeMap<StreamKey, u64>);

impl Clock {
    /// Whether the moment comes before (or is) what the clock stands for.
    #[must_use]
    pub fn knows(&self, moment: Moment) -> bool {
        self.0
            .get(&moment.stream)
            .is_some_and(|known| *known >= moment.sequence)
    }

    /// Comes after everything that the other comes after, too.
    pub fn join(&mut self, other: &Self) {
        for (stream, sequence) in &other.0 {
            let known = self.0.entry(*stream).or_default();
            *known = (*known).max(*sequence);
        }
    }

    /// Comes after a moment, too.
    pub fn learn(&mut self, moment: Moment) {
        let known = self.0.entry(moment.stream).or_default();
        *known = (*known).max(moment.sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_knows_what_it_joined_and_no_more() {
        let at = |stream, sequence| Moment { stream, sequence };
        let (mut one, mut two) = (Clock::default(), Clock::default());
        one.learn(at(1, 3));
        two.learn(at(2, 5));
        assert!(one.knows(at(1, 2)) && !one.knows(at(1, 4)) && !one.knows(at(2, 1)));
        one.join(&two);
        assert!(one.knows(at(2, 5)) && !one.knows(at(2, 6)));
    }
}
