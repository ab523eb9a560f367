//! What other programs say: the repository's tests for cards, Python's pools, NVIDIA's sanitizer. What
//! is not there is not run, with the reason.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Map, Value, json};

use crate::{Context, Outcome, Stopped};

/// The programs of a folder beside this one, sorted.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// The tests that want a card, each program's by the word in their names.
pub fn tests(context: &Context) -> Result<Outcome, Stopped> {
    let programs = programs(&context.folder.join("tests"));
    if programs.is_empty() {
        return Ok(Outcome::NotRun(
            "no tests lie beside this program".to_owned(),
        ));
    }
    if context.simulated {
        return Ok(Outcome::NotRun("they want a card".to_owned()));
    }
    let (mut figures, mut failed) = (Map::new(), Vec::new());
    for program in programs {
        let output = Command::new(&program)
            .args(["_card", "--test-threads=1"])
            .env("COALESCE_DRIVER", "real")
            .stdin(Stdio::null())
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let line = said.lines().find(|line| line.starts_with("test result"));
        figures.insert(name(&program), json!(line));
        if !output.status.success() {
            failed.push(name(&program));
        }
    }
    if failed.is_empty() {
        return Ok(Outcome::Found(Value::Object(figures)));
    }
    Ok(Outcome::Failed(failed.join(", ")))
}

/// PyTorch's and CuPy's pools, by a program beside this one.
pub fn python(context: &Context) -> Result<Outcome, Stopped> {
    let program = context.folder.join("peers.py");
    if !program.is_file() {
        return Ok(Outcome::NotRun(
            "no peers.py lies beside this program".to_owned(),
        ));
    }
    if context.simulated {
        return Ok(Outcome::NotRun("they want a card".to_owned()));
    }
    let output = Command::new("python3")
        .arg(&program)
        .stdin(Stdio::null())
        .output();
    match output {
        Err(error) => Ok(Outcome::NotRun(format!("python3: {error}"))),
        Ok(output) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr);
            Ok(Outcome::Failed(
                said.lines().last().unwrap_or("").to_owned(),
            ))
        }
        Ok(output) => Ok(Outcome::Found(serde_json::from_slice(&output.stdout)?)),
    }
}

/// NVIDIA's checker of memory over the examples.
pub fn sanitizer(context: &Context) -> Result<Outcome, Stopped> {
    const PROGRAM: &str = "compute-sanitizer";
    if context.simulated {
        return Ok(Outcome::NotRun("it wants a card".to_owned()));
    }
    if let Err(error) = Command::new(PROGRAM).arg("--version").output() {
        return Ok(Outcome::NotRun(format!("{PROGRAM}: {error}")));
    }
    let (mut figures, mut failed) = (Map::new(), Vec::new());
    for program in programs(&context.folder.join("examples")) {
        let output = Command::new(PROGRAM)
            .args(["--error-exitcode", "9"])
            .arg(&program)
            .stdin(Stdio::null())
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let line = said.lines().find(|line| line.contains("ERROR SUMMARY"));
        figures.insert(name(&program), json!(line));
        if !output.status.success() {
            failed.push(name(&program));
        }
    }
    if failed.is_empty() {
        return Ok(Outcome::Found(Value::Object(figures)));
    }
    Ok(Outcome::Failed(failed.join(", ")))
}
