//! What a project tells pytest about where tests are.

use coalesce_model::{Texts, TreePath};
use rustc_hash::FxHashMap;

use crate::patterns::{fits, reaches};

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

/// What an argument leaves out: `--ignore=pkg/gpu`, `--ignore-glob=pkg/*_gpu.py`.
#[derive(Clone)]
struct Ignored {
    place: String,
    glob: bool,
}

/// The settings of the project.
pub(super) struct TestSettings {
    /// Patterns of folders that are passed over.
    passed_over: Vec<String>,
    /// Files, folders and patterns that arguments leave out.
    ignored: Vec<Ignored>,
    /// Where tests are looked for; everywhere, if empty.
    paths: Vec<String>,
    /// Test files of one name may stand in folders that are no packages.
    pub(super) importlib: bool,
    /// Every module is imported, for the examples in it.
    pub(super) imports_all: bool,
}

impl TestSettings {
    pub(super) fn of(texts: &dyn Texts) -> Self {
        let files = SETTINGS
            .iter()
            .filter_map(|file| Some((file, texts.text(&TreePath::new(file).ok()?)?)));
        let files: Vec<_> = files.collect();
        // pytest reads one file, whatever the others say.
        let read = files.iter().find(|(file, text)| is_read(file, text));
        let first = |key: &str| words_of(&read?.1, key);
        let says = |word: &str| {
            let mut files = files.iter();
            files.any(|(_, text)| text.contains("pytest") && text.contains(word))
        };
        let standard = || NOT_LOOKED_INTO.iter().map(|each| (*each).to_owned());
        Self {
            passed_over: first("norecursedirs").unwrap_or_else(|| standard().collect()),
            ignored: ignored(&first("addopts").unwrap_or_default()),
            paths: first("testpaths").unwrap_or_default(),
            importlib: says("importlib"),
            imports_all: says("--doctest-modules"),
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
        let ignored = self.ignored.iter().map(|each| Ignored {
            place: new(&each.place),
            glob: each.glob,
        });
        Self {
            passed_over: self.passed_over.clone(),
            ignored: ignored.collect(),
            paths: self.paths.iter().map(new).collect(),
            ..*self
        }
    }

    /// Whether arguments leave a file out.
    pub(super) fn leaves_out(&self, path: &TreePath) -> bool {
        let mut ignored = self.ignored.iter();
        ignored.any(|each| match each.glob {
            true => fits(plain(&each.place), path.as_str()),
            false => reaches(plain(&each.place), path.as_str()),
        })
    }

    /// Whether pytest comes to a file by itself.
    pub(super) fn collects(&self, path: &TreePath) -> bool {
        self.reaches(path) && self.hides(path).is_none() && !self.leaves_out(path)
    }

    /// Whether tests are looked for where a file is.
    pub(super) fn reaches(&self, path: &TreePath) -> bool {
        let mut paths = self.paths.iter();
        self.paths.is_empty() || paths.any(|place| reaches(place, path.as_str()))
    }
}

/// What the words of arguments leave out.
fn ignored(words: &[String]) -> Vec<Ignored> {
    let following = words.iter().skip(1).map(Some).chain([None]);
    let found = words.iter().zip(following).filter_map(|(word, next)| {
        let (option, given) = match word.split_once('=') {
            Some((option, given)) => (option, given),
            None => (word.as_str(), next?.as_str()),
        };
        let glob = match option {
            "--ignore" => false,
            "--ignore-glob" => true,
            _ => return None,
        };
        let place = given.to_owned();
        Some(Ignored { place, glob })
    });
    found.collect()
}

/// A place without what says nothing.
fn plain(place: &str) -> &str {
    place.trim_end_matches('/').trim_start_matches("./")
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
    fn arguments_leave_out_folders_and_patterns() {
        let words = [
            "-q",
            "--ignore=a/b",
            "--ignore",
            "./c.py",
            "--ignore-glob=d/*_gpu.py",
        ];
        let settings = TestSettings {
            passed_over: Vec::new(),
            ignored: ignored(&words.map(str::to_owned)),
            paths: Vec::new(),
            importlib: false,
            imports_all: false,
        };
        for (path, expected) in [
            ("a/b/x.py", true),
            ("a/bc/x.py", false),
            ("c.py", true),
            ("d/e/x_gpu.py", true),
            ("d/x.py", false),
        ] {
            let path = TreePath::new(path).unwrap();
            assert_eq!(settings.leaves_out(&path), expected, "{path}");
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
                ignored: Vec::new(),
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
}
