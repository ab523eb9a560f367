//! Ranges for NVIDIA's profilers, where their library is there. Nothing is measured here.

use std::ffi::{CStr, c_char, c_int};

use crate::{dynamic, error::Absent};

/// The library's names: the one of CUDA 12 and before, and the one that holds the same functions since.
const LIBRARIES: &[&str] = &[
    "libnvToolsExt.so.1",
    "libnvToolsExt.so",
    "libnvtx3interop.so.1",
    "libnvtx3interop.so",
];

dynamic::table! {
    library: "libnvToolsExt";
    required {
    range_push = "nvtxRangePushA": fn(*const c_char);
    range_pop = "nvtxRangePop": fn();
    }
    optional {
    }
}

/// The library.
#[derive(Clone, Copy, Debug)]
pub struct Ranges(&'static Table);

impl Ranges {
    /// Looks the library up, once for the process.
    ///
    /// # Errors
    /// [`Absent::Library`] and [`Absent::Symbol`].
    pub fn load() -> Result<Self, Absent> {
        Table::loaded(|| dynamic::load("NVTX", LIBRARIES, None)).map(Self)
    }

    /// Begins a range on this thread.
    pub fn push(self, name: &CStr) {
        // SAFETY: it reads the text up to its zero byte. The answer is a depth.
        let _ = unsafe { (self.0.range_push)(name.as_ptr()) };
    }

    /// Ends the range that began last on this thread.
    pub fn pop(self) {
        // SAFETY: it takes nothing. The answer is a depth.
        let _ = unsafe { (self.0.range_pop)() };
    }
}
