pub fn more() {}

pub fn pool() -> u8 {
    2
}
