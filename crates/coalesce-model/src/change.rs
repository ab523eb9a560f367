//! What a manifest asks of one language, after the entries were checked against the index.

/// One module that gives up its old name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Canonical name before.
    pub from: String,
    /// Canonical name after.
    pub to: String,
    /// What happens to it.
    pub kind: ChangeKind,
    /// What stays at the old name; `None`: nothing.
    pub shim: Option<ShimRequest>,
}

/// What happens to the module of a [`Change`]. Its submodules go with it unless a longer `from`
/// says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Its file goes to the new name, which does not exist yet.
    Move,
    /// Its file goes away; references name the module `to`, which exists. `rename` maps names of
    /// the old module to names of the new one, where they differ.
    Replace {
        /// `(old item, new item)`.
        rename: Vec<(String, String)>,
    },
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
        .max_by_key(|(change, _)| change.from.len())?;
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
            kind,
            shim: None,
        }
    }

    #[test]
    fn the_longest_from_wins_and_a_prefix_of_a_segment_does_not_count() {
        let changes = [
            change("p.gpu", "q.gpu", ChangeKind::Move),
            change("p.gpu.pool", "q.pool", ChangeKind::Move),
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
            ("p.gpu_memory", None),
            ("p.old.f", Some("p.new.g")),
            ("p.old", Some("p.new")),
        ] {
            assert_eq!(renamed(&changes, ".", name).as_deref(), after, "{name}");
        }
    }
}
