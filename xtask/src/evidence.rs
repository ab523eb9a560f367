//! `cargo xtask evidence`: what needs programs that the tests do not install, each tried here or skipped with its
//! reason. What was told goes to `docs/evidence/machines/`, one file each.

mod fleet;

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use crate::{
    Outcome,
    build::cargo,
    python::{Environment, succeeds},
    root::repository_root,
    test,
};

const HELP: &str = "\
cargo xtask evidence [NAME…] [--minutes N] [--python PATH] [--large]
                     [--trees FOLDER]… [--counts 100,300] [--program PATH]

Tries what needs more than `cargo xtask test` installs, and writes what it told to docs/evidence/machines:

  postgres   slots in PostgreSQL: the rules, the costs of a claim, the soak of 200 claimants
  etcd       the costs of a claim in a release build, and the soak over three members
  machines   ranks of a group on three machines (network namespaces)
  slurm      ranks that Slurm starts
  torchrun   ranks that torchrun starts (needs --large)
  ray        devices that Ray gives to its actors
  torch      PyTorch on the processor sees a buffer's memory (needs --large)
  arrays     arrays of 16 MiB to a worker and back, beside multiprocessing and Ray
  sample     the sample with its scattered modules, migrated to the runtime's Python package
  fleet      what `coalesce fleet` answers by each engine, all alike, and what it takes (needs --trees;
             Spark needs --large, and Java)

  --minutes N     soaks take so long each; 10 seconds unless told
  --python PATH   an interpreter that has Ray, PyTorch, NumPy, pytest and engines, instead of one that is made below target
  --large         installs PyTorch and Spark as well: with the libraries that PyTorch's wheel brings, 5 GB
  --trees FOLDER  each folder in it is a repository
  --counts N,…    asks about the first so many of them, by name; 100, 300 and 1000 unless told
  --program PATH  a coalesce that has Parquet, instead of a release build of this tree
";

/// What is told of a trial, or why it did not run.
type Told = Result<Vec<String>, Skipped>;

/// Why a trial did not run, or what it failed with.
enum Skipped {
    Because(String),
    Failed(String),
}

impl From<String> for Skipped {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// A trial.
struct Trial {
    name: &'static str,
    run: fn(&Options) -> Told,
}

const TRIALS: &[Trial] = &[
    Trial {
        name: "postgres",
        run: postgres,
    },
    Trial {
        name: "etcd",
        run: etcd,
    },
    Trial {
        name: "machines",
        run: machines,
    },
    Trial {
        name: "slurm",
        run: slurm,
    },
    Trial {
        name: "torchrun",
        run: torchrun,
    },
    Trial {
        name: "ray",
        run: ray,
    },
    Trial {
        name: "torch",
        run: torch,
    },
    Trial {
        name: "arrays",
        run: arrays,
    },
    Trial {
        name: "sample",
        run: sample,
    },
    Trial {
        name: "fleet",
        run: fleet::run,
    },
];

/// Packages that nobody installs without being asked to.
const LARGE: [(&str, &str); 2] = [
    ("torch", "PyTorch's wheel brings 5 GB of libraries"),
    ("pyspark", "Spark's package is 450 MB and needs Java"),
];

/// What the command line asks for.
struct Options {
    names: Vec<String>,
    seconds: f64,
    python: Option<PathBuf>,
    large: bool,
    trees: Vec<PathBuf>,
    counts: Vec<usize>,
    program: Option<PathBuf>,
}

impl Options {
    fn read(arguments: &[OsString]) -> Outcome<Option<Self>> {
        let mut options = Self {
            names: Vec::new(),
            seconds: 10.0,
            python: None,
            large: false,
            trees: Vec::new(),
            counts: vec![100, 300, 1000],
            program: None,
        };
        let mut words = arguments.iter().map(|word| word.to_string_lossy());
        while let Some(word) = words.next() {
            match word.as_ref() {
                "--large" => options.large = true,
                "--minutes" => {
                    let value = words.next().and_then(|value| value.parse::<f64>().ok());
                    options.seconds = 60.0 * value.ok_or("--minutes takes a number")?;
                }
                "--python" => {
                    options.python = Some(path_of("--python", words.next())?);
                }
                "--trees" => options.trees.push(path_of("--trees", words.next())?),
                "--program" => options.program = Some(path_of("--program", words.next())?),
                "--counts" => {
                    let counts = words.next().unwrap_or_default();
                    let counts: Result<_, _> = counts.split(',').map(str::parse).collect();
                    options.counts = counts.map_err(|_| "--counts takes numbers, as 100,300")?;
                }
                name if TRIALS.iter().any(|trial| trial.name == name) => {
                    options.names.push(name.to_owned());
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(options))
    }

    /// An interpreter with these modules; large ones are installed when that is asked for.
    fn python_with(&self, modules: &[&str]) -> Result<PathBuf, Skipped> {
        if let Some(python) = &self.python {
            let import = format!("import {}", modules.join(", "));
            let python_text = python.to_string_lossy();
            return match succeeds(&[python_text.as_ref(), "-c", &import], None) {
                true => Ok(python.clone()),
                false => Err(Skipped::Because(format!("no {}", modules.join(" and ")))),
            };
        }
        let large = LARGE.iter().find(|(module, _)| modules.contains(module));
        if let Some((_, why)) = large.filter(|_| !self.large) {
            return Err(Skipped::Because(format!("{why}: ask with --large")));
        }
        let made = Environment::with(modules).map_err(Skipped::Because)?;
        Ok(PathBuf::from(made.python().get_program()))
    }
}

/// An option's path, from here.
fn path_of(option: &str, value: Option<impl AsRef<str>>) -> Outcome<PathBuf> {
    let value = value.ok_or_else(|| format!("{option} takes a path"))?;
    std::path::absolute(value.as_ref()).map_err(|error| error.to_string())
}

/// `cargo xtask evidence`.
pub fn run(arguments: &[OsString]) -> Outcome {
    let Some(options) = Options::read(arguments)? else {
        print!("{HELP}");
        return Ok(());
    };
    let is_asked = |trial: &&Trial| {
        let mut names = options.names.iter();
        options.names.is_empty() || names.any(|asked| asked == trial.name)
    };
    let mut failed = Vec::new();
    for trial in TRIALS.iter().filter(is_asked) {
        println!("── {}", trial.name);
        let begin = Instant::now();
        let lines = match (trial.run)(&options) {
            Ok(lines) => lines,
            Err(Skipped::Because(why)) => vec![format!("not run: {why}")],
            Err(Skipped::Failed(why)) => {
                failed.push(trial.name);
                vec![format!("FAILED: {why}")]
            }
        };
        lines.iter().for_each(|line| println!("{line}"));
        write(trial.name, &lines, begin.elapsed().as_secs_f64())?;
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("failed: {}", failed.join(", "))),
    }
}

/// Writes what was told, with the command and the day.
fn write(name: &str, lines: &[String], seconds: f64) -> Outcome {
    let folder = repository_root().join("docs/evidence/machines");
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let day = said_by(Command::new("date").args(["-u", "+%F"])).unwrap_or_default();
    let commit = said_by(Command::new("git").args(["describe", "--always", "--dirty"]));
    let text = format!(
        "cargo xtask evidence {name}\n{} at {}, {seconds:.0} s\n\n{}\n",
        day.trim(),
        commit.unwrap_or_default().trim(),
        lines.join("\n")
    );
    fs::write(folder.join(format!("{name}.txt")), text).map_err(|error| error.to_string())
}

fn said_by(command: &mut Command) -> Option<String> {
    let output = command.current_dir(repository_root()).output().ok()?;
    let is_well = output.status.success();
    is_well.then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Tests of a package in a release build, and those of their lines that tell something.
fn tests(package: &str, target: &[&str], names: &[&str], set: &[(&str, String)]) -> Told {
    let mut told = Vec::new();
    for name in names {
        let mut cargo = cargo();
        cargo
            .args(["test", "--release", "--quiet", "-p", package])
            .args(target)
            .args(["--", "--nocapture", "--test-threads=1", name])
            .envs(set.iter().map(|(name, value)| (name, value)))
            .stderr(Stdio::inherit());
        let output = cargo.output().map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            println!("{text}");
            return Err(Skipped::Failed(format!("{package}: {name}")));
        }
        let lines = text.lines().filter(|line| is_told(line));
        told.extend(lines.map(|line| format!("{name}: {}", line.trim_start_matches('.'))));
    }
    let skipped = told.iter().find(|line| line.contains("skipped: "));
    match skipped {
        Some(line) if told.len() == 1 => Err(Skipped::Because(line.clone())),
        _ => Ok(told),
    }
}

/// Lines of ours; not those of the machinery that runs tests.
fn is_told(line: &str) -> bool {
    const OF_TESTS: &[&str] = &["running ", "test result", "warning", "=====", "--"];
    let line = line.trim_start_matches('.').trim();
    line.contains(' ') && !OF_TESTS.iter().any(|start| line.starts_with(start))
}

fn soak(options: &Options) -> (&'static str, String) {
    ("COALESCE_SOAK_SECONDS", options.seconds.to_string())
}

fn postgres(options: &Options) -> Told {
    provide(
        &["sh", "-c", "ls /usr/lib/postgresql/*/bin/initdb"],
        "postgresql",
    )?;
    let names = [
        "rules_hold",
        "lost",
        "late",
        "gone",
        "stops",
        "costs",
        "soak_slots",
    ];
    tests(
        "core-gpu-postgres",
        &["--test", "slots"],
        &names,
        &[soak(options)],
    )
}

fn etcd(options: &Options) -> Told {
    provide(&["etcd", "--version"], "etcd-server")?;
    let names = ["costs", "soak_slots"];
    tests(
        "core-gpu-etcd",
        &["--test", "slots"],
        &names,
        &[soak(options)],
    )
}

fn machines(_: &Options) -> Told {
    let names = ["machines_start", "another_launcher"];
    tests("core-gpu", &["--test", "machines"], &names, &[])
}

fn slurm(_: &Options) -> Told {
    provide(&["slurmctld", "-V"], "slurm-wlm")?;
    let is_administrator = said_by(Command::new("id").arg("-u")).is_some_and(|id| id == "0\n");
    if !is_administrator {
        let why = "Slurm's daemons are started by the administrator alone";
        return Err(Skipped::Because(why.to_owned()));
    }
    let asked = ("COALESCE_EVIDENCE_SLURM", "1".to_owned());
    tests("core-gpu", &["--test", "machines"], &["slurm"], &[asked])
}

fn torchrun(options: &Options) -> Told {
    let python = options.python_with(&["torch"])?;
    let program = python.with_file_name("torchrun").display().to_string();
    let asked = ("COALESCE_EVIDENCE_TORCHRUN", program);
    tests("core-gpu", &["--test", "machines"], &["torchrun"], &[asked])
}

fn in_python(options: &Options, modules: &[&str], name: &str) -> Told {
    let python = options.python_with(modules)?;
    let asked = ("COALESCE_EVIDENCE_PYTHON", python.display().to_string());
    tests("core-gpu-python", &["--test", "python"], &[name], &[asked])
}

fn ray(options: &Options) -> Told {
    in_python(options, &["pytest", "numpy", "ray"], "ray_gives_out")
}

fn torch(options: &Options) -> Told {
    in_python(options, &["pytest", "numpy", "torch"], "pytorch_sees")
}

/// The package as cargo builds it, in a folder that Python imports from.
fn package() -> Outcome<PathBuf> {
    let root = repository_root();
    let mut build = cargo();
    build.args(["build", "--release", "-p", "core-gpu-python"]);
    finish(build)?;
    let folder = root.join("target/evidence/package");
    let into = folder.join("core_gpu");
    fs::create_dir_all(&into).map_err(|error| error.to_string())?;
    let from = root.join("crates/core-gpu-python/python/core_gpu");
    for entry in fs::read_dir(from)
        .map_err(|error| error.to_string())?
        .flatten()
    {
        let path = entry.path();
        if path.extension().is_some_and(|end| end == "py") {
            fs::copy(&path, into.join(entry.file_name())).map_err(|error| error.to_string())?;
        }
    }
    let library = root.join("target/release/lib_core_gpu.so");
    fs::copy(library, into.join("_core_gpu.abi3.so")).map_err(|error| error.to_string())?;
    Ok(folder)
}

fn arrays(options: &Options) -> Told {
    let python = options.python_with(&["numpy", "ray"])?;
    let bench = repository_root().join("crates/core-gpu-python/benches/arrays.py");
    let mut run = Command::new(python);
    run.arg(bench).arg("16").env("PYTHONPATH", package()?);
    let said = said_by(&mut run).ok_or_else(|| "the benchmark failed".to_owned())?;
    Ok(said.lines().map(str::to_owned).collect())
}

/// The sample's own tests before, between and after: with the home first, and then with the runtime in it.
fn sample(options: &Options) -> Told {
    let python = options.python_with(&["numpy"])?;
    let tree = repository_root().join("target/evidence/sample");
    let _ = fs::remove_dir_all(&tree);
    fs::create_dir_all(&tree).map_err(|error| error.to_string())?;
    let copied = |part: &str| -> Outcome {
        let from = repository_root().join("examples/scattered").join(part);
        let mut copy = Command::new("cp");
        copy.arg("-r").arg(from.join(".")).arg(&tree);
        finish(copy)
    };
    copied("python")?;
    let package = package()?;
    let passes = |when: &str| -> Outcome<String> {
        let mut tests = Command::new(&python);
        tests
            .args(["-m", "unittest", "--quiet"])
            .env("PYTHONPATH", &package)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(&tree);
        finish(tests).map_err(|why| format!("{when}: {why}"))?;
        Ok(format!("{when}: the sample's tests pass"))
    };
    let mut told = vec![passes("before")?];
    migrate(&tree)?;
    told.push(passes("with one home, after `coalesce migrate`")?);
    copied("runtime")?;
    migrate(&tree)?;
    told.push(passes(
        "with the runtime's package, after `coalesce migrate`",
    )?);
    told.push(asks_the_runtime(&tree, &python, &package)?);
    Ok(told)
}

fn migrate(tree: &Path) -> Outcome {
    let mut migrate = cargo();
    migrate
        .args([
            "run",
            "--quiet",
            "--profile",
            "quick",
            "-p",
            "coalesce",
            "--no-default-features",
        ])
        .args([
            "--features",
            "git",
            "--",
            "migrate",
            "--yes",
            "--quiet",
            "--allow-unproven",
            "--root",
        ])
        .arg(tree);
    finish(migrate)
}

/// Nothing of the sample asks by itself any more which devices there are.
fn asks_the_runtime(tree: &Path, python: &Path, package: &Path) -> Outcome<String> {
    if tree.join("lidar/core/gpu.py").exists() {
        return Err("the module that looks for devices itself is still there".to_owned());
    }
    let program = "import lidar.filter as f, core_gpu, lidar.core.accelerate as a; \
                   high, size = f.run([1.0, 2.0, 3.0], 1.5); \
                   pool = a.gpu_manager().gpu.pool_statistics(); \
                   assert type(a.gpu_manager().gpu) is core_gpu.Gpu and pool; \
                   print(high, 'and a block of', size, 'bytes')";
    let mut run = Command::new(python);
    run.args(["-c", program])
        .env("PYTHONPATH", package)
        .current_dir(tree);
    let output = run.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(format!(
            "its programs ask core_gpu: {}",
            String::from_utf8_lossy(&output.stdout).trim()
        )),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn finish(mut command: Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .map_err(|error| format!("{name}: {error}"))?;
    status
        .success()
        .then_some(())
        .ok_or_else(|| format!("{name} failed"))
}

/// Installs a program that is not there, where that needs no password.
fn provide(probe: &[&str], package: &str) -> Result<(), Skipped> {
    if !succeeds(probe, None) {
        test::install(&[package]);
    }
    match succeeds(probe, None) {
        true => Ok(()),
        false => Err(Skipped::Because(format!("`{package}` is not installed"))),
    }
}
