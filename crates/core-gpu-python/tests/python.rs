//! The package as Python's programs have it: laid out as a wheel lays it out, and tried by pytest, once
//! with the processor alone and once on simulated devices.
#![expect(clippy::unwrap_used, reason = "a test's failure")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gpu_sim::case::library_path;

/// The package, in a folder that Python imports from.
fn lay_out(into: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/core_gpu");
    let package = into.join("core_gpu");
    fs::create_dir_all(&package).unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        let is_source = entry.path().extension().is_some_and(|end| end == "py");
        if is_source {
            fs::copy(entry.path(), package.join(entry.file_name())).unwrap();
        }
    }
    fs::copy(extension(), package.join("_core_gpu.abi3.so")).unwrap();
}

/// What cargo has built of the crate, beside its tests.
fn extension() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    this.with_file_name(format!(
        "{}_core_gpu{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    ))
}

fn python(import: &Path) -> Command {
    let mut python = Command::new("python3");
    python
        .env("PYTHONPATH", import)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    python
}

/// Whether there is a Python with pytest; where not, the reason is printed.
fn is_ready() -> bool {
    let tried = Command::new("python3")
        .args([
            "-c",
            "import pytest, sys; assert sys.version_info >= (3, 10)",
        ])
        .output();
    let ready = tried.is_ok_and(|tried| tried.status.success());
    if !ready {
        println!("skipped: no Python of 3.10 or later with pytest");
    }
    ready
}

/// Runs pytest on some of the tests. What it says is shown when one fails.
fn tried(command: &mut Command, tests: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let output = command
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs"])
        .args(tests)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains(" passed"), "{said}");
}

#[test]
fn a_program_on_the_processor() {
    if !is_ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path());
    tried(
        &mut python(folder.path()),
        &["test_runtime.py", "test_workers.py"],
    );
}

/// Has a Python find two simulated devices in the place of CUDA's.
#[cfg(target_os = "linux")]
fn simulate(python: &mut Command, folder: &Path) {
    let libraries = folder.join("libraries");
    fs::create_dir(&libraries).unwrap();
    let cuda = library_path("sim_cuda").unwrap();
    std::os::unix::fs::symlink(cuda, libraries.join("libcuda.so.1")).unwrap();
    python
        .env("LD_LIBRARY_PATH", &libraries)
        .env("GPU_SIM_DEVICES", "67108864,67108864")
        .env("COALESCE_GPU_SLOTS_DIRECTORY", folder.join("slots"))
        .env_remove("CUDA_VISIBLE_DEVICES");
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_on_simulated_devices() {
    if !is_ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path());
    let mut python = python(folder.path());
    simulate(&mut python, folder.path());
    tried(&mut python, &["simulated"]);
}

/// The Python that `cargo xtask evidence` has made for what is too large for the tests.
#[cfg(target_os = "linux")]
fn of_evidence(folder: &Path) -> Option<Command> {
    let Some(interpreter) = std::env::var_os("COALESCE_EVIDENCE_PYTHON") else {
        println!("skipped: runs by `cargo xtask evidence`");
        return None;
    };
    lay_out(folder);
    let mut python = Command::new(interpreter);
    python
        .env("PYTHONPATH", folder)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    Some(python)
}

#[cfg(target_os = "linux")]
#[test]
fn ray_gives_out_devices() {
    let folder = tempfile::tempdir().unwrap();
    if let Some(mut python) = of_evidence(folder.path()) {
        simulate(&mut python, folder.path());
        tried(python.arg("-B"), &["-s", "evidence/test_ray.py"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn pytorch_sees_the_same_memory() {
    let folder = tempfile::tempdir().unwrap();
    if let Some(mut python) = of_evidence(folder.path()) {
        tried(python.arg("-B"), &["-s", "evidence/test_torch.py"]);
    }
}
