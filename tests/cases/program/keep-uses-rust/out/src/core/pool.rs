pub fn size() -> usize {
    1
}
