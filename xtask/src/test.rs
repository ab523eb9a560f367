//! `cargo xtask test`: every test of the workspace, with the programs that some of them need.

use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::repository::Repository;

/// A program that some tests run.
struct Program {
    /// Arguments that prove it is there: the program first.
    probe: &'static [&'static str],
    /// The Debian package that brings it.
    package: &'static str,
    /// What is not tested without it; those tests say that they were skipped.
    used_for: &'static str,
}

const PROGRAMS: &[Program] = &[
    Program {
        probe: &["python3", "--version"],
        package: "python3",
        used_for: "running the Python shims and migrated packages",
    },
    Program {
        probe: &["python3", "-m", "pytest", "--version"],
        package: "python3-pytest",
        used_for: "running the guard tests that a migration emits",
    },
    Program {
        probe: &[
            "sh",
            "-c",
            "ls /usr/share/vulkan/icd.d/*.json && ldconfig -p | grep -q libvulkan.so.1",
        ],
        package: "mesa-vulkan-drivers",
        used_for: "the pool on Vulkan's driver, which runs on the processor",
    },
];

/// Tests that a feature switches on which is off unless it is asked for.
const BEHIND_FEATURES: &[&[&str]] = &[
    &[
        "-p",
        "core-gpu-memory",
        "--features",
        "cudarc-interop",
        "--test",
        "interop",
    ],
    &["-p", "core-gpu", "--features", "metal,vulkan"],
    &["-p", "core-gpu", "--no-default-features", "--lib"],
    &[
        "-p",
        "coalesce",
        "--features",
        "devices",
        "--lib",
        "--test",
        "devices",
    ],
];

/// `cargo xtask test [ARGS…]`; the arguments go to `cargo test`.
pub fn run(repository: &Repository, arguments: Vec<String>) -> anyhow::Result<()> {
    let missing: Vec<_> = PROGRAMS
        .iter()
        .filter(|program| !succeeds(program.probe))
        .collect();
    if !missing.is_empty() {
        provide(&missing);
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(&repository.root)
        .args(["test", "--workspace", "--no-fail-fast"]);
    let status = cargo
        .args(&arguments)
        .status()
        .context("failed to start cargo")?;
    if !status.success() {
        bail!("tests failed");
    }
    for more in BEHIND_FEATURES {
        let status = Command::new("cargo")
            .current_dir(&repository.root)
            .arg("test")
            .args(*more)
            .args(&arguments)
            .status()
            .context("failed to start cargo")?;
        if !status.success() {
            bail!("tests failed: {}", more.join(" "));
        }
    }
    Ok(())
}

/// `cargo xtask bless`: writes what cases and pages print now. Read it before you commit it.
pub fn bless(repository: &Repository) -> anyhow::Result<()> {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["test", "-p", "coalesce-tests", "-p", "coalesce-report"])
        .current_dir(&repository.root);
    cargo
        .env("COALESCE_BLESS", "1")
        .env("INSTA_UPDATE", "always");
    let status = cargo.status().context("failed to start cargo")?;
    if !status.success() {
        bail!("not everything could be blessed");
    }
    println!("now read `git diff`: what is blessed is what the tests demand from now on");
    Ok(())
}

fn succeeds(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let quiet = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_ok_and(|status| status.success())
}

/// Installs what is missing where that needs no password, and names what is still missing then.
fn provide(missing: &[&Program]) {
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|id| id.stdout == b"0\n");
    if root && succeeds(&["apt-get", "--version"]) {
        let packages: Vec<_> = missing.iter().map(|program| program.package).collect();
        eprintln!("installing {} for some of the tests", packages.join(", "));
        install(&packages);
    }
    for program in missing.iter().filter(|program| !succeeds(program.probe)) {
        let Program {
            package, used_for, ..
        } = program;
        eprintln!("warning: `{package}` is missing; tests are skipped: {used_for}");
    }
}

fn install(packages: &[&str]) {
    for words in [
        vec!["update", "-qq"],
        [
            &["install", "-y", "-qq", "--no-install-recommends"],
            packages,
        ]
        .concat(),
    ] {
        let status = Command::new("apt-get")
            .args(words)
            .stdout(Stdio::null())
            .status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("warning: apt-get failed");
            return;
        }
    }
}
