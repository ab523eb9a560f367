//! Keys of stores: paths with one way to write them, which cannot lead out of the store.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Bytes that a key may have.
const LONGEST: usize = 4096;
/// Bytes that a part of a key may have: what file systems allow, less what files are named with
/// while they are being written.
const LONGEST_PART: usize = 200;
/// What parts must not end in: a blob's file and a directory would have one name.
const RESERVED: &[&str] = &[".blob", ".unfinished"];

/// A normalised path: parts with single slashes between them, without `.` and `..`. The key without
/// parts is the root, which is a directory and never a blob.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(try_from = "String", into = "String")]
pub struct Key(String);

/// Why something is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It leads out of the store.
    #[error("`{0}` leads out of the store")]
    Escapes(String),
    /// It has a character that not every place can name: a zero, a backslash, a colon or a control.
    #[error("`{0}` has the character {1:?}, which not every store can name")]
    Character(String, char),
    /// A part ends like the names that a store on disk gives its own files.
    #[error("`{0}` ends in a way that stores keep for themselves")]
    Reserved(String),
    /// It, or a part of it, is too long.
    #[error("a key of {0} bytes is too long, or one of its parts is")]
    TooLong(usize),
}

impl Key {
    /// The root.
    #[must_use]
    pub fn root() -> Key {
        Key::default()
    }

    /// Reads a path: slashes at the ends and double ones count for nothing, `.` is left out, `..`
    /// goes up.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub fn new(path: &str) -> Result<Key, KeyError> {
        if path.len() > LONGEST {
            return Err(KeyError::TooLong(path.len()));
        }
        if let Some(bad) = path
            .chars()
            .find(|c| matches!(c, '\\' | ':') || c.is_control())
        {
            return Err(KeyError::Character(path.to_owned(), bad));
        }
        let mut parts = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => (),
                ".." if parts.pop().is_none() => return Err(KeyError::Escapes(path.to_owned())),
                ".." => (),
                part if part.len() > LONGEST_PART => return Err(KeyError::TooLong(part.len())),
                part if RESERVED.iter().any(|end| part.ends_with(end)) => {
                    return Err(KeyError::Reserved(part.to_owned()));
                }
                part => parts.push(part),
            }
        }
        Ok(Key(parts.join("/")))
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The directory that it is in; none for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Key> {
        match self.0.rsplit_once('/') {
            Some((parent, _)) => Some(Key(parent.to_owned())),
            None if self.is_root() => None,
            None => Some(Key::root()),
        }
    }

    /// Its last part; empty for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// A key below this one.
    ///
    /// # Errors
    /// See [`KeyError`]; the path cannot lead out of this directory either.
    pub fn join(&self, path: &str) -> Result<Key, KeyError> {
        let below = Key::new(path)?;
        if self.is_root() || below.is_root() {
            return Ok(Key(format!("{}{}", self.0, below.0)));
        }
        Key::new(&format!("{}/{}", self.0, below.0))
    }

    /// Whether it is that directory or something below it.
    #[must_use]
    pub fn is_in(&self, directory: &Key) -> bool {
        let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
        directory.is_root() || self.0.strip_prefix(&directory.0).is_some_and(below)
    }

    /// What of it is below a directory that it is in.
    #[must_use]
    pub fn below(&self, directory: &Key) -> Option<Key> {
        if directory.is_root() {
            return Some(self.clone());
        }
        let rest = self.0.strip_prefix(&directory.0)?;
        let rest = rest.strip_prefix('/').or(rest.is_empty().then_some(""))?;
        Some(Key(rest.to_owned()))
    }

    /// Directories above it, the root left out, the highest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Key> + '_ {
        let slashes = self.0.match_indices('/');
        slashes.map(|(at, _)| Key(self.0.get(..at).unwrap_or_default().to_owned()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_root() { "/" } else { &self.0 })
    }
}

impl std::str::FromStr for Key {
    type Err = KeyError;

    fn from_str(path: &str) -> Result<Key, KeyError> {
        Key::new(path)
    }
}

impl TryFrom<String> for Key {
    type Error = KeyError;

    fn try_from(path: String) -> Result<Key, KeyError> {
        Key::new(&path)
    }
}

impl From<Key> for String {
    fn from(key: Key) -> String {
        key.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_has_one_key() {
        let cases = [
            ("a/b", "a/b"),
            ("/a//b/", "a/b"),
            ("./a/./b", "a/b"),
            ("a/x/../b", "a/b"),
            ("a/..", ""),
            ("", ""),
            ("ä/…", "ä/…"),
            ("...", "..."),
        ];
        for (path, wanted) in cases {
            assert_eq!(Key::new(path).unwrap().as_str(), wanted, "{path}");
        }
    }

    #[test]
    fn no_key_leads_out() {
        for path in ["..", "a/../..", "/../a", "a/b/../../../c"] {
            assert!(
                matches!(Key::new(path), Err(KeyError::Escapes(_))),
                "{path}"
            );
        }
        for path in ["a\\b", "c:/x", "a\0b", "a\nb"] {
            assert!(
                matches!(Key::new(path), Err(KeyError::Character(..))),
                "{path}"
            );
        }
        let long = "x".repeat(201);
        assert!(matches!(Key::new(&long), Err(KeyError::TooLong(201))));
        for path in ["a.blob", "a.blob/b", "x.unfinished"] {
            assert!(
                matches!(Key::new(path), Err(KeyError::Reserved(_))),
                "{path}"
            );
        }
        let directory = Key::new("a").unwrap();
        assert!(matches!(directory.join("../b"), Err(KeyError::Escapes(_))));
    }

    #[test]
    fn directories_hold_what_is_below_them() {
        let key = Key::new("a/b/c").unwrap();
        let inside = ["", "a", "a/b", "a/b/c"];
        for directory in inside {
            assert!(key.is_in(&Key::new(directory).unwrap()), "{directory}");
        }
        for other in ["a/b/c/d", "b", "a/bb", "a/b/cc"] {
            assert!(!key.is_in(&Key::new(other).unwrap()), "{other}");
        }
        assert_eq!(key.below(&Key::new("a").unwrap()).unwrap().as_str(), "b/c");
        assert_eq!(key.parent().unwrap().as_str(), "a/b");
        assert_eq!(key.name(), "c");
        let above: Vec<_> = key.ancestors().map(String::from).collect();
        assert_eq!(above, ["a", "a/b"]);
    }
}
