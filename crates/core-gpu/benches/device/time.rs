//! What takes how long on the device, by its own clock.

use std::{process::Command, time::Duration};

use core_gpu::{
    driver::{Event, EventKind, Pinned, PinnedSpan, Segment, Stream, StreamKind},
    memory::{Pool, Source},
    profiler::{Work, profile_on, profiler},
};
use serde_json::{Value, json};

use crate::{Context, Outcome, Stopped};

/// How long the work of `put` takes on a stream.
fn timed(
    context: &Context,
    stream: &Stream,
    put: impl FnOnce() -> Result<(), Stopped>,
) -> Result<Duration, Stopped> {
    let start = Event::new(&context.driver, EventKind::Timed)?;
    let end = Event::new(&context.driver, EventKind::Timed)?;
    stream.record(&start)?;
    put()?;
    stream.record(&end)?;
    end.synchronize()?;
    Ok(end.elapsed_since(&start)?)
}

/// Both ways from pinned memory, beside what the link says it is.
pub fn bandwidth(context: &Context) -> Result<Outcome, Stopped> {
    let bytes = context.bytes(256 << 20);
    let stream = Stream::new(&context.driver, StreamKind::NonBlocking)?;
    let segment = Segment::allocate(&context.driver, bytes)?;
    let pinned = Pinned::allocate(&context.driver, bytes)?;
    let all = || PinnedSpan {
        pinned: &pinned,
        offset: 0,
    };
    let per_second = |time: Duration| bytes as f64 / time.as_secs_f64().max(1e-9);
    let mut best = [0.0_f64; 2];
    for _ in 0..5 {
        let up = timed(context, &stream, || {
            Ok(stream.upload(segment.whole(), all())?)
        })?;
        let down = timed(context, &stream, || {
            Ok(stream.download(all(), segment.whole())?)
        })?;
        best = [best[0].max(per_second(up)), best[1].max(per_second(down))];
    }
    Ok(Outcome::Found(json!({
        "bytes": bytes,
        "to_the_device_bytes_per_second": best[0],
        "to_the_host_bytes_per_second": best[1],
        "link": link(),
    })))
}

/// The link as NVIDIA's program tells it; null where it is not there.
fn link() -> Value {
    let fields = "pcie.link.gen.current,pcie.link.width.current";
    let asked = Command::new("nvidia-smi")
        .args([&format!("--query-gpu={fields}"), "--format=csv,noheader"])
        .output();
    match asked {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            json!({ "generation_and_width": text.lines().next() })
        }
        _ => Value::Null,
    }
}

/// Kernels of a millisecond on one stream and on two, each with a block of the pool's.
pub fn overlap(context: &Context) -> Result<Outcome, Stopped> {
    const KERNELS: usize = 20;
    let driver = &context.driver;
    let (one, two) = (
        Stream::new(driver, StreamKind::NonBlocking)?,
        Stream::new(driver, StreamKind::NonBlocking)?,
    );
    let by = Source::named("overlap");
    let run = |streams: &[&Stream]| -> Result<Duration, Stopped> {
        let pool = Pool::new(driver);
        let begun = Event::new(driver, EventKind::Order)?;
        let mut ends = Vec::new();
        timed(context, streams[0], || {
            streams[0].record(&begun)?;
            for stream in &streams[1..] {
                stream.wait(&begun)?;
            }
            for kernel in 0..KERNELS {
                let stream = streams[kernel % streams.len()];
                let buffer = pool.allocate::<u8>(1 << 20, stream, by)?;
                stream.set(buffer.span(), 1)?;
                context.trial.spin(stream, Duration::from_millis(1))?;
            }
            for stream in &streams[1..] {
                let end = Event::new(driver, EventKind::Order)?;
                stream.record(&end)?;
                streams[0].wait(&end)?;
                ends.push(end);
            }
            Ok(())
        })
    };
    // The first run pays for what others find ready.
    run(&[&one, &two])?;
    let (alone, both) = (run(&[&one])?, run(&[&one, &two])?);
    let saved = alone.saturating_sub(both).as_secs_f64();
    Ok(Outcome::Found(json!({
        "kernels": KERNELS,
        "one_stream_ms": alone.as_secs_f64() * 1e3,
        "two_streams_ms": both.as_secs_f64() * 1e3,
        "overlap_percent": (saved / (alone.as_secs_f64() / 2.0) * 100.0).min(100.0),
    })))
}

/// What the profiler says of a kernel that takes a time that is known.
pub fn spans(context: &Context) -> Result<Outcome, Stopped> {
    let stream = Stream::new(&context.driver, StreamKind::NonBlocking)?;
    let wanted = Duration::from_millis(5);
    let by_events = timed(context, &stream, || {
        Ok(context.trial.spin(&stream, wanted)?)
    })?;
    profiler().reset();
    profiler().enable();
    for _ in 0..20 {
        let _span = profile_on("spin", &stream, Work::Compute);
        context.trial.spin(&stream, wanted)?;
    }
    stream.synchronize()?;
    let report: Value = serde_json::from_str(&profiler().report().to_json())?;
    profiler().disable();
    Ok(Outcome::Found(json!({
        "wanted_ms": wanted.as_secs_f64() * 1e3,
        "by_events_ms": by_events.as_secs_f64() * 1e3,
        "devices": report.get("devices"),
    })))
}
