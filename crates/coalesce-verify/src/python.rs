//! Python: every module imported in a process of its own, and the project's tests under pytest.
//!
//! The interpreter is the one that `COALESCE_PYTHON` names, that of the active virtual environment,
//! `python3` or `python`. Byte code is told by the hash of its source and lies beside the copy: that
//! which Python writes by itself goes by times with a grain of a second.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc,
    thread,
    time::Duration,
};

use coalesce_model::TreePath;
use serde::Deserialize;

use crate::{
    check::{Failure, Limits, Outcome, Place, Watch, last_lines},
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

/// What is imported.
pub(crate) struct Imports<'c> {
    /// Directories that names begin at.
    pub roots: &'c [TreePath],
    /// Full names.
    pub modules: &'c [String],
    /// Those that the change concerns.
    pub changed: &'c [String],
}

impl Imports<'_> {
    /// What the driver is told.
    fn describe(&self, scratch: &Scratch, limits: Limits) -> serde_json::Value {
        serde_json::json!({
            "tree": scratch.tree(),
            "roots": absolute(scratch, self.roots),
            "modules": self.modules,
            "changed": self.changed,
            "seconds": limits.time.as_secs().clamp(1, MODULE_SECONDS),
            "jobs": thread::available_parallelism().map_or(1, usize::from),
            // What was found once only saves time: whatever the list lacks is imported where it is needed.
            "outside": scratch.directory().join("outside.txt"),
        })
    }
}

/// Imports the modules, each in a process of its own.
pub(crate) fn imports(
    scratch: &Scratch,
    task: &Imports<'_>,
    limits: Limits,
    watch: Watch<'_>,
) -> Result<Outcome, Error> {
    if task.modules.is_empty() {
        return Ok(Outcome::default());
    }
    let lines = run_imports(scratch, task, limits, watch)?;
    let failures = lines.iter().filter_map(|line| line.failure(scratch));
    let failures: Vec<Failure> = failures.collect();
    let first = failures.first().map(|failure| failure.message.clone());
    let hopeless = failures.len() == lines.len();
    let passed = lines.iter().filter(|line| line.error.is_none());
    let loaded = passed.map(|line| (line.module.clone(), line.loaded.clone()));
    Ok(Outcome {
        judged: lines.len(),
        loaded: loaded.collect(),
        hopeless: first.filter(|_| hopeless),
        failures,
        ..Outcome::default()
    })
}

/// Runs the driver; what it reports of each module, by their names.
fn run_imports(
    scratch: &Scratch,
    task: &Imports<'_>,
    limits: Limits,
    watch: Watch<'_>,
) -> Result<Vec<ImportLine>, Error> {
    let label = "import of every module";
    let modules = task.modules.len();
    let report = write(scratch, "report.jsonl", "")?;
    let driver = write(scratch, "driver.py", DRIVER)?;
    let task = task.describe(scratch, limits);
    let task = write(scratch, "task.json", &task.to_string())?;
    let done = watched(&report, modules, watch, || {
        run(scratch, label, limits, |command| {
            command.arg(&driver).arg(&task);
            command.env("COALESCE_VERIFY_REPORT", &report);
        })
    })?;
    let mut lines = read_report::<ImportLine>(&report, label)?;
    if lines.len() != modules {
        let (reported, said) = (lines.len(), last_lines(&done.stderr));
        let message = format!("{label} reported {reported} of {modules}: {said}");
        return Err(Error::new(ErrorKind::Report, message));
    }
    // They come as they end.
    lines.sort_by(|a, b| a.module.cmp(&b.module));
    Ok(lines)
}

/// Runs pytest on `paths`.
pub(crate) fn tests(
    scratch: &Scratch,
    roots: &[TreePath],
    paths: &[String],
    limits: Limits,
) -> Result<Outcome, Error> {
    let report = write(scratch, "report.jsonl", "")?;
    let done = run_pytest(scratch, roots, (paths, &report), limits)?;
    if done.stderr.contains("No module named pytest") {
        let message = "the interpreter has no pytest".to_owned();
        return Err(Error::new(ErrorKind::ProgramMissing, message));
    }
    let lines = read_report::<TestLine>(&report, "pytest")?;
    let judged: BTreeSet<&str> = lines.iter().map(|line| line.test.as_str()).collect();
    let mut failing: BTreeMap<&str, &TestLine> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.failed) {
        failing.entry(&line.test).or_insert(line);
    }
    let failures = failing.values().map(|line| line.failure(scratch));
    let mut failures: Vec<Failure> = failures.collect();
    let trouble = own_trouble(&done);
    if failures.is_empty() {
        let whole = trouble.clone().into_iter();
        failures.extend(whole.map(|said| Failure::of_program("pytest".to_owned(), said)));
    }
    Ok(Outcome {
        judged: judged.len(),
        hopeless: trouble.filter(|_| judged.len() == failing.len()),
        failures,
        ..Outcome::default()
    })
}

/// Runs pytest with the plugin that writes its report.
fn run_pytest(
    scratch: &Scratch,
    roots: &[TreePath],
    (paths, report): (&[String], &Path),
    limits: Limits,
) -> Result<Finished, Error> {
    let plugin = write(scratch, &format!("{PLUGIN_NAME}.py"), PLUGIN)?;
    let mut search: Vec<PathBuf> = absolute(scratch, roots);
    search.extend(plugin.parent().map(Path::to_owned));
    let search = env::join_paths(&search).map_err(|error| Error::new(ErrorKind::Copy, error))?;
    run(scratch, "pytest", limits, |command| {
        command
            .args(["-m", "pytest", "-q", "--color=no"])
            .args(["-p", "no:cacheprovider", "-p", PLUGIN_NAME])
            .args(paths)
            .env("PYTHONPATH", &search)
            .env("COALESCE_VERIFY_REPORT", report);
    })
}

/// What pytest says of trouble of its own.
fn own_trouble(done: &Finished) -> Option<String> {
    // 0: all pass, 1: some fail, 5: there are none.
    let trouble = !matches!(done.code, Some(0 | 1 | 5));
    let out = String::from_utf8_lossy(&done.stdout);
    trouble.then(|| last_lines(&format!("{out}{}", done.stderr)))
}

/// What tells two interpreters apart: itself, and what is installed for it.
pub(crate) fn environment(scratch: &Scratch, limits: Limits) -> Result<String, Error> {
    const ASK: &str = "import sys\nprint(sys.executable, sys.version)\ntry:\n import importlib.metadata as m\n \
         print(sorted('%s %s' % (d.metadata['Name'], d.version) for d in m.distributions()))\n\
         except ImportError: pass";
    let done = run(scratch, "python", limits, |command| {
        command.args(["-c", ASK]);
    })?;
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The interpreter alone: where it is, and its version.
pub(crate) fn interpreter(scratch: &Scratch, limits: Limits) -> Result<String, Error> {
    let said = environment(scratch, limits)?;
    Ok(said.lines().next().unwrap_or_default().to_owned())
}

/// Runs what writes a report, and tells of each line that is there.
fn watched<T>(report: &Path, of: usize, watch: Watch<'_>, run: impl FnOnce() -> T) -> T {
    const LOOK: Duration = Duration::from_millis(200);
    let (ended, wait) = mpsc::channel::<()>();
    thread::scope(|threads| {
        threads.spawn(move || {
            while wait.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
                // It is told again, or not at all: nothing depends on it.
                if let Ok(text) = fs::read(report) {
                    watch(text.iter().filter(|byte| **byte == b'\n').count(), of);
                }
            }
        });
        let done = run();
        drop(ended);
        done
    })
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
        match program::run(&mut command, label, limits, scratch) {
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
    let copy = |error: &io::Error| Error::copy(&path, error);
    // What the tree has run before may have put a link here, and a link is followed to where it leads.
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(copy(&error)),
        _ => {}
    }
    let mut file = fs::File::create_new(&path).map_err(|error| copy(&error))?;
    file.write_all(text.as_bytes())
        .map_err(|error| copy(&error))?;
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
    /// What of the tree the import has loaded, as places in the list of modules.
    #[serde(default)]
    loaded: Vec<u32>,
}

impl ImportLine {
    fn failure(&self, scratch: &Scratch) -> Option<Failure> {
        let error = self.error.as_ref()?;
        let first = self.message.lines().next().unwrap_or_default();
        Some(Failure {
            subject: self.module.clone(),
            key: format!("{error} {first}"),
            message: self.message.clone(),
            places: places(&self.places, scratch),
            suggestions: Vec::new(),
            settled: !matches!(error.as_str(), "TimeLimit" | "Killed"),
        })
    }
}

#[derive(Deserialize)]
struct TestLine {
    test: String,
    failed: bool,
    message: Option<String>,
    places: Option<Vec<(String, u32)>>,
}

impl TestLine {
    fn failure(&self, scratch: &Scratch) -> Failure {
        Failure {
            subject: self.test.clone(),
            // What a failing test says differs from run to run; that it fails does not.
            key: self.test.clone(),
            message: self.message.clone().unwrap_or_default(),
            places: places(self.places.as_deref().unwrap_or_default(), scratch),
            suggestions: Vec::new(),
            settled: true,
        }
    }
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
        let words = words.split(|c: char| c.is_whitespace() || "\"'`(),".contains(c));
        found.extend(words.filter_map(|word| {
            let mut parts = word.split(':');
            let (path, number) = (parts.next()?, parts.next()?.parse::<u32>().ok()?);
            let is_there = scratch.tree().join(path).is_file();
            is_there.then(|| (path.to_owned(), number))
        }));
    }
    places(&found, scratch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::{Content, Wanted};

    /// A tree of every way in which a process may not be like a new one.
    const TREE: &[(&str, &str)] = &[
        ("p/__init__.py", "import json\nCOUNT = []\n"),
        // Only in a process of its own is it the first.
        (
            "p/first.py",
            "import p\np.COUNT.append(1)\nassert len(p.COUNT) == 1\n",
        ),
        (
            "p/second.py",
            "import p\np.COUNT.append(1)\nassert len(p.COUNT) == 1\n",
        ),
        ("p/gone.py", "from p import missing\n"),
        ("p/odd.py", "raise ZeroDivisionError('always')\n"),
        ("p/ends.py", "import os\nos._exit(3)\n"),
        ("p/sub/__init__.py", "import p.first\n"),
        ("p/sub/deep.py", "import p\nassert len(p.COUNT) == 1\n"),
        ("p/broken/__init__.py", "import nowhere_at_all\n"),
        ("p/broken/below.py", ""),
        // A copy has no second thread, so none is made of this one.
        (
            "p/threads/__init__.py",
            "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
        ),
        (
            "p/threads/below.py",
            "import threading\nassert threading.active_count() == 2\n",
        ),
        // Something stands before the first import of the tree: it must see a process without it.
        (
            "test_mock.py",
            "import sys\nassert 'p' not in sys.modules\nimport p\n",
        ),
        (
            "test_plain.py",
            "\"\"\"Tests.\"\"\"\nimport os\nfrom p.sub import deep\nimport q\n",
        ),
        ("test_exit.py", "import p\nraise SystemExit(1)\n"),
    ];

    #[test]
    fn each_module_has_a_process_as_good_as_new() {
        let cache = tempfile::tempdir().unwrap();
        let scratch = Scratch::open(cache.path(), Path::new("/some/tree")).unwrap();
        let file = |(path, text): &(&str, &str)| {
            let content = Content::Bytes(text.as_bytes().to_vec(), None);
            (TreePath::new(path).unwrap(), content)
        };
        let wanted: Wanted = TREE.iter().map(file).collect();
        scratch.bring(&wanted).unwrap();
        let module = |path: &TreePath| {
            let name = path.as_str().trim_end_matches(".py").replace('/', ".");
            name.trim_end_matches(".__init__").to_owned()
        };
        let modules: Vec<String> = wanted.keys().map(module).collect();
        let limits = Limits {
            time: Duration::from_secs(100),
            output_bytes: 1 << 20,
        };
        // All shared, all clean, and a few of each; the last with what was found by those before.
        let some: Vec<String> = modules.iter().step_by(3).cloned().collect();
        for changed in [&[][..], &modules, &some] {
            let roots = [TreePath::root()];
            let task = Imports {
                roots: &roots,
                modules: &modules,
                changed,
            };
            let seen = std::sync::atomic::AtomicUsize::new(0);
            let watch = |done, of| {
                assert_eq!(of, modules.len());
                seen.fetch_max(done, std::sync::atomic::Ordering::Relaxed);
            };
            let outcome = match imports(&scratch, &task, limits, &watch) {
                Err(error) if error.kind() == ErrorKind::ProgramMissing => return,
                outcome => outcome.unwrap(),
            };
            let found: Vec<(&str, &str)> = outcome
                .failures
                .iter()
                .map(|one| (one.subject.as_str(), one.key.as_str()))
                .collect();
            let nowhere =
                "ModuleNotFoundError ModuleNotFoundError: No module named 'nowhere_at_all'";
            let ended = "Killed its process ended with 3";
            let expected = [
                ("p.broken", nowhere),
                ("p.broken.below", nowhere),
                ("p.ends", ended),
                (
                    "p.gone",
                    "ImportError ImportError: cannot import name 'missing' from 'p'",
                ),
                ("p.odd", "ZeroDivisionError ZeroDivisionError: always"),
                ("test_exit", "SystemExit SystemExit: 1"),
                (
                    "test_plain",
                    "ModuleNotFoundError ModuleNotFoundError: No module named 'q'",
                ),
            ];
            assert_eq!(found.len(), expected.len(), "{changed:?}: {found:#?}");
            for ((subject, key), (wanted, said)) in found.iter().zip(expected) {
                assert_eq!(*subject, wanted, "{changed:?}");
                assert!(key.starts_with(said), "{subject}: {key}");
            }
            assert_eq!(outcome.judged, modules.len());
        }
    }
}
