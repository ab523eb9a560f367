pub mod raw;

#[deprecated(note = "use `gpu_sys::raw::bindings`; it will be removed in 2.0.0")]
pub mod bindings;
pub use raw::bindings::device_count;
