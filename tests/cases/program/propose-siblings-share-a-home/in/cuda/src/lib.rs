//! One backend.

/// Splits a length into blocks that fit a launch, the last one shorter.
pub fn launch_blocks(length: usize, widest: usize, alignment: usize) -> Vec<(usize, usize)> {
    let mut blocks = Vec::new();
    let step = (widest / alignment).max(1) * alignment;
    let mut start = 0;
    while start < length {
        let end = (start + step).min(length);
        blocks.push((start, end));
        start = end;
    }
    if blocks.is_empty() {
        blocks.push((0, 0));
    }
    blocks
}

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
