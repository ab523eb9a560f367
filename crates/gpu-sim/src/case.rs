//! Cases of the C interface: a test runs itself again in a process of its own, in which the
//! simulated libraries are found where a program looks for a driver. A crash, a hang and a leak at
//! the end are then the failure of that case, and no other test is disturbed.
//!
//! ```no_run
//! # #[cfg(test)]
//! #[test]
//! fn two_devices_are_found() {
//!     gpu_sim::case::Case::new("two_devices_are_found")
//!         .variable("GPU_SIM_DEVICES", "1048576,1048576")
//!         .run(|| assert_eq!(core_gpu_driver::cuda::devices().unwrap().len(), 2));
//! }
//! ```

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Set in the process of a case, to its name.
const CASE: &str = "GPU_SIM_CASE";
/// How long a case may take.
const DEADLINE: Duration = Duration::from_secs(60);
/// The simulated libraries: what cargo builds them as, and the names that programs look for.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("sim_cuda", &["libcuda.so.1", "libcuda.so"]),
    ("sim_management", &["libnvidia-ml.so.1", "libnvidia-ml.so"]),
    ("sim_hip", &["libamdhip64.so.6"]),
    ("sim_collectives", &["libnccl.so.2", "libnccl.so"]),
];

/// A test that wants the simulated libraries in a process of its own.
#[derive(Clone, Debug)]
pub struct Case {
    name: String,
    variables: Vec<(String, String)>,
    missing_symbols: Vec<String>,
    without: Vec<String>,
    deadline: Duration,
}

impl Case {
    /// A case of the test with that path: its name, behind the modules that it is in.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            variables: Vec::new(),
            missing_symbols: Vec::new(),
            without: Vec::new(),
            deadline: DEADLINE,
        }
    }

    /// Sets a variable of the case's process; see [`crate::environment`].
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Lets a function be missing in all libraries.
    #[must_use]
    pub fn without_symbol(mut self, symbol: &str) -> Self {
        self.missing_symbols.push(symbol.to_owned());
        self
    }

    /// Lets a library be missing: `sim_cuda`, `sim_management`, `sim_hip` or `sim_collectives`.
    #[must_use]
    pub fn without_library(mut self, library: &str) -> Self {
        self.without.push(library.to_owned());
        self
    }

    /// How long the case may take; a minute unless it is said.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Runs the body in a process of its own. Returns in the test's own process when that process
    /// has ended well.
    ///
    /// # Panics
    /// When the process fails, crashes, or does not end; it is a test's assertion.
    pub fn run(&self, body: impl FnOnce()) {
        let here = env::var(CASE).ok();
        if here.as_deref() == Some(self.key().as_str()) {
            body();
            return;
        }
        if here.is_some() {
            // Another case of the same test.
            return;
        }
        if let Err(why) = self.run_apart() {
            #[expect(clippy::panic, reason = "it is a test's assertion")]
            {
                panic!("case {}: {why}", self.key());
            }
        }
    }

    /// What tells cases of one test apart.
    fn key(&self) -> String {
        format!(
            "{} {:?} {:?} {:?}",
            self.name, self.variables, self.missing_symbols, self.without
        )
    }

    fn run_apart(&self) -> Result<(), String> {
        let folder = Folder::new()?;
        self.provide(&folder.0)?;
        let executable = env::current_exe().map_err(|error| error.to_string())?;
        let output = folder.0.join("output");
        let file = |path: &Path| fs::File::create(path).map_err(|error| error.to_string());
        let (stdout, stderr) = (file(&output)?, file(&folder.0.join("errors"))?);
        let mut child = Command::new(executable)
            .args([
                self.name.as_str(),
                "--exact",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(CASE, self.key())
            // What hides devices here is meant for those of this machine.
            .env_remove("CUDA_VISIBLE_DEVICES")
            .env_remove("HIP_VISIBLE_DEVICES")
            .env("COALESCE_DRIVER", "sim")
            .env("LD_LIBRARY_PATH", &folder.0)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .map_err(|error| error.to_string())?;
        let start = Instant::now();
        let ended = loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                break Some(status);
            }
            if start.elapsed() > self.deadline {
                // It hangs: there is nothing to lose. Neither call can fail in a way that matters.
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let said = folder.said();
        match ended {
            None => Err(format!("did not end within {:?}\n{said}", self.deadline)),
            Some(status) if !status.success() => Err(format!("{status}\n{said}")),
            Some(_) if !said.contains("1 passed") => Err(format!("there is no such test\n{said}")),
            Some(_) => Ok(()),
        }
    }

    /// Puts a library in the folder: itself, or a copy in which functions are missing.
    fn place(&self, built: &Path, to: &Path) -> io::Result<()> {
        if self.missing_symbols.is_empty() {
            // The folder may be on another file system.
            return fs::hard_link(built, to).or_else(|_| fs::copy(built, to).map(|_| ()));
        }
        let mut bytes = fs::read(built)?;
        for symbol in &self.missing_symbols {
            rename_symbol(&mut bytes, symbol);
        }
        fs::write(to, &bytes)
    }

    /// Puts the libraries where the process finds them.
    fn provide(&self, folder: &Path) -> Result<(), String> {
        for (library, names) in LIBRARIES {
            if self.without.iter().any(|without| without == library) {
                continue;
            }
            let built = library_path(library)?;
            // One file under all names: the loader must not take them for different libraries.
            let mut names = names.iter().map(|name| folder.join(name));
            let Some(first) = names.next() else { continue };
            self.place(&built, &first)
                .map_err(|error| format!("{}: {error}", built.display()))?;
            for name in names {
                fs::hard_link(&first, name).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }
}

/// Lets a name be another: what looks for it does not find it.
fn rename_symbol(bytes: &mut [u8], symbol: &str) {
    let mut wanted = vec![0];
    wanted.extend(symbol.bytes());
    wanted.push(0);
    let places: Vec<_> = bytes
        .windows(wanted.len())
        .enumerate()
        .filter(|(_, window)| *window == wanted)
        .map(|(place, _)| place + 1)
        .collect();
    for place in places {
        if let Some(first) = bytes.get_mut(place) {
            *first = b'~';
        }
    }
}

/// Where cargo has put a simulated library, which it builds with all of this package's tests. For
/// the tests of other packages, and for some of this one's, it is built here, also when its sources
/// have changed since.
///
/// # Errors
/// When it is not there and cannot be built, in words.
pub fn library_path(library: &str) -> Result<PathBuf, String> {
    let name = format!(
        "{}{library}{}",
        env::consts::DLL_PREFIX,
        env::consts::DLL_SUFFIX
    );
    built("gpu-sim", library, &name)
}

/// Where cargo has put an example that is a program, for a test that runs it in a case. It is built
/// here as a library is, then with the package's own features.
///
/// # Errors
/// When it is not there and cannot be built, in words.
pub fn program_path(package: &str, example: &str) -> Result<PathBuf, String> {
    let name = format!("{example}{}", env::consts::EXE_SUFFIX);
    built(package, example, &name)
}

fn built(package: &str, example: &str, name: &str) -> Result<PathBuf, String> {
    let executable = env::current_exe().map_err(|error| error.to_string())?;
    let profile = executable
        .ancestors()
        .find(|folder| folder.join("examples").is_dir() || folder.ends_with("debug"))
        .ok_or("this is no test of cargo's")?;
    let path = profile.join("examples").join(name);
    if !is_fresh(&path) {
        build(package, example, profile)?;
    }
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!("there is no {}", path.display()))
    }
}

/// Whether the library is there, and no older than what cargo wrote beside it that it is made of.
fn is_fresh(path: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|found| found.modified());
    let (Ok(built), Ok(listed)) = (changed(path), fs::read_to_string(path.with_extension("d")))
    else {
        return false;
    };
    // `library: source source`, a blank in a name behind a backslash.
    let Some((_, sources)) = listed.split_once(": ") else {
        return false;
    };
    let sources = sources.replace("\\ ", "\0");
    sources.split_whitespace().all(|source| {
        let source = source.replace('\0', " ");
        changed(Path::new(&source)).is_ok_and(|changed| changed <= built)
    })
}

fn build(package: &str, example: &str, profile: &Path) -> Result<(), String> {
    let cargo = env::var_os("CARGO").ok_or("cargo is not known, and the example is not built")?;
    let mut command = Command::new(cargo);
    command.args([
        "build",
        "--quiet",
        "--package",
        package,
        "--example",
        example,
    ]);
    if profile.ends_with("release") {
        command.arg("--release");
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("building {example} ended with {status}")),
        Err(error) => Err(format!("building {example}: {error}")),
    }
}

/// A folder for one case, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Relaxed);
        let name = format!("gpu-sim-{}-{number}", std::process::id());
        let folder = env::temp_dir().join(name);
        fs::create_dir(&folder).map_err(|error| error.to_string())?;
        Ok(Self(folder))
    }

    /// What the process said.
    fn said(&self) -> String {
        let read = |name: &str| fs::read(self.0.join(name)).unwrap_or_default();
        let (output, errors) = (read("output"), read("errors"));
        format!(
            "{}{}",
            String::from_utf8_lossy(&output),
            String::from_utf8_lossy(&errors)
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left lies in the system's temporary folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}
