//! A Python of the repository's own, below `target/`, so that what is needed is found wherever the system
//! keeps its packages.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use crate::{Outcome, root::repository_root};

/// The environment.
pub struct Environment(PathBuf);

impl Environment {
    /// The one that is there, or a new one, with these packages. Each is a module of its own name.
    pub fn with(packages: &[&str]) -> Outcome<Self> {
        let environment = Self(repository_root().join("target").join("python"));
        let folder = environment.0.to_string_lossy().into_owned();
        let made = environment.0.is_dir() || succeeds(&["python3", "-m", "venv", &folder], None);
        if !made {
            return Err("python3 makes no environment: is python3-venv installed?".to_owned());
        }
        for package in packages {
            let import = format!("import {package}");
            let there = ["python3", "-c", &import];
            let install = ["python3", "-m", "pip", "install", "--quiet", package];
            if !succeeds(&there, Some(&environment)) && !succeeds(&install, Some(&environment)) {
                return Err(format!("pip cannot install {package}"));
            }
        }
        Ok(environment)
    }

    /// Its interpreter.
    pub fn python(&self) -> Command {
        let mut python = Command::new(self.0.join("bin").join("python3"));
        self.enter(&mut python);
        python
    }

    /// Has a command find its programs before those of the system.
    pub fn enter(&self, command: &mut Command) {
        let mut path = self.0.join("bin").into_os_string();
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        command.env("PATH", path).env("VIRTUAL_ENV", &self.0);
    }
}

/// Whether a program ends well, by the names that the environment gives it.
pub fn succeeds(words: &[&str], environment: Option<&Environment>) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    // `env` looks programs up by the path that it is given, not by ours.
    let mut command = Command::new("env");
    if let Some(environment) = environment {
        environment.enter(&mut command);
    }
    let quiet = command
        .arg(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_ok_and(|status| status.success())
}
