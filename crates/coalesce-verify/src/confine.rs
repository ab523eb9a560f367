//! Keeps a tree from being written to, by Landlock: a process may give up rights, for itself and all
//! that it starts, without any privilege.
//!
//! Landlock knows what is allowed and nothing that is forbidden. So everything beside the way to the
//! tree is allowed: on each level from the root of the file system down, all entries but the one that
//! leads on. What comes with it: nothing new can be made right in a directory above the tree.

use std::{
    fs,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, path_beneath_rules,
};

/// The oldest version that lets files be renamed from one directory to another: without it no
/// compiler works.
const NEEDED: ABI = ABI::V2;
/// The newest version that is made use of.
const KNOWN: ABI = ABI::V3;

/// From now on nothing below `tree` can be written to, but what is below `scratch`; or why not.
pub(crate) fn tree(tree: &Path, scratch: &Path) -> Result<(), String> {
    if tree.as_os_str().is_empty() {
        return Err("no tree was named".to_owned());
    }
    let tree = fs::canonicalize(tree).map_err(|error| error.to_string())?;
    let mut allowed = beside(&tree);
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
