//! Two threads: each by itself, and one that allocates what the other frees. Beside them a loop
//! that shares nothing, which shows what the machine lets two threads have.

use std::{
    hint::black_box,
    sync::{Barrier, mpsc},
    thread,
    time::Instant,
};

use core_gpu_driver::{Stream, StreamKind};

use crate::{
    contenders::{Classes, Contender, Ours},
    each,
};

type Lane = (&'static str, Box<dyn FnMut() -> f64>, String);

const OPERATIONS: u64 = 300_000;
const BATCH: usize = 64;

/// Runs the same on two threads at once; what one operation took of the longer one.
fn twice(work: &(dyn Fn(u64) + Sync)) -> f64 {
    let ready = Barrier::new(2);
    let run = || {
        ready.wait();
        let start = Instant::now();
        work(OPERATIONS);
        each(start.elapsed(), OPERATIONS)
    };
    thread::scope(|scope| {
        let other = scope.spawn(run);
        let own = run();
        own.max(other.join().expect("a thread that ends"))
    })
}

/// A loop over numbers of its own, of about a hit's length.
fn control(operations: u64) {
    let mut state = 1_u64;
    for _ in 0..operations {
        for _ in 0..8 {
            state = black_box(state ^ (state << 13)).wrapping_mul(0x9E37_79B9);
        }
    }
    black_box(state);
}

/// A loop over a contender, twice and once: two threads' cost beside one's.
fn lanes(
    name: &'static str,
    alone: &'static str,
    work: impl Fn(u64) + Sync + Clone + 'static,
) -> [Lane; 2] {
    let (one, two) = (work.clone(), work);
    let once = move || {
        let start = Instant::now();
        one(OPERATIONS);
        each(start.elapsed(), OPERATIONS)
    };
    [
        (name, Box::new(move || twice(&two)), String::new()),
        (alone, Box::new(once), String::new()),
    ]
}

/// Two threads, each with a stream of its own.
pub fn two_threads() -> Vec<Lane> {
    let ours: &'static Ours = Box::leak(Box::new(Ours::new()));
    let classes: &'static Classes = Box::leak(Box::default());
    let pool = |operations| {
        let stream = Stream::new(ours.pool.driver(), StreamKind::NonBlocking).expect("a stream");
        for _ in 0..operations {
            drop(black_box(ours.pool.allocate::<u8>(1_000, &stream, ours.by)));
        }
    };
    let listed = |operations| {
        for _ in 0..operations {
            classes.free(black_box(classes.allocate(1_000)));
        }
    };
    [
        lanes("pool (ours), 2 threads", "pool (ours), 1 thread", pool),
        lanes(
            "sharing nothing, 2 threads",
            "sharing nothing, 1 thread",
            control,
        ),
        lanes(
            "mutex over size classes, 2 threads",
            "mutex over size classes, 1 thread",
            listed,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Sends batches from one thread to another.
fn pass<B: Send>(make: impl Fn() -> B, take: impl Fn(B) + Send + Sync) -> f64 {
    let (send, receive) = mpsc::sync_channel::<Vec<B>>(64);
    let start = Instant::now();
    let take = &take;
    thread::scope(|scope| {
        scope.spawn(move || {
            for batch in receive {
                batch.into_iter().for_each(&take);
            }
        });
        for _ in 0..OPERATIONS as usize / BATCH {
            let batch = (0..BATCH).map(|_| make()).collect();
            send.send(batch).expect("a receiver");
        }
        drop(send);
    });
    each(start.elapsed(), OPERATIONS)
}

/// One thread allocates, the other frees.
pub fn producer_consumer() -> Vec<Lane> {
    let (ours, classes) = (Ours::new(), Classes::default());
    vec![
        (
            "pool (ours)",
            Box::new(move || pass(|| ours.allocate(1_000), |block| drop(black_box(block)))),
            String::new(),
        ),
        (
            "numbers, nothing shared",
            Box::new(|| pass(|| control(1), |()| control(1))),
            String::new(),
        ),
        (
            Classes::NAME,
            Box::new(move || pass(|| classes.allocate(1_000), |block| classes.free(block))),
            String::new(),
        ),
    ]
}
