//! The other side of [`super::MultiGpuDdp`]: a process that is one rank of a group, whoever started
//! it.

use std::time::Duration;

use super::{
    ddp::{OPEN_VARIABLE, SECRET_VARIABLE, listening_address},
    error::{LaunchError, MeetingError},
    launch::Launch,
    meeting::{Attendee, Meeting, meet},
    secret::Secret,
};

/// This process's place in its group.
#[derive(Clone, Debug)]
pub struct Rank {
    launch: Launch,
    secret: Secret,
    /// Nobody else opens the place to meet.
    opens: bool,
}

impl Rank {
    /// Reads which rank this process is from its environment. Under torchrun and Slurm, which know nothing of our
    /// place to meet, rank 0 opens it; the secret is a text of `CORE_GPU_GROUP_SECRET`, which all ranks are given.
    ///
    /// # Errors
    /// [`LaunchError::NoRank`] when it is none; [`LaunchError::Missing`] without a secret.
    pub fn from_environment() -> Result<Self, LaunchError> {
        let launch = Launch::from_environment()?;
        let secret = std::env::var(SECRET_VARIABLE).map_err(|_| LaunchError::Missing {
            present: "RANK",
            missing: SECRET_VARIABLE,
        })?;
        let opens = launch.rank == 0 && std::env::var_os(OPEN_VARIABLE).is_none();
        let rank = Self::new(launch, Secret::from_text(&secret));
        Ok(Self { opens, ..rank })
    }

    /// A place in a group, and the group's secret, where somebody opens the place to meet: see
    /// [`Rank::opens_meeting`].
    #[must_use]
    pub fn new(launch: Launch, secret: Secret) -> Self {
        Self {
            launch,
            secret,
            opens: false,
        }
    }

    /// Has this rank open the place to meet, as rank 0 of a group that nobody here has started.
    #[must_use]
    pub fn opens_meeting(mut self) -> Self {
        self.opens = true;
        self
    }

    /// Its place.
    #[must_use]
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Waits until all ranks are there, and gives what each has brought, by rank. Once for a group.
    ///
    /// # Errors
    /// See [`MeetingError`].
    pub fn meet(&self, brings: &[u8], limit: Duration) -> Result<Vec<Vec<u8>>, MeetingError> {
        let launch = &self.launch;
        let (host, port) = (&launch.master_address, launch.rendezvous_port);
        // Gone when all have been told, this rank as well.
        let _meeting = match self.opens {
            true => {
                let listens = listening_address(host, port);
                let open = Meeting::open(&listens, launch.world_size, &self.secret, limit);
                Some(open?)
            }
            false => None,
        };
        // An address of six has colons of its own.
        let address = match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        };
        let attendee = Attendee {
            rank: launch.rank,
            world_size: launch.world_size,
            brings: brings.to_vec(),
        };
        meet(&address, &self.secret, &attendee, limit)
    }
}

#[cfg(feature = "cuda-any-bindings")]
mod collectives {
    use std::{sync::Arc, time::Duration};

    use core_gpu_driver::{
        Driver,
        nccl::{Communicator, GroupIdentity, NcclError},
    };

    use super::{MeetingError, Rank};

    /// Why a rank could not join its group.
    #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
    #[non_exhaustive]
    pub enum JoinError {
        /// The ranks did not meet.
        #[error(transparent)]
        Meeting(#[from] MeetingError),
        /// The library for collectives is not there, or refuses.
        #[error(transparent)]
        Nccl(#[from] NcclError),
        /// Two ranks have the same device, which NCCL refuses.
        #[error("ranks {one} and {other} are on one device: NCCL refuses that")]
        SameDevice {
            /// One of them.
            one: usize,
            /// The other.
            other: usize,
        },
        /// A rank brought something else than a device.
        #[error("rank {rank} did not say which device it has")]
        Malformed {
            /// Which one.
            rank: usize,
        },
    }

    /// Bytes of a device's identity.
    const DEVICE: usize = 16;

    impl Rank {
        /// Joins the group's collectives on a device. Waits for the other ranks; that no two have one
        /// device is found out before NCCL is asked.
        ///
        /// # Errors
        /// See [`JoinError`].
        pub fn communicator(
            &self,
            driver: &Arc<dyn Driver>,
            limit: Duration,
        ) -> Result<Communicator, JoinError> {
            let launch = self.launch();
            // Loads the library before anybody is met: a rank without it should not hold the
            // others up.
            core_gpu_driver::nccl::version()?;
            let mut brings = driver.info().id.uuid.to_vec();
            if launch.rank == 0 {
                brings.extend(GroupIdentity::new()?.to_bytes());
            }
            let brought = self.meet(&brings, limit)?;
            check_devices(&brought)?;
            let identity = brought.first().and_then(|first| first.get(DEVICE..));
            let identity = identity
                .and_then(GroupIdentity::from_bytes)
                .ok_or(JoinError::Malformed { rank: 0 })?;
            let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            let (rank, ranks) = (number(launch.rank), number(launch.world_size));
            Ok(Communicator::join(driver, &identity, rank, ranks)?)
        }
    }

    fn check_devices(brought: &[Vec<u8>]) -> Result<(), JoinError> {
        let mut devices: Vec<&[u8]> = Vec::new();
        for (rank, one) in brought.iter().enumerate() {
            let device = one.get(..DEVICE).ok_or(JoinError::Malformed { rank })?;
            if let Some(other) = devices.iter().position(|known| *known == device) {
                let (one, other) = (other, rank);
                return Err(JoinError::SameDevice { one, other });
            }
            devices.push(device);
        }
        Ok(())
    }
}

#[cfg(feature = "cuda-any-bindings")]
pub use collectives::JoinError;
