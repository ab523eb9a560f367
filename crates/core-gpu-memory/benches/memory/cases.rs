//! The cases, each for every contender in turn.

use std::{hint::black_box, time::Instant};

use core_gpu_memory::test_support::{Rng, Trace};

use crate::{
    Figure, ROUNDS,
    contenders::{AccountedClasses, Classes, Contender, Offsets, Ours},
    each, threads,
};

/// A request that threads' caches serve.
const SMALL: usize = 1_000;
/// A request that is too long for them.
const LARGE: usize = 300_000;
const OPERATIONS: u64 = 300_000;

/// One contender at one case: runs so many operations and says what one took.
type Lane = Box<dyn FnMut() -> f64>;

/// Runs lanes in turn; the best round of each counts.
fn race(case: &'static str, lanes: Vec<(&'static str, Lane, String)>) -> Vec<Figure> {
    let mut lanes = lanes;
    let mut best = vec![f64::INFINITY; lanes.len()];
    for _ in 0..ROUNDS {
        for ((_, lane, _), best) in lanes.iter_mut().zip(&mut best) {
            *best = best.min(lane());
        }
    }
    let figures = lanes.into_iter().zip(best);
    figures
        .map(|((who, _, remark), nanoseconds)| Figure {
            case,
            who,
            nanoseconds,
            remark,
        })
        .collect()
}

/// Allocates and frees one length over and over.
fn pairs<C: Contender>(contender: &C, bytes: usize, operations: u64) -> f64 {
    let start = Instant::now();
    for _ in 0..operations {
        let block = contender.allocate(black_box(bytes));
        // Looked at and not moved: what a block's handle weighs is the same for all.
        black_box(&block);
        contender.free(block);
    }
    each(start.elapsed(), operations)
}

fn pair_lane<C: Contender + 'static>(
    contender: C,
    bytes: usize,
    holes: usize,
) -> (&'static str, Lane, String) {
    let kept = punch(&contender, holes);
    let lane = move || {
        black_box(&kept);
        pairs(&contender, bytes, OPERATIONS)
    };
    (C::NAME, Box::new(lane), String::new())
}

/// Leaves so many holes of other lengths; what is between them is kept.
fn punch<C: Contender>(contender: &C, holes: usize) -> Vec<C::Block> {
    let mut rng = Rng::new(7);
    let blocks: Vec<_> = (0..holes * 2)
        .map(|_| contender.allocate(1_500 + rng.below(2_000) as usize))
        .collect();
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for (index, block) in blocks.into_iter().enumerate() {
        if index % 2 == 0 {
            kept.push(block)
        } else {
            gone.push(block)
        }
    }
    gone.into_iter().for_each(|block| contender.free(block));
    kept
}

fn named(name: &'static str, lane: (&'static str, Lane, String)) -> (&'static str, Lane, String) {
    (name, lane.1, lane.2)
}

/// Runs a trace; the cost of one operation, and the most bytes that were live.
fn follow<C: Contender>(contender: &C, trace: Trace, operations: u64) -> (f64, u64) {
    let mut rng = Rng::new(11);
    let mut live: Vec<(C::Block, usize)> = Vec::with_capacity(1_001);
    let (mut bytes, mut peak) = (0_u64, 0_u64);
    let start = Instant::now();
    for step in 0..operations {
        let (length, frees) = trace.next(&mut rng, step, live.len());
        if frees && !live.is_empty() {
            let (block, length) = live.swap_remove(rng.below(live.len() as u64) as usize);
            bytes -= length as u64;
            contender.free(block);
        } else {
            live.push((contender.allocate(length), length));
            bytes += length as u64;
            peak = peak.max(bytes);
        }
    }
    let elapsed = start.elapsed();
    live.into_iter()
        .for_each(|(block, _)| contender.free(block));
    // An operation is half of an allocation with its free.
    (each(elapsed, operations) * 2.0, peak)
}

fn trace_lane<C: Contender + 'static>(
    make: fn() -> C,
    trace: Trace,
) -> (&'static str, Lane, String) {
    let first = make();
    let (_, peak) = follow(&first, trace, OPERATIONS);
    let reserved = first.peak_reserved().map(|reserved| {
        format!(
            "reserved / live at the peak {:.2}",
            reserved as f64 / peak as f64
        )
    });
    let hits = first
        .hit_rate()
        .map(|rate| format!(", {:.0}% hits", rate * 100.0));
    let remark = reserved.into_iter().chain(hits).collect();
    drop(first);
    let contender = make();
    let lane = move || follow(&contender, trace, OPERATIONS).0;
    (C::NAME, Box::new(lane), remark)
}

fn traces(case: &'static str, trace: Trace) -> Vec<Figure> {
    race(
        case,
        vec![
            trace_lane(Ours::new, trace),
            trace_lane(Offsets::new, trace),
            trace_lane(Classes::default, trace),
        ],
    )
}

type Run = fn(&'static str) -> Vec<Figure>;

const CASES: &[(&str, Run)] = &[
    ("hit", |case| {
        race(
            case,
            vec![
                pair_lane(Ours::new(), SMALL, 0),
                pair_lane(Offsets::new(), SMALL, 0),
                pair_lane(Classes::default(), SMALL, 0),
            ],
        )
    }),
    ("hit-accounted", |case| {
        race(
            case,
            vec![
                pair_lane(Ours::limited(), SMALL, 0),
                pair_lane(AccountedClasses::default(), SMALL, 0),
            ],
        )
    }),
    ("holes-1000", |case| holes(case, SMALL, 1_000)),
    ("holes-100000", |case| holes(case, SMALL, 100_000)),
    ("cold-holes-1000", |case| holes(case, LARGE, 1_000)),
    ("random", |case| traces(case, Trace::Random)),
    ("grow-shrink", |case| traces(case, Trace::GrowShrink)),
    ("size-shift", |case| traces(case, Trace::SizeShift)),
    ("threads-2", |case| race(case, threads::two_threads())),
    ("producer-consumer", |case| {
        let mut figures = race(case, threads::producer_consumer());
        threads::say_scaling(&mut figures);
        figures
    }),
];

/// Ours with holes, beside ours without any and the others with as many.
fn holes(case: &'static str, bytes: usize, count: usize) -> Vec<Figure> {
    race(
        case,
        vec![
            pair_lane(Ours::new(), bytes, count),
            named(
                "pool (ours) without holes",
                pair_lane(Ours::new(), bytes, 0),
            ),
            named(
                "pool (ours) hit without holes",
                pair_lane(Ours::new(), SMALL, 0),
            ),
            pair_lane(Offsets::new(), bytes, count),
            pair_lane(Classes::default(), bytes, count),
        ],
    )
}

/// The figures of all cases that are wanted, one after another.
pub fn all(wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = Vec<Figure>> {
    let cases = CASES.iter().filter(move |(name, _)| wanted(name));
    cases.map(|(name, run)| run(name))
}

/// One case of one contender for a profiler.
pub fn run_alone(case: &str, contender: &str, operations: u64) {
    match (contender, case) {
        (Offsets::NAME, _) => alone(&Offsets::new(), case, operations),
        (_, "hit-accounted") => alone(&Ours::limited(), case, operations),
        _ => alone(&Ours::new(), case, operations),
    }
}

fn alone<C: Contender>(contender: &C, case: &str, operations: u64) {
    if let Some(trace) = Trace::named(case) {
        // The same over and over, so that only the first time asks the driver for memory.
        let mut left = operations * 2;
        while left > 0 {
            let steps = left.min(OPERATIONS);
            black_box(follow(contender, trace, steps));
            left -= steps;
        }
        return;
    }
    let holes = match case {
        "holes-1000" | "cold-holes-1000" => 1_000,
        "holes-100000" => 100_000,
        _ => 0,
    };
    let bytes = if case.starts_with("cold") {
        LARGE
    } else {
        SMALL
    };
    let kept = punch(contender, holes);
    black_box(pairs(contender, bytes, operations));
    drop(kept);
}
