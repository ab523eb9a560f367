//! What `fleet` answers of many repositories, by each engine that can run here, and what it takes as they become
//! more. Engines that answer differently are a failure.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use super::{Options, Skipped, Told, finish};
use crate::{Outcome, build::cargo, root::repository_root};

/// What each engine is called, and the module of Python that has it.
const ENGINES: [(&str, &str); 3] = [
    ("datafusion", "datafusion"),
    ("duckdb", "duckdb"),
    ("spark", "pyspark"),
];

/// Audits the first so many repositories of all folders, and asks each engine.
pub fn run(options: &Options) -> Told {
    if options.trees.is_empty() {
        let why = "no folder of repositories (`--trees FOLDER`)";
        return Err(Skipped::Because(why.to_owned()));
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => built()?,
    };
    let trees = trees(&options.trees)?;
    let mut told = vec![
        "| repositories | rows | audits | engine | answer | modules | functions |".to_owned(),
        "| --- | --- | --- | --- | --- | --- | --- |".to_owned(),
    ];
    let place = repository_root().join("target/evidence/fleet");
    for wanted in &options.counts {
        if *wanted > trees.len() {
            told.push(format!("{wanted}: not run: there are {}", trees.len()));
            continue;
        }
        let _ = fs::remove_dir_all(&place);
        let begin = Instant::now();
        for (name, root) in trees.iter().take(*wanted) {
            audit(&program, name, root, &place)?;
        }
        let audits = begin.elapsed().as_secs_f64();
        let rows = size_of(&place)? as f64 / 1e6;
        let row = format!("{wanted} | {rows:.1} MB | {audits:.1} s");
        ask_all(options, &program, &place, &row, &mut told)?;
    }
    Ok(told)
}

/// The program with Parquet.
fn built() -> Outcome<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--release", "-p", "coalesce"]);
    build.args(["--features", "parquet"]);
    finish(build)?;
    Ok(repository_root().join("target/release/coalesce"))
}

/// Names and places of all repositories, by name; of two of one name the first.
fn trees(folders: &[PathBuf]) -> Outcome<Vec<(String, PathBuf)>> {
    let mut trees = Vec::new();
    for folder in folders {
        let told = |error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(told)?.flatten() {
            let path = entry.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.filter(|name| !name.starts_with('.') && path.is_dir());
            if let Some(name) = name {
                trees.push((name.to_owned(), path.clone()));
            }
        }
    }
    trees.sort();
    trees.dedup_by(|a, b| a.0 == b.0);
    Ok(trees)
}

fn audit(program: &Path, name: &str, root: &Path, into: &Path) -> Outcome {
    let arguments = ["audit", "--no-duplicates", "--quiet", "--no-cache"];
    let mut command = Command::new(program);
    command.args(arguments).arg("--root").arg(root);
    command.args(["--repository", name, "--parquet"]).arg(into);
    answer(&mut command, name).map(drop)
}

fn answer(command: &mut Command, name: &str) -> Outcome<String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => String::from_utf8(output.stdout).map_err(|error| error.to_string()),
        false => Err(format!("{name}: {errors}")),
    }
}

fn size_of(folder: &Path) -> Outcome<u64> {
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let sizes = entries.map(|entry| Ok(entry?.metadata()?.len()));
    let bytes: std::io::Result<u64> = sizes.sum();
    bytes.map_err(|error| error.to_string())
}

/// Asks each engine, and compares what they answer.
fn ask_all(
    options: &Options,
    program: &Path,
    place: &Path,
    row: &str,
    told: &mut Vec<String>,
) -> Outcome {
    let mut first: Option<(&str, String)> = None;
    for (engine, module) in ENGINES {
        let python = match options.python_with(&[module]) {
            Ok(python) => python,
            Err(Skipped::Because(why)) => {
                told.push(format!("{engine}: not run: {why}"));
                continue;
            }
            Err(Skipped::Failed(why)) => return Err(why),
        };
        let begin = Instant::now();
        let mut command = Command::new(program);
        command.arg("fleet").arg(place);
        command.args(["--engine", engine, "--format", "json", "--python"]);
        let answered = answer(command.arg(&python), engine)?;
        let seconds = begin.elapsed().as_secs_f64();
        told.push(row_of(row, engine, seconds, &answered));
        // Who answered is all that may differ.
        let unsigned = answered.replacen(&format!("\"engine\": \"{module}\""), "", 1);
        let (other, known) = first.get_or_insert_with(|| (engine, unsigned.clone()));
        if *known != unsigned {
            return Err(format!("{engine} and {other} answer differently"));
        }
    }
    Ok(())
}

/// A row of the table: how long an engine took, and how many modules and functions it found.
fn row_of(row: &str, engine: &str, seconds: f64, answered: &str) -> String {
    let modules = answered.matches("\"module\": true").count();
    let functions = answered.matches("\"module\": false").count();
    format!("| {row} | {engine} | {seconds:.1} s | {modules} | {functions} |")
}
