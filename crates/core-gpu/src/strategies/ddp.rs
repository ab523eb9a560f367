//! One process for each of several devices, joined by collectives. This process starts them, and is
//! none of them; what a rank does is in [`super::rank`].

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

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
/// Set for ranks whose place to meet is open already: rank 0 opens none.
pub(super) const OPEN_VARIABLE: &str = "CORE_GPU_RENDEZVOUS_OPEN";
/// Where ranks of one machine meet.
const LOOPBACK: &str = "127.0.0.1:0";
/// How long the ranks may take to meet unless it is said.
const MEETING_LIMIT: Duration = Duration::from_secs(300);

/// Whether the library for collectives can be used, in its version.
pub type CollectivesProbe = fn() -> Result<u32, StrategyError>;

/// The part of a group that is on this machine, where the group is on several: each has a [`MultiGpuDdp`], which
/// starts the ranks of its own devices. All machines are told the same but [`GroupPart::first_rank`].
#[derive(Clone, Debug)]
pub struct GroupPart {
    /// How many ranks there are on all machines together.
    pub world_size: usize,
    /// The number of this machine's first rank; the others follow. The machine that has rank 0 opens the place to
    /// meet, and has to be the one with [`GroupPart::address`].
    pub first_rank: usize,
    /// Where the ranks meet, as all machines find it: `HOST:PORT`.
    pub address: String,
    /// What the ranks know and nobody else.
    pub secret: Secret,
}

impl GroupPart {
    /// The host and the port of [`GroupPart::address`].
    fn place(&self) -> Option<(&str, u16)> {
        let (host, port) = self.address.rsplit_once(':')?;
        let port = port.parse().ok().filter(|port| *port > 0)?;
        Some((host.trim_matches(['[', ']']), port))
    }
}

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
    part: Option<GroupPart>,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    /// None where another machine has it.
    _meeting: Option<Meeting>,
    /// Where it is.
    host: String,
    port: u16,
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
            part: None,
            open: None,
        })
    }

    /// Where the ranks meet; on loopback, on a port that is free, unless it is said.
    #[must_use]
    pub fn meeting_at(mut self, address: &str) -> Self {
        address.clone_into(&mut self.address);
        self
    }

    /// Makes this a part of a group on several machines: its ranks are numbered from the part's first one, and meet
    /// where the part says.
    #[must_use]
    pub fn part_of_group(mut self, part: GroupPart) -> Self {
        self.part = Some(part);
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

impl MultiGpuDdp {
    /// Opens the place to meet where this machine has rank 0, on all of its addresses: others come by another
    /// than this machine's own name leads to.
    fn open_part(&self, part: &GroupPart, version: u32) -> Result<Open, StrategyError> {
        let setting = |setting, value: String| StrategyError::Setting { setting, value };
        let Some((host, port)) = part.place() else {
            return Err(setting("group address", format!("`{}`", part.address)));
        };
        let last = part.first_rank.saturating_add(self.ranks);
        if last > part.world_size {
            let ranks = format!("{}: the group has {} ranks", last - 1, part.world_size);
            return Err(setting("rank", ranks));
        }
        let meeting = match part.first_rank {
            0 => Some(Meeting::open(
                &listening_address(host, port),
                part.world_size,
                &part.secret,
                self.limit,
            )?),
            _ => None,
        };
        Ok(Open {
            _meeting: meeting,
            host: host.to_owned(),
            port,
            secret: part.secret.clone(),
            version,
        })
    }
}

/// Where to listen so that others come to this machine by that name: on loopback if that is what it is, and
/// otherwise on all addresses, since a machine's own name may lead to loopback there.
pub(super) fn listening_address(host: &str, port: u16) -> String {
    let address = host.parse::<IpAddr>();
    match address {
        Ok(address) if address.is_loopback() => SocketAddr::new(address, port).to_string(),
        Ok(IpAddr::V6(_)) => format!("[::]:{port}"),
        _ if host == "localhost" => format!("127.0.0.1:{port}"),
        _ => format!("0.0.0.0:{port}"),
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
        self.open = Some(match &self.part {
            Some(part) => self.open_part(part, version)?,
            None => {
                let secret = Secret::random()?;
                let meeting = Meeting::open(&self.address, self.ranks, &secret, self.limit)?;
                let address = meeting.address();
                Open {
                    host: address.ip().to_string(),
                    port: address.port(),
                    _meeting: Some(meeting),
                    secret,
                    version,
                }
            }
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
        let part = self.part.as_ref();
        let launch = Launch {
            rank: part.map_or(0, |part| part.first_rank) + worker,
            local_rank: worker,
            world_size: part.map_or(self.ranks, |part| part.world_size),
            local_world_size: self.ranks,
            master_address: open.host.clone(),
            rendezvous_port: open.port,
        };
        let candidate = &self.devices[worker % self.devices.len()];
        let mut device = WorkerDevice::alone(candidate, |name| std::env::var(name).ok());
        device.variables.extend(launch.to_variables());
        let secret = (SECRET_VARIABLE.to_owned(), open.secret.to_text());
        let is_open = (OPEN_VARIABLE.to_owned(), "1".to_owned());
        device.variables.extend([secret, is_open]);
        Ok(device)
    }

    fn cleanup(&mut self) -> Result<(), StrategyError> {
        self.open = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_to_meet_are_read_and_listened_on() {
        let part = |address: &str| GroupPart {
            world_size: 2,
            first_rank: 0,
            address: address.to_owned(),
            secret: Secret::of_text("x"),
        };
        let place = |address: &str| {
            let part = part(address);
            part.place()
                .map(|(host, port)| listening_address(host, port))
        };
        let cases = [
            ("127.0.0.1:7", Some("127.0.0.1:7")),
            ("[::1]:7", Some("[::1]:7")),
            ("localhost:7", Some("127.0.0.1:7")),
            ("node7:7", Some("0.0.0.0:7")),
            ("10.0.0.1:7", Some("0.0.0.0:7")),
            ("[2001:db8::1]:7", Some("[::]:7")),
            ("node7", None),
            ("node7:0", None),
        ];
        for (address, wanted) in cases {
            assert_eq!(place(address).as_deref(), wanted, "{address}");
        }
    }
}
