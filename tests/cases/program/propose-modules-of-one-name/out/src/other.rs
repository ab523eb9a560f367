pub fn other() -> u32 {
    3
}
