//! The kernels on a Vulkan device.
#![expect(
    unsafe_code,
    reason = "SPIR-V is what it is: who hands it over vouches for it"
)]

use std::sync::Arc;

use core_gpu_driver::{DriverError, Stream, VulkanDriver, vulkan::VulkanKernel};
use core_gpu_memory::{AllocError, Buffer, Pool, Source};

use crate::{analysis::SubtreeHash, error::AstError, kinds::KINDS, manager::GpuAst};

/// Made of `kernels/trees.wgsl` by naga.
static CODE: &[u8] = include_bytes!("../../kernels/trees.spv");
/// Threads in a group.
const GROUP: u32 = 64;
/// Bytes between the parameters of two launches: every device lets a buffer begin there.
const STEP: usize = 256;

/// Histograms of kinds and hashes of subtrees, on a Vulkan device. Any thread.
#[derive(Debug)]
pub struct VulkanTreeKernels {
    pool: Pool,
    count: VulkanKernel,
    hash: VulkanKernel,
}

/// What a launch is told: see the kernels.
type Parameters = [u32; 4];

impl VulkanTreeKernels {
    /// Makes the kernels, with memory of that pool, whose driver is the one that is given.
    ///
    /// # Errors
    /// As the driver's calls fail.
    pub fn new(driver: &Arc<VulkanDriver>, pool: &Pool) -> Result<Self, DriverError> {
        let (words, _) = CODE.as_chunks::<4>();
        let code: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        // SAFETY: naga made it of a module that it found valid; both entries end, since trees that lie in
        // device memory were checked to be trees, and have these three buffers.
        let kernel = |entry| unsafe { VulkanKernel::new(driver, &code, entry, 3) };
        Ok(Self {
            pool: pool.clone(),
            count: kernel(c"count_kinds")?,
            hash: kernel(c"hash_level")?,
        })
    }

    /// As [`crate::kind_histogram`], over several trees together. Waits for the device.
    ///
    /// # Errors
    /// As memory or the driver fails.
    pub fn kind_histogram(&self, trees: &[GpuAst], on: &Stream) -> Result<Vec<u32>, AstError> {
        let by = Source::named("syntax tree kernels");
        let counts = self.pool.allocate_zeroed::<u32>(KINDS as usize, on, by)?;
        for tree in trees {
            let nodes = size(tree.nodes());
            let launches: Vec<Parameters> = pieces(0, nodes)
                .map(|(first, end)| [nodes, first, end, KINDS])
                .collect();
            self.run(&self.count, tree, &counts, &launches, on)?;
        }
        Ok(counts.download(on).map_err(AllocError::from)?)
    }

    /// As [`crate::subtree_hashes`]: a launch for each level, the deepest first. Waits for the device.
    ///
    /// # Errors
    /// As memory or the driver fails.
    pub fn subtree_hashes(&self, tree: &GpuAst, on: &Stream) -> Result<Vec<SubtreeHash>, AstError> {
        let by = Source::named("syntax tree kernels");
        let hashes = self.pool.allocate_zeroed::<u32>(tree.nodes() * 2, on, by)?;
        let ends = tree.level_ends();
        let levels = std::iter::once(0).chain(ends.iter().copied()).zip(ends);
        let levels: Vec<(u32, u32)> = levels.map(|(first, end)| (first, *end)).collect();
        let nodes = size(tree.nodes());
        let launches: Vec<Parameters> = levels
            .into_iter()
            .rev()
            .flat_map(|(first, end)| pieces(first, end))
            .map(|(first, end)| [nodes, first, end, 0])
            .collect();
        self.run(&self.hash, tree, &hashes, &launches, on)?;
        let words = hashes.download(on).map_err(AllocError::from)?;
        let (pairs, _) = words.as_chunks::<2>();
        Ok(pairs.to_vec())
    }

    /// Puts launches of one kernel over one tree on a stream, in order.
    fn run(
        &self,
        kernel: &VulkanKernel,
        tree: &GpuAst,
        result: &Buffer<u32>,
        launches: &[Parameters],
        on: &Stream,
    ) -> Result<(), AstError> {
        let parameters = self.send(launches, on)?;
        let pinned = tree.pin(on)?;
        for (number, [_, first, end, _]) in launches.iter().enumerate() {
            let at = number * STEP;
            let told = parameters.slice(at..at + size_of::<Parameters>());
            let told = told.expect("invariant: there is a step for each launch");
            let spans = [pinned.span(), result.span(), told.span()];
            let launched = kernel.launch(&spans, (end - first).div_ceil(GROUP), on);
            launched.map_err(AllocError::from)?;
        }
        Ok(())
    }

    /// The parameters of all launches, each where a buffer may begin.
    fn send(&self, launches: &[Parameters], on: &Stream) -> Result<Buffer<u8>, AstError> {
        let by = Source::named("syntax tree kernels");
        let mut bytes = vec![0_u8; launches.len().max(1) * STEP];
        for (place, told) in bytes.chunks_mut(STEP).zip(launches) {
            let told: &[u8] = bytemuck::cast_slice(told);
            place[..told.len()].copy_from_slice(told);
        }
        let mut buffer = self.pool.allocate::<u8>(bytes.len(), on, by)?;
        buffer.upload(&bytes, on).map_err(AllocError::from)?;
        Ok(buffer)
    }
}

fn size(nodes: usize) -> u32 {
    u32::try_from(nodes).unwrap_or(u32::MAX)
}

/// Places in pieces that every device takes in one launch.
fn pieces(first: u32, end: u32) -> impl Iterator<Item = (u32, u32)> {
    const MOST: u32 = GROUP * 65_535;
    let begins = (first..end).step_by(MOST as usize);
    begins.map(move |begin| (begin, begin.saturating_add(MOST).min(end)))
}
