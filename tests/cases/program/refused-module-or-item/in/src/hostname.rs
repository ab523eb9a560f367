pub fn hostname() -> u32 {
    1
}
