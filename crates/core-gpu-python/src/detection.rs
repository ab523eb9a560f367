//! Which devices there are.

use core_gpu::{
    devices::{AvailableDevices, DeviceManager, ResolvedDevice},
    platform::DeviceName,
};
use pyo3::prelude::*;

use crate::{error::raised, to_python};

/// A device of this machine.
#[derive(Clone)]
#[pyclass(frozen, module = "core_gpu")]
pub struct Device {
    found: ResolvedDevice,
}

impl From<ResolvedDevice> for Device {
    fn from(found: ResolvedDevice) -> Self {
        Self { found }
    }
}

impl Device {
    pub fn name(&self) -> &DeviceName {
        &self.found.name
    }

    pub fn ordinal(&self) -> u32 {
        self.found.info.ordinal
    }

    pub fn id(&self) -> core_gpu::driver::DeviceId {
        self.found.info.id
    }
}

#[pymethods]
impl Device {
    /// Its name by number, such as `cuda:0`.
    #[getter(name)]
    fn name_text(&self) -> String {
        self.found.name.to_string()
    }

    /// `cuda`, `rocm`, `metal`, `vulkan` or `cpu`'s `host`.
    #[getter]
    fn platform(&self) -> &'static str {
        self.found.info.id.platform.name()
    }

    /// The maker's name for it.
    #[getter]
    fn model(&self) -> &str {
        &self.found.info.name
    }

    /// Bytes of memory that it has in all.
    #[getter]
    pub fn total_bytes(&self) -> u64 {
        self.found.info.total_bytes
    }

    /// Major and minor compute capability; zeros where there is none.
    #[getter]
    fn compute_capability(&self) -> (u32, u32) {
        self.found.info.compute_capability
    }

    /// Whether it is not the processor.
    #[getter]
    fn is_gpu(&self) -> bool {
        self.found.info.id.platform != core_gpu::driver::PlatformKind::Host
    }

    /// Why it is not the device that was asked for, where it is not.
    #[getter]
    fn instead(&self) -> Option<String> {
        self.found.instead.as_ref().map(ToString::to_string)
    }

    /// All that is known of it.
    fn to_dict<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(python, &self.found)
    }

    fn __repr__(&self) -> String {
        format!("<Device {}: {}>", self.found.name, self.found.info.name)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.found == other.found
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        self.found.info.id.hash(&mut hasher);
        hasher.finish()
    }
}

/// What `detect()` found.
#[pyclass(frozen, module = "core_gpu")]
pub struct Detection(AvailableDevices);

#[pymethods]
impl Detection {
    /// All devices in the order of preference, the processor last.
    #[getter]
    fn devices(&self) -> Vec<Device> {
        self.0.devices.iter().cloned().map(Device::from).collect()
    }

    /// The name of the one to take where nothing speaks for another.
    #[getter]
    fn recommended(&self) -> String {
        self.0.recommended_device.to_string()
    }

    /// The platforms that are not there, each with the reason.
    #[getter]
    fn unavailable(&self) -> std::collections::BTreeMap<&'static str, String> {
        let all = self.0.unavailable.iter();
        all.map(|(kind, why)| (kind.name(), why.to_string()))
            .collect()
    }

    /// All that is known, as dictionaries and lists.
    fn to_dict<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(python, &self.0)
    }

    fn __repr__(&self) -> String {
        let count = self.0.devices.len();
        format!(
            "<Detection: {count} devices, recommended {}>",
            self.0.recommended_device
        )
    }
}

fn manager() -> PyResult<DeviceManager> {
    DeviceManager::from_environment().map_err(raised)
}

/// Looks for devices, once a process; every platform has its reason where it is not there.
#[pyfunction]
fn detect(python: Python<'_>) -> PyResult<Detection> {
    python.detach(|| Ok(Detection(manager()?.available_devices())))
}

/// The devices that `detect` finds.
#[pyfunction]
fn devices(python: Python<'_>) -> PyResult<Vec<Device>> {
    Ok(detect(python)?.devices())
}

/// Memory of the host and of every device, in bytes, as dictionaries.
#[pyfunction]
fn memory_info(python: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let report = python.detach(|| PyResult::Ok(manager()?.memory_info()))?;
    to_python(python, &report)
}

/// Whether there is a device besides the processor.
#[pyfunction]
fn is_gpu_available(python: Python<'_>) -> bool {
    python.detach(core_gpu::accelerate::is_gpu_available)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Device>()?;
    module.add_class::<Detection>()?;
    module.add_function(wrap_pyfunction!(detect, module)?)?;
    module.add_function(wrap_pyfunction!(devices, module)?)?;
    module.add_function(wrap_pyfunction!(memory_info, module)?)?;
    module.add_function(wrap_pyfunction!(is_gpu_available, module)?)
}
