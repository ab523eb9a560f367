//! Keeps a tree from being written to.
//!
//! Where a process may have a view of the file systems of its own, the tree is mounted read-only in
//! it. Else by Landlock: a process may give up rights, for itself and all that it starts. Landlock
//! knows what is allowed and nothing that is forbidden, so everything beside the way to the tree is
//! allowed: on each level from the root of the file system down, all entries but the one that leads
//! on. What comes with it: nothing new can be made right in a directory above the tree.
//!
//! Either holds for code that does not know of it. Whoever has the rights of root and wants to can
//! mount the tree as it was.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, path_beneath_rules,
};
use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
};

/// The oldest version that lets files be renamed from one directory to another: without it no
/// compiler works.
const NEEDED: ABI = ABI::V2;
/// The newest version that is made use of.
const KNOWN: ABI = ABI::V3;

/// From now on nothing below `tree` can be written to, but what is below `scratch`; or why not. The
/// process must have one thread only.
pub(crate) fn tree(tree: &Path, scratch: &Path) -> Result<(), String> {
    let tree = fs::canonicalize(tree).map_err(|error| error.to_string())?;
    let scratch = fs::canonicalize(scratch).map_err(|error| error.to_string())?;
    if own_view()
        .and_then(|()| mount_read_only(&tree, &scratch))
        .is_ok()
    {
        return Ok(());
    }
    give_up_writing(&tree, &scratch)
}

/// A view of the file systems that no other process has: with the rights of root, or as a user who is
/// root of a world of its own.
fn own_view() -> io::Result<()> {
    if unshare(CloneFlags::CLONE_NEWNS).is_err() {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
        let (user, group) = (user.as_raw(), group.as_raw());
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // What is mounted here is seen nowhere else.
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    Ok(mount::<str, str, str, str>(None, "/", None, private, None)?)
}

fn mount_read_only(tree: &Path, scratch: &Path) -> io::Result<()> {
    bind(tree, MsFlags::MS_REC)?;
    if scratch.starts_with(tree) {
        bind(scratch, MsFlags::MS_REC)?;
    }
    // What a user has not mounted may be made stricter and not laxer.
    let known = rustix::fs::statvfs(tree)?.f_flag;
    let mut flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    for (known_as, flag) in [
        (rustix::fs::StatVfsMountFlags::NOSUID, MsFlags::MS_NOSUID),
        (rustix::fs::StatVfsMountFlags::NODEV, MsFlags::MS_NODEV),
        (rustix::fs::StatVfsMountFlags::NOEXEC, MsFlags::MS_NOEXEC),
    ] {
        if known.contains(known_as) {
            flags |= flag;
        }
    }
    Ok(mount::<str, Path, str, str>(None, tree, None, flags, None)?)
}

fn bind(path: &Path, flags: MsFlags) -> io::Result<()> {
    let flags = flags | MsFlags::MS_BIND;
    Ok(mount::<Path, Path, str, str>(
        Some(path),
        path,
        None,
        flags,
        None,
    )?)
}

fn give_up_writing(tree: &Path, scratch: &Path) -> Result<(), String> {
    let mut allowed = beside(tree);
    allowed.push(scratch.to_owned());
    let failed = |error: landlock::RulesetError| error.to_string();
    let needed = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(NEEDED))
        .map_err(|_| "the kernel has no Landlock, or an old one".to_owned())?;
    let status = needed
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(KNOWN))
        .map_err(failed)?
        .create()
        .map_err(failed)?
        .add_rules(path_beneath_rules(&allowed, AccessFs::from_write(KNOWN)))
        .map_err(failed)?
        .restrict_self()
        .map_err(failed)?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err("the kernel does not enforce Landlock".to_owned()),
        _ => Ok(()),
    }
}

/// Everything that is not on the way to `tree`. Links are left out: what they lead to is allowed, or
/// not, by where it is.
fn beside(tree: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for directory in tree.ancestors().skip(1) {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let own = |path: &PathBuf| tree.starts_with(path) || path.is_symlink();
        all.extend(paths.filter(|path| !own(path) && (path.is_dir() || path.is_file())));
    }
    all
}
