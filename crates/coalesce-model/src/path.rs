//! Paths inside a tree: relative, UTF-8, `/`-separated, never leading out.

use std::{borrow::Borrow, fmt, sync::Arc};

use memchr::memrchr;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path relative to the root of the tree. It has no empty, `.` or `..` component, so it cannot
/// name anything outside; the root itself is the empty path. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct TreePath(Arc<str>);

/// Why a text is no path of the tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// An absolute path, a drive letter, or a `..` that leads out.
    #[error("`{0}` leads outside the root")]
    Outside(String),
}

impl TreePath {
    /// The root of the tree.
    #[must_use]
    pub fn root() -> Self {
        Self(Arc::from(""))
    }

    /// Reads a path; `.` and inner `..` are resolved, `\` counts as a separator.
    ///
    /// # Errors
    /// [`PathError::Outside`] when the path is absolute or climbs above the root.
    pub fn new(text: &str) -> Result<Self, PathError> {
        if is_written_plainly(text) {
            return Ok(Self(Arc::from(text)));
        }
        Self::root().join(text)
    }

    /// `self` followed by a relative path, which may contain `..` as long as it stays inside.
    ///
    /// # Errors
    /// [`PathError::Outside`] when the result is not inside the root.
    pub fn join(&self, relative: &str) -> Result<Self, PathError> {
        let outside = || PathError::Outside(relative.to_owned());
        if relative.starts_with(['/', '\\']) || relative.as_bytes().get(1) == Some(&b':') {
            return Err(outside());
        }
        // Grown in place: resolving names joins paths more often than anything else.
        let mut joined = String::with_capacity(self.0.len() + 1 + relative.len());
        joined.push_str(&self.0);
        for part in relative.split(['/', '\\']) {
            match part {
                "" | "." => {}
                ".." if joined.is_empty() => return Err(outside()),
                ".." => joined.truncate(memrchr(b'/', joined.as_bytes()).unwrap_or(0)),
                part => {
                    if !joined.is_empty() {
                        joined.push('/');
                    }
                    joined.push_str(part);
                }
            }
        }
        Ok(Self(Arc::from(joined)))
    }

    /// The text of the path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the root itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The directory that holds it; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        let end = memrchr(b'/', self.0.as_bytes()).unwrap_or(0);
        Some(Self(Arc::from(self.0.get(..end).unwrap_or_default())))
    }

    /// The last component; empty for the root.
    #[must_use]
    pub fn file_name(&self) -> &str {
        let start = memrchr(b'/', self.0.as_bytes()).map_or(0, |slash| slash + 1);
        self.0.get(start..).unwrap_or_default()
    }

    /// The file name up to its last dot.
    #[must_use]
    pub fn file_stem(&self) -> &str {
        let name = self.file_name();
        let end = memrchr(b'.', name.as_bytes()).unwrap_or(name.len());
        name.get(..end).unwrap_or_default()
    }

    /// What follows the last dot of the file name.
    #[must_use]
    pub fn extension(&self) -> Option<&str> {
        let name = self.file_name();
        let dot = memrchr(b'.', name.as_bytes())?;
        name.get(dot + 1..)
    }

    /// The components, outermost first.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// How this path is written relative to a directory: `../a/b.rs`.
    #[must_use]
    pub fn relative_to(&self, directory: &Self) -> String {
        let from: Vec<&str> = directory.components().collect();
        let to: Vec<&str> = self.components().collect();
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let up = std::iter::repeat_n("..", from.len() - shared);
        let down = to.iter().skip(shared).copied();
        up.chain(down).collect::<Vec<_>>().join("/")
    }

    /// The first component that belongs to a version control system or to our own state, however a
    /// file system may spell it: nothing is written at it or below.
    #[must_use]
    pub fn reserved_component(&self) -> Option<&str> {
        self.components().find(|name| is_reserved(name))
    }

    /// The rest of the path below `directory`; `Some("")` for the directory itself.
    #[must_use]
    pub fn strip_prefix(&self, directory: &Self) -> Option<&str> {
        if directory.is_root() {
            return Some(&self.0);
        }
        let rest = self.0.strip_prefix(&*directory.0)?;
        if rest.is_empty() {
            Some("")
        } else {
            rest.strip_prefix('/')
        }
    }
}

/// Whether nothing of a text has to be resolved for it to be a path of the tree, as of those that a walk finds or a
/// cache has kept: their texts are taken as they stand.
fn is_written_plainly(text: &str) -> bool {
    let is_name = |part: &str| !matches!(part, "" | "." | "..");
    text.as_bytes().get(1) != Some(&b':')
        && memchr::memchr(b'\\', text.as_bytes()).is_none()
        && text.split('/').all(is_name)
}

/// Directories of version control systems, and ours: those whose settings or hooks start programs, or
/// whose content only their own program writes.
const RESERVED: [&str; 13] = [
    ".git",
    ".hg",
    ".jj",
    ".svn",
    ".sl",
    ".bzr",
    ".pijul",
    ".fslckout",
    "_darcs",
    "_fossil_",
    "cvs",
    "_mtn",
    ".coalesce",
];

/// Whether some file system takes `name` for one of [`RESERVED`]. Case is folded; HFS+ passes over
/// invisible characters; Windows drops dots and spaces at the end, cuts at `:` (a stream of the
/// file) and knows long names by short ones (`GIT~1`). These are the spellings that git refuses in
/// its own index, for the same reason.
fn is_reserved(name: &str) -> bool {
    let invisible = |c: char| {
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(c, '\u{ad}' | '\u{34f}' | '\u{feff}')
    };
    // Upper case first: the long s and the dotless i are letters of their own below it only.
    let folded: String = name
        .chars()
        .filter(|c| !invisible(*c))
        .map(half_width)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    let own = folded.split(':').next().unwrap_or_default();
    let own = own.trim_end_matches(['.', ' ']);
    RESERVED.iter().any(|reserved| {
        let bare = reserved.trim_start_matches('.');
        own == *reserved || is_short_name(own, bare)
    })
}

/// The ASCII character of a full-width one, which normal forms make equal.
fn half_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        '\u{2024}' | '\u{fe52}' => '.',
        c => c,
    }
}

/// Whether `name` is the short name that Windows gives to a long one: six characters, `~`, digits.
fn is_short_name(name: &str, long: &str) -> bool {
    let Some((head, number)) = name.split_once('~') else {
        return false;
    };
    let start = long.get(..long.len().min(6)).unwrap_or(long);
    head == start && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.0 })
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl Borrow<str> for TreePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TreePath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        Self::new(&text)
    }
}

impl From<TreePath> for String {
    fn from(path: TreePath) -> Self {
        path.0.as_ref().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_names_the_outside() {
        for text in ["/etc", "../x", "a/../../x", "C:\\x", "\\x"] {
            assert!(TreePath::new(text).is_err(), "{text}");
        }
        assert_eq!(
            TreePath::new("./a//b/../c").map(|path| path.to_string()),
            Ok("a/c".to_owned())
        );
    }

    #[test]
    fn paths_are_written_from_a_directory() {
        for (from, to, text) in [
            ("src", "src/a.rs", "a.rs"),
            ("src/a", "src/b/c.rs", "../b/c.rs"),
            ("src/a/b", "x.txt", "../../../x.txt"),
        ] {
            let (from, to) = (TreePath::new(from).unwrap(), TreePath::new(to).unwrap());
            assert_eq!(to.relative_to(&from), text);
        }
    }

    #[test]
    fn what_belongs_to_version_control_is_known_in_every_spelling() {
        for text in [
            ".git",
            ".git/hooks/pre-commit",
            "a/.GIT/config",
            "a/.Git./x",
            ".git ",
            ".git. .",
            ".git::$INDEX_ALLOCATION/x",
            ".git:x",
            "GIT~1/config",
            ".g\u{200c}it/x",
            "\u{feff}.git",
            ".ｇit/x",
            "sub/.hg/hgrc",
            ".Jj/repo",
            ".\u{17f}vn/entries",
            ".coalesce/journal/0001.x.done",
            ".COALESCE",
            "COALES~2/x",
            ".sl/config",
            ".bzr/branch/branch.conf",
            "_DARCS/prefs/defaults",
            "CVS/Root",
            "_FOSSIL_",
        ] {
            assert!(
                TreePath::new(text).unwrap().reserved_component().is_some(),
                "{text}"
            );
        }
        for text in [
            ".gitignore",
            ".github/workflows/x.yml",
            "git/x",
            "a.git/x",
            "git~x",
            ".gitattributes",
            "coalesce/src",
            ".svnignore",
            "cvs.py",
            "darcs/x",
            ".slx",
            "…/.gi",
        ] {
            assert_eq!(
                TreePath::new(text).unwrap().reserved_component(),
                None,
                "{text}"
            );
        }
    }

    #[test]
    fn a_prefix_ends_at_a_separator() {
        let path = TreePath::new("ab/c").unwrap();
        assert_eq!(path.strip_prefix(&TreePath::new("a").unwrap()), None);
        assert_eq!(path.strip_prefix(&TreePath::new("ab").unwrap()), Some("c"));
    }
}
