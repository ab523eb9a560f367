//! Who has the default features of a package.
//!
//! What is on by default where code comes from is so where it goes only if nobody comes to have it by that who did
//! not: features do not ask which package they were of.

use std::collections::BTreeMap;

use coalesce_cargo::{dependencies as entries, features};

use super::{
    super::mapping::Mapping,
    book::{Book, Wrong},
    effective::Effective,
    wishes::names,
};

/// Whether a package has the default features of another one of the tree, by one of its lines for that as they are
/// before; `None` where it has no line.
pub(super) fn has_defaults(
    mapping: &Mapping<'_>,
    user: usize,
    of: usize,
) -> Result<Option<bool>, Wrong> {
    let path = mapping.world.manifest_of(user);
    let text = mapping.texts.text(&path).unwrap_or_default();
    let all = entries::dependencies(&text).map_err(|why| (path, why.to_string()))?;
    let mut book = Book::new(mapping.texts, BTreeMap::new());
    let package = mapping.world.package(user);
    let lines = all.iter().filter(|entry| names(mapping, user, of, entry));
    let lines = lines.map(|entry| Effective::of(&mut book, mapping.texts, package, entry));
    Ok(lines
        .map(|line| line.defaults)
        .reduce(|all, one| all || one))
}

/// The packages of the tree that depend on another one.
pub(super) fn dependents(mapping: &Mapping<'_>, of: usize) -> Vec<usize> {
    let own = &mapping.world.package(of).directory;
    let knows = |at: &usize| {
        let mut known = mapping.world.package(*at).dependencies.iter();
        *at != of && known.any(|known| known.directory.as_ref() == Some(own))
    };
    (0..mapping.world.packages.len()).filter(knows).collect()
}

/// Whether a package has default features, and all of the tree that depend on it go without.
pub(in super::super) fn are_off_for_all(mapping: &Mapping<'_>, of: usize) -> Result<bool, Wrong> {
    let path = mapping.world.manifest_of(of);
    let text = mapping.texts.text(&path).unwrap_or_default();
    let said = features::features(&text).map_err(|why| (path, why.to_string()))?;
    if features::of(&said, "default").is_none_or(Vec::is_empty) {
        return Ok(false);
    }
    let users = dependents(mapping, of);
    let mut off = !users.is_empty();
    for user in users {
        off &= has_defaults(mapping, user, of)? == Some(false);
    }
    Ok(off)
}

/// Whether who has the default features of a package has those of a library that goes into it as well.
pub(super) fn come_together(
    mapping: &Mapping<'_>,
    library: usize,
    target: usize,
) -> Result<bool, Wrong> {
    if has_defaults(mapping, target, library)? == Some(true) {
        return Ok(true);
    }
    for user in dependents(mapping, target) {
        let has_both = user == library
            || has_defaults(mapping, user, target)? == Some(false)
            || has_defaults(mapping, user, library)? == Some(true);
        if !has_both {
            return Ok(false);
        }
    }
    // What the package itself had switched off is not on because of who builds it.
    Ok(has_defaults(mapping, target, library)?.is_none())
}
