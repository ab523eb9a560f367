//! Capsules: how DLPack hands the address of a tensor from one library to another.
#![expect(
    unsafe_code,
    reason = "a capsule's destructor is called by the interpreter, also while an exception is pending, \
              when Python code of ours could not run"
)]

use std::{ffi::CStr, ptr};

use core_gpu::memory::dlpack;
use pyo3::{ffi, prelude::*};

/// A capsule's name until a consumer takes it and gives it another one.
const PLAIN: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

/// A capsule of an exported tensor, by its address. One that goes unused drops the tensor; a used one
/// leaves that to its consumer.
pub fn capsule(python: Python<'_>, address: usize, versioned: bool) -> PyResult<Bound<'_, PyAny>> {
    let name = if versioned { VERSIONED } else { PLAIN };
    // SAFETY: the name lives for ever, the destructor is of this type, and the answer is a new reference
    // or null with an exception.
    let made = unsafe {
        let pointer = ptr::with_exposed_provenance_mut(address);
        let made = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(forget));
        Bound::from_owned_ptr_or_err(python, made)
    };
    if made.is_err() {
        dlpack::withdraw(address);
    }
    made
}

/// Drops the tensor of a capsule that nobody has taken.
unsafe extern "C" fn forget(capsule: *mut ffi::PyObject) {
    for name in [PLAIN, VERSIONED] {
        // SAFETY: the interpreter calls this for a live capsule and with its lock. Neither call runs Python
        // code or looks at the exception that may be pending; the pointer is not followed.
        unsafe {
            if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 1 {
                let pointer = ffi::PyCapsule_GetPointer(capsule, name.as_ptr());
                dlpack::withdraw(pointer.addr());
            }
        }
    }
}
