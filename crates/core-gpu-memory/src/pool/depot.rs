//! Blocks between threads: batches that one thread's cache was too full for and another can take as
//! they are. Bounded; what is too much goes back to the heap and joins there.

use crate::{
    pool::lease::Lease,
    segment::Order,
    size_class::{CLASS_COUNT, SizeClass},
};

/// Blocks of one class and order that travel together.
pub type Batch = Vec<Box<Lease>>;

/// Batches by order and class.
#[derive(Debug, Default)]
pub struct Depot {
    /// By order, then by class: found without hashing.
    batches: Vec<Vec<Vec<Batch>>>,
    bytes: u64,
}

impl Depot {
    /// Bytes of all blocks in it.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Puts a batch in, of one class and order and not empty.
    pub fn put(&mut self, batch: Batch) {
        let Some((first, class)) = batch.first().and_then(|first| Some((first, first.class?)))
        else {
            return;
        };
        self.bytes += class.bytes() * batch.len() as u64;
        let order = first.order.0 as usize;
        if self.batches.len() <= order {
            self.batches.resize_with(order + 1, Vec::new);
        }
        let classes = &mut self.batches[order];
        if classes.is_empty() {
            classes.resize_with(CLASS_COUNT, Vec::new);
        }
        classes[class.index()].push(batch);
    }

    /// Takes a batch out.
    pub fn take(&mut self, order: Order, class: SizeClass) -> Option<Batch> {
        let classes = self.batches.get_mut(order.0 as usize)?;
        let batch = classes.get_mut(class.index())?.pop()?;
        self.bytes -= class.bytes() * batch.len() as u64;
        Some(batch)
    }

    /// Takes everything out.
    pub fn drain(&mut self) -> Vec<Box<Lease>> {
        self.bytes = 0;
        let batches = std::mem::take(&mut self.batches);
        batches.into_iter().flatten().flatten().flatten().collect()
    }
}
