//! One place that knows which GPUs there are and who uses them.
//!
//! | you want | take |
//! | --- | --- |
//! | one device, ready to work, the best there is | [`Gpu::open_best`], [`prelude`] |
//! | one error to match | [`Error`], [`ErrorKind`] |
//! | which platforms there are, and why the others are not | [`platform`] |
//! | settings: program over environment over file | [`configuration`] |
//! | a device by name, its memory | [`devices`] |
//! | how many pipelines may run, once for the process | [`registry`] |
//! | a device for a while, not shared beyond its slots | [`slots`] |
//! | the devices of a plan's steps, before it runs | [`assignment`] |
//! | the memory, cache and profiler of a process | [`managers`] |
//! | use, temperature and health of devices | [`monitor`] |
//! | one process or several, on one device or several | [`strategies`] |
//! | tasks in processes of their own | [`workers`] |
//! | work that uses a GPU where there is one | [`accelerate`] |
//! | where the time goes | [`profiler`] |
//! | to hear of fallbacks and of what could not be given back | [`warning`] |
//! | what is there of which platform | [`platform::SUPPORT`] |
//!
//! Lengths are bytes unless a name says otherwise. Nothing here starts a driver before it is asked
//! for a device; nothing panics where there is none.

pub mod accelerate;
pub mod assignment;
pub mod configuration;
pub mod devices;
pub mod error;
pub mod gpu;
#[cfg(feature = "cuda-any-bindings")]
mod management;
pub mod managers;
pub mod monitor;
pub mod platform;
pub mod prelude;
pub mod profiler;
pub mod registry;
pub mod slots;
pub mod strategies;
pub mod warning;
#[cfg(unix)]
pub mod workers;

pub use core_gpu_driver as driver;
pub use core_gpu_memory as memory;
pub use error::{Error, ErrorKind, Result};
pub use gpu::{Gpu, GpuOptions};

/// The README's program.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
