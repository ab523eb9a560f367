//! Blocks that have not gone back to the heap: batches that one thread's cache was too full for and
//! another can take as they are, and single blocks for the next request of their length. Bounded;
//! what is too much goes back to the heap and joins there, and all of it before the pool grows.

use crate::{
    pool::lease::Lease,
    segment::Order,
    size_class::{CLASS_COUNT, Shelf, SizeClass},
};

/// Blocks of one class and order that travel together.
pub type Batch = Vec<Box<Lease>>;

/// Single blocks that are kept at most: so many are joined at once when none of them will do.
const SINGLE_MOST: usize = 2048;

/// Blocks of one order.
#[derive(Debug, Default)]
struct Shelves {
    /// By class; none if there was never any.
    batches: Vec<Vec<Batch>>,
    /// By shelf, of a stream that lives; the last that came is the first to go.
    single: Vec<Batch>,
    /// A bit for each shelf that may have a single block.
    stocked: u128,
}

const _: () = assert!(Shelf::COUNT <= 128);

/// Blocks by order and length.
#[derive(Debug, Default)]
pub struct Depot {
    /// By order: found without hashing.
    orders: Vec<Shelves>,
    batch_bytes: u64,
    single_count: usize,
}

impl Depot {
    /// Bytes of all blocks in it.
    pub fn bytes(&self) -> u64 {
        // Summed up where somebody asks, which is seldom.
        let shelves = self.orders.iter().flat_map(|shelves| &shelves.single);
        self.batch_bytes + shelves.map(|shelf| bytes_of(shelf)).sum::<u64>()
    }

    /// Bytes of the blocks in batches.
    #[inline]
    pub fn batch_bytes(&self) -> u64 {
        self.batch_bytes
    }

    /// Makes room for single blocks of an order whose stream lives.
    pub fn open(&mut self, order: Order) {
        let single = &mut self.shelves(order).single;
        single.resize_with(Shelf::COUNT, Batch::new);
    }

    /// The order's stream ends: nothing will ask for its blocks any more. Hands out those in
    /// batches; there are no others.
    pub fn close(&mut self, order: Order) -> Batch {
        let Some(shelves) = self.orders.get_mut(order.0 as usize) else {
            return Batch::new();
        };
        let Shelves { batches, .. } = std::mem::take(shelves);
        let blocks: Batch = batches.into_iter().flatten().flatten().collect();
        self.batch_bytes -= bytes_of(&blocks);
        blocks
    }

    /// Keeps a single block, unless there is no room or its stream has ended.
    #[inline]
    pub fn keep_one(&mut self, lease: Box<Lease>) -> Option<Box<Lease>> {
        let index = lease.shelf.index();
        let Some(shelves) = self.orders.get_mut(lease.order.0 as usize) else {
            return Some(lease);
        };
        let shelf = shelves.single.get_mut(index);
        let Some(shelf) = shelf.filter(|_| self.single_count < SINGLE_MOST) else {
            return Some(lease);
        };
        self.single_count += 1;
        shelves.stocked |= 1 << index;
        shelf.push(lease);
        None
    }

    /// As [`Depot::keep_one`] with each; what there is no room for comes back.
    pub fn keep_each(&mut self, batch: Batch) -> Batch {
        let kept = batch.into_iter().filter_map(|lease| self.keep_one(lease));
        kept.collect()
    }

    /// A single block of that length.
    #[inline]
    pub fn take_one(&mut self, order: Order, shelf: Shelf) -> Option<Box<Lease>> {
        let shelves = self.orders.get_mut(order.0 as usize)?;
        let lease = shelves.single.get_mut(shelf.index())?.pop()?;
        self.single_count -= 1;
        Some(lease)
    }

    /// The shortest single block that is longer than those of a shelf.
    #[inline(never)]
    pub fn take_longer(&mut self, order: Order, than: Shelf) -> Option<Box<Lease>> {
        let above = u128::MAX.checked_shl(than.index() as u32 + 1)?;
        self.take_in(order, |stocked| match stocked & above {
            0 => None,
            longer => Some(longer.trailing_zeros()),
        })
    }

    /// The longest single block of an order.
    pub fn take_longest(&mut self, order: Order) -> Option<Box<Lease>> {
        self.take_in(order, u128::checked_ilog2)
    }

    /// A single block from the shelf that is chosen, among those that may have one.
    #[inline]
    fn take_in(
        &mut self,
        order: Order,
        choose: impl Fn(u128) -> Option<u32>,
    ) -> Option<Box<Lease>> {
        let shelves = self.orders.get_mut(order.0 as usize)?;
        loop {
            let index = choose(shelves.stocked)?;
            let Some(lease) = shelves.single.get_mut(index as usize)?.pop() else {
                shelves.stocked &= !(1 << index);
                continue;
            };
            self.single_count -= 1;
            return Some(lease);
        }
    }

    fn shelves(&mut self, order: Order) -> &mut Shelves {
        let order = order.0 as usize;
        if self.orders.len() <= order {
            self.orders.resize_with(order + 1, Shelves::default);
        }
        &mut self.orders[order]
    }

    /// Puts a batch in, of one class and order and not empty.
    pub fn put(&mut self, batch: Batch) {
        let Some((first, class)) = batch
            .first()
            .and_then(|first| Some((first, first.class()?)))
        else {
            return;
        };
        self.batch_bytes += class.bytes() * batch.len() as u64;
        let classes = &mut self.shelves(first.order).batches;
        if classes.is_empty() {
            classes.resize_with(CLASS_COUNT, Vec::new);
        }
        classes[class.index()].push(batch);
    }

    /// Takes a batch out.
    pub fn take(&mut self, order: Order, class: SizeClass) -> Option<Batch> {
        let shelves = self.orders.get_mut(order.0 as usize)?;
        let batch = shelves.batches.get_mut(class.index())?.pop()?;
        self.batch_bytes -= class.bytes() * batch.len() as u64;
        Some(batch)
    }

    /// Takes everything out.
    pub fn drain(&mut self) -> Vec<Box<Lease>> {
        (self.batch_bytes, self.single_count) = (0, 0);
        let mut all = Batch::new();
        for shelves in &mut self.orders {
            let batches = std::mem::take(&mut shelves.batches);
            all.extend(batches.into_iter().flatten().flatten());
            for shelf in &mut shelves.single {
                all.append(shelf);
            }
        }
        all
    }
}

fn bytes_of(blocks: &[Box<Lease>]) -> u64 {
    blocks.iter().map(|lease| lease.region.bytes).sum()
}
