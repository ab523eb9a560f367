//! One backend.

use base::launch_blocks;

/// What one launch takes.
pub struct Launch {
    pub stream: u64,
    pub shared_bytes: u32,
}

impl Launch {
    pub fn enqueue(&self, length: usize) -> usize {
        base::nothing();
        launch_blocks(length, 1024, 32).len() * self.shared_bytes as usize
    }
}

pub fn occupancy(registers: u32, threads: u32) -> f32 {
    65536.0 / (registers * threads) as f32
}
