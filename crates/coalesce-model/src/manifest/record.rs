//! What was applied of a manifest: a file beside it that `migrate` leaves, so that a fresh clone, which
//! has no journal, can tell an entry that is done from one that is mistyped.
//!
//! One line an entry, `move a.b -> a.c`; lines that begin with `#` say nothing.

use std::collections::BTreeSet;

use super::{Accessor, Entry, Manifest, Removal, Verb};
use crate::TreePath;

/// The entries of a manifest that were applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppliedEntries {
    lines: BTreeSet<String>,
    /// Whether the journal of this tree knows the manifest: all of its entries count as applied.
    journal: bool,
}

impl AppliedEntries {
    /// What a record says.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self {
            lines: lines.map(str::to_owned).collect(),
            journal: false,
        }
    }

    /// What a manifest comes to that the journal of this tree knows.
    #[must_use]
    pub fn by_journal() -> Self {
        Self {
            lines: BTreeSet::new(),
            journal: true,
        }
    }

    /// Whether an entry was applied.
    #[must_use]
    pub fn has(&self, entry: &Entry) -> bool {
        self.journal || self.lines.contains(&applied_line(entry))
    }

    /// Whether the record itself says so of an entry as it is written: a journal knows manifests as a whole alone.
    #[must_use]
    pub fn is_recorded(&self, entry: &Entry) -> bool {
        self.lines.contains(&applied_line(entry))
    }

    /// Whether a removal was applied.
    #[must_use]
    pub fn has_removal(&self, removal: &Removal) -> bool {
        self.journal || self.lines.contains(&removal_line(removal))
    }

    /// Whether an accessor was applied.
    #[must_use]
    pub fn has_accessor(&self, accessor: &Accessor) -> bool {
        self.journal || self.lines.contains(&accessor_line(accessor))
    }

    /// The record of a manifest all of whose entries are applied, those of earlier versions of it
    /// included.
    #[must_use]
    pub fn record(&self, manifest: &Manifest) -> String {
        let mut lines = self.lines.clone();
        lines.extend(manifest.entries.iter().map(applied_line));
        lines.extend(manifest.removals.iter().map(removal_line));
        lines.extend(manifest.accessors.iter().map(accessor_line));
        let mut text = format!(
            "# What `coalesce migrate` has applied of {}.toml. Commit it with the change.\n",
            manifest.id
        );
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

/// How an entry stands in a record.
#[must_use]
pub fn applied_line(entry: &Entry) -> String {
    let (verb, from, to) = (entry.verb.as_str(), &entry.from.text, &entry.to.text);
    format!("{verb} {from} -> {to}")
}

/// How a removal stands in a record.
#[must_use]
pub fn removal_line(removal: &Removal) -> String {
    format!("{} {}", Verb::Remove.as_str(), removal.module.text)
}

fn accessor_line(accessor: &Accessor) -> String {
    let (library, get) = (&accessor.library.text, &accessor.get.text);
    format!("{} {library} -> {get}", Verb::Access.as_str())
}

/// Where the record of a manifest stands: `0001-x.applied` beside `0001-x.toml`.
#[must_use]
pub fn record_path(manifest: &TreePath) -> Option<TreePath> {
    let name = manifest.file_name();
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    let directory = manifest.parent().unwrap_or_else(TreePath::root);
    directory.join(&format!("{stem}.applied")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_tells_what_was_applied() {
        let text =
            "schema = 1\n[[move]]\nfrom = \"a.b\"\nto = \"a.c\"\n[[remove]]\nmodule = \"a.d\"\n";
        let manifest = Manifest::parse("migrations/0001-x.toml", text).unwrap();
        let none = AppliedEntries::default();
        let record = AppliedEntries::parse("# x\nmove a.old -> a.older\n").record(&manifest);
        assert!(record.ends_with("move a.b -> a.c\nmove a.old -> a.older\nremove a.d\n"));
        for (applied, expected) in [
            (none, false),
            (AppliedEntries::parse(&record), true),
            (AppliedEntries::by_journal(), true),
            (AppliedEntries::parse("move a.b -> a.cc"), false),
        ] {
            assert!(
                manifest
                    .entries
                    .iter()
                    .all(|one| applied.has(one) == expected)
            );
        }
        let path = TreePath::new("migrations/0001-x.toml").unwrap();
        assert_eq!(
            record_path(&path),
            TreePath::new("migrations/0001-x.applied").ok()
        );
    }
}
