//! Python: every module imported in a process of its own, and the project's tests under pytest.
//!
//! The interpreter is the one that `COALESCE_PYTHON` names, that of the active virtual environment,
//! `python3` or `python`. Byte code is told by the hash of its source and lies beside the copy: that
//! which Python writes by itself goes by times with a grain of a second.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use coalesce_model::TreePath;
use serde::Deserialize;

use crate::{
    check::{Failure, Limits, Outcome, Place, last_lines},
    error::{Error, ErrorKind},
    program::{self, Finished},
    scratch::Scratch,
};

const DRIVER: &str = include_str!("driver.py");
const PLUGIN: &str = include_str!("plugin.py");
/// The plugin's name as a module.
const PLUGIN_NAME: &str = "coalesce_verify_plugin";
/// How long one module may take, in seconds, where the whole check may take longer.
const MODULE_SECONDS: u64 = 60;

/// Imports `modules`, each in a process of its own.
pub(crate) fn imports(
    scratch: &Scratch,
    roots: &[TreePath],
    modules: &[String],
    changed: &[String],
    limits: Limits,
) -> Result<Outcome, Error> {
    if modules.is_empty() {
        return Ok(Outcome::default());
    }
    let report = write(scratch, "report.jsonl", "")?;
    let driver = write(scratch, "driver.py", DRIVER)?;
    let task = serde_json::json!({
        "tree": scratch.tree(),
        "roots": absolute(scratch, roots),
        "modules": modules,
        "changed": changed,
        "seconds": limits.time.as_secs().clamp(1, MODULE_SECONDS),
        "jobs": thread::available_parallelism().map_or(1, usize::from),
    });
    let task = write(scratch, "task.json", &task.to_string())?;
    let label = "import of every module";
    let done = run(scratch, label, limits, |command| {
        command
            .arg(&driver)
            .arg(&task)
            .env("COALESCE_VERIFY_REPORT", &report);
    })?;
    let lines = read_report::<ImportLine>(&report, label)?;
    if lines.len() != modules.len() {
        let message = format!(
            "{label} reported {} of {}: {}",
            lines.len(),
            modules.len(),
            last_lines(&done.stderr)
        );
        return Err(Error::new(ErrorKind::Report, message));
    }
    let failures = lines.iter().filter_map(|line| {
        let error = line.error.as_ref()?;
        Some(Failure {
            subject: line.module.clone(),
            key: format!(
                "{error} {}",
                line.message.lines().next().unwrap_or_default()
            ),
            message: line.message.clone(),
            places: places(&line.places, scratch),
        })
    });
    let failures: Vec<Failure> = failures.collect();
    let hopeless = failures.len() == lines.len();
    Ok(Outcome {
        judged: lines.len(),
        hopeless: hopeless
            .then(|| failures.first().map(|one| one.message.clone()))
            .flatten(),
        failures,
        remembered: false,
    })
}

/// Runs pytest on `paths`.
pub(crate) fn tests(
    scratch: &Scratch,
    roots: &[TreePath],
    paths: &[String],
    limits: Limits,
) -> Result<Outcome, Error> {
    let report = write(scratch, "report.jsonl", "")?;
    let plugin = write(scratch, &format!("{PLUGIN_NAME}.py"), PLUGIN)?;
    let mut search: Vec<PathBuf> = absolute(scratch, roots);
    search.extend(plugin.parent().map(Path::to_owned));
    let search = env::join_paths(&search).map_err(|error| Error::new(ErrorKind::Copy, error))?;
    let done = run(scratch, "pytest", limits, |command| {
        command
            .args([
                "-m",
                "pytest",
                "-q",
                "--color=no",
                "-p",
                "no:cacheprovider",
                "-p",
                PLUGIN_NAME,
            ])
            .args(paths)
            .env("PYTHONPATH", &search)
            .env("COALESCE_VERIFY_REPORT", &report);
    })?;
    if done.stderr.contains("No module named pytest") {
        let message = "the interpreter has no pytest".to_owned();
        return Err(Error::new(ErrorKind::ProgramMissing, message));
    }
    let lines = read_report::<TestLine>(&report, "pytest")?;
    let mut judged: BTreeSet<&str> = BTreeSet::new();
    let mut failing: BTreeMap<&str, &TestLine> = BTreeMap::new();
    for line in &lines {
        judged.insert(&line.test);
        if line.failed {
            failing.entry(&line.test).or_insert(line);
        }
    }
    let failures = failing.values().map(|line| Failure {
        subject: line.test.clone(),
        // What a failing test says differs from run to run; that it fails does not.
        key: line.test.clone(),
        message: line.message.clone().unwrap_or_default(),
        places: places(line.places.as_deref().unwrap_or_default(), scratch),
    });
    let mut failures: Vec<Failure> = failures.collect();
    // 0: all pass, 1: some fail, 5: there are none; anything else is pytest's own trouble.
    let trouble = !matches!(done.code, Some(0 | 1 | 5));
    let said = last_lines(&format!(
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        done.stderr
    ));
    if trouble && failures.is_empty() {
        failures.push(Failure {
            subject: "pytest".to_owned(),
            key: String::new(),
            message: said.clone(),
            places: Vec::new(),
        });
    }
    Ok(Outcome {
        judged: judged.len(),
        hopeless: (trouble && judged.len() == failing.len()).then_some(said),
        failures,
        remembered: false,
    })
}

/// What tells two interpreters apart.
pub(crate) fn version(scratch: &Scratch, limits: Limits) -> Result<String, Error> {
    let done = run(scratch, "python", limits, |command| {
        command.args(["-c", "import sys; print(sys.executable, sys.version)"]);
    })?;
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn run(
    scratch: &Scratch,
    label: &str,
    limits: Limits,
    arguments: impl Fn(&mut Command),
) -> Result<Finished, Error> {
    let mut missing = None;
    for program in interpreters() {
        let mut command = Command::new(&program);
        command
            .current_dir(scratch.tree())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PYTHONPYCACHEPREFIX", scratch.directory().join("pycache"))
            .env_remove("PYTHONSTARTUP");
        arguments(&mut command);
        match program::run(&mut command, label, limits) {
            Err(error) if error.kind() == ErrorKind::ProgramMissing => missing = Some(error),
            done => return done,
        }
    }
    let none = || Error::new(ErrorKind::ProgramMissing, "`python3` was not found");
    Err(missing.unwrap_or_else(none))
}

/// Interpreters to try, the first that can be started counts.
fn interpreters() -> Vec<PathBuf> {
    if let Some(named) = env::var_os("COALESCE_PYTHON").filter(|named| !named.is_empty()) {
        return vec![PathBuf::from(named)];
    }
    let bin = if cfg!(windows) { "Scripts" } else { "bin" };
    let active = env::var_os("VIRTUAL_ENV").filter(|active| !active.is_empty());
    let active = active.map(|active| PathBuf::from(active).join(bin).join("python"));
    let known = ["python", "python3"].map(PathBuf::from);
    active.into_iter().chain(known.into_iter().rev()).collect()
}

fn absolute(scratch: &Scratch, roots: &[TreePath]) -> Vec<PathBuf> {
    let place = |root: &TreePath| {
        if root.is_root() {
            scratch.tree().to_owned()
        } else {
            scratch.tree().join(root.as_str())
        }
    };
    roots.iter().map(place).collect()
}

/// Writes a file beside the copied tree.
fn write(scratch: &Scratch, name: &str, text: &str) -> Result<PathBuf, Error> {
    let path = scratch.directory().join(name);
    fs::write(&path, text).map_err(|error| Error::copy(&path, &error))?;
    Ok(path)
}

fn read_report<L: for<'de> Deserialize<'de>>(path: &Path, label: &str) -> Result<Vec<L>, Error> {
    let unreadable = |error: &dyn std::fmt::Display| {
        Error::new(
            ErrorKind::Report,
            format!("the report of {label} cannot be read: {error}"),
        )
    };
    let text = fs::read_to_string(path).map_err(|error| unreadable(&error))?;
    let lines = text.lines().map(serde_json::from_str);
    lines
        .collect::<Result<_, _>>()
        .map_err(|error| unreadable(&error))
}

#[derive(Deserialize)]
struct ImportLine {
    module: String,
    error: Option<String>,
    message: String,
    places: Vec<(String, u32)>,
}

#[derive(Deserialize)]
struct TestLine {
    test: String,
    failed: bool,
    message: Option<String>,
    places: Option<Vec<(String, u32)>>,
}

/// Places as programs name them: relative to the copy, or absolute inside it.
fn places(found: &[(String, u32)], scratch: &Scratch) -> Vec<Place> {
    let inside = |(name, line): &(String, u32)| {
        let path = Path::new(name);
        let path = path.strip_prefix(scratch.tree()).unwrap_or(path);
        let path = TreePath::new(&path.to_str()?.replace('\\', "/")).ok()?;
        Some(Place { path, line: *line })
    };
    found.iter().filter_map(inside).collect()
}

/// `path:line` of files of the copy, and Python's `File "path", line N`, in what a command said.
pub(crate) fn places_in(text: &str, scratch: &Scratch) -> Vec<Place> {
    let mut found = Vec::new();
    for line in text.lines().rev() {
        let words = line.replace("\", line ", ":");
        for word in words.split(|c: char| c.is_whitespace() || "\"'`(),".contains(c)) {
            let mut parts = word.split(':');
            if let (Some(path), Some(Ok(number))) =
                (parts.next(), parts.next().map(str::parse::<u32>))
                && scratch.tree().join(path).is_file()
            {
                found.push((path.to_owned(), number));
            }
        }
    }
    places(&found, scratch)
}
