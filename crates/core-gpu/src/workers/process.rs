//! One worker's process: started, greeted, asked, killed with all of its group.

use std::{
    os::{
        fd::OwnedFd,
        unix::{
            net::UnixStream,
            process::{CommandExt as _, ExitStatusExt as _},
        },
    },
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, OnceLock, PoisonError, mpsc},
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid},
};

use super::{
    command::WorkerCommand,
    error::StartError,
    protocol::{Connection, FrameError, GREETING, Greeting, MOST_GREETING, PROTOCOL, Until},
};

/// How long a killed process is waited for. One that is stuck in the kernel cannot be killed; it is
/// left behind, and collected when it ends.
const BURIAL: Duration = Duration::from_secs(2);

/// How a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It runs, as far as can be said.
    Running,
    /// It has ended like that, and is still there to be collected.
    Ended(ExitStatus),
    /// Somebody else in this program has collected it, or the system did because the program ignores
    /// the ends of its children. How it ended nobody knows, and its number may be another's.
    Gone,
}

/// A process and its group, until it is collected.
///
/// The leader is looked at without being collected: as long as it is not, its number and its group's is
/// nobody else's, and a signal goes to nobody else.
#[derive(Debug)]
pub struct Group {
    child: Option<Child>,
}

impl Group {
    /// The leader's number; `None` once it is collected and the number may be another's.
    pub fn process(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    fn number(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.process()?).ok()?)
    }

    /// Kills all processes of the group. The leader stays to be collected. Without effect where the
    /// leader is no child of this process any more: collected by others, or this is a forked copy.
    pub fn kill(&self) {
        let ours = self.number().filter(|_| self.standing() != Standing::Gone);
        if let Some(group) = ours {
            // It fails when they have all ended, which is what is wanted.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// How the leader is. It stays to be collected.
    pub fn standing(&self) -> Standing {
        let Some(number) = self.number() else {
            return Standing::Gone;
        };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            return match waitid(WaitId::Pid(number), look) {
                Ok(Some(ended)) => Standing::Ended(status_of(&ended)),
                Ok(None) => Standing::Running,
                Err(Errno::INTR) => continue,
                Err(_) => Standing::Gone,
            };
        }
    }

    /// Kills the group and collects the leader. Says how it ended.
    pub fn bury(&mut self) -> String {
        // Before it is collected: its number is not another's yet.
        self.kill();
        let Some(mut child) = self.child.take() else {
            return "it was gone".to_owned();
        };
        let start = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return status.to_string(),
                Err(error) => return error.to_string(),
                Ok(None) if start.elapsed() > BURIAL => {
                    leave_behind(child);
                    return "it does not end when it is killed".to_owned();
                }
                Ok(None) => std::thread::sleep(Duration::from_micros(200)),
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.bury();
        }
    }
}

/// As the standard library has it.
fn status_of(ended: &WaitIdStatus) -> ExitStatus {
    /// Where a status has the bit of a core that was written.
    const CORE: i32 = 0x80;
    let core = if ended.dumped() { CORE } else { 0 };
    let raw = match (ended.exit_status(), ended.terminating_signal()) {
        (Some(code), _) => (code & 0xff) << 8,
        (None, Some(signal)) => signal | core,
        (None, None) => 0,
    };
    ExitStatus::from_raw(raw)
}

/// Keeps processes that do not end, and collects those that have ended meanwhile.
fn leave_behind(child: Child) {
    static LEFT: Mutex<Vec<Child>> = Mutex::new(Vec::new());
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    left.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    left.push(child);
}

type Request = (Command, mpsc::Sender<std::io::Result<Group>>);

/// Starts a process in a group of its own, which dies with this program. The kernel ties it to the
/// thread that starts it, so that is one that does not end.
pub fn spawn(mut command: Command) -> std::io::Result<Group> {
    static SPAWNER: OnceLock<Mutex<mpsc::Sender<Request>>> = OnceLock::new();
    command.process_group(0);
    core_gpu_driver::process::die_with_parent(&mut command);
    let gone = || std::io::Error::other("the thread that starts processes has ended");
    let spawner = SPAWNER.get_or_init(|| {
        let (sender, requests) = mpsc::channel::<Request>();
        let serve = move || {
            for (mut command, answer) in requests {
                let started = command.spawn().map(|child| Group { child: Some(child) });
                // Who asked may have given up: the group ends then.
                drop(answer.send(started));
            }
        };
        let named = std::thread::Builder::new().name("core-gpu-spawner".to_owned());
        // Without the thread the channel is closed, and each request fails with an error.
        drop(named.spawn(serve));
        Mutex::new(sender)
    });
    let (answer, answered) = mpsc::channel();
    let sent = {
        let spawner = spawner.lock().unwrap_or_else(PoisonError::into_inner);
        spawner.send((command, answer))
    };
    sent.map_err(|_| gone())?;
    answered.recv().map_err(|_| gone())?
}

/// A worker that has greeted.
#[derive(Debug)]
pub struct Worker {
    pub connection: Connection,
    pub group: Arc<Mutex<Group>>,
}

/// What a worker is started with.
#[derive(Clone, Debug)]
pub struct Setup {
    pub command: WorkerCommand,
    pub number: usize,
    pub most_bytes: u64,
    pub greeting_limit: Duration,
    pub variables: Vec<(String, String)>,
}

impl Worker {
    /// Starts a process and greets it. `place` holds its group at once, for who wants to kill it
    /// meanwhile.
    pub fn start(
        setup: &Setup,
        place: &Mutex<Option<Arc<Mutex<Group>>>>,
    ) -> Result<Self, StartError> {
        let build = setup.command.expected_build()?;
        let failed = |error: std::io::Error| StartError::Spawn {
            program: setup.command.name(),
            error: error.to_string(),
        };
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let mut command = setup.command.to_command(setup.number, setup.most_bytes);
        command
            .envs(setup.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::from(OwnedFd::from(theirs)));
        let group = Arc::new(Mutex::new(spawn(command).map_err(failed)?));
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&group));
        let greeted = greet(setup, build, ours);
        greeted
            .map(|connection| Self {
                connection,
                group: Arc::clone(&group),
            })
            .map_err(|unfit| {
                let mut group = group.lock().unwrap_or_else(PoisonError::into_inner);
                unfit.explain(setup, &mut group)
            })
    }

    /// Kills it and all of its group, and says how it ended.
    pub fn bury(self) -> String {
        drop(self.connection);
        let mut group = self.group.lock().unwrap_or_else(PoisonError::into_inner);
        group.bury()
    }
}

/// Why a process is not a worker.
enum Unfit {
    Wrong(StartError),
    Silent(String),
    Closed,
}

impl Unfit {
    fn explain(self, setup: &Setup, group: &mut Group) -> StartError {
        // One that has closed its end is about to end, and its status says more.
        let status = match self {
            Self::Closed => settled(group),
            _ => None,
        };
        let how = group.bury();
        let program = setup.command.name();
        match self {
            Self::Wrong(error) => error,
            Self::Silent(why) => StartError::Silent { program, why },
            Self::Closed => StartError::Silent {
                program,
                why: status.map_or(how, |status| status.to_string()),
            },
        }
    }
}

/// How a process ended that is about to.
pub fn settled(group: &Group) -> Option<ExitStatus> {
    let start = Instant::now();
    loop {
        match group.standing() {
            Standing::Ended(status) => return Some(status),
            Standing::Running if start.elapsed() <= Duration::from_millis(100) => {
                std::thread::sleep(Duration::from_micros(200));
            }
            Standing::Running | Standing::Gone => return None,
        }
    }
}

fn greet(setup: &Setup, build: String, stream: UnixStream) -> Result<Connection, Unfit> {
    let until = Until(Instant::now().checked_add(setup.greeting_limit));
    let silent = |error: FrameError| match error {
        FrameError::Closed => Unfit::Closed,
        other => Unfit::Silent(other.to_string()),
    };
    let mut connection = Connection::new(stream, setup.most_bytes.max(MOST_GREETING));
    let ours = Greeting {
        protocol: PROTOCOL,
        build,
        worker: setup.number,
        ..Greeting::default()
    };
    let json = serde_json::to_vec(&ours).map_err(|error| Unfit::Silent(error.to_string()))?;
    connection.send(GREETING, &[&json], until).map_err(silent)?;
    let frame = connection.receive(until).map_err(silent)?;
    let theirs: Option<Greeting> = (frame.letter == GREETING)
        .then(|| serde_json::from_slice(&frame.body).ok())
        .flatten()
        // What only repeats what it hears has no process.
        .filter(|theirs: &Greeting| theirs.process != 0);
    let theirs = theirs.ok_or_else(|| Unfit::Silent("it said something else".to_owned()))?;
    if theirs.protocol != PROTOCOL {
        return Err(Unfit::Wrong(StartError::Protocol {
            ours: PROTOCOL,
            theirs: theirs.protocol,
        }));
    }
    if !ours.build.is_empty() && theirs.build != ours.build {
        return Err(Unfit::Wrong(StartError::Build {
            ours: ours.build,
            theirs: theirs.build,
        }));
    }
    Ok(connection)
}

#[cfg(test)]
mod tests;
