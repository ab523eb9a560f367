//! Rules that the driver documents, as checks that run on any [`Driver`]: the simulated machine,
//! its C interface, the host, and a real card. What holds on all of them may be relied on.
//!
//! ```
//! use std::sync::Arc;
//! use core_gpu_driver::Driver;
//! use gpu_sim::{Machine, SimDriver, conformance};
//!
//! # fn main() -> Result<(), core_gpu_driver::DriverError> {
//! let driver: Arc<dyn Driver> = SimDriver::open(&Machine::with_bytes(64 << 20), 0)?;
//! assert_eq!(conformance::broken_rules(&driver), Vec::<String>::new());
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;

use core_gpu_driver::{
    DeviceSpan, Driver, DriverError, Event, EventKind, Pinned, PinnedSpan, Segment, Stream,
    StreamKind,
};

/// Bytes of a device that the rules take at most. A device has at least twice as many.
pub const BYTES: usize = 16 << 20;

/// Why a rule does not hold.
type Broken = Box<dyn std::error::Error + Send + Sync>;
/// A check of one rule.
type Check = fn(&Arc<dyn Driver>) -> Result<(), Broken>;

/// The rules by name.
pub const RULES: &[(&str, Check)] = &[
    ("no memory is had for zero bytes", zero_bytes),
    ("addresses are aligned and blocks are apart", alignment),
    (
        "what is taken is missing in the free figure until it is given back",
        free_figure,
    ),
    (
        "more than there is is out of memory, and changes nothing",
        too_much,
    ),
    ("bytes come back as they were sent", round_trip),
    ("copies of nothing are a success", nothing),
    ("within a stream work keeps its order", stream_order),
    ("an event orders two streams", event_order),
    ("an event stands for its last recording", recorded_again),
    (
        "an event that was never recorded has been reached",
        never_recorded,
    ),
    (
        "time between events is not negative and needs events with time",
        elapsed,
    ),
    ("pinned memory is read in the stream's order", pinned_order),
    (
        "what comes into pinned memory is there behind its event",
        pinned_arrival,
    ),
    ("a stream that was waited for is done", waited_for),
    (
        "work goes on when its stream's handle is gone",
        destroyed_stream,
    ),
    (
        "no stream is captured unless somebody begins to",
        not_capturing,
    ),
    ("threads may use one device at once", threads),
    ("memory keeps its bytes under new addresses", pieces),
    ("memory in a stream's order needs no wait", stream_ordered),
];

/// Names of rules that do not hold on a device, each with what was found.
#[must_use]
pub fn broken_rules(driver: &Arc<dyn Driver>) -> Vec<String> {
    let broken = RULES.iter().filter_map(|(name, check)| {
        let found = check(driver).err()?;
        Some(format!("{name}: {found}"))
    });
    broken.collect()
}

fn must(holds: bool, what: impl std::fmt::Display) -> Result<(), Broken> {
    if holds {
        Ok(())
    } else {
        Err(what.to_string().into())
    }
}

fn stream(driver: &Arc<dyn Driver>) -> Result<Stream, DriverError> {
    Stream::new(driver, StreamKind::NonBlocking)
}

fn zero_bytes(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    must(Segment::allocate(driver, 0).is_err(), "of the device")?;
    must(Pinned::allocate(driver, 0).is_err(), "of the host")
}

fn alignment(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let sizes = [1, 255, 256, 4097, 1 << 20];
    let segments: Result<Vec<_>, _> = sizes
        .iter()
        .map(|bytes| Segment::allocate(driver, *bytes))
        .collect();
    let mut segments = segments?;
    segments.sort_by_key(Segment::address);
    let alignment = driver.info().alignment_bytes as u64;
    for pair in segments.windows(2) {
        if let [one, other] = pair {
            must(
                one.address().get() + one.bytes() <= other.address().get(),
                "they overlap",
            )?;
        }
    }
    must(
        segments
            .iter()
            .all(|segment| segment.address().is_aligned_to(alignment)),
        "not aligned",
    )
}

fn free_figure(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let before = driver.memory_info()?;
    let segment = Segment::allocate(driver, BYTES)?;
    let during = driver.memory_info()?;
    must(
        during.total_bytes == before.total_bytes,
        "the total changes",
    )?;
    must(
        during.free_bytes + BYTES as u64 <= before.free_bytes,
        "it is not missing",
    )?;
    drop(segment);
    let after = driver.memory_info()?;
    must(
        after.free_bytes >= during.free_bytes + BYTES as u64,
        "it does not come back",
    )
}

fn too_much(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let before = driver.memory_info()?;
    let bytes = usize::try_from(before.total_bytes).unwrap_or(usize::MAX / 2);
    let refused = Segment::allocate(driver, bytes.saturating_mul(2)).err();
    must(
        refused == Some(DriverError::OutOfMemory),
        format!("{refused:?}"),
    )?;
    must(
        driver.memory_info()?.free_bytes >= before.free_bytes,
        "something is missing",
    )
}

fn round_trip(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let stream = stream(driver)?;
    let (one, other) = (
        Segment::allocate(driver, 10_000)?,
        Segment::allocate(driver, 10_000)?,
    );
    let sent: Vec<u8> = (0..10_000_u32).map(|at| (at % 251) as u8).collect();
    stream.upload_and_wait(one.whole(), &sent)?;
    stream.copy(other.whole(), one.whole())?;
    let mut back = vec![0; 10_000];
    stream.download_and_wait(&mut back, other.whole())?;
    must(back == sent, "other bytes")?;
    let part = other.span(100, 50).ok_or("a part")?;
    stream.set(part, 7)?;
    stream.download_and_wait(&mut back, other.whole())?;
    let wanted = |at: usize| {
        if (100..150).contains(&at) {
            Some(&7)
        } else {
            sent.get(at)
        }
    };
    must(
        back.iter()
            .enumerate()
            .all(|(at, byte)| wanted(at) == Some(byte)),
        "a set that misses",
    )
}

fn nothing(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let (stream, segment) = (stream(driver)?, Segment::allocate(driver, 256)?);
    let empty = segment.span(10, 0).ok_or("an empty part")?;
    stream.copy(empty, empty)?;
    stream.set(empty, 1)?;
    stream.upload_and_wait(empty, &[])?;
    Ok(stream.download_and_wait(&mut [], empty)?)
}

fn stream_order(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let (stream, segment) = (stream(driver)?, Segment::allocate(driver, 4096)?);
    for value in 0..50 {
        stream.set(segment.whole(), value)?;
    }
    let mut back = [0; 4096];
    stream.download_and_wait(&mut back, segment.whole())?;
    must(back == [49; 4096], "an earlier value")
}

fn event_order(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let (one, other) = (stream(driver)?, stream(driver)?);
    let segment = Segment::allocate(driver, 1 << 20)?;
    let event = Event::new(driver, EventKind::Order)?;
    for value in 0..20 {
        let (first, second) = if value % 2 == 0 {
            (&one, &other)
        } else {
            (&other, &one)
        };
        first.set(segment.whole(), value)?;
        first.record(&event)?;
        second.wait(&event)?;
        let mut back = vec![0; 1 << 20];
        second.download_and_wait(&mut back, segment.whole())?;
        must(
            back.iter().all(|byte| *byte == value),
            format!("not yet {value}"),
        )?;
    }
    Ok(())
}

fn recorded_again(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let (stream, segment) = (stream(driver)?, Segment::allocate(driver, 4096)?);
    let event = Event::new(driver, EventKind::Order)?;
    stream.record(&event)?;
    event.synchronize()?;
    stream.set(segment.whole(), 3)?;
    stream.record(&event)?;
    event.synchronize()?;
    must(event.query()?, "waited for and not reached")?;
    must(
        stream.query()?,
        "the event is reached and the work before it is not",
    )
}

fn never_recorded(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let (stream, event) = (stream(driver)?, Event::new(driver, EventKind::Order)?);
    must(event.query()?, "it is not")?;
    event.synchronize()?;
    stream.wait(&event)?;
    Ok(stream.synchronize()?)
}

fn elapsed(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let (stream, segment) = (stream(driver)?, Segment::allocate(driver, 1 << 20)?);
    let (start, end) = (
        Event::new(driver, EventKind::Timed)?,
        Event::new(driver, EventKind::Timed)?,
    );
    must(
        end.elapsed_since(&start).is_err(),
        "events that were not recorded have a time",
    )?;
    stream.record(&start)?;
    stream.set(segment.whole(), 1)?;
    stream.record(&end)?;
    stream.synchronize()?;
    end.elapsed_since(&start)?;
    let order = Event::new(driver, EventKind::Order)?;
    stream.record(&order)?;
    stream.synchronize()?;
    must(
        order.elapsed_since(&start).is_err(),
        "an event without time has one",
    )
}

fn pinned_order(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let (stream, segment) = (stream(driver)?, Segment::allocate(driver, 4096)?);
    let pinned = Pinned::allocate(driver, 8192)?;
    pinned.write(0, &[5; 4096])?;
    let (from, to) = (
        PinnedSpan {
            pinned: &pinned,
            offset: 0,
        },
        PinnedSpan {
            pinned: &pinned,
            offset: 4096,
        },
    );
    stream.upload(segment.whole(), from)?;
    stream.download(to, segment.whole())?;
    stream.synchronize()?;
    let mut back = [0; 4096];
    pinned.read(4096, &mut back)?;
    must(back == [5; 4096], "other bytes")
}

fn pinned_arrival(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let stream = stream(driver)?;
    let segment = Segment::allocate(driver, 512)?;
    let pinned = Pinned::allocate(driver, 512)?;
    stream.set(segment.whole(), 5)?;
    let landing = |offset| PinnedSpan {
        pinned: &pinned,
        offset,
    };
    let half = |offset| segment.span(offset, 256).ok_or("a half");
    stream.download(landing(0), half(256)?)?;
    stream.download(landing(256), half(0)?)?;
    let event = Event::new(driver, EventKind::Order)?;
    stream.record(&event)?;
    // It comes behind the copies and changes nothing of them.
    stream.set(segment.whole(), 6)?;
    event.synchronize()?;
    must(event.query()?, "an event is reached that was waited for")?;
    let mut arrived = [0; 512];
    pinned.read(0, &mut arrived)?;
    must(arrived == [5; 512], "the bytes of both copies")?;
    stream.synchronize()?;
    Ok(())
}

fn waited_for(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let (stream, segment) = (stream(driver)?, Segment::allocate(driver, 1 << 20)?);
    stream.set(segment.whole(), 1)?;
    stream.synchronize()?;
    must(stream.query()?, "after the stream was waited for")?;
    stream.set(segment.whole(), 2)?;
    driver.synchronize()?;
    must(stream.query()?, "after the device was waited for")
}

fn destroyed_stream(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let (one, other) = (stream(driver)?, stream(driver)?);
    let (segment, event) = (
        Segment::allocate(driver, 4096)?,
        Event::new(driver, EventKind::Order)?,
    );
    one.set(segment.whole(), 9)?;
    one.record(&event)?;
    drop(one);
    other.wait(&event)?;
    let mut back = [0; 4096];
    other.download_and_wait(&mut back, segment.whole())?;
    must(back == [9; 4096], "it did not")
}

fn not_capturing(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    must(!stream(driver)?.is_capturing()?, "a new stream is")
}

/// For devices with address space apart from memory; others have nothing to show.
fn pieces(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    let Some(unit) = Segment::piece_bytes(driver) else {
        return Ok(());
    };
    let (stream, length) = (stream(driver)?, usize::try_from(unit)?);
    let mut segment = Segment::allocate_in_pieces(driver, 2 * unit)?;
    let over_the_edge = segment.span(unit - 100, 200).ok_or("a part")?;
    stream.upload_and_wait(over_the_edge, &[7; 200])?;
    let mut second = segment.take_piece(1).ok_or("a second piece")?;
    must(segment.take_piece(1).is_none(), "a piece is had twice")?;
    second.unmap()?;
    let moved = Segment::of_pieces(driver, vec![second]).map_err(|(error, _)| error)?;
    must(
        moved.address() != segment.address() && moved.bytes() == unit,
        "no new addresses",
    )?;
    let mut back = vec![0; length];
    stream.download_and_wait(&mut back, moved.whole())?;
    must(
        back.get(..100) == Some(&[7; 100]),
        "other bytes under new addresses",
    )?;
    let mut front = [0; 100];
    stream.download_and_wait(&mut front, segment.span(unit - 100, 100).ok_or("a part")?)?;
    must(front == [7; 100], "other bytes in what stayed")?;
    must(segment.memory_bytes() == unit, "the books are wrong")
}

/// For devices that allocate in a stream's order; others have nothing to show.
#[expect(unsafe_code, reason = "such memory has no owning type")]
fn stream_ordered(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    if !driver.info().capabilities.stream_ordered_allocation {
        return Ok(());
    }
    let stream = stream(driver)?;
    // SAFETY: the stream is live, and of this device.
    let at = unsafe { driver.allocate_on(4096, stream.raw()) }?;
    // SAFETY: these bytes are ours until they are given back, in this stream's order.
    let span = unsafe { DeviceSpan::adopt(at, 4096) };
    let set = stream.set(span, 3);
    let mut back = [0; 4096];
    let read = stream.download_and_wait(&mut back, span);
    // SAFETY: it came from `allocate_on`, and nothing else uses it.
    unsafe { driver.free_on(at, stream.raw()) }?;
    stream.synchronize()?;
    set.and(read)?;
    must(back == [3; 4096], "other bytes")
}

fn threads(driver: &Arc<dyn Driver>) -> Result<(), Broken> {
    std::thread::scope(|scope| {
        let work = |value: u8| {
            move || -> Result<(), Broken> {
                let (stream, segment) = (stream(driver)?, Segment::allocate(driver, 4096)?);
                for round in 0..20 {
                    stream.set(segment.whole(), value ^ round)?;
                    let mut back = [0; 4096];
                    stream.download_and_wait(&mut back, segment.whole())?;
                    must(back == [value ^ round; 4096], "another thread's bytes")?;
                }
                Ok(())
            }
        };
        let running: Vec<_> = (0..4).map(|value| scope.spawn(work(value << 5))).collect();
        running
            .into_iter()
            .try_for_each(|thread| match thread.join() {
                Ok(checked) => checked,
                Err(_) => Err("a thread panicked".into()),
            })
    })
}
