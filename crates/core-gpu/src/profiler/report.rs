//! What was recorded, in numbers: for reading, as JSON, and as what the rules of
//! [`super::Recommendation`] look at.

use std::{collections::BTreeMap, fmt::Write as _};

use core_gpu_driver::ticks::Rate;
use serde::Serialize;

use super::{
    advice::{self, Recommendation, Thresholds},
    device::{self, Done},
    memory::{self, MemoryActivity},
    name::SpanName,
    ring::{self, Recorded, Sums},
    span,
};

/// Spans of one name on the host, all threads together. Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SpanStatistics {
    /// How many there were.
    pub count: u64,
    /// Their time together.
    pub total: u64,
    /// The part of it that was in no span inside of them.
    pub own: u64,
    /// The shortest.
    pub shortest: u64,
    /// The longest.
    pub longest: u64,
    /// The one in the middle, of those that the threads' rings still hold.
    pub median: u64,
    /// The one that 95 of 100 are not longer than, of those that the rings still hold.
    pub percentile_95: u64,
    /// What the spans that watched memory did to it; `None` if none did.
    pub memory: Option<SpanMemory>,
}

impl SpanStatistics {
    /// Nanoseconds of one, on average.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.total as f64 / self.count.max(1) as f64
    }
}

/// Memory of the spans that watched it, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SpanMemory {
    /// How many spans watched.
    pub spans: u64,
    /// How much more was held at their ends than at their beginnings, summed.
    pub change: i64,
    /// The most that one held more than at its beginning.
    pub peak: u64,
}

/// Spans of one name on one device. Times in nanoseconds of the device's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DeviceSpanStatistics {
    /// How many there were.
    pub count: u64,
    /// Their time together.
    pub total: u64,
    /// The shortest.
    pub shortest: u64,
    /// The longest.
    pub longest: u64,
    /// How many of them moved bytes over the link.
    pub transfers: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

/// One device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceReport {
    /// Its identity.
    pub id: String,
    /// Its platform and name.
    pub device: String,
    /// Its spans, by name.
    pub spans: BTreeMap<String, DeviceSpanStatistics>,
    /// Time of spans that compute, in nanoseconds.
    pub compute: u64,
    /// Time of spans that move bytes over the link.
    pub transfer: u64,
    /// Time in which a span of one or the other ran; what overlaps counts once.
    pub busy: u64,
    /// Time from the first span's beginning to the last one's end.
    pub window: u64,
    /// Time in which transfers ran beside compute.
    pub overlapped: u64,
    /// Spans whose end was not reached yet.
    pub pending: usize,
    /// Spans that were not kept, because there were too many.
    pub dropped: u64,
    /// Spans that were not measured, because their stream was being captured.
    pub captured: u64,
    /// Spans that the driver failed for.
    pub errors: u64,
    /// The last of those failures.
    pub last_error: Option<String>,
    /// How far its spans may be shifted against the host's, in nanoseconds. `None` when the device's
    /// clock could not be tied to the host's: its spans then count from its own first moment.
    pub clock_doubt: Option<u64>,
}

/// All that was recorded since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProfileReport {
    /// Nanoseconds since the recording began; nothing where it never did.
    pub elapsed: u64,
    /// Threads that recorded.
    pub threads: usize,
    /// Spans of the host, by name.
    pub host: BTreeMap<String, SpanStatistics>,
    /// Devices.
    pub devices: Vec<DeviceReport>,
    /// What the watched pools did.
    pub memory: MemoryActivity,
    /// What the rules found, the gravest first.
    pub recommendations: Vec<Recommendation>,
}

/// Spans of one thread, for a trace.
pub(super) struct ThreadRecord {
    pub thread: String,
    pub number: u64,
    pub spans: Vec<Recorded>,
}

/// The sums of all threads by name, and the spans that their rings hold.
pub(super) fn host_records() -> (Vec<(SpanName, Sums)>, Vec<ThreadRecord>) {
    let (epoch, since) = (span::epoch(), span::since_ticks());
    let rings = ring::rings();
    let mut sums: BTreeMap<SpanName, Sums> = BTreeMap::new();
    let mut add = |name: SpanName, found: Sums| {
        sums.entry(name)
            .and_modify(|known| known.add(&found))
            .or_insert(found);
    };
    let mut threads = Vec::new();
    for ring in rings.live.iter().chain(&rings.ended) {
        for (name, found) in ring.sums(epoch) {
            add(name, found);
        }
        let (spans, _) = ring.spans(since);
        threads.push(ThreadRecord {
            thread: ring.thread.clone(),
            number: ring.number,
            spans,
        });
    }
    if rings.folded_epoch == epoch {
        for (name, found) in &rings.folded {
            add(*name, *found);
        }
    }
    threads.retain(|thread| !thread.spans.is_empty());
    (sums.into_iter().collect(), threads)
}

pub(super) fn host_statistics(rate: &Rate) -> (BTreeMap<String, SpanStatistics>, usize) {
    let (sums, threads) = host_records();
    let mut lengths: BTreeMap<SpanName, Vec<u64>> = BTreeMap::new();
    for span in threads.iter().flat_map(|thread| &thread.spans) {
        let ticks = span.end_ticks.saturating_sub(span.start_ticks);
        lengths.entry(span.name).or_default().push(ticks);
    }
    let statistics = sums
        .into_iter()
        .map(|(name, sums)| {
            let lengths = lengths.get_mut(&name).map(|lengths| {
                lengths.sort_unstable();
                &*lengths
            });
            (name.text(), of_sums(&sums, lengths, rate))
        })
        .collect();
    (statistics, threads.len())
}

fn of_sums(sums: &Sums, lengths: Option<&Vec<u64>>, rate: &Rate) -> SpanStatistics {
    let part = |percent: usize| {
        let lengths = lengths.map_or(&[][..], Vec::as_slice);
        let place = (lengths.len() * percent).div_ceil(100).saturating_sub(1);
        rate.nanoseconds(lengths.get(place).copied().unwrap_or(0))
    };
    SpanStatistics {
        count: sums.count,
        total: rate.nanoseconds(sums.total),
        own: rate.nanoseconds(sums.own),
        shortest: rate.nanoseconds(sums.shortest),
        longest: rate.nanoseconds(sums.longest),
        median: part(50),
        percentile_95: part(95),
        memory: (sums.memory_spans > 0).then_some(SpanMemory {
            spans: sums.memory_spans,
            change: sums.memory_change,
            peak: sums.memory_peak,
        }),
    }
}

impl ProfileReport {
    pub(super) fn make(thresholds: &Thresholds) -> Self {
        let rate = Rate::measure();
        let (host, threads) = host_statistics(&rate);
        let now = core_gpu_driver::ticks::now();
        let elapsed = match span::since_ticks() {
            // Never switched on: what the clock counts from is no beginning of ours.
            0 => 0,
            began => rate.nanoseconds(now.saturating_sub(began)),
        };
        let mut report = Self {
            elapsed,
            threads,
            host,
            devices: device::records()
                .iter()
                .map(|record| of_device(record, &rate))
                .collect(),
            memory: memory::activity(),
            recommendations: Vec::new(),
        };
        report.recommendations = advice::find(&report, thresholds);
        report
    }

    /// As JSON. Times are nanoseconds, lengths bytes.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self)
            .expect("invariant: numbers and texts under texts are always JSON")
    }

    /// As text for people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, to: &mut String) -> std::fmt::Result {
        writeln!(
            to,
            "{:.3} ms, {} threads",
            milliseconds(self.elapsed),
            self.threads
        )?;
        self.write_host(to)?;
        for device in &self.devices {
            device.write(to)?;
        }
        for found in &self.recommendations {
            writeln!(to, "{}: {}", found.rule, found.cause)?;
            writeln!(to, "  {}", found.advice)?;
        }
        Ok(())
    }

    fn write_host(&self, to: &mut String) -> std::fmt::Result {
        if self.host.is_empty() {
            return Ok(());
        }
        writeln!(
            to,
            "{:<32} {:>9} {:>12} {:>12} {:>12} {:>12}",
            "span", "count", "total ms", "own ms", "median us", "longest us"
        )?;
        let mut spans: Vec<_> = self.host.iter().collect();
        spans.sort_by_key(|(_, span)| std::cmp::Reverse(span.own));
        for (name, span) in spans {
            writeln!(
                to,
                "{:<32} {:>9} {:>12.3} {:>12.3} {:>12.3} {:>12.3}",
                name,
                span.count,
                milliseconds(span.total),
                milliseconds(span.own),
                span.median as f64 / 1e3,
                span.longest as f64 / 1e3
            )?;
            if let Some(memory) = &span.memory {
                writeln!(
                    to,
                    "  memory: {:+} bytes in {} spans, at most {} at once",
                    memory.change, memory.spans, memory.peak
                )?;
            }
        }
        Ok(())
    }
}

impl DeviceReport {
    fn write(&self, to: &mut String) -> std::fmt::Result {
        writeln!(
            to,
            "{} ({}): busy {:.3} of {:.3} ms, compute {:.3} ms, transfers {:.3} ms",
            self.device,
            self.id,
            milliseconds(self.busy),
            milliseconds(self.window),
            milliseconds(self.compute),
            milliseconds(self.transfer)
        )?;
        for (name, span) in &self.spans {
            writeln!(
                to,
                "  {:<30} {:>9} {:>12.3} ms {:>16} bytes",
                name,
                span.count,
                milliseconds(span.total),
                span.bytes
            )?;
        }
        let unseen = [
            (self.pending as u64, "not over yet"),
            (self.dropped, "not kept"),
            (self.captured, "in a capture"),
            (self.errors, "failed"),
        ];
        for (count, why) in unseen.iter().filter(|(count, _)| *count > 0) {
            writeln!(to, "  {count} spans {why}")?;
        }
        match &self.last_error {
            Some(error) => writeln!(to, "  last failure: {error}"),
            None => Ok(()),
        }
    }
}

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

fn of_device(record: &device::DeviceRecord, rate: &Rate) -> DeviceReport {
    let mut report = DeviceReport {
        id: record.id.to_string(),
        device: record.device.clone(),
        pending: record.pending,
        dropped: record.dropped,
        captured: record.captured,
        errors: record.errors,
        last_error: record.last_error.as_ref().map(ToString::to_string),
        clock_doubt: record.epoch.map(|(_, doubt)| rate.nanoseconds(doubt)),
        ..DeviceReport::default()
    };
    let mut spans: BTreeMap<SpanName, DeviceSpanStatistics> = BTreeMap::new();
    for done in &record.done {
        let span = spans.entry(done.name).or_default();
        span.shortest = if span.count == 0 {
            done.nanoseconds
        } else {
            span.shortest.min(done.nanoseconds)
        };
        span.count += 1;
        span.total += done.nanoseconds;
        span.longest = span.longest.max(done.nanoseconds);
        span.transfers += u64::from(done.work.is_transfer());
        span.bytes += done.work.bytes();
        if done.work.is_transfer() {
            report.transfer += done.nanoseconds;
        } else {
            report.compute += done.nanoseconds;
        }
    }
    let named = spans.into_iter().map(|(name, span)| (name.text(), span));
    report.spans = named.collect();
    let of = |wanted: fn(&Done) -> bool| covered(record.done.iter().filter(|done| wanted(done)));
    let (transfers, compute) = (
        of(|done| done.work.is_transfer()),
        of(|done| !done.work.is_transfer()),
    );
    report.busy = of(|_| true);
    report.overlapped = (transfers + compute).saturating_sub(report.busy);
    let first = record.done.iter().map(|done| done.start).min();
    let last = record.done.iter().map(|done| done.start + done.nanoseconds);
    report.window = last.max().unwrap_or(0).saturating_sub(first.unwrap_or(0));
    report
}

/// Nanoseconds in which at least one of the spans ran.
fn covered<'d>(spans: impl Iterator<Item = &'d Done>) -> u64 {
    let mut spans: Vec<_> = spans
        .map(|done| (done.start, done.start + done.nanoseconds))
        .collect();
    spans.sort_unstable();
    let (mut sum, mut reached) = (0, 0);
    for (start, end) in spans {
        sum += end.saturating_sub(start.max(reached));
        reached = reached.max(end);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiler::Work;

    #[test]
    fn what_overlaps_counts_once() {
        let name = SpanName::of("any");
        let driver: std::sync::Arc<dyn core_gpu_driver::Driver> =
            std::sync::Arc::new(core_gpu_driver::HostDriver::new(64));
        let stream =
            core_gpu_driver::Stream::new(&driver, core_gpu_driver::StreamKind::NonBlocking)
                .unwrap()
                .id();
        let done = |start, nanoseconds| Done {
            name,
            work: Work::Compute,
            stream,
            start,
            nanoseconds,
        };
        let cases: &[(&[Done], u64)] = &[
            (&[], 0),
            (&[done(5, 10)], 10),
            (&[done(0, 10), done(10, 10)], 20),
            (&[done(0, 10), done(5, 10)], 15),
            (&[done(0, 100), done(5, 10), done(50, 100)], 150),
            (&[done(20, 5), done(0, 5)], 10),
        ];
        for (spans, wanted) in cases {
            assert_eq!(covered(spans.iter()), *wanted, "{spans:?}");
        }
    }
}
