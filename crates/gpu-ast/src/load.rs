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
