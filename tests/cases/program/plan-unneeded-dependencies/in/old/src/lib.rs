pub mod probe;

pub fn keep() -> u32 {
    used::value()
}
