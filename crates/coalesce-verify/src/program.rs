//! Starts one program with bounds: a time limit, and how much it may print.
//!
//! It gets no input and, on unix, a process group of its own, all of which ends with it; where it can
//! be, it runs below a contained child (see `contain`).

use std::{
    ffi::OsString,
    io::{self, Read},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use crate::{
    check::Limits,
    contain::{self, Bounds, Report},
    error::{Error, ErrorKind},
    scratch::Scratch,
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

/// Memory of all processes of a program together: no check needs more, and beyond it machines of
/// today come to a stop.
const MEMORY_BYTES: u64 = 32 << 30;
/// How much of the disk a program may fill.
const DISK_BYTES: u64 = 64 << 30;
/// The longest file that it may write.
const FILE_BYTES: u64 = 16 << 30;
/// How long a contained child may take to end everything.
const ENDING: Duration = Duration::from_secs(12);

/// Runs `command` to its end, on a copy.
pub(crate) fn run(
    command: &mut Command,
    label: &str,
    limits: Limits,
    scratch: &Scratch,
) -> Result<Finished, Error> {
    let temporary = scratch.temporary();
    let temporary = temporary.map_err(|error| Error::copy(scratch.directory(), &error))?;
    for name in ["TMPDIR", "TMP", "TEMP"] {
        command.env(name, &temporary);
    }
    let bounds = bounds_on(scratch);
    let Some((executable, first)) = contain::child(&bounds) else {
        scratch.was_writable("programs are not contained on this system".to_owned());
        return run_alone(command.stdin(Stdio::null()), label, limits);
    };
    let mut contained = Command::new(executable);
    contained.args(first);
    hand_on(command, &mut contained);
    contained.stdin(Stdio::piped());
    // What an earlier one has left is no answer to this.
    let _ = std::fs::remove_file(&bounds.report);
    let finished = run_alone(&mut contained, label, limits)?;
    let report = std::fs::read_to_string(&bounds.report).ok();
    let report: Option<Report> = report.and_then(|text| serde_json::from_str(&text).ok());
    let Some(report) = report else {
        let message = format!("`{label}` was ended from outside");
        return Err(Error::new(ErrorKind::Report, message));
    };
    answered(report, finished, (label, command), scratch)
}

/// What a program may use and where it may write.
fn bounds_on(scratch: &Scratch) -> Bounds {
    Bounds {
        tree: scratch.original().to_owned(),
        scratch: scratch.directory().to_owned(),
        report: scratch.directory().join("contained.json"),
        memory_bytes: MEMORY_BYTES,
        disk_bytes: DISK_BYTES,
        file_bytes: FILE_BYTES,
    }
}

/// Gives a command to the one that runs it: as its last arguments, with its directory and environment.
fn hand_on(command: &Command, runner: &mut Command) {
    runner.arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        runner.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => runner.env(name, value),
            None => runner.env_remove(name),
        };
    }
}

/// What a contained child has answered.
fn answered(
    report: Report,
    finished: Finished,
    (label, command): (&str, &Command),
    scratch: &Scratch,
) -> Result<Finished, Error> {
    if let Some(why) = report.writable {
        scratch.was_writable(why);
    }
    if let Some((missing, why)) = report.failed {
        let kind = if missing {
            io::ErrorKind::NotFound
        } else {
            io::ErrorKind::Other
        };
        let error = io::Error::new(kind, why);
        return Err(start_error(command.get_program().to_owned(), &error));
    }
    if let Some(over) = report.over {
        let message = format!("`{label}` {over}");
        return Err(Error::new(ErrorKind::TooMuchSpace, message));
    }
    Ok(Finished {
        code: report.code,
        ..finished
    })
}

/// Runs `command` to its end.
fn run_alone(command: &mut Command, label: &str, limits: Limits) -> Result<Finished, Error> {
    command
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
    let out = child.stdout.take();
    let out = out.map(|pipe| head(pipe, limits.output_bytes));
    let talk = child.stderr.take().map(tail);
    let ended = end(&mut child, limits.time);
    let ended =
        ended.map_err(|error| Error::new(ErrorKind::Report, format!("{label}: {error}")))?;
    let Some(status) = ended else {
        let message = format!("`{label}` took longer than {} s", limits.time.as_secs());
        return Err(Error::new(ErrorKind::TimedOut, message));
    };
    let out = out.and_then(|out| out.recv_timeout(AFTERWARDS).ok());
    let talk = talk.and_then(|talk| talk.recv_timeout(AFTERWARDS).ok());
    Ok(Finished {
        code: status.code(),
        stdout: whole_output(out, label, limits)?,
        stderr: String::from_utf8_lossy(&talk.unwrap_or_default()).into_owned(),
    })
}

/// Waits for the end of a program, at most so long, and ends it and what it has started; `None` where it
/// would have gone on.
fn end(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    // A contained child ends everything itself when this is closed, also by our end.
    let contained = child.stdin.take();
    if contained.is_none() {
        running(child);
    }
    let mut ended = wait_for_end(child, limit);
    if let Some(input) = contained.filter(|_| !matches!(ended, Ok(Some(_)))) {
        drop(input);
        // Its end is no answer, but everything that it started has ended with it.
        if let Err(error) = wait_for_end(child, ENDING) {
            ended = Err(error);
        }
    }
    end_group(child);
    ended
}

/// What a program printed, if that is all and has arrived.
fn whole_output(
    out: Option<(Vec<u8>, bool)>,
    label: &str,
    limits: Limits,
) -> Result<Vec<u8>, Error> {
    match out {
        Some((bytes, true)) => Ok(bytes),
        Some((_, false)) => {
            let most = limits.output_bytes;
            let message = format!("`{label}` printed more than {most} bytes");
            Err(Error::new(ErrorKind::TooMuchOutput, message))
        }
        None => {
            let message = format!("`{label}` left a process behind that goes on printing");
            Err(Error::new(ErrorKind::LeftBehind, message))
        }
    }
}

/// How much a program that is given a text may print: a text that grows sixteenfold is no layout.
const FILTERED: usize = 1 << 30;

/// What a program made of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filtered {
    /// Its output.
    Text(String),
    /// It could not be started, failed, or printed no text.
    Failed,
    /// It had not ended in time, and was ended.
    Late,
}

/// What a program makes of a text that it gets as its input, within `time`. It is not contained: it
/// must be none of the project's.
#[must_use]
pub fn filter_text(command: &mut Command, text: &str, time: Duration) -> Filtered {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else {
        return Filtered::Failed;
    };
    let input = child.stdin.take();
    let most = FILTERED.min(text.len().saturating_mul(16).saturating_add(1 << 16));
    let out = child.stdout.take().map(|pipe| head(pipe, most));
    let text = text.to_owned();
    // It may stop reading; then its end shows that it failed.
    let writer = thread::spawn(move || {
        input.is_some_and(|mut input| io::Write::write_all(&mut input, text.as_bytes()).is_ok())
    });
    let ended = wait_for_end(&mut child, time);
    let Ok(Some(status)) = ended else {
        let _ = child.kill();
        let _ = child.wait();
        return ended.map_or(Filtered::Failed, |_| Filtered::Late);
    };
    let Some(Ok((bytes, whole))) = out.map(|out| out.recv_timeout(AFTERWARDS)) else {
        return Filtered::Late;
    };
    let written = writer.join().is_ok_and(|written| written);
    if !(written && whole && status.success()) {
        return Filtered::Failed;
    }
    String::from_utf8(bytes).map_or(Filtered::Failed, Filtered::Text)
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

/// Waits for the end of a process, at most so long; `None` where it goes on.
///
/// # Errors
/// When the system does not tell.
pub fn wait_for_end(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
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
        run_alone(Command::new("sh").args(["-c", script]), script, limits)
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
        let error =
            run_alone(&mut Command::new("no-such-program-anywhere"), "", limits).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ProgramMissing);
    }

    #[test]
    fn a_text_goes_through_a_program_or_nothing_comes_back() {
        let through = |script: &str, text: &str, seconds| {
            let mut command = Command::new("sh");
            let time = Duration::from_millis(seconds);
            filter_text(command.args(["-c", script]), text, time)
        };
        assert_eq!(
            through("tr a b", "aha", 60_000),
            Filtered::Text("bhb".into())
        );
        let long = "a".repeat(1 << 20);
        assert_eq!(through("cat", &long, 60_000), Filtered::Text(long.clone()));
        assert_eq!(through("cat; exit 1", "a", 60_000), Filtered::Failed);
        assert_eq!(
            through("true", &long, 60_000),
            Filtered::Failed,
            "it read nothing"
        );
        assert_eq!(
            through("printf '\\377'", "a", 60_000),
            Filtered::Failed,
            "that is no text"
        );
        assert_eq!(through("sleep 60", "a", 50), Filtered::Late);
        assert_eq!(through("yes", "a", 500), Filtered::Late);
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
