//! Blocks between threads: batches that one thread's cache was too full for and another can take as
//! they are. Bounded; what is too much goes back to the heap and joins there.

use std::collections::HashMap;

use crate::{pool::lease::Lease, segment::Order, size_class::SizeClass};

/// Blocks of one class and order that travel together.
pub type Batch = Vec<Box<Lease>>;

/// Batches by order and class.
#[derive(Debug, Default)]
pub struct Depot {
    batches: HashMap<(Order, SizeClass), Vec<Batch>>,
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
        self.batches
            .entry((first.order, class))
            .or_default()
            .push(batch);
    }

    /// Takes a batch out.
    pub fn take(&mut self, order: Order, class: SizeClass) -> Option<Batch> {
        let batch = self.batches.get_mut(&(order, class))?.pop()?;
        self.bytes -= class.bytes() * batch.len() as u64;
        Some(batch)
    }

    /// Takes everything out.
    pub fn drain(&mut self) -> Vec<Box<Lease>> {
        self.bytes = 0;
        let batches = std::mem::take(&mut self.batches);
        let mut batches: Vec<_> = batches.into_iter().collect();
        batches.sort_unstable_by_key(|(key, _)| *key);
        batches
            .into_iter()
            .flat_map(|(_, batches)| batches.into_iter().flatten())
            .collect()
    }
}
