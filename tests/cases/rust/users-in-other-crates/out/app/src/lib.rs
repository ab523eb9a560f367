extern crate gpu_sys as ffi;

pub mod sys_exports {
    pub use crate::ffi::raw::bindings::field::*;
}

use crate::ffi::raw::bindings::*;
use gpu_sys::raw::bindings::field;

pub fn count() -> u32 {
    device_count() + lowerCase + field::TOTAL + ffi::raw::bindings::device_count()
}
