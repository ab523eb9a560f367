#[cfg(not(backend = "gpu"))]
pub mod value;
#[cfg(not(backend))]
pub mod without;
#[cfg(not(target_os = "palm"))]
pub mod system;
