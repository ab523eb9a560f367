//! The pool: a bounded queue, and a thread for each worker that hands tasks on and watches it.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use crate::configuration::WorkerSettings;

use super::{
    command::WorkerCommand,
    error::{StartError, SubmitError, TaskError},
    job::{Job, JobCore, Retry, TaskCall},
    process::{Group, Setup, Worker, settled},
    protocol::{FAILURE, Frame, FrameError, REFUSAL, RESULT, TASK, Until, read_number, task_head},
};

/// What a task may send and get unless it is said, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// How long a worker may take to greet unless it is said.
const GREETING_LIMIT: Duration = Duration::from_secs(30);

/// What variables each worker gets, by its number.
type Variables = dyn Fn(usize) -> Vec<(String, String)> + Send + Sync;

/// Makes a pool.
#[must_use]
pub struct WorkerPoolBuilder {
    command: WorkerCommand,
    workers: usize,
    waiting: Option<usize>,
    deadline: Option<Duration>,
    greeting_limit: Duration,
    most_bytes: u64,
    variables: Option<Arc<Variables>>,
}

impl std::fmt::Debug for WorkerPoolBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerPoolBuilder")
            .field("command", &self.command)
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}

impl WorkerPoolBuilder {
    /// How many workers; one unless it is said, and one at least.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// How many tasks may wait; twice as many as workers unless it is said.
    pub fn waiting(mut self, waiting: usize) -> Self {
        self.waiting = Some(waiting.max(1));
        self
    }

    /// How long a task may run that says nothing itself; without end unless it is said.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// How long a worker may take to start; 30 seconds unless it is said.
    pub fn greeting_limit(mut self, limit: Duration) -> Self {
        self.greeting_limit = limit;
        self
    }

    /// The largest input or output, in bytes; 256 MiB unless it is said, 4 GiB at most.
    pub fn most_bytes(mut self, bytes: u64) -> Self {
        self.most_bytes = bytes.min(u64::from(u32::MAX) - 1);
        self
    }

    /// Variables of the environment for each worker, by its number: which device is its own, for
    /// one.
    pub fn variables(
        mut self,
        variables: impl Fn(usize) -> Vec<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        self.variables = Some(Arc::new(variables));
        self
    }

    /// What the settings say, where they say something.
    pub fn configured(self, settings: &WorkerSettings) -> Self {
        let Self {
            waiting,
            deadline,
            greeting_limit,
            most_bytes,
            ..
        } = self;
        let this = Self {
            waiting: settings.waiting.or(waiting),
            deadline: settings.deadline.or(deadline),
            greeting_limit: settings.greeting_limit.unwrap_or(greeting_limit),
            ..self
        };
        this.most_bytes(settings.most_bytes.unwrap_or(most_bytes))
    }

    /// The pool. Workers start with their first task.
    ///
    /// # Errors
    /// [`StartError::Spawn`] when the system gives no threads.
    pub fn build(self) -> Result<WorkerPool, StartError> {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            changed: Condvar::new(),
            most_waiting: self.waiting.unwrap_or(2 * self.workers),
            most_bytes: self.most_bytes,
            deadline: self.deadline,
            next: AtomicU64::new(1),
            retries: AtomicU64::new(0),
            started: AtomicU64::new(0),
        });
        let mut pool = WorkerPool {
            shared,
            seats: Vec::new(),
            threads: Vec::new(),
        };
        for number in 0..self.workers {
            let variables = self.variables.as_ref();
            let setup = Setup {
                command: self.command.clone(),
                number,
                most_bytes: self.most_bytes,
                greeting_limit: self.greeting_limit,
                variables: variables.map_or_else(Vec::new, |variables| variables(number)),
            };
            pool.add(setup)?;
        }
        Ok(pool)
    }
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Arc<JobCore>>,
    running: usize,
    closed: bool,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    most_waiting: usize,
    most_bytes: u64,
    deadline: Option<Duration>,
    next: AtomicU64,
    retries: AtomicU64,
    started: AtomicU64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task, when there is one; `None` when the pool is closed.
    fn take(&self) -> Option<Arc<JobCore>> {
        let mut queue = self.lock();
        loop {
            if queue.closed {
                return None;
            }
            if let Some(job) = queue.waiting.pop_front() {
                queue.running += 1;
                drop(queue);
                self.changed.notify_all();
                return Some(job);
            }
            let woken = self.changed.wait(queue);
            queue = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self) {
        self.lock().running -= 1;
        self.changed.notify_all();
    }
}

/// A worker's place in a pool: which task it runs, and which process that is.
#[derive(Debug, Default)]
pub struct Seat {
    running: Mutex<Option<u64>>,
    group: Mutex<Option<Arc<Mutex<Group>>>>,
    /// The process was killed for a task that may have ended meanwhile.
    is_killed: AtomicBool,
}

impl Seat {
    /// Kills the worker's group if that task is what it runs.
    pub fn kill_if_running(&self, number: u64) {
        // Held while killing: the worker cannot go on to another task meanwhile. It may have answered
        // already, and must not go on to the next one afterwards either.
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if *running == Some(number) {
            self.is_killed.store(true, Ordering::Relaxed);
            self.kill();
        }
    }

    fn kill(&self) {
        let group = self.group.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = &*group {
            let group = group.lock().unwrap_or_else(PoisonError::into_inner);
            group.kill();
        }
    }

    fn process(&self) -> Option<u32> {
        let group = self.group.lock().unwrap_or_else(PoisonError::into_inner);
        let group = group.as_ref()?;
        group
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .process()
    }

    fn set_running(&self, number: Option<u64>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = number;
    }
}

/// Workers: real processes, each with one task at a time. Any thread may use it. Dropping it kills
/// them; [`WorkerPool::finish`] lets them finish before.
#[derive(Debug)]
pub struct WorkerPool {
    shared: Arc<Shared>,
    seats: Vec<Arc<Seat>>,
    threads: Vec<JoinHandle<()>>,
}

impl WorkerPool {
    /// Makes a pool of workers of that program.
    pub fn builder(command: WorkerCommand) -> WorkerPoolBuilder {
        WorkerPoolBuilder {
            command,
            workers: 1,
            waiting: None,
            deadline: None,
            greeting_limit: GREETING_LIMIT,
            most_bytes: MOST_BYTES,
            variables: None,
        }
    }

    fn add(&mut self, setup: Setup) -> Result<(), StartError> {
        let seat = Arc::new(Seat::default());
        let number = setup.number;
        let mut keeper = Keeper {
            setup,
            seat: Arc::clone(&seat),
            shared: Arc::clone(&self.shared),
            worker: None,
        };
        let thread = std::thread::Builder::new()
            .name(format!("core-gpu-worker-{number}"))
            .spawn(move || keeper.work())
            .map_err(|error| StartError::Spawn {
                program: "a thread".to_owned(),
                error: error.to_string(),
            })?;
        self.seats.push(seat);
        self.threads.push(thread);
        Ok(())
    }

    /// How many workers it has.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.seats.len()
    }

    /// The processes that run now, by worker.
    #[must_use]
    pub fn processes(&self) -> Vec<Option<u32>> {
        self.seats.iter().map(|seat| seat.process()).collect()
    }

    /// How many processes were started, and how many tasks were given to another one.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (
            self.shared.started.load(Ordering::Relaxed),
            self.shared.retries.load(Ordering::Relaxed),
        )
    }

    /// Gives a task to the pool. Waits while too many wait already.
    ///
    /// # Errors
    /// [`TaskError::TooLarge`].
    pub fn submit(&self, call: TaskCall) -> Result<Job, TaskError> {
        let job = self.job(call)?;
        let mut queue = self.shared.lock();
        while queue.waiting.len() >= self.shared.most_waiting {
            let woken = self.shared.changed.wait(queue);
            queue = woken.unwrap_or_else(PoisonError::into_inner);
        }
        Ok(self.enqueue(queue, job))
    }

    /// Gives a task to the pool if not too many wait already.
    ///
    /// # Errors
    /// [`SubmitError::Full`]; [`TaskError::TooLarge`].
    pub fn try_submit(&self, call: TaskCall) -> Result<Job, SubmitError> {
        let job = self.job(call)?;
        let queue = self.shared.lock();
        let waiting = queue.waiting.len();
        if waiting >= self.shared.most_waiting {
            return Err(SubmitError::Full { waiting });
        }
        Ok(self.enqueue(queue, job))
    }

    fn job(&self, call: TaskCall) -> Result<Arc<JobCore>, TaskError> {
        let (bytes, most) = (
            call.input.len() as u64 + call.task.len() as u64 + 10,
            self.shared.most_bytes,
        );
        if bytes > most || call.task.len() > usize::from(u16::MAX) {
            let task = call.task;
            return Err(TaskError::TooLarge { task, bytes, most });
        }
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        Ok(JobCore::new(number, call))
    }

    fn enqueue(&self, mut queue: MutexGuard<'_, Queue>, job: Arc<JobCore>) -> Job {
        queue.waiting.push_back(Arc::clone(&job));
        drop(queue);
        self.shared.changed.notify_all();
        Job(job)
    }

    /// Runs many tasks, and gives their results in the order of the calls. Takes calls only as far
    /// ahead as keeps the workers busy.
    pub fn ordered<C>(&self, calls: C) -> Ordered<'_, C::IntoIter>
    where
        C: IntoIterator<Item = Result<TaskCall, TaskError>>,
    {
        Ordered {
            pool: self,
            calls: calls.into_iter(),
            ahead: VecDeque::new(),
        }
    }

    /// Waits until every task that was given is done, and ends the workers.
    pub fn finish(self) {
        let mut queue = self.shared.lock();
        while !queue.waiting.is_empty() || queue.running > 0 {
            let woken = self.shared.changed.wait(queue);
            queue = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        let waiting = {
            let mut queue = self.shared.lock();
            queue.closed = true;
            std::mem::take(&mut queue.waiting)
        };
        self.shared.changed.notify_all();
        for job in waiting {
            job.finish(Err(TaskError::Closed { task: job.task() }));
        }
        for seat in &self.seats {
            seat.kill();
        }
        for thread in self.threads.drain(..) {
            // A keeper that panicked has lost its task already, and there is nobody to tell.
            let _ = thread.join();
        }
    }
}

/// Results in the order of their calls.
#[derive(Debug)]
pub struct Ordered<'p, C> {
    pool: &'p WorkerPool,
    calls: C,
    ahead: VecDeque<Result<Job, TaskError>>,
}

impl<C: Iterator<Item = Result<TaskCall, TaskError>>> Iterator for Ordered<'_, C> {
    type Item = Result<Vec<u8>, TaskError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ahead.len() < 2 * self.pool.workers() {
            let Some(call) = self.calls.next() else { break };
            let job = call.and_then(|call| self.pool.submit(call));
            self.ahead.push_back(job);
        }
        Some(self.ahead.pop_front()?.and_then(Job::wait))
    }
}

/// A worker's thread: starts its process when there is something to do, and again when it died.
struct Keeper {
    setup: Setup,
    seat: Arc<Seat>,
    shared: Arc<Shared>,
    worker: Option<Worker>,
}

/// How asking a worker went wrong.
enum Trouble {
    /// The task's own; the worker goes on.
    Task(TaskError),
    /// The worker is no more.
    Dead(TaskError),
    /// It died by itself, and another may do better.
    Died(String),
}

impl Keeper {
    fn work(&mut self) {
        while let Some(job) = self.shared.take() {
            let result = self.run(&job);
            self.seat.set_running(None);
            if self.seat.is_killed.swap(false, Ordering::Relaxed) {
                self.discard();
            }
            job.finish(result);
            self.shared.done();
        }
        if let Some(worker) = self.worker.take() {
            worker.bury();
        }
    }

    fn run(&mut self, job: &Arc<JobCore>) -> Result<Vec<u8>, TaskError> {
        let mut retry = job.call.retry;
        self.seat.set_running(Some(job.number));
        let cancelled = || TaskError::Cancelled { task: job.task() };
        if !job.begin(&self.seat) {
            return Err(cancelled());
        }
        loop {
            let trouble = match self.try_once(job) {
                Ok(output) => return Ok(output),
                Err(trouble) => trouble,
            };
            if !matches!(trouble, Trouble::Task(_)) {
                self.discard();
            }
            match trouble {
                Trouble::Task(error) => return Err(error),
                _ if job.is_cancelled() => return Err(cancelled()),
                Trouble::Dead(error) => return Err(error),
                Trouble::Died(_) if retry == Retry::Once => {
                    retry = Retry::Never;
                    self.shared.retries.fetch_add(1, Ordering::Relaxed);
                }
                Trouble::Died(how) => {
                    let task = job.task();
                    return Err(TaskError::Died { task, how });
                }
            }
        }
    }

    fn discard(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.bury();
        }
        let mut group = self
            .seat
            .group
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *group = None;
    }

    fn try_once(&mut self, job: &JobCore) -> Result<Vec<u8>, Trouble> {
        let limit = job.call.deadline.or(self.shared.deadline);
        let shared = Arc::clone(&self.shared);
        let worker = self.ready().map_err(|error| {
            let task = job.task();
            Trouble::Dead(TaskError::Start { task, error })
        })?;
        // Who cancelled or closed while it started found no process to kill; who does it from now
        // on finds this one.
        if job.is_cancelled() || shared.lock().closed {
            return Err(Trouble::Dead(TaskError::Closed { task: job.task() }));
        }
        let until = Until(limit.and_then(|limit| Instant::now().checked_add(limit)));
        // The length was checked when the task was given.
        let head = task_head(job.number, &job.call.task).unwrap_or_default();
        let asked = worker
            .connection
            .send(TASK, &[&head, &job.call.input], until)
            .and_then(|()| worker.connection.receive(until));
        match asked {
            Ok(frame) => read_answer(job, frame, shared.most_bytes),
            Err(FrameError::Late) => {
                let limit = limit.unwrap_or_default();
                let task = job.task();
                Err(Trouble::Dead(TaskError::Deadline { task, limit }))
            }
            Err(FrameError::Closed) => Err(Trouble::Died(how_it_ended(worker))),
            Err(FrameError::TooLarge(bytes)) => {
                Err(Trouble::Dead(too_large(job, bytes, self.shared.most_bytes)))
            }
            Err(error) => Err(Trouble::Died(error.to_string())),
        }
    }

    /// The worker, started if there is none.
    fn ready(&mut self) -> Result<&mut Worker, StartError> {
        if self.worker.is_none() {
            self.shared.started.fetch_add(1, Ordering::Relaxed);
            self.worker = Some(Worker::start(&self.setup, &self.seat.group)?);
        }
        Ok(self
            .worker
            .as_mut()
            .expect("invariant: it was just started"))
    }
}

fn how_it_ended(worker: &Worker) -> String {
    let group = worker.group.lock().unwrap_or_else(PoisonError::into_inner);
    let status = settled(&group);
    status.map_or_else(
        || "it closed the connection".to_owned(),
        |status| status.to_string(),
    )
}

fn too_large(job: &JobCore, bytes: u64, most: u64) -> TaskError {
    let task = job.task();
    TaskError::TooLarge { task, bytes, most }
}

fn read_answer(job: &JobCore, frame: Frame, most: u64) -> Result<Vec<u8>, Trouble> {
    let malformed = |what: &str| Trouble::Died(format!("it answered with {what}"));
    if frame.letter == REFUSAL {
        return Err(malformed("a refusal"));
    }
    let Some((number, rest)) = read_number(&frame.body) else {
        return Err(malformed("less than a number"));
    };
    if number != job.number {
        return Err(malformed("another task's number"));
    }
    match frame.letter {
        RESULT => {
            let mut output = frame.body;
            output.drain(..size_of::<u64>());
            Ok(output)
        }
        FAILURE => Err(read_failure(job, rest, most)),
        _ => Err(malformed("an unknown letter")),
    }
}

fn read_failure(job: &JobCore, rest: &[u8], most: u64) -> Trouble {
    let task = job.task();
    let (kind, text) = rest.split_first().unwrap_or((&b'f', &[]));
    let message = String::from_utf8_lossy(text).into_owned();
    match kind {
        b'p' => Trouble::Dead(TaskError::Panicked { task, message }),
        b'u' => Trouble::Task(TaskError::Unknown { task }),
        b'l' => Trouble::Task(too_large(job, message.parse().unwrap_or(0), most)),
        _ => Trouble::Task(TaskError::Failed { task, message }),
    }
}
