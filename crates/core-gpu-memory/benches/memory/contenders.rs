//! Who is compared: the pool, an allocator of offsets, and locks over lists by size.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
use core_gpu_memory::{Buffer, Pool, Source, size_class};

/// Bytes of the device. Nobody touches them, so that they cost nothing.
pub const DEVICE: u64 = 4 << 30;

/// Gives out blocks.
pub trait Contender {
    /// A block.
    type Block;
    /// What it is called.
    const NAME: &'static str;
    /// A block of that many bytes.
    fn allocate(&self, bytes: usize) -> Self::Block;
    /// Takes it back.
    fn free(&self, block: Self::Block);
    /// Bytes that it has reserved at most so far, if it says.
    fn peak_reserved(&self) -> Option<u64> {
        None
    }
    /// Share of requests that a thread's cache served, if there is one.
    fn hit_rate(&self) -> Option<f64> {
        None
    }
}

/// The pool.
pub struct Ours {
    pub pool: Pool,
    pub stream: Stream,
    pub by: Source,
}

impl Ours {
    pub fn new() -> Ours {
        let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(DEVICE));
        Ours {
            stream: Stream::new(&driver, StreamKind::NonBlocking).expect("a stream"),
            pool: Pool::new(&driver),
            by: Source::named("bench"),
        }
    }

    /// With a limit for the source, which has to hold at any time.
    pub fn limited() -> Ours {
        let ours = Ours::new();
        ours.pool.set_source_limit(ours.by, DEVICE / 2);
        ours
    }
}

impl Contender for Ours {
    type Block = Buffer<u8>;
    const NAME: &'static str = "pool (ours)";

    #[inline]
    fn allocate(&self, bytes: usize) -> Buffer<u8> {
        self.pool
            .allocate(bytes, &self.stream, self.by)
            .expect("a block")
    }

    #[inline]
    fn free(&self, block: Buffer<u8>) {
        drop(block);
    }

    fn peak_reserved(&self) -> Option<u64> {
        Some(self.pool.statistics().peak_reserved_bytes)
    }

    fn hit_rate(&self) -> Option<f64> {
        let statistics = self.pool.statistics();
        let all = statistics.hits + statistics.misses;
        Some(statistics.hits as f64 / all.max(1) as f64)
    }
}

/// An allocator of offsets behind a lock. It counts nothing and knows no streams.
pub struct Offsets(Mutex<offset_allocator::Allocator<u32>>);

impl Offsets {
    pub fn new() -> Offsets {
        // It counts in units of 256 bytes, since its numbers have 32 bits.
        let units = u32::try_from(DEVICE / 256).expect("a number of units");
        Offsets(Mutex::new(offset_allocator::Allocator::with_max_allocs(
            units,
            1 << 20,
        )))
    }
}

impl Contender for Offsets {
    type Block = offset_allocator::Allocation<u32>;
    const NAME: &'static str = "offset-allocator, mutex";

    #[inline]
    fn allocate(&self, bytes: usize) -> Self::Block {
        let units = (bytes as u32).div_ceil(256).max(1);
        self.0
            .lock()
            .expect("a lock")
            .allocate(units)
            .expect("a block")
    }

    #[inline]
    fn free(&self, block: Self::Block) {
        self.0.lock().expect("a lock").free(block);
    }
}

/// A lock over lists by size class: never joins anything.
#[derive(Default)]
pub struct Classes(Mutex<ClassBooks>);

#[derive(Default)]
struct ClassBooks {
    free: HashMap<u64, Vec<u64>>,
    next: u64,
}

impl ClassBooks {
    #[inline]
    fn take(&mut self, length: u64) -> u64 {
        if let Some(block) = self.free.get_mut(&length).and_then(Vec::pop) {
            return block;
        }
        self.next += length;
        self.next - length
    }
}

impl Contender for Classes {
    type Block = (u64, u64);
    const NAME: &'static str = "mutex over size classes";

    #[inline]
    fn allocate(&self, bytes: usize) -> (u64, u64) {
        let length = size_class::block_bytes(bytes as u64).expect("a length");
        (self.0.lock().expect("a lock").take(length), length)
    }

    #[inline]
    fn free(&self, (block, length): (u64, u64)) {
        self.0
            .lock()
            .expect("a lock")
            .free
            .entry(length)
            .or_default()
            .push(block);
    }

    fn peak_reserved(&self) -> Option<u64> {
        Some(self.0.lock().expect("a lock").next)
    }
}

/// The same, with bytes in use, their peak and counts for a source.
#[derive(Default)]
pub struct AccountedClasses {
    books: Mutex<(ClassBooks, HashMap<u32, Account>)>,
}

#[derive(Default)]
struct Account {
    in_use: u64,
    peak: u64,
    allocations: u64,
    frees: u64,
}

impl Contender for AccountedClasses {
    type Block = (u64, u64);
    const NAME: &'static str = "the same, accounted by source";

    #[inline]
    fn allocate(&self, bytes: usize) -> (u64, u64) {
        let length = size_class::block_bytes(bytes as u64).expect("a length");
        let mut books = self.books.lock().expect("a lock");
        let account = books.1.entry(7).or_default();
        account.in_use += length;
        account.peak = account.peak.max(account.in_use);
        account.allocations += 1;
        (books.0.take(length), length)
    }

    #[inline]
    fn free(&self, (block, length): (u64, u64)) {
        let mut books = self.books.lock().expect("a lock");
        let account = books.1.entry(7).or_default();
        account.in_use -= length;
        account.frees += 1;
        books.0.free.entry(length).or_default().push(block);
    }
}
