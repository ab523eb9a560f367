//! What a process has for its device: memory, a cache and the profiler behind one name; and for
//! several devices, what is on each and how to spread work over them.
//!
//! ```
//! use core_gpu::managers::multi_gpu_manager;
//!
//! for device in multi_gpu_manager()?.usage() {
//!     println!("{}: {:?} of {:?} bytes free", device.name, device.free_bytes, device.total_bytes);
//! }
//! # Ok::<(), core_gpu::managers::ManagerError>(())
//! ```

mod error;
mod multi;
mod single;
mod split;

pub use error::ManagerError;
pub use multi::{BatchRequest, DeviceUsage, MultiGpuManager, multi_gpu_manager};
pub use single::{GpuManager, check_memory, cleanup_memory, gpu_manager, gpu_memory};
pub use split::{Share, SplitBy};
