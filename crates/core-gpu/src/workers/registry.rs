//! The worker's side: tasks by name, and the loop that serves them.

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs::File,
    io,
    os::{fd::AsFd as _, unix::net::UnixStream},
    panic::{AssertUnwindSafe, catch_unwind},
    process,
};

use serde::{Serialize, de::DeserializeOwned};

use super::protocol::{
    Connection, FAILURE, FrameError, GREETING, Greeting, PROTOCOL, REFUSAL, RESULT, TASK, Until,
    read_task,
};

/// Says that the process is a worker: protocol, number, and the parent that it is one of.
pub(super) const VARIABLE: &str = "CORE_GPU_WORKER";
/// Largest frame in bytes, said to the worker.
pub(super) const VARIABLE_MOST: &str = "CORE_GPU_WORKER_MOST_BYTES";
/// How a worker ends that was spoken to in another way than it knows.
const CONFUSED: i32 = 70;

type Task = Box<dyn Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync>;

/// Functions that workers run, by name. A worker is the same program: the same registry is made in
/// both.
#[derive(Default)]
pub struct TaskRegistry {
    tasks: BTreeMap<String, Task>,
}

impl std::fmt::Debug for TaskRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.tasks.keys()).finish()
    }
}

impl TaskRegistry {
    /// A registry without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a task whose input and output travel as JSON. A name that is there already is replaced.
    ///
    /// What JSON cannot carry, such as a number that is not finite, wants
    /// [`TaskRegistry::bytes`].
    #[must_use]
    pub fn task<I, O, E>(
        self,
        name: &str,
        run: impl Fn(I) -> Result<O, E> + Send + Sync + 'static,
    ) -> Self
    where
        I: DeserializeOwned,
        O: Serialize,
        E: Display,
    {
        self.bytes(name, move |input| {
            let input = serde_json::from_slice(input)
                .map_err(|error| format!("the input is not what the task takes: {error}"))?;
            let output = run(input).map_err(|error| error.to_string())?;
            serde_json::to_vec(&output)
                .map_err(|error| format!("the output cannot be written: {error}"))
        })
    }

    /// Adds a task of bytes.
    #[must_use]
    pub fn bytes(
        mut self,
        name: &str,
        run: impl Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync + 'static,
    ) -> Self {
        self.tasks.insert(name.to_owned(), Box::new(run));
        self
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tasks.keys().map(String::as_str)
    }
}

/// Serves tasks if this process was started as a worker, and does not return then. Call it first in
/// `main`, before anything that a worker should not do.
pub fn run_if_worker(registry: &TaskRegistry) {
    let Some(most) = called_to_work() else { return };
    let code = match serve(registry, most) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("worker: {error}");
            CONFUSED
        }
    };
    process::exit(code);
}

/// The largest frame, if this process is a worker. The variable alone does not make it one: a
/// worker's own children inherit it, and have another parent.
fn called_to_work() -> Option<u64> {
    let said = std::env::var(VARIABLE).ok()?;
    let parent: i32 = said.rsplit(':').next()?.parse().ok()?;
    let own = rustix::process::getppid()?;
    if own.as_raw_pid() != parent {
        return None;
    }
    std::env::var(VARIABLE_MOST).ok()?.parse().ok()
}

/// What identifies this program's file: its place on disk, size and time of change. A file that is
/// replaced has another place.
pub(super) fn build_id() -> io::Result<String> {
    use std::os::unix::fs::MetadataExt as _;
    // On Linux this is the running file even when another has taken its name.
    let path = if cfg!(target_os = "linux") {
        "/proc/self/exe".into()
    } else {
        std::env::current_exe()?
    };
    let file = std::fs::metadata(path)?;
    Ok(format!(
        "{:x}-{:x}-{:x}-{:x}",
        file.dev(),
        file.ino(),
        file.size(),
        i128::from(file.mtime()) * 1_000_000_000 + i128::from(file.mtime_nsec())
    ))
}

/// Takes the pool's socket from descriptor 0, which is nothing for the tasks from then on.
fn take_connection(most: u64) -> io::Result<Connection> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(Connection::new(UnixStream::from(socket), most))
}

fn serve(registry: &TaskRegistry, most: u64) -> Result<(), FrameError> {
    let mut connection = take_connection(most).map_err(FrameError::Io)?;
    if !greet(&mut connection)? {
        return Ok(());
    }
    loop {
        let frame = match connection.receive(Until(None)) {
            Ok(frame) => frame,
            Err(FrameError::Closed) => return Ok(()),
            Err(error) => return Err(error),
        };
        if frame.letter != TASK {
            return Err(FrameError::Malformed("a letter that is no task's"));
        }
        let (number, name, input) =
            read_task(&frame.body).ok_or(FrameError::Malformed("not a task"))?;
        answer(registry, &mut connection, (number, name, input))?;
    }
}

/// Whether this worker is one that the pool wants.
fn greet(connection: &mut Connection) -> Result<bool, FrameError> {
    let frame = connection.receive(Until(None))?;
    let theirs: Greeting =
        serde_json::from_slice(&frame.body).map_err(|_| FrameError::Malformed("not a greeting"))?;
    let ours = Greeting {
        protocol: PROTOCOL,
        build: build_id().map_err(FrameError::Io)?,
        worker: theirs.worker,
        process: process::id(),
    };
    let json = serde_json::to_vec(&ours).map_err(|error| FrameError::Io(error.into()))?;
    connection.send(GREETING, &[&json], Until(None))?;
    let same_build = theirs.build.is_empty() || theirs.build == ours.build;
    if theirs.protocol == PROTOCOL && same_build {
        return Ok(true);
    }
    let why = b"another build or protocol";
    connection.send(REFUSAL, &[why], Until(None))?;
    Ok(false)
}

fn answer(
    registry: &TaskRegistry,
    connection: &mut Connection,
    (number, name, input): (u64, &str, &[u8]),
) -> Result<(), FrameError> {
    let number = number.to_le_bytes();
    let Some(task) = registry.tasks.get(name) else {
        return connection.send(FAILURE, &[&number, b"u"], Until(None));
    };
    let (kind, text) = match catch_unwind(AssertUnwindSafe(|| task(input))) {
        Ok(Ok(output)) => match connection.send(RESULT, &[&number, &output], Until(None)) {
            Err(FrameError::TooLarge(bytes)) => (b"l", bytes.to_string()),
            sent => return sent,
        },
        Ok(Err(message)) => (b"f", message),
        Err(panic) => {
            let text = said(&*panic);
            connection.send(FAILURE, &[&number, b"p", text.as_bytes()], Until(None))?;
            // What the task left behind is in an unknown state.
            process::exit(CONFUSED);
        }
    };
    connection.send(FAILURE, &[&number, kind, text.as_bytes()], Until(None))
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no text".to_owned())
}
