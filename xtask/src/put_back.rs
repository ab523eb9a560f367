//! `cargo xtask soak put-back`: errors that the runtime once had, put back one after another into a copy
//! of the sources, and the test that has to find each. A test that finds none of them shows nothing.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail, ensure};

use crate::repository::Repository;

/// Where the errors are, as patches. The first line of each says what it is, the second what finds it.
const ERRORS: &str = "crates/core-gpu-memory/tests/model/random/put-back";
/// Schedules that are tried for each.
const SCHEDULES: &str = "300";

/// An error to put back.
struct Put {
    path: PathBuf,
    what: String,
    /// Arguments of `cargo test` for the package.
    found_by: Vec<String>,
}

impl Put {
    fn read(path: PathBuf) -> anyhow::Result<Self> {
        let text = fs::read_to_string(&path)?;
        let mut lines = text.lines();
        let what = lines.next().unwrap_or_default().to_owned();
        let found_by = lines
            .next()
            .and_then(|line| line.strip_prefix("Found by: "));
        let found_by = found_by.with_context(|| format!("{}: found by?", path.display()))?;
        Ok(Self {
            path,
            what,
            found_by: found_by.split(' ').map(str::to_owned).collect(),
        })
    }

    /// Whether its test fails with the error in the sources.
    fn is_found(&self, copy: &Path) -> anyhow::Result<bool> {
        run(Command::new("git").arg("apply").arg(&self.path), copy)?;
        let mut build = self.test(copy);
        // A patch that does not compile would be found by anything.
        if self.found_by.first().is_some_and(|kind| kind != "--doc") {
            run(build.arg("--no-run"), copy)?;
        }
        let said = self.test(copy).output()?;
        run(Command::new("git").args(["checkout", "--quiet", "."]), copy)?;
        let text = String::from_utf8_lossy(&said.stdout);
        Ok(!said.status.success() && text.contains("test result: FAILED"))
    }

    fn test(&self, copy: &Path) -> Command {
        let mut cargo = Command::new("cargo");
        cargo
            .args(["test", "--quiet", "-p", "core-gpu-memory"])
            .args(&self.found_by)
            .env("COALESCE_SCHEDULES", SCHEDULES)
            .env("CARGO_TARGET_DIR", copy.with_extension("target"))
            .current_dir(copy);
        cargo
    }
}

fn run(command: &mut Command, at: &Path) -> anyhow::Result<()> {
    let said = command.current_dir(at).output()?;
    let text = String::from_utf8_lossy(&said.stderr);
    ensure!(said.status.success(), "{command:?}: {text}");
    Ok(())
}

/// Puts each error back, as the sources are at the last commit.
pub fn run_all(repository: &Repository) -> anyhow::Result<()> {
    let copy = repository.root.join("target/put-back");
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet", "--shared", "."]).arg(&copy);
    run(&mut clone, &repository.root)?;
    let mut errors: Vec<_> = fs::read_dir(repository.root.join(ERRORS))?
        .map(|entry| Put::read(entry?.path()))
        .collect::<anyhow::Result<_>>()?;
    errors.sort_by(|one, other| one.path.cmp(&other.path));
    let mut missed = 0;
    for error in &errors {
        let found = error.is_found(&copy)?;
        println!(
            "{}: {}",
            if found { "found" } else { "NOT FOUND" },
            error.what
        );
        missed += usize::from(!found);
    }
    if missed > 0 {
        bail!("{missed} of {} errors are not found", errors.len());
    }
    println!("{} errors, each found by its test", errors.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else nobody would notice before the next soak.
    #[test]
    fn each_error_can_be_put_into_the_sources_as_they_are() {
        let root = Repository::find().root;
        let errors = fs::read_dir(root.join(ERRORS)).unwrap();
        for error in errors {
            let path = error.unwrap().path();
            let put = Put::read(path.clone()).unwrap();
            assert!(!put.what.is_empty() && !put.found_by.is_empty(), "{path:?}");
            let mut check = Command::new("git");
            run(check.args(["apply", "--check"]).arg(&path), &root).unwrap();
        }
    }
}
