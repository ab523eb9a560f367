//! Worker processes, as bytes in and bytes out; `core_gpu.workers` makes Python values of them.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError, RwLock},
    time::Duration,
};

use core_gpu::workers::{Job as Running, Retry, TaskCall, WorkerCommand, WorkerPool as Pool};
use pyo3::{prelude::*, types::PyBytes};

use crate::error::{failed, refused};

/// A pool of worker processes.
#[pyclass(frozen, module = "core_gpu", name = "_WorkerPool")]
pub struct WorkerPool {
    /// None once it is closed.
    pool: RwLock<Option<Pool>>,
}

impl WorkerPool {
    pub fn new(pool: Pool) -> Self {
        Self {
            pool: RwLock::new(Some(pool)),
        }
    }

    fn with<R>(&self, work: impl FnOnce(&Pool) -> PyResult<R>) -> PyResult<R> {
        let pool = self.pool.read().unwrap_or_else(PoisonError::into_inner);
        work(
            pool.as_ref()
                .ok_or_else(|| refused(&"the pool is closed"))?,
        )
    }
}

/// A task that was given to a pool.
#[pyclass(frozen, module = "core_gpu", name = "_Job")]
pub struct Job {
    running: Mutex<Option<Running>>,
}

#[pymethods]
impl WorkerPool {
    /// A pool of `workers` processes, each of which runs `program` with `arguments`. `variables` are set
    /// for all, those of `of_worker` for one by its number.
    #[new]
    #[pyo3(signature = (program, arguments, workers, *, variables = None, of_worker = None, most_bytes = None))]
    fn start(
        python: Python<'_>,
        program: PathBuf,
        arguments: Vec<String>,
        workers: usize,
        variables: Option<Vec<(String, String)>>,
        of_worker: Option<Vec<Vec<(String, String)>>>,
        most_bytes: Option<u64>,
    ) -> PyResult<Self> {
        let command = command(program, arguments, variables);
        let mut builder = Pool::builder(command).workers(workers);
        if let Some(told) = of_worker {
            builder =
                builder.variables(move |worker| told.get(worker).cloned().unwrap_or_default());
        }
        if let Some(most) = most_bytes {
            builder = builder.most_bytes(most);
        }
        let pool = python
            .detach(|| builder.build())
            .map_err(|why| failed(&why))?;
        Ok(Self::new(pool))
    }

    /// How many workers there are.
    #[getter]
    fn workers(&self) -> PyResult<usize> {
        self.with(|pool| Ok(pool.workers()))
    }

    /// The processes of the workers that run now.
    #[getter]
    fn processes(&self) -> PyResult<Vec<Option<u32>>> {
        self.with(|pool| Ok(pool.processes()))
    }

    /// Gives a task to the next worker that is free; waits while too many wait.
    #[pyo3(signature = (task, input, *, deadline_seconds = None, retry = false))]
    fn submit(
        &self,
        python: Python<'_>,
        task: &str,
        input: &[u8],
        deadline_seconds: Option<f64>,
        retry: bool,
    ) -> PyResult<Job> {
        let mut call = TaskCall::bytes(task, input);
        if let Some(seconds) = deadline_seconds {
            let limit = Duration::try_from_secs_f64(seconds).map_err(|why| refused(&why))?;
            call = call.deadline(limit);
        }
        if retry {
            call = call.retry(Retry::Once);
        }
        python.detach(|| {
            let running = self.with(|pool| pool.submit(call).map_err(|why| failed(&why)))?;
            Ok(Job {
                running: Mutex::new(Some(running)),
            })
        })
    }

    /// Waits for what was submitted, and ends the workers. A second call does nothing.
    fn close(&self, python: Python<'_>) {
        python.detach(|| {
            let pool = self
                .pool
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            if let Some(pool) = pool {
                pool.finish();
            }
        });
    }
}

/// What a worker is started as.
pub fn command(
    program: PathBuf,
    arguments: Vec<String>,
    variables: Option<Vec<(String, String)>>,
) -> WorkerCommand {
    let mut command = WorkerCommand::new(program);
    for argument in arguments {
        command = command.argument(argument);
    }
    for (name, value) in variables.unwrap_or_default() {
        command = command.variable(name, value);
    }
    command
}

#[pymethods]
impl Job {
    /// Waits for the answer, once.
    fn wait<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let answer = python.detach(|| {
            let running = self
                .running
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            let running = running.ok_or_else(|| refused(&"its answer was taken already"))?;
            running.wait().map_err(|why| failed(&why))
        })?;
        Ok(PyBytes::new(python, &answer))
    }

    /// Whether the answer is there.
    #[getter]
    fn done(&self) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.as_ref().is_none_or(Running::is_done)
    }

    /// Ends it: the worker that runs it is killed and started anew.
    fn cancel(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = running.as_ref() {
            running.cancel();
        }
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<WorkerPool>()?;
    module.add_class::<Job>()
}
