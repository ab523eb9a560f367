//! `cargo xtask ci`: what CI runs, stage by stage, each with its time.

use std::{process::Command, time::Instant};

use crate::{Outcome, build::cargo};

/// The stages: arguments of cargo. All are built in the profile of the tests, and programs are
/// selected as those of the whole workspace, so that nothing is built twice.
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
    // What `cargo xtask audit` builds, the first command that anybody runs: its first lines are no warnings.
    &[
        "clippy",
        "--package",
        "coalesce",
        "--no-default-features",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ],
    &["doc", "--workspace", "--no-deps", "--quiet"],
    &["run", "--quiet", "--bin", "xtask-tools", "--", "tidy"],
    &[
        "run",
        "--quiet",
        "--bin",
        "xtask-tools",
        "--",
        "codegen",
        "--check",
    ],
    &[
        "run", "--quiet", "--bin", "coalesce", "--", "check", "--root", ".",
    ],
    // The baseline is exact: a copy that is new fails, and so does one that is gone and still listed.
    &[
        "run",
        "--quiet",
        "--bin",
        "coalesce",
        "--",
        "audit",
        "--root",
        ".",
        "--fail-on",
        "duplicates,spent-baseline-entry",
        "--baseline",
        ".ci/duplicates.json",
        "--quiet",
    ],
];

/// Runs every stage, in order; stops at the first that fails.
pub fn run() -> Outcome {
    let mut times = Vec::new();
    for stage in STAGES {
        let name = stage.join(" ");
        println!("── {name}");
        let start = Instant::now();
        let (mut command, arguments) = match stage.split_first() {
            Some((&"xtask", rest)) => (own_program()?, rest),
            _ => (cargo(), *stage),
        };
        command.args(arguments);
        // Warnings of rustdoc are errors, as those of clippy are by its own arguments.
        let status = command.env("RUSTDOCFLAGS", "-D warnings").status();
        let status = status.map_err(|error| format!("failed to start {name}: {error}"))?;
        times.push((name, start.elapsed().as_secs_f32()));
        if !status.success() {
            print_times(&times);
            return Err(format!("{} failed", stage.join(" ")));
        }
    }
    print_times(&times);
    Ok(())
}

fn own_program() -> Outcome<Command> {
    let program = std::env::current_exe();
    program.map(Command::new).map_err(|error| error.to_string())
}

fn print_times(times: &[(String, f32)]) {
    for (name, seconds) in times {
        println!("{seconds:7.1} s  {name}");
    }
}
