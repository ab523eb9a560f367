//! A control group of one's own, where the kernel has them and this user may make one (version 2, in a
//! part of the tree that was delegated): what is in it can neither leave it nor be overlooked, and all of
//! it ends by one word, however fast it forks.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// How long the end of a group may take.
const ENDING: Duration = Duration::from_secs(5);
/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(5);

/// A group that nobody else has.
pub(crate) struct ControlGroup {
    directory: PathBuf,
}

impl ControlGroup {
    /// A new group below that of this process, with a bound on its memory in bytes where the group
    /// above lets it have one; `None` where there can be none. Whoever starts now starts in it; this
    /// process is not in it.
    pub fn around<T>(
        memory_bytes: u64,
        start: impl FnOnce() -> io::Result<T>,
    ) -> (io::Result<T>, Option<Self>) {
        let Some((group, own)) = Self::make() else {
            return (start(), None);
        };
        let _ = fs::write(group.directory.join("memory.max"), memory_bytes.to_string());
        // A child is born where its parent is.
        if enter(&group.directory).is_err() {
            return (start(), None);
        }
        let started = start();
        match enter(&own) {
            Ok(()) => (started, Some(group)),
            // A process that is inside must not end the group.
            Err(_) => {
                std::mem::forget(group);
                (started, None)
            }
        }
    }

    /// The new group, and the one that this process is in.
    fn make() -> Option<(Self, PathBuf)> {
        let own = own_group(
            &fs::read_to_string("/proc/self/mountinfo").ok()?,
            &fs::read_to_string("/proc/self/cgroup").ok()?,
        )?;
        let directory = own.join(format!("coalesce-{}", std::process::id()));
        fs::create_dir(&directory).ok()?;
        let group = Self { directory };
        // Before 5.14 a group is not ended at once.
        group
            .directory
            .join("cgroup.kill")
            .exists()
            .then_some((group, own))
    }

    /// Ends all that is in it; whether nothing is left.
    pub fn end(&self) -> bool {
        let begun = Instant::now();
        while !self.is_empty() {
            let killed = fs::write(self.directory.join("cgroup.kill"), "1");
            if killed.is_err() || begun.elapsed() > ENDING {
                return false;
            }
            thread::sleep(LOOK);
        }
        true
    }

    /// Whether the kernel has ended something of it for want of memory.
    pub fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.directory.join("memory.events"));
        let killed = |line: &str| line.starts_with("oom_kill ") && line != "oom_kill 0";
        events.is_ok_and(|events| events.lines().any(killed))
    }

    fn is_empty(&self) -> bool {
        let events = fs::read_to_string(self.directory.join("cgroup.events"));
        events.is_ok_and(|events| events.lines().any(|line| line == "populated 0"))
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // One that is not empty stays, and what is in it with it.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Puts this process into a group.
fn enter(directory: &Path) -> io::Result<()> {
    fs::write(directory.join("cgroup.procs"), "0")
}

/// The directory of the group that this process is in, by what `/proc` tells of mounts and groups.
fn own_group(mounts: &str, groups: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mount = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let version_2 = after.split(' ').next() == Some("cgroup2");
        // The root of the mount and its place, with the optional fields behind.
        let mut fields = before.split(' ').skip(3);
        let (root, place) = (fields.next()?, fields.next()?);
        (version_2 && root == "/").then_some(place)
    })?;
    Some(Path::new(mount).join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_beside_those_of_version_1() {
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                      32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,nosuid shared:5 - cgroup2 cgroup2 rw\n";
        let group = |groups| own_group(mounts, groups);
        assert_eq!(
            group("4:memory:/x\n0::/user.slice/a.scope\n"),
            Some("/sys/fs/cgroup/unified/user.slice/a.scope".into())
        );
        assert_eq!(group("0::/\n"), Some("/sys/fs/cgroup/unified/".into()));
        assert_eq!(group("4:memory:/x\n"), None);
        assert_eq!(own_group("", "0::/\n"), None);
    }
}
