//! The other tools: which there are, how they are got, and where they are then.
//!
//! They live below `target/`, in a Python environment of their own; nothing of them is linked.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use super::trees::LIDAR_PACKAGE;

/// What `--install-peers` installs, at the versions that were compared last. Only built packages
/// are taken, so that nothing of them runs before it is measured.
const PACKAGES: &[&str] = &[
    "ast-grep-cli==0.51.1",
    "grimp==3.19",
    "libcst==1.9.0",
    "pylint==4.1.4",
    "rope==1.15.0",
    "ruff==0.17.5",
    "tach==0.35.3",
];

/// Where the peers are.
#[derive(Clone, Debug)]
pub struct Peers {
    environment: PathBuf,
    scripts: PathBuf,
}

impl Peers {
    /// The peers below `directory`; `sources` is the root of the repository.
    pub fn new(directory: &Path, sources: &Path) -> Self {
        Self {
            environment: directory.join("peers"),
            scripts: sources.join("xtask/src/bench/peers"),
        }
    }

    /// A program of the environment, if it is installed.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let bin = if cfg!(windows) { "Scripts" } else { "bin" };
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let path = self.environment.join(bin).join(file);
        path.is_file().then_some(path)
    }

    /// The environment's Python, if this library is installed there.
    pub fn library(&self, name: &str) -> Option<PathBuf> {
        let python = self.program("python")?;
        let found = Command::new(&python)
            .args(["-c", &format!("import {name}")])
            .output();
        found
            .is_ok_and(|output| output.status.success())
            .then_some(python)
    }

    /// A script that drives a library.
    pub fn script(&self, name: &str) -> PathBuf {
        self.scripts.join(name)
    }

    /// Installs what is missing, and unpacks the LiDAR package beside it.
    pub fn install(&self, directory: &Path) -> anyhow::Result<()> {
        std::fs::create_dir_all(directory)?;
        if self.program("python").is_none() {
            run(Command::new("python3")
                .args(["-m", "venv"])
                .arg(&self.environment))?;
        }
        let python = self
            .program("python")
            .context("the Python environment has no Python")?;
        run(pip(&python, "install").args(PACKAGES))?;
        let tree = directory.join("ign-lidar-hd");
        if !tree.is_dir() {
            let wheels = directory.join("wheels");
            run(pip(&python, "download")
                .args(["--no-deps", LIDAR_PACKAGE, "--dest"])
                .arg(&wheels))?;
            let wheel = std::fs::read_dir(&wheels)?
                .next()
                .context("the registry gave nothing")??;
            run(Command::new(&python)
                .args(["-m", "zipfile", "-e"])
                .arg(wheel.path())
                .arg(&tree))?;
        }
        Ok(())
    }
}

/// pip with packages that need no build.
fn pip(python: &Path, verb: &str) -> Command {
    let mut command = Command::new(python);
    command
        .args(["-m", "pip", "--quiet", "--disable-pip-version-check"])
        .arg(verb)
        .args(["--only-binary", ":all:"]);
    command
}

/// Runs a program that says nothing unless it fails.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("failed to start {name}"))?;
    if !output.status.success() {
        bail!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
