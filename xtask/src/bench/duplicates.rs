//! The search for duplicates beside those of others: the LiDAR project, and two million lines of
//! distinct packages.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use super::{
    Case, Peer,
    measure::{Call, Contender},
    peers::Peers,
    suites::{Place, missing, plain},
};

/// The packages that make up two million lines of Python: no two of them share code on purpose.
const PACKAGES: &[&str] = &[
    "django==5.2.19",
    "networkx==3.6.1",
    "scikit-learn==1.9.1",
    "scipy==1.17.1",
    "sympy==1.14.0",
];
/// The program of jscpd without the script that starts it.
const JSCPD: &str = "jscpd-linux-x64-gnu@5.3.3";
/// Names a folder that is searched besides the others: `large.txt` beside this file lists the packages
/// that make up ten million lines.
const VARIABLE: &str = "COALESCE_BENCH_LARGE";

/// The cases, ready to run.
pub fn cases(place: &Place) -> Vec<Case> {
    let mut trees = vec![(place.tree.name.clone(), place.tree.root.clone(), true)];
    let packages = large(&place.directory);
    if packages.is_dir() && place.slow {
        trees.push(("packages".to_owned(), packages, false));
    }
    if let Some(root) = std::env::var_os(VARIABLE).map(PathBuf::from) {
        trees.push(("large".to_owned(), root, false));
    }
    let cases = trees.into_iter().map(|(name, root, small)| Case {
        bench: "duplicates",
        case: name,
        ours: plain(
            "coalesce audit",
            Call::new(&place.ours, &root)
                .with(["audit", "--no-cache", "--quiet"])
                .finds(),
        ),
        peers: vec![
            jscpd(&place.directory, &root, "jscpd", &[]),
            jscpd(&place.directory, &root, "jscpd, loose", &LOOSE),
            pylint(&place.peers, &root, small || place.slow),
        ],
        judge: Box::new(|| Ok(())),
        size: None,
    });
    cases.collect()
}

/// Small copies with other names, as near to what we find as its settings go.
const LOOSE: [&str; 6] = [
    "--min-tokens",
    "25",
    "--min-lines",
    "4",
    "--ignore-identifiers",
    "--ignore-literals",
];

fn jscpd(directory: &Path, root: &Path, name: &str, settings: &[&str]) -> Peer {
    let program = directory.join("npm/node_modules/jscpd-linux-x64-gnu/bin/jscpd");
    if !program.is_file() {
        return missing(name);
    }
    let call = Call::new(program, root)
        .with(["--silent", "--format", "python,rust", "--output"])
        .with([directory.join("jscpd-report")])
        .with(settings)
        .with(["."])
        .finds();
    Peer::Runs(plain(name, call))
}

fn pylint(peers: &Peers, root: &Path, wanted: bool) -> Peer {
    let name = "pylint duplicate-code";
    let Some(python) = peers.library("pylint") else {
        return missing(name);
    };
    if !wanted {
        return Peer::NotRun(name.to_owned(), "takes minutes; --slow runs it".to_owned());
    }
    let words = ["-m", "pylint", "--disable=all", "--enable=duplicate-code"];
    let mut call = Call::new(python, root)
        .with(words)
        .with(["--recursive=y", "."]);
    // Its code is a sum of what it found.
    call.highest_code = 31;
    Peer::Runs(Contender {
        name: name.to_owned(),
        ready: Box::new(|| Ok(())),
        call,
    })
}

fn large(directory: &Path) -> PathBuf {
    directory.join("packages")
}

/// Gets jscpd, and with `slow` the packages; wheels are only unpacked.
pub fn install(peers: &Peers, directory: &Path, slow: bool) -> anyhow::Result<()> {
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let words = ["install", "--silent", "--ignore-scripts", "--prefix"];
        let mut npm = Command::new("npm");
        npm.args(words).arg(directory.join("npm")).arg(JSCPD);
        succeed(&mut npm)?;
    }
    let root = large(directory);
    if !slow || root.is_dir() {
        return Ok(());
    }
    let python = peers
        .program("python")
        .context("the Python environment has no Python")?;
    let wheels = directory.join("package-wheels");
    let words = ["-m", "pip", "--quiet", "download", "--no-deps"];
    let only = ["--only-binary", ":all:", "--dest"];
    let mut pip = Command::new(&python);
    pip.args(words).args(only).arg(&wheels).args(PACKAGES);
    succeed(&mut pip)?;
    for wheel in fs::read_dir(&wheels)? {
        let mut unpack = Command::new(&python);
        unpack.args(["-m", "zipfile", "-e"]).arg(wheel?.path());
        succeed(unpack.arg(&root))?;
    }
    Ok(fs::remove_dir_all(&wheels)?)
}

fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .with_context(|| format!("failed to start {name}"))?;
    if !status.success() {
        bail!("{name} ended with {status}");
    }
    Ok(())
}
