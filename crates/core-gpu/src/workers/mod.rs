//! Tasks in processes of their own: one that crashes, hangs or eats memory takes nobody with it.
//!
//! A task is a function with a name. A worker is this program started anew, which serves tasks
//! instead of doing what it else does, if [`run_if_worker`] comes first in `main`; or any program
//! that speaks the same protocol ([`protocol_of_workers`]). One worker runs one task at a time.
//!
//! - A worker that is another build than its pool is refused.
//! - A task beyond its deadline, or cancelled, is killed with all processes of its group.
//! - Workers die with the process that started them, on Linux; what they start themselves and put
//!   into no group of its own dies with a kill of theirs, not with the starter's.
//! - A task is run again only where [`Retry::Once`] says that it may be.
//! - Giving tasks waits while too many wait already.
//!
//! Only systems of the Unix family have it.
//!
//! ```no_run
//! use core_gpu::workers::{TaskCall, TaskRegistry, WorkerCommand, WorkerPool, run_if_worker};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = TaskRegistry::new()
//!     .task("double", |number: u64| number.checked_mul(2).ok_or("too large"));
//! run_if_worker(&registry);
//! let pool = WorkerPool::builder(WorkerCommand::this_program()?).workers(4).build()?;
//! let job = pool.submit(TaskCall::new("double", &21_u64)?)?;
//! assert_eq!(job.value::<u64>()?, 42);
//! # Ok(())
//! # }
//! ```

mod command;
mod error;
mod job;
mod pool;
pub(crate) mod process;
mod protocol;
mod registry;

/// The protocol, for workers in other languages.
///
/// A pool starts the program with one end of a pair of sockets as descriptor 0, and speaks first.
/// A frame is its length (4 bytes, without themselves), a letter, and a body. Numbers have the
/// lowest byte first.
///
/// | letter | from | body |
/// | --- | --- | --- |
/// | `H` | both | JSON. The pool: `protocol` (1), `build` (empty: any), `worker` (its number). The worker: `protocol`, `build`, `process` |
/// | `T` | pool | number (8 bytes), length of the name (2 bytes), name, input |
/// | `R` | worker | number, output |
/// | `E` | worker | number, one letter (`f`ailed, `p`anicked, `u`nknown task), text |
///
/// The end of the stream is the worker's end. `examples/worker.py` is a worker.
pub mod protocol_of_workers {
    pub use super::protocol::PROTOCOL;
}

pub use command::WorkerCommand;
pub use error::{StartError, SubmitError, TaskError};
pub use job::{Job, Retry, TaskCall};
pub use pool::{Ordered, WorkerPool, WorkerPoolBuilder};
pub use registry::{TaskRegistry, run_if_worker};
