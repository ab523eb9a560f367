//! Who has how much: exact sums at the pool, credit at the threads.
//!
//! A thread draws credit for a source in chunks and pays small blocks from it, so that the pool's
//! sum is touched once in a while. What is in use is what was drawn less the credit that threads
//! still hold. A limit bounds what is drawn, and is therefore never exceeded.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::Source;

/// Bytes that a thread draws beyond what it needs at once.
pub const CREDIT_CHUNK: u64 = 64 * 1024;
/// Bytes of credit above which a thread gives some back, for each source.
pub const CREDIT_MOST: u64 = 1024 * 1024;

/// What one thread has done for one source. Written by that thread only, read by all.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Counters {
    pub credit: AtomicU64,
    /// Credit above which the thread gives some back. Written by the pool.
    pub most: AtomicU64,
    pub allocations: AtomicU64,
    /// Bytes of the blocks of these.
    pub allocated_bytes: AtomicU64,
    pub frees: AtomicU64,
}

impl Counters {
    /// Adds to a counter that only this thread writes.
    #[inline]
    pub fn add(counter: &AtomicU64, amount: u64) {
        counter.store(counter.load(Relaxed).wrapping_add(amount), Relaxed);
    }
}

/// A sum with its highest value and its bound.
#[derive(Debug, Clone, Copy)]
pub struct Gauge {
    pub drawn: u64,
    pub peak: u64,
    pub limit: u64,
}

impl Default for Gauge {
    fn default() -> Gauge {
        Gauge {
            drawn: 0,
            peak: 0,
            limit: u64::MAX,
        }
    }
}

impl Gauge {
    fn room(&self) -> u64 {
        self.limit.saturating_sub(self.drawn)
    }

    fn draw(&mut self, bytes: u64) {
        self.drawn += bytes;
        self.peak = self.peak.max(self.drawn);
    }

    fn put_back(&mut self, bytes: u64) {
        self.drawn = self.drawn.saturating_sub(bytes);
    }
}

/// One source at one pool.
#[derive(Debug, Default)]
pub struct Account {
    pub gauge: Gauge,
    /// Requests that a thread's cache served, of threads that are gone.
    pub hits: u64,
    /// Requests that came to the pool.
    pub misses: u64,
    /// Bytes of the blocks that served these, and those of threads that are gone.
    pub allocated_bytes: u64,
    /// Blocks that came back to the pool, and those of threads that are gone.
    pub frees: u64,
    /// Requests that were refused.
    pub refusals: u64,
    threads: Vec<Arc<Counters>>,
}

/// What a source has, summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    pub bytes_in_use: u64,
    pub peak_bytes: u64,
    pub hits: u64,
    pub misses: u64,
    pub allocated_bytes: u64,
    pub frees: u64,
    pub refusals: u64,
}

impl Account {
    /// Sums up. Exact when no thread is in the middle of an operation.
    pub fn usage(&self) -> Usage {
        let sum = |field: fn(&Counters) -> &AtomicU64| {
            let each = self
                .threads
                .iter()
                .map(|counters| field(counters).load(Relaxed));
            each.fold(0_u64, u64::wrapping_add)
        };
        Usage {
            bytes_in_use: self
                .gauge
                .drawn
                .saturating_sub(sum(|counters| &counters.credit)),
            peak_bytes: self.gauge.peak,
            hits: self.hits + sum(|counters| &counters.allocations),
            misses: self.misses,
            allocated_bytes: self.allocated_bytes + sum(|counters| &counters.allocated_bytes),
            frees: self.frees + sum(|counters| &counters.frees),
            refusals: self.refusals,
        }
    }
}

/// All sources of a pool.
#[derive(Debug, Default)]
pub struct Accounts {
    pub total: Gauge,
    sources: Vec<Account>,
}

impl Accounts {
    /// The account of a source, made if it is new.
    #[inline]
    pub fn of(&mut self, by: Source) -> &mut Account {
        self.total_and(by).1
    }

    /// The sum of all, and the account of a source.
    #[inline]
    fn total_and(&mut self, by: Source) -> (&mut Gauge, &mut Account) {
        let index = by.index();
        if self.sources.len() <= index {
            self.sources.resize_with(index + 1, Account::default);
        }
        (&mut self.total, &mut self.sources[index])
    }

    /// The sources that have an account.
    pub fn iter(&self) -> impl Iterator<Item = (Source, &Account)> {
        let numbered = self.sources.iter().enumerate();
        numbered.map(|(index, account)| (Source::from_index(index), account))
    }

    /// Draws exactly `bytes`, if the limits leave room for it.
    #[inline]
    pub fn draw(&mut self, by: Source, bytes: u64) -> bool {
        self.draw_for(by, bytes, 0)
    }

    /// As [`Accounts::draw`], for a request that came to the pool.
    #[inline]
    pub fn draw_for_miss(&mut self, by: Source, bytes: u64) -> bool {
        self.draw_for(by, bytes, 1)
    }

    #[inline]
    fn draw_for(&mut self, by: Source, bytes: u64, misses: u64) -> bool {
        let Some(account) = self.sources.get_mut(by.index()) else {
            return self.draw_first(by, bytes, misses);
        };
        let total = &mut self.total;
        if total.room().min(account.gauge.room()) < bytes {
            return false;
        }
        total.draw(bytes);
        account.gauge.draw(bytes);
        account.misses += misses;
        account.allocated_bytes += bytes * misses;
        true
    }

    /// The source has no account yet.
    #[cold]
    fn draw_first(&mut self, by: Source, bytes: u64, misses: u64) -> bool {
        self.of(by);
        self.draw_for(by, bytes, misses)
    }

    /// Takes back a drawing for a request that was not served.
    pub fn undo_miss(&mut self, by: Source, bytes: u64) {
        self.put_back(by, bytes);
        let account = self.of(by);
        account.misses -= 1;
        account.allocated_bytes -= bytes;
    }

    /// Puts back what a block drew that is not in use any more.
    #[inline]
    pub fn put_back_freed(&mut self, by: Source, bytes: u64) {
        self.total.put_back(bytes);
        // What is given back was drawn.
        if let Some(account) = self.sources.get_mut(by.index()) {
            account.gauge.put_back(bytes);
            account.frees += 1;
        }
    }

    /// Draws a chunk of credit, enough for blocks of so many bytes that come with it; none near a
    /// limit, where a thread must not sit on what another needs.
    pub fn draw_credit(&mut self, by: Source, bytes: u64) -> u64 {
        let room = self.total.room().min(self.of(by).gauge.room());
        let chunk = bytes.clamp(CREDIT_CHUNK, CREDIT_MOST / 2);
        let credit = if room / 64 < chunk { 0 } else { chunk };
        self.total.draw(credit);
        self.of(by).gauge.draw(credit);
        credit
    }

    /// Puts back what was drawn.
    pub fn put_back(&mut self, by: Source, bytes: u64) {
        let (total, account) = self.total_and(by);
        total.put_back(bytes);
        account.gauge.put_back(bytes);
    }

    /// Counters for a thread that begins to work for a source.
    pub fn join(&mut self, by: Source) -> Arc<Counters> {
        let counters = Arc::new(Counters::default());
        counters.most.store(self.credit_most(by), Relaxed);
        self.of(by).threads.push(Arc::clone(&counters));
        counters
    }

    /// What a thread may keep: little if the limit is low, for another may need it.
    fn credit_most(&mut self, by: Source) -> u64 {
        let limit = self.total.limit.min(self.of(by).gauge.limit);
        CREDIT_MOST.min(limit / 64)
    }

    /// Bounds what a source may have in use. What it has already stays.
    pub fn set_limit(&mut self, by: Source, limit: u64) {
        self.of(by).gauge.limit = limit;
        let most = self.credit_most(by);
        for counters in &self.of(by).threads {
            counters.most.store(most, Relaxed);
        }
    }

    /// Peaks count from what is in use now.
    pub fn reset_peaks(&mut self) {
        self.total.peak = self.total.drawn;
        for account in &mut self.sources {
            account.gauge.peak = account.gauge.drawn;
        }
    }

    /// Takes over what a thread that ends has counted, its credit too.
    pub fn leave(&mut self, by: Source, counters: &Arc<Counters>) {
        self.put_back(by, counters.credit.load(Relaxed));
        let account = self.of(by);
        account.hits += counters.allocations.load(Relaxed);
        account.allocated_bytes += counters.allocated_bytes.load(Relaxed);
        account.frees += counters.frees.load(Relaxed);
        account
            .threads
            .retain(|other| !Arc::ptr_eq(other, counters));
    }

    /// Bytes in use by all sources.
    pub fn bytes_in_use(&self) -> u64 {
        self.sources
            .iter()
            .map(|account| account.usage().bytes_in_use)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_bounds_what_is_drawn() {
        let by = Source::named("account test");
        let mut accounts = Accounts::default();
        accounts.of(by).gauge.limit = 1_000;
        assert!(accounts.draw(by, 1_000));
        assert!(!accounts.draw(by, 1));
        assert_eq!(accounts.draw_credit(by, 0), 0);
        accounts.put_back(by, 400);
        assert!(accounts.draw(by, 400));
        assert_eq!(accounts.total.peak, 1_000);
    }

    #[test]
    fn what_a_thread_leaves_is_not_lost() {
        let by = Source::named("account test");
        let mut accounts = Accounts::default();
        assert!(accounts.draw(by, 512));
        let counters = accounts.join(by);
        counters.credit.store(accounts.draw_credit(by, 0), Relaxed);
        Counters::add(&counters.allocations, 3);
        assert_eq!(accounts.bytes_in_use(), 512);
        accounts.leave(by, &counters);
        let usage = accounts.of(by).usage();
        assert_eq!((usage.bytes_in_use, usage.hits), (512, 3));
    }
}
