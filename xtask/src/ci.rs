//! `cargo xtask ci`: what CI runs, stage by stage, each with its time.

use std::{ffi::OsStr, process::Command, time::Instant};

use anyhow::{Context as _, bail};

use crate::repository::Repository;

/// The stages: arguments of cargo. Those of `xtask` are run by this very program, so that it is
/// not built twice.
const STAGES: &[&[&str]] = &[
    &["xtask", "test"],
    &["fmt", "--all", "--check"],
    &[
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ],
    &["doc", "--workspace", "--no-deps", "--quiet"],
    &["xtask", "tidy"],
    &["xtask", "codegen", "--check"],
    &["xtask", "check", "--root", "."],
];

/// Runs every stage, in order; stops at the first that fails.
pub fn run(repository: &Repository) -> anyhow::Result<()> {
    let mut times = Vec::new();
    for stage in STAGES {
        let name = stage.join(" ");
        println!("── {name}");
        let start = Instant::now();
        let mut command = match stage.split_first() {
            Some((&"xtask", rest)) => with_arguments(std::env::current_exe()?, rest),
            _ => with_arguments("cargo", stage),
        };
        // Warnings of rustdoc are errors, as those of clippy are by its own arguments.
        command
            .current_dir(&repository.root)
            .env("RUSTDOCFLAGS", "-D warnings");
        let status = command
            .status()
            .with_context(|| format!("failed to start {name}"))?;
        times.push((name, start.elapsed().as_secs_f32()));
        if !status.success() {
            print_times(&times);
            bail!("{} failed", stage.join(" "));
        }
    }
    print_times(&times);
    Ok(())
}

fn with_arguments(program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn print_times(times: &[(String, f32)]) {
    for (name, seconds) in times {
        println!("{seconds:7.1} s  {name}");
    }
}
