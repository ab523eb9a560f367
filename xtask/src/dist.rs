//! `cargo xtask dist`: what is given to others, each tried where nothing else is.
//!
//! An archive with the program and its licences, and a Python wheel that brings the command. Both run on
//! Linux of the C library that they were built with, or a later one; other systems build from source.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Outcome, build::cargo, python::Environment, root::repository_root};

const HELP: &str = "\
cargo xtask dist [--profile NAME] [--only program|runtime]

Builds coalesce (`release` unless told otherwise) into target/dist: an archive with the program, a Python
wheel of it, and one of the GPU runtime. Each is unpacked or installed in a clean folder, where it has to
read the sample tree, or to run the README's programs: without anything else, with NumPy, and as a module
with its workers.
";

/// What goes into the archive beside the program.
const DOCUMENTS: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"];

/// `cargo xtask dist`.
pub fn run(arguments: &[OsString]) -> Outcome {
    let words: Vec<_> = arguments
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let (mut profile, mut only) = ("release", None);
    for pair in words.chunks(2) {
        match *pair {
            ["--profile", name] => profile = name,
            ["--only", part @ ("program" | "runtime")] => only = Some(part),
            _ => {
                print!("{HELP}");
                return Ok(());
            }
        }
    }
    for made in build(profile, only)? {
        let bytes = fs::metadata(&made).map_err(text)?.len();
        println!("{} ({} KiB)", made.display(), bytes / 1024);
    }
    Ok(())
}

/// Builds what is asked for and tries it; where it is.
fn build(profile: &str, only: Option<&str>) -> Outcome<Vec<PathBuf>> {
    let root = repository_root().canonicalize().map_err(text)?;
    let target = target_directory(&root)?;
    let out = target.join("dist");
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out).map_err(text)?;
    let mut made = Vec::new();
    if only != Some("runtime") {
        let archive = archive(&root, &target, &out, profile)?;
        try_archive(&root, &out, &archive)?;
        let program = wheel(&root, &out, profile, "coalesce")?;
        try_program_wheel(&root, &out, &program)?;
        made.extend([archive, program]);
    }
    if only != Some("program") {
        let runtime = wheel(&root, &out, profile, "core-gpu-python")?;
        try_runtime_wheel(&root, &out, &runtime)?;
        made.push(runtime);
    }
    Ok(made)
}

fn target_directory(root: &Path) -> Outcome<PathBuf> {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = root.join(named.unwrap_or_else(|| "target".into()));
    fs::create_dir_all(&target).map_err(text)?;
    target.canonicalize().map_err(text)
}

fn archive(root: &Path, target: &Path, out: &Path, profile: &str) -> Outcome<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--profile", profile, "--package", "coalesce"]);
    finish(build, "cargo build")?;
    let folder = if profile == "dev" { "debug" } else { profile };
    let program = format!("coalesce{}", std::env::consts::EXE_SUFFIX);
    let name = format!(
        "coalesce-{}-{}",
        std::env::consts::ARCH,
        std::env::consts::OS
    );
    let packed = out.join(&name);
    fs::create_dir_all(&packed).map_err(text)?;
    fs::copy(target.join(folder).join(&program), packed.join(&program)).map_err(text)?;
    for document in DOCUMENTS {
        fs::copy(root.join(document), packed.join(document)).map_err(text)?;
    }
    let archive = out.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(&archive).arg("-C").arg(out).arg(&name);
    finish(tar, "tar")?;
    fs::remove_dir_all(&packed).map_err(text)?;
    Ok(archive)
}

/// Unpacked into a folder of its own, and started with no environment at all.
fn try_archive(root: &Path, out: &Path, archive: &Path) -> Outcome {
    let clean = out.join("unpacked");
    fs::create_dir_all(&clean).map_err(text)?;
    let mut tar = Command::new("tar");
    tar.args(["--strip-components=1", "-xzf"])
        .arg(archive)
        .arg("-C")
        .arg(&clean);
    finish(tar, "tar")?;
    let mut program = Command::new(clean.join("coalesce"));
    program.env_clear();
    read_sample(program, root)?;
    fs::remove_dir_all(&clean).map_err(text)
}

/// The wheel of a crate of this repository.
fn wheel(root: &Path, out: &Path, profile: &str, of: &str) -> Outcome<PathBuf> {
    let environment = Environment::with(&["maturin"])?;
    // One at a time in a folder, so that it is known which it is.
    let into = out.join(format!("wheel-{of}"));
    let mut maturin = environment.python();
    maturin
        .args(["-m", "maturin", "build", "--locked", "--profile", profile])
        .arg("--manifest-path")
        .arg(root.join("crates").join(of).join("Cargo.toml"))
        .arg("--out")
        .arg(&into);
    finish(maturin, "maturin")?;
    let made = fs::read_dir(&into).map_err(text)?.flatten();
    let mut paths = made.map(|entry| entry.path());
    let wheel = paths.find(|path| path.extension().is_some_and(|end| end == "whl"));
    let wheel = wheel.ok_or_else(|| "maturin made no wheel".to_owned())?;
    let kept = out.join(wheel.file_name().unwrap_or_default());
    fs::rename(&wheel, &kept).map_err(text)?;
    fs::remove_dir_all(&into).map_err(text)?;
    Ok(kept)
}

/// Installed into an environment that has nothing else, without a network. Returns the environment.
fn install(out: &Path, wheel: &Path) -> Outcome<PathBuf> {
    let clean = out.join("installed");
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&clean);
    finish(venv, "python3 -m venv")?;
    let mut install = Command::new(clean.join("bin/python3"));
    install.args(["-m", "pip", "install", "--quiet", "--no-index"]);
    install.arg(wheel);
    finish(install, "pip install")?;
    Ok(clean)
}

fn try_program_wheel(root: &Path, out: &Path, wheel: &Path) -> Outcome {
    let clean = install(out, wheel)?;
    let mut program = Command::new(clean.join("bin/coalesce"));
    program.env_clear();
    read_sample(program, root)?;
    fs::remove_dir_all(&clean).map_err(text)
}

/// The programs of the package's README have to run: the first alone, the second with NumPy, and the third
/// and fourth as the module of tasks and the program that they are.
fn try_runtime_wheel(root: &Path, out: &Path, wheel: &Path) -> Outcome {
    let clean = install(out, wheel)?;
    let readme = root.join("crates/core-gpu-python/README.md");
    let readme = fs::read_to_string(readme).map_err(text)?;
    let programs = readme.split("```python\n").skip(1);
    let programs: Vec<_> = programs
        .filter_map(|rest| rest.split("```").next())
        .collect();
    let [alone, with_numpy, tasks, main] = programs.as_slice() else {
        return Err(format!(
            "the README has {} programs instead of four",
            programs.len()
        ));
    };
    run_python(&clean, alone, "buffer protocol")?;
    let missing = run_python(&clean, "import numpy", "").is_err();
    if !missing {
        return Err("the environment is not clean: NumPy is there already".to_owned());
    }
    fs::write(clean.join("tasks.py"), tasks).map_err(text)?;
    run_python(&clean, main, "[2, 4, 6]")?;
    println!("the runtime's wheel, alone: the README's programs run");
    let mut pip = Command::new(clean.join("bin/python3"));
    pip.args(["-m", "pip", "install", "--quiet", "numpy"]);
    if finish(pip, "pip").is_err() {
        println!("not run: the README's program with NumPy, which pip cannot install");
        return fs::remove_dir_all(&clean).map_err(text);
    }
    run_python(&clean, with_numpy, "15.0")?;
    println!("the runtime's wheel, with NumPy: the README's program runs");
    fs::remove_dir_all(&clean).map_err(text)
}

/// Runs a program in a clean environment, where it has to say something.
fn run_python(clean: &Path, program: &str, says: &str) -> Outcome {
    let mut python = Command::new(clean.join("bin/python3"));
    let output = python
        .env_clear()
        .current_dir(clean)
        .args(["-c", program])
        .output();
    let output = output.map_err(text)?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && said.contains(says) {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(format!("the README's program does not work: {said}{told}"))
}

/// The program has to read the sample tree, and find in it what there is.
fn read_sample(mut program: Command, root: &Path) -> Outcome {
    program.args(["audit", "--no-cache", "--color", "never", "--root"]);
    program.arg(root.join("examples/duplicated"));
    let output = program.output().map_err(text)?;
    let page = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !page.contains("things to act on") {
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "{:?} does not work: {page}{told}",
            program.get_program()
        ));
    }
    Ok(())
}

fn finish(mut command: Command, what: &str) -> Outcome {
    let status = command.status();
    let status = status.map_err(|error| format!("failed to start {what}: {error}"))?;
    status
        .success()
        .then_some(())
        .ok_or_else(|| format!("{what} failed"))
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}
