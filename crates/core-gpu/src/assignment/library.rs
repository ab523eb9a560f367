//! Whether a library is there that a step's memory is of. Nothing is imported to find out: that
//! would start the library, and with it a context on a device.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// A library is missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LibraryMissing(
    /// What was looked for and where.
    pub String,
);

/// Finds out whether a library is there.
pub trait LibraryProbe: fmt::Debug {
    /// Looks for a library by the name that programs import it by.
    ///
    /// # Errors
    /// It is not there, or that could not be found out.
    fn look(&self, library: &str) -> Result<(), LibraryMissing>;
}

/// Libraries that somebody has listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Libraries(BTreeSet<String>);

impl Libraries {
    /// These and no others.
    #[must_use]
    pub fn these<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().map(str::to_owned).collect())
    }
}

impl LibraryProbe for Libraries {
    fn look(&self, library: &str) -> Result<(), LibraryMissing> {
        if self.0.contains(library) {
            return Ok(());
        }
        Err(LibraryMissing("it is not among those listed".to_owned()))
    }
}

/// The packages that a Python interpreter would import. Each is looked for once. Any thread.
#[derive(Debug)]
pub struct PythonLibraries {
    interpreter: PathBuf,
    deadline: Duration,
    known: Mutex<BTreeMap<String, Result<(), LibraryMissing>>>,
}

/// Finds a package without importing it.
const SCRIPT: &str = "import importlib.util as u, sys; sys.exit(u.find_spec(sys.argv[1]) is None)";

impl PythonLibraries {
    /// Those of this interpreter.
    #[must_use]
    pub fn of(interpreter: impl Into<PathBuf>) -> Self {
        Self {
            interpreter: interpreter.into(),
            deadline: Duration::from_secs(20),
            known: Mutex::default(),
        }
    }

    fn ask(&self, library: &str) -> Result<(), LibraryMissing> {
        let interpreter = self.interpreter.display();
        let failed = |why: &dyn fmt::Display| {
            LibraryMissing(format!("{interpreter} could not be asked for it: {why}"))
        };
        let mut child = Command::new(&self.interpreter)
            .args(["-c", SCRIPT, library])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed(&error))?;
        let start = Instant::now();
        while start.elapsed() < self.deadline {
            match child.try_wait().map_err(|error| failed(&error))? {
                Some(status) if status.success() => return Ok(()),
                Some(status) if status.code() == Some(1) => {
                    return Err(LibraryMissing(format!("{interpreter} does not find it")));
                }
                Some(status) => return Err(failed(&status)),
                None => thread::sleep(Duration::from_millis(2)),
            }
        }
        // It hangs, and there is nothing to lose; neither call can fail in a way that matters.
        let _ = child.kill();
        let _ = child.wait();
        Err(failed(&"it did not answer in time"))
    }
}

impl LibraryProbe for PythonLibraries {
    fn look(&self, library: &str) -> Result<(), LibraryMissing> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known.get(library) {
            return answer.clone();
        }
        let answer = self.ask(library);
        known.insert(library.to_owned(), answer.clone());
        answer
    }
}
