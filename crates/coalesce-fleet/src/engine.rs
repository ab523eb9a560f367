//! The engine that answers the query, and what it answers.

use std::{
    io::{BufReader, Read as _},
    path::Path,
    process::{Command, Stdio},
};

use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;

use crate::{Error, rows::FORM};

/// The query for candidates, which any engine answers alike.
pub const CANDIDATES: &str = include_str!("candidates.sql");
/// What the rows say of the units that candidates name.
pub const NAMED: &str = include_str!("named.sql");
/// What they say of each file.
pub const FILES: &str = include_str!("files.sql");
/// How each engine is called.
const CALLS: &str = include_str!("engine.py");

/// What can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Apache DataFusion.
    DataFusion,
    /// DuckDB.
    DuckDb,
    /// Apache Spark, on this machine.
    Spark,
}

impl Engine {
    /// The module of Python that has it, which is also the name of its package.
    #[must_use]
    pub const fn module(self) -> &'static str {
        match self {
            Self::DataFusion => "datafusion",
            Self::DuckDb => "duckdb",
            Self::Spark => "pyspark",
        }
    }

    /// The first one that this Python has, of those that begin at once.
    #[must_use]
    pub fn found(python: &Path) -> Option<Self> {
        let has = |engine: &Self| {
            let find = "import sys, importlib.util as u; sys.path = [p for p in sys.path if p]; \
                        sys.exit(u.find_spec(sys.argv[1]) is None)";
            let mut command = Command::new(python);
            command
                .args(["-c", find, engine.module()])
                .stdin(Stdio::null());
            let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
            quiet.status().is_ok_and(|status| status.success())
        };
        [Self::DuckDb, Self::DataFusion].into_iter().find(has)
    }
}

/// Two units that are worth a closer look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// One.
    pub a: i64,
    /// The other.
    pub b: i64,
    /// Fingerprints that they share.
    pub shared: i64,
    /// Whether both have one text.
    pub same: bool,
}

/// What the rows say of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its file: an index into [`Asked::files`].
    pub file: usize,
    /// Its language.
    pub language: String,
    /// Its name inside of the file.
    pub symbol: String,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
}

impl Unit {
    /// Lines that it takes.
    #[must_use]
    pub const fn line_count(&self) -> u32 {
        self.lines.1 - self.lines.0 + 1
    }
}

/// What the rows say of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its repository.
    pub repository: String,
    /// Where it is.
    pub path: String,
    /// Where its tree was.
    pub root: String,
    /// The commit of the repository.
    pub commit: Option<String>,
    /// When it was last changed, in seconds since 1970.
    pub changed: Option<i64>,
    /// Hash of its text.
    pub hash: i64,
    /// Its units.
    pub units: u64,
    /// Their lines.
    pub lines: u64,
}

/// All that was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// What is worth a closer look, sorted.
    pub candidates: Vec<Candidate>,
    /// The units that candidates name.
    pub units: FxHashMap<i64, Unit>,
    /// Files that have units, by repository and path.
    pub files: Vec<File>,
}

type CandidateAnswer = (i64, i64, i64, i32);
type UnitAnswer = (i64, String, String, String, String, u32, u32);
type FileAnswer = (
    String,
    String,
    i32,
    String,
    Option<String>,
    Option<i64>,
    i64,
    u64,
    u64,
);

/// Asks the Parquet files of a folder.
///
/// # Errors
/// When there are none, they are of another form, or the engine fails.
pub fn ask(directory: &Path, engine: Engine, python: &Path) -> Result<Asked, Error> {
    if !has_rows(directory)? {
        let message = format!("{}: there is no Parquet file", directory.display());
        return Err(Error::Engine(message));
    }
    let mut child = Command::new(python)
        .args(["-c", CALLS, engine.module()])
        .arg(directory)
        .args([CANDIDATES, NAMED, FILES])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Error::file(python, error))?;
    // Read beside the answer, so that neither pipe fills up.
    let told = child.stderr.take().map(|mut errors| {
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = errors.read_to_string(&mut text);
            text
        })
    });
    let output = child.stdout.take();
    let answered = output.map(|output| read(BufReader::new(output)));
    let status = child.wait().map_err(|error| Error::file(python, error))?;
    let told = told.and_then(|told| told.join().ok()).unwrap_or_default();
    // An answer that nobody understands is why an engine is cut off, too.
    let answered = answered.transpose()?;
    if !status.success() {
        let last = told.trim().lines().last().unwrap_or("it says nothing");
        let name = engine.module();
        return Err(Error::Engine(format!("{name} cannot answer: {last}")));
    }
    Ok(answered.unwrap_or_default())
}

/// Whether a folder has Parquet files.
fn has_rows(directory: &Path) -> Result<bool, Error> {
    let entries = directory.read_dir();
    let entries = entries.map_err(|error| Error::file(directory, error))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.any(|path| path.extension().is_some_and(|ending| ending == "parquet")))
}

/// Three answers, each ended by an empty line.
fn read(output: impl std::io::BufRead) -> Result<Asked, Error> {
    let mut lines = output.lines().map_while(Result::ok);
    let candidates = rows::<CandidateAnswer>(&mut lines)?;
    let mut candidates: Vec<Candidate> = candidates.into_iter().map(candidate).collect();
    candidates.sort_unstable();
    let units = rows::<UnitAnswer>(&mut lines)?;
    let files = files(rows::<FileAnswer>(&mut lines)?)?;
    let at: FxHashMap<(&str, &str), usize> = files
        .iter()
        .enumerate()
        .map(|(at, file)| ((file.repository.as_str(), file.path.as_str()), at))
        .collect();
    let unit = |(number, repository, path, language, symbol, first, last): UnitAnswer| {
        let unit = Unit {
            file: *at.get(&(repository.as_str(), path.as_str()))?,
            language,
            symbol,
            lines: (first, last),
        };
        Some((number, unit))
    };
    Ok(Asked {
        candidates,
        units: units.into_iter().filter_map(unit).collect(),
        files,
    })
}

fn candidate((a, b, shared, same): CandidateAnswer) -> Candidate {
    Candidate {
        a,
        b,
        shared,
        same: same == 1,
    }
}

/// Files in their order, if all rows are of the form that is read.
fn files(mut answers: Vec<FileAnswer>) -> Result<Vec<File>, Error> {
    if let Some(other) = answers.iter().find(|file| file.2 != FORM) {
        let message = format!(
            "the rows of {} have form {}, and form {FORM} is read: write them anew",
            other.0, other.2
        );
        return Err(Error::Engine(message));
    }
    answers.sort();
    Ok(answers.into_iter().map(file).collect())
}

fn file(answer: FileAnswer) -> File {
    let (repository, path, _, root, commit, changed, hash, units, lines) = answer;
    File {
        repository,
        path,
        root,
        commit,
        changed,
        hash,
        units,
        lines,
    }
}

fn rows<T: DeserializeOwned>(lines: &mut impl Iterator<Item = String>) -> Result<Vec<T>, Error> {
    let rows = lines.take_while(|line| !line.is_empty());
    let parsed = rows.map(|line| {
        let told = |error| Error::Engine(format!("the engine's answer cannot be read: {error}"));
        serde_json::from_str(&line).map_err(told)
    });
    parsed.collect()
}
