//! The features of a package: read, joined with those of another one, written.
//!
//! A feature keeps its name. What a list says of a dependency follows what becomes of that.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit};
use toml_edit::Item;

use crate::{
    Error,
    dependencies::{Entry, dependencies},
    document::{edited, key, list, parse, put_line},
};

/// A table of features, in the order of the manifest.
pub type Features = Vec<(String, Vec<String>)>;

/// Reads them.
///
/// # Errors
/// When the manifest does not parse, or cannot be edited as it is written.
pub fn features(text: &str) -> Result<Features, Error> {
    let document = parse(text)?;
    let table = document.get("features").and_then(Item::as_table_like);
    let mut found = Vec::new();
    for (name, item) in table.into_iter().flat_map(|table| table.iter()) {
        let array = item
            .as_array()
            .ok_or_else(|| Error::NoList(name.to_owned()))?;
        let names = array
            .iter()
            .filter_map(|name| Some(name.as_str()?.to_owned()));
        found.push((name.to_owned(), names.collect()));
    }
    Ok(found)
}

/// The list of one feature.
#[must_use]
pub fn of<'f>(features: &'f Features, name: &str) -> Option<&'f Vec<String>> {
    let found = features.iter().find(|(known, _)| known == name);
    found.map(|(_, list)| list)
}

/// What is on by default, with all that this turns on.
#[must_use]
pub fn defaults(features: &Features) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec!["default".to_owned()];
    while let Some(name) = left.pop() {
        if found.insert(name.clone()) {
            left.extend(of(features, &name).into_iter().flatten().cloned());
        }
    }
    found
}

/// Optional dependencies that are features by their own name, since no list says `dep:` of them.
#[must_use]
pub fn implicit(features: &Features, entries: &[Entry]) -> BTreeSet<String> {
    let explicit: BTreeSet<&str> = features
        .iter()
        .flat_map(|(_, list)| list)
        .filter_map(|name| name.strip_prefix("dep:"))
        .collect();
    entries
        .iter()
        .filter(|entry| entry.is("optional") && !explicit.contains(entry.key.as_str()))
        .filter(|entry| of(features, &entry.key).is_none())
        .map(|entry| entry.key.clone())
        .collect()
}

/// Every feature that a manifest declares, optional dependencies that are features by their own name
/// among them.
///
/// # Errors
/// When the manifest does not parse, or a feature is no list.
pub fn declared(text: &str) -> Result<BTreeSet<String>, Error> {
    let features = features(text)?;
    let mut found = implicit(&features, &dependencies(text)?);
    found.extend(features.into_iter().map(|(name, _)| name));
    Ok(found)
}

/// The features whose lists turn an optional dependency on, by themselves; its own name where that is
/// a feature.
#[must_use]
pub fn activators(features: &Features, entry: &Entry) -> BTreeSet<String> {
    let (explicit, strong) = (format!("dep:{}", entry.key), format!("{}/", entry.key));
    let turns_on = |list: &[String]| {
        let mut list = list.iter();
        list.any(|name| *name == explicit || name.starts_with(&strong))
    };
    let mut found = implicit(features, std::slice::from_ref(entry));
    let lists = features.iter().filter(|(_, list)| turns_on(list));
    found.extend(lists.map(|(name, _)| name.clone()));
    found
}

/// Whether a feature turns on one of `others`, by itself or by what it turns on.
#[must_use]
pub fn reaches(features: &Features, name: &str, others: &BTreeSet<String>) -> bool {
    let mut left = vec![name];
    let mut seen = BTreeSet::new();
    while let Some(name) = left.pop() {
        if others.contains(name) {
            return true;
        }
        if seen.insert(name) {
            left.extend(of(features, name).into_iter().flatten().map(String::as_str));
        }
    }
    false
}

/// Makes a feature turn an optional dependency on; one that was there by the name of another optional
/// dependency is written down for it.
///
/// # Errors
/// When the manifest does not parse, or a feature is no list.
pub fn activate(text: &str, name: &str, key: &str) -> Result<String, Error> {
    let known = features(text)?;
    let mut list = match of(&known, name) {
        Some(list) => list.clone(),
        None if implicit(&known, &dependencies(text)?).contains(name) => {
            vec![format!("dep:{name}")]
        }
        None => Vec::new(),
    };
    let named = format!("dep:{key}");
    if list.contains(&named) {
        return Ok(text.to_owned());
    }
    list.push(named);
    put(text, name, &list)
}

/// What becomes of a dependency that lists may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is there, by this key; optional or not.
    Key {
        /// Its key now.
        key: String,
        /// Whether every line of it is.
        optional: bool,
    },
    /// What it was is a part of this package, and so are its features.
    Own,
    /// It is there no more, nor are its features.
    Gone,
}

/// A list once dependencies have become what they become.
#[must_use]
pub fn translated(names: &[String], fates: &BTreeMap<String, Fate>) -> Vec<String> {
    let mut result: Vec<String> = Vec::new();
    for name in names {
        let said = one(name, fates);
        result.extend(said.filter(|name| !result.contains(name)));
    }
    result
}

fn one(name: &str, fates: &BTreeMap<String, Fate>) -> Option<String> {
    if let Some(dependency) = name.strip_prefix("dep:") {
        return match fates.get(dependency) {
            None => Some(name.to_owned()),
            Some(Fate::Key { key, optional }) => optional.then(|| format!("dep:{key}")),
            Some(Fate::Own | Fate::Gone) => None,
        };
    }
    let Some((dependency, feature)) = name.split_once('/') else {
        return Some(name.to_owned());
    };
    let (dependency, weak) = match dependency.strip_suffix('?') {
        Some(dependency) => (dependency, "?"),
        None => (dependency, ""),
    };
    match fates.get(dependency) {
        None => Some(name.to_owned()),
        Some(Fate::Key { key, optional }) => {
            let weak = if *optional { weak } else { "" };
            Some(format!("{key}{weak}/{feature}"))
        }
        Some(Fate::Own) => Some(feature.to_owned()),
        Some(Fate::Gone) => None,
    }
}

/// Says the list of a feature, one that is there in its place.
///
/// # Errors
/// When the manifest does not parse, or cannot be edited as it is written.
pub fn put(text: &str, name: &str, names: &[String]) -> Result<String, Error> {
    let document = parse(text)?;
    let features = document.get("features").and_then(Item::as_table_like);
    let known = features.and_then(|table| table.get(name)?.as_array());
    let Some(array) = known else {
        let line = format!("{} = {}", key(name), list(names));
        return put_line(text, &["features".to_owned()], name, &line);
    };
    let old: Vec<&str> = array.iter().filter_map(|name| name.as_str()).collect();
    if old.iter().copied().eq(names.iter().map(String::as_str)) {
        return Ok(text.to_owned());
    }
    let span = array.span().ok_or(Error::NoPlace)?;
    let raw = text.get(span.clone()).unwrap_or_default();
    let more = names.strip_prefix_of(&old);
    // What is added to a list of several lines gets a line.
    if let (Some(more), true) = (more, raw.contains('\n')) {
        let last = array.iter().last().and_then(toml_edit::Value::span);
        if let Some(last) = last {
            let head = text.get(..last.start).unwrap_or_default();
            let indent: String = head
                .rsplit('\n')
                .next()
                .unwrap_or_default()
                .chars()
                .take_while(|c| c.is_whitespace())
                .collect();
            let added: String = more
                .iter()
                .map(|name| format!(",\n{indent}\"{name}\""))
                .collect();
            let at = u32::try_from(last.end).unwrap_or(u32::MAX);
            return edited(text, Edit::insert(at, added));
        }
    }
    edited(text, Edit::replace(ByteSpan::from_range(span), list(names)))
}

/// What a list has behind the names of another one, where it starts with those.
trait Behind {
    fn strip_prefix_of(&self, start: &[&str]) -> Option<Vec<String>>;
}

impl Behind for [String] {
    fn strip_prefix_of(&self, start: &[&str]) -> Option<Vec<String>> {
        let same = self.len() > start.len() && self.iter().zip(start).all(|(a, b)| a == b);
        (same && !start.is_empty()).then(|| self.iter().skip(start.len()).cloned().collect())
    }
}

/// Joins features of one table into another: lists of one name become one list.
///
/// # Errors
/// When the manifest does not parse, or cannot be edited as it is written.
pub fn join(text: &str, more: &Features) -> Result<String, Error> {
    let mut result = text.to_owned();
    for (name, names) in more {
        let known = features(&result)?;
        let mut all = of(&known, name).cloned().unwrap_or_default();
        for other in names {
            if !all.contains(other) && other != name {
                all.push(other.clone());
            }
        }
        if of(&known, name).is_none() || all.len() > of(&known, name).map_or(0, Vec::len) {
            result = put(&result, name, &all)?;
        }
    }
    Ok(result)
}

/// Rewrites every list of a manifest.
///
/// # Errors
/// When the manifest does not parse, or cannot be edited as it is written.
pub fn follow(text: &str, fates: &BTreeMap<String, Fate>) -> Result<String, Error> {
    let mut result = text.to_owned();
    for (name, names) in features(text)? {
        let mut new = translated(&names, fates);
        new.retain(|other| *other != name || names.contains(other));
        if new != names {
            result = put(&result, &name, &new)?;
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn lists_follow_their_dependencies() {
        let fates = BTreeMap::from([
            (
                "old".to_owned(),
                Fate::Key {
                    key: "new".to_owned(),
                    optional: true,
                },
            ),
            (
                "hard".to_owned(),
                Fate::Key {
                    key: "hard".to_owned(),
                    optional: false,
                },
            ),
            ("own".to_owned(), Fate::Own),
            ("gone".to_owned(), Fate::Gone),
        ]);
        let before = [
            "dep:old", "old?/x", "dep:hard", "hard?/y", "own/z", "dep:own", "gone/a", "dep:gone",
            "b",
        ];
        assert_eq!(
            translated(&names(&before), &fates),
            ["dep:new", "new?/x", "hard/y", "z", "b"]
        );
    }

    #[test]
    fn a_dependency_is_turned_on_where_another_one_is() {
        let text = "[features]\ngpu = [\"dep:old\"]\nall = [\"gpu\", \"other\"]\n\n[dependencies]\nold = { version = \"1\", optional = true }\nother = { version = \"1\", optional = true }\n";
        let known = features(text).unwrap();
        let entries = dependencies(text).unwrap();
        let of = |key: &str| entries.iter().find(|entry| entry.key == key).unwrap();
        let gpu = BTreeSet::from(["gpu".to_owned()]);
        assert_eq!(activators(&known, of("old")), gpu);
        assert!(reaches(&known, "all", &gpu));
        assert!(!reaches(&known, "other", &gpu));
        let other = BTreeSet::from(["other".to_owned()]);
        assert_eq!(activators(&known, of("other")), other);
        let text = activate(text, "gpu", "new").unwrap();
        let text = activate(&text, "other", "new").unwrap();
        assert!(text.contains("gpu = [\"dep:old\", \"dep:new\"]"), "{text}");
        assert!(
            text.contains("other = [\"dep:other\", \"dep:new\"]"),
            "{text}"
        );
    }

    #[test]
    fn features_join() {
        let text =
            "[features]\ndefault = [\"a\"]\na = []\nlong = [\n    \"x\", # why\n    \"y\",\n]\n";
        let more = vec![
            ("default".to_owned(), names(&["a", "b"])),
            ("b".to_owned(), names(&["dep:c"])),
            ("long".to_owned(), names(&["y", "z"])),
        ];
        let joined = join(text, &more).unwrap();
        assert_eq!(
            joined,
            "[features]\ndefault = [\"a\", \"b\"]\na = []\nlong = [\n    \"x\", # why\n    \"y\",\n    \"z\",\n]\nb = [\"dep:c\"]\n"
        );
        assert_eq!(join(&joined, &more).unwrap(), joined);
    }
}
