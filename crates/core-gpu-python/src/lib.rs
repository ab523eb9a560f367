//! The GPU runtime for Python: `core_gpu._core_gpu`, which the package `core_gpu` around it completes.
//!
//! Each function and class says what it does in its Python documentation; types are in
//! `python/core_gpu/_core_gpu.pyi`. Memory is handed to array libraries by
//! `core_gpu::memory::dlpack`; what is `unsafe` here is the capsule around that (`capsule`).

mod buffer;
mod capsule;
mod detection;
mod error;
mod gpu;
mod plan;
mod slots;
mod strategies;
mod unsettled;
mod workers;

use pyo3::prelude::*;

#[pymodule]
fn _core_gpu(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::register(module)?;
    buffer::register(module)?;
    detection::register(module)?;
    gpu::register(module)?;
    plan::register(module)?;
    slots::register(module)?;
    strategies::register(module)?;
    workers::register(module)
}

/// A value that serialises, as Python's own dictionaries, lists and numbers.
fn to_python<'py>(
    python: Python<'py>,
    value: &impl serde::Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|why| error::refused(&why))?;
    python.import("json")?.call_method1("loads", (text,))
}

/// The moment that `seconds` from now is; none is never.
fn deadline(seconds: Option<f64>) -> PyResult<core_gpu::platform::Deadline> {
    use core_gpu::platform::Deadline;
    let Some(seconds) = seconds else {
        return Ok(Deadline::never());
    };
    let wait = std::time::Duration::try_from_secs_f64(seconds);
    Ok(Deadline::after(wait.map_err(|why| error::refused(&why))?))
}
