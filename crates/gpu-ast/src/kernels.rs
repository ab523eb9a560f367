//! [`crate::kind_histogram`] and [`crate::subtree_hashes`] on a device, over trees that lie there.
//!
//! On Vulkan devices (feature `vulkan`) they are `VulkanTreeKernels`: SPIR-V that was made of WGSL by naga,
//! run on Mesa's processor in CI. For CUDA there is their source, [`CUDA_SOURCE`], to be compiled by NVRTC:
//! its arithmetic is tried by a compiler for the host, and it has never run on a card.
//!
#![cfg_attr(feature = "vulkan", doc = "```")]
#![cfg_attr(not(feature = "vulkan"), doc = "```ignore")]
//! use std::{path::Path, sync::Arc};
//! use core_gpu_driver::{Driver, VulkanDriver, vulkan};
//! use core_gpu_memory::MemoryManager;
//! use gpu_ast::{AstSettings, GpuAstManager, kernels::VulkanTreeKernels};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // None where there is no Vulkan; on Mesa's processor where that is installed.
//! for found in vulkan::devices().unwrap_or_default() {
//!     let device = VulkanDriver::open(&found.id)?;
//!     let driver: Arc<dyn Driver> = device.clone();
//!     let memory = MemoryManager::builder(&driver).build()?;
//!     let trees = GpuAstManager::new(&memory, AstSettings::default().into());
//!     let kernels = VulkanTreeKernels::new(&device, memory.pool())?;
//!     let tree = trees.load(Path::new("a.py"), "x = f(1)\n", memory.stream())?;
//!     let counts = kernels.kind_histogram(&[tree.clone()], memory.stream())?;
//!     assert_eq!(counts.iter().sum::<u32>() as usize, tree.nodes());
//! }
//! # Ok(())
//! # }
//! ```

/// Both kernels in CUDA C++, with their arguments.
pub const CUDA_SOURCE: &str = include_str!("../kernels/trees.cu");

#[cfg(feature = "vulkan")]
mod vulkan;

#[cfg(feature = "vulkan")]
pub use vulkan::VulkanTreeKernels;
