//! Slots on devices, shared by all processes of a machine; and the process's registry of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use core_gpu::{
    configuration::Configuration,
    platform::Platforms,
    registry::registry,
    slots::{FileSlots, Request, SlotGuard, SlotStore, Wanted},
};
use pyo3::prelude::*;

use crate::{
    deadline,
    detection::Device,
    error::{raised, refused},
    to_python,
};

/// A slot on a device, held until it is released: a context manager.
#[pyclass(frozen, module = "core_gpu")]
pub struct Slot {
    guard: Mutex<Option<SlotGuard>>,
    number: u32,
}

impl Slot {
    fn new(guard: SlotGuard) -> Self {
        Self {
            number: guard.slot(),
            guard: Mutex::new(Some(guard)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<SlotGuard>> {
        self.guard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Slot {
    /// Which of the device's slots it is.
    #[getter]
    fn number(&self) -> u32 {
        self.number
    }

    /// Whether it is still held.
    #[getter]
    fn held(&self) -> bool {
        self.lock().is_some()
    }

    /// Notes that the device has worked for the holder for so many seconds, for those who ask who
    /// holds it and how busy they are.
    fn note_use(&self, seconds: f64) -> PyResult<()> {
        let time = std::time::Duration::try_from_secs_f64(seconds).map_err(|why| refused(&why))?;
        match self.lock().as_mut() {
            Some(guard) => guard.note_use(time).map_err(raised),
            None => Err(refused(&"the slot was released")),
        }
    }

    /// Gives it back. A second call does nothing.
    fn release(&self, python: Python<'_>) -> PyResult<()> {
        python.detach(|| {
            let guard = self.lock().take();
            guard.map_or(Ok(()), |guard| guard.release().map_err(raised))
        })
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        python: Python<'_>,
        _kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.release(python)
    }
}

fn store(directory: Option<std::path::PathBuf>) -> PyResult<FileSlots> {
    let directory = match directory {
        Some(directory) => directory,
        None => {
            Configuration::from_environment()
                .map_err(raised)?
                .slot_directory
        }
    };
    Ok(FileSlots::new(directory))
}

/// Takes one of `slots` slots on a device, and `claim_bytes` of its memory with it; waits so many
/// seconds for one, for ever where nothing is said. All who share a device say the same `slots`.
#[pyfunction]
#[pyo3(signature = (device, slots, *, claim_bytes = 0, budget_bytes = None, wait_seconds = None, directory = None))]
fn acquire_slot(
    python: Python<'_>,
    device: &Device,
    slots: u32,
    claim_bytes: u64,
    budget_bytes: Option<u64>,
    wait_seconds: Option<f64>,
    directory: Option<std::path::PathBuf>,
) -> PyResult<Slot> {
    let store: Arc<dyn SlotStore> = Arc::new(store(directory)?);
    let request = Request::default()
        .or_within(Wanted {
            device: device.id(),
            slots,
            budget_bytes: budget_bytes.unwrap_or_else(|| device.total_bytes()),
        })
        .with_bytes(claim_bytes);
    let by = deadline(wait_seconds)?;
    python.detach(|| {
        let guard = SlotGuard::acquire(&store, &request, by).map_err(raised)?;
        Ok(Slot::new(guard))
    })
}

/// Who holds slots of a device, as dictionaries.
#[pyfunction]
#[pyo3(signature = (device, *, directory = None))]
fn slot_holders<'py>(
    python: Python<'py>,
    device: &Device,
    directory: Option<std::path::PathBuf>,
) -> PyResult<Bound<'py, PyAny>> {
    let holders = store(directory)?.holders(&device.id()).map_err(raised)?;
    to_python(python, &holders)
}

/// Finds the devices of the preferred platform once for the process, and how many pipelines may run on
/// each. Returns what `registry_status` does.
#[pyfunction]
fn initialize_registry(python: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let status = python.detach(|| {
        let settings = Configuration::from_environment().map_err(raised)?;
        let found = registry().initialize(&settings, Platforms::system());
        found.map_err(raised)
    })?;
    to_python(python, &status)
}

/// The registry's devices and how many pipelines run on each, as dictionaries.
#[pyfunction]
fn registry_status(python: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let status = python.detach(|| registry().status().map_err(raised))?;
    to_python(python, &status)
}

/// Takes a slot on any device of the registry.
#[pyfunction]
fn acquire_any(python: Python<'_>) -> PyResult<Slot> {
    python.detach(|| registry().acquire_any().map(Slot::new).map_err(raised))
}

/// Takes no more pipelines on a device, and says why to those who ask.
#[pyfunction]
fn quarantine(device: &Device, why: &str) -> PyResult<()> {
    registry().quarantine(&device.id(), why).map_err(raised)
}

/// Lets pipelines run on it again.
#[pyfunction]
fn readmit(device: &Device) -> PyResult<()> {
    registry().readmit(&device.id()).map_err(raised)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Slot>()?;
    module.add_function(wrap_pyfunction!(acquire_slot, module)?)?;
    module.add_function(wrap_pyfunction!(slot_holders, module)?)?;
    module.add_function(wrap_pyfunction!(initialize_registry, module)?)?;
    module.add_function(wrap_pyfunction!(registry_status, module)?)?;
    module.add_function(wrap_pyfunction!(acquire_any, module)?)?;
    module.add_function(wrap_pyfunction!(quarantine, module)?)?;
    module.add_function(wrap_pyfunction!(readmit, module)?)
}
