//! One process for each of several devices, joined by collectives. This process starts them, and is
//! none of them; what a rank does is in [`super::rank`].

use std::time::Duration;

use super::{
    GpuStrategy, WorkerDevice,
    config::{Candidate, StrategyContext},
    error::StrategyError,
    launch::Launch,
    local::in_range,
    meeting::Meeting,
    secret::Secret,
};

/// The name of [`MultiGpuDdp`].
pub const DDP: &str = "ddp_nccl";
/// The variable that tells a rank the group's secret. Other users of the machine cannot read it.
pub const SECRET_VARIABLE: &str = "CORE_GPU_GROUP_SECRET";
/// Where ranks of one machine meet.
const LOOPBACK: &str = "127.0.0.1:0";
/// How long the ranks may take to meet unless it is said.
const MEETING_LIMIT: Duration = Duration::from_secs(300);

/// Whether the library for collectives can be used, in its version.
pub type CollectivesProbe = fn() -> Result<u32, StrategyError>;

/// One rank on each device that counts, or several where ranks may share devices: then rank 0 and
/// every so-manieth have the first device. [`GpuStrategy::initialize`] looks for the library and opens
/// a place for the ranks to meet, [`GpuStrategy::cleanup`] closes it.
#[derive(Debug)]
pub struct MultiGpuDdp {
    devices: Vec<Candidate>,
    ranks: usize,
    probe: CollectivesProbe,
    limit: Duration,
    address: String,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    meeting: Meeting,
    secret: Secret,
    version: u32,
}

impl MultiGpuDdp {
    /// On all devices that count.
    ///
    /// # Errors
    /// [`StrategyError::TooFewDevices`] when none counts; [`StrategyError::RanksShareDevice`] for
    /// several workers a device, unless the configuration lets ranks share devices.
    pub fn new(context: &StrategyContext) -> Result<Self, StrategyError> {
        let workers = context.config.workers_per_gpu;
        if workers > 1 && !context.config.ranks_share_devices {
            return Err(StrategyError::RanksShareDevice { workers });
        }
        if context.devices.is_empty() {
            return Err(context.too_few(DDP, 1));
        }
        Ok(Self {
            ranks: context.devices.len().saturating_mul(workers),
            devices: context.devices.clone(),
            probe: system_probe,
            limit: MEETING_LIMIT,
            address: LOOPBACK.to_owned(),
            open: None,
        })
    }

    /// Where the ranks meet; on loopback, on a port that is free, unless it is said.
    #[must_use]
    pub fn meeting_at(mut self, address: &str) -> Self {
        address.clone_into(&mut self.address);
        self
    }

    /// How long the ranks may take to meet; five minutes unless it is said.
    #[must_use]
    pub fn meeting_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// How the library for collectives is looked for: for programs that bring another.
    #[must_use]
    pub fn collectives(mut self, probe: CollectivesProbe) -> Self {
        self.probe = probe;
        self
    }

    /// The library's version, once it is initialised.
    #[must_use]
    pub fn collectives_version(&self) -> Option<u32> {
        self.open.as_ref().map(|open| open.version)
    }
}

#[cfg(feature = "cuda-any-bindings")]
fn system_probe() -> Result<u32, StrategyError> {
    let version = core_gpu_driver::nccl::version();
    version.map_err(|error| StrategyError::Nccl {
        why: error.to_string(),
    })
}

#[cfg(not(feature = "cuda-any-bindings"))]
fn system_probe() -> Result<u32, StrategyError> {
    Err(StrategyError::Nccl {
        why: "built without the feature `cuda`".to_owned(),
    })
}

impl GpuStrategy for MultiGpuDdp {
    fn initialize(&mut self) -> Result<(), StrategyError> {
        let version = (self.probe)()?;
        let secret = Secret::random()?;
        let meeting = Meeting::open(&self.address, self.ranks, &secret, self.limit)?;
        self.open = Some(Open {
            meeting,
            secret,
            version,
        });
        Ok(())
    }

    fn backend(&self) -> &str {
        DDP
    }

    fn num_workers(&self) -> usize {
        self.ranks
    }

    fn device_for_worker(&self, worker: usize) -> Result<WorkerDevice, StrategyError> {
        in_range(worker, self.ranks)?;
        let open = self
            .open
            .as_ref()
            .ok_or(StrategyError::NotInitialized { strategy: DDP })?;
        let address = open.meeting.address();
        let launch = Launch {
            rank: worker,
            local_rank: worker,
            world_size: self.ranks,
            local_world_size: self.ranks,
            master_address: address.ip().to_string(),
            rendezvous_port: address.port(),
        };
        let candidate = &self.devices[worker % self.devices.len()];
        let mut device = WorkerDevice::alone(candidate, |name| std::env::var(name).ok());
        device.variables.extend(launch.to_variables());
        let secret = (SECRET_VARIABLE.to_owned(), open.secret.to_text());
        device.variables.push(secret);
        Ok(device)
    }

    fn cleanup(&mut self) -> Result<(), StrategyError> {
        self.open = None;
        Ok(())
    }
}
