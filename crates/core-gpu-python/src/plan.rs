//! The devices of a plan's steps, settled before it runs.

use core_gpu::{
    assignment::{Assigner, AssignmentPolicy, Libraries, Plan, candidates},
    devices::DeviceManager,
    registry::registry,
};
use pyo3::prelude::*;

use crate::{
    error::{failed, raised, refused},
    to_python,
};

/// Settles the device of a plan: `{"name": …, "steps": [{"name": …, "input": …, "output": …, "bytes": …,
/// "libraries": […]}]}`, memory types by their names. The registry must be initialised. `libraries` are
/// those that are installed. Returns the assignment as a dictionary.
#[pyfunction]
#[pyo3(signature = (plan, *, libraries = None, policy = "least-loaded"))]
fn assign<'py>(
    python: Python<'py>,
    plan: &Bound<'py, PyAny>,
    libraries: Option<Vec<String>>,
    policy: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let text: String = python
        .import("json")?
        .call_method1("dumps", (plan,))?
        .extract()?;
    let plan: Plan = serde_json::from_str(&text).map_err(|why| refused(&why))?;
    let policy = policy_named(policy)?;
    let libraries = libraries.unwrap_or_default();
    let assignment = python.detach(|| {
        let manager = DeviceManager::from_environment().map_err(raised)?;
        let status = registry().status().map_err(raised)?;
        let devices = candidates(&status, &manager.memory_info());
        let installed = Libraries::these(libraries.iter().map(String::as_str));
        Assigner::new(policy)
            .assign(&plan, &devices, &installed)
            .map_err(|why| failed(&why))
    })?;
    to_python(python, &assignment)
}

/// How to choose among the devices that would do.
fn policy_named(name: &str) -> PyResult<AssignmentPolicy> {
    match name {
        "first-available" => Ok(AssignmentPolicy::FirstAvailable),
        "least-loaded" => Ok(AssignmentPolicy::LeastLoaded),
        "most-free" => Ok(AssignmentPolicy::MostFree),
        "round-robin" => Ok(AssignmentPolicy::RoundRobin),
        _ => Err(refused(&format!(
            "{name} is no policy: known are first-available, least-loaded, most-free, round-robin"
        ))),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(assign, module)?)
}
