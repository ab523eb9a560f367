//! Starts one program with bounds: a time limit, and how much it may print.
//!
//! It gets no input and, on unix, a process group of its own, all of which ends with it.

use std::{
    ffi::OsString,
    io::{self, Read},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use crate::{
    check::Limits,
    error::{Error, ErrorKind},
};

/// How much of standard error is kept: the last bytes of it.
const TALK: usize = 1 << 16;
/// How long what a program has printed may take to arrive after it has ended.
const AFTERWARDS: Duration = Duration::from_secs(5);
/// The longest nap between two looks at whether it has ended.
const NAP: Duration = Duration::from_millis(20);

/// A program that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// The end of what it said on standard error.
    pub stderr: String,
}

impl Finished {
    /// Whether it says that it went well.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

/// Runs `command` to its end.
pub(crate) fn run(command: &mut Command, label: &str, limits: Limits) -> Result<Finished, Error> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env("COALESCE_VERIFY", "1")
        .env("NO_COLOR", "1")
        .env_remove("FORCE_COLOR")
        .env_remove("CLICOLOR_FORCE");
    own_group(command);
    let mut child = command
        .spawn()
        .map_err(|error| start_error(command.get_program().to_owned(), &error))?;
    running(&child);
    let out = child
        .stdout
        .take()
        .map(|pipe| head(pipe, limits.output_bytes));
    let talk = child.stderr.take().map(tail);
    let ended = wait(&mut child, limits.time);
    end_group(&mut child);
    let ended =
        ended.map_err(|error| Error::new(ErrorKind::Report, format!("{label}: {error}")))?;
    let Some(status) = ended else {
        let message = format!("`{label}` took longer than {} s", limits.time.as_secs());
        return Err(Error::new(ErrorKind::TimedOut, message));
    };
    let (stdout, whole) = out
        .and_then(|out| out.recv_timeout(AFTERWARDS).ok())
        .unwrap_or_default();
    let stderr = talk
        .and_then(|talk| talk.recv_timeout(AFTERWARDS).ok())
        .unwrap_or_default();
    if !whole {
        let message = format!("`{label}` printed more than {} bytes", limits.output_bytes);
        return Err(Error::new(ErrorKind::TooMuchOutput, message));
    }
    Ok(Finished {
        code: status.code(),
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    })
}

fn start_error(program: OsString, error: &io::Error) -> Error {
    let program = program.display();
    if error.kind() == io::ErrorKind::NotFound {
        return Error::new(
            ErrorKind::ProgramMissing,
            format!("`{program}` was not found"),
        );
    }
    let message = format!("`{program}` cannot be started: {error}");
    Error::new(ErrorKind::ProgramMissing, message)
}

/// The first `limit` bytes, and whether that was all; the rest is read and dropped, so that the
/// program does not stop at a full pipe.
fn head(mut pipe: impl Read + Send + 'static, limit: usize) -> Receiver<(Vec<u8>, bool)> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.by_ref().take(limit as u64).read_to_end(&mut bytes);
        let dropped = io::copy(&mut pipe, &mut io::sink()).unwrap_or(0);
        // Whoever asked may have given up.
        let _ = sender.send((bytes, dropped == 0));
    });
    receiver
}

/// The last [`TALK`] bytes.
fn tail(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut kept: Vec<u8> = Vec::new();
        let mut piece = [0; 1 << 13];
        while let Ok(read) = pipe.read(&mut piece) {
            if read == 0 {
                break;
            }
            kept.extend_from_slice(piece.get(..read).unwrap_or_default());
            let over = kept.len().saturating_sub(TALK);
            kept.drain(..over);
        }
        let _ = sender.send(kept);
    });
    receiver
}

/// Waits for the end, at most so long.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<std::process::ExitStatus>> {
    let begun = Instant::now();
    let mut nap = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= limit {
            return Ok(None);
        }
        thread::sleep(nap);
        nap = (nap * 2).min(NAP);
    }
}

/// A group of its own can be ended as a whole; in return, a signal that ends us no longer reaches
/// it, so that we have to pass it on.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    static WATCH: std::sync::Once = std::sync::Once::new();
    WATCH.call_once(pass_signals_on);
    command.process_group(0);
}

/// The group that is running; 0 for none.
#[cfg(unix)]
static GROUP: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(0);

#[cfg(unix)]
fn pass_signals_on() {
    use signal_hook::{consts, iterator::Signals, low_level::emulate_default_handler};
    // Where none can be had, an interrupted run leaves its program behind, and that is all.
    let Ok(mut signals) = Signals::new([consts::SIGINT, consts::SIGTERM, consts::SIGHUP]) else {
        return;
    };
    thread::spawn(move || {
        for signal in &mut signals {
            kill_group(GROUP.load(std::sync::atomic::Ordering::SeqCst));
            // Ends this process, as the signal would have.
            let _ = emulate_default_handler(signal);
        }
    });
}

#[cfg(unix)]
fn kill_group(group: i32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = Pid::from_raw(group).filter(|_| group > 0) {
        // An error means that nobody is left.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Says which group is running, for [`pass_signals_on`].
#[cfg(unix)]
fn running(child: &Child) {
    let group = i32::try_from(child.id()).unwrap_or(0);
    GROUP.store(group, std::sync::atomic::Ordering::SeqCst);
}

#[cfg(not(unix))]
fn running(_: &Child) {}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Ends the program, if it has not ended, and what it has left running.
#[cfg(unix)]
fn end_group(child: &mut Child) {
    kill_group(i32::try_from(child.id()).unwrap_or(0));
    GROUP.store(0, std::sync::atomic::Ordering::SeqCst);
    let _ = child.wait();
}

#[cfg(not(unix))]
fn end_group(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limits: Limits) -> Result<Finished, Error> {
        run(Command::new("sh").args(["-c", script]), script, limits)
    }

    #[test]
    fn bounds_hold() {
        let limits = Limits {
            time: Duration::from_secs(60),
            output_bytes: 100,
        };
        let done = shell("echo out; echo talk >&2; exit 3", limits).unwrap();
        assert_eq!((done.code, done.success()), (Some(3), false));
        assert_eq!(
            (done.stdout.as_slice(), done.stderr.as_str()),
            (&b"out\n"[..], "talk\n")
        );
        let error = shell("yes | head -c 100000", limits).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooMuchOutput);
        let hasty = Limits {
            time: Duration::from_millis(50),
            ..limits
        };
        let error = shell("sleep 60 & sleep 60", hasty).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let error = run(&mut Command::new("no-such-program-anywhere"), "", limits).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ProgramMissing);
    }

    #[test]
    fn what_is_left_running_ends_with_it() {
        let limits = Limits {
            time: Duration::from_secs(60),
            output_bytes: 100,
        };
        // The sleeper holds the pipe; the output still arrives at once.
        let done = shell("echo out; sleep 1000 &", limits).unwrap();
        assert_eq!(done.stdout, b"out\n");
    }
}
