//! The map of a pool's memory: every segment and block, to JSON, and what changed between two.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Pool,
    adaptor::LiveAllocation,
    pool::central::Central,
    segment::{FreeBlock, Order},
};

/// What a block is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
#[non_exhaustive]
pub enum BlockState {
    /// Free for any stream.
    Free,
    /// Free for one stream at once, for others behind an event.
    FreeOnStream {
        /// Number of the stream's order in the pool.
        order: u32,
    },
    /// In the cache of a thread or on its way between threads.
    Cached,
    /// Waits for other streams.
    Pending,
    /// Given up on for now.
    Quarantined,
    /// Addresses only: the memory was taken away for another block.
    Hole,
    /// In use.
    InUse {
        /// Name of its source.
        source: String,
        /// Bytes that were asked for.
        requested_bytes: u64,
    },
}

/// A block of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotBlock {
    /// Bytes from the segment's start.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// What it is.
    #[serde(flatten)]
    pub state: BlockState,
    /// Where it was asked for, if that was added: [`Snapshot::with_stacks`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

/// A segment of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotSegment {
    /// Its address.
    pub address: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Its blocks in order of their offsets, without gaps.
    pub blocks: Vec<SnapshotBlock>,
}

/// All segments of a pool at one moment, by address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Version of this format.
    pub version: u32,
    /// The segments.
    pub segments: Vec<SnapshotSegment>,
}

/// What changed between two snapshots, in bytes. Sources without a change are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct SnapshotDiff {
    /// Change of what is reserved.
    pub reserved_bytes: i128,
    /// Change of what is in use, by source.
    pub in_use_bytes: BTreeMap<String, i128>,
    /// Change of the number of blocks in use, by source.
    pub blocks: BTreeMap<String, i128>,
}

impl Pool {
    /// The map of the pool's memory. Takes the pool's lock, and time for each block. Blocks that
    /// other threads are just taking or giving back may be seen either way.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let central = self.inner.lock();
        let mut segments: Vec<_> = central
            .heap
            .segments()
            .filter_map(|(id, bytes)| {
                let address = central.segments.get(id)?.address().get();
                let blocks = central.heap.blocks(id).map(|block| show(&central, &block));
                Some(SnapshotSegment {
                    address,
                    bytes,
                    blocks: blocks.collect(),
                })
            })
            .collect();
        segments.sort_by_key(|segment| segment.address);
        Snapshot {
            version: 1,
            segments,
        }
    }
}

fn show(central: &Central, block: &FreeBlock) -> SnapshotBlock {
    let pending = || {
        central
            .pending
            .iter()
            .any(|pending| pending.node == block.node)
    };
    let held = || {
        central
            .quarantine
            .iter()
            .any(|held| held.node == block.node)
    };
    let state = match (block.free_in, central.user(block.node)) {
        _ if block.is_hole => BlockState::Hole,
        (Some(Order::IDLE), _) => BlockState::Free,
        (Some(order), _) => BlockState::FreeOnStream { order: order.0 },
        (None, Some(user)) => BlockState::InUse {
            source: user.by.name(),
            requested_bytes: block.bytes - u64::from(user.padding),
        },
        (None, None) if pending() => BlockState::Pending,
        (None, None) if held() => BlockState::Quarantined,
        (None, None) => BlockState::Cached,
    };
    SnapshotBlock {
        offset: block.offset,
        bytes: block.bytes,
        state,
        stack: None,
    }
}

impl Snapshot {
    /// As JSON. The format has a version.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("invariant: a snapshot has only strings and numbers")
    }

    /// Reads what [`Snapshot::to_json`] wrote.
    ///
    /// # Errors
    /// If it is not that.
    pub fn from_json(text: &str) -> Result<Snapshot, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Adds to blocks in use where they were asked for, as an adaptor around the pool remembers it
    /// ([`crate::adaptor::Tracking`] with backtraces): the pool itself spends nothing on that.
    #[must_use]
    pub fn with_stacks(mut self, live: &[LiveAllocation]) -> Snapshot {
        let stacks = live.iter().map(|one| (one.address, &one.backtrace));
        let stacks: BTreeMap<_, _> = stacks.collect();
        for segment in &mut self.segments {
            for block in &mut segment.blocks {
                let known = stacks.get(&(segment.address + block.offset));
                let in_use = matches!(block.state, BlockState::InUse { .. });
                block.stack = known.filter(|_| in_use).cloned().cloned().flatten();
            }
        }
        self
    }

    fn by_source(&self) -> BTreeMap<&str, (i128, i128)> {
        let mut sums = BTreeMap::<&str, (i128, i128)>::new();
        for block in self.segments.iter().flat_map(|segment| &segment.blocks) {
            if let BlockState::InUse { source, .. } = &block.state {
                let sum = sums.entry(source).or_default();
                sum.0 += i128::from(block.bytes);
                sum.1 += 1;
            }
        }
        sums
    }

    /// What changed from this snapshot to a later one.
    #[must_use]
    pub fn diff(&self, later: &Snapshot) -> SnapshotDiff {
        let reserved = |snapshot: &Snapshot| {
            let each = snapshot
                .segments
                .iter()
                .map(|segment| i128::from(segment.bytes));
            each.sum::<i128>()
        };
        let mut diff = SnapshotDiff {
            reserved_bytes: reserved(later) - reserved(self),
            ..SnapshotDiff::default()
        };
        let mut sums: BTreeMap<&str, (i128, i128)> = later.by_source();
        for (source, (bytes, blocks)) in self.by_source() {
            let sum = sums.entry(source).or_default();
            sum.0 -= bytes;
            sum.1 -= blocks;
        }
        for (source, (bytes, blocks)) in sums {
            if bytes != 0 {
                diff.in_use_bytes.insert(source.to_owned(), bytes);
            }
            if blocks != 0 {
                diff.blocks.insert(source.to_owned(), blocks);
            }
        }
        diff
    }
}
