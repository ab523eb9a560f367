//! Trees beside the bytes of files: an extension of the memory crate's [`FileManager`], which knows nothing
//! of syntax.

use std::path::Path;

use core_gpu_driver::Stream;
use core_gpu_memory::FileManager;

use crate::{
    error::AstError,
    manager::{GpuAst, GpuAstManager},
};

/// Whoever has files in device memory has their trees there too.
///
/// ```
/// use std::sync::Arc;
/// use core_gpu_driver::{Driver, HostDriver};
/// use core_gpu_memory::{CacheLimits, FileManager, MemoryManager};
/// use gpu_ast::{AstSettings, GpuAstManager, LoadAst};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("area.py");
/// # std::fs::write(&path, "area = 3 * r * r\n")?;
/// let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 26));
/// let memory = MemoryManager::builder(&driver).build()?;
/// let files = FileManager::new(&memory, CacheLimits::default());
/// let trees = GpuAstManager::new(&memory, AstSettings::default().into());
/// let tree = files.load_ast(&path, &trees, memory.stream())?;
/// assert_eq!(tree.bytes(), 16 + 40 * tree.nodes() as u64);
/// # Ok(())
/// # }
/// ```
pub trait LoadAst {
    /// The tree of a file as it is now, in device memory, kept by `trees`.
    ///
    /// # Errors
    /// See [`AstError`]; the text must be UTF-8.
    fn load_ast(&self, path: &Path, trees: &GpuAstManager, on: &Stream)
    -> Result<GpuAst, AstError>;
}

impl LoadAst for FileManager {
    fn load_ast(
        &self,
        path: &Path,
        trees: &GpuAstManager,
        on: &Stream,
    ) -> Result<GpuAst, AstError> {
        trees.load_file(path, on)
    }
}
