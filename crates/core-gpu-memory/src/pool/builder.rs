//! What can be chosen when a pool is made.

use std::sync::Arc;

use core_gpu_driver::{Driver, DriverError};

use crate::{Pool, observe::Observer, size_class::ALIGNMENT};

const MIB: u64 = 1024 * 1024;

/// How long the segments are that a pool asks its driver for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrowthPolicy {
    /// A thirty-second of what the pool has, at least and at most so many bytes: few calls, and little
    /// more than is needed.
    Proportional {
        /// Bytes of the shortest segment.
        least: u64,
        /// Bytes of the longest segment, longer requests aside.
        most: u64,
    },
    /// Always so many bytes, or a multiple for a longer request.
    Fixed(u64),
    /// As long as the request, rounded to 2 MiB.
    Exact,
}

impl Default for GrowthPolicy {
    fn default() -> GrowthPolicy {
        GrowthPolicy::Proportional {
            least: 2 * MIB,
            most: 1024 * MIB,
        }
    }
}

impl GrowthPolicy {
    /// Bytes of the next segment for a pool that has `reserved`, holding at least `needed`.
    #[must_use]
    pub fn next_segment(self, needed: u64, reserved: u64) -> u64 {
        let wanted = match self {
            GrowthPolicy::Proportional { least, most } => (reserved / 32).max(least).min(most),
            GrowthPolicy::Fixed(bytes) => {
                return needed
                    .checked_next_multiple_of(bytes.max(ALIGNMENT))
                    .unwrap_or(needed);
            }
            GrowthPolicy::Exact => needed,
        };
        let bytes = wanted.max(needed);
        bytes.checked_next_multiple_of(2 * MIB).unwrap_or(bytes)
    }
}

/// What a stream does for memory that other streams have freed, when it has no free block that fits.
/// A block that was freed on one stream may be used on another only after what the first has to do.
///
/// ```
/// use std::sync::Arc;
/// use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
/// use core_gpu_memory::{Pool, Source, StreamPolicy};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 26));
/// let [one, other] = [(); 2].map(|()| Stream::new(&driver, StreamKind::NonBlocking));
/// let (one, other, by) = (one?, other?, Source::UNNAMED);
/// for (policy, segments) in [(StreamPolicy::Share, 1), (StreamPolicy::GrowFirst, 2)] {
///     let pool = Pool::builder(&driver).streams(policy).build()?;
///     drop(pool.allocate::<u8>(2 << 20, &one, by)?);
///     drop(pool.allocate::<u8>(2 << 20, &other, by)?);
///     assert_eq!(pool.statistics().segments, segments, "{policy:?}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum StreamPolicy {
    /// The pool grows first, and takes another stream's block behind an event only when it cannot:
    /// streams stay parallel as long as there is memory.
    #[default]
    GrowFirst,
    /// Blocks of other streams are never waited for: the pool grows, or gives back what the whole
    /// device has finished with, or says that it is out of memory.
    StreamLocal,
    /// Another stream's block behind an event before the pool grows: the least memory, and streams
    /// that wait for each other.
    Share,
}

/// Hears of errors that no caller can be told of: a free that failed in a drop.
pub type ErrorHook = Arc<dyn Fn(&DriverError) + Send + Sync>;

/// What was chosen.
#[derive(Clone)]
pub(crate) struct Settings {
    pub limit_bytes: u64,
    pub reserve_limit_bytes: u64,
    pub growth: GrowthPolicy,
    pub zero_fill: bool,
    pub remap: bool,
    pub managed: bool,
    pub streams: StreamPolicy,
    /// Streams may be captured while they are used with the pool.
    pub captures: bool,
    /// The pool is a capture's own: it gives out memory while streams are captured, and keeps it.
    pub of_capture: bool,
    pub observers: Vec<Arc<dyn Observer>>,
    pub error_hook: ErrorHook,
}

/// Makes a [`Pool`].
pub struct PoolBuilder {
    driver: Arc<dyn Driver>,
    settings: Settings,
    initial_bytes: u64,
}

impl PoolBuilder {
    pub(crate) fn new(driver: Arc<dyn Driver>) -> PoolBuilder {
        let settings = Settings {
            limit_bytes: u64::MAX,
            reserve_limit_bytes: u64::MAX,
            growth: GrowthPolicy::default(),
            zero_fill: false,
            remap: false,
            managed: false,
            streams: StreamPolicy::default(),
            captures: true,
            of_capture: false,
            observers: Vec::new(),
            error_hook: Arc::new(|_| ()),
        };
        PoolBuilder {
            driver,
            settings,
            initial_bytes: 0,
        }
    }

    /// Bytes that may be in use at once, blocks rounded up to their class. Exceeding it is
    /// [`crate::AllocError::Limit`]. Credit that idle threads hold counts as in use.
    #[must_use]
    pub fn limit(mut self, bytes: u64) -> PoolBuilder {
        self.settings.limit_bytes = bytes;
        self
    }

    /// Bytes that the pool may have from the driver at once.
    #[must_use]
    pub fn reserve_limit(mut self, bytes: u64) -> PoolBuilder {
        self.settings.reserve_limit_bytes = bytes;
        self
    }

    /// Bytes to have from the driver from the beginning.
    #[must_use]
    pub fn initial(mut self, bytes: u64) -> PoolBuilder {
        self.initial_bytes = bytes;
        self
    }

    /// How the pool grows.
    #[must_use]
    pub fn growth(mut self, policy: GrowthPolicy) -> PoolBuilder {
        self.settings.growth = policy;
        self
    }

    /// Fills every block with zeros before it is given out, in its stream's order. Without it the
    /// contents are whatever was there.
    #[must_use]
    pub fn zero_fill(mut self, zero_fill: bool) -> PoolBuilder {
        self.settings.zero_fill = zero_fill;
        self
    }

    /// Makes segments in pieces that can be put together under new addresses: when no block is long
    /// enough, free pieces of several segments become one. Costs a few driver calls for every 2 MiB
    /// of a segment when it is made; blocks that were given out stay where they are. Nothing changes
    /// where the device has no address space apart from memory.
    #[must_use]
    pub fn remap(mut self, remap: bool) -> PoolBuilder {
        self.settings.remap = remap;
        self
    }

    /// Takes memory that moves between the device and the host as it is touched: there may be more of
    /// it than the device has, up to [`PoolBuilder::reserve_limit`]. Not in pieces.
    #[must_use]
    pub fn managed(mut self) -> PoolBuilder {
        self.settings.managed = true;
        self
    }

    /// What is done about memory that other streams have freed.
    #[must_use]
    pub fn streams(mut self, policy: StreamPolicy) -> PoolBuilder {
        self.settings.streams = policy;
        self
    }

    /// Promises that no stream is captured while it is used with the pool. Without it a request on a
    /// stream that somebody else could capture ([`core_gpu_driver::Stream::may_be_capturing`]) asks
    /// the driver each time, a call; with it blocks that threads cache are given out without.
    #[must_use]
    pub fn never_captured(mut self) -> PoolBuilder {
        self.settings.captures = false;
        self
    }

    /// Who hears what the pool does, besides those who hear it already. Costs a call for each
    /// allocation and each free.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> PoolBuilder {
        self.settings.observers.push(observer);
        self
    }

    /// Who hears of failed frees.
    #[must_use]
    pub fn error_hook(mut self, hook: ErrorHook) -> PoolBuilder {
        self.settings.error_hook = hook;
        self
    }

    pub(crate) fn with_settings(driver: Arc<dyn Driver>, settings: Settings) -> PoolBuilder {
        PoolBuilder {
            driver,
            settings,
            initial_bytes: 0,
        }
    }

    /// Makes the pool.
    ///
    /// # Errors
    /// If the initial bytes cannot be had.
    pub fn build(self) -> Result<Pool, crate::AllocError> {
        Pool::with(self.driver, self.settings, self.initial_bytes)
    }
}
