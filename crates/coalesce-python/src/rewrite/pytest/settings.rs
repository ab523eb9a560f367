//! What a project tells pytest about where tests are.

use coalesce_model::{Texts, TreePath};
use rustc_hash::FxHashMap;

/// Folders that pytest does not look into unless it is told otherwise.
const NOT_LOOKED_INTO: [&str; 9] = [
    "*.egg",
    ".*",
    "_darcs",
    "build",
    "CVS",
    "dist",
    "node_modules",
    "venv",
    "{arch}",
];

/// Files that may have the settings of pytest, the one that it reads first.
pub const SETTINGS: [&str; 5] = [
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
];

/// The settings of the project.
pub(super) struct TestSettings {
    /// Patterns of folders that are passed over.
    passed_over: Vec<String>,
    /// Where tests are looked for; everywhere, if empty.
    paths: Vec<String>,
    /// Test files of one name may stand in folders that are no packages.
    pub(super) importlib: bool,
    /// Every module is imported, for the examples in it.
    pub(super) imports_all: bool,
}

impl TestSettings {
    pub(super) fn of(texts: &dyn Texts) -> Self {
        let found = SETTINGS.iter().filter_map(|file| {
            let text = texts.text(&TreePath::new(file).ok()?)?;
            text.contains("pytest").then_some(text)
        });
        let found: Vec<_> = found.collect();
        // pytest reads one file, whatever the others say.
        let mut read = SETTINGS.iter().filter_map(|file| {
            let text = texts.text(&TreePath::new(file).ok()?)?;
            is_read(file, &text).then_some(text)
        });
        let read = read.next();
        let first = |key: &str| words_of(read.as_deref()?, key);
        let standard = || NOT_LOOKED_INTO.iter().map(|each| (*each).to_owned());
        Self {
            passed_over: first("norecursedirs").unwrap_or_else(|| standard().collect()),
            paths: first("testpaths").unwrap_or_default(),
            importlib: found.iter().any(|text| text.contains("importlib")),
            imports_all: found.iter().any(|text| text.contains("--doctest-modules")),
        }
    }

    /// The folder around a file that pytest passes over.
    pub(super) fn hides<'p>(&self, path: &'p TreePath) -> Option<&'p str> {
        let folders = path
            .as_str()
            .rsplit_once('/')
            .map_or("", |(folders, _)| folders);
        folders.split('/').find(|folder| {
            let mut patterns = self.passed_over.iter();
            !folder.is_empty() && patterns.any(|pattern| fits(pattern, folder))
        })
    }

    /// The same once folders and files have gone elsewhere: who names one that moves, or what is below it, names it by its new
    /// place.
    pub(super) fn after(&self, moved: &FxHashMap<String, String>) -> Self {
        let new = |place: &String| {
            let plain = plain(place);
            let above = plain.match_indices('/').map(|(at, _)| at);
            let mut ends: Vec<usize> = above.chain([plain.len()]).collect();
            ends.reverse();
            let found = ends.into_iter().find_map(|end| {
                let to = moved.get(plain.get(..end)?)?;
                Some(format!("{to}{}", plain.get(end..)?))
            });
            found.unwrap_or_else(|| place.clone())
        };
        Self {
            passed_over: self.passed_over.clone(),
            paths: self.paths.iter().map(new).collect(),
            ..*self
        }
    }

    /// Whether tests are looked for where a file is.
    pub(super) fn reaches(&self, path: &TreePath) -> bool {
        let path: Vec<&str> = path.components().collect();
        let inside = |place: &String| {
            let place = plain(place).split('/');
            let place: Vec<&str> = place.filter(|part| !matches!(*part, "" | ".")).collect();
            is_above(&place, &path)
        };
        self.paths.is_empty() || self.paths.iter().any(inside)
    }
}

/// A place without what says nothing.
fn plain(place: &str) -> &str {
    place.trim_end_matches('/').trim_start_matches("./")
}

/// Whether a pattern of folders is that of one which a path is in, or of the path itself.
fn is_above(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, _) => true,
        (Some((&"**", rest)), inner) => {
            is_above(rest, path) || inner.is_some_and(|(_, below)| is_above(pattern, below))
        }
        (Some((part, rest)), Some((name, below))) => {
            (part.contains('[') || fits(part, name)) && is_above(rest, below)
        }
        (Some(_), None) => false,
    }
}

/// Whether pytest takes its settings from a file, unless one before it has them.
fn is_read(file: &str, text: &str) -> bool {
    match file {
        "pyproject.toml" => text.contains("[tool.pytest"),
        "tox.ini" => text.contains("[pytest]"),
        "setup.cfg" => text.contains("[tool:pytest]"),
        _ => true,
    }
}

/// The words that a setting has, in an INI file or in TOML.
fn words_of(text: &str, key: &str) -> Option<Vec<String>> {
    let (start, rest) = text.lines().enumerate().find_map(|(number, line)| {
        let rest = line.trim_start().strip_prefix(key)?.trim_start();
        Some((number, rest.strip_prefix('=')?))
    })?;
    let following = text.lines().skip(start + 1);
    let bracket = rest.trim_start().starts_with('[');
    let mut value = rest.to_owned();
    for line in following {
        let goes_on = match bracket {
            true => !value.contains(']'),
            false => line.starts_with([' ', '\t']),
        };
        if !goes_on {
            break;
        }
        value.push(' ');
        value.push_str(line);
    }
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '"' | '\'' | '[' | ']');
    let words = value.split(ends).filter(|word| !word.is_empty());
    Some(words.map(str::to_owned).collect())
}

/// Whether a name fits a pattern of a shell; `*` goes over slashes.
pub fn fits(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = rest.as_str();
            let mut ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.any(|at| name.get(at..).is_some_and(|name| fits(rest, name)))
        }
        Some(first) => {
            let mut name = name.chars();
            let same = name
                .next()
                .is_some_and(|next| first == '?' || first == next);
            same && fits(rest.as_str(), name.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_in_both_forms() {
        for (text, expected) in [
            ("[pytest]\nnorecursedirs = a b\n", "a b"),
            ("[pytest]\nnorecursedirs =\n    a\n    b\nx = 1\n", "a b"),
            ("norecursedirs = [\"a\", \"b\"]\n", "a b"),
            ("norecursedirs = [\n    \"a\",\n    'b',\n]\n", "a b"),
            ("norecursedirs = \"a b\"\n", "a b"),
        ] {
            let words = words_of(text, "norecursedirs").unwrap_or_default();
            assert_eq!(words.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn paths_are_in_the_places_that_are_looked_into() {
        for (place, path, expected) in [
            ("a", "a/test_x.py", true),
            ("./a/", "a/b/test_x.py", true),
            ("a", "ab/test_x.py", false),
            (".", "a/test_x.py", true),
            ("a*/tests", "ab/tests/test_x.py", true),
            ("a*/tests", "b/tests/test_x.py", false),
            ("a*/tests", "a/b/tests/test_x.py", false),
            ("a/**/tests", "a/b/c/tests/test_x.py", true),
            ("a/test_x.py", "a/test_x.py", true),
        ] {
            let settings = TestSettings {
                passed_over: Vec::new(),
                paths: vec![place.to_owned()],
                importlib: false,
                imports_all: false,
            };
            let path = TreePath::new(path).unwrap();
            assert_eq!(settings.reaches(&path), expected, "{place} {path}");
            let moved = FxHashMap::from_iter([("a".to_owned(), "z/y".to_owned())]);
            let after = settings.after(&moved);
            let goes = plain(place).split('/').next() == Some("a");
            let begins = |place: &String| place.starts_with("z/y");
            assert_eq!(after.paths.iter().all(begins), goes, "{place}");
        }
    }

    #[test]
    fn patterns_fit_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("*.egg", "a.egg", true),
            (".*", ".git", true),
            (".*", "git", false),
            ("build", "build", true),
            ("buil?", "build", true),
            ("tests/*_slow.py", "tests/a/b_slow.py", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
