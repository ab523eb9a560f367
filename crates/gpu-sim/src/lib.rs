//! A simulated GPU for tests of programs that use one.
//!
//! A [`Machine`] is a value with devices, streams, events and memory that follow the documented
//! rules of CUDA's driver, and that knows when a program breaks them: work on memory that is not
//! handed out, on a stream that does not wait for another, frees while work runs. [`SimDriver`] is
//! one device of it as a [`core_gpu_driver::Driver`]. Schedules choose among the orders that a real
//! device may take, faults fail any call at any time, and the clock is the machine's own.
//!
//! It does not run device code, and says nothing about speed. See [`guide`] for what to do with it.
//!
//! ```
//! use core_gpu_driver::{Segment, Stream, StreamKind, Driver};
//! use gpu_sim::{Machine, SimDriver};
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), core_gpu_driver::DriverError> {
//! let machine = Machine::with_bytes(1 << 20);
//! let driver: Arc<dyn Driver> = SimDriver::open(&machine, 0)?;
//! let segment = Segment::allocate(&driver, 4096)?;
//! let (one, two) = (
//!     Stream::new(&driver, StreamKind::NonBlocking)?,
//!     Stream::new(&driver, StreamKind::NonBlocking)?,
//! );
//! one.set(segment.whole(), 1)?;
//! // The second stream does not wait for the first.
//! assert!(two.set(segment.whole(), 2).is_err());
//! assert_eq!(machine.violations().len(), 1);
//! # Ok(())
//! # }
//! ```

pub mod case;
mod clock;
mod code;
mod config;
pub mod conformance;
mod driver;
pub mod environment;
mod fault;
#[doc = include_str!("../README.md")]
pub mod guide {}
mod kernel;
mod machine;
mod memory;
// Beside the interfaces: what is `unsafe` in it is theirs.
#[doc(hidden)]
#[path = "../abi/pointers.rs"]
pub mod pointers;
mod schedule;
mod shadow;
pub mod sysfs;
mod violation;

pub use clock::StreamKey;
pub use code::Code;
// As the driver crate's: one name, one type.
pub use config::{Config, Costs, DeviceConfig};
pub use core_gpu_driver::{CaptureMode, RawGraph};
pub use driver::SimDriver;
pub use fault::{Fault, FaultMoment};
pub use kernel::{Kernel, KernelMemory};
pub use machine::{
    Machine,
    capture::CaptureStatus,
    control::{Complaint, FaultBooks, Live, Moved},
};
pub use memory::POISON;
pub use schedule::Schedule;
pub use violation::{Violation, ViolationKind};
