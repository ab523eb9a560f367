#[derive(Debug, Default)]
pub struct Pool {
    free: Vec<Vec<u8>>,
}

impl Pool {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn take(&mut self, bytes: usize) -> Vec<u8> {
        self.free.pop().unwrap_or_else(|| vec![0; bytes])
    }

    pub fn give(&mut self, buffer: Vec<u8>) {
        self.free.push(buffer);
    }
}
