//! A pool's numbers as OpenMetrics text, which Prometheus and others collect.

use std::fmt::Write as _;

use crate::PoolStatistics;

/// What every name begins with.
const PREFIX: &str = "core_gpu_pool";

/// A label's value, as the format wants it.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
    text
}

struct Text {
    text: String,
    labels: String,
}

impl Text {
    /// A number that goes up and down.
    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "gauge", help);
        let labels = &self.labels;
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{PREFIX}_{name}{{{labels}}} {value}");
    }

    /// A number that only grows.
    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "counter", help);
        let labels = &self.labels;
        let _ = writeln!(self.text, "{PREFIX}_{name}_total{{{labels}}} {value}");
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# TYPE {PREFIX}_{name} {kind}");
        if name.ends_with("_bytes") {
            let _ = writeln!(self.text, "# UNIT {PREFIX}_{name} bytes");
        }
        let _ = writeln!(self.text, "# HELP {PREFIX}_{name} {help}");
    }
}

impl PoolStatistics {
    /// These numbers as OpenMetrics text (version 1.0), for a pool of that name.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use core_gpu_driver::{Driver, HostDriver};
    /// # use core_gpu_memory::Pool;
    /// let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
    /// let text = Pool::new(&driver).statistics().to_open_metrics("weights");
    /// assert!(text.contains("core_gpu_pool_in_use_bytes{pool=\"weights\"} 0\n"));
    /// assert!(text.ends_with("# EOF\n"));
    /// ```
    #[must_use]
    pub fn to_open_metrics(&self, pool: &str) -> String {
        let labels = format!("pool=\"{}\"", escaped(pool));
        let mut text = Text {
            text: String::new(),
            labels,
        };
        text.gauge("in_use_bytes", "Bytes of blocks in use.", self.bytes_in_use);
        text.gauge(
            "reserved_bytes",
            "Bytes from the driver.",
            self.reserved_bytes,
        );
        text.gauge(
            "free_bytes",
            "Bytes that are free and joined.",
            self.free_bytes,
        );
        text.gauge(
            "longest_free_bytes",
            "The longest free piece.",
            self.longest_free_bytes,
        );
        text.gauge(
            "thread_cached_bytes",
            "Bytes that threads cache.",
            self.thread_cached_bytes,
        );
        text.gauge(
            "pending_bytes",
            "Bytes that wait for other streams.",
            self.pending_bytes,
        );
        text.gauge(
            "quarantined_bytes",
            "Bytes of failed frees.",
            self.quarantined_bytes,
        );
        text.gauge(
            "peak_in_use_bytes",
            "The most bytes in use at once since the last reset.",
            self.peak_bytes_in_use,
        );
        text.counter("hits", "Requests that a thread's cache served.", self.hits);
        text.counter(
            "allocated_bytes",
            "Bytes of all blocks that were given out.",
            self.allocated_bytes,
        );
        text.counter("misses", "Requests that came to the pool.", self.misses);
        text.counter("refusals", "Requests that were refused.", self.refusals);
        text.counter("frees", "Blocks that came back.", self.frees);
        text.counter("failed_frees", "Frees that failed.", self.failed_frees);
        text.counter("stream_waits", "Waits put on streams.", self.stream_waits);
        self.write_sources(&mut text);
        text.text + "# EOF\n"
    }

    fn write_sources(&self, text: &mut Text) {
        text.family("source_in_use_bytes", "gauge", "Bytes in use, by source.");
        for source in &self.sources {
            let (labels, name) = (&text.labels, escaped(&source.source));
            let value = source.bytes_in_use;
            let _ = writeln!(
                text.text,
                "{PREFIX}_source_in_use_bytes{{{labels},source=\"{name}\"}} {value}"
            );
        }
    }
}
