#[derive(Debug, Default)]
pub struct GpuPool {
    free: Vec<Vec<u8>>,
}

impl GpuPool {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn take(&mut self, bytes: usize) -> Vec<u8> {
        self.free.pop().unwrap_or_else(|| vec![1; bytes])
    }

    pub fn give(&mut self, buffer: Vec<u8>) {
        self.free.push(buffer);
    }

    pub fn free_bytes(&self) -> usize {
        sum(self.free.iter().map(Vec::len))
    }
}

impl Extend<Vec<u8>> for GpuPool {
    fn extend<T: IntoIterator<Item = Vec<u8>>>(&mut self, buffers: T) {
        buffers.into_iter().for_each(|buffer| self.give(buffer));
    }
}

fn sum(sizes: impl Iterator<Item = usize>) -> usize {
    sizes.sum()
}
