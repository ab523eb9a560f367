//! Which program a worker is.

use std::{ffi::OsString, path::PathBuf, process::Command};

use super::{
    error::StartError,
    registry::{VARIABLE, VARIABLE_MOST, build_id},
};

/// A program that works for a pool.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    program: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    build: Build,
}

#[derive(Clone, Debug)]
enum Build {
    /// The same file as this process.
    Own,
    /// What the worker says must be this.
    Is(String),
    /// Not compared.
    Any,
}

impl WorkerCommand {
    /// This program, started anew: it must call [`super::run_if_worker`] first. The running file is
    /// started even when another has taken its name, where the system allows it.
    ///
    /// # Errors
    /// [`StartError::Spawn`] when the program's own file is not known.
    pub fn this_program() -> Result<Self, StartError> {
        let program = if cfg!(target_os = "linux") {
            // In the child, before it becomes the worker, this is still our own file.
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().map_err(|error| StartError::Spawn {
                program: "this program".to_owned(),
                error: error.to_string(),
            })?
        };
        Ok(Self {
            program,
            arguments: Vec::new(),
            variables: Vec::new(),
            build: Build::Own,
        })
    }

    /// Any program that speaks the protocol (see [`super::protocol_of_workers`]) over the socket
    /// that it finds as descriptor 0.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            variables: Vec::new(),
            build: Build::Any,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Sets a variable of the worker's environment, which is ours otherwise.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// What the worker must say that its build is.
    #[must_use]
    pub fn build_id(mut self, build: impl Into<String>) -> Self {
        self.build = Build::Is(build.into());
        self
    }

    pub(super) fn name(&self) -> String {
        self.program.display().to_string()
    }

    /// The build that a worker must be; empty when any will do.
    pub(super) fn expected_build(&self) -> Result<String, StartError> {
        match &self.build {
            Build::Own => build_id().map_err(|error| StartError::Spawn {
                program: self.name(),
                error: error.to_string(),
            }),
            Build::Is(build) => Ok(build.clone()),
            Build::Any => Ok(String::new()),
        }
    }

    pub(super) fn to_command(&self, worker: usize, most: u64) -> Command {
        let mut command = Command::new(&self.program);
        let call = format!(
            "{}:{worker}:{}",
            super::protocol::PROTOCOL,
            std::process::id()
        );
        command
            .args(&self.arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env(VARIABLE, call)
            .env(VARIABLE_MOST, most.to_string());
        command
    }
}
