//! The names that the entries of all manifests speak of, each looked up instead of searched for: a migration may
//! have thousands.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::manifest::{Entry, EntryVerb, Manifest};

/// The entries and removals by their names.
pub(super) struct Names<'a> {
    /// The first entry of each name that leaves.
    leaving: BTreeMap<&'a str, &'a Entry>,
    /// The first move of each name that leaves no shim there.
    moving: BTreeMap<&'a str, &'a Entry>,
    /// The names that some entry leaves without a shim.
    without_shim: BTreeSet<&'a str>,
    /// The entries that lead to each name.
    arriving: BTreeMap<&'a str, Vec<&'a Entry>>,
    removed: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    pub fn of(manifests: &'a [Manifest]) -> Self {
        let mut names = Self {
            leaving: BTreeMap::new(),
            moving: BTreeMap::new(),
            without_shim: BTreeSet::new(),
            arriving: BTreeMap::new(),
            removed: BTreeSet::new(),
        };
        for entry in manifests.iter().flat_map(|manifest| &manifest.entries) {
            let from = entry.from.text.as_str();
            names.leaving.entry(from).or_insert(entry);
            if !entry.shim {
                names.without_shim.insert(from);
            }
            if !entry.shim && entry.verb == EntryVerb::Move {
                names.moving.entry(from).or_insert(entry);
            }
            let arriving = names.arriving.entry(&entry.to.text);
            arriving.or_default().push(entry);
        }
        let removals = manifests.iter().flat_map(|manifest| &manifest.removals);
        let removed = removals.map(|removal| removal.module.text.as_str());
        names.removed.extend(removed);
        names
    }

    /// The entry whose `from` is exactly this name.
    pub fn entry_from(&self, name: &str) -> Option<&'a Entry> {
        self.leaving.get(name).copied()
    }

    /// Whether some entry leads to exactly this name.
    pub fn is_target(&self, name: &str) -> bool {
        self.arriving.contains_key(name)
    }

    /// Whether a move leads to exactly this name.
    pub fn arrives(&self, name: &str) -> bool {
        self.moves_to(name).next().is_some()
    }

    /// The moves to exactly this name.
    pub fn moves_to(&self, name: &str) -> impl Iterator<Item = &'a Entry> + '_ {
        let entries = self.arriving.get(name).into_iter().flatten();
        entries
            .copied()
            .filter(|entry| entry.verb == EntryVerb::Move)
    }

    pub fn is_removed(&self, name: &str) -> bool {
        self.removed.contains(name)
    }

    /// The nearest module around a name that moves and leaves no shim, and the rest of the name behind it.
    pub fn moves_around<'n>(&self, name: &'n str) -> Option<(&'a Entry, &'n str)> {
        around(name).find_map(|(above, rest)| Some((*self.moving.get(above)?, rest)))
    }

    /// Whether an entry takes this module, or one around it, away from where it is.
    pub fn goes(&self, module: &str) -> bool {
        let mut names = around(module).map(|(above, _)| above);
        self.without_shim.contains(module)
            || names.any(|above| self.without_shim.contains(above))
            || self.is_removed(module)
    }
}

/// The names around a name, the nearest first, each with the rest behind it.
pub(super) fn around(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let ends = name.rmatch_indices(['.', ':']);
    ends.filter_map(|(end, _)| name.split_at_checked(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_around_a_name_end_where_separators_begin() {
        let python: Vec<_> = around("a.b.C").collect();
        assert_eq!(python, [("a.b", ".C"), ("a", ".b.C")]);
        assert!(around("a::b::C").any(|found| found == ("a::b", "::C")));
        assert!(around("a::b::C").any(|found| found == ("a", "::b::C")));
        assert_eq!(around("a").next(), None);
    }
}
