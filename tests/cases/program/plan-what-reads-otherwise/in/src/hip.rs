pub(crate) fn align(n: usize) -> usize {
    (n + 63) & !63
}

pub fn padded(rows: usize, columns: usize) -> usize {
    rows * align(columns)
}

pub fn other(n: usize) -> usize {
    n * 2 + 1
}
