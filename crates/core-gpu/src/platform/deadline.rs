//! Until when somebody waits.

use std::time::{Duration, Instant};

/// Until when a call may wait. Monotonic time: a clock that is set does not move it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// No end.
    #[must_use]
    pub const fn never() -> Self {
        Self(None)
    }

    /// Not at all: try, and answer.
    #[must_use]
    pub fn now() -> Self {
        Self(Some(Instant::now()))
    }

    /// So long from now. A time that a clock cannot hold has no end.
    #[must_use]
    pub fn after(wait: Duration) -> Self {
        Self(Instant::now().checked_add(wait))
    }

    /// Then.
    #[must_use]
    pub const fn at(end: Instant) -> Self {
        Self(Some(end))
    }

    /// How long is left: nothing when it is over, `None` when it has no end.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.0
            .map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether it is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_over_when_its_time_is() {
        assert!(Deadline::now().is_over());
        assert!(!Deadline::never().is_over());
        assert!(!Deadline::after(Duration::from_secs(60)).is_over());
        assert_eq!(Deadline::after(Duration::MAX).left(), None);
    }
}
