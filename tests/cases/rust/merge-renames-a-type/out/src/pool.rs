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

impl Pool {
    pub fn free_bytes(&self) -> usize {
        sum(self.free.iter().map(Vec::len))
    }
}

impl Extend<Vec<u8>> for Pool {
    fn extend<T: IntoIterator<Item = Vec<u8>>>(&mut self, buffers: T) {
        buffers.into_iter().for_each(|buffer| self.give(buffer));
    }
}

fn sum(sizes: impl Iterator<Item = usize>) -> usize {
    sizes.sum()
}
