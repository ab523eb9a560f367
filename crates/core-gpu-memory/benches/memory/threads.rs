//! Two threads: each by itself, and one that allocates what the other frees. Beside them controls
//! that share nothing, which show what the machine lets two threads have.

use std::{
    hint::black_box,
    sync::{Barrier, mpsc},
    thread,
    time::Instant,
};

use core_gpu_driver::{Stream, StreamKind};

use crate::{
    Figure,
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

/// What both sides do with a batch: one side makes it, the other takes it.
trait Passing: Sync {
    type Item: Send;
    fn make(&self) -> Vec<Self::Item>;
    fn take(&self, batch: Vec<Self::Item>);
}

/// Sends batches from one thread to another; what one item took.
fn pass<P: Passing>(passing: &P) -> f64 {
    let (send, receive) = mpsc::sync_channel::<Vec<P::Item>>(64);
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(move || {
            for batch in receive {
                passing.take(batch);
            }
        });
        for _ in 0..OPERATIONS as usize / BATCH {
            send.send(passing.make()).expect("a receiver");
        }
        drop(send);
    });
    each(start.elapsed(), OPERATIONS)
}

/// The same on one thread, through the same channel.
fn pass_alone<P: Passing>(passing: &P) -> f64 {
    let (send, receive) = mpsc::sync_channel::<Vec<P::Item>>(64);
    let start = Instant::now();
    for _ in 0..OPERATIONS as usize / BATCH {
        send.send(passing.make()).expect("a receiver");
        passing.take(receive.recv().expect("what was just sent"));
    }
    each(start.elapsed(), OPERATIONS)
}

/// One side allocates, the other frees.
struct Shared<C>(C);

impl<C: Contender<Block: Send> + Sync> Passing for Shared<C> {
    type Item = C::Block;

    fn make(&self) -> Vec<C::Block> {
        (0..BATCH).map(|_| self.0.allocate(1_000)).collect()
    }

    fn take(&self, batch: Vec<C::Block>) {
        batch
            .into_iter()
            .for_each(|block| self.0.free(black_box(block)));
    }
}

/// As many allocations and frees, and items of the same size on the way; but each side has a pool
/// of its own, in which it allocates and frees half of the batch.
struct Apart {
    maker: Ours,
    taker: Ours,
}

impl Apart {
    fn half(ours: &Ours) {
        let blocks: Vec<_> = (0..BATCH / 2).map(|_| ours.allocate(1_000)).collect();
        blocks
            .into_iter()
            .for_each(|block| ours.free(black_box(block)));
    }
}

impl Passing for Apart {
    type Item = [u8; size_of::<<Ours as Contender>::Block>()];

    fn make(&self) -> Vec<Self::Item> {
        Apart::half(&self.maker);
        (0..BATCH as u8)
            .map(|item| black_box([item; size_of::<Self::Item>()]))
            .collect()
    }

    fn take(&self, batch: Vec<Self::Item>) {
        batch.into_iter().for_each(|item| {
            black_box(item);
        });
        Apart::half(&self.taker);
    }
}

fn passing_lanes<P: Passing + 'static>(
    two: &'static str,
    one: &'static str,
    passing: P,
) -> [Lane; 2] {
    let passing: &'static P = Box::leak(Box::new(passing));
    [
        (two, Box::new(|| pass(passing)), String::new()),
        (one, Box::new(|| pass_alone(passing)), String::new()),
    ]
}

/// One thread allocates, the other frees. Each lane with two threads, and then with one.
pub fn producer_consumer() -> Vec<Lane> {
    let apart = Apart {
        maker: Ours::new(),
        taker: Ours::new(),
    };
    [
        passing_lanes(
            "pool (ours), 2 threads",
            "pool (ours), 1 thread",
            Shared(Ours::new()),
        ),
        passing_lanes(
            "a pool for each side, 2 threads",
            "a pool for each side, 1 thread",
            apart,
        ),
        passing_lanes(
            "mutex over size classes, 2 threads",
            "mutex over size classes, 1 thread",
            Shared(Classes::default()),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Says of lanes in pairs, two threads and one, how much faster two are than one; and of the first
/// what that is beside the second, which shares nothing.
pub fn say_scaling(figures: &mut [Figure]) {
    let scale = |pair: &[Figure]| match pair {
        [two, one] => one.nanoseconds / two.nanoseconds,
        _ => f64::NAN,
    };
    let scales: Vec<f64> = figures.chunks(2).map(scale).collect();
    for (pair, scale) in figures.chunks_mut(2).zip(&scales) {
        pair[0].remark = format!("two threads do {scale:.2} times one's");
    }
    if let [ours, apart, ..] = scales.as_slice() {
        let beside = format!("; {:.2} of what sharing nothing does", ours / apart);
        figures[0].remark.push_str(&beside);
    }
}
