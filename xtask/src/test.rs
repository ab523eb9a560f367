//! `cargo xtask test`: every test of the workspace, with the programs that some of them need.

use std::{
    ffi::OsString,
    process::{Command, Stdio},
};

use crate::{
    Outcome,
    build::cargo,
    python::{Environment, succeeds},
};

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
    Program {
        probe: &["etcd", "--version"],
        package: "etcd-server",
        used_for: "slots of several machines, kept in etcd",
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
    &["-p", "gpu-ast", "--features", "vulkan", "--test", "kernels"],
    &["-p", "core-gpu", "--no-default-features", "--lib"],
    &["-p", "core-gpu-etcd", "--features", "tls", "tls"],
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
pub fn run(arguments: &[OsString]) -> Outcome {
    // Where it cannot be made, the system's Python has to have what tests need.
    let python = Environment::with(&["pytest", "numpy", "zarr", "jsonschema"]).ok();
    let missing: Vec<_> = PROGRAMS
        .iter()
        .filter(|program| !succeeds(program.probe, python.as_ref()))
        .collect();
    if !missing.is_empty() {
        provide(&missing, python.as_ref());
    }
    let whole: &[&str] = &["--workspace", "--no-fail-fast"];
    for selection in std::iter::once(whole).chain(BEHIND_FEATURES.iter().copied()) {
        let mut cargo = cargo();
        cargo.arg("test").args(selection).args(arguments);
        if let Some(python) = &python {
            python.enter(&mut cargo);
        }
        pass(cargo, || format!("tests failed: {}", selection.join(" ")))?;
    }
    Ok(())
}

/// `cargo xtask bless`: writes what cases and pages print now. Read it before you commit it.
pub fn bless() -> Outcome {
    let mut cargo = cargo();
    cargo
        .args(["test", "-p", "coalesce-tests", "-p", "coalesce-report"])
        .env("COALESCE_BLESS", "1")
        .env("INSTA_UPDATE", "always");
    pass(cargo, || "not everything could be blessed".to_owned())?;
    println!("now read `git diff`: what is blessed is what the tests demand from now on");
    Ok(())
}

fn pass(mut cargo: Command, failure: impl Fn() -> String) -> Outcome {
    let status = cargo.status();
    let status = status.map_err(|error| format!("failed to start cargo: {error}"))?;
    status.success().then_some(()).ok_or_else(failure)
}

/// Installs what is missing where that needs no password, and names what is still missing then.
fn provide(missing: &[&Program], environment: Option<&Environment>) {
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|id| id.stdout == b"0\n");
    if root && succeeds(&["apt-get", "--version"], None) {
        let packages: Vec<_> = missing.iter().map(|program| program.package).collect();
        eprintln!("installing {} for some of the tests", packages.join(", "));
        install(&packages);
    }
    let still = |program: &&&Program| !succeeds(program.probe, environment);
    for program in missing.iter().filter(still) {
        let Program {
            package, used_for, ..
        } = program;
        eprintln!("warning: `{package}` is missing; tests are skipped: {used_for}");
    }
}

/// Installs packages of Debian's, and says where that fails.
pub fn install(packages: &[&str]) {
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
