//! A device, opened.

use std::sync::{Mutex, MutexGuard, PoisonError};

use core_gpu::{
    Gpu as Opened,
    driver::Stream,
    memory::{DType, Source},
    platform::Fallback,
};
use pyo3::{prelude::*, types::PyAny};

use crate::{
    buffer::{Buffer, bytes_of, dtype_named},
    deadline,
    detection::Device,
    error::{raised, refused},
    to_python, unsettled,
};

/// A device with a slot on it, a stream and a pool; the processor where there is no other.
#[pyclass(frozen, module = "core_gpu")]
pub struct Gpu {
    /// None once it is closed.
    opened: Mutex<Option<Opened>>,
    stream: Stream,
    device: Device,
    reason: String,
    slot: u32,
}

impl Gpu {
    fn new(opened: Opened) -> Self {
        Self {
            stream: opened.stream().clone(),
            device: opened.device().clone().into(),
            reason: opened.reason().to_owned(),
            slot: opened.claimed_slot().0,
            opened: Mutex::new(Some(opened)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the device; not while Python's own lock is held, which a callback may want.
    fn with<R>(&self, work: impl FnOnce(&Opened) -> core_gpu::Result<R>) -> PyResult<R> {
        unsettled::settle();
        let opened = self.lock();
        let opened = opened.as_ref().ok_or_else(|| refused(&"it is closed"))?;
        work(opened).map_err(raised)
    }

    fn make(&self, python: Python<'_>, dtype: DType, shape: Vec<u64>) -> PyResult<Buffer> {
        let bytes = dtype
            .array_bytes(&shape)
            .and_then(|bytes| usize::try_from(bytes).ok())
            .ok_or_else(|| refused(&format!("an array of shape {shape:?} is too large")))?;
        let memory = python.detach(|| self.with(|gpu| gpu.allocate::<u8>(bytes)))?;
        let driver = python.detach(|| self.with(|gpu| Ok(gpu.driver().clone())))?;
        Ok(Buffer::new(memory, &self.stream, driver, dtype, shape))
    }
}

#[pymethods]
impl Gpu {
    /// Opens the best device that there is.
    #[staticmethod]
    fn open_best(python: Python<'_>) -> PyResult<Self> {
        python.detach(|| Opened::open_best().map(Self::new).map_err(raised))
    }

    /// Opens a device by name. `fallback` is "cpu" or "error"; the settings say unless it is said.
    /// `claim_bytes` of its memory are claimed with the slot, and the pool keeps to them.
    #[staticmethod]
    #[pyo3(signature = (name = "auto", *, fallback = None, wait_seconds = None, claim_bytes = 0, slots = None))]
    fn open(
        python: Python<'_>,
        name: &str,
        fallback: Option<&str>,
        wait_seconds: Option<f64>,
        claim_bytes: u64,
        slots: Option<u32>,
    ) -> PyResult<Self> {
        let mut options = Opened::options()
            .device(name)
            .claim_bytes(claim_bytes)
            .source(Source::named("python"));
        match fallback {
            None => {}
            Some("cpu") => options = options.fallback(Fallback::Cpu),
            Some("error") => options = options.fallback(Fallback::Error),
            Some(other) => return Err(refused(&format!("fallback is cpu or error, not {other}"))),
        }
        if wait_seconds.is_some() {
            options = options.wait(deadline(wait_seconds)?);
        }
        if let Some(slots) = slots {
            options = options.slots(slots);
        }
        python.detach(|| options.open().map(Self::new).map_err(raised))
    }

    /// The device.
    #[getter]
    fn device(&self) -> Device {
        self.device.clone()
    }

    /// Its name by number, such as `cuda:0` or `cpu`.
    #[getter]
    fn name(&self) -> String {
        self.device.name().to_string()
    }

    /// Why it is this one.
    #[getter]
    fn reason(&self) -> &str {
        &self.reason
    }

    /// Whether it is not the processor.
    #[getter]
    fn is_gpu(&self) -> bool {
        self.device.id().platform != core_gpu::driver::PlatformKind::Host
    }

    /// The number of the slot that is held on the device.
    #[getter]
    fn slot(&self) -> u32 {
        self.slot
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.lock().is_none()
    }

    /// Memory for an array. Its contents are whatever was there.
    #[pyo3(signature = (shape, dtype = "float32"))]
    fn allocate(&self, python: Python<'_>, shape: Vec<u64>, dtype: &str) -> PyResult<Buffer> {
        self.make(python, dtype_named(dtype)?, shape)
    }

    /// Copies an array to the device: anything with the buffer protocol, NumPy's arrays among them.
    fn upload(&self, python: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<Buffer> {
        let from = bytes_of(array)?;
        let buffer = self.make(python, from.dtype, from.shape.clone())?;
        buffer.fill(python, &from)?;
        Ok(buffer)
    }

    /// Waits until all that was asked of the device is done.
    fn synchronize(&self, python: Python<'_>) -> PyResult<()> {
        python.detach(|| self.stream.synchronize().map_err(raised))
    }

    /// What the pool holds and has done, in bytes and counts.
    fn pool_statistics<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let now = python.detach(|| self.with(|gpu| Ok(gpu.pool().statistics())))?;
        to_python(python, &now)
    }

    /// Gives memory back to the device that nobody uses. Returns its bytes.
    fn trim(&self, python: Python<'_>) -> PyResult<u64> {
        python.detach(|| self.with(|gpu| Ok(gpu.pool().trim())))
    }

    /// Lets this device's pool answer for it in `core_gpu.allocators`. CUDA's devices alone.
    fn _serve(&self, python: Python<'_>) -> PyResult<()> {
        if self.device.id().platform != core_gpu::driver::PlatformKind::Cuda {
            return Err(refused(
                &"only CUDA devices have allocators of other libraries",
            ));
        }
        let ordinal = i32::try_from(self.device.ordinal()).map_err(|why| refused(&why))?;
        python.detach(|| {
            self.with(|gpu| {
                core_gpu::memory::allocator::serve(ordinal, gpu.pool());
                Ok(())
            })
        })
    }

    /// Waits for the device, gives its memory and its slot back. Buffers that are still there are an
    /// error, which names them; they keep their memory. A second call does nothing.
    fn close(&self, python: Python<'_>) -> PyResult<()> {
        python.detach(|| {
            unsettled::settle();
            let opened = self.lock().take();
            opened.map_or(Ok(()), |gpu| gpu.close().map_err(raised))
        })
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        python: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let closed = self.close(python);
        // What went wrong inside is the caller's answer, not what follows from it.
        if kind.is_none() { closed } else { Ok(()) }
    }

    fn __repr__(&self) -> String {
        format!("<Gpu {}: {}>", self.device.name(), self.reason)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Gpu>()
}
