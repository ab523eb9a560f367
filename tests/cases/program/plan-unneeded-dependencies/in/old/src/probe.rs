pub fn probe() -> u32 {
    third::load()
}
