//! The link between the host and each device: it moves one copy at a time each way, whichever streams
//! the copies are on, and both ways at once. A copy takes the first time that is free and long enough, so
//! that none waits for one that was put on its stream earlier and cannot begin yet.

use std::collections::BTreeMap;

/// Which way bytes go over a device's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    /// To the device.
    In,
    /// From it.
    Out,
}

/// One direction of one device's link.
pub(crate) type LinkKey = (u32, Direction);

/// When each link is busy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    /// By the beginning: the end, both in nanoseconds. Disjoint; neighbours are joined.
    busy: BTreeMap<LinkKey, BTreeMap<u64, u64>>,
}

impl Links {
    /// Takes these links for so long, all at once, as early as they are free from `from` on. The answer
    /// is the beginning. Nothing is asked for before `now` any more.
    pub(crate) fn take(&mut self, keys: &[LinkKey], now: u64, from: u64, nanoseconds: u64) -> u64 {
        if nanoseconds == 0 {
            return from;
        }
        let mut begins = from;
        while let Some(later) = keys
            .iter()
            .find_map(|key| self.busy_within(*key, begins, begins.saturating_add(nanoseconds)))
        {
            begins = later;
        }
        for key in keys {
            let times = self.busy.entry(*key).or_default();
            times.retain(|_, end| *end > now);
            add(times, begins, begins.saturating_add(nanoseconds));
        }
        begins
    }

    /// The end of a time within these bounds in which the link is busy.
    fn busy_within(&self, key: LinkKey, start: u64, end: u64) -> Option<u64> {
        let (_, until) = self.busy.get(&key)?.range(..end).next_back()?;
        (*until > start).then_some(*until)
    }
}

fn add(times: &mut BTreeMap<u64, u64>, mut start: u64, mut end: u64) {
    if let Some(after) = times.remove(&end) {
        end = after;
    }
    let before = times.range(..start).next_back();
    if let Some((first, _)) = before.filter(|(_, until)| **until == start) {
        start = *first;
    }
    times.insert(start, end);
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN: LinkKey = (0, Direction::In);
    const OUT: LinkKey = (0, Direction::Out);

    #[test]
    fn copies_of_one_direction_come_one_after_another() {
        let mut links = Links::default();
        assert_eq!(links.take(&[IN], 0, 5, 10), 5);
        assert_eq!(links.take(&[IN], 0, 0, 10), 15);
        assert_eq!(links.take(&[OUT], 0, 0, 10), 0);
        assert_eq!(links.take(&[(1, Direction::In)], 0, 0, 10), 0);
        assert_eq!(links.take(&[IN], 0, 0, 5), 0, "before the first");
        assert_eq!(links.take(&[IN], 0, 0, 1), 25, "the times are joined");
        assert_eq!(links.busy[&IN].len(), 1);
    }

    #[test]
    fn a_copy_between_devices_takes_both_links_at_once() {
        let mut links = Links::default();
        links.take(&[OUT], 0, 0, 10);
        links.take(&[(1, Direction::In)], 0, 12, 10);
        assert_eq!(links.take(&[OUT, (1, Direction::In)], 0, 0, 5), 22);
        assert_eq!(links.take(&[OUT], 30, 30, 5), 30);
        assert_eq!(links.busy[&OUT].len(), 1, "what is over is forgotten");
    }
}
