//! Kernels: functions of this process that say which bytes they touch, and are run on them in the
//! stream's order. What they compute is theirs; that they touch nothing else is held here.

use std::{fmt, sync::Arc};

use core_gpu_driver::Region;

use crate::{code::Code, memory::Memory};

/// What a kernel may do to the memory of its device.
#[derive(Debug)]
pub struct KernelMemory<'m> {
    memory: &'m mut Memory,
    reads: &'m [Region],
    writes: &'m [Region],
}

impl KernelMemory<'_> {
    /// Reads bytes that the kernel said it reads or writes.
    ///
    /// # Errors
    /// An illegal address for others, which loses the device as it would on a real one.
    pub fn read(&mut self, region: Region) -> Result<Vec<u8>, Code> {
        let declared = self.reads.iter().chain(self.writes);
        if !contains(declared, region) {
            return Err(Code::ILLEGAL_ADDRESS);
        }
        let size = usize::try_from(region.bytes).map_err(|_| Code::ILLEGAL_ADDRESS)?;
        let mut bytes = vec![0; size];
        self.memory.read(region.address.get(), &mut bytes)?;
        Ok(bytes)
    }

    /// Writes bytes that the kernel said it writes, from the region's beginning on.
    ///
    /// # Errors
    /// As [`KernelMemory::read`].
    pub fn write(&mut self, region: Region, bytes: &[u8]) -> Result<(), Code> {
        let fits = bytes.len() as u64 <= region.bytes;
        if !fits || !contains(self.writes.iter(), region) {
            return Err(Code::ILLEGAL_ADDRESS);
        }
        self.memory.write(region.address.get(), bytes)
    }
}

fn contains<'r>(mut declared: impl Iterator<Item = &'r Region>, region: Region) -> bool {
    let start = region.address.get();
    declared.any(|known| {
        let first = known.address.get();
        let end = first.saturating_add(known.bytes);
        first <= start && start.saturating_add(region.bytes) <= end
    })
}

/// What a kernel does.
type Body = dyn Fn(&mut KernelMemory<'_>) -> Result<(), Code> + Send + Sync;

/// Work of a program's own.
#[derive(Clone)]
pub struct Kernel {
    /// Its name, for messages.
    pub name: &'static str,
    pub(crate) reads: Vec<Region>,
    pub(crate) writes: Vec<Region>,
    pub(crate) nanoseconds: u64,
    body: Arc<Body>,
}

impl Kernel {
    /// A kernel that touches nothing and takes no time.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            reads: Vec::new(),
            writes: Vec::new(),
            nanoseconds: 0,
            body: Arc::new(|_| Ok(())),
        }
    }

    /// It reads these bytes.
    #[must_use]
    pub fn reading(mut self, region: Region) -> Self {
        self.reads.push(region);
        self
    }

    /// It writes these bytes.
    #[must_use]
    pub fn writing(mut self, region: Region) -> Self {
        self.writes.push(region);
        self
    }

    /// It takes this long on the machine's clock.
    #[must_use]
    pub fn taking(mut self, nanoseconds: u64) -> Self {
        self.nanoseconds = nanoseconds;
        self
    }

    /// It does this. The function runs while the machine is locked: it must not call it.
    #[must_use]
    pub fn doing(
        mut self,
        body: impl Fn(&mut KernelMemory<'_>) -> Result<(), Code> + Send + Sync + 'static,
    ) -> Self {
        self.body = Arc::new(body);
        self
    }

    pub(crate) fn run(&self, memory: &mut Memory) -> Result<(), Code> {
        let mut memory = KernelMemory {
            memory,
            reads: &self.reads,
            writes: &self.writes,
        };
        (self.body)(&mut memory)
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
