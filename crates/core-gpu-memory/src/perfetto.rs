//! A pool's numbers over time, as counter tracks that Perfetto and Chrome's tracing page show.

use std::{
    fmt::Write as _,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::{MemoryEvent, Observer, PoolStatistics};

/// Samples that are kept; after that every second one is dropped, and so on.
const MOST_SAMPLES: usize = 1 << 16;

#[derive(Debug, Clone, Copy)]
struct Sample {
    microseconds: u64,
    in_use: i128,
    reserved: i128,
}

#[derive(Debug, Default)]
struct Books {
    in_use: i128,
    reserved: i128,
    samples: Vec<Sample>,
    /// Every so many events one is kept.
    stride: u64,
    seen: u64,
}

/// Hears what a pool does and remembers how much was in use and reserved. Give it to the pool that
/// it is for when that is made; two pools want one each. May be used from several threads; costs a lock
/// for each event. Bytes count whole blocks.
#[derive(Debug)]
pub struct PerfettoCounters {
    start: Instant,
    books: Mutex<Books>,
}

impl Default for PerfettoCounters {
    fn default() -> PerfettoCounters {
        PerfettoCounters::new()
    }
}

impl PerfettoCounters {
    /// Time begins now.
    #[must_use]
    pub fn new() -> PerfettoCounters {
        PerfettoCounters {
            start: Instant::now(),
            books: Mutex::new(Books {
                stride: 1,
                ..Books::default()
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counters as a trace, in the JSON that Perfetto opens. Times are microseconds since this
    /// was made; values are bytes.
    #[must_use]
    pub fn to_json(&self, pool: &str) -> String {
        let name = serde_json::Value::from(pool);
        let mut json = String::from("{\"traceEvents\":[");
        for (index, sample) in self.lock().samples.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(
                json,
                "{comma}{{\"ph\":\"C\",\"pid\":1,\"name\":{name},\"ts\":{},\"args\":{{\"in use\":{},\
                 \"reserved\":{}}}}}",
                sample.microseconds, sample.in_use, sample.reserved
            );
        }
        json.push_str("],\"displayTimeUnit\":\"ms\"}");
        json
    }
}

impl Observer for PerfettoCounters {
    fn event(&self, event: &MemoryEvent) {
        let elapsed = self.start.elapsed().as_micros();
        let mut books = self.lock();
        match event {
            MemoryEvent::Allocated { bytes, .. } => books.in_use += i128::from(*bytes),
            MemoryEvent::Freed { bytes, .. } => books.in_use -= i128::from(*bytes),
            MemoryEvent::Grown { bytes } => books.reserved += i128::from(*bytes),
            MemoryEvent::Trimmed { bytes } => books.reserved -= i128::from(*bytes),
            MemoryEvent::Step { .. }
            | MemoryEvent::Spilled { .. }
            | MemoryEvent::Promoted { .. }
            | MemoryEvent::FailedFree { .. } => return,
        }
        books.sample(u64::try_from(elapsed).unwrap_or(u64::MAX));
    }
}

impl Books {
    fn sample(&mut self, microseconds: u64) {
        self.seen += 1;
        if !self.seen.is_multiple_of(self.stride) {
            return;
        }
        if self.samples.len() >= MOST_SAMPLES {
            let mut index = 0;
            self.samples.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.stride *= 2;
        }
        self.samples.push(Sample {
            microseconds,
            in_use: self.in_use,
            reserved: self.reserved,
        });
    }
}

impl PoolStatistics {
    /// One sample of all counters as events of a trace, without the list around them: for a
    /// program that writes its own trace. `microseconds` is the trace's time.
    #[must_use]
    pub fn perfetto_events(&self, pool: &str, microseconds: u64) -> Vec<serde_json::Value> {
        let counters = [
            ("in use", self.bytes_in_use),
            ("reserved", self.reserved_bytes),
            ("padding", self.padding_bytes),
            ("pending", self.pending_bytes),
            ("in thread caches", self.thread_cached_bytes),
            ("kept by length", self.depot_bytes),
            ("quarantined", self.quarantined_bytes),
        ];
        let event = |(name, bytes): (&str, u64)| {
            serde_json::json!({
                "ph": "C", "pid": 1, "ts": microseconds,
                "name": format!("{pool} {name}"), "args": {"bytes": bytes},
            })
        };
        counters.into_iter().map(event).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn a_trace_has_what_happened_and_stays_bounded() {
        let counters = PerfettoCounters::new();
        counters.event(&MemoryEvent::Grown { bytes: 4096 });
        for at in 0..100_000 {
            let (address, bytes, by) = (at, 1, Source::UNNAMED);
            counters.event(&MemoryEvent::Allocated { address, bytes, by });
        }
        let json: serde_json::Value =
            serde_json::from_str(&counters.to_json("a \"pool\"")).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        assert!(
            events.len() > 10_000 && events.len() <= MOST_SAMPLES,
            "{}",
            events.len()
        );
        assert_eq!(events[10]["name"], "a \"pool\"");
        assert_eq!(events[10]["args"]["reserved"], 4096);
        let values: Vec<_> = events
            .iter()
            .map(|event| event["args"]["in use"].as_u64().unwrap())
            .collect();
        assert!(values.is_sorted());
    }
}
