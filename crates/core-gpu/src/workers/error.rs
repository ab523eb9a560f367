//! What can go wrong with workers and their tasks.

use std::time::Duration;

/// Why a task has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The task's function answered with an error.
    #[error("task `{task}` failed: {message}")]
    Failed {
        /// Its name.
        task: String,
        /// What it said.
        message: String,
    },
    /// The task's function panicked. Its worker was replaced.
    #[error("task `{task}` panicked: {message}")]
    Panicked {
        /// Its name.
        task: String,
        /// What the panic said.
        message: String,
    },
    /// The worker knows no task of that name.
    #[error("the worker has no task `{task}`")]
    Unknown {
        /// The name.
        task: String,
    },
    /// The worker's process ended. With [`super::Retry::Once`] this is the second time.
    #[error("the worker of task `{task}` died: {how}")]
    Died {
        /// The task's name.
        task: String,
        /// Its exit status or signal.
        how: String,
    },
    /// The task took too long; the worker and all processes of its group were killed.
    #[error("task `{task}` was not done within {limit:?}")]
    Deadline {
        /// The task's name.
        task: String,
        /// The limit.
        limit: Duration,
    },
    /// Somebody cancelled the task.
    #[error("task `{task}` was cancelled")]
    Cancelled {
        /// The task's name.
        task: String,
    },
    /// The pool was dropped before the task began.
    #[error("the pool was closed before task `{task}` began")]
    Closed {
        /// The task's name.
        task: String,
    },
    /// The worker could not be started.
    #[error("no worker for task `{task}`: {error}")]
    Start {
        /// The task's name.
        task: String,
        /// Why not.
        error: StartError,
    },
    /// The input or output is larger than a frame may be.
    #[error(
        "{bytes} bytes for or from task `{task}` are more than the {most} that a frame may have"
    )]
    TooLarge {
        /// The task's name.
        task: String,
        /// Their length.
        bytes: u64,
        /// What is allowed.
        most: u64,
    },
    /// The input cannot be written as JSON, or the output cannot be read.
    #[error("task `{task}`: {message}")]
    Value {
        /// The task's name.
        task: String,
        /// What is wrong with it.
        message: String,
    },
}

/// Why a task was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// As many tasks wait as may wait.
    #[error("{waiting} tasks wait already")]
    Full {
        /// How many.
        waiting: usize,
    },
    /// The input cannot be sent.
    #[error(transparent)]
    Task(#[from] TaskError),
}

/// Why a worker did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The operating system did not start it.
    #[error("`{program}` was not started: {error}")]
    Spawn {
        /// The program.
        program: String,
        /// What the system said.
        error: String,
    },
    /// It did not greet in time, or ended before it did.
    #[error("`{program}` did not greet: {why}. Does it call `run_if_worker` first?")]
    Silent {
        /// The program.
        program: String,
        /// What it did.
        why: String,
    },
    /// It is another build than it should be.
    #[error("the worker is build `{theirs}`, not `{ours}`")]
    Build {
        /// The build that was expected.
        ours: String,
        /// The build that it is.
        theirs: String,
    },
    /// It speaks another protocol.
    #[error("the worker speaks protocol {theirs}, not {ours}")]
    Protocol {
        /// Ours.
        ours: u32,
        /// Theirs.
        theirs: u32,
    },
}
