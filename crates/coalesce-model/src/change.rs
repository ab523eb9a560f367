//! What a manifest asks of one language, after the entries were checked against the index.

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

/// The name that `name` has after `changes`; the longest `from` that is the name or a parent of it
/// wins. `None` when no change concerns it. Items of replaced modules follow `rename`.
#[must_use]
pub fn renamed(changes: &[Change], separator: &str, name: &str) -> Option<String> {
    let below = |change: &Change| -> Option<String> {
        let rest = name.strip_prefix(change.from.as_str())?;
        if rest.is_empty() {
            Some(String::new())
        } else {
            rest.strip_prefix(separator).map(str::to_owned)
        }
    };
    let (change, rest) = changes
        .iter()
        .filter_map(|change| Some((change, below(change)?)))
        .max_by_key(|(change, _)| change.from.len())
        .filter(|(change, _)| change.kind != ChangeKind::Remove)?;
    if rest.is_empty() {
        return Some(change.to.clone());
    }
    let mut rest = rest;
    if let ChangeKind::Replace { rename } = &change.kind {
        let (first, tail) = rest
            .split_once(separator)
            .map_or((rest.as_str(), None), |(a, b)| (a, Some(b)));
        if let Some((_, new)) = rename.iter().find(|(old, _)| old == first) {
            rest = tail.map_or_else(|| new.clone(), |tail| format!("{new}{separator}{tail}"));
        }
    }
    Some(format!("{}{separator}{rest}", change.to))
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
        for (name, after) in [
            ("p.gpu.pool.X", Some("q.pool.X")),
            ("p.gpu.cache", Some("q.gpu.cache")),
            ("p.gpu.f", Some("q.other.g")),
            ("p.gpu.f.attribute", Some("q.other.g.attribute")),
            ("p.gpu_memory", None),
            ("p.old.f", Some("p.new.g")),
            ("p.old", Some("p.new")),
        ] {
            assert_eq!(renamed(&changes, ".", name).as_deref(), after, "{name}");
        }
    }
}
