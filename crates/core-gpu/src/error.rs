//! One error for programs that do not care where it comes from: what to do about it is
//! [`Error::kind`], what went wrong is the typed error inside.

use core_gpu_driver::{Absent, DriverError};
use core_gpu_memory::{AllocError, LeakReport, manager::ProcessManagerError};

use crate::{
    accelerate::NoGpu,
    configuration::ConfigurationError,
    devices::{DeviceError, OpenError},
    managers::ManagerError,
    platform::{SelectError, Unavailable},
    registry::RegistryError,
    slots::SlotError,
    strategies::{LaunchError, MeetingError, StrategyError},
};

/// What to do about an error, whichever part it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// This program was built without what is needed: enable the feature.
    NotBuilt,
    /// There is no such device, platform or library on this machine.
    Absent,
    /// Others hold what is needed: wait, or ask for less.
    Busy,
    /// There is no memory for it now: free some, or ask for less.
    OutOfMemory,
    /// The device is lost: start the process anew, on another device.
    Lost,
    /// Settings or arguments that cannot be: change them.
    Setting,
    /// A driver, a library or the system failed otherwise.
    Failed,
}

macro_rules! error {
    ($($(#[$doc:meta])* $variant:ident($inner:ty),)*) => {
        /// Any error of this crate. `?` makes one of each typed error.
        ///
        /// ```
        /// use core_gpu::{Error, ErrorKind, prelude::*};
        ///
        /// fn work() -> core_gpu::Result<Vec<f32>> {
        ///     let gpu = Gpu::open_best()?;
        ///     let buffer = gpu.upload(&[1.0_f32, 2.0])?;
        ///     gpu.download(&buffer)
        /// }
        ///
        /// match work() {
        ///     Ok(values) => println!("{values:?}"),
        ///     Err(error) if error.kind() == ErrorKind::OutOfMemory => println!("smaller: {error}"),
        ///     Err(error) => println!("{error}"),
        /// }
        /// ```
        #[derive(Debug, thiserror::Error)]
        #[non_exhaustive]
        pub enum Error {
            $($(#[$doc])*
            #[error(transparent)]
            $variant(#[from] $inner),)*
        }
    };
}

error! {
    /// Settings.
    Configuration(ConfigurationError),
    /// A platform.
    Platform(SelectError),
    /// A device by name.
    Device(DeviceError),
    /// Opening one.
    Open(OpenError),
    /// There is no GPU, and one was required.
    NoGpu(NoGpu),
    /// The registry.
    Registry(RegistryError),
    /// Slots.
    Slot(SlotError),
    /// Managers.
    Manager(ManagerError),
    /// The process's memory manager.
    ProcessManager(ProcessManagerError),
    /// Memory.
    Memory(AllocError),
    /// Memory that could not be given back.
    Leak(LeakReport),
    /// A driver.
    Driver(DriverError),
    /// Strategies.
    Strategy(StrategyError),
    /// Ranks that did not meet.
    Meeting(MeetingError),
    /// An environment that says no rank, or a wrong one.
    Launch(LaunchError),
}

/// What this crate's plain calls answer with.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What to do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Configuration(_) | Self::Launch(_) => ErrorKind::Setting,
            Self::Platform(error) => of_unavailable(&error.why),
            Self::Device(error) => of_device(error),
            Self::Open(OpenError::Device(error)) => of_device(error),
            Self::Open(OpenError::Driver { error, .. }) | Self::Driver(error) => of_driver(error),
            Self::NoGpu(error) => of_no_gpu(error),
            Self::Registry(error) => of_registry(error),
            Self::Slot(error) => of_slot(error),
            Self::Manager(error) => of_manager(error),
            Self::ProcessManager(error) => of_process(error),
            Self::Memory(error) => of_memory(error),
            Self::Strategy(error) => of_strategy(error),
            Self::Leak(_) | Self::Meeting(_) => ErrorKind::Failed,
        }
    }
}

fn of_unavailable(why: &Unavailable) -> ErrorKind {
    match why {
        Unavailable::NotBuilt { .. } => ErrorKind::NotBuilt,
        Unavailable::Failed(error) => of_driver(error),
        Unavailable::Hung { .. } | Unavailable::Thread(_) | Unavailable::Panicked => {
            ErrorKind::Failed
        }
        _ => ErrorKind::Absent,
    }
}

fn of_device(error: &DeviceError) -> ErrorKind {
    match error {
        DeviceError::Name(_) => ErrorKind::Setting,
        DeviceError::Platform(error) => of_unavailable(&error.why),
        DeviceError::NoSuchDevice { .. } => ErrorKind::Absent,
        DeviceError::Closed { error, .. } => of_driver(error),
    }
}

fn of_driver(error: &DriverError) -> ErrorKind {
    match error {
        DriverError::Absent(Absent::NotBuilt { .. }) => ErrorKind::NotBuilt,
        DriverError::Absent(_) => ErrorKind::Absent,
        DriverError::OutOfMemory => ErrorKind::OutOfMemory,
        DriverError::Lost { .. } => ErrorKind::Lost,
        DriverError::Refused { .. } => ErrorKind::Setting,
        _ => ErrorKind::Failed,
    }
}

fn of_no_gpu(error: &NoGpu) -> ErrorKind {
    match error {
        NoGpu::Configuration(_) => ErrorKind::Setting,
        NoGpu::Device(error) => of_device(error),
        NoGpu::Driver { error, .. } => of_driver(error),
        NoGpu::None => ErrorKind::Absent,
        // Not built is what the program's author can do something about.
        NoGpu::NotThere { reasons } => {
            let not_built = |why: &Unavailable| matches!(why, Unavailable::NotBuilt { .. });
            let all = !reasons.is_empty() && reasons.iter().all(|(_, why)| not_built(why));
            if all {
                ErrorKind::NotBuilt
            } else {
                ErrorKind::Absent
            }
        }
    }
}

fn of_registry(error: &RegistryError) -> ErrorKind {
    match error {
        RegistryError::Platform(error) => of_unavailable(&error.why),
        RegistryError::NoDevice | RegistryError::UnknownDevice(_) => ErrorKind::Absent,
        RegistryError::Quarantined { .. } => ErrorKind::Busy,
        RegistryError::Slot(error) => of_slot(error),
        _ => ErrorKind::Setting,
    }
}

fn of_slot(error: &SlotError) -> ErrorKind {
    match error {
        SlotError::Full { .. } | SlotError::Memory { .. } | SlotError::Closed { .. } => {
            ErrorKind::Busy
        }
        SlotError::OverBudget { .. } => ErrorKind::OutOfMemory,
        SlotError::Nothing | SlotError::Capacity { .. } | SlotError::OtherStore => {
            ErrorKind::Setting
        }
        SlotError::Lost { .. } => ErrorKind::Lost,
        _ => ErrorKind::Failed,
    }
}

fn of_manager(error: &ManagerError) -> ErrorKind {
    match error {
        ManagerError::Configuration(_) | ManagerError::Setting { .. } => ErrorKind::Setting,
        ManagerError::Device(error) => of_device(error),
        ManagerError::Driver { error, .. } => of_driver(error),
        ManagerError::Memory(error) => of_memory(error),
        ManagerError::Process(error) => of_process(error),
        ManagerError::UnknownDevice(_) | ManagerError::NoDevice => ErrorKind::Absent,
        ManagerError::NoRoom { .. } => ErrorKind::OutOfMemory,
        ManagerError::UnknownMemory { .. } => ErrorKind::Failed,
    }
}

fn of_process(error: &ProcessManagerError) -> ErrorKind {
    match error {
        ProcessManagerError::Config(_) | ProcessManagerError::AlreadySet => ErrorKind::Setting,
        ProcessManagerError::Device { error, .. } => of_driver(error),
        ProcessManagerError::Alloc(error) => of_memory(error),
        _ => ErrorKind::Failed,
    }
}

fn of_memory(error: &AllocError) -> ErrorKind {
    match error {
        AllocError::TooLarge { .. }
        | AllocError::OutOfMemory(_)
        | AllocError::Limit { .. }
        | AllocError::HostMemory => ErrorKind::OutOfMemory,
        AllocError::BeingWritten => ErrorKind::Busy,
        AllocError::Driver(error) => of_driver(error),
        AllocError::Staging(_) => ErrorKind::Failed,
        _ => ErrorKind::Setting,
    }
}

fn of_strategy(error: &StrategyError) -> ErrorKind {
    match error {
        StrategyError::TooFewDevices { .. } | StrategyError::Nccl { .. } => ErrorKind::Absent,
        StrategyError::RankDied { .. }
        | StrategyError::Deadline { .. }
        | StrategyError::Start { .. }
        | StrategyError::Workers { .. }
        | StrategyError::Meeting(_) => ErrorKind::Failed,
        _ => ErrorKind::Setting,
    }
}

#[cfg(test)]
mod tests {
    use core_gpu_driver::PlatformKind;

    use super::*;

    #[test]
    fn every_part_says_what_to_do() {
        let device = core_gpu_driver::DeviceId {
            platform: PlatformKind::Host,
            uuid: [0; 16],
        };
        let not_built = Unavailable::NotBuilt { feature: "cuda" };
        let library = Unavailable::Library {
            tried: "x".to_owned(),
        };
        let reasons = |all: &[&Unavailable]| {
            let reasons = all.iter().map(|why| (PlatformKind::Cuda, (*why).clone()));
            let reasons = reasons.collect();
            Error::from(NoGpu::NotThere { reasons })
        };
        let lost = DriverError::Lost { device, code: 700 };
        let cases: Vec<(Error, ErrorKind)> = vec![
            (reasons(&[&not_built]), ErrorKind::NotBuilt),
            (reasons(&[&not_built, &library]), ErrorKind::Absent),
            (reasons(&[]), ErrorKind::Absent),
            (DriverError::OutOfMemory.into(), ErrorKind::OutOfMemory),
            (lost.clone().into(), ErrorKind::Lost),
            (AllocError::Driver(lost).into(), ErrorKind::Lost),
            (SlotError::Nothing.into(), ErrorKind::Setting),
            (RegistryError::NoDevice.into(), ErrorKind::Absent),
            (LaunchError::NoRank.into(), ErrorKind::Setting),
            (
                ManagerError::NoRoom {
                    device: "a".to_owned(),
                    free_bytes: 1,
                    bytes_per_item: 2,
                }
                .into(),
                ErrorKind::OutOfMemory,
            ),
        ];
        for (error, wanted) in cases {
            assert_eq!(error.kind(), wanted, "{error}");
        }
    }
}
