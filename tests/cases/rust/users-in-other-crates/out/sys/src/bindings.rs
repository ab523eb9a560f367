// coalesce: shim 0001
//! Moved to [`crate::raw::bindings`]; it will be removed in 2.0.0.

#![allow(deprecated, unused_imports)]
#![allow(non_upper_case_globals)]

/// Moved to [`crate::raw::bindings::device_count`].
#[deprecated(note = "use `gpu_sys::raw::bindings::device_count`; it will be removed in 2.0.0")]
pub fn device_count() -> u32 {
    crate::raw::bindings::device_count()
}

/// Moved to [`crate::raw::bindings::lowerCase`].
#[deprecated(note = "use `gpu_sys::raw::bindings::lowerCase`; it will be removed in 2.0.0")]
pub const lowerCase: u32 = crate::raw::bindings::lowerCase;

pub use crate::raw::bindings::*;

/// Moved to [`crate::raw::bindings::field`].
#[deprecated(note = "use `gpu_sys::raw::bindings::field`; it will be removed in 2.0.0")]
pub mod field {
    /// Moved to [`crate::raw::bindings::field::TOTAL`].
    #[deprecated(note = "use `gpu_sys::raw::bindings::field::TOTAL`; it will be removed in 2.0.0")]
    pub const TOTAL: u32 = crate::raw::bindings::field::TOTAL;

    pub use crate::raw::bindings::field::*;
}
