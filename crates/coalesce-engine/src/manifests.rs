//! The manifests of a tree, and what is said of those that cannot be followed.

use std::{collections::BTreeSet, path::Path};

use coalesce_apply::Store;
use coalesce_model::{
    Texts as _, TreePath,
    manifest::{AppliedEntries, Manifest, ManifestError, record_path},
};

use crate::{Failure, Session};

/// Reads manifests: `named` ones by label and text, or, when there are none, all in `migrations/` of
/// the tree.
///
/// # Errors
/// When one cannot be read as a manifest, or two have the same id.
pub fn manifests(
    session: &Session,
    named: Vec<(String, String)>,
) -> Result<Vec<Manifest>, Failure> {
    let texts = if named.is_empty() {
        own_manifests(session)?
    } else {
        named
    };
    parse_manifests(session, texts)
}

/// Reads manifests by label and text, and what of each was applied.
pub(crate) fn parse_manifests(
    session: &Session,
    texts: Vec<(String, String)>,
) -> Result<Vec<Manifest>, Failure> {
    let mut manifests = Vec::new();
    for (path, text) in &texts {
        manifests
            .push(Manifest::parse(path, text).map_err(|errors| manifest_failure(&errors, &texts))?);
    }
    one_id_each(&manifests)?;
    let mut journal = None;
    for manifest in &mut manifests {
        manifest.applied = match record_of(session, manifest) {
            Some(record) => read_record(session, &record),
            // A manifest outside of the tree has no record; this tree's journal may know it.
            None if known_to_journal(session, &manifest.id, &mut journal)? => {
                AppliedEntries::by_journal()
            }
            None => AppliedEntries::default(),
        };
    }
    Ok(manifests)
}

fn read_record(session: &Session, record: &TreePath) -> AppliedEntries {
    let text = session.tree.text(record);
    text.map(|text| AppliedEntries::parse(&text))
        .unwrap_or_default()
}

/// Where the record of a manifest stands, if the manifest is a file of the tree.
pub(crate) fn record_of(session: &Session, manifest: &Manifest) -> Option<TreePath> {
    // One that nobody named is called by its path in the tree, others as they were named.
    let own = TreePath::new(&manifest.path).ok();
    let own = own.filter(|path| session.tree.text(path).as_deref() == Some(&manifest.text));
    let path = own.or_else(|| session.tree.tree_path(Path::new(&manifest.path)).ok())?;
    session.tree.exists(&path).then(|| record_path(&path))?
}

/// Whether a migration that was not undone has applied a manifest of this id here; the journal is read
/// once.
fn known_to_journal(
    session: &Session,
    id: &str,
    journal: &mut Option<BTreeSet<String>>,
) -> Result<bool, Failure> {
    let known = match journal {
        Some(known) => known,
        None => {
            let history = Store::open(session.tree.root())?.history()?;
            journal.insert(history.into_iter().map(|record| record.id).collect())
        }
    };
    let is_of = |migration: &String| {
        migration.split('+').any(|part| {
            let number = part
                .strip_prefix(id)
                .map(|rest| rest.trim_start_matches(['.', '-']));
            number.is_some_and(|number| number.chars().all(|digit| digit.is_ascii_digit()))
        })
    };
    Ok(known.iter().any(is_of))
}

/// What stands in `migrations/` of the tree.
fn own_manifests(session: &Session) -> Result<Vec<(String, String)>, Failure> {
    let directory = TreePath::new("migrations")?;
    let own = session.tree.paths().iter().filter(|path| {
        path.parent().as_ref() == Some(&directory) && path.extension() == Some("toml")
    });
    let texts =
        own.filter_map(|path| Some((path.to_string(), session.tree.text(path)?.to_string())));
    Ok(texts.collect())
}

/// Shims and the journal name a manifest by its id alone, so no two may share one.
fn one_id_each(manifests: &[Manifest]) -> Result<(), Failure> {
    let mut seen = std::collections::BTreeMap::new();
    for manifest in manifests {
        let Some(earlier) = seen.insert(&manifest.id, &manifest.path) else {
            continue;
        };
        let message = format!("{earlier} has the same id, `{}`", manifest.id);
        let help = "the id is the file name without its extension; rename one of them";
        let start = coalesce_model::ByteSpan::from_range(0..0);
        let error = manifest.error(start, message, Some(help.to_owned()));
        return Err(entry_failure(&[error], manifests));
    }
    Ok(())
}

/// The first error in full, the others as hints: all are shown at once.
fn manifest_failure(errors: &[ManifestError], texts: &[(String, String)]) -> Failure {
    let text_of = |error: &ManifestError| {
        texts
            .iter()
            .find(|(path, _)| *path == error.path)
            .map_or("", |(_, text)| text)
    };
    let Some((first, rest)) = errors.split_first() else {
        return Failure::config("the manifests do not fit the tree");
    };
    let failure = Failure::manifest(first, text_of(first));
    rest.iter().fold(failure, |failure, error| {
        let remedy = error
            .help
            .as_ref()
            .map(|help| format!(" ({help})"))
            .unwrap_or_default();
        failure.hint(format!("also {error}{remedy}"))
    })
}

/// Why entries do not fit the tree. A module that was not read is missing for a reason.
#[must_use]
pub fn misfit(errors: &[ManifestError], manifests: &[Manifest], session: &Session) -> Failure {
    let named = |error: &ManifestError| {
        let mut manifests = manifests.iter();
        let manifest = manifests.find(|manifest| manifest.path == error.path)?;
        let name = error.span.of(&manifest.text)?.trim_matches(['"', '\'']);
        Some(name.replace("::", "/").replace('.', "/"))
    };
    let names: Vec<String> = errors.iter().filter_map(named).collect();
    let is_told = |path: &str| errors.iter().any(|error| error.message.contains(path));
    let failure = entry_failure(errors, manifests);
    let skips = session.tree.skips().into_iter();
    skips
        .filter(|skip| {
            let path = skip.path.as_str();
            !is_told(path) && names.iter().any(|name| is_module_at(name, path))
        })
        .fold(failure, |failure, skip| {
            failure.hint(format!("{} was not read: {}", skip.path, skip.reason))
        })
}

/// Whether the module of a name, its segments parted by `/`, is at this path or below it.
fn is_module_at(name: &str, path: &str) -> bool {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let ends_with = |path: &str, name: &str| {
        path.strip_suffix(name)
            .is_some_and(|head| head.is_empty() || head.ends_with('/'))
    };
    // A module below a linked directory was not read either.
    let mut above = name.match_indices('/').filter_map(|(at, _)| name.get(..at));
    ends_with(path, name)
        || ends_with(stem, name)
        || above.any(|above| above.contains('/') && ends_with(path, above))
}

/// [`manifest_failure`] for manifests that were already read.
fn entry_failure(errors: &[ManifestError], manifests: &[Manifest]) -> Failure {
    let texts: Vec<_> = manifests
        .iter()
        .map(|manifest| (manifest.path.clone(), manifest.text.clone()))
        .collect();
    manifest_failure(errors, &texts)
}
