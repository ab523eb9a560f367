//! What a pool tells its driver about the parts of a segment. A simulator checks accesses against
//! it; a real driver passes it to a profiler or ignores it.

use crate::{
    address::DeviceAddress,
    stream::{RawStream, Stream},
};

/// Bytes next to each other in a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// Where they begin.
    pub address: DeviceAddress,
    /// How many they are.
    pub bytes: u64,
}

/// What a region has become.
///
/// A segment about which nothing was ever said may be used by any stream. From the first word about
/// a byte of it on, that byte may be used only as it was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionState {
    /// Nobody holds it: work submitted from now on must not touch it. Work submitted before may
    /// still be running on it.
    Free,
    /// Handed out for use on one stream. Everything that ran on these bytes before must come
    /// before whatever is put on that stream from now on: by being on the same stream, or through
    /// an event that it waited on, or because the host has waited for it.
    InUse {
        /// The stream.
        on: RawStream,
    },
    /// Handed out before, and from now on used on this stream as well.
    AlsoUsedOn {
        /// The stream.
        stream: RawStream,
    },
    /// Kept for a graph from now on: whoever holds a part of it at the moment, launches of the graph
    /// may touch it.
    OfGraph,
    /// Given up on: the driver would not take it back. As [`Self::Free`], but for good.
    Quarantined,
}

impl RegionState {
    /// [`RegionState::InUse`] on a stream.
    #[must_use]
    pub fn in_use_on(stream: &Stream) -> Self {
        let on = stream.handle();
        Self::InUse { on }
    }

    /// [`RegionState::AlsoUsedOn`] for a stream.
    #[must_use]
    pub fn also_used_on(stream: &Stream) -> Self {
        let stream = stream.handle();
        Self::AlsoUsedOn { stream }
    }
}
