//! `cargo xtask device`: everything that a trial on a card needs, built, stripped and packed into one
//! archive for a machine without a toolchain and a network; and the trial itself, run here from what was
//! packed. On a machine without a card it runs on the simulated libraries, which are in the archive.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::repository::Repository;

const HELP: &str = "\
cargo xtask device [--out DIRECTORY] [--profile NAME] [--build-only]

Builds, strips and packs the trial of a card into DIRECTORY/device.tar.gz (target/device unless told),
unpacks it beside, and runs it: on the card that this machine has, else on the simulated libraries. On
another machine: unpack, and `./run`; it needs no toolchain, no network, and 8 minutes at most. What it
found is written to device.json.
";

/// The largest archive, in bytes.
const LARGEST: u64 = 64 << 20;

/// What is built: the package, cargo's word for the kind, the target, and where it goes.
struct Built {
    package: &'static str,
    kind: &'static str,
    target: &'static str,
    /// A path in the archive.
    to: &'static str,
}

const fn built(
    package: &'static str,
    kind: &'static str,
    target: &'static str,
    to: &'static str,
) -> Built {
    Built {
        package,
        kind,
        target,
        to,
    }
}

const BUILT: &[Built] = &[
    built("core-gpu", "--bench", "device", "trial"),
    built(
        "core-gpu",
        "--example",
        "01-one-device",
        "examples/01-one-device",
    ),
    built(
        "core-gpu",
        "--example",
        "02-many-streams",
        "examples/02-many-streams",
    ),
    built("core-gpu", "--example", "05-by-hand", "examples/05-by-hand"),
    built("core-gpu", "--test", "strategies", "tests/strategies"),
    built("gpu-sim", "--test", "abi", "tests/driver"),
    built("gpu-sim", "--example", "sim_cuda", "simulated/libcuda.so.1"),
    built(
        "gpu-sim",
        "--example",
        "sim_management",
        "simulated/libnvidia-ml.so.1",
    ),
    built(
        "gpu-sim",
        "--example",
        "sim_collectives",
        "simulated/libnccl.so.2",
    ),
];

/// The script that a person starts. Where the driver's device is, the card is meant.
const RUN: &str = r#"#!/bin/sh
# The trial of a card: ./run [--limit SECONDS]. Writes device.json beside itself.
here=$(cd "$(dirname "$0")" && pwd)
if [ "${COALESCE_DRIVER:-}" = sim ] || [ ! -e /dev/nvidiactl ]; then
    echo "no card here: on the simulated libraries, whose times are no measurement" >&2
    COALESCE_DRIVER=sim
    LD_LIBRARY_PATH="$here/simulated${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    # Bytes of the simulated device.
    GPU_SIM_DEVICES=${GPU_SIM_DEVICES:-268435456}
    export LD_LIBRARY_PATH GPU_SIM_DEVICES
else
    COALESCE_DRIVER=real
fi
export COALESCE_DRIVER
COALESCE_GPU_SLOTS_DIRECTORY="$here/slots"
export COALESCE_GPU_SLOTS_DIRECTORY
exec "$here/trial" --out "$here/device.json" "$@"
"#;

/// What was asked for.
struct Options {
    out: PathBuf,
    profile: String,
    build_only: bool,
}

impl Options {
    fn read(repository: &Repository, words: Vec<String>) -> anyhow::Result<Self> {
        let mut options = Self {
            out: repository.root.join("target/device"),
            profile: "release".to_owned(),
            build_only: false,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--out" => options.out = words.next().context("--out needs a value")?.into(),
                "--profile" => {
                    options.profile = words.next().context("--profile needs a value")?;
                }
                "--build-only" => options.build_only = true,
                _ => bail!("there is no option `{word}`\n\n{HELP}"),
            }
        }
        Ok(options)
    }
}

/// `cargo xtask device`.
pub fn run(repository: &Repository, words: Vec<String>) -> anyhow::Result<()> {
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return Ok(());
    }
    let options = Options::read(repository, words)?;
    let folder = options.out.join("device");
    let script = lay_out(repository, &folder, &options.profile)?;
    let archive = pack(&options.out)?;
    println!("packed {}", archive.display());
    if options.build_only {
        return Ok(());
    }
    let status = Command::new(&script)
        .status()
        .context("failed to start the trial")?;
    let written = folder.join("device.json");
    println!("what it found is in {}", written.display());
    ensure!(
        status.success(),
        "something does not hold: see \"failed\" there"
    );
    Ok(())
}

/// Builds the programs of the trial into a folder; the script that runs them.
fn lay_out(repository: &Repository, folder: &Path, profile: &str) -> anyhow::Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| shown(folder))?;
    }
    for part in BUILT {
        let program = build(repository, part, profile)?;
        let to = folder.join(part.to);
        place(&program, &to)?;
        strip(&to);
    }
    let peers = repository
        .root
        .join("crates/core-gpu/benches/device/peers.py");
    place(&peers, &folder.join("peers.py"))?;
    let script = folder.join("run");
    fs::write(&script, RUN).with_context(|| shown(&script))?;
    make_executable(&script)?;
    Ok(script)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Builds one target, and gives the file that cargo says it made.
fn build(repository: &Repository, part: &Built, profile: &str) -> anyhow::Result<PathBuf> {
    let is_test = part.kind == "--test";
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(&repository.root)
        .args(if is_test {
            &["test", "--no-run"][..]
        } else {
            &["build"]
        })
        .args(["--package", part.package, part.kind, part.target])
        .args(["--profile", profile, "--message-format", "json", "--quiet"]);
    let output = cargo.output().context("failed to start cargo")?;
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        bail!("{} of {} cannot be built", part.target, part.package);
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let made = said
        .lines()
        .rev()
        .find_map(|line| artifact(line, part.target));
    made.with_context(|| format!("cargo made no {}", part.target))
}

/// The file of a target in a line of cargo's.
fn artifact(line: &str, target: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" || message["target"]["name"] != target {
        return None;
    }
    // A library of C's has no executable.
    let executable = message["executable"].as_str();
    let first = || message["filenames"].as_array()?.first()?.as_str();
    executable.or_else(first).map(PathBuf::from)
}

fn place(from: &Path, to: &Path) -> anyhow::Result<()> {
    let folder = to.parent().context("a path in the archive has a folder")?;
    fs::create_dir_all(folder).with_context(|| shown(folder))?;
    fs::copy(from, to).with_context(|| format!("{} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Takes away what only a debugger reads. Not by cargo, which would build every dependency once more.
fn strip(path: &Path) {
    let stripped = Command::new("strip")
        .arg("--strip-unneeded")
        .arg(path)
        .status();
    if !stripped.is_ok_and(|status| status.success()) {
        eprintln!(
            "warning: {} is not stripped: `strip` is missing",
            path.display()
        );
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).with_context(|| shown(path))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> anyhow::Result<()> {
    bail!("the trial is packed on Linux, for Linux")
}

fn pack(out: &Path) -> anyhow::Result<PathBuf> {
    let archive = out.join("device.tar.gz");
    let status = Command::new("tar")
        .arg("--create")
        .arg("--gzip")
        .arg("--file")
        .arg(&archive)
        .arg("--directory")
        .arg(out)
        .arg("device")
        .status()
        .context("failed to start tar")?;
    ensure!(status.success(), "tar failed");
    let bytes = fs::metadata(&archive)
        .with_context(|| shown(&archive))?
        .len();
    ensure!(
        bytes <= LARGEST,
        "the archive has {bytes} bytes, {LARGEST} are allowed"
    );
    println!("{bytes} bytes");
    Ok(archive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_cargo_made_is_found() {
        let line = |text: &str| artifact(text, "device");
        let executable = r#"{"reason":"compiler-artifact","target":{"name":"device"},
            "executable":"/t/device-1","filenames":["/t/device-1"]}"#;
        let library = r#"{"reason":"compiler-artifact","target":{"name":"device"},
            "executable":null,"filenames":["/t/libdevice.so"]}"#;
        let other = r#"{"reason":"compiler-artifact","target":{"name":"serde"},
            "executable":"/t/serde","filenames":[]}"#;
        assert_eq!(line(executable), Some(PathBuf::from("/t/device-1")));
        assert_eq!(line(library), Some(PathBuf::from("/t/libdevice.so")));
        for none in [other, "{}", "not JSON", r#"{"reason":"build-finished"}"#] {
            assert_eq!(line(none), None, "{none}");
        }
    }
}
