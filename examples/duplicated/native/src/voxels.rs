//! Points to voxels.

use crate::optimization::gpu::{self, BATCH};

/// How many launches `points` need; one when there is no device.
pub fn launches(points: usize) -> usize {
    if gpu::detect() && crate::gpu::is_available() {
        points.div_ceil(BATCH)
    } else {
        1
    }
}
