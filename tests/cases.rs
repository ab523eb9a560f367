//! Every case below `cases` is a trial of its own: they run in parallel, and a name or a part of
//! one chooses among them.
//!
//!     cargo test -p coalesce-tests --test cases -- rust/items
//!
//! A folder with a file `args` is a tree with the commands that are run on it ([`folder`]), a
//! `.txt` is a Rust consolidation with the compiler as judge ([`consolidation`]).
//! `COALESCE_BLESS=1` writes what comes of a case instead of comparing; read that.

#[path = "trials/consolidation.rs"]
mod consolidation;
#[path = "trials/folder.rs"]
mod folder;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match trials(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")) {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// All cases, by name.
fn trials(cases: &Path) -> anyhow::Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for group in entries(cases)?.into_iter().filter(|path| path.is_dir()) {
        for path in entries(&group)? {
            let below = path.strip_prefix(cases)?.with_extension("");
            let name = below.to_string_lossy().replace('\\', "/");
            let run: fn(&Path) -> anyhow::Result<()> = if path.is_dir() {
                folder::run
            } else {
                consolidation::run
            };
            trials.push(Trial::test(name, move || {
                run(&path).map_err(|error| Failed::from(format!("{error:#}")))
            }));
        }
    }
    anyhow::ensure!(!trials.is_empty(), "there are no cases");
    Ok(trials)
}

fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let listed = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = Vec::new();
    for entry in listed {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}
