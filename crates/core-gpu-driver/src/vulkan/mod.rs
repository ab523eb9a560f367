//! Vulkan devices as drivers of memory and order: the loader's library is looked up at run time, and
//! any device with timeline semaphores and buffer device addresses (Vulkan 1.2) will do, Mesa's
//! processor `llvmpipe` among them. What runs on a device is copies, fills, and kernels in SPIR-V over
//! storage buffers ([`VulkanKernel`]).
//!
//! How the trait's terms become Vulkan's, and where they do not fit, is in [`limits`].
//!
//! ```no_run
//! use core_gpu_driver::{Driver, VulkanDriver, vulkan};
//!
//! # fn main() -> Result<(), core_gpu_driver::DriverError> {
//! for device in vulkan::devices()? {
//!     let driver = VulkanDriver::open(&device.id)?;
//!     println!("{}: {} bytes", device.name, driver.memory_info()?.total_bytes);
//! }
//! # Ok(())
//! # }
//! ```

mod device;
mod driver;
mod kernel;
mod memory;
mod work;

/// Where [`crate::Driver`] and Vulkan do not fit.
///
/// | the trait says | Vulkan has | what is done |
/// | --- | --- | --- |
/// | an address is all that a copy needs | buffers with offsets | a table of allocations by address, looked up under a lock for each copy |
/// | memory of the host is any pointer | memory that Vulkan allocated, or an extension | pageable memory is staged: an upload at the call, a download by waiting for it |
/// | a fill has any length and place | fills of whole words | up to three bytes at either end are copied from a table of constants |
/// | streams are made as wanted | a few queues | one queue, a timeline semaphore for each stream: streams are ordered apart, and may still run one after the other |
/// | addresses are aligned to 256 bytes | as the device likes | each allocation is 255 bytes longer |
/// | memory that is free, of all processes | an extension, without a promise | what this process has taken is missing; what others took is not |
/// | capture into a graph | nothing of the kind | no stream is ever captured |
/// | a device counts allocations in bytes | a bound on their number (4,096 at least) | nothing: a pool's segments are few |
///
/// The first two are the trait's own fault: it was made where addresses of host and device are one
/// space. A driver that could give a handle with each allocation would save the table.
pub mod limits {}

pub use device::devices;
pub use driver::VulkanDriver;
pub use kernel::VulkanKernel;
