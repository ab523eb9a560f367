pub mod bindings;
pub use bindings::device_count;
