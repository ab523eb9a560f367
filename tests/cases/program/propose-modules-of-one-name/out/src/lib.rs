#[cfg_attr(feature = "metal", path = "metal/mod.rs")]
#[cfg_attr(not(feature = "metal"), path = "vulkan/mod.rs")]
pub mod hal;
pub mod other;
