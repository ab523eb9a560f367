//! GPU kernels: `.cu`, `.cuh`, `.hip`, `.cl`, `.metal` and `.wgsl` files, C and C++ headers beside
//! them, and kernels in strings of other languages.
//!
//! One lexer of the C family and units by braces; nothing is preprocessed and nothing resolved. That
//! is enough to compare kernels and to say what one copy has that another lacks. It moves and rewrites
//! nothing: a plan that names a kernel file is refused.

mod embedded;
mod grammar;
mod language;
mod lexer;
mod locals;
mod outline;

pub use embedded::{embedded, is_program};
pub use language::{KernelFacts, KernelGraph, Kernels};
pub use outline::outline;
