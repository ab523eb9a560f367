pub fn count() -> u32 {
    1
}
