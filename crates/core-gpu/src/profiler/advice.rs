//! What the numbers mean and what to do about it: rules, each with the figures that it found. A rule
//! says nothing where there is too little to go by.

use serde::Serialize;

use super::report::{DeviceReport, ProfileReport};

/// When rules speak. Parts are of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Part of a device's work that transfers may be.
    pub transfer_part: f64,
    /// Bytes of a transfer below which its fixed cost counts for more than its bytes.
    pub small_transfer_bytes: u64,
    /// Transfers of one name from which on their size matters.
    pub many: u64,
    /// Bytes in a second that large transfers reach at least.
    pub link_bytes_per_second: f64,
    /// Part of the time in which a device ought to be busy.
    pub busy_part: f64,
    /// Nanoseconds of a compute span below which starting it counts for more than its work.
    pub small_compute: u64,
    /// Part of the host's time that one span may have for itself.
    pub hot_part: f64,
    /// How many times the median the longest span may be.
    pub spread: u64,
    /// Nanoseconds of recording below which no rule speaks of time.
    pub shortest_recording: u64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            transfer_part: 0.3,
            small_transfer_bytes: 64 << 10,
            many: 100,
            link_bytes_per_second: 6e9,
            busy_part: 0.5,
            small_compute: 10_000,
            hot_part: 0.5,
            spread: 50,
            shortest_recording: 1_000_000,
        }
    }
}

/// What a rule found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// The rule's name.
    pub rule: &'static str,
    /// What was measured.
    pub cause: String,
    /// What to do.
    pub advice: &'static str,
    /// Part of the time that it is about, of one: the gravest have the most.
    pub weight: f64,
}

type Rule = fn(&ProfileReport, &Thresholds, &mut Vec<Recommendation>);

/// All rules.
const RULES: &[Rule] = &[
    transfer_bound,
    small_transfers,
    slow_transfers,
    idle_device,
    small_kernels,
    hot_span,
    uneven_span,
    growing_memory,
    memory_churn,
    spilling,
    unseen_spans,
];

pub(super) fn find(report: &ProfileReport, thresholds: &Thresholds) -> Vec<Recommendation> {
    let mut found = Vec::new();
    for rule in RULES {
        rule(report, thresholds, &mut found);
    }
    found.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    found
}

fn part(of: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    of as f64 / whole as f64
}

fn percent(part: f64) -> f64 {
    part * 100.0
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

fn transfer_bound(report: &ProfileReport, limits: &Thresholds, to: &mut Vec<Recommendation>) {
    for device in &report.devices {
        let alone = device.transfer.saturating_sub(device.overlapped);
        let share = part(alone, device.busy);
        if share <= limits.transfer_part || device.compute == 0 {
            continue;
        }
        to.push(Recommendation {
            rule: "transfer-bound",
            cause: format!(
                "{}: {:.0}% of its busy time are transfers that nothing runs beside ({:.3} of \
                 {:.3} ms)",
                device.device,
                percent(share),
                alone as f64 / 1e6,
                device.busy as f64 / 1e6
            ),
            advice: "keep the data on the device between steps, or send the next batch on a second \
                     stream while this one computes",
            weight: share,
        });
    }
}

fn small_transfers(report: &ProfileReport, limits: &Thresholds, to: &mut Vec<Recommendation>) {
    for device in &report.devices {
        for (name, span) in &device.spans {
            let mean = span.bytes / span.transfers.max(1);
            if span.transfers < limits.many || mean >= limits.small_transfer_bytes {
                continue;
            }
            to.push(Recommendation {
                rule: "small-transfers",
                cause: format!(
                    "{}: `{name}` moved {} bytes in {} transfers, {mean} bytes each",
                    device.device, span.bytes, span.transfers
                ),
                advice: "gather them: `Staging::upload_many` sends many arrays with one wait",
                weight: part(span.total, device.busy),
            });
        }
    }
}

fn slow_transfers(report: &ProfileReport, limits: &Thresholds, to: &mut Vec<Recommendation>) {
    const LARGE: u64 = 1 << 20;
    for device in &report.devices {
        for (name, span) in &device.spans {
            let large = span.transfers > 0 && span.bytes / span.transfers >= LARGE;
            let speed = span.bytes as f64 / seconds(span.total).max(1e-9);
            if !large || speed >= limits.link_bytes_per_second {
                continue;
            }
            to.push(Recommendation {
                rule: "slow-transfers",
                cause: format!(
                    "{}: `{name}` moved {:.2} GB at {:.2} GB/s",
                    device.device,
                    span.bytes as f64 / 1e9,
                    speed / 1e9
                ),
                advice: "send from pinned host memory (`Staging`): pageable memory is copied twice",
                weight: part(span.total, device.busy),
            });
        }
    }
}

fn idle_device(report: &ProfileReport, limits: &Thresholds, to: &mut Vec<Recommendation>) {
    for device in &report.devices {
        let busy = part(device.busy, device.window);
        if device.window < limits.shortest_recording || busy >= limits.busy_part {
            continue;
        }
        to.push(Recommendation {
            rule: "idle-device",
            cause: format!(
                "{}: busy {:.0}% of the {:.3} ms between its first and last span",
                device.device,
                percent(busy),
                device.window as f64 / 1e6
            ),
            advice: "give out work further ahead, wait for it less often, or prepare the next batch \
                     on other threads: the device waits for the host",
            weight: 1.0 - busy,
        });
    }
}

fn small_kernels(report: &ProfileReport, limits: &Thresholds, to: &mut Vec<Recommendation>) {
    for device in &report.devices {
        for (name, span) in &device.spans {
            let computing = span.count.saturating_sub(span.transfers);
            let mean = span.total / span.count.max(1);
            if computing < limits.many || span.transfers > 0 || mean >= limits.small_compute {
                continue;
            }
            to.push(Recommendation {
                rule: "small-kernels",
                cause: format!(
                    "{}: `{name}` ran {computing} times for {:.1} us each",
                    device.device,
                    mean as f64 / 1e3
                ),
                advice: "starting costs more than the work: use larger batches, fuse them, or put \
                         them into a graph",
                weight: part(span.total, device.busy),
            });
        }
    }
}

fn hot_span(report: &ProfileReport, limits: &Thresholds, to: &mut Vec<Recommendation>) {
    let all: u64 = report.host.values().map(|span| span.own).sum();
    if all < limits.shortest_recording || report.host.len() < 2 {
        return;
    }
    for (name, span) in &report.host {
        let share = part(span.own, all);
        if share < limits.hot_part {
            continue;
        }
        to.push(Recommendation {
            rule: "hot-span",
            cause: format!(
                "`{name}` has {:.0}% of the host's time for itself ({:.3} ms in {} spans)",
                percent(share),
                span.own as f64 / 1e6,
                span.count
            ),
            advice: "begin here; put spans inside of it to see which part it is",
            weight: share,
        });
    }
}

fn uneven_span(report: &ProfileReport, limits: &Thresholds, to: &mut Vec<Recommendation>) {
    for (name, span) in &report.host {
        let long = span.longest >= limits.shortest_recording;
        let uneven = span.longest > span.median.saturating_mul(limits.spread);
        if span.count < limits.many || !long || !uneven {
            continue;
        }
        to.push(Recommendation {
            rule: "uneven-span",
            cause: format!(
                "`{name}` took {:.3} ms once and {:.3} us in the middle of {}",
                span.longest as f64 / 1e6,
                span.median as f64 / 1e3,
                span.count
            ),
            advice: "look at the trace: the first call pays for loading, or something waits for a \
                     lock or an allocation",
            weight: part(span.longest, report.elapsed),
        });
    }
}

fn growing_memory(report: &ProfileReport, limits: &Thresholds, to: &mut Vec<Recommendation>) {
    for (name, span) in &report.host {
        let Some(memory) = &span.memory else { continue };
        let each = memory.change / i64::try_from(memory.spans.max(1)).unwrap_or(i64::MAX);
        // What a span allocates may be freed outside of it: only what is still there counts.
        let stays = report.memory.balance_bytes >= memory.change / 2;
        if memory.spans < limits.many || each <= 0 || !stays {
            continue;
        }
        to.push(Recommendation {
            rule: "growing-memory",
            cause: format!(
                "`{name}` left {each} bytes more behind in each of {} spans",
                memory.spans
            ),
            advice: "what is allocated in it outlives it: keep the buffers for the next round, or \
                     free them",
            weight: 0.5,
        });
    }
}

fn memory_churn(report: &ProfileReport, limits: &Thresholds, to: &mut Vec<Recommendation>) {
    let memory = &report.memory;
    if memory.segments < limits.many || memory.trims == 0 {
        return;
    }
    to.push(Recommendation {
        rule: "memory-churn",
        cause: format!(
            "pools took {} segments from the driver and gave back {} times",
            memory.segments, memory.trims
        ),
        advice: "give the pool an initial size, or trim less often: the driver's own allocation \
                 waits for the device",
        weight: 0.3,
    });
}

fn spilling(report: &ProfileReport, _: &Thresholds, to: &mut Vec<Recommendation>) {
    let memory = &report.memory;
    if memory.promoted_bytes == 0 {
        return;
    }
    to.push(Recommendation {
        rule: "spilling",
        cause: format!(
            "{} bytes went to the host for lack of room, {} came back",
            memory.spilled_bytes, memory.promoted_bytes
        ),
        advice: "the working set does not fit: use smaller batches, or split the work over devices",
        weight: 0.6,
    });
}

fn unseen_spans(report: &ProfileReport, _: &Thresholds, to: &mut Vec<Recommendation>) {
    let unseen = |device: &DeviceReport| device.dropped + device.errors;
    for device in report.devices.iter().filter(|device| unseen(device) > 0) {
        let error = device.last_error.as_deref().unwrap_or("none");
        to.push(Recommendation {
            rule: "unseen-spans",
            cause: format!(
                "{}: {} spans were not kept and {} failed (last failure: {error})",
                device.device, device.dropped, device.errors
            ),
            advice: "the figures of this device are incomplete: reset the profiler more often, and \
                     look at the failure",
            weight: 0.1,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiler::report::{DeviceSpanStatistics, SpanMemory, SpanStatistics};

    fn device(change: impl FnOnce(&mut DeviceReport)) -> ProfileReport {
        let mut device = DeviceReport {
            device: "a device".to_owned(),
            ..DeviceReport::default()
        };
        change(&mut device);
        ProfileReport {
            devices: vec![device],
            ..ProfileReport::default()
        }
    }

    fn span(name: &str, span: SpanStatistics) -> ProfileReport {
        let other = SpanStatistics {
            count: 1,
            total: 1_000_000,
            own: 1_000_000,
            ..SpanStatistics::default()
        };
        let host = [(name.to_owned(), span), ("other".to_owned(), other)];
        ProfileReport {
            host: host.into(),
            elapsed: 1_000_000_000,
            ..ProfileReport::default()
        }
    }

    fn left_behind(name: &str, statistics: SpanStatistics) -> ProfileReport {
        let mut report = span(name, statistics);
        report.memory.balance_bytes = statistics.memory.map_or(0, |memory| memory.change);
        report
    }

    fn of_spans(statistics: DeviceSpanStatistics) -> ProfileReport {
        device(|device| {
            device.busy = 1_000_000;
            device.spans.insert("work".to_owned(), statistics);
        })
    }

    fn small_transfers_of_work() -> ProfileReport {
        of_spans(DeviceSpanStatistics {
            count: 1000,
            transfers: 1000,
            bytes: 1000 * 4096,
            total: 500_000,
            ..DeviceSpanStatistics::default()
        })
    }

    fn large_transfers_of_work() -> ProfileReport {
        of_spans(DeviceSpanStatistics {
            count: 10,
            transfers: 10,
            bytes: 10 << 20,
            total: 10_000_000,
            ..DeviceSpanStatistics::default()
        })
    }

    fn kernels_of_work() -> ProfileReport {
        of_spans(DeviceSpanStatistics {
            count: 1000,
            total: 2_000_000,
            ..DeviceSpanStatistics::default()
        })
    }

    /// For each rule a report that it speaks about, and a figure that it names.
    fn cases() -> Vec<(&'static str, ProfileReport, &'static str)> {
        vec![
            (
                "transfer-bound",
                device(|device| {
                    (device.transfer, device.compute) = (800_000, 200_000);
                    (device.busy, device.window) = (1_000_000, 1_000_000);
                }),
                "80%",
            ),
            (
                "small-transfers",
                small_transfers_of_work(),
                "4096 bytes each",
            ),
            ("slow-transfers", large_transfers_of_work(), "1.05 GB/s"),
            (
                "idle-device",
                device(|device| (device.busy, device.window) = (1_000_000, 10_000_000)),
                "busy 10%",
            ),
            ("small-kernels", kernels_of_work(), "2.0 us each"),
            (
                "hot-span",
                span(
                    "hot",
                    SpanStatistics {
                        count: 3,
                        own: 9_000_000,
                        ..SpanStatistics::default()
                    },
                ),
                "90%",
            ),
            (
                "growing-memory",
                left_behind(
                    "step",
                    SpanStatistics {
                        memory: Some(SpanMemory {
                            spans: 100,
                            change: 409_600,
                            peak: 4096,
                        }),
                        ..SpanStatistics::default()
                    },
                ),
                "4096 bytes more",
            ),
        ]
    }

    #[test]
    fn each_rule_speaks_of_what_it_is_for_and_nothing_else_does() {
        for (rule, report, figure) in cases() {
            let mut found = find(&report, &Thresholds::default());
            if rule != "hot-span" {
                found.retain(|found| found.rule != "hot-span");
            }
            let rules: Vec<_> = found.iter().map(|found| found.rule).collect();
            assert_eq!(rules, [rule]);
            assert!(found[0].cause.contains(figure), "{}", found[0].cause);
        }
    }

    #[test]
    fn what_is_freed_elsewhere_is_not_left_behind() {
        let (_, mut report, _) = cases().pop().expect("invariant: there are cases");
        report.memory.balance_bytes = 0;
        let found = find(&report, &Thresholds::default());
        assert!(found.iter().all(|found| found.rule != "growing-memory"));
    }

    #[test]
    fn nothing_is_said_about_nothing() {
        assert!(find(&ProfileReport::default(), &Thresholds::default()).is_empty());
    }

    #[test]
    fn the_other_rules() {
        let uneven = SpanStatistics {
            count: 1000,
            median: 1_000,
            longest: 5_000_000,
            ..SpanStatistics::default()
        };
        let mut report = span("uneven", uneven);
        report.memory.segments = 200;
        report.memory.trims = 20;
        report.memory.promoted_bytes = 4096;
        report.devices.push(DeviceReport {
            errors: 2,
            last_error: Some("the device is out of memory".to_owned()),
            ..DeviceReport::default()
        });
        let mut rules: Vec<_> = find(&report, &Thresholds::default())
            .iter()
            .map(|found| found.rule)
            .collect();
        rules.sort_unstable();
        assert_eq!(
            rules,
            [
                "hot-span",
                "memory-churn",
                "spilling",
                "uneven-span",
                "unseen-spans"
            ]
        );
    }
}
