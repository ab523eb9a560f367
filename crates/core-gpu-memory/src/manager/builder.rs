//! What can be chosen when a manager is made.

use std::{fmt, sync::Arc};

use core_gpu_driver::{Driver, DriverError, Stream, StreamKind};

use crate::{
    AllocError, GrowthPolicy, MemoryManager, Observer, Pool, Staging, StagingSettings,
    StreamPolicy,
    config::MemoryConfig,
    manager::{arena::Arena, inner::ManagerInner},
    pool::ErrorHook,
};

/// Shares of the budget: above `high` room is made before there is none, until `low` is in use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Watermarks {
    /// Share of the budget, between zero and one.
    pub high: f64,
    /// Share of the budget, at most `high`.
    pub low: f64,
}

impl Default for Watermarks {
    fn default() -> Watermarks {
        Watermarks {
            high: 0.95,
            low: 0.85,
        }
    }
}

/// What was chosen.
pub struct ManagerSettings {
    pub watermarks: Watermarks,
    pub keep_in_vram: bool,
}

impl fmt::Debug for ManagerSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ManagerSettings")
            .field("watermarks", &self.watermarks)
            .field("keep_in_vram", &self.keep_in_vram)
            .finish_non_exhaustive()
    }
}

impl ManagerSettings {
    pub fn high_watermark_bytes(&self, budget: u64) -> u64 {
        share(budget, self.watermarks.high)
    }

    pub fn low_watermark_bytes(&self, budget: u64) -> u64 {
        share(budget, self.watermarks.low)
    }
}

fn share(bytes: u64, fraction: f64) -> u64 {
    (bytes as f64 * fraction.clamp(0.0, 1.0)) as u64
}

/// Makes a [`MemoryManager`].
pub struct MemoryManagerBuilder {
    driver: Arc<dyn Driver>,
    max_memory_fraction: f64,
    safety_margin_bytes: u64,
    spill_bytes: Option<u64>,
    staging: StagingSettings,
    growth: GrowthPolicy,
    remap: bool,
    streams: StreamPolicy,
    observer: Option<Arc<dyn Observer>>,
    error_hook: ErrorHook,
    settings: ManagerSettings,
}

impl MemoryManagerBuilder {
    pub(crate) fn new(driver: &Arc<dyn Driver>) -> MemoryManagerBuilder {
        MemoryManagerBuilder {
            driver: Arc::clone(driver),
            max_memory_fraction: 0.9,
            safety_margin_bytes: 0,
            spill_bytes: None,
            staging: StagingSettings::default(),
            growth: GrowthPolicy::default(),
            remap: false,
            streams: StreamPolicy::default(),
            observer: None,
            settings: ManagerSettings {
                watermarks: Watermarks::default(),
                keep_in_vram: true,
            },
            error_hook: Arc::new(|_| ()),
        }
    }

    /// What a configuration says: the share of the device, and whether entries stay there.
    #[must_use]
    pub fn configured(mut self, config: &MemoryConfig) -> MemoryManagerBuilder {
        self.max_memory_fraction = config.max_fraction;
        self.settings.keep_in_vram = config.keep_in_vram;
        self
    }

    /// Share of the device's memory that the manager may have at most, between zero and one. 0.9
    /// unless it is set.
    #[must_use]
    pub fn max_memory_fraction(mut self, fraction: f64) -> MemoryManagerBuilder {
        self.max_memory_fraction = fraction;
        self
    }

    /// Bytes below that share which are left alone all the same.
    #[must_use]
    pub fn safety_margin(mut self, bytes: u64) -> MemoryManagerBuilder {
        self.safety_margin_bytes = bytes;
        self
    }

    /// When room is made before there is none.
    #[must_use]
    pub fn watermarks(mut self, watermarks: Watermarks) -> MemoryManagerBuilder {
        self.settings.watermarks = watermarks;
        self
    }

    /// Bytes of pinned host memory, taken at once, for entries that have to leave the device; zero
    /// keeps entries where they are. Unless it is set, memory is taken when it is needed first, up to
    /// a sixteenth of the device's: an entry that finds none stays where it is.
    #[must_use]
    pub fn spill_bytes(mut self, bytes: u64) -> MemoryManagerBuilder {
        self.spill_bytes = Some(bytes);
        self
    }

    /// Whether entries stay on the device as long as there is room (the usual), or leave it with
    /// their last pin.
    #[must_use]
    pub fn keep_in_vram(mut self, keep: bool) -> MemoryManagerBuilder {
        self.settings.keep_in_vram = keep;
        self
    }

    /// The way to the device and back.
    #[must_use]
    pub fn staging(mut self, settings: StagingSettings) -> MemoryManagerBuilder {
        self.staging = settings;
        self
    }

    /// How the pool grows.
    #[must_use]
    pub fn growth(mut self, policy: GrowthPolicy) -> MemoryManagerBuilder {
        self.growth = policy;
        self
    }

    /// See [`crate::PoolBuilder::remap`].
    #[must_use]
    pub fn remap(mut self, remap: bool) -> MemoryManagerBuilder {
        self.remap = remap;
        self
    }

    /// What is done about memory that other streams have freed.
    #[must_use]
    pub fn streams(mut self, policy: StreamPolicy) -> MemoryManagerBuilder {
        self.streams = policy;
        self
    }

    /// Who hears what the pool does.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> MemoryManagerBuilder {
        self.observer = Some(observer);
        self
    }

    /// Who hears of errors that no caller can be told of: failed frees and failed spills.
    #[must_use]
    pub fn error_hook(mut self, hook: ErrorHook) -> MemoryManagerBuilder {
        self.error_hook = hook;
        self
    }

    /// Bytes of the device that the manager may have.
    fn budget_bytes(&self) -> u64 {
        let total = self.driver.info().total_bytes;
        share(total, self.max_memory_fraction).saturating_sub(self.safety_margin_bytes)
    }

    /// Makes the manager: two streams, the staging ring and the host memory for entries.
    ///
    /// # Errors
    /// As the driver's calls fail.
    pub fn build(self) -> Result<MemoryManager, AllocError> {
        let budget = self.budget_bytes();
        let stream = || Stream::new(&self.driver, StreamKind::NonBlocking);
        let streams: (Stream, Stream) = (stream()?, stream()?);
        let arena = match self.spill_bytes {
            Some(bytes) => Arena::reserved(&self.driver, bytes),
            None => Ok(Arena::on_demand(
                &self.driver,
                self.driver.info().total_bytes / 16,
            )),
        };
        let arena = arena.map_err(host_memory)?;
        let staging = Staging::new(&self.driver, &self.staging).map_err(host_memory)?;
        let mut pool = Pool::builder(&self.driver)
            .reserve_limit(budget)
            .growth(self.growth)
            .remap(self.remap)
            .streams(self.streams)
            .error_hook(self.error_hook);
        if let Some(observer) = self.observer {
            pool = pool.observer(observer);
        }
        let pool = pool.build()?;
        let inner = ManagerInner::new(pool, streams, staging, arena, self.settings, budget);
        Ok(MemoryManager::with(inner))
    }
}

/// It is not the device that is out of memory.
fn host_memory(error: DriverError) -> AllocError {
    match error {
        DriverError::OutOfMemory => AllocError::HostMemory,
        error => AllocError::Driver(error),
    }
}

impl fmt::Debug for MemoryManagerBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MemoryManagerBuilder")
            .field("budget_bytes", &self.budget_bytes())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
