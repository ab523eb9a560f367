//! Clouds.

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

pub fn run() -> usize {
    launch_blocks(7, 4, 2).len()
}
