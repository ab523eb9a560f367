//! cubecl-runtime's pools as a peer of the memory bench: a package of its own, built below `target/`
//! when peers are installed, so that nothing it depends on is part of the workspace. Without it it
//! does not run, and that is said.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{peers::run, rmm};

/// The cases that it has.
const CASES: &[&str] = &[
    "hit",
    "holes-1000",
    "cold-holes-1000",
    "random",
    "grow-shrink",
    "size-shift",
];

/// Where it is, or would be.
pub struct CubeCl {
    package: PathBuf,
    root: PathBuf,
}

impl CubeCl {
    /// Below `directory`; `root` is the repository's.
    pub fn new(directory: &Path, root: &Path) -> Self {
        Self {
            package: directory.join("cubecl"),
            root: root.to_owned(),
        }
    }

    /// Lays the package out and builds it.
    pub fn install(&self) -> anyhow::Result<()> {
        let memory = self.root.join("crates/core-gpu-memory");
        let sources = self.package.join("src");
        fs::create_dir_all(&sources)?;
        let bench = memory.join("benches/cubecl");
        for (from, to) in [
            (bench.join("manifest.toml"), self.package.join("Cargo.toml")),
            (bench.join("peer.rs"), sources.join("main.rs")),
            (
                memory.join("src/test_support.rs"),
                sources.join("test_support.rs"),
            ),
        ] {
            fs::copy(from, to)?;
        }
        run(Command::new("cargo")
            .args(["build", "--release", "--quiet"])
            .current_dir(&self.package)
            .env("CARGO_TARGET_DIR", self.package.join("target")))
    }

    /// Runs the cases that are wanted, all of them when none is named, and prints what it says.
    pub fn race(&self, wanted: &[String]) -> anyhow::Result<()> {
        let program = self.package.join("target/release/cubecl-peer");
        if !program.is_file() {
            println!("\nnot run: cubecl-runtime, which is not built (--install-peers)");
            return Ok(());
        }
        let title = "cubecl-runtime 0.10 sub-slices: the same lengths in the same order";
        rmm::print(&program, title, &rmm::named(CASES, wanted))
    }
}
