//! Brings one file at a time into the tree, or takes it out.
//!
//! Between the look that a run begins with and the moment that a file takes its place, somebody may
//! have written to it: syncs take seconds on a slow disk. So nothing is replaced unseen. Where
//! nothing should be, a file is put by a call that refuses when something is. Where a file is, both
//! are exchanged at once, and then what came out is looked at; if it is not what the journal
//! records, it goes back and the migration is undone. Where the file system cannot exchange files,
//! a second name holds on to the file while it is looked at, before and after: what is left is the
//! instant in which somebody puts another file in its place, and that is told.

use std::{
    io,
    path::{Path, PathBuf},
};

use coalesce_model::TreePath;

use crate::{
    Error, ErrorKind,
    carry::{Job, Side, date_apart},
    disk::{Disk, Seen, holds, seen},
    journal::{Journal, Version},
    room::Room,
    settle::beside,
    system, trust,
};

/// Puts files in their places and takes out what was there.
pub(crate) struct Places<'p> {
    disk: &'p Disk,
    journal: &'p Journal,
    room: &'p Room,
    side: Side,
    /// Paths whose file system cannot exchange files.
    pub windows: Vec<TreePath>,
}

impl<'p> Places<'p> {
    pub fn new(disk: &'p Disk, journal: &'p Journal, room: &'p Room, side: Side) -> Self {
        Self {
            disk,
            journal,
            room,
            side,
            windows: Vec::new(),
        }
    }

    /// Puts a staged file where nothing is.
    pub fn create(&self, job: &Job<'_>) -> Result<(), Error> {
        let absolute = self.disk.absolute(job.path);
        let staged = self.staged(job);
        let outcome = match self.disk.calls.place(&staged, &absolute) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let staged = self.write_beside(job)?;
                self.disk.calls.place(&staged, &absolute)
            }
            outcome => outcome,
        };
        outcome.map_err(|error| failed(job, &error))
    }

    /// Puts a staged file in the place of another one.
    pub fn replace(&mut self, job: &Job<'_>) -> Result<(), Error> {
        let absolute = self.disk.absolute(job.path);
        let mut staged = self.staged(job);
        let mut outcome = self.disk.calls.exchange(&staged, &absolute);
        let elsewhere = |error: &io::Error| error.kind() == io::ErrorKind::CrossesDevices;
        if outcome.as_ref().is_err_and(elsewhere) {
            staged = self.write_beside(job)?;
            outcome = self.disk.calls.exchange(&staged, &absolute);
        }
        if !outcome.map_err(|error| failed(job, &error))? {
            return self.replace_in_steps(job, &staged);
        }
        match seen(&staged) {
            Ok(out) if job.stands.is_some() && out.is(job.stands) => {
                self.pass_bits_on(job, &out)?;
                return self.put_away(job, &staged);
            }
            _ => self.put_back(job, &staged)?,
        }
        Err(changed(job))
    }

    /// Takes a file out of the tree.
    pub fn remove(&self, job: &Job<'_>) -> Result<(), Error> {
        let absolute = self.disk.absolute(job.path);
        let mut out = self.staged(job);
        let mut outcome = self.disk.calls.place(&absolute, &out);
        if outcome
            .as_ref()
            .is_err_and(|error| error.kind() == io::ErrorKind::CrossesDevices)
        {
            out = beside(self.disk, &self.journal.record, job.number, job.path);
            outcome = self.disk.calls.place(&absolute, &out);
        }
        outcome.map_err(|error| failed(job, &error))?;
        if holds(&out, job.stands) {
            return self.put_away(job, &out);
        }
        // Whoever made another one there meanwhile keeps both.
        if self.disk.calls.place(&out, &absolute).is_err() {
            self.hold(job, &out)?;
        }
        Err(changed(job))
    }

    /// Bits that the migration does not change are whose they are: who has given the file others, now
    /// or after the migration, keeps them.
    fn pass_bits_on(&self, job: &Job<'_>, out: &Seen) -> Result<(), Error> {
        let (Some(stands), Some(wanted)) = (job.stands, job.wanted) else {
            return Ok(());
        };
        let Seen::Plain { mode, .. } = *out else {
            return Ok(());
        };
        let given = stands.mode == wanted.mode && mode != wanted.mode;
        if !given || trust::file_mode(mode).is_err() {
            return Ok(());
        }
        let absolute = self.disk.absolute(job.path);
        let set = self.disk.calls.set_mode(&absolute, mode);
        set.map_err(|error| Error::io(job.path, &error))
    }

    /// Where the file system cannot exchange files.
    fn replace_in_steps(&mut self, job: &Job<'_>, staged: &Path) -> Result<(), Error> {
        let io = |error: io::Error| failed(job, &error);
        let calls = &self.disk.calls;
        let absolute = self.disk.absolute(job.path);
        let old = staged.with_extension("old");
        self.windows.push(job.path.clone());
        let held = calls.link(&absolute, &old).is_ok();
        if !holds(if held { &old } else { &absolute }, job.stands) {
            if held {
                calls.remove(&old).map_err(io)?;
            }
            return Err(changed(job));
        }
        calls.rename(staged, &absolute).map_err(io)?;
        if !held {
            return Ok(());
        }
        if holds(&old, job.stands) {
            return self.put_away(job, &old);
        }
        calls.rename(&old, &absolute).map_err(io)?;
        Err(changed(job))
    }

    /// What came out is not what is recorded: it goes back.
    fn put_back(&self, job: &Job<'_>, out: &Path) -> Result<(), Error> {
        let absolute = self.disk.absolute(job.path);
        match self.disk.calls.exchange(out, &absolute) {
            Ok(true) if holds(out, job.wanted) => return Ok(()),
            // Somebody has put yet another one there: the newest stays.
            Ok(true) => {
                let again = self.disk.calls.exchange(out, &absolute);
                again.map_err(|error| failed(job, &error))?;
            }
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if self.disk.calls.place(out, &absolute).is_ok() {
                    return Ok(());
                }
            }
            Err(error) => return Err(failed(job, &error)),
        }
        self.hold(job, out)
    }

    /// Keeps what has no place in the tree.
    fn hold(&self, job: &Job<'_>, out: &Path) -> Result<(), Error> {
        self.room.keep(&self.disk.calls)?;
        let found = self.room.found(job.number);
        let renamed = self.disk.calls.rename(out, &found);
        renamed.map_err(|error| failed(job, &error))
    }

    /// What came out is recorded. What a migration takes out is kept until it is forgotten: some
    /// file systems take a millisecond to free a file, and somebody may still be writing to it.
    fn put_away(&self, job: &Job<'_>, out: &Path) -> Result<(), Error> {
        if self.side == Side::Before {
            return Ok(());
        }
        let kept = self.room.kept.join(job.number.to_string());
        match self.disk.calls.place(out, &kept) {
            // It is there from an earlier run, or the file system is another one.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::AlreadyExists | io::ErrorKind::CrossesDevices
                ) =>
            {
                Ok(())
            }
            outcome => outcome.map_err(|error| failed(job, &error)),
        }
    }

    fn staged(&self, job: &Job<'_>) -> PathBuf {
        self.room.placing.join(job.number.to_string())
    }

    /// A file system of its own below the root: the file is written beside its place.
    fn write_beside(&self, job: &Job<'_>) -> Result<PathBuf, Error> {
        let io = |error: io::Error| failed(job, &error);
        let calls = &self.disk.calls;
        let whole = beside(self.disk, &self.journal.record, job.number, job.path);
        let part = whole.with_extension("part");
        let Some(Version { mode, owner, .. }) = job.wanted else {
            return Ok(whole);
        };
        let bytes = job.wanted.map(|version| self.journal.bytes(version));
        let outcome = calls
            .create_as(&part, bytes.unwrap_or_default(), mode, owner)
            .and_then(|made| date_apart((&part, &made), job, self.disk))
            .and_then(|()| system::sync_path(&part))
            .and_then(|()| calls.rename(&part, &whole));
        if outcome.is_err() {
            drop(std::fs::remove_file(&part));
        }
        outcome.map_err(io)?;
        Ok(whole)
    }
}

/// Something is where nothing was, or nothing where something was: somebody else was there.
fn failed(job: &Job<'_>, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound => changed(job),
        _ => Error::io(job.path, error),
    }
}

fn changed(job: &Job<'_>) -> Error {
    changed_meanwhile(vec![job.path.clone()])
}

/// Somebody has written to these while we did.
pub(crate) fn changed_meanwhile(paths: Vec<TreePath>) -> Error {
    let message =
        "somebody else changed these while they were being written, and their changes stay";
    Error::paths(ErrorKind::Changed, message, paths)
}
