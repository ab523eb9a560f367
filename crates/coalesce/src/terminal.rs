//! From the arguments of the process to its output and exit code.
//!
//! Data goes to standard output, talk to standard error. Nothing is decided here but how things
//! are printed; the work is done by `commands`.

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    time::Duration,
};

use anstream::{AutoStream, ColorChoice};
use clap::Parser as _;
use coalesce_model::envelope::{Body, Envelope, ErrorEntry, Failed};
use coalesce_report::Options;
use coalesce_tree::threads::{self, STACK_BYTES};

use crate::{
    cli::{Color, Command, Format, Global, Invocation, Layout},
    commands,
    exit::{Exit, Failure, Outcome, describe},
    servers,
};

/// The whole of a program: whoever has this as their `main` is also the contained child that runs the
/// programs of a project for `verify`.
pub fn start(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(code) = coalesce_verify::contained_main(arguments.clone()) {
        return code.into();
    }
    coalesce_verify::enable_containment();
    let thread = std::thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(|| main(arguments));
    let ended = thread.map(std::thread::JoinHandle::join);
    if cfg!(debug_assertions) {
        assert_threads_were_started();
    }
    match ended {
        Ok(Ok(code)) => code,
        // The panic was printed.
        Ok(Err(_)) => Exit::Failed.into(),
        Err(error) => {
            eprintln!("error: failed to start a thread: {error}");
            Exit::Failed.into()
        }
    }
}

fn assert_threads_were_started() {
    threads::start();
    let missed = "something was done in parallel before the threads were started, on stacks that may be too small";
    assert!(!threads::were_missed(), "{missed}");
}

/// Runs the command that `arguments` ask for, the program's name first, and prints what it says.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut invocation = match Invocation::try_parse_from(arguments) {
        Ok(invocation) => invocation,
        Err(error) => return print_usage(&error).into(),
    };
    // Often `check` has nothing for them to do; where it has, it starts them itself.
    if !matches!(invocation.command, Command::Check(_)) {
        threads::start();
    }
    if let Some(told) = commands::about::text(&invocation) {
        return tell(told).into();
    }
    if let Some(served) = servers::run(&invocation) {
        return end_of_service(&invocation, served).into();
    }
    let Some(seconds) = invocation.command.repeats() else {
        invocation.global.ends = true;
        return run(&invocation).into();
    };
    repeat(&invocation, Duration::from_secs_f64(seconds)).into()
}

/// Prints what is wrong with the arguments, or the help that they ask for.
fn print_usage(error: &clap::Error) -> Exit {
    // The reader may have gone away; there is nobody left to tell.
    let _ = error.print();
    match error.use_stderr() {
        true => Exit::Failed,
        false => Exit::Success,
    }
}

/// Runs a command again and again, until somebody interrupts it, or nobody reads it any more.
fn repeat(invocation: &Invocation, pause: Duration) -> Exit {
    loop {
        clear(&invocation.global);
        let exit = run(invocation);
        if exit != Exit::Success || io::stdout().flush().is_err() {
            commands::end();
            return exit;
        }
        std::thread::sleep(pause);
    }
}

/// How a server ends: well when its client has gone.
fn end_of_service(invocation: &Invocation, served: io::Result<()>) -> Exit {
    let Err(error) = served else {
        return Exit::Success;
    };
    let message = format!(
        "{}: {error}",
        invocation
            .command
            .name()
            .map_or("", |command| command.as_str())
    );
    let _ = writeln!(io::stderr(), "error: {message}");
    Exit::Failed
}

/// Prints what is told of the program itself, as it is.
fn tell(told: Result<String, Failure>) -> Exit {
    match told.map(|text| io::stdout().write_all(text.as_bytes())) {
        Ok(Ok(())) => Exit::Success,
        Ok(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
        Ok(Err(error)) => {
            let _ = writeln!(
                io::stderr(),
                "error: failed to write to standard output: {error}"
            );
            Exit::Failed
        }
        Err(failure) => {
            let page = coalesce_report::error_page(failure.entry(), Options::default());
            let _ = io::stderr().write_all(page.as_bytes());
            Exit::Failed
        }
    }
}

/// What is told of a failure, each command that it names with the root that this one was given.
fn described(invocation: &Invocation, error: &anyhow::Error) -> ErrorEntry {
    let mut told = describe(error);
    let root = invocation.global.root.display().to_string();
    for hint in &mut told.hints {
        *hint = coalesce_report::typed::rooted(hint, &root);
    }
    told
}

/// Runs a command once and prints what it says.
fn run(invocation: &Invocation) -> Exit {
    if let Some(warning) = commands::cut_off(invocation) {
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
    // Code 2 is what the help promises for a command that could not, a mistake of ours included;
    // the panic itself was already printed.
    let outcome = catch_unwind(AssertUnwindSafe(|| commands::run(invocation)));
    match outcome.unwrap_or_else(|_| Err(anyhow::anyhow!("a step panicked, as printed above"))) {
        Ok(outcome) => {
            let shape = Shape {
                layout: invocation.command.layout(),
                diff: invocation.command.shows_diff(),
                next: commands::next(invocation, &outcome.envelope),
            };
            // Whatever becomes of the page, the tree may have changed.
            catch_unwind(AssertUnwindSafe(|| {
                print(&invocation.global, &shape, &outcome)
            }))
            .unwrap_or_else(|_| outcome.untold())
        }
        Err(error) => print_error(invocation, described(invocation, &error)),
    }
}

/// Empties a terminal before a page is shown again; a file gets one page after another.
fn clear(global: &Global) {
    let mut out = io::stdout();
    if global.format == Format::Human && out.is_terminal() {
        // Who has gone away is noticed when the page is written.
        let _ = out.write_all(b"\x1b[H\x1b[2J");
    }
}

/// How the page of a command is laid out.
struct Shape {
    layout: Layout,
    diff: bool,
    /// A last line.
    next: Option<String>,
}

fn print(global: &Global, shape: &Shape, outcome: &Outcome) -> Exit {
    let mut out = io::stdout().lock();
    let options = page_options(global, shape, &out);
    let next = shape.next.as_deref().unwrap_or_default();
    let text = match global.format {
        Format::Human => Ok(coalesce_report::page(&outcome.envelope, options) + next),
        Format::Json => coalesce_report::json(&outcome.envelope).map_err(io::Error::from),
        Format::Sarif => coalesce_report::sarif(&outcome.envelope).map_err(io::Error::from),
        Format::Github => Ok(annotations(&outcome.envelope)),
    };
    let written = text.and_then(|text| out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    match written {
        Ok(()) => outcome.exit,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => outcome.exit,
        // What was done is done; the code must not say that the tree is as it was.
        Err(error) => {
            let why = "failed to write to standard output";
            let _ = writeln!(io::stderr(), "error: {why}: {error}");
            outcome.untold()
        }
    }
}

fn page_options(global: &Global, shape: &Shape, out: &io::StdoutLock<'_>) -> Options {
    Options {
        color: colored(global.color, out),
        quiet: global.quiet,
        all: global.all,
        columns: columns(shape.layout, out),
        diff: shape.diff,
    }
}

/// Annotations for GitHub, which are there without the summary, too.
fn annotations(envelope: &Envelope) -> String {
    if let Err(error) = summarize(envelope) {
        let why = "cannot write the summary of the job, GITHUB_STEP_SUMMARY";
        let _ = writeln!(io::stderr(), "warning: {why}: {error}");
    }
    coalesce_report::annotations(envelope)
}

/// Adds all findings to the summary of the job, where GitHub has made a file for it.
fn summarize(envelope: &Envelope) -> io::Result<()> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    crate::named_files::append(path.as_ref(), &coalesce_report::summary(envelope))
}

fn print_error(invocation: &Invocation, error: ErrorEntry) -> Exit {
    let global = &invocation.global;
    let mut talk = io::stderr().lock();
    let options = Options {
        color: colored(global.color, &talk),
        quiet: global.quiet,
        all: global.all,
        columns: None,
        diff: false,
    };
    let _ = talk.write_all(coalesce_report::error_page(&error, options).as_bytes());
    let machine = matches!(global.format, Format::Json | Format::Sarif);
    if let Some(command) = invocation.command.name().filter(|_| machine) {
        return print_failed(global, command, error);
    }
    Exit::Failed
}

/// Prints a failure as a program reads it.
fn print_failed(
    global: &Global,
    command: coalesce_model::envelope::Command,
    error: ErrorEntry,
) -> Exit {
    let root = global.root.display().to_string();
    let body = Body::Failed(Failed { error });
    let outcome = Outcome {
        envelope: Envelope::new(root, command, body),
        exit: Exit::Failed,
    };
    let shape = Shape {
        layout: Layout::Unified,
        diff: false,
        next: None,
    };
    print(global, &shape, &outcome)
}

/// Whether to colour what goes to `stream`, which says itself whether it is a terminal;
/// `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` are heeded.
fn colored(color: Color, stream: &impl anstream::stream::RawStream) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => AutoStream::choice(stream) != ColorChoice::Never,
    }
}

/// Columns where no terminal says how many there are.
const COLUMNS: usize = 160;
/// Columns below which texts stand side by side only when they are asked to.
const WIDE: usize = 120;

/// Columns for what stands side by side; `None` for one below the other.
fn columns(layout: Layout, stream: &io::StdoutLock<'_>) -> Option<usize> {
    let terminal = || {
        stream
            .is_terminal()
            .then(terminal_size::terminal_size)
            .flatten()
    };
    let columns = terminal().map(|(width, _)| usize::from(width.0));
    match layout {
        Layout::Unified => None,
        Layout::Fitting => columns.filter(|columns| *columns >= WIDE),
        Layout::SideBySide => Some(columns.unwrap_or(COLUMNS)),
    }
}

/// Whether somebody watches how a command gets on: standard error is a terminal, and no log of CI.
pub(crate) fn watched(quiet: bool) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    let unattended = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    !quiet && !dumb && !unattended && io::stderr().is_terminal()
}

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Yes,
    /// No, or anything else than yes.
    No,
    /// Nobody is there to ask: input, output or talk is no terminal.
    NobodyThere,
}

/// Asks a question that is answered by yes or no. A script that was started from a terminal is not
/// asked: its output goes elsewhere.
///
/// # Errors
/// When the terminal cannot be written to or read from.
pub fn ask(question: &str) -> io::Result<Answer> {
    let input = io::stdin();
    if !(input.is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()) {
        return Ok(Answer::NobodyThere);
    }
    let mut talk = io::stderr().lock();
    write!(talk, "{question} [y/N] ")?;
    talk.flush()?;
    let mut line = String::new();
    input.read_line(&mut line)?;
    let yes = matches!(line.trim().to_lowercase().as_str(), "y" | "yes");
    Ok(if yes { Answer::Yes } else { Answer::No })
}
