//! What a check found for a tree that is still the same: a baseline need not be made twice.
//!
//! Only outcomes without a failure are kept, so that what is remembered can never hide a failure:
//! at worst it shows one that is the environment's, and then the baseline is made anew.

use std::{fs, path::PathBuf, process::Command, time::Duration};

use coalesce_model::ContentHash;
use walkdir::WalkDir;

use crate::{
    check::{Check, Limits, Outcome},
    error::Error,
    program, python,
    scratch::Scratch,
};

/// Bounds on asking a program for its version.
const ASKING: Limits = Limits {
    time: Duration::from_secs(60),
    output_bytes: 1 << 16,
};

/// The memory of one check of one tree.
pub(crate) struct Memory {
    file: PathBuf,
    /// Of everything that the outcome follows from.
    key: ContentHash,
}

impl Memory {
    /// The memory of `check` for the copy as it is now.
    pub fn of(scratch: &Scratch, check: &Check) -> Result<Self, Error> {
        let mut all = String::new();
        let walk = WalkDir::new(scratch.tree()).sort_by_file_name();
        for entry in walk {
            let entry = entry.map_err(|error| Error::copy(scratch.tree(), &error.into()))?;
            if !entry.file_type().is_file() {
                continue;
            }
            let bytes =
                fs::read(entry.path()).map_err(|error| Error::copy(entry.path(), &error))?;
            all.push_str(&format!(
                "{} {}\n",
                entry.path().display(),
                ContentHash::of(&bytes)
            ));
        }
        let what = format!("{check:?}");
        let tools = match check {
            Check::Cargo { .. } => cargo_version(scratch)?,
            Check::Imports { .. } | Check::Tests { .. } => python::version(scratch, ASKING)?,
            // What a command needs is not known.
            Check::Command { .. } => String::new(),
        };
        let name = format!("passed-{}.json", ContentHash::of(what.as_bytes()));
        Ok(Self {
            file: scratch.directory().join(name),
            key: ContentHash::of(
                format!("{}\n{what}\n{tools}\n{all}", env!("CARGO_PKG_VERSION")).as_bytes(),
            ),
        })
    }

    /// What was found for the very same tree.
    pub fn recall(&self) -> Option<Outcome> {
        let text = fs::read_to_string(&self.file).ok()?;
        let (key, outcome): (String, Outcome) = serde_json::from_str(&text).ok()?;
        let same = key == self.key.to_string();
        same.then_some(Outcome {
            remembered: true,
            ..outcome
        })
    }

    /// Keeps an outcome without failures.
    pub fn keep(&self, outcome: &Outcome) -> Result<(), Error> {
        if !outcome.failures.is_empty() {
            return match fs::remove_file(&self.file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(Error::copy(&self.file, &error))
                }
                _ => Ok(()),
            };
        }
        let text = serde_json::json!([self.key.to_string(), outcome]).to_string();
        fs::write(&self.file, text).map_err(|error| Error::copy(&self.file, &error))
    }
}

fn cargo_version(scratch: &Scratch) -> Result<String, Error> {
    // In the tree, whose toolchain file decides.
    let mut command = Command::new("rustc");
    command.arg("-vV").current_dir(scratch.tree());
    let done = program::run(&mut command, "rustc -vV", ASKING)?;
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
