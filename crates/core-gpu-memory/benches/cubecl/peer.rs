//! cubecl-runtime's pools at the cases of the memory bench: the same lengths in the same order, on
//! storage that is numbers only. Prints lines of a case and nanoseconds for one allocation with its
//! free.

mod test_support;

use std::{collections::HashMap, hint::black_box, sync::Arc, time::Instant};

use cubecl_ir::MemoryDeviceProperties;
use cubecl_runtime::{
    logging::ServerLogger,
    memory_management::{
        ManagedMemoryHandle, MemoryConfiguration, MemoryManagement, MemoryManagementOptions,
    },
    server::IoError,
    storage::{ComputeStorage, StorageHandle, StorageId, StorageUtilization},
};
use test_support::{Rng, Trace};

const ROUNDS: usize = 7;
const OPERATIONS: u64 = 300_000;
const DEVICE: u64 = 4 << 30;

/// Storage without memory.
#[derive(Default)]
struct Numbers(HashMap<StorageId, u64>);

impl ComputeStorage for Numbers {
    type Resource = u64;

    fn alignment(&self) -> usize {
        256
    }

    fn get(&mut self, handle: &StorageHandle) -> u64 {
        handle.offset()
    }

    fn alloc(&mut self, size: u64) -> Result<StorageHandle, IoError> {
        let id = StorageId::new();
        self.0.insert(id, size);
        Ok(StorageHandle::new(id, StorageUtilization { offset: 0, size }))
    }

    fn dealloc(&mut self, id: StorageId) {
        self.0.remove(&id);
    }

    fn flush(&mut self) {}
}

type Pools = MemoryManagement<Numbers>;

fn pools() -> Pools {
    let properties = MemoryDeviceProperties {
        max_page_size: DEVICE / 4,
        alignment: 256,
    };
    MemoryManagement::from_configuration(
        Numbers::default(),
        &properties,
        MemoryConfiguration::default(),
        Arc::new(ServerLogger::default()),
        MemoryManagementOptions::new("bench"),
    )
}

fn take(pools: &mut Pools, bytes: u64) -> ManagedMemoryHandle {
    pools.reserve(bytes).expect("a block")
}

fn punch(pools: &mut Pools, holes: usize) -> Vec<ManagedMemoryHandle> {
    let mut rng = Rng::new(7);
    let lengths = (0..holes * 2).map(|_| 1_500 + rng.below(2_000));
    let blocks: Vec<_> = lengths.map(|bytes| take(pools, bytes)).collect();
    let numbered = blocks.into_iter().enumerate();
    numbered
        .filter(|(index, _)| index % 2 == 0)
        .map(|(_, block)| block)
        .collect()
}

fn pairs(bytes: u64, holes: usize) -> f64 {
    let mut pools = pools();
    let _kept = punch(&mut pools, holes);
    // Where holes make it slow, fewer operations tell as much.
    let count = if holes > 0 { OPERATIONS / 50 } else { OPERATIONS };
    best(|| {
        let start = Instant::now();
        for _ in 0..count {
            drop(black_box(take(&mut pools, black_box(bytes))));
        }
        start.elapsed().as_nanos() as f64 / count as f64
    })
}

fn best(mut round: impl FnMut() -> f64) -> f64 {
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

fn follow(trace: Trace) -> f64 {
    let mut pools = pools();
    best(|| {
        let mut rng = Rng::new(11);
        let mut live = Vec::with_capacity(1_001);
        let start = Instant::now();
        for step in 0..OPERATIONS {
            let (length, frees) = trace.next(&mut rng, step, live.len());
            if frees && !live.is_empty() {
                drop(live.swap_remove(rng.below(live.len() as u64) as usize));
            } else {
                live.push(take(&mut pools, length as u64));
            }
        }
        start.elapsed().as_nanos() as f64 / OPERATIONS as f64 * 2.0
    })
}

fn main() {
    for case in std::env::args().skip(1) {
        let nanoseconds = match case.as_str() {
            "hit" => pairs(1_000, 0),
            "holes-1000" => pairs(1_000, 1_000),
            "cold-holes-1000" => pairs(300_000, 1_000),
            trace => follow(Trace::named(trace).expect("a case that there is")),
        };
        println!("{case}\t{nanoseconds:.1}\t0.00");
    }
}
