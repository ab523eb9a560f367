//! Device memory: one pool, one manager, one cache.
#[doc(hidden)]
pub mod test_support;
pub mod size_class;
pub mod segment;
mod source;
pub use source::Source;
