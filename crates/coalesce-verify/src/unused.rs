//! Imports that the compiler says nobody uses.
//!
//! A trait import serves method calls that name no trait, so only the compiler can tell that it
//! serves none. It does not judge who brought an import about; whoever asks compares two outcomes.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::TreePath;
use serde::{Deserialize, Serialize};

/// An import that is unused in every target that has its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnusedImport {
    /// The file.
    pub path: TreePath,
    /// The line, 1-based.
    pub line: u32,
    /// The last byte of it that the compiler names, in the text that was checked.
    pub last_byte: u32,
    /// The last name of its path, with `as` where it has that.
    pub name: String,
}

/// What all targets agree on, of what each one says: `units` is how often a target is compiled,
/// where that is known.
pub(crate) fn agreed(
    said: &[(String, UnusedImport)],
    units: &BTreeMap<String, usize>,
) -> Vec<UnusedImport> {
    let mut count: BTreeMap<(&UnusedImport, &str), usize> = BTreeMap::new();
    let mut targets: BTreeMap<&TreePath, BTreeSet<&str>> = BTreeMap::new();
    for (target, import) in said {
        targets.entry(&import.path).or_default().insert(target);
        *count.entry((import, target)).or_default() += 1;
    }
    let everywhere = |import: &UnusedImport| {
        targets
            .get(&import.path)
            .into_iter()
            .flatten()
            .all(|target| {
                let times = count.get(&(import, *target)).copied().unwrap_or_default();
                times >= units.get(*target).copied().unwrap_or(1).max(1)
            })
    };
    let all: BTreeSet<&UnusedImport> = said.iter().map(|(_, import)| import).collect();
    all.into_iter()
        .filter(|import| everywhere(import))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_has_to_agree() {
        let said = |target: &str, last_byte| {
            let import = UnusedImport {
                path: TreePath::new("a.rs").unwrap(),
                line: 1,
                last_byte,
                name: "B".to_owned(),
            };
            (target.to_owned(), import)
        };
        let units = BTreeMap::from([("lib".to_owned(), 2), ("bin".to_owned(), 1)]);
        for (all, agree) in [
            (vec![said("lib", 4), said("lib", 4)], 1),
            // The library's tests use it.
            (vec![said("lib", 4)], 0),
            (vec![said("lib", 4), said("lib", 4), said("bin", 4)], 1),
            // How often an unknown target is compiled does not count against it.
            (vec![said("other", 4)], 1),
            // One target names another import of the file only.
            (vec![said("lib", 4), said("lib", 4), said("bin", 9)], 0),
        ] {
            assert_eq!(agreed(&all, &units).len(), agree, "{all:?}");
        }
    }
}
