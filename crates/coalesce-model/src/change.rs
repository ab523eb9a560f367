//! What a manifest asks of one language, after the entries were checked against the index.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::manifest::Manifest;

/// One module or item that gives up its old name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Canonical name before.
    pub from: String,
    /// Canonical name after; for an item, the item's own: `pkg.new.f`.
    pub to: String,
    /// Whether the names are those of modules or of items.
    pub subject: Subject,
    /// What happens to it.
    pub kind: ChangeKind,
    /// What stays at the old name; `None`: nothing.
    pub shim: Option<ShimRequest>,
    /// What imports bind that get another name by it.
    pub uses: Uses,
}

/// What a file calls an imported item or module that has another name from now on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Uses {
    /// The new name, in the import and wherever the file uses it. The old one stays, as an alias, where
    /// somebody else may read it, or the new name means something else.
    #[default]
    Rename,
    /// The old name, by an alias of the import: `import new as old`, `use new as old`.
    Alias,
}

impl Uses {
    /// As it stands in the manifest.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rename => "rename",
            Self::Alias => "alias",
        }
    }
}

/// What gives up its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A module or a crate root, with everything below it.
    #[default]
    Module,
    /// An item that stands in a module: function, class, type, constant, macro. Every item of a
    /// set is a change of its own; all changes of a call hold at once, so that items which need
    /// each other and arrive at one place are one set.
    Item,
}

/// What happens to the subject of a [`Change`]. Submodules go with their module unless a longer
/// `from` says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Its file, or the text of its definition, goes to the new name, which does not exist yet
    /// (an item's may be a re-export of that very item).
    Move,
    /// Its file or definition goes away; references name `to`, which exists and is of the same
    /// subject. `rename` maps names of the old module to names of the new one, where they differ;
    /// empty for items.
    Replace {
        /// `(old item, new item)`.
        rename: Vec<(String, String)>,
    },
    /// An item whose definition takes the place of the one that `to` names, which is an item of
    /// another module; references of both name `to`. The text that stood at `to` goes away.
    Supersede,
    /// A module that nobody uses goes, with what declares it, and nothing takes its place.
    /// `to` repeats `from`. Nothing may name it once the other changes hold; a statement that
    /// imports it and is used for nothing is no such name.
    Remove,
}

impl ChangeKind {
    /// Whether the text at `from` is text at `to` afterwards.
    #[must_use]
    pub const fn carries_text(&self) -> bool {
        matches!(self, Self::Move | Self::Supersede)
    }
}

/// The shim that a [`Change`] leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShimRequest {
    /// Id of the manifest, `0001-name`; the shim carries it.
    pub manifest: String,
    /// First release with the new name.
    pub since: Option<String>,
    /// Release that removes the shim.
    pub remove_in: Option<String>,
    /// Whether the shim of a trait warns where it is asked for, and can then not be implemented by its
    /// old name. Rust alone.
    pub trait_bounds: bool,
    /// How much of the shim stands in its own file. Python alone.
    pub style: ShimStyle,
}

impl ShimRequest {
    /// What the manifest of an entry asks of its shim.
    #[must_use]
    pub fn of(manifest: &Manifest) -> Self {
        Self {
            manifest: manifest.id.clone(),
            since: manifest.since.clone(),
            remove_in: manifest.remove_in.clone(),
            trait_bounds: manifest.trait_bounds,
            style: manifest.shim_style,
        }
    }
}

/// How much of a shim stands in its own file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShimStyle {
    /// All of it: the file needs nothing but the new module.
    #[default]
    Inline,
    /// A few lines: the rest is written once for all shims of a package.
    Helper,
}

/// Changes, asked what a name is called after them; looked up, since a manifest may have thousands.
#[derive(Clone, Debug)]
pub struct Renames<'c> {
    by_name: BTreeMap<&'c str, &'c Change>,
    separator: &'static str,
}

impl<'c> Renames<'c> {
    /// Of several changes of one name the last counts.
    pub fn new(changes: impl IntoIterator<Item = &'c Change>, separator: &'static str) -> Self {
        let changes = changes.into_iter();
        Self {
            by_name: changes
                .map(|change| (change.from.as_str(), change))
                .collect(),
            separator,
        }
    }

    /// The change of the name itself, or of the nearest parent of it that has one, and what of the name is below that.
    #[must_use]
    pub fn nearest<'n>(&self, name: &'n str) -> Option<(&'c Change, &'n str)> {
        let parents = name.rmatch_indices(self.separator);
        let parents = parents.map(|(at, separator)| (at, at + separator.len()));
        let mut ends = std::iter::once((name.len(), name.len())).chain(parents);
        ends.find_map(|(end, rest)| {
            let change = self.by_name.get(name.get(..end)?)?;
            Some((*change, name.get(rest..)?))
        })
    }

    /// The name that `name` has afterwards. `None` when no change concerns it, or it goes. Items of replaced modules
    /// follow `rename`.
    #[must_use]
    pub fn renamed(&self, name: &str) -> Option<String> {
        let separator = self.separator;
        let (change, rest) = self.nearest(name)?;
        if change.kind == ChangeKind::Remove {
            return None;
        }
        if rest.is_empty() {
            return Some(change.to.clone());
        }
        if let ChangeKind::Replace { rename } = &change.kind {
            let (first, tail) = match rest.split_once(separator) {
                Some((first, tail)) => (first, Some(tail)),
                None => (rest, None),
            };
            if let Some((_, new)) = rename.iter().find(|(old, _)| old == first) {
                let tail = tail.map(|tail| format!("{separator}{tail}"));
                return Some([&change.to, separator, new, &tail.unwrap_or_default()].concat());
            }
        }
        Some([&change.to, separator, rest].concat())
    }

    /// The same, or the name as it is.
    #[must_use]
    pub fn name_after(&self, name: &str) -> String {
        self.renamed(name).unwrap_or_else(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(from: &str, to: &str, kind: ChangeKind) -> Change {
        Change {
            from: from.into(),
            to: to.into(),
            subject: Subject::Module,
            kind,
            shim: None,
            uses: Uses::default(),
        }
    }

    #[test]
    fn the_longest_from_wins_and_a_prefix_of_a_segment_does_not_count() {
        let changes = [
            change("p.gpu", "q.gpu", ChangeKind::Move),
            change("p.gpu.pool", "q.pool", ChangeKind::Move),
            Change {
                subject: Subject::Item,
                ..change("p.gpu.f", "q.other.g", ChangeKind::Move)
            },
            change(
                "p.old",
                "p.new",
                ChangeKind::Replace {
                    rename: vec![("f".into(), "g".into())],
                },
            ),
        ];
        let renames = Renames::new(&changes, ".");
        for (name, after) in [
            ("p.gpu.pool.X", Some("q.pool.X")),
            ("p.gpu.cache", Some("q.gpu.cache")),
            ("p.gpu.f", Some("q.other.g")),
            ("p.gpu.f.attribute", Some("q.other.g.attribute")),
            ("p.gpu_memory", None),
            ("p.old.f", Some("p.new.g")),
            ("p.old", Some("p.new")),
        ] {
            assert_eq!(renames.renamed(name).as_deref(), after, "{name}");
        }
    }
}
