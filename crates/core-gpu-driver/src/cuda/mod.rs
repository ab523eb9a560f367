//! CUDA: its driver library looked up at run time, its devices, and one device as a
//! [`crate::Driver`]. Nothing is linked; a machine without the library gets an error value.

mod driver;
mod interop;
mod probe;
mod table;
pub mod trial;
mod virtual_memory;

pub use driver::CudaDriver;
pub use interop::stream_of;
pub use probe::{can_access_peer, devices, driver_version};
/// The names of all functions that are looked up.
pub use table::REQUIRED_SYMBOLS as SYMBOLS;
