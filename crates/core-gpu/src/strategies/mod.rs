//! How a program's work is spread: one process or several, on no device, one or several.
//!
//! | strategy | workers | together |
//! | --- | --- | --- |
//! | [`CpuOnly`], `cpu` | as many as threads | – |
//! | [`SingleGpuMultiProcess`], `single_gpu` | several on one device | – |
//! | [`MultiGpuMultiProcess`], `multi_gpu` | several on each of several devices | – |
//! | [`MultiGpuDdp`], `ddp_nccl` | one on each of several devices | NCCL |
//!
//! [`auto_select_strategy`] takes one by the devices that count; [`register_strategy`] adds others.
//! A strategy says which worker gets which device, and in which variables a worker learns it. The
//! workers are a [`crate::workers::WorkerPool`]'s, which [`GpuStrategy::start_workers`] makes, or a
//! [`RankGroup`]'s for ranks, or somebody else's: torchrun and Slurm are understood ([`Launch`]). On several machines each
//! starts the ranks of its own devices ([`GroupPart`]).
//!
//! ```
//! use core_gpu::strategies::{StrategyConfig, auto_select_strategy};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = StrategyConfig { strategy: "cpu".to_owned(), cpu_workers: Some(2), ..Default::default() };
//! let mut strategy = auto_select_strategy(config)?;
//! strategy.initialize()?;
//! assert_eq!(strategy.num_workers(), 2);
//! assert_eq!(strategy.device_for_worker(1)?.in_worker.to_string(), "cpu");
//! strategy.cleanup()?;
//! # Ok(())
//! # }
//! ```

mod config;
mod ddp;
mod error;
mod factory;
#[cfg(unix)]
mod group;
mod launch;
mod local;
mod meeting;
mod rank;
mod secret;

use core_gpu_driver::{DeviceId, PlatformKind};

use crate::platform::{DeviceName, Selector};
#[cfg(unix)]
use crate::workers::{WorkerPool, WorkerPoolBuilder};

pub use config::{AUTO, Candidate, StrategyConfig, StrategyContext};
pub use ddp::{CollectivesProbe, DDP, GroupPart, MultiGpuDdp, SECRET_VARIABLE};
pub use error::{LaunchError, MeetingError, StrategyError};
pub use factory::{
    Constructor, StrategyTable, auto_select_strategy, candidates, register_strategy,
};
#[cfg(unix)]
pub use group::RankGroup;
pub use launch::Launch;
pub use local::{CPU, CpuOnly, MULTI_GPU, MultiGpuMultiProcess, SINGLE_GPU, SingleGpuMultiProcess};
pub use meeting::{Attendee, MOST_BROUGHT, Meeting, meet};
#[cfg(feature = "cuda-any-bindings")]
pub use rank::JoinError;
pub use rank::Rank;
pub use secret::Secret;

/// A way to spread work.
pub trait GpuStrategy: Send + std::fmt::Debug {
    /// Gets ready: looks for what it needs, and opens what its workers find each other through.
    ///
    /// # Errors
    /// See [`StrategyError`].
    fn initialize(&mut self) -> Result<(), StrategyError>;

    /// Its name.
    fn backend(&self) -> &str;

    /// How many workers there are.
    fn num_workers(&self) -> usize;

    /// The device of a worker, by the worker's number.
    ///
    /// # Errors
    /// [`StrategyError::NoSuchWorker`]; [`StrategyError::NotInitialized`] where it matters.
    fn device_for_worker(&self, worker: usize) -> Result<WorkerDevice, StrategyError>;

    /// Gets ready and makes the pool of its workers: as many as [`GpuStrategy::num_workers`], each with
    /// its device's variables. What else the pool is like is the builder's.
    ///
    /// # Errors
    /// As [`GpuStrategy::initialize`] and [`GpuStrategy::device_for_worker`];
    /// [`StrategyError::Workers`].
    #[cfg(unix)]
    fn start_workers(&mut self, pool: WorkerPoolBuilder) -> Result<WorkerPool, StrategyError> {
        self.initialize()?;
        let workers = 0..self.num_workers();
        let told = workers.map(|worker| Ok(self.device_for_worker(worker)?.variables));
        let told: Vec<_> = told.collect::<Result<_, StrategyError>>()?;
        let pool = pool
            .workers(told.len())
            .variables(move |worker| told.get(worker).cloned().unwrap_or_default());
        pool.build().map_err(|error| StrategyError::Workers {
            why: error.to_string(),
        })
    }

    /// Closes what it opened. May be initialised again afterwards.
    ///
    /// # Errors
    /// See [`StrategyError`].
    fn cleanup(&mut self) -> Result<(), StrategyError>;
}

/// What a worker works on.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct WorkerDevice {
    /// The device, as this process names it.
    pub device: DeviceName,
    /// The device, as the worker names it: it sees no other.
    pub in_worker: DeviceName,
    /// Which device that is; `None` for the processor.
    pub id: Option<DeviceId>,
    /// What the worker's environment must have.
    pub variables: Vec<(String, String)>,
}

impl WorkerDevice {
    /// A device that is the only one that its worker sees. `variable` reads this process's own
    /// environment: numbers in it are not the machine's.
    pub(crate) fn alone(candidate: &Candidate, variable: impl Fn(&str) -> Option<String>) -> Self {
        let info = &candidate.info;
        let (name, value) = match info.id.platform {
            PlatformKind::Rocm => {
                const NAME: &str = "HIP_VISIBLE_DEVICES";
                // Number 1 of this process may be number 5 of the machine.
                let own = variable(NAME).filter(|list| !list.trim().is_empty());
                let number = info.ordinal.to_string();
                let listed = own.and_then(|list| {
                    let entry = list.split(',').nth(info.ordinal as usize)?;
                    Some(entry.trim().to_owned())
                });
                (NAME, listed.unwrap_or(number))
            }
            // A slice has a name of its own kind: by `GPU-…` the driver shows none.
            _ => ("CUDA_VISIBLE_DEVICES", info.uuid_text()),
        };
        Self {
            device: DeviceName::of(info),
            in_worker: DeviceName {
                platform: info.id.platform,
                selector: Some(Selector::Index(0)),
            },
            id: Some(info.id),
            variables: vec![(name.to_owned(), value)],
        }
    }
}
