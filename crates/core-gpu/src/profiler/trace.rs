//! All spans as a trace that Perfetto and Chrome's tracing page open: threads of the host as one
//! process, streams of each device as another, all on one line of time.

use core_gpu_driver::ticks::Rate;
use serde_json::{Value, json};

use super::{
    device::{self, DeviceRecord},
    report::{self, ThreadRecord},
    span,
};

/// The host's number among the trace's processes; devices follow.
const HOST: usize = 1;

/// The trace. Times are microseconds since the recording began; spans that the rings have
/// forgotten are not in it.
pub(super) fn to_json() -> String {
    let rate = Rate::measure();
    let origin = rate.moment(span::since_ticks());
    let (_, threads) = report::host_records();
    let mut events = vec![process(HOST, "host")];
    for thread in &threads {
        add_thread(thread, &rate, origin, &mut events);
    }
    for (index, record) in device::records().iter().enumerate() {
        add_device(HOST + 1 + index, record, &rate, origin, &mut events);
    }
    json!({"traceEvents": events, "displayTimeUnit": "ns"}).to_string()
}

fn process(number: usize, name: &str) -> Value {
    json!({"ph": "M", "pid": number, "name": "process_name", "args": {"name": name}})
}

fn track(process: usize, number: u64, name: &str) -> Value {
    json!({
        "ph": "M", "pid": process, "tid": number, "name": "thread_name", "args": {"name": name},
    })
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

fn add_thread(thread: &ThreadRecord, rate: &Rate, origin: u64, events: &mut Vec<Value>) {
    events.push(track(HOST, thread.number, &thread.thread));
    for span in &thread.spans {
        let start = rate.moment(span.start_ticks).saturating_sub(origin);
        let lasted = rate.nanoseconds(span.end_ticks.saturating_sub(span.start_ticks));
        events.push(json!({
            "ph": "X", "pid": HOST, "tid": thread.number, "name": span.name.text(), "cat": "host",
            "ts": microseconds(start), "dur": microseconds(lasted),
        }));
    }
}

fn add_device(
    number: usize,
    record: &DeviceRecord,
    rate: &Rate,
    origin: u64,
    events: &mut Vec<Value>,
) {
    events.push(process(number, &format!("{} {}", record.device, record.id)));
    let mut streams: Vec<_> = record.done.iter().map(|done| done.stream.get()).collect();
    streams.sort_unstable();
    streams.dedup();
    for stream in streams {
        events.push(track(number, stream, &format!("stream {stream}")));
    }
    let epoch = record.epoch.map_or(origin, |(ticks, _)| rate.moment(ticks));
    for done in &record.done {
        let start = (epoch + done.start).saturating_sub(origin);
        events.push(json!({
            "ph": "X", "pid": number, "tid": done.stream.get(), "name": done.name.text(),
            "cat": if done.work.is_transfer() { "transfer" } else { "compute" },
            "ts": microseconds(start), "dur": microseconds(done.nanoseconds),
            "args": {"bytes": done.work.bytes()},
        }));
    }
}
