//! The parts of lidar that Python is too slow for.

pub mod gpu;
pub mod optimization;
pub mod voxels;
