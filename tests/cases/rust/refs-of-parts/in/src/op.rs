pub struct Tanh;

impl Tanh {
    pub fn run() -> u32 {
        1
    }
}
