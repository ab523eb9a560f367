//! What a check found for a tree that is still the same: a baseline need not be made twice.
//!
//! Known by everything that the outcome follows from, as far as it can be known: the files, the
//! check, and what the tools say of themselves. An outcome that time may have had a part in is not
//! kept; whoever asks makes it anew before a failure is shown.

use std::{fs, path::PathBuf, process::Command, time::Duration};

use coalesce_model::ContentHash;

use crate::{
    check::{Check, Limits, Outcome},
    error::Error,
    program, python,
    scratch::{Content, Scratch, Wanted},
};

/// Bounds on asking a program for its version.
const ASKING: Limits = Limits {
    time: Duration::from_secs(60),
    output_bytes: 1 << 20,
};

/// Counts up when outcomes get another form: what was kept in an older one is not read.
const FORM: u32 = 6;

/// A line for each file of a tree, with the hash of what it holds.
fn hashes(scratch: &Scratch, wanted: &Wanted) -> Result<String, Error> {
    let mut all = String::new();
    for (path, content) in wanted {
        let failed = |error| Error::copy(&scratch.tree().join(path.as_str()), &error);
        let hash = match content {
            Content::Copy(from) => ContentHash::of(&fs::read(from).map_err(failed)?),
            Content::Bytes(bytes, _) => ContentHash::of(bytes),
            Content::Link(target) => ContentHash::of(target.as_os_str().as_encoded_bytes()),
        };
        all.push_str(&format!("{path} {hash}\n"));
    }
    Ok(all)
}

/// What a check is called, without what differs between the trees before and after.
fn name(check: &Check) -> String {
    match check {
        Check::Cargo {
            directory,
            configuration,
        } => format!("cargo {directory} {}", configuration.command()),
        Check::Imports { .. } => "imports".to_owned(),
        Check::Tests { paths, .. } => format!("tests {paths:?}"),
        Check::Command { text } => format!("command {text}"),
    }
}

/// The memory of one check of one tree.
pub(crate) struct Memory {
    file: PathBuf,
    /// Of everything that the outcome follows from.
    key: ContentHash,
}

impl Memory {
    /// The memory of `check` for the files of `wanted`, wherever they are now.
    pub fn of(scratch: &Scratch, wanted: &Wanted, check: &Check) -> Result<Self, Error> {
        let files = hashes(scratch, wanted)?;
        let what = format!("{check:?}");
        let tools = match check {
            Check::Cargo { .. } => cargo_version(scratch)?,
            Check::Imports { .. } | Check::Tests { .. } => python::environment(scratch, ASKING)?,
            // What a command needs is not known.
            Check::Command { .. } => String::new(),
        };
        let key = format!(
            "{} {FORM}\n{what}\n{tools}\n{files}",
            env!("CARGO_PKG_VERSION")
        );
        let key = ContentHash::of(key.as_bytes());
        let name = format!("found-{}", ContentHash::of(name(check).as_bytes()));
        let directory = scratch.directory().join(name);
        Ok(Self {
            file: directory.join(format!("{key}.json")),
            key,
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

    /// Keeps an outcome, instead of those that are no longer asked for.
    pub fn keep(&self, outcome: &Outcome) -> Result<(), Error> {
        let failed = |error| Error::copy(&self.file, &error);
        if let Some(directory) = self.file.parent() {
            fs::create_dir_all(directory).map_err(failed)?;
            self.forget_old(directory).map_err(failed)?;
        }
        let settled = outcome.failures.iter().all(|failure| failure.settled);
        if !settled && outcome.hopeless.is_none() {
            return match fs::remove_file(&self.file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(error)),
                _ => Ok(()),
            };
        }
        let text = serde_json::json!([self.key.to_string(), outcome]).to_string();
        fs::write(&self.file, text).map_err(failed)
    }

    /// Leaves the newest: those of the trees before and without the shims, of a few plans.
    fn forget_old(&self, directory: &std::path::Path) -> std::io::Result<()> {
        const MOST: usize = 8;
        let mut known = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            known.push((entry.metadata()?.modified()?, entry.path()));
        }
        known.sort();
        let over = known.len().saturating_sub(MOST);
        for (_, path) in known.iter().take(over) {
            fs::remove_file(path)?;
        }
        Ok(())
    }
}

fn cargo_version(scratch: &Scratch) -> Result<String, Error> {
    // In the tree, whose toolchain file decides.
    let mut command = Command::new("rustc");
    command.arg("-vV").current_dir(scratch.tree());
    let done = program::run(&mut command, "rustc -vV", ASKING, scratch)?;
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
