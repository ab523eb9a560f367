//! Meshes.

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
    let whole: usize = blocks.iter().map(|(from, to)| to - from).sum();
    assert_eq!(whole, length);
    if let [.., (from, to), last] = blocks.as_mut_slice() {
        let rest = last.1 - last.0;
        if rest < alignment && *to - *from > alignment {
            *to -= alignment;
            last.0 -= alignment;
        }
    }
    for (from, to) in &mut blocks {
        if *to - *from > widest {
            *to = *from + widest;
        }
        *from = (*from).min(length);
    }
    blocks
}

pub fn run() -> usize {
    launch_blocks(9, 4, 2).len()
}
