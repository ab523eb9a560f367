//! Paths of files that move, in string literals.

use coalesce_model::{ByteSpan, Edit, Evidence, Form, UnprovenKind};

use crate::rewrite::file::{File, FileEdits, Reference};

/// Rewrites paths that are those of moved files and directories; what may be one is reported.
pub fn rewrite(file: &File<'_>, found: &mut FileEdits) {
    if file.mapping.paths.is_empty() {
        return;
    }
    for string in file
        .analysis()
        .strings
        .iter()
        .filter(|string| !string.documentation)
    {
        let Some(content) = string.span.of(file.text) else {
            continue;
        };
        if !file.mapping.mentioned(content) {
            continue;
        }
        if content.contains('/') {
            for word in words(content) {
                path(file, string.span, word, content, found);
            }
        } else if is_folder(file, content) && joins_paths(file.text, string.span) {
            let why = "the name of a folder that moves, in a path put together from parts";
            found.told.leave(string.span, Form::FilePath, content, why);
            found
                .told
                .doubt(string.span, UnprovenKind::OwnPlace, content, why);
        } else if file.mapping.file_names.contains(content) && !found.covered(string.span) {
            let why = "the name of a file that moves, in a path put together from parts";
            found.told.leave(string.span, Form::FilePath, content, why);
            found
                .told
                .doubt(string.span, UnprovenKind::OwnPlace, content, why);
        }
    }
}

/// Whether a text is the name of a folder that moves.
fn is_folder(file: &File<'_>, name: &str) -> bool {
    let mut paths = file.mapping.paths.keys();
    paths.any(|path| {
        let end = path.strip_suffix(name);
        !path.contains('.') && end.is_some_and(|above| above.is_empty() || above.ends_with('/'))
    })
}

/// Whether a literal is put together with others to a path: `folder / "name"`, `join(folder, "name")`.
fn joins_paths(text: &str, literal: ByteSpan) -> bool {
    let quotes = ['"', '\''];
    let before = text.get(..literal.start as usize).unwrap_or_default();
    let before = before.trim_end_matches(quotes);
    let after = text.get(literal.end as usize..).unwrap_or_default();
    let after = after.trim_start_matches(quotes);
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.trim_end().ends_with('/')
        || after.trim_start().starts_with("/ ")
        || line.contains("path.join(")
}

/// The parts of a text that may be paths.
fn words(content: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    content
        .split(|c: char| c.is_whitespace() || "\"'`,;:()[]<>=*{}|".contains(c))
        .filter_map(move |word| {
            let start = at;
            // Every separator is one ASCII character, or white space of any width.
            at = start
                + word.len()
                + content
                    .get(start + word.len()..)
                    .and_then(|rest| rest.chars().next())
                    .map_or(0, char::len_utf8);
            word.contains('/').then_some((start, word))
        })
}

fn path(
    file: &File<'_>,
    literal: ByteSpan,
    word: (usize, &str),
    content: &str,
    found: &mut FileEdits,
) {
    let (start, word) = word;
    let word = word.trim_end_matches(['.', '/']);
    let lead = word.len()
        - word
            .trim_start_matches("../")
            .trim_start_matches("./")
            .trim_start_matches('/')
            .len();
    let bare = word.get(lead..).unwrap_or_default();
    let alone = lead == 0 && word == content.trim_end_matches('/');
    let Some((skipped, length, new)) =
        replacement(file, bare, alone || lead > 0 && word.starts_with(".."))
    else {
        return;
    };
    let from = literal.start as usize + start + lead + skipped;
    let span = ByteSpan::from_range(from..from + length);
    if found.covered(span) {
        return;
    }
    let old = span.of(file.text).unwrap_or_default();
    let reference = Reference {
        evidence: Evidence::ExactPath,
        ..Reference::resolved(Form::FilePath, old, &new, "the path of a file that moves")
    };
    found.change(Edit::replace(span, new.as_str()), reference);
}

/// What of a path is that of something that moves: where it starts, how long it is, what it becomes.
fn replacement(file: &File<'_>, word: &str, may_be_short: bool) -> Option<(usize, usize, String)> {
    let ends = word
        .match_indices('/')
        .map(|(at, _)| at)
        .chain([word.len()])
        .rev();
    let starts: Vec<usize> = [0]
        .into_iter()
        .chain(word.match_indices('/').map(|(at, _)| at + 1))
        .collect();
    for end in ends {
        for start in &starts {
            let Some(part) = word.get(*start..end).filter(|part| part.contains('/')) else {
                continue;
            };
            if let Some(new) = file.mapping.paths.get(part) {
                return Some((*start, end - start, new.clone()));
            }
        }
    }
    if !may_be_short {
        return None;
    }
    // Relative to a directory that both paths share: `optimization/old.py` in a test of `pkg`.
    let suffix = format!("/{word}");
    let mut long = file
        .mapping
        .paths
        .iter()
        .filter(|(old, _)| old.ends_with(&suffix));
    let (old, new) = long.next().filter(|_| word.contains('/'))?;
    let shared = old.get(..old.len() - word.len())?;
    let new = new.strip_prefix(shared)?;
    long.next()
        .is_none()
        .then(|| (0, word.len(), new.to_owned()))
}
