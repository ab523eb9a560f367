//! The sample that the shim crates come from: `examples/scattered` beside our runtime in one tree,
//! and what its migration makes of it.
//!
//! The tree is made anew each time, from the sources of this repository; nothing of it is kept but
//! what is read back. Whether it builds is for the tests here to say.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};
use coalesce::{cli::Invocation, commands};

use crate::repository::Repository;

/// Crates of the repository that the sample's tree has besides its own.
const RUNTIME: [&str; 5] = [
    "core-gpu",
    "core-gpu-driver",
    "core-gpu-memory",
    "core-gpu-trials",
    "gpu-sim",
];

/// The crates that become shims.
pub const SHIMS: [&str; 4] = [
    "optimization-gpu",
    "optimization-gpu-memory",
    "optimization-gpu-profiler",
    "optimization-gpu-wrapper",
];

/// What the migration writes of a shim crate.
const OF_A_SHIM: [&str; 2] = ["Cargo.toml", "src/lib.rs"];

/// The manifest that puts one crate in their place, and what is recorded of it.
const MIGRATIONS: &str = "migrations";
const RECORD: &str = "migrations/0001-one-runtime.applied";

const MEMBERS: &str = "members = [\"crates/*\", \"tests\", \"xtask\"]";

/// The sample's folder.
fn sample(repository: &Repository) -> PathBuf {
    repository.root.join("examples/scattered")
}

/// Lays the tree out before the migration.
///
/// # Errors
/// A file cannot be read or written.
pub fn lay_out(repository: &Repository, into: &Path) -> anyhow::Result<()> {
    let sample = sample(repository);
    let manifest = fs::read_to_string(repository.root.join("Cargo.toml"))?;
    ensure!(
        manifest.contains(MEMBERS),
        "the workspace has other members"
    );
    let manifest = manifest.replace(MEMBERS, "members = [\"crates/*\", \"programs\"]");
    // Profiles come last; without them it builds in half the time.
    let manifest = manifest
        .split_once("\n[profile.")
        .map_or(manifest.as_str(), |(head, _)| head);
    write(&into.join("Cargo.toml"), manifest)?;
    fs::copy(repository.root.join("Cargo.lock"), into.join("Cargo.lock"))?;
    for name in RUNTIME {
        let from = repository.root.join("crates").join(name);
        copy(&from, &into.join("crates").join(name))?;
    }
    for folder in ["crates", "programs"] {
        copy(&sample.join("rust").join(folder), &into.join(folder))?;
    }
    copy(&repository.root.join(MIGRATIONS), &into.join(MIGRATIONS))
}

/// Migrates the tree. Returns what the migration says, as JSON.
///
/// # Errors
/// The plan is refused, or something cannot be read or written.
pub fn migrate(tree: &Path) -> anyhow::Result<String> {
    let root = tree.to_string_lossy();
    let words = [
        "migrate",
        "--root",
        &root,
        "--yes",
        "--quiet",
        "--no-cache",
        // Results of other types are used by what takes either; the sample's tests say so.
        "--allow-unproven",
    ];
    let outcome = commands::run(&Invocation::of(words)?)?;
    let said = serde_json::to_string_pretty(&outcome.envelope)?;
    if outcome.exit != coalesce::exit::Exit::Success {
        bail!("the sample's migration is refused: {said}");
    }
    Ok(said)
}

/// The files of the shim crates and the record of what is applied, as the migration makes them: paths
/// of the repository, and texts.
///
/// # Errors
/// As [`lay_out`] and [`migrate`]; or rustfmt did not answer.
pub fn shims(repository: &Repository) -> anyhow::Result<Vec<(String, String)>> {
    let tree = repository.root.join("target/sample/codegen");
    empty(&tree)?;
    lay_out(repository, &tree)?;
    let said = migrate(&tree)?;
    // Written like this they would not be what the next run makes.
    ensure!(
        !said.contains("the layout of the edits"),
        "rustfmt has not laid the shim crates out: {said}"
    );
    let mut found = Vec::new();
    for name in SHIMS {
        for file in OF_A_SHIM {
            let path = format!("crates/{name}/{file}");
            let text = fs::read_to_string(tree.join(&path));
            let text = text.with_context(|| format!("the migration has left no {path}"))?;
            found.push((path, text));
        }
    }
    let record = fs::read_to_string(tree.join(RECORD))
        .with_context(|| format!("the migration has left no {RECORD}"))?;
    found.push((RECORD.to_owned(), record));
    empty(&tree)?;
    Ok(found)
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text).with_context(|| format!("failed to write {}", path.display()))
}

/// Copies a folder, what is ignored left out.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in ignore::WalkBuilder::new(from).require_git(false).build() {
        let entry = entry?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            let to = to.join(entry.path().strip_prefix(from)?);
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::copy(entry.path(), &to)
                .with_context(|| format!("failed to write {}", to.display()))?;
        }
    }
    Ok(())
}

fn empty(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(fs::create_dir_all(folder)?),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Runs the sample's own tests where they are, with what was built the last time.
    fn tested(tree: &Path) {
        let target = tree.parent().unwrap().join("target");
        let output = Command::new("cargo")
            .args(["test", "--offline", "--quiet", "-p", "lidar-tools"])
            .current_dir(tree)
            .env("CARGO_TARGET_DIR", target)
            .env("GPU_BACKEND", "cpu")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{shown}\n{said}");
        assert!(!said.contains("deprecated"), "{said}");
    }

    /// Runs the Python sample's tests, `warnings` as the interpreter takes them.
    fn python_tested(tree: &Path, warnings: &str) {
        let output = Command::new("python3")
            .args(["-W", warnings, "-m", "unittest", "--quiet"])
            .current_dir(tree)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("Ran 3 tests"), "{said}");
    }

    /// The old modules, with a name of each and what it is called at home.
    const OLD_MODULES: [(&str, &str); 4] = [
        ("gpu.get_gpu_manager", "gpu.gpu_manager"),
        ("gpu_memory.GpuArrayCache", "gpu_memory.GpuArrayCache"),
        ("gpu_wrapper.gpu_context", "accelerate.gpu_scope"),
        ("gpu_profiler.profile_operation", "profiler.profile"),
    ];

    #[test]
    fn the_python_sample_is_consolidated_and_runs_before_and_after() {
        if Command::new("python3").arg("--version").output().is_err() {
            println!("skipped: python3 is not installed");
            return;
        }
        let repository = Repository::find();
        let tree = repository.root.join("target/sample/python");
        empty(&tree).unwrap();
        copy(&sample(&repository).join("python"), &tree).unwrap();
        python_tested(&tree, "error");
        migrate(&tree).unwrap();
        // Nothing of the sample goes through a shim.
        python_tested(&tree, "error");
        for (old, new) in OLD_MODULES {
            let (old_module, old_name) = old.rsplit_once('.').unwrap();
            let (new_module, new_name) = new.rsplit_once('.').unwrap();
            let script = format!(
                "import warnings\n\
                 with warnings.catch_warnings(record=True) as heard:\n    \
                     warnings.simplefilter('always')\n    \
                     from lidar.optimization.{old_module} import {old_name} as old\n\
                 from lidar.core.{new_module} import {new_name} as new\n\
                 assert old is new\n\
                 assert any(one.category is DeprecationWarning for one in heard), heard\n"
            );
            let output = Command::new("python3")
                .args(["-c", &script])
                .current_dir(&tree)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{old}: {said}");
        }
    }

    #[test]
    fn the_sample_is_consolidated_and_builds_before_and_after() {
        let repository = Repository::find();
        let tree = repository.root.join("target/sample/tree");
        empty(&tree).unwrap();
        lay_out(&repository, &tree).unwrap();
        tested(&tree);
        let said = migrate(&tree).unwrap();
        // What users outside the tree have to know.
        let (_, changed) = said.split_once("\"changed_signatures\"").unwrap();
        let (changed, _) = changed.split_once("\"cycles_before\"").unwrap();
        for (name, differs) in [
            ("get_gpu_manager", true),
            ("cleanup_gpu_memory", true),
            ("require_gpu", false),
            ("gpu_accelerated", false),
            ("check_gpu_available", false),
        ] {
            let told = changed.contains(&format!("::{name}\""));
            assert_eq!(told, differs, "{name}: {changed}");
        }
        tested(&tree);
        let program = fs::read_to_string(tree.join("programs/Cargo.toml")).unwrap();
        assert!(!program.contains("optimization-gpu"), "{program}");
    }
}
