//! The manifests of a tree, and what is said of those that cannot be followed.

use coalesce_model::{
    Texts as _, TreePath,
    manifest::{Manifest, ManifestError},
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
    let mut manifests = Vec::new();
    for (path, text) in &texts {
        manifests
            .push(Manifest::parse(path, text).map_err(|errors| manifest_failure(&errors, &texts))?);
    }
    one_id_each(&manifests)?;
    Ok(manifests)
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
    let skips = session.tree.skips();
    let named = |error: &ManifestError| {
        let text = manifests
            .iter()
            .find(|manifest| manifest.path == error.path)?;
        let name = error.span.of(&text.text)?.trim_matches(['"', '\'']);
        Some(name.replace("::", "/").replace('.', "/"))
    };
    let names: Vec<String> = errors.iter().filter_map(named).collect();
    let is_named = |skip: &&coalesce_tree::Skip| {
        let path = skip.path.as_str();
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let ends_with = |path: &str, name: &str| {
            path.strip_suffix(name)
                .is_some_and(|head| head.is_empty() || head.ends_with('/'))
        };
        names.iter().any(|name| {
            // A module below a linked directory was not read either.
            let mut above = name.match_indices('/').filter_map(|(at, _)| name.get(..at));
            ends_with(path, name)
                || ends_with(stem, name)
                || above.any(|above| above.contains('/') && ends_with(path, above))
        })
    };
    let failure = entry_failure(errors, manifests);
    let said = |skip: &&coalesce_tree::Skip| {
        let path = skip.path.as_str();
        errors.iter().any(|error| error.message.contains(path))
    };
    skips
        .iter()
        .filter(|skip| is_named(skip) && !said(skip))
        .fold(failure, |failure, skip| {
            failure.hint(format!("{} was not read: {}", skip.path, skip.reason))
        })
}

/// [`manifest_failure`] for manifests that were already read.
fn entry_failure(errors: &[ManifestError], manifests: &[Manifest]) -> Failure {
    let texts: Vec<_> = manifests
        .iter()
        .map(|manifest| (manifest.path.clone(), manifest.text.clone()))
        .collect();
    manifest_failure(errors, &texts)
}
