//! `cargo xtask bench build`: what building the runtime from nothing takes, without optional features:
//! crates, time and processor time, in the profile that is taken for work on a program.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use anyhow::{Context as _, ensure};

use super::measure::Call;
use crate::repository::Repository;

const PACKAGE: &str = "core-gpu";
/// How many crates it may be, itself included.
const MOST_CRATES: usize = 40;
/// What is aimed at on two cores. It is said, not demanded: machines differ.
const AIM_SECONDS: f64 = 40.0;

/// Builds in a folder of its own, which is removed again.
pub fn run(repository: &Repository, directory: &Path) -> anyhow::Result<()> {
    let crates = crates(repository)?;
    println!("{PACKAGE} without features: {crates} crates, at most {MOST_CRATES} wanted");
    ensure!(crates <= MOST_CRATES, "too many crates");
    let target = directory.join("build-of-core-gpu");
    remove(&target)?;
    let call = Call::new("cargo", &repository.root)
        .with(["build", "--quiet", "--offline", "-p", PACKAGE])
        .set("CARGO_TARGET_DIR", target.as_os_str())
        .set("CARGO_INCREMENTAL", "0");
    let figures = call.run();
    remove(&target)?;
    let figures = figures?;
    println!(
        "built from nothing in {:.1} s, {:.1} s of processor time; the aim is {AIM_SECONDS} s on two cores",
        figures.wall, figures.cpu
    );
    Ok(())
}

/// The crates that are built, dependencies of build scripts included.
fn crates(repository: &Repository) -> anyhow::Result<usize> {
    let output = Command::new("cargo")
        .args(["tree", "--offline", "--package", PACKAGE])
        .args(["--edges", "normal,build", "--prefix", "none"])
        .current_dir(&repository.root)
        .output()
        .context("failed to start cargo")?;
    ensure!(
        output.status.success(),
        "cargo tree: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(count(&String::from_utf8_lossy(&output.stdout)))
}

/// A line is a name, a version and more; a crate that several want stands in several.
fn count(tree: &str) -> usize {
    let crates = tree.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?))
    });
    crates.collect::<BTreeSet<_>>().len()
}

fn remove(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("failed to remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_counts_once() {
        let tree = "core-gpu v0.1.0 (/r/crates/core-gpu)\nserde v1.0.1\nserde_core v1.0.1\n\
                    serde v1.0.1 (*)\n\nserde v0.9.0\n";
        assert_eq!(count(tree), 4);
    }

    #[test]
    fn the_runtime_is_few_crates() {
        let found = crates(&Repository::find()).unwrap();
        assert!(found <= MOST_CRATES, "{found} crates");
    }
}
