//! [`crate::kind_histogram`] and [`crate::subtree_hashes`] on a device, over trees that lie there.
//!
//! On Vulkan devices (feature `vulkan`) they are `VulkanTreeKernels`: SPIR-V that was made of WGSL by naga,
//! run on Mesa's processor in CI. For CUDA there is their source, [`CUDA_SOURCE`], to be compiled by NVRTC:
//! its arithmetic is tried by a compiler for the host, and it has never run on a card.

/// Both kernels in CUDA C++, with their arguments.
pub const CUDA_SOURCE: &str = include_str!("../kernels/trees.cu");

#[cfg(feature = "vulkan")]
mod vulkan;

#[cfg(feature = "vulkan")]
pub use vulkan::VulkanTreeKernels;
