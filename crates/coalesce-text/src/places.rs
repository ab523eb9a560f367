//! Paths of what moves, in text files: from the root of the tree, or from the file that has them.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Evidence, Form, LanguagePlan, Safety, Texts, TreePath, UnprovenKind,
};

use crate::{Found, Reason, free_names, gone::gone, line_before};

/// Where files go, and whole directories.
pub struct Places {
    /// Longest first, so that a file is told before the directory around it.
    pairs: Vec<(String, String)>,
    /// Folders in the root of the tree, which are one word.
    at_root: Vec<(String, String)>,
    files: BTreeMap<TreePath, TreePath>,
    /// Files and whole folders that are not there any more, and have no other place, longest first.
    gone: Vec<String>,
    /// Names of files that get another one, and leave nothing behind.
    renamed: BTreeSet<String>,
}

impl Places {
    /// The last parts of the paths of what is not there any more.
    pub fn gone_names(&self) -> impl Iterator<Item = &str> {
        self.gone.iter().filter_map(|path| path.rsplit('/').next())
    }

    pub fn new(proposal: &LanguagePlan, texts: &dyn Texts) -> Self {
        let files: BTreeMap<TreePath, TreePath> = proposal
            .moves
            .iter()
            .map(|file| (file.from.clone(), file.to.clone()))
            .collect();
        let all = files
            .iter()
            .map(|(from, to)| (from.as_str().to_owned(), to.as_str().to_owned()));
        let directories = directories(&files, texts);
        let gone = gone(proposal, &directories, texts);
        let (directories, at_root): (Vec<_>, Vec<_>) = directories
            .into_iter()
            .partition(|(from, _)| from.contains('/'));
        let all = all.filter(|(from, _)| from.contains('/'));
        let mut pairs: Vec<(String, String)> = all.chain(directories).collect();
        pairs.sort_by(|a, b| (b.0.len(), &a.0).cmp(&(a.0.len(), &b.0)));
        pairs.dedup();
        Self {
            pairs,
            at_root,
            renamed: renamed(&files, proposal),
            files,
            gone,
        }
    }

    /// Paths in a configuration file change; in one that runs or guards the project they are told. Where something
    /// `runs` by them, what is told is not proven.
    pub fn configuration(&self, operations: bool, runs: bool, text: &str, found: &mut Found) {
        let spelled = self.pairs.iter().flat_map(spellings);
        for (from, to) in spelled {
            for span in free_names(text, &from, found) {
                if operations {
                    let why = "a path in a file that runs or guards the project: change it by hand";
                    leave(runs, text, (span, &from, why), found);
                } else {
                    found.change(span, &from, &to, reason("the path of a file that moves"));
                }
            }
        }
        self.below_root(operations, runs, text, found);
        self.in_part(runs && operations, text, found);
        self.by_file_name(text, found);
        self.left_behind(runs, text, found);
    }

    /// Paths in a file of another kind, which are told.
    pub fn elsewhere(&self, text: &str, found: &mut Found) {
        for (from, _) in &self.pairs {
            for span in free_names(text, from, found) {
                let why =
                    "the path of a file that moves, in a file of another kind: change it by hand";
                found.leave(span, Form::FilePath, from, why);
            }
        }
        self.in_part(false, text, found);
        self.left_behind(false, text, found);
    }

    /// Files that settings have by their names alone, and that get others: `per-file-ignores = old.py:E501`.
    fn by_file_name(&self, text: &str, found: &mut Found) {
        for name in &self.renamed {
            let spans = memchr::memmem::find_iter(text.as_bytes(), name.as_bytes());
            let spans = spans.map(|at| ByteSpan::from_range(at..at + name.len()));
            let open = |span: &ByteSpan| {
                stands_alone(text, *span) && !found.covered(*span) && !found.is_left(*span)
            };
            let first = spans.into_iter().find(open);
            if let Some(span) = first {
                let why = "the name of a file that gets another one";
                found.leave(span, Form::FilePath, name, why);
            }
        }
    }

    /// Paths of what is not there any more.
    fn left_behind(&self, runs: bool, text: &str, found: &mut Found) {
        for path in &self.gone {
            for span in free_names(text, path, found) {
                let why = "the path of a file or folder that goes: change it by hand";
                leave(runs, text, (span, path, why), found);
            }
        }
    }

    /// Patterns of files in a folder of the root, and files that are made there: `pkg/*`, `pkg/_version.py`.
    fn below_root(&self, operations: bool, runs: bool, text: &str, found: &mut Found) {
        for (from, to) in &self.at_root {
            for span in free_names(text, from, found) {
                let rest = text.get(span.end as usize..).unwrap_or_default();
                let argument = is_argument_of_tool(text, span);
                if argument || operations && goes_on_as_path(rest) {
                    let why = "a path in a file that runs or guards the project: change it by hand";
                    leave(runs || argument, text, (span, from, why), found);
                } else if goes_on_as_path(rest) {
                    found.change(span, from, to, reason("the folder of files that move"));
                }
            }
        }
    }

    /// Paths in a document: those that a directive or a link leads to change, others are told.
    pub fn document(&self, text: &str, found: &mut Found) {
        let directory = found.told.path.parent().unwrap_or_else(TreePath::root);
        for (span, word) in words(text) {
            let Some((old, new)) = self.named(&directory, word) else {
                self.gone_word(&directory, (span, word), found);
                continue;
            };
            if found.covered(span) || found.is_left(span) {
                continue;
            }
            if is_led_to(text, span) {
                found.change(
                    span,
                    &old,
                    &new,
                    reason("the path of a file that moves, which the document shows"),
                );
            } else {
                let why = "the path of a file that moves, in a text: change it by hand";
                found.leave(span, Form::FilePath, &old, why);
            }
        }
        self.in_part(false, text, found);
    }

    /// Tells a word that is the path of what goes, from the root, from its own folder, or at the end of an address.
    fn gone_word(&self, directory: &TreePath, (span, word): (ByteSpan, &str), found: &mut Found) {
        let plain = word.trim_start_matches('/').trim_end_matches('/');
        let beside = directory.join(plain.trim_start_matches("./")).ok();
        let is_address = is_of_newest(word);
        let is_one = |path: &String| {
            *path == plain
                || beside
                    .as_ref()
                    .is_some_and(|beside| beside.as_str() == path)
                || is_address
                    && plain
                        .strip_suffix(path.as_str())
                        .is_some_and(|head| head.ends_with('/'))
        };
        let is_new = !found.covered(span) && !found.is_left(span);
        if is_new && self.gone.iter().any(is_one) {
            let why = "the path of a file or folder that goes: change it by hand";
            found.leave(span, Form::FilePath, word, why);
        }
    }

    /// What a word is the path of, as it is spelled, and what it becomes.
    fn named(&self, directory: &TreePath, word: &str) -> Option<(String, String)> {
        let path = word.trim_start_matches('/');
        let beside = directory.join(word.trim_start_matches("./")).ok();
        let beside = beside.and_then(|path| self.files.get(&path));
        if let Some(to) = beside.filter(|_| !word.starts_with('/')) {
            return Some((word.to_owned(), relative(directory, to)));
        }
        let to = TreePath::new(path)
            .ok()
            .and_then(|path| self.files.get(&path).cloned());
        if let Some(to) = to {
            let lead = &word[..word.len() - path.len()];
            return Some((word.to_owned(), format!("{lead}{to}")));
        }
        self.named_folder(directory, word)
    }

    /// The same of a folder that moves as a whole, with or without a slash at its end.
    fn named_folder(&self, directory: &TreePath, word: &str) -> Option<(String, String)> {
        let plain = word.strip_suffix('/').unwrap_or(word);
        let slash = word.get(plain.len()..).unwrap_or_default();
        let beside = directory.join(plain.trim_start_matches("./")).ok();
        let beside = beside.as_ref().filter(|_| !word.starts_with('/'));
        let mut folders = self.pairs.iter().chain(&self.at_root);
        folders.find_map(|(from, to)| {
            let new = if beside.is_some_and(|beside| beside.as_str() == from) {
                relative(directory, &TreePath::new(to).ok()?)
            } else if plain.strip_prefix('/').unwrap_or(plain) == from {
                let lead = plain.strip_suffix(from.as_str()).unwrap_or_default();
                format!("{lead}{to}")
            } else {
                return None;
            };
            Some((word.to_owned(), format!("{new}{slash}")))
        })
    }

    /// Paths that lack the directories above a package, and names of files in the directory of their
    /// own: what they are the paths of, nobody knows for certain.
    fn in_part(&self, runs: bool, text: &str, found: &mut Found) {
        let own = found.told.path.parent().unwrap_or_else(TreePath::root);
        let why = "it ends as the path of a file that moves does";
        for from in self.files.keys().map(TreePath::as_str) {
            let parts = memchr::memmem::find_iter(text.as_bytes(), from.as_bytes());
            let spans = parts.map(|at| ByteSpan::from_range(at..at + from.len()));
            let spans = spans.filter(|span| is_behind_variable(text, *span));
            leave_all(runs, text, (spans, from, why), found);
        }
        for tail in self.files.keys().flat_map(|from| tails(from, &own)) {
            let parts = memchr::memmem::find_iter(text.as_bytes(), tail.as_bytes());
            let spans = parts.map(|at| ByteSpan::from_range(at..at + tail.len()));
            let spans = spans.filter(|span| stands_alone(text, *span));
            leave_all(runs, text, (spans, tail, why), found);
        }
    }
}

/// Whether a word is the address of a file in the newest state of a repository: `https://host/owner/name/blob/main/…`.
fn is_of_newest(word: &str) -> bool {
    let branches = ["HEAD", "dev", "develop", "devel", "main", "master", "trunk"];
    let mut parts = word
        .split('/')
        .skip_while(|part| !matches!(*part, "blob" | "tree" | "raw" | "edit" | "blame" | "src"));
    word.contains("://")
        && parts.next().is_some()
        && parts
            .next()
            .is_some_and(|branch| branches.contains(&branch))
}

/// The ends of a path that still have a directory in them, and the name of a file in `directory`.
fn tails<'p>(path: &'p TreePath, directory: &TreePath) -> impl Iterator<Item = &'p str> {
    let beside = path.parent().as_ref() == Some(directory);
    let behind = |tail: &&'p str| tail.split_once('/').map(|(_, rest)| rest);
    std::iter::successors(behind(&path.as_str()), behind)
        .filter(move |tail| beside || tail.contains('/'))
}

/// Whether a whole path stands behind a folder that a variable gives: `${ROOT}/src/a.rs`, `$ROOT/src/a.rs`.
fn is_behind_variable(text: &str, span: ByteSpan) -> bool {
    let before = line_before(text, span.start);
    let Some(folder) = before.strip_suffix('/') else {
        return false;
    };
    let name = folder.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    stands_alone(text, span) && (folder.ends_with(['}', ')']) || name.ends_with('$'))
}

/// Whether no name goes on before or behind a place.
fn stands_alone(text: &str, span: ByteSpan) -> bool {
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let before = text.get(..span.start as usize);
    let before = before.and_then(|head| head.chars().next_back());
    let after = text.get(span.end as usize..);
    let after = after.and_then(|rest| rest.chars().next());
    !before.is_some_and(joins) && !after.is_some_and(joins)
}

/// Whether a slash and a pattern, or a name with an ending, follow: `/org` may be the end of an address.
fn goes_on_as_path(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix('/') else {
        return false;
    };
    let end = rest.find(|c: char| c.is_whitespace() || "\"',;)]:".contains(c));
    let path = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    let ending = |name: &str| {
        name.rsplit_once('.')
            .is_some_and(|(_, end)| !end.is_empty())
    };
    path.is_empty() || path.contains(['*', '?', '[']) || path.split('/').any(ending)
}

/// Commands that are given folders.
const TAKING_FOLDERS: [&str; 18] = [
    "ADD",
    "COPY",
    "bandit",
    "black",
    "cd",
    "cp",
    "flake8",
    "interrogate",
    "isort",
    "mypy",
    "pydocstyle",
    "pylint",
    "pyright",
    "pytest",
    "ruff",
    "vulture",
    "yapf",
    "zip",
];

/// Whether a word is a folder that a command of its line is given: `mypy pkg`, `COPY pkg /app/pkg`.
fn is_argument_of_tool(text: &str, span: ByteSpan) -> bool {
    let before = line_before(text, span.start);
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '/');
    let rest = text.get(span.end as usize..).unwrap_or_default();
    let command = before.rsplit(['&', ';', '|']).next().unwrap_or_default();
    let mut words = command.split(|c: char| c.is_whitespace() || matches!(c, ':' | '='));
    // `pytest -m gpu` asks for a mark.
    let last = command.split_whitespace().next_back();
    let is_value = last.is_some_and(|word| matches!(word, "-m" | "-k" | "-n" | "-o" | "-e" | "-c"));
    !is_value
        && before.ends_with([' ', '\t'])
        && (rest.is_empty() || rest.starts_with(ends))
        && words.any(|word| TAKING_FOLDERS.contains(&word))
        && !command.contains(" install ")
}

/// Tells those of some places of which nothing is said yet.
fn leave_all(
    runs: bool,
    text: &str,
    (spans, name, why): (impl Iterator<Item = ByteSpan>, &str, &'static str),
    found: &mut Found,
) {
    for span in spans {
        if !found.covered(span) && !found.is_left(span) {
            leave(runs, text, (span, name, why), found);
        }
    }
}

/// Tells a place, and doubts it where something runs by it.
fn leave(
    runs: bool,
    text: &str,
    (span, name, why): (ByteSpan, &str, &'static str),
    found: &mut Found,
) {
    found.leave(span, Form::FilePath, name, why);
    if runs && !is_comment(text, span) {
        found.told.doubt(span, UnprovenKind::OwnPlace, name, why);
    }
}

/// Whether the line of a place is a comment.
fn is_comment(text: &str, span: ByteSpan) -> bool {
    let line = line_before(text, span.start).trim_start();
    line.starts_with('#')
        || line.starts_with("//")
        || line.starts_with("::")
        || line.starts_with("REM ")
}

fn reason(text: &'static str) -> Reason {
    Reason {
        form: Form::FilePath,
        evidence: Evidence::ExactPath,
        safety: Safety::Safe,
        text,
    }
}

/// A path as it is, and as a regular expression has it.
fn spellings(pair: &(String, String)) -> Vec<(String, String)> {
    let (from, to) = pair;
    let escaped = |with: &str| (from.replace('.', with), to.replace('.', with));
    let mut all = vec![pair.clone()];
    if from.contains('.') {
        all.extend([escaped("\\."), escaped("\\\\.")]);
    }
    all
}

/// Directories of which every file goes to the same other one.
fn directories(files: &BTreeMap<TreePath, TreePath>, texts: &dyn Texts) -> Vec<(String, String)> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in files {
        let (mut from, mut to) = (from.as_str(), to.as_str());
        while let (Some((old, a)), Some((new, b))) = (from.rsplit_once('/'), to.rsplit_once('/'))
            && a == b
        {
            known
                .entry(old.to_owned())
                .or_default()
                .insert(new.to_owned());
            (from, to) = (old, new);
        }
    }
    let whole = known.into_iter().filter_map(|(from, to)| {
        let mut to = to.into_iter();
        let (only, None) = (to.next()?, to.next()) else {
            return None;
        };
        let directory = TreePath::new(&from).ok()?;
        let goes = |path: &TreePath| match path.strip_prefix(&directory) {
            Some(rest) => files
                .get(path)
                .is_some_and(|to| to.as_str() == format!("{only}/{rest}")),
            None => true,
        };
        (from != only && texts.paths().iter().all(goes)).then_some((from, only))
    });
    whole.collect()
}

/// The names of files that get another one, where the old one goes.
fn renamed(files: &BTreeMap<TreePath, TreePath>, proposal: &LanguagePlan) -> BTreeSet<String> {
    let leaving = proposal.leaving_paths();
    let renamed = files.iter().filter(|(from, to)| {
        from.file_name() != to.file_name() && !is_usual(from) && leaving.contains(from)
    });
    renamed
        .map(|(from, _)| from.file_name().to_owned())
        .collect()
}

/// Whether many files have this name.
fn is_usual(path: &TreePath) -> bool {
    matches!(
        path.file_name(),
        "__init__.py"
            | "__main__.py"
            | "conftest.py"
            | "lib.rs"
            | "main.rs"
            | "mod.rs"
            | "utils.py"
            | "common.py"
    )
}

/// `to` as seen from a directory.
fn relative(directory: &TreePath, to: &TreePath) -> String {
    let here: Vec<&str> = directory.components().collect();
    let there: Vec<&str> = to.components().collect();
    let shared = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    let up = "../".repeat(here.len() - shared);
    format!("{up}{}", there.get(shared..).unwrap_or_default().join("/"))
}

/// The parts of a text that may be paths.
fn words(text: &str) -> impl Iterator<Item = (ByteSpan, &str)> {
    let ends = |c: char| c.is_whitespace() || "\"'`<>()[]{}|,;*".contains(c);
    let start = text.as_ptr() as usize;
    text.split(ends).filter_map(move |word| {
        let word = word.trim_end_matches(['.', ':', '!', '?']);
        let word = word.split(['#', '?']).next().unwrap_or(word);
        let at = word.as_ptr() as usize - start;
        word.contains('/')
            .then(|| (ByteSpan::from_range(at..at + word.len()), word))
    })
}

/// Whether a document shows what stands at a path, or links to it.
fn is_led_to(text: &str, span: ByteSpan) -> bool {
    let line = line_before(text, span.start).trim_start();
    let directive = line
        .strip_prefix(".. ")
        .and_then(|rest| rest.split_once("::"))
        .is_some_and(|(name, rest)| {
            rest.trim().is_empty()
                && matches!(
                    name,
                    "literalinclude"
                        | "include"
                        | "code"
                        | "autofile"
                        | "highlightinclude"
                        | "plot"
                        | "jupyter-execute"
                )
        });
    let braces = line.trim_start_matches(['`', ':', '~']);
    let myst = braces
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'))
        .is_some_and(|(name, rest)| rest.trim().is_empty() && name.contains("include"));
    directive
        || myst
        || line.ends_with("](")
        || line.starts_with("--8<--")
        || line.contains("{% include")
}

#[cfg(test)]
mod tests {
    use coalesce_model::{ByteSpan, FileMove, MemoryTexts};

    use super::*;

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    /// What becomes of the text of a file when `src/acme/opt/gpu.py` and `src/acme/old/` move: the
    /// text, and how many places are told.
    fn check(file: &str, kind: Kind, text: &str) -> (String, usize) {
        let texts = MemoryTexts::fixture(
            "//- src/acme/opt/gpu.py\n//- src/acme/opt/other.py\n//- src/acme/old/a.py\n//- src/acme/old/b.py\n",
        );
        let moved = |from: &str, to: &str| FileMove {
            from: path(from),
            to: path(to),
        };
        let moves = [
            moved("src/acme/opt/gpu.py", "src/acme/core/devices.py"),
            moved("src/acme/old/a.py", "src/acme/fresh/a.py"),
            moved("src/acme/old/b.py", "src/acme/fresh/b.py"),
        ];
        let proposal = LanguagePlan {
            moves: moves.to_vec(),
            ..LanguagePlan::default()
        };
        let places = Places::new(&proposal, &texts);
        let mut found = Found::new(path(file));
        match kind {
            Kind::Configuration => places.configuration(false, true, text, &mut found),
            Kind::Operations => places.configuration(true, true, text, &mut found),
            Kind::Document => places.document(text, &mut found),
        }
        let mut edits = found.edits;
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
        let mut result = text.to_owned();
        for edit in edits {
            let ByteSpan { start, end } = edit.span;
            result.replace_range(start as usize..end as usize, &edit.text);
        }
        (result, found.told.not_rewritten.len())
    }

    enum Kind {
        Configuration,
        Operations,
        Document,
    }

    #[test]
    fn configuration_changes_and_what_guards_the_project_is_told() {
        for (text, expected, told) in [
            (
                "omit = [\"src/acme/opt/gpu.py\"]",
                "omit = [\"src/acme/core/devices.py\"]",
                0,
            ),
            (
                "files: ^src/acme/opt/gpu\\.py$",
                "files: ^src/acme/core/devices\\.py$",
                0,
            ),
            (
                "include src/acme/old/a.py",
                "include src/acme/fresh/a.py",
                0,
            ),
            (
                "recursive-include src/acme/old *.cu",
                "recursive-include src/acme/fresh *.cu",
                0,
            ),
            ("source = src/acme/opt", "source = src/acme/opt", 0),
            ("omit = */acme/opt/gpu.py", "omit = */acme/opt/gpu.py", 1),
            ("x = opt/gpu.py", "x = opt/gpu.py", 1),
            ("x = mygpu.py", "x = mygpu.py", 0),
        ] {
            let found = check("setup.cfg", Kind::Configuration, text);
            assert_eq!(found, (expected.to_owned(), told), "{text}");
        }
        for (text, told) in [
            ("/src/acme/opt/gpu.py @team", 1),
            ("/src/acme/old/ @team", 1),
            ("run: pytest src/acme/opt/gpu.py", 1),
            ("/src/acme/opt/ @team", 0),
            ("set(A ${ROOT}/src/acme/opt/gpu.py)", 1),
            ("cat $ROOT/src/acme/opt/gpu.py", 1),
        ] {
            assert_eq!(
                check(".github/CODEOWNERS", Kind::Operations, text),
                (text.to_owned(), told)
            );
        }
    }

    #[test]
    fn documents_follow_what_they_show() {
        for (text, expected, told) in [
            (
                ".. literalinclude:: ../src/acme/opt/gpu.py\n   :lines: 1-3",
                ".. literalinclude:: ../src/acme/core/devices.py\n   :lines: 1-3",
                0,
            ),
            (
                ".. include:: /src/acme/opt/gpu.py",
                ".. include:: /src/acme/core/devices.py",
                0,
            ),
            (
                "```{literalinclude} ../src/acme/opt/gpu.py",
                "```{literalinclude} ../src/acme/core/devices.py",
                0,
            ),
            (
                "--8<-- \"src/acme/opt/gpu.py\"",
                "--8<-- \"src/acme/core/devices.py\"",
                0,
            ),
            (
                "see [it](../src/acme/opt/gpu.py#L3)",
                "see [it](../src/acme/core/devices.py#L3)",
                0,
            ),
            (
                "the [folder](../src/acme/old/)",
                "the [folder](../src/acme/fresh/)",
                0,
            ),
            (
                "See `src/acme/opt/gpu.py`.",
                "See `src/acme/opt/gpu.py`.",
                1,
            ),
            (
                "https://host/blob/main/src/acme/opt/gpu.py",
                "https://host/blob/main/src/acme/opt/gpu.py",
                1,
            ),
            (
                "[it](https://host/blob/main/src/acme/opt/gpu.py#L3)",
                "[it](https://host/blob/main/src/acme/opt/gpu.py#L3)",
                1,
            ),
            (
                "[it](https://host/blob/v0.9/src/acme/opt/gpu.py)",
                "[it](https://host/blob/v0.9/src/acme/opt/gpu.py)",
                1,
            ),
            ("src/acme/opt/other.py", "src/acme/opt/other.py", 0),
        ] {
            let found = check("docs/api.rst", Kind::Document, text);
            assert_eq!(found, (expected.to_owned(), told), "{text}");
        }
    }
}
