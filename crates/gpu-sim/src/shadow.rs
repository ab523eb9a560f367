//! What is known about each byte: who may touch it, and who touched it last. Neighbouring bytes of
//! which the same is known are one entry. The bytes themselves are elsewhere.

use std::collections::BTreeMap;

use crate::{
    clock::{Clock, Moment, StreamKey},
    violation::ViolationKind,
};

/// Who may touch a byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Holder {
    /// Nothing was ever said about it: any stream.
    #[default]
    Anybody,
    /// Nobody, for the moment or for good.
    Nobody,
    /// Work on these streams.
    Streams(Vec<StreamKey>),
}

/// Whose a byte is, for a graph that is launched long after it was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// Counts up each time that a byte is handed out; zero while nobody holds it.
    pub serial: u64,
    /// It is kept for a graph, whoever holds it.
    pub of_graph: bool,
}

/// What is known about a byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    holder: Holder,
    owner: Owner,
    /// The last work that wrote it.
    write: Option<Moment>,
    /// The last work of each stream that read it since.
    reads: Vec<Moment>,
}

impl Known {
    fn touched_by(&self) -> impl Iterator<Item = Moment> {
        self.write.into_iter().chain(self.reads.iter().copied())
    }
}

/// Bytes next to each other that broke a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The first byte.
    pub address: u64,
    /// How many.
    pub bytes: u64,
    /// The rule.
    pub kind: ViolationKind,
}

/// How work touches bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads them.
    Read,
    /// It writes them.
    Write,
}

/// What is known about all bytes. Bytes that it never heard of anybody may touch.
#[derive(Clone, Debug, Default)]
pub struct Shadow {
    /// By first byte: one past the last, and what is known. Disjoint; neighbours differ.
    entries: BTreeMap<u64, (u64, Known)>,
    /// How often bytes were handed out.
    serial: u64,
}

impl Shadow {
    /// Work touches bytes. `clock` is the work's own: what comes before it.
    pub fn touch(
        &mut self,
        (start, end): (u64, u64),
        access: Access,
        by: Moment,
        clock: &Clock,
    ) -> Option<Broken> {
        self.change(start, end, |known| {
            let held = match known.owner.of_graph {
                true => None,
                false => may_touch(known, by.stream),
            };
            let broken = held.or_else(|| race(known, access, by, clock));
            match access {
                Access::Write => {
                    known.write = Some(by);
                    known.reads.clear();
                }
                Access::Read => {
                    known.reads.retain(|read| read.stream != by.stream);
                    known.reads.push(by);
                }
            }
            broken
        })
    }

    /// The rule that [`Shadow::touch`] would find broken. Changes nothing: a call that is refused
    /// has not touched anything.
    pub fn would_break(
        &self,
        (start, end): (u64, u64),
        access: Access,
        by: Moment,
        clock: &Clock,
    ) -> Option<Broken> {
        for (address, end, known) in self.overlapping((start, end)) {
            let held = match known.owner.of_graph {
                // Captured work touches what was its when it was captured.
                true => None,
                false => may_touch(known, by.stream),
            };
            if let Some(kind) = held.or_else(|| race(known, access, by, clock)) {
                return Some(Broken {
                    address,
                    bytes: end.saturating_sub(address),
                    kind,
                });
            }
        }
        None
    }

    /// Bytes are handed out for a stream. `clock` is what work put on it now comes after.
    pub fn hand_out(
        &mut self,
        (start, end): (u64, u64),
        stream: StreamKey,
        clock: &Clock,
    ) -> Option<Broken> {
        self.serial += 1;
        let serial = self.serial;
        self.change(start, end, |known| {
            let held = matches!(known.holder, Holder::Streams(_));
            known.holder = Holder::Streams(vec![stream]);
            known.owner.serial = serial;
            if held {
                return Some(ViolationKind::HandedOutTwice);
            }
            let other = known.touched_by().find(|moment| !clock.knows(*moment))?;
            Some(ViolationKind::ReusedTooEarly {
                stream,
                other: other.stream,
            })
        })
    }

    /// Bytes that were handed out are used on another stream as well.
    pub fn share(&mut self, (start, end): (u64, u64), stream: StreamKey) -> Option<Broken> {
        self.change(start, end, |known| match &mut known.holder {
            Holder::Streams(streams) => {
                if !streams.contains(&stream) {
                    streams.push(stream);
                    streams.sort_unstable();
                }
                None
            }
            Holder::Anybody => None,
            Holder::Nobody => Some(ViolationKind::TouchesFree { stream }),
        })
    }

    /// Bytes are taken back. Taking back what nobody holds is an error, unless it was never said
    /// who may touch them, or they are being given up.
    pub fn take_back(&mut self, (start, end): (u64, u64), for_good: bool) -> Option<Broken> {
        self.change(start, end, |known| {
            let free = known.holder == Holder::Nobody;
            known.holder = Holder::Nobody;
            known.owner.serial = 0;
            (free && !for_good).then_some(ViolationKind::FreedTwice)
        })
    }

    /// Bytes are kept for a graph: whoever they are handed out to, its launches may touch them.
    pub fn keep_for_graph(&mut self, (start, end): (u64, u64)) {
        self.change(start, end, |known| {
            known.owner.of_graph = true;
            None
        });
    }

    /// Whose these bytes are, piece by piece. Bytes that were never heard of are nobody's, as those
    /// that were only touched: a first touch changes no owner.
    pub fn owners(&self, (start, end): (u64, u64)) -> Vec<Owner> {
        let mut owners = Vec::new();
        let mut at = start;
        for (from, to, known) in self.overlapping((start, end)) {
            if at < from {
                owners.push(Owner::default());
            }
            owners.push(known.owner);
            at = to;
        }
        if at < end {
            owners.push(Owner::default());
        }
        owners.dedup();
        owners
    }

    /// The rule that work on a stream would break by touching these bytes, whatever its order.
    pub fn forbids(&self, (start, end): (u64, u64), stream: StreamKey) -> Option<Broken> {
        self.overlapping((start, end)).find_map(|(at, to, known)| {
            let kind = may_touch(known, stream)?;
            Some(Broken {
                address: at,
                bytes: to - at,
                kind,
            })
        })
    }

    /// What is known of a range: each piece of it, with its first byte and one past its last.
    fn overlapping(&self, (start, end): (u64, u64)) -> impl Iterator<Item = (u64, u64, &Known)> {
        let before = self.entries.range(..start).next_back();
        before
            .into_iter()
            .filter(move |(_, (entry_end, _))| *entry_end > start)
            .chain(self.entries.range(start..end))
            .map(move |(at, (entry_end, known))| ((*at).max(start), (*entry_end).min(end), known))
    }

    /// Work on these bytes that does not come before what the clock stands for.
    pub fn unfinished(&self, (start, end): (u64, u64), clock: &Clock) -> Option<Moment> {
        self.overlapping((start, end))
            .flat_map(|(_, _, known)| known.touched_by())
            .find(|moment| !clock.knows(*moment))
    }

    /// Forgets bytes: the driver has taken them back.
    pub fn forget(&mut self, (start, end): (u64, u64)) {
        self.split(start);
        self.split(end);
        let gone: Vec<u64> = self.entries.range(start..end).map(|(at, _)| *at).collect();
        for at in gone {
            self.entries.remove(&at);
        }
    }

    /// Changes what is known about bytes, piece by piece. The first rule broken is the answer.
    fn change(
        &mut self,
        start: u64,
        end: u64,
        mut change: impl FnMut(&mut Known) -> Option<ViolationKind>,
    ) -> Option<Broken> {
        if start >= end {
            return None;
        }
        self.split(start);
        self.split(end);
        self.fill(start, end);
        let mut broken = None;
        for (at, (piece_end, known)) in self.entries.range_mut(start..end) {
            let kind = change(known);
            broken = broken.or_else(|| {
                kind.map(|kind| Broken {
                    address: *at,
                    bytes: *piece_end - *at,
                    kind,
                })
            });
        }
        self.merge(start, end);
        broken
    }

    /// Makes `at` a boundary.
    fn split(&mut self, at: u64) {
        let Some((start, (end, known))) = self.entries.range_mut(..at).next_back() else {
            return;
        };
        if *end <= at || *start == at {
            return;
        }
        let (old_end, right) = (*end, known.clone());
        *end = at;
        self.entries.insert(at, (old_end, right));
    }

    /// Puts entries where there are none.
    fn fill(&mut self, start: u64, end: u64) {
        let mut gaps = Vec::new();
        let mut at = start;
        for (entry, (entry_end, _)) in self.entries.range(start..end) {
            if *entry > at {
                gaps.push((at, *entry));
            }
            at = *entry_end;
        }
        if at < end {
            gaps.push((at, end));
        }
        for (gap, gap_end) in gaps {
            self.entries.insert(gap, (gap_end, Known::default()));
        }
    }

    /// Joins neighbours of which the same is known, from just before `start` to just after `end`.
    fn merge(&mut self, start: u64, end: u64) {
        let first = self.entries.range(..start).next_back().map(|(at, _)| *at);
        let mut at = first.unwrap_or(start);
        while let Some((entry_end, known)) = self.entries.get(&at) {
            let entry_end = *entry_end;
            let same = self
                .entries
                .get(&entry_end)
                .filter(|(_, next)| next == known)
                .map(|(next_end, _)| *next_end);
            match same {
                Some(next_end) => {
                    self.entries.remove(&entry_end);
                    if let Some(entry) = self.entries.get_mut(&at) {
                        entry.0 = next_end;
                    }
                }
                None if entry_end > end => return,
                None => {
                    let next = self.entries.range(entry_end..).next();
                    let Some((next, _)) = next.filter(|(next, _)| **next <= end) else {
                        return;
                    };
                    at = *next;
                }
            }
        }
    }
}

fn may_touch(known: &Known, stream: StreamKey) -> Option<ViolationKind> {
    match &known.holder {
        Holder::Anybody => None,
        Holder::Nobody => Some(ViolationKind::TouchesFree { stream }),
        Holder::Streams(streams) if streams.contains(&stream) => None,
        Holder::Streams(_) => Some(ViolationKind::NotDeclared { stream }),
    }
}

fn race(known: &Known, access: Access, by: Moment, clock: &Clock) -> Option<ViolationKind> {
    let reads = match access {
        Access::Write => known.reads.as_slice(),
        Access::Read => &[],
    };
    let mut before = known.write.iter().chain(reads);
    let other = before.find(|moment| !clock.knows(**moment))?;
    Some(ViolationKind::Race {
        stream: by.stream,
        other: other.stream,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(stream: u64, sequence: u64) -> Moment {
        Moment { stream, sequence }
    }

    fn clock(moments: &[Moment]) -> Clock {
        let mut clock = Clock::default();
        for moment in moments {
            clock.learn(*moment);
        }
        clock
    }

    fn kind(broken: Option<Broken>) -> Option<ViolationKind> {
        broken.map(|broken| broken.kind)
    }

    #[test]
    fn one_byte_of_a_free_region_is_enough() {
        let mut shadow = Shadow::default();
        assert_eq!(shadow.take_back((0, 100), false), None);
        assert_eq!(shadow.hand_out((10, 20), 1, &Clock::default()), None);
        let own = clock(&[at(1, 1)]);
        assert_eq!(shadow.touch((10, 20), Access::Write, at(1, 1), &own), None);
        let broken = shadow.touch((10, 21), Access::Read, at(1, 2), &own);
        let wanted = Broken {
            address: 20,
            bytes: 1,
            kind: ViolationKind::TouchesFree { stream: 1 },
        };
        assert_eq!(broken, Some(wanted));
    }

    #[test]
    fn writes_must_wait_for_writes_and_reads() {
        let mut shadow = Shadow::default();
        let race = |stream, other| Some(ViolationKind::Race { stream, other });
        let none = Clock::default();
        assert_eq!(shadow.touch((0, 8), Access::Write, at(1, 1), &none), None);
        let second = shadow.touch((0, 8), Access::Read, at(2, 1), &none);
        assert_eq!(kind(second), race(2, 1));
        let third = shadow.touch((0, 8), Access::Write, at(3, 1), &clock(&[at(1, 1)]));
        assert_eq!(kind(third), race(3, 2));
        let fourth = shadow.touch((0, 8), Access::Write, at(4, 1), &clock(&[at(3, 1)]));
        assert_eq!(fourth, None);
    }

    #[test]
    fn reuse_on_another_stream_waits_for_reads_too() {
        let mut shadow = Shadow::default();
        shadow.take_back((0, 8), false);
        shadow.hand_out((0, 8), 1, &Clock::default());
        shadow.touch((0, 8), Access::Read, at(1, 1), &Clock::default());
        shadow.take_back((0, 8), false);
        let early = shadow.clone().hand_out((0, 8), 2, &Clock::default());
        let wanted = ViolationKind::ReusedTooEarly {
            stream: 2,
            other: 1,
        };
        assert_eq!(kind(early), Some(wanted));
        assert_eq!(shadow.hand_out((0, 8), 2, &clock(&[at(1, 1)])), None);
    }

    #[test]
    fn a_first_touch_changes_no_owner() {
        let mut shadow = Shadow::default();
        let before = shadow.owners((0, 30));
        shadow.touch((10, 20), Access::Write, at(1, 1), &Clock::default());
        assert_eq!(shadow.owners((0, 30)), before);
        shadow.hand_out((20, 30), 1, &clock(&[at(1, 1)]));
        assert_eq!(shadow.owners((0, 30)).len(), 2);
        assert_ne!(shadow.owners((20, 30)), before);
    }

    #[test]
    fn entries_are_joined_again() {
        let mut shadow = Shadow::default();
        shadow.take_back((0, 100), false);
        for start in [0, 20, 10, 30] {
            shadow.hand_out((start, start + 10), 1, &Clock::default());
        }
        for start in [30, 0, 10, 20] {
            shadow.take_back((start, start + 10), false);
        }
        assert_eq!(shadow.entries.len(), 1);
        assert_eq!(
            kind(shadow.take_back((5, 6), false)),
            Some(ViolationKind::FreedTwice)
        );
        shadow.forget((0, 100));
        assert!(shadow.entries.is_empty());
    }
}
