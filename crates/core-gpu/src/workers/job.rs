//! A task that was given to a pool: what it is, how it stands, and who waits for it.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use serde::de::DeserializeOwned;

use super::{error::TaskError, pool::Seat};

/// Whether a task is given to another worker when its worker dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry {
    /// No: the task may have had effects.
    #[default]
    Never,
    /// One more time: the task may run twice. Only for a worker that died by itself; a deadline is
    /// not followed by another.
    Once,
}

/// A task and how it is to be run.
#[derive(Clone, Debug)]
pub struct TaskCall {
    pub(super) task: String,
    pub(super) input: Arc<[u8]>,
    pub(super) deadline: Option<Duration>,
    pub(super) retry: Retry,
}

impl TaskCall {
    /// A call of a task of bytes.
    #[must_use]
    pub fn bytes(task: &str, input: impl Into<Arc<[u8]>>) -> Self {
        Self {
            task: task.to_owned(),
            input: input.into(),
            deadline: None,
            retry: Retry::Never,
        }
    }

    /// A call of a task whose input travels as JSON.
    ///
    /// # Errors
    /// [`TaskError::Value`] when JSON cannot carry it.
    pub fn new(task: &str, input: &impl serde::Serialize) -> Result<Self, TaskError> {
        let input = serde_json::to_vec(input).map_err(|error| TaskError::Value {
            task: task.to_owned(),
            message: format!("the input cannot be written: {error}"),
        })?;
        Ok(Self::bytes(task, input))
    }

    /// How long the task may run, from when a worker gets it; the pool's own limit otherwise.
    #[must_use]
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// Whether it is run again when its worker dies.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }
}

#[derive(Debug, Default)]
enum Stand {
    #[default]
    Waiting,
    Running(Weak<Seat>),
    Done(Result<Vec<u8>, TaskError>),
    Taken,
}

#[derive(Debug)]
pub struct JobCore {
    pub number: u64,
    pub call: TaskCall,
    stand: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    stand: Stand,
    cancelled: bool,
}

impl JobCore {
    pub fn new(number: u64, call: TaskCall) -> Arc<Self> {
        Arc::new(Self {
            number,
            call,
            stand: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.stand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn task(&self) -> String {
        self.call.task.clone()
    }

    pub fn is_cancelled(&self) -> bool {
        self.lock().cancelled
    }

    /// The worker that has it from now on. Not when it was cancelled.
    pub fn begin(&self, seat: &Arc<Seat>) -> bool {
        let mut state = self.lock();
        if state.cancelled {
            return false;
        }
        state.stand = Stand::Running(Arc::downgrade(seat));
        true
    }

    pub fn finish(&self, result: Result<Vec<u8>, TaskError>) {
        let mut state = self.lock();
        if matches!(state.stand, Stand::Done(_) | Stand::Taken) {
            return;
        }
        state.stand = Stand::Done(result);
        drop(state);
        self.changed.notify_all();
    }
}

/// A task that was given to a pool. Dropping it does not cancel it.
#[derive(Debug)]
pub struct Job(pub(super) Arc<JobCore>);

impl Job {
    /// Waits for the result, as bytes.
    ///
    /// # Errors
    /// See [`TaskError`].
    pub fn wait(self) -> Result<Vec<u8>, TaskError> {
        let mut state = self.0.lock();
        loop {
            if let Stand::Done(_) = state.stand {
                return taken(&mut state);
            }
            let woken = self.0.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the result of a task whose output travels as JSON.
    ///
    /// # Errors
    /// See [`TaskError`].
    pub fn value<O: DeserializeOwned>(self) -> Result<O, TaskError> {
        let task = self.0.task();
        let bytes = self.wait()?;
        serde_json::from_slice(&bytes).map_err(|error| TaskError::Value {
            task,
            message: format!("the output is not what was expected: {error}"),
        })
    }

    /// Waits so long at most. Gives the job back when it is not done.
    ///
    /// # Errors
    /// The job itself.
    pub fn wait_for(self, limit: Duration) -> Result<Result<Vec<u8>, TaskError>, Self> {
        let until = Instant::now().checked_add(limit);
        let mut state = self.0.lock();
        loop {
            if let Stand::Done(_) = state.stand {
                return Ok(taken(&mut state));
            }
            let left = until.map_or(Duration::MAX, |until| {
                until.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                drop(state);
                return Err(self);
            }
            let woken = self.0.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether the result is there.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.0.lock().stand, Stand::Done(_))
    }

    /// Ends it: one that waits never begins; the worker of one that runs is killed with all of its
    /// group. Nothing happens to one that is done.
    pub fn cancel(&self) {
        let running = {
            let mut state = self.0.lock();
            if matches!(state.stand, Stand::Done(_) | Stand::Taken) {
                return;
            }
            state.cancelled = true;
            match &state.stand {
                Stand::Running(seat) => seat.upgrade(),
                _ => None,
            }
        };
        match running {
            Some(seat) => seat.kill_if_running(self.0.number),
            None => self.0.finish(Err(TaskError::Cancelled {
                task: self.0.task(),
            })),
        }
    }
}

fn taken(state: &mut State) -> Result<Vec<u8>, TaskError> {
    match std::mem::replace(&mut state.stand, Stand::Taken) {
        Stand::Done(result) => result,
        _ => unreachable!("invariant: only asked for when it is done"),
    }
}
