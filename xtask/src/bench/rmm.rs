//! RMM's pool as a peer of the memory bench: its headers from the Python registry, compiled against a
//! runtime without a device. They live below `target/`; without them it does not run, and that is said.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use super::peers::run;

/// The last release whose pool is in its headers, and what those need.
const PACKAGES: &[&str] = &[
    "librmm-cu12==25.10.0",
    "rapids-logger==0.1.19",
    "nvidia-cuda-runtime-cu12==12.9.79",
];
/// Where the packages keep their headers.
const HEADERS: &[&str] = &[
    "librmm/include",
    "librmm/include/rapids",
    "nvidia/cuda_runtime/include",
    "rapids_logger/include",
];
/// The cases that it has, all that one thread runs.
const CASES: &[&str] = &[
    "hit",
    "hit-accounted",
    "holes-1000",
    "cold-holes-1000",
    "random",
    "grow-shrink",
    "size-shift",
];

/// Where RMM is, or would be.
pub struct Rmm {
    packages: PathBuf,
    sources: PathBuf,
}

impl Rmm {
    /// Below `directory`; `root` is the repository's.
    pub fn new(directory: &Path, root: &Path) -> Self {
        Self {
            packages: directory.join("rmm"),
            sources: root.join("crates/core-gpu-memory/benches/rmm"),
        }
    }

    /// Gets the headers. Only built packages are taken; nothing of them runs.
    pub fn install(&self) -> anyhow::Result<()> {
        run(Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--no-deps"])
            .args(["--disable-pip-version-check", "--only-binary", ":all:"])
            .args(["--upgrade", "--target"])
            .arg(&self.packages)
            .args(PACKAGES))
    }

    /// Runs the cases that are wanted, all of them when none is named, and prints what it says.
    pub fn race(&self, wanted: &[String]) -> anyhow::Result<()> {
        let cases: Vec<_> = CASES
            .iter()
            .filter(|case| wanted.is_empty() || wanted.iter().any(|name| name == *case))
            .collect();
        if cases.is_empty() {
            return Ok(());
        }
        if !self.packages.join("librmm").is_dir() {
            println!("\nnot run: RMM, which needs its headers (--install-peers)");
            return Ok(());
        }
        let program = match self.compile() {
            Ok(program) => program,
            Err(error) => {
                println!("\nnot run: RMM, which does not compile: {error:#}");
                return Ok(());
            }
        };
        let output = Command::new(program).args(cases).output()?;
        if !output.status.success() {
            bail!("RMM's bench: {}", String::from_utf8_lossy(&output.stderr));
        }
        println!(
            "\nRMM 25.10 pool, on events that cost nothing: the same lengths in the same order"
        );
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            println!("{}", row(line)?);
        }
        Ok(())
    }

    fn compile(&self) -> anyhow::Result<PathBuf> {
        let program = self.packages.join("bench");
        let libraries = self.packages.join("rapids_logger/lib64");
        let include = |path: PathBuf| format!("-I{}", path.display());
        let headers = HEADERS.iter().map(|folder| self.packages.join(folder));
        let mut compiler = Command::new("c++");
        compiler
            .args(["-std=c++17", "-O2", "-w"])
            .arg("-DLIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE")
            .arg(include(self.sources.clone()))
            .args(headers.map(include))
            .arg(self.sources.join("bench.cpp"))
            .arg(self.sources.join("runtime.cpp"))
            .arg("-o")
            .arg(&program)
            .arg(format!("-L{}", libraries.display()))
            .arg("-lrapids_logger")
            .arg(format!("-Wl,-rpath,{}", libraries.display()));
        run(&mut compiler)?;
        Ok(program)
    }
}

/// A line of the program as a row of the table.
fn row(line: &str) -> anyhow::Result<String> {
    let mut words = line.split('\t');
    let mut word = || words.next().context("RMM's bench says something else");
    let (case, nanoseconds, ratio) = (word()?, word()?, word()?);
    let memory = match ratio {
        "0.00" => String::new(),
        ratio => format!("  reserved / live at the peak {ratio}"),
    };
    Ok(format!("  {case:<34} {nanoseconds:>9} ns{memory}"))
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn a_line_becomes_a_row() {
        let hit = row("hit\t35.0\t0.00").unwrap();
        assert!(hit.ends_with("35.0 ns"), "{hit}");
        let trace = row("random\t404.3\t5.46").unwrap();
        assert!(trace.ends_with("peak 5.46"), "{trace}");
        assert!(row("what is this").is_err());
    }
}
