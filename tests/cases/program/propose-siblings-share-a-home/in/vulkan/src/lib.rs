//! Another backend.

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

pub enum Descriptor {
    Buffer(u64),
    Image { width: u32, height: u32 },
}

pub fn dispatch(all: &[Descriptor]) -> Vec<usize> {
    base::nothing();
    all.iter()
        .map(|one| match one {
            Descriptor::Buffer(bytes) => launch_blocks(*bytes as usize, 256, 16).len(),
            Descriptor::Image { width, height } => (width * height) as usize,
        })
        .collect()
}
