extern crate gpu_sys as ffi;

pub mod sys_exports {
    pub use crate::ffi::bindings::field::*;
}

use crate::ffi::bindings::*;
use gpu_sys::bindings::field;

pub fn count() -> u32 {
    device_count() + lowerCase + field::TOTAL + ffi::bindings::device_count()
}
