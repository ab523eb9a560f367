pub mod pool {
    pub fn size() -> u8 {
        1
    }
}

pub fn pool() -> u8 {
    2
}
