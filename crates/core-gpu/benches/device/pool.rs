//! The pool on a card: whose bytes a block has, what capture does, and what things cost.

use std::time::{Duration, Instant};

use core_gpu::{
    driver::{CaptureMode, Event, EventKind, Segment, Stream, StreamKind, StreamMemory},
    memory::{Buffer, MemoryManager, Pool, Source},
};
use gpu_sim::conformance;
use serde_json::json;

use crate::{Context, Outcome, Stopped};

/// The rules that every driver keeps.
pub fn rules(context: &Context) -> Result<Outcome, Stopped> {
    let broken = conformance::broken_rules(&context.driver);
    if broken.is_empty() {
        return Ok(Outcome::Found(json!({ "rules": conformance::RULES.len() })));
    }
    Ok(Outcome::Failed(broken.join("; ")))
}

/// Numbers that look random, the same in each run.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below.max(1)
    }
}

fn streams(context: &Context, count: usize) -> Result<Vec<Stream>, Stopped> {
    let stream = |_| Ok(Stream::new(&context.driver, StreamKind::NonBlocking)?);
    (0..count).map(stream).collect()
}

/// A block that somebody has, and the byte that is to be in it.
struct Canary {
    buffer: Buffer<u8>,
    value: u8,
    stream: usize,
}

/// Four streams that a kernel keeps busy: what is in a block is what its owner has put there.
pub fn canaries(context: &Context) -> Result<Outcome, Stopped> {
    let (pool, streams) = (Pool::new(&context.driver), streams(context, 4)?);
    let by = Source::named("canaries");
    let mut next = numbers(11);
    let mut live: Vec<Canary> = Vec::new();
    let (mut checked, mut wrong) = (0_u64, 0_u64);
    let rounds = if context.simulated { 1_000 } else { 20_000 };
    for _ in 0..rounds {
        if live.len() > 64 || (next(2) == 0 && !live.is_empty()) {
            let canary = live.swap_remove(next(live.len() as u64) as usize);
            // Most are dropped unseen, so that their work is still under way when others get them.
            if next(4) == 0 {
                let back = canary.buffer.download(&streams[canary.stream])?;
                checked += 1;
                wrong += u64::from(back.iter().any(|byte| *byte != canary.value));
            }
            continue;
        }
        let (stream, value, class) = (next(4) as usize, next(256) as u8, next(14));
        let bytes = 1 + next(1 << (6 + class)) as usize;
        let buffer = pool.allocate::<u8>(bytes, &streams[stream], by)?;
        if next(8) == 0 {
            context
                .trial
                .spin(&streams[stream], Duration::from_micros(200))?;
        }
        streams[stream].set(buffer.span(), value)?;
        live.push(Canary {
            buffer,
            value,
            stream,
        });
    }
    for canary in live {
        let back = canary.buffer.download(&streams[canary.stream])?;
        checked += 1;
        wrong += u64::from(back.iter().any(|byte| *byte != canary.value));
    }
    if wrong > 0 {
        let why = format!("{wrong} of {checked} blocks have another's bytes");
        return Ok(Outcome::Failed(why));
    }
    Ok(Outcome::Found(json!({
        "rounds": rounds,
        "blocks_checked": checked,
        "blocks_wrong": wrong,
    })))
}

/// Memory for a graph: what is asked for while a stream is captured is the graph's as long as that
/// lives, whether the thread's cache has the size or not, and a launch writes to it and nothing else.
#[expect(unsafe_code, reason = "a graph is launched while its memory is there")]
pub fn capture(context: &Context) -> Result<Outcome, Stopped> {
    let (pool, streams) = (Pool::new(&context.driver), streams(context, 2)?);
    let by = Source::named("capture");
    let (captured, beside) = (&streams[0], &streams[1]);
    // The thread's cache has the one size and not the other.
    drop(pool.allocate::<u8>(4096, captured, by)?);
    let capture = pool.begin_capture(captured, CaptureMode::Global)?;
    let cached = pool.allocate::<u8>(4096, captured, by)?;
    let new = pool.allocate::<u8>(100_000, captured, by)?;
    captured.set(cached.span(), 7)?;
    captured.set(new.span(), 8)?;
    let bystander = pool.allocate::<u8>(4096, beside, by)?;
    let graph = capture.end()?;
    beside.set(bystander.span(), 1)?;
    beside.synchronize()?;
    // SAFETY: the graph writes to two buffers, which are there.
    unsafe { graph.graph().launch(captured)? };
    let right = cached.download(captured)? == [7; 4096]
        && new.download(captured)? == [8; 100_000]
        && bystander.download(beside)? == [1; 4096];
    if !right {
        return Ok(Outcome::Failed("a launch wrote elsewhere".to_owned()));
    }
    Ok(Outcome::Found(
        json!({ "bytes_kept_for_the_graph": graph.reserved_bytes() }),
    ))
}

/// Nanoseconds of one of so many.
fn each(count: u32, mut work: impl FnMut() -> Result<(), Stopped>) -> Result<f64, Stopped> {
    let start = Instant::now();
    for _ in 0..count {
        work()?;
    }
    Ok(start.elapsed().as_nanos() as f64 / f64::from(count))
}

/// What the host waits for in each call.
pub fn costs(context: &Context) -> Result<Outcome, Stopped> {
    let (driver, pool) = (&context.driver, Pool::new(&context.driver));
    let stream = Stream::new(driver, StreamKind::NonBlocking)?;
    let event = Event::new(driver, EventKind::Order)?;
    let by = Source::named("costs");
    let count = if context.simulated { 200 } else { 5_000 };
    let hit = |bytes: usize| {
        each(count, || {
            pool.allocate::<u8>(bytes, &stream, by)?;
            Ok(())
        })
    };
    Ok(Outcome::Found(json!({
        "event_make_and_destroy_ns": each(count, || {
            Event::new(driver, EventKind::Order)?;
            Ok(())
        })?,
        "event_record_ns": each(count, || Ok(stream.record(&event)?))?,
        "event_query_ns": each(count, || {
            event.query()?;
            Ok(())
        })?,
        "driver_allocate_and_free_1_mib_ns": each(count / 20, || {
            let segment = Segment::allocate(driver, 1 << 20)?;
            segment.free().map_err(|(error, _)| error.into())
        })?,
        "pool_hit_4_kib_ns": hit(4 << 10)?,
        "pool_hit_1_mib_ns": hit(1 << 20)?,
    })))
}

/// Entries that leave the device for the host's memory and come back.
pub fn spill(context: &Context) -> Result<Outcome, Stopped> {
    let bytes = context.bytes(16 << 20);
    let (room, count) = (4 * bytes, 12_u8);
    let total = context.driver.info().total_bytes;
    let manager = MemoryManager::builder(&context.driver)
        .max_memory_fraction((room + (1 << 20)) as f64 / total as f64)
        .safety_margin(0)
        .spill_bytes((usize::from(count) * bytes) as u64)
        .build()?;
    let stream = manager.stream().clone();
    let start = Instant::now();
    for number in 0..count {
        let key = format!("entry {number}");
        manager.insert(&key, &vec![number; bytes], &stream)?;
    }
    let inserted = start.elapsed();
    let start = Instant::now();
    for number in 0..count {
        let entry = manager.get(&format!("entry {number}"));
        let back = entry.ok_or("an entry is gone")?.read(&stream)?;
        if back.iter().any(|byte| *byte != number) {
            return Ok(Outcome::Failed(format!("entry {number} has other bytes")));
        }
    }
    let moved = (usize::from(count) * bytes) as f64;
    Ok(Outcome::Found(json!({
        "entries": count,
        "entry_bytes": bytes,
        "room_bytes": room,
        "insert_and_spill_bytes_per_second": moved / inserted.as_secs_f64(),
        "promote_and_read_bytes_per_second": moved / start.elapsed().as_secs_f64(),
    })))
}

/// One trace of sizes, and how many of them live at a time.
fn trace<M>(
    rounds: u32,
    mut make: impl FnMut(usize) -> Result<M, Stopped>,
) -> Result<f64, Stopped> {
    let mut next = numbers(5);
    let mut live = Vec::new();
    let start = Instant::now();
    for _ in 0..rounds {
        if live.len() > 100 || (next(2) == 0 && !live.is_empty()) {
            drop(live.swap_remove(next(live.len() as u64) as usize));
        } else {
            let class = next(15);
            live.push(make(1 + next(1 << (6 + class)) as usize)?);
        }
    }
    Ok(start.elapsed().as_nanos() as f64 / f64::from(rounds))
}

/// The driver's own pool beside ours, on one stream.
pub fn stream_ordered(context: &Context) -> Result<Outcome, Stopped> {
    if !context.driver.info().capabilities.stream_ordered_allocation {
        let why = "the device does not allocate in a stream's order";
        return Ok(Outcome::NotRun(why.to_owned()));
    }
    let (pool, by) = (Pool::new(&context.driver), Source::named("trace"));
    let stream = Stream::new(&context.driver, StreamKind::NonBlocking)?;
    let rounds = if context.simulated { 500 } else { 20_000 };
    // Both are warm when they are measured.
    let mut ours = 0.0;
    let mut theirs = 0.0;
    for _ in 0..2 {
        ours = trace(rounds, |bytes| Ok(pool.allocate::<u8>(bytes, &stream, by)?))?;
        theirs = trace(rounds, |bytes| Ok(StreamMemory::allocate(&stream, bytes)?))?;
        stream.synchronize()?;
    }
    Ok(Outcome::Found(json!({
        "pool_ns": ours,
        "cuda_malloc_async_ns": theirs,
        "pool_over_cuda_malloc_async": ours / theirs,
    })))
}
