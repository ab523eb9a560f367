//! Builds one program of the workspace and starts it in place of this one.
//!
//! A first build is told as cargo tells it. Later ones say only what is compiled anew, so that a
//! command whose program is there begins with its own output.

use std::{
    ffi::OsString,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use crate::{Outcome, root::repository_root};

/// A program of the workspace, and how it is built.
pub struct Program {
    /// Its name.
    binary: &'static str,
    profile: &'static str,
    /// What selects it for cargo.
    selection: Vec<&'static str>,
    /// The features that it has besides, as cargo takes them.
    features: &'static str,
}

impl Program {
    /// What only this repository needs. Selected as one program of the whole workspace, so that its
    /// dependencies are those that the tests have built.
    pub fn tools(profile: &'static str) -> Self {
        Self {
            binary: "xtask-tools",
            profile,
            selection: vec!["--bin", "xtask-tools"],
            features: "",
        }
    }

    /// `coalesce` with the features that `command` needs, and no others: each of them has crates
    /// that nothing else uses.
    pub fn coalesce(command: &str) -> Self {
        let features = match command {
            "audit" | "refs" | "diff" | "plan" | "status" | "explain" | "find" => "",
            "devices" => "devices",
            "lsp" => "lsp",
            "mcp" => "git,mcp",
            // Whatever may change a tree, or asks what has changed, has to know what is committed.
            _ => "git",
        };
        let mut selection = vec!["--package", "coalesce", "--no-default-features"];
        if !features.is_empty() {
            selection.extend(["--features", features]);
        }
        Self {
            binary: "coalesce",
            profile: "quick",
            selection,
            features,
        }
    }

    /// A file beside the program that says that it was built with these features.
    fn mark(&self, path: &Path) -> PathBuf {
        path.with_file_name(format!(".{}-{}", self.binary, self.features))
    }

    /// What is said before a first build, so that nobody wonders whether it hangs.
    fn announcement(&self, others_are_built: bool) -> String {
        if others_are_built {
            let features = self.features;
            return format!(
                "building what this command needs besides ({features}): one to three minutes on two cores; after that it starts at once"
            );
        }
        let takes = match self.profile {
            "quick" => "some 170 crates, one to two minutes on two cores",
            "release" => "optimised, ten minutes and more on two cores",
            _ => "some minutes on two cores",
        };
        let name = self.binary;
        format!("building {name} for the first time: {takes}; after that it starts at once")
    }

    /// Where it will be: beside this program's own profile.
    fn path(&self) -> Outcome<PathBuf> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let folder = match self.profile {
            "dev" => "debug",
            other => other,
        };
        let target = own.ancestors().nth(2);
        let target = target.ok_or("this program is in no folder of cargo's")?;
        let file = format!("{}{}", self.binary, std::env::consts::EXE_SUFFIX);
        Ok(target.join(folder).join(file))
    }
}

/// Builds the program and becomes it.
pub fn start(
    program: &Program,
    arguments: impl IntoIterator<Item = OsString>,
) -> Outcome<ExitCode> {
    let path = program.path()?;
    build(program, &path)?;
    let mut command = Command::new(&path);
    command.args(arguments);
    become_program(command).map_err(|error| format!("failed to start {}: {error}", path.display()))
}

/// Signals go to the program alone: some end their work in order.
#[cfg(unix)]
fn become_program(mut command: Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_program(mut command: Command) -> std::io::Result<ExitCode> {
    let status = command.status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn build(program: &Program, path: &Path) -> Outcome {
    let mark = program.mark(path);
    let was_built = path.exists() && (program.features.is_empty() || mark.exists());
    let mut cargo = cargo();
    cargo
        .args(["build", "--profile", program.profile])
        .args(&program.selection)
        // What is built is no part of what the program prints.
        .stdout(Stdio::null());
    if !was_built {
        eprintln!("{}", program.announcement(path.exists()));
        let status = cargo.status();
        succeeded(status.map(|status| status.success()), program)?;
        // Without it the same is said once more, and nothing else is lost.
        let _ = fs::write(mark, "");
        return Ok(());
    }
    let colored = std::io::IsTerminal::is_terminal(&std::io::stderr());
    cargo.args(["--color", if colored { "always" } else { "never" }]);
    let mut child = cargo.stderr(Stdio::piped()).spawn().map_err(unstarted)?;
    let lines = child.stderr.take().map(BufReader::new);
    let lines = lines.into_iter().flat_map(BufRead::lines);
    for line in lines.map_while(Result::ok) {
        let finished = line.contains("Finished") && line.contains("target(s) in");
        if !finished {
            eprintln!("{line}");
        }
    }
    succeeded(child.wait().map(|status| status.success()), program)
}

fn succeeded(done: std::io::Result<bool>, program: &Program) -> Outcome {
    match done {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("{} does not build", program.binary)),
        Err(error) => Err(unstarted(error)),
    }
}

fn unstarted(error: std::io::Error) -> String {
    format!("failed to start cargo: {error}")
}

/// The cargo that started us, in the repository.
pub fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(program);
    cargo.current_dir(repository_root());
    cargo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_built_with_what_it_needs_and_no_more() {
        let features = |command: &str| Program::coalesce(command).selection.join(" ");
        assert!(features("devices").ends_with("--features devices"));
        assert!(features("lsp").ends_with("--features lsp"));
        assert!(features("migrate").ends_with("--features git"));
        assert!(features("audit").ends_with("--no-default-features"));
    }
}
