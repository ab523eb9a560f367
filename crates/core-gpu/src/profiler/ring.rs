//! What one thread has recorded: its last spans in a ring, and sums by name that nothing is lost
//! from. The thread writes with plain stores; others read at any time and leave out what was being
//! written meanwhile.

use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicU64, Ordering, fence},
};

use super::name::{MOST_NAMES, SpanName};

/// Spans that a thread's ring holds; a power of two.
pub const RING_SPANS: usize = 4096;
/// Rows of sums in one piece of the table.
const ROWS: usize = 64;
/// Rings of ended threads that are kept with their spans. Of older ones the sums remain.
const MOST_ENDED: usize = 64;

/// One span of the host, as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub name: SpanName,
    /// How many spans of the thread it was in.
    pub depth: u32,
    pub start_ticks: u64,
    pub end_ticks: u64,
}

#[derive(Default)]
struct Slot {
    name_and_depth: AtomicU64,
    start: AtomicU64,
    end: AtomicU64,
}

/// Sums of one name on one thread. `epoch` says to which recording they belong: a reset needs not
/// write into other threads' rows.
#[derive(Default)]
struct Row {
    epoch: AtomicU64,
    count: AtomicU64,
    total: AtomicU64,
    own: AtomicU64,
    shortest: AtomicU64,
    longest: AtomicU64,
    /// As two's complement: memory may shrink in a span.
    memory_change: AtomicU64,
    memory_peak: AtomicU64,
    memory_spans: AtomicU64,
}

/// Sums of one name. Times in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    pub count: u64,
    pub total: u64,
    pub own: u64,
    pub shortest: u64,
    pub longest: u64,
    pub memory_change: i64,
    pub memory_peak: u64,
    pub memory_spans: u64,
}

impl Sums {
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.total += other.total;
        self.own += other.own;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        self.memory_change += other.memory_change;
        self.memory_peak = self.memory_peak.max(other.memory_peak);
        self.memory_spans += other.memory_spans;
    }
}

/// What a span did to the memory that its thread asked for.
#[derive(Clone, Copy, Debug)]
pub struct MemoryOfSpan {
    pub change: i64,
    pub peak: u64,
}

type Piece = Box<[Row; ROWS]>;

/// One thread's records.
pub struct Ring {
    slots: Box<[Slot; RING_SPANS]>,
    /// Spans written since the thread began.
    written: AtomicU64,
    rows: [OnceLock<Piece>; MOST_NAMES / ROWS],
    pub thread: String,
    pub number: u64,
}

/// Adds to a number that one thread writes.
#[inline]
fn raise(number: &AtomicU64, by: u64) {
    number.store(
        number.load(Ordering::Relaxed).wrapping_add(by),
        Ordering::Relaxed,
    );
}

impl Ring {
    fn new(number: u64) -> Self {
        let slots: Vec<Slot> = (0..RING_SPANS).map(|_| Slot::default()).collect();
        let current = std::thread::current();
        Self {
            slots: slots
                .into_boxed_slice()
                .try_into()
                .unwrap_or_else(|_| unreachable!("invariant: the vector has the array's length")),
            written: AtomicU64::new(0),
            rows: [const { OnceLock::new() }; MOST_NAMES / ROWS],
            thread: current
                .name()
                .map_or_else(|| format!("thread {number}"), str::to_owned),
            number,
        }
    }

    /// Records a span. Only the ring's own thread calls it.
    #[inline]
    pub fn record(&self, span: Recorded, own_ticks: u64, epoch: u64) {
        let written = self.written.load(Ordering::Relaxed);
        let slot = &self.slots[written as usize & (RING_SPANS - 1)];
        // A reader that sees one of the next stores sees the count before them, too, and knows
        // that the slot is being written anew.
        fence(Ordering::Release);
        let name = u64::from(span.name.number()) | u64::from(span.depth) << 32;
        slot.name_and_depth.store(name, Ordering::Relaxed);
        slot.start.store(span.start_ticks, Ordering::Relaxed);
        slot.end.store(span.end_ticks, Ordering::Relaxed);
        self.written.store(written + 1, Ordering::Release);
        let ticks = span.end_ticks.saturating_sub(span.start_ticks);
        self.row(span.name).add(ticks, own_ticks, epoch);
    }

    /// Adds what a span that was recorded just now did to memory.
    pub fn record_memory(&self, name: SpanName, memory: MemoryOfSpan) {
        let row = self.row(name);
        raise(&row.memory_change, memory.change.cast_unsigned());
        raise(&row.memory_spans, 1);
        let peak = row.memory_peak.load(Ordering::Relaxed).max(memory.peak);
        row.memory_peak.store(peak, Ordering::Relaxed);
    }

    #[inline]
    fn row(&self, name: SpanName) -> &Row {
        let index = name.index() & (MOST_NAMES - 1);
        let piece = self.rows[index / ROWS].get_or_init(new_piece);
        &piece[index % ROWS]
    }

    /// The spans that are still in the ring and begin at `since` or later, the oldest first, and how
    /// many the ring has forgotten in all.
    pub fn spans(&self, since: u64) -> (Vec<Recorded>, u64) {
        let before = self.written.load(Ordering::Acquire);
        let first = before.saturating_sub(RING_SPANS as u64);
        let read: Vec<_> = (first..before).map(|at| (at, self.read(at))).collect();
        fence(Ordering::Acquire);
        let after = self.written.load(Ordering::Relaxed);
        // The one after the last may be half written over the oldest.
        let sure = (after + 1).saturating_sub(RING_SPANS as u64);
        let spans = read
            .into_iter()
            .filter(|(at, span)| *at >= sure && span.start_ticks >= since)
            .map(|(_, span)| span)
            .collect();
        (spans, sure.max(first))
    }

    fn read(&self, at: u64) -> Recorded {
        let slot = &self.slots[at as usize & (RING_SPANS - 1)];
        let name = slot.name_and_depth.load(Ordering::Relaxed);
        Recorded {
            name: SpanName::from_number(name as u32),
            depth: (name >> 32) as u32,
            start_ticks: slot.start.load(Ordering::Relaxed),
            end_ticks: slot.end.load(Ordering::Relaxed),
        }
    }

    /// The sums of one recording, by name.
    pub fn sums(&self, epoch: u64) -> Vec<(SpanName, Sums)> {
        let mut found = Vec::new();
        for (piece_index, piece) in self.rows.iter().enumerate() {
            let Some(piece) = piece.get() else { continue };
            for (row_index, row) in piece.iter().enumerate() {
                let Some(sums) = row.read(epoch) else {
                    continue;
                };
                let number = u32::try_from(piece_index * ROWS + row_index).unwrap_or(0);
                found.push((SpanName::from_number(number), sums));
            }
        }
        found
    }
}

#[cold]
fn new_piece() -> Piece {
    let rows: Vec<Row> = (0..ROWS).map(|_| Row::default()).collect();
    rows.into_boxed_slice()
        .try_into()
        .unwrap_or_else(|_| unreachable!("invariant: the vector has the array's length"))
}

impl Row {
    #[inline]
    fn add(&self, ticks: u64, own: u64, epoch: u64) {
        if self.epoch.load(Ordering::Relaxed) != epoch {
            self.begin(epoch);
        }
        raise(&self.total, ticks);
        raise(&self.own, own);
        if ticks < self.shortest.load(Ordering::Relaxed) {
            self.shortest.store(ticks, Ordering::Relaxed);
        }
        if ticks > self.longest.load(Ordering::Relaxed) {
            self.longest.store(ticks, Ordering::Relaxed);
        }
        raise(&self.count, 1);
    }

    /// The first span of a recording: what the row held before belongs to another.
    #[cold]
    fn begin(&self, epoch: u64) {
        self.count.store(0, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
        self.own.store(0, Ordering::Relaxed);
        self.shortest.store(u64::MAX, Ordering::Relaxed);
        self.longest.store(0, Ordering::Relaxed);
        self.memory_change.store(0, Ordering::Relaxed);
        self.memory_peak.store(0, Ordering::Relaxed);
        self.memory_spans.store(0, Ordering::Relaxed);
        self.epoch.store(epoch, Ordering::Release);
    }

    fn read(&self, epoch: u64) -> Option<Sums> {
        if self.epoch.load(Ordering::Acquire) != epoch {
            return None;
        }
        let count = self.count.load(Ordering::Relaxed);
        (count > 0).then(|| Sums {
            count,
            total: self.total.load(Ordering::Relaxed),
            own: self.own.load(Ordering::Relaxed),
            shortest: self.shortest.load(Ordering::Relaxed),
            longest: self.longest.load(Ordering::Relaxed),
            memory_change: self.memory_change.load(Ordering::Relaxed).cast_signed(),
            memory_peak: self.memory_peak.load(Ordering::Relaxed),
            memory_spans: self.memory_spans.load(Ordering::Relaxed),
        })
    }
}

/// All threads' rings.
#[derive(Default)]
pub struct Rings {
    pub live: Vec<Arc<Ring>>,
    pub ended: Vec<Arc<Ring>>,
    /// Sums of threads whose rings are gone, of the recording `folded_epoch`.
    pub folded: Vec<(SpanName, Sums)>,
    pub folded_epoch: u64,
    made: u64,
}

pub fn rings() -> MutexGuard<'static, Rings> {
    static RINGS: OnceLock<Mutex<Rings>> = OnceLock::new();
    let rings = RINGS.get_or_init(Mutex::default);
    rings.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rings {
    fn fold(&mut self, ring: &Ring, epoch: u64) {
        if self.folded_epoch != epoch {
            self.folded.clear();
            self.folded_epoch = epoch;
        }
        for (name, sums) in ring.sums(epoch) {
            match self.folded.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.add(&sums),
                None => self.folded.push((name, sums)),
            }
        }
    }
}

/// A thread's own ring: in the table of all as long as the thread runs.
pub struct OwnRing(pub Arc<Ring>);

impl OwnRing {
    pub fn new() -> Self {
        let mut rings = rings();
        rings.made += 1;
        let ring = Arc::new(Ring::new(rings.made));
        rings.live.push(Arc::clone(&ring));
        Self(ring)
    }
}

impl Drop for OwnRing {
    fn drop(&mut self) {
        let mut rings = rings();
        rings.live.retain(|ring| !Arc::ptr_eq(ring, &self.0));
        if self.0.written.load(Ordering::Relaxed) == 0 {
            return;
        }
        rings.ended.push(Arc::clone(&self.0));
        if rings.ended.len() > MOST_ENDED {
            let oldest = rings.ended.remove(0);
            rings.fold(&oldest, super::span::epoch());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(at: u64) -> Recorded {
        Recorded {
            name: SpanName::from_number(7),
            depth: 0,
            start_ticks: at * 10,
            end_ticks: at * 10 + 3,
        }
    }

    #[test]
    fn the_ring_forgets_the_oldest_and_the_sums_forget_nothing() {
        let ring = Ring::new(1);
        let many = RING_SPANS as u64 + 100;
        for at in 0..many {
            ring.record(span(at), 2, 3);
        }
        let (spans, forgotten) = ring.spans(0);
        assert_eq!(spans.last(), Some(&span(many - 1)));
        assert_eq!(spans.len() as u64 + forgotten, many);
        let [(name, sums)] = ring.sums(3)[..] else {
            panic!("one name")
        };
        assert_eq!(
            (name.number(), sums.count, sums.total, sums.own),
            (7, many, many * 3, many * 2)
        );
        assert_eq!((sums.shortest, sums.longest), (3, 3));
        assert!(ring.sums(4).is_empty());
    }

    #[test]
    fn what_is_read_beside_the_writer_is_whole() {
        let ring = Arc::new(Ring::new(1));
        let writer = Arc::clone(&ring);
        let thread = std::thread::spawn(move || {
            for at in 0..200_000 {
                writer.record(span(at), 0, 1);
            }
        });
        while !thread.is_finished() {
            let (spans, _) = ring.spans(0);
            let whole = spans
                .iter()
                .all(|span| span.end_ticks == span.start_ticks + 3);
            assert!(whole, "a span of two");
            assert!(spans.is_sorted_by_key(|span| span.start_ticks));
        }
        thread.join().unwrap();
    }
}
