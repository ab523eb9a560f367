//! Arrays in device memory.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use core_gpu::{
    driver::{Driver, PlatformKind, Stream},
    memory::{
        self, DType,
        dlpack::{self, Tensor},
    },
};
use pyo3::{
    exceptions::{PyAttributeError, PyBufferError},
    prelude::*,
    pybacked::PyBackedBytes,
    types::{PyByteArray, PyDict, PyMemoryView},
};

use crate::{
    capsule::capsule,
    error::{raised, refused},
    unsettled::{self, Unsettled},
};

/// A type of elements: NumPy's name for it, and how the array interface writes it.
struct Named {
    dtype: DType,
    name: &'static str,
    typestr: &'static str,
}

const fn named(dtype: DType, name: &'static str, typestr: &'static str) -> Named {
    Named {
        dtype,
        name,
        typestr,
    }
}

const NAMES: &[Named] = &[
    named(DType::Bool, "bool", "|b1"),
    named(DType::Int8, "int8", "|i1"),
    named(DType::UInt8, "uint8", "|u1"),
    named(DType::Int16, "int16", "<i2"),
    named(DType::UInt16, "uint16", "<u2"),
    named(DType::Int32, "int32", "<i4"),
    named(DType::UInt32, "uint32", "<u4"),
    named(DType::Int64, "int64", "<i8"),
    named(DType::UInt64, "uint64", "<u8"),
    named(DType::Float16, "float16", "<f2"),
    named(DType::Float32, "float32", "<f4"),
    named(DType::Float64, "float64", "<f8"),
    named(DType::Complex64, "complex64", "<c8"),
    named(DType::Complex128, "complex128", "<c16"),
];

/// The type of that name.
pub fn dtype_named(name: &str) -> PyResult<DType> {
    let found = NAMES.iter().find(|named| named.name == name);
    let dtype = found.map(|named| named.dtype);
    dtype.ok_or_else(|| {
        let known: Vec<&str> = NAMES.iter().map(|named| named.name).collect();
        refused(&format!(
            "{name} is no type of elements: known are {}",
            known.join(", ")
        ))
    })
}

fn name_of(dtype: DType) -> PyResult<&'static Named> {
    let found = NAMES.iter().find(|named| named.dtype == dtype);
    found.ok_or_else(|| refused(&format!("{dtype:?} has no name here")))
}

/// An array on the host: its elements in C order.
pub struct HostArray {
    pub dtype: DType,
    pub shape: Vec<u64>,
    bytes: PyBackedBytes,
}

/// The elements of an object with the buffer protocol.
pub fn bytes_of(array: &Bound<'_, PyAny>) -> PyResult<HostArray> {
    let view = PyMemoryView::from(array)?;
    let format: String = view.getattr("format")?.extract()?;
    let bytes: u64 = view.getattr("itemsize")?.extract()?;
    let dtype = of_format(&format, bytes).ok_or_else(|| {
        refused(&format!(
            "elements of format {format} and {bytes} bytes cannot lie on a device"
        ))
    })?;
    Ok(HostArray {
        dtype,
        shape: view.getattr("shape")?.extract()?,
        // In C order whatever the array's own order is.
        bytes: view.call_method0("tobytes")?.extract()?,
    })
}

/// The type of a buffer's elements, by a letter of Python's `struct` module and their length; `Z`
/// before it, as NumPy writes it, for complex numbers.
fn of_format(format: &str, bytes: u64) -> Option<DType> {
    let here = if cfg!(target_endian = "little") {
        ['@', '=', '<']
    } else {
        ['@', '=', '>']
    };
    let letters = format.strip_prefix(here).unwrap_or(format);
    let found = match (letters, bytes) {
        ("?", 1) => DType::Bool,
        ("b", 1) => DType::Int8,
        ("B" | "c", 1) => DType::UInt8,
        ("h", 2) => DType::Int16,
        ("H", 2) => DType::UInt16,
        ("i" | "l" | "q" | "n", 4) => DType::Int32,
        ("I" | "L" | "Q" | "N", 4) => DType::UInt32,
        ("i" | "l" | "q" | "n", 8) => DType::Int64,
        ("I" | "L" | "Q" | "N", 8) => DType::UInt64,
        ("e", 2) => DType::Float16,
        ("f", 4) => DType::Float32,
        ("d", 8) => DType::Float64,
        ("Zf", 8) => DType::Complex64,
        ("Zd", 16) => DType::Complex128,
        _ => return None,
    };
    Some(found)
}

/// The memory of an array, and what is left to do before it goes back to its pool.
struct Memory {
    /// There until the drop.
    buffer: Mutex<Option<memory::Buffer<u8>>>,
    driver: Arc<dyn Driver>,
    /// Others were told the address: their work on it is on streams that the pool does not know.
    is_shared: AtomicBool,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Option<memory::Buffer<u8>>> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the block, which is there.
    fn with<R>(&self, work: impl FnOnce(&mut memory::Buffer<u8>) -> R) -> PyResult<R> {
        let mut buffer = self.lock();
        let buffer = buffer.as_mut().ok_or_else(|| refused(&"it is gone"))?;
        Ok(work(buffer))
    }

    fn share(&self) {
        self.is_shared.store(true, Ordering::Release);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let is_shared = *self.is_shared.get_mut();
        let Some(buffer) = self.lock().take() else {
            return;
        };
        if is_shared && self.driver.info().id.platform != PlatformKind::Host {
            let driver = Arc::clone(&self.driver);
            unsettled::keep(Unsettled { buffer, driver });
        }
    }
}

/// An array in a device's memory, from the pool of the `Gpu` that made it. In C order.
#[pyclass(frozen, module = "core_gpu")]
pub struct Buffer {
    memory: Arc<Memory>,
    stream: Stream,
    dtype: DType,
    shape: Vec<u64>,
    bytes: usize,
}

impl Buffer {
    pub fn new(
        buffer: memory::Buffer<u8>,
        stream: &Stream,
        driver: Arc<dyn Driver>,
        dtype: DType,
        shape: Vec<u64>,
    ) -> Self {
        Self {
            bytes: buffer.len(),
            memory: Arc::new(Memory {
                buffer: Mutex::new(Some(buffer)),
                driver,
                is_shared: AtomicBool::new(false),
            }),
            stream: stream.clone(),
            dtype,
            shape,
        }
    }

    /// Copies elements of the host to it.
    pub fn fill(&self, python: Python<'_>, from: &HostArray) -> PyResult<()> {
        if from.dtype != self.dtype || from.shape != self.shape {
            return Err(refused(&format!(
                "an array of {:?} {:?} does not fit one of {:?} {:?}",
                from.dtype, from.shape, self.dtype, self.shape
            )));
        }
        python.detach(|| {
            let copied = self
                .memory
                .with(|buffer| buffer.upload(&from.bytes, &self.stream))?;
            copied.map_err(raised)
        })
    }

    /// Where its first element is, for code outside of the runtime.
    fn address(&self) -> PyResult<usize> {
        let at = self.memory.with(|buffer| buffer.address())?;
        let on_host = self.memory.driver.host_pointer(at, self.bytes);
        Ok(on_host.unwrap_or(at.get() as usize))
    }

    fn dlpack_device(&self) -> PyResult<dlpack::Device> {
        let info = self.memory.driver.info();
        let ordinal = i32::try_from(info.ordinal).map_err(|why| refused(&why))?;
        match info.id.platform {
            PlatformKind::Host => Ok(dlpack::Device::CPU),
            PlatformKind::Cuda => Ok(dlpack::Device::cuda(ordinal)),
            PlatformKind::Rocm => Ok(dlpack::Device::rocm(ordinal)),
            other => Err(PyBufferError::new_err(format!(
                "memory of {other} has no address that other libraries can use"
            ))),
        }
    }

    /// The address of its tensor as DLPack lays it out. Whatever filled the buffer is waited for, so that
    /// the consumer's stream need not.
    fn export(&self, python: Python<'_>, versioned: bool) -> PyResult<usize> {
        let tensor = Tensor {
            device: self.dlpack_device()?,
            address: self.address()?,
            dtype: self.dtype,
            shape: self.shape.clone(),
        };
        self.settle(python)?;
        let owner = Box::new(Arc::clone(&self.memory));
        let exported = if versioned {
            dlpack::export_versioned(&tensor, false, owner)
        } else {
            dlpack::export(&tensor, owner)
        };
        exported.map_err(|why| PyBufferError::new_err(why.to_string()))
    }

    /// Waits for what fills it, so that any stream of anybody may read it.
    fn settle(&self, python: Python<'_>) -> PyResult<()> {
        self.memory.share();
        python.detach(|| self.stream.synchronize().map_err(raised))
    }
}

#[pymethods]
impl Buffer {
    /// Elements in each dimension.
    #[getter]
    fn shape<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(python, &self.shape)
    }

    /// The type of its elements, by NumPy's name.
    #[getter]
    fn dtype(&self) -> PyResult<&'static str> {
        Ok(name_of(self.dtype)?.name)
    }

    /// Bytes of its elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes
    }

    /// The name of the platform that its memory is of.
    #[getter]
    fn platform(&self) -> &'static str {
        self.memory.driver.info().id.platform.name()
    }

    /// Copies an array of the same type and shape to it.
    fn upload(&self, python: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        self.fill(python, &bytes_of(array)?)
    }

    /// Its elements as bytes on the host, in C order.
    fn download<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        PyByteArray::new_with(python, self.bytes, |to| {
            // Nobody else knows of these bytes yet. Work on the device may want the interpreter's lock.
            python.detach(|| {
                let copied = self
                    .memory
                    .with(|buffer| buffer.download_into(to, &self.stream))?;
                copied.map_err(raised)
            })
        })
    }

    /// Its elements as an array of NumPy's, which must be installed.
    fn to_numpy<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = python.import("numpy")?;
        let bytes = self.download(python)?;
        let flat = numpy.call_method1("frombuffer", (bytes, self.dtype()?))?;
        flat.call_method1("reshape", (self.shape(python)?,))
    }

    /// As `numpy.asarray` asks for it: always a copy.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        python: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            let said = "a device's memory cannot be an array of the host without a copy";
            return Err(pyo3::exceptions::PyValueError::new_err(said));
        }
        let array = self.to_numpy(python)?;
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    /// As the protocol has it: a capsule that a library takes.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        python: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Its work is over when the capsule is there, whatever stream it goes to.
        let _ = stream;
        let here = self.__dlpack_device__()?;
        if dl_device.is_some_and(|wanted| wanted != here) {
            let said = "it stays on its device: download it instead";
            return Err(PyBufferError::new_err(said));
        }
        if copy == Some(true) {
            let said = "a copy is not made here: upload or download one";
            return Err(PyBufferError::new_err(said));
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= dlpack::VERSION.0);
        let address = self.export(python, versioned)?;
        capsule(python, address, versioned)
    }

    /// The kind and number of its device, as DLPack counts them.
    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        let device = self.dlpack_device()?;
        Ok((device.kind, device.ordinal))
    }

    /// For Numba, CuPy and others: where its memory is. Only CUDA devices have it.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if self.memory.driver.info().id.platform != PlatformKind::Cuda {
            return Err(PyAttributeError::new_err("__cuda_array_interface__"));
        }
        self.settle(python)?;
        let interface = PyDict::new(python);
        interface.set_item("shape", self.shape(python)?)?;
        interface.set_item("typestr", name_of(self.dtype)?.typestr)?;
        interface.set_item("data", (self.address()?, false))?;
        interface.set_item("strides", python.None())?;
        interface.set_item("stream", python.None())?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    fn __len__(&self) -> PyResult<usize> {
        let first = self.shape.first();
        let first = first.ok_or_else(|| {
            pyo3::exceptions::PyTypeError::new_err("an array without dimensions has no length")
        })?;
        usize::try_from(*first).map_err(|why| refused(&why))
    }

    fn __repr__(&self) -> PyResult<String> {
        let dtype = self.dtype()?;
        Ok(format!(
            "<Buffer {:?} {dtype} on {}>",
            self.shape,
            self.platform()
        ))
    }
}

/// Blocks that other libraries hold of pools that are their allocators, and the bytes of these.
#[pyfunction]
fn allocator_held() -> (usize, u64) {
    memory::allocator::held()
}

/// How many exported tensors their consumers still have.
#[pyfunction]
fn dlpack_exports() -> usize {
    dlpack::count()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Buffer>()?;
    module.add_function(wrap_pyfunction!(allocator_held, module)?)?;
    module.add_function(wrap_pyfunction!(dlpack_exports, module)?)
}
