//! The laws of the coalescing allocator, held over seeded traces.

use crate::{
    segment::{Heap, Order, SegmentId, Taken},
    test_support::Rng,
};

const SEGMENT: u64 = 1 << 22;

/// Blocks follow each other without a gap, and no two free neighbours share an order.
fn check_layout(heap: &Heap, seed: u64) {
    for (id, length) in heap.segments() {
        let mut end = 0;
        let mut last_free = None;
        for block in heap.blocks(id) {
            assert_eq!(block.offset, end, "seed {seed}");
            end += block.bytes;
            if block.free_in.is_some() {
                assert_ne!(block.free_in, last_free, "seed {seed}: not joined");
            }
            last_free = block.free_in;
        }
        assert_eq!(end, length, "seed {seed}");
    }
}

fn check_disjoint(live: &[Taken], seed: u64) {
    let mut ranges: Vec<_> = live
        .iter()
        .map(|taken| (taken.segment, taken.offset, taken.offset + taken.bytes))
        .collect();
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        let [(segment, _, end), (next_segment, start, _)] = pair else {
            continue;
        };
        assert!(
            segment != next_segment || end <= start,
            "seed {seed}: overlap"
        );
    }
}

#[test]
fn blocks_never_overlap_and_all_joins_when_all_is_free() {
    for seed in 0..64 {
        let mut rng = Rng::new(seed);
        let mut heap = Heap::default();
        for _ in 0..3 {
            heap.add_segment(SEGMENT).unwrap();
        }
        let mut live: Vec<(Taken, u64)> = Vec::new();
        for _ in 0..2_000 {
            let order = Order(rng.below(3) as u32);
            if rng.below(5) < 3 {
                let bound = 1 << rng.below(19);
                let bytes = 1 + rng.below(bound);
                if let Some(taken) = heap
                    .take(order, bytes)
                    .or_else(|| heap.take(Order::IDLE, bytes))
                {
                    assert!(taken.bytes >= bytes, "seed {seed}");
                    live.push((taken, bytes));
                }
            } else if !live.is_empty() {
                let at = rng.below(live.len() as u64) as usize;
                let (taken, _) = live.swap_remove(at);
                heap.release(taken.node, order, rng.below(9));
            }
        }
        let taken: Vec<_> = live.iter().map(|(taken, _)| *taken).collect();
        check_disjoint(&taken, seed);
        check_layout(&heap, seed);
        let live_bytes: u64 = taken.iter().map(|taken| taken.bytes).sum();
        assert_eq!(
            heap.reserved_bytes() - heap.free_bytes(),
            live_bytes,
            "seed {seed}"
        );
        for taken in taken {
            heap.release(taken.node, Order(1), 0);
        }
        for order in 1..heap.order_count() {
            heap.hand_over(Order(order), Order::IDLE, 0);
        }
        for index in 0..3 {
            assert_eq!(heap.blocks(SegmentId(index)).count(), 1, "seed {seed}");
            assert!(heap.remove_segment(SegmentId(index)), "seed {seed}");
        }
        assert_eq!(
            (heap.reserved_bytes(), heap.free_bytes()),
            (0, 0),
            "seed {seed}"
        );
    }
}

#[test]
fn orders_do_not_see_each_other() {
    let mut heap = Heap::default();
    heap.add_segment(SEGMENT).unwrap();
    let whole = heap.take(Order::IDLE, SEGMENT).unwrap();
    heap.release(whole.node, Order(2), 7);
    assert_eq!(heap.take(Order(1), 256), None);
    assert_eq!(heap.take(Order::IDLE, 256), None);
    assert_eq!(heap.take(Order(2), 256).unwrap().freed_at, 7);
    assert_eq!(heap.longest_free(), SEGMENT - 256);
}

#[test]
fn a_block_of_the_exact_length_is_found_again() {
    let mut heap = Heap::default();
    heap.add_segment(SEGMENT).unwrap();
    let sizes: Vec<u64> = (1..40).map(|step| step * 1_000 * 3).collect();
    let taken: Vec<_> = sizes
        .iter()
        .map(|bytes| heap.take(Order::IDLE, *bytes).unwrap())
        .collect();
    for pair in taken.chunks(2) {
        heap.release(pair[0].node, Order::IDLE, 0);
    }
    for (bytes, old) in sizes.iter().zip(&taken).step_by(2) {
        assert_eq!(heap.take(Order::IDLE, *bytes).unwrap().offset, old.offset);
    }
}

#[test]
fn odd_segments_are_refused() {
    let mut heap = Heap::default();
    for bytes in [0, 100, u64::MAX, (1 << 40) + 256] {
        assert_eq!(heap.add_segment(bytes), None, "{bytes}");
    }
}
