//! Two lines for one dependency made one, and what lists of features say of it then.
//!
//! They are joined where they name the same thing; what differs in source or in its major release is
//! an error.

use std::collections::BTreeMap;

use coalesce_model::TreePath;

use crate::{
    Error,
    dependencies::{self, Entry},
    features::{self, Fate},
    manifest::DependencyKind,
};

/// What lists may say of a dependency: optional only where every line is.
#[must_use]
pub fn fate(there: &[Entry], key: &str) -> Fate {
    let mut own = there
        .iter()
        .filter(|entry| entry.key == key && entry.kind() != DependencyKind::Dev)
        .peekable();
    if own.peek().is_none() {
        return Fate::Gone;
    }
    Fate::Key {
        key: key.to_owned(),
        optional: own.all(|entry| entry.is("optional")),
    }
}

/// Adds a dependency, or joins it with the one that is there.
///
/// # Errors
/// When the manifest does not parse, or cannot be edited as it is written.
pub fn add(
    text: &str,
    entry: &Entry,
    shared: Option<&str>,
    directory: &TreePath,
) -> Result<String, Error> {
    let there = dependencies::dependencies(text)?;
    let plain = |other: &&Entry| {
        other.key == entry.key && other.table.len() == 1 && other.kind() == DependencyKind::Normal
    };
    if let Some(known) = there.iter().find(plain)
        && known.table != entry.table
        && entry.kind() != DependencyKind::Build
    {
        same(known, entry, shared, directory)?;
        let asked = known.features();
        let enough = entry.features().iter().all(|name| asked.contains(name));
        if enough && !known.is("optional") && known.default_features() != Some(false) {
            return Ok(text.to_owned());
        }
    }
    let known = there
        .iter()
        .find(|other| other.key == entry.key && other.table == entry.table);
    let Some(known) = known else {
        let clash = there
            .iter()
            .find(|other| other.key == entry.key && other.table != entry.table);
        if let Some(clash) = clash {
            same(clash, entry, shared, directory)?;
        }
        return dependencies::insert(text, entry);
    };
    same(known, entry, shared, directory)?;
    let joined = join(known, entry);
    let text = if joined.fields == known.fields {
        text.to_owned()
    } else {
        dependencies::replace(text, known, &joined)?
    };
    if known.is("optional") && !joined.is("optional") {
        return now_always(&text, &joined.key);
    }
    Ok(text)
}

/// What a dependency asks for when two lines become one.
#[must_use]
pub fn join(known: &Entry, more: &Entry) -> Entry {
    let mut joined = known.clone();
    joined.ask(&more.features());
    if known.is("optional") && !more.is("optional") {
        joined.put("optional", None);
    }
    if known.default_features() == Some(false) && more.default_features() != Some(false) {
        joined.put("default-features", None);
        joined.put("default_features", None);
    }
    if let (Some(own), Some(other)) = (known.string("version"), more.string("version"))
        && numbers(&other) > numbers(&own)
    {
        joined.put("version", more.raw("version").map(str::to_owned));
    }
    joined
}

/// A dependency that was optional and is no more: lists name it no longer, and the feature that it
/// was stays as one.
///
/// # Errors
/// When the manifest does not parse, or cannot be edited as it is written.
pub fn now_always(text: &str, key: &str) -> Result<String, Error> {
    let there = features::features(text)?;
    let named = format!("dep:{key}");
    let explicit = there.iter().any(|(_, list)| list.contains(&named));
    let fates = BTreeMap::from([(
        key.to_owned(),
        Fate::Key {
            key: key.to_owned(),
            optional: false,
        },
    )]);
    let mut result = features::follow(text, &fates)?;
    if !explicit && features::of(&there, key).is_none() {
        result = features::put(&result, key, &[])?;
    }
    Ok(result)
}

/// Refuses two lines of one key that do not name the same thing.
fn same(
    known: &Entry,
    more: &Entry,
    shared: Option<&str>,
    directory: &TreePath,
) -> Result<(), Error> {
    let fields = |entry: &Entry| -> Result<Entry, Error> {
        if !entry.is("workspace") {
            return Ok(entry.clone());
        }
        let all = match shared {
            Some(text) => dependencies::table(text, &["workspace", "dependencies"])?,
            None => Vec::new(),
        };
        let found = all.into_iter().find(|other| other.key == entry.key);
        Ok(found.unwrap_or_else(|| entry.clone()))
    };
    if known.is("workspace") && more.is("workspace") {
        return Ok(());
    }
    let inherits = known.is("workspace") != more.is("workspace");
    let (known, more) = (fields(known)?, fields(more)?);
    let place = |entry: &Entry| {
        let path = entry.string("path");
        path.and_then(|path| directory.join(&path).ok())
    };
    let paths = inherits || place(&known) == place(&more);
    let compatible = match (known.string("version"), more.string("version")) {
        (Some(a), Some(b)) => are_compatible(&a, &b),
        _ => true,
    };
    let sources = ["git", "registry", "branch", "tag", "rev"]
        .iter()
        .all(|name| known.raw(name) == more.raw(name));
    if known.package() == more.package() && paths && compatible && sources {
        return Ok(());
    }
    Err(Error::TwoWays {
        key: known.key.clone(),
        known: known.line(),
        more: more.line(),
    })
}

/// The numbers of a requirement, for comparison.
fn numbers(requirement: &str) -> Vec<u64> {
    let plain = requirement.trim_start_matches(['^', '=', '~', '>', ' ', 'v']);
    plain
        .split('.')
        .map_while(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        })
        .collect()
}

/// Whether two plain requirements take the same major release.
fn are_compatible(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let plain =
        |text: &str| text.starts_with('^') || text.starts_with(|c: char| c.is_ascii_digit());
    let (own, other) = (numbers(a), numbers(b));
    let leading = own
        .iter()
        .chain(std::iter::repeat_n(&0, 3))
        .position(|number| *number != 0)
        .unwrap_or(0);
    let head =
        |numbers: &[u64]| -> Vec<u64> { numbers.iter().copied().take(leading + 1).collect() };
    plain(a) && plain(b) && head(&own) == head(&other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_join_where_they_take_the_same_release() {
        for (a, b, fits) in [
            ("1", "1.2.3", true),
            ("1", "2", false),
            ("0.4", "0.4.20", true),
            ("0.3", "0.4", false),
            ("=1.0.0", "1.0", false),
            ("0.0.3", "0.0.4", false),
        ] {
            assert_eq!(are_compatible(a, b), fits, "{a} {b}");
        }
    }

    #[test]
    fn dependencies_join() {
        let text = "[dependencies]\nlog = { version = \"0.4\", optional = true }\n\n[features]\nx = [\"dep:log\", \"log?/std\"]\n";
        let more = dependencies::dependencies(
            "[dependencies]\nlog = { version = \"0.4.20\", features = [\"std\"] }\n",
        )
        .unwrap();
        let joined = add(text, &more[0], None, &TreePath::root()).unwrap();
        assert_eq!(
            joined,
            "[dependencies]\nlog = { version = \"0.4.20\", features = [\"std\"] }\n\n[features]\nx = [\"log/std\"]\n"
        );
        let other = dependencies::dependencies("[dependencies]\nlog = \"0.3\"\n").unwrap();
        assert!(add(text, &other[0], None, &TreePath::root()).is_err());
    }
}
