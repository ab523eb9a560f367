//! What a check is, what it finds, and how it is run on the scratch copy.

use std::{collections::BTreeMap, process::Command, time::Duration};

use coalesce_model::TreePath;
use serde::{Deserialize, Serialize};

use crate::{
    cargo,
    error::{Error, ErrorKind},
    memory, program, python,
    scratch::{Scratch, Wanted},
    unused::UnusedImport,
};

/// Bounds on every program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// How many bytes it may print.
    pub output_bytes: usize,
}

/// One check of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Check {
    /// `cargo check` of a workspace.
    Cargo {
        /// Its directory.
        directory: TreePath,
        /// With which features, and for which target.
        configuration: CargoConfiguration,
    },
    /// Every module imported, each in a process of its own.
    Imports {
        /// Directories that names begin at.
        roots: Vec<TreePath>,
        /// Full names.
        modules: Vec<String>,
        /// Those that the change concerns: they get an interpreter that nothing was done in before.
        changed: Vec<String>,
    },
    /// pytest.
    Tests {
        /// Directories that names begin at.
        roots: Vec<TreePath>,
        /// What it is given.
        paths: Vec<String>,
    },
    /// A command of the manifest, by the system's shell.
    Command {
        /// As written.
        text: String,
    },
}

impl Check {
    /// What is started, for people.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Cargo {
                directory,
                configuration,
            } if directory.is_root() => configuration.command(),
            Self::Cargo {
                directory,
                configuration,
            } => format!("{} (in {directory})", configuration.command()),
            Self::Imports { modules, .. } => match modules.len() {
                1 => "import of 1 module".to_owned(),
                count => format!("import of {count} modules"),
            },
            Self::Tests { paths, .. } => format!("python -m pytest {}", paths.join(" "))
                .trim_end()
                .to_owned(),
            Self::Command { text } => text.clone(),
        }
    }
}

/// What `cargo check` is given: the whole workspace with its default features, unless it says more.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CargoConfiguration {
    /// Packages by name; all of the workspace when there is none.
    pub packages: Vec<String>,
    /// Features that are on besides.
    pub features: Vec<String>,
    /// Whether the default features are off.
    pub no_default_features: bool,
    /// The target triple; the machine's own when there is none.
    pub target: Option<String>,
}

impl CargoConfiguration {
    /// The arguments of cargo.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["check".to_owned()];
        if self.packages.is_empty() {
            arguments.push("--workspace".to_owned());
        }
        for package in &self.packages {
            arguments.extend(["-p".to_owned(), package.clone()]);
        }
        arguments.push("--all-targets".to_owned());
        if self.no_default_features {
            arguments.push("--no-default-features".to_owned());
        }
        if !self.features.is_empty() {
            arguments.extend(["--features".to_owned(), self.features.join(",")]);
        }
        if let Some(target) = &self.target {
            arguments.extend(["--target".to_owned(), target.clone()]);
        }
        arguments
    }

    /// What is started, for people.
    #[must_use]
    pub fn command(&self) -> String {
        format!("cargo {}", self.arguments().join(" "))
    }
}

/// A file that a compiler has read, and what was set when it did.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CompiledFile {
    /// The file.
    pub path: TreePath,
    /// The names that were set for it, as `rustc --print cfg` writes them; `test` among them where
    /// tests were compiled.
    pub names: Vec<String>,
}

/// A place in the copy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub path: TreePath,
    /// The line, 1-based.
    pub line: u32,
}

/// What would mend a failure, as the program that found it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    /// What it does: `consider importing this struct`.
    pub message: String,
    /// The changes, all of them or none.
    pub edits: Vec<SuggestedEdit>,
    /// Whether the program is certain of it.
    pub certain: bool,
}

/// One change of a file of the copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedEdit {
    /// The file.
    pub path: TreePath,
    /// First byte, 0-based, in the text that was checked.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// What stands there instead.
    pub text: String,
}

/// One thing that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What: a target, a module, a test, a command.
    pub subject: String,
    /// What makes it the same failure before and after, names of moved modules aside.
    pub key: String,
    /// What was said, the first line first.
    pub message: String,
    /// Where, the nearest place first.
    pub places: Vec<Place>,
    /// What the program says would mend it.
    #[serde(default)]
    pub suggestions: Vec<Suggestion>,
    /// Whether it would fail so again: it follows from the files, not from how long something took
    /// or what a test met.
    pub settled: bool,
}

impl Failure {
    /// That of a program as a whole, of which nobody knows whether it would fail so again.
    pub(crate) const fn of_program(subject: String, message: String) -> Self {
        Self {
            subject,
            key: String::new(),
            message,
            places: Vec::new(),
            suggestions: Vec::new(),
            settled: false,
        }
    }
}

/// What a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// How many things were judged.
    pub judged: usize,
    /// Those that fail.
    pub failures: Vec<Failure>,
    /// Imports that the compiler calls unused, as warnings or as errors.
    pub unused: Vec<UnusedImport>,
    /// The files that were compiled, once for each set of names.
    pub compiled: Vec<CompiledFile>,
    /// For each module whose import passed what of the tree that has loaded, as places in the list of modules;
    /// nothing on Windows.
    pub loaded: BTreeMap<String, Vec<u32>>,
    /// Why nothing could be judged at all, in the words of the program.
    pub hopeless: Option<String>,
    /// Whether this is what was found before for the very same tree.
    #[serde(skip)]
    pub remembered: bool,
}

impl Outcome {
    /// Why nothing could be judged at all, in a line: what went wrong, and what the program says would help.
    #[must_use]
    pub fn obstacle(&self) -> Option<String> {
        let why = self.hopeless.as_deref()?;
        let mut lines = why.lines().map(str::trim);
        let help = lines.find_map(|line| line.strip_prefix("help: "));
        let main = main_line(why);
        Some(help.map_or_else(|| main.to_owned(), |help| format!("{main} ({help})")))
    }
}

/// Is told how far a check is: done, of how many.
pub type Watch<'w> = &'w (dyn Fn(usize, usize) + Sync);

/// Runs checks on a scratch copy.
pub struct Checker<'s> {
    scratch: &'s Scratch,
    limits: Limits,
    watch: Watch<'s>,
}

impl<'s> Checker<'s> {
    /// Checks of this copy, each program within these limits.
    #[must_use]
    pub const fn new(scratch: &'s Scratch, limits: Limits, watch: Watch<'s>) -> Self {
        Self {
            scratch,
            limits,
            watch,
        }
    }

    /// Runs a check on the copy as it is now.
    ///
    /// # Errors
    /// When a program is missing, takes too long, prints too much, or reports what cannot be read.
    /// That the project fails is no error.
    pub fn run(&self, check: &Check) -> Result<Outcome, Error> {
        let mut outcome = self.run_unedited(check)?;
        // What is said is said of the tree, wherever the copy is.
        let here = format!("{}/", self.scratch.tree().display());
        for failure in &mut outcome.failures {
            failure.message = failure.message.replace(&here, "");
            failure.key = failure.key.replace(&here, "");
        }
        if let Some(why) = &mut outcome.hopeless {
            *why = why.replace(&here, "");
        }
        Ok(outcome)
    }

    fn run_unedited(&self, check: &Check) -> Result<Outcome, Error> {
        match check {
            Check::Cargo {
                directory,
                configuration,
            } => cargo::check(self.scratch, directory, configuration, self.limits),
            Check::Imports {
                roots,
                modules,
                changed,
            } => {
                let task = python::Imports {
                    roots,
                    modules,
                    changed,
                };
                python::imports(self.scratch, &task, self.limits, self.watch)
            }
            Check::Tests { roots, paths } => python::tests(self.scratch, roots, paths, self.limits),
            Check::Command { text } => self.command(text),
        }
    }

    /// The interpreter that modules are imported in, for people.
    ///
    /// # Errors
    /// When it is missing, or does not tell.
    pub fn interpreter(&self) -> Result<String, Error> {
        python::interpreter(self.scratch, self.limits)
    }

    /// What the check has found before for these very files, which need not be in the copy.
    ///
    /// # Errors
    /// When a tool that has to be asked for its version is missing, or a file cannot be read.
    pub fn recall(&self, check: &Check, wanted: &Wanted) -> Result<Option<Outcome>, Error> {
        Ok(memory::Memory::of(self.scratch, wanted, check)?.recall())
    }

    /// As [`Self::run`], and remembers what was found for the files of `wanted`, which are those of
    /// the copy.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_and_keep(&self, check: &Check, wanted: &Wanted) -> Result<Outcome, Error> {
        let outcome = self.run(check)?;
        memory::Memory::of(self.scratch, wanted, check)?.keep(&outcome)?;
        Ok(outcome)
    }

    /// Runs a check on the tree that everything is compared with, and remembers what was found.
    ///
    /// # Errors
    /// As [`Self::run`], and [`ErrorKind::BaselineFails`] when nothing can be compared.
    pub fn baseline(&self, check: &Check, wanted: &Wanted) -> Result<Outcome, Error> {
        let outcome = self.run_and_keep(check, wanted)?;
        if let Some(why) = &outcome.hopeless {
            let message = format!(
                "`{}` fails before the change: {}",
                check.label(),
                main_line(why)
            );
            return Err(Error::new(ErrorKind::BaselineFails, message));
        }
        Ok(outcome)
    }

    /// A command is judged by its exit code; one that fails before says nothing.
    fn command(&self, text: &str) -> Result<Outcome, Error> {
        let mut command = shell(text);
        command
            .current_dir(self.scratch.tree())
            .env("CARGO_TARGET_DIR", cargo::target(self.scratch))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        let done = program::run(&mut command, text, self.limits, self.scratch)?;
        if done.success() {
            return Ok(Outcome {
                judged: 1,
                ..Outcome::default()
            });
        }
        let out = String::from_utf8_lossy(&done.stdout);
        let said = last_lines(&format!("{out}{}", done.stderr));
        let failure = Failure {
            places: python::places_in(&said, self.scratch),
            ..Failure::of_program(text.to_owned(), said.clone())
        };
        Ok(Outcome {
            judged: 1,
            hopeless: Some(said),
            failures: vec![failure],
            ..Outcome::default()
        })
    }
}

#[cfg(unix)]
fn shell(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", text]);
    command
}

#[cfg(not(unix))]
fn shell(text: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/C", text]);
    command
}

/// The line that tells most: the first one that speaks of an error, else the last one.
fn main_line(text: &str) -> &str {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let error = lines
        .clone()
        .find(|line| line.to_lowercase().contains("error"));
    error
        .or_else(|| lines.next_back())
        .unwrap_or_default()
        .trim()
}

/// The last lines of what a program said, as many as a page bears.
pub(crate) fn last_lines(text: &str) -> String {
    const LINES: usize = 20;
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = lines.len().saturating_sub(LINES);
    lines.get(from..).unwrap_or_default().join("\n")
}
