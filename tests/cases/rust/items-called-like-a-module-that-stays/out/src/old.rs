pub mod pool {
    pub fn size() -> u8 {
        1
    }
}
