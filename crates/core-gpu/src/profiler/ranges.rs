//! Spans as ranges of NVIDIA's profilers, where their library is there.

#[cfg(feature = "cuda-any-bindings")]
mod there {
    use std::{
        collections::BTreeMap,
        ffi::{CStr, CString},
        sync::{Mutex, OnceLock, PoisonError},
    };

    use core_gpu_driver::{Absent, nvtx::Ranges};

    use crate::profiler::name::SpanName;

    static RANGES: OnceLock<Ranges> = OnceLock::new();

    pub fn load() -> Result<(), Absent> {
        let ranges = Ranges::load()?;
        RANGES.get_or_init(|| ranges);
        Ok(())
    }

    /// A name as the library wants it. There are few, and they are never forgotten.
    fn text(name: SpanName) -> &'static CStr {
        static TEXTS: Mutex<BTreeMap<SpanName, &'static CStr>> = Mutex::new(BTreeMap::new());
        let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        texts.entry(name).or_insert_with(|| {
            // A name ends where it has a zero byte.
            let text: Vec<u8> = name.text().bytes().take_while(|byte| *byte != 0).collect();
            Box::leak(CString::new(text).unwrap_or_default().into_boxed_c_str())
        })
    }

    #[cold]
    pub fn push(name: SpanName) {
        if let Some(ranges) = RANGES.get() {
            ranges.push(text(name));
        }
    }

    #[cold]
    pub fn pop() {
        if let Some(ranges) = RANGES.get() {
            ranges.pop();
        }
    }
}

#[cfg(feature = "cuda-any-bindings")]
pub use there::{load, pop, push};

#[cfg(not(feature = "cuda-any-bindings"))]
mod absent {
    use core_gpu_driver::Absent;

    use crate::profiler::name::SpanName;

    pub fn load() -> Result<(), Absent> {
        Err(Absent::NotBuilt { feature: "cuda" })
    }

    /// Never called: nobody could switch ranges on.
    pub fn push(_name: SpanName) {}

    /// As [`push`].
    pub fn pop() {}
}

#[cfg(not(feature = "cuda-any-bindings"))]
pub use absent::{load, pop, push};
