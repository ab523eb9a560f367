//! One process or several, on one device or several.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use core_gpu::{
    strategies::{GpuStrategy, StrategyConfig, auto_select_strategy as select},
    workers::WorkerPool as Pool,
};
use pyo3::prelude::*;

use crate::{
    error::{raised, refused},
    to_python,
    workers::{WorkerPool, command},
};

/// A way to spread work over devices and processes.
#[pyclass(frozen, module = "core_gpu")]
pub struct Strategy(Mutex<Box<dyn GpuStrategy>>);

impl Strategy {
    fn lock(&self) -> MutexGuard<'_, Box<dyn GpuStrategy>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Strategy {
    /// Its name.
    #[getter]
    fn backend(&self) -> String {
        self.lock().backend().to_owned()
    }

    /// How many workers there are.
    #[getter]
    fn num_workers(&self) -> usize {
        self.lock().num_workers()
    }

    /// Looks for what it needs, and opens what its workers find each other through.
    fn initialize(&self, python: Python<'_>) -> PyResult<()> {
        python.detach(|| self.lock().initialize().map_err(raised))
    }

    /// The device of a worker, by the worker's number, and what its environment must have.
    fn device_for_worker<'py>(
        &self,
        python: Python<'py>,
        worker: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let device = self.lock().device_for_worker(worker).map_err(raised)?;
        to_python(python, &device)
    }

    /// Starts its workers as `program` with `arguments`.
    #[pyo3(signature = (program, arguments, *, variables = None, most_bytes = None))]
    fn _start_workers(
        &self,
        python: Python<'_>,
        program: PathBuf,
        arguments: Vec<String>,
        variables: Option<Vec<(String, String)>>,
        most_bytes: Option<u64>,
    ) -> PyResult<WorkerPool> {
        let mut builder = Pool::builder(command(program, arguments, variables));
        if let Some(most) = most_bytes {
            builder = builder.most_bytes(most);
        }
        python.detach(|| {
            let pool = self.lock().start_workers(builder).map_err(raised)?;
            Ok(WorkerPool::new(pool))
        })
    }

    /// Closes what it opened.
    fn cleanup(&self, python: Python<'_>) -> PyResult<()> {
        python.detach(|| self.lock().cleanup().map_err(raised))
    }
}

/// The strategy for what there is, or the one of that name. What is not said is as the settings say.
#[pyfunction]
#[pyo3(signature = (strategy = None, *, devices = None, workers_per_gpu = None, cpu_workers = None, memory_threshold = None))]
fn auto_select_strategy(
    python: Python<'_>,
    strategy: Option<String>,
    devices: Option<Vec<String>>,
    workers_per_gpu: Option<usize>,
    cpu_workers: Option<usize>,
    memory_threshold: Option<f64>,
) -> PyResult<Strategy> {
    let mut config = StrategyConfig::from_environment().map_err(raised)?;
    if let Some(strategy) = strategy {
        config.strategy = strategy;
    }
    if let Some(devices) = devices {
        let names = devices.iter().map(|name| name.parse());
        let names: Result<Vec<_>, core_gpu::platform::NameError> = names.collect();
        config.devices = Some(names.map_err(|why| refused(&why))?);
    }
    config.workers_per_gpu = workers_per_gpu.unwrap_or(config.workers_per_gpu);
    config.cpu_workers = cpu_workers.or(config.cpu_workers);
    config.memory_threshold = memory_threshold.unwrap_or(config.memory_threshold);
    python.detach(|| Ok(Strategy(Mutex::new(select(config).map_err(raised)?))))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Strategy>()?;
    module.add_function(wrap_pyfunction!(auto_select_strategy, module)?)
}
