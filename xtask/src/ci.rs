//! `cargo xtask ci`: what CI runs, stage by stage, each with its time.

use std::{process::Command, time::Instant};

use anyhow::{Context as _, bail};

use crate::repository::Repository;

/// The stages: arguments of cargo, and whether warnings of rustdoc are errors.
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
        println!("── cargo {name}");
        let start = Instant::now();
        let status = Command::new("cargo")
            .args(*stage)
            .current_dir(&repository.root)
            .env("RUSTDOCFLAGS", "-D warnings")
            .status()
            .context("failed to start cargo")?;
        times.push((name, start.elapsed().as_secs_f32()));
        if !status.success() {
            print_times(&times);
            bail!("cargo {} failed", stage.join(" "));
        }
    }
    print_times(&times);
    Ok(())
}

fn print_times(times: &[(String, f32)]) {
    for (name, seconds) in times {
        println!("{seconds:7.1} s  cargo {name}");
    }
}
