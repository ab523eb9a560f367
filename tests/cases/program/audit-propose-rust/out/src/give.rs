/// The next multiple of a step.
pub fn rounded(size: usize, step: usize) -> usize {
    if size == 0 || step == 0 {
        return step;
    }
    let blocks = (size + step - 1) / step;
    let wanted = blocks * step;
    if wanted < size {
        return usize::MAX;
    }
    wanted
}

pub fn give(size: usize) -> usize {
    rounded(size, 512) + 1
}
