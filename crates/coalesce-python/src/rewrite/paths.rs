//! Paths of files that move, in string literals.

use coalesce_model::{ByteSpan, Edit, Evidence, Form, UnprovenKind};

use crate::{
    names::last_word,
    rewrite::{
        file::{File, FileEdits, Reference},
        own_place::call_before,
    },
};

/// Calls that put a path together of what they are given, from a folder or a package on.
const JOINING: [&str; 8] = [
    "PackageLoader",
    "get_data",
    "joinpath",
    "resource_exists",
    "resource_filename",
    "resource_isdir",
    "resource_listdir",
    "resource_stream",
];

/// Calls that look for a file by a path.
const OPENING: [&str; 3] = ["Path", "PurePath", "open"];

/// Rewrites paths that are those of moved files and directories; what may be one is reported.
pub fn rewrite(file: &File<'_>, found: &mut FileEdits) {
    if file.mapping.paths.is_empty() {
        return;
    }
    let strings = file.analysis().strings.iter();
    for string in strings.filter(|string| !string.documentation) {
        let content = string.span.of(file.text);
        if let Some(content) = content.filter(|content| file.mapping.mentioned(content)) {
            literal(file, string.span, content, found);
        }
    }
}

/// A literal that mentions what moves: a path, or a part of one.
fn literal(file: &File<'_>, span: ByteSpan, content: &str, found: &mut FileEdits) {
    if content.contains('/') {
        words(content).for_each(|word| path(file, span, word, content, found));
        return begun(file, span, content, found);
    }
    let why = if is_folder(file, &from_package(file, span, content)) && joins_paths(file.text, span)
    {
        "the name of a folder that moves, in a path put together from parts"
    } else if file.mapping.file_names.contains(content) && !found.covered(span) {
        "the name of a file that moves, in a path put together from parts"
    } else {
        return;
    };
    found.told.leave(span, Form::FilePath, content, why);
    found.told.doubt(span, UnprovenKind::OwnPlace, content, why);
}

/// A path that begins with a folder which moves and is completed elsewhere: `get_data("pkg", "data/" + name)`.
fn begun(file: &File<'_>, span: ByteSpan, content: &str, found: &mut FileEdits) {
    let Some((folder, _)) = content.split_once('/') else {
        return;
    };
    let named = !folder.is_empty() && is_folder(file, &from_package(file, span, folder));
    let opens = || call_before(file.text, span).is_some_and(|call| OPENING.contains(&call));
    if named && !found.covered(span) && (joins_paths(file.text, span) || opens()) {
        let why = "the name of a folder that moves begins a path that is put together";
        found.told.leave(span, Form::FilePath, content, why);
        found.told.doubt(span, UnprovenKind::OwnPlace, content, why);
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

/// A name behind the folder of the package that it is looked for in, where the text says that: `files("pkg").joinpath(name)`,
/// `files(__package__) / name`.
fn from_package(file: &File<'_>, literal: ByteSpan, name: &str) -> String {
    folder_of_package(file, literal).map_or_else(
        || name.to_owned(),
        |folder| format!("{}/{name}", folder.replace('.', "/")),
    )
}

/// The package whose files a literal goes on from: `files(package) /`, `.joinpath(` behind that, `get_data(package, `.
fn folder_of_package(file: &File<'_>, literal: ByteSpan) -> Option<String> {
    let before = file.text.get(..literal.start as usize)?;
    let before = before.trim_end_matches(['"', '\'']).trim_end();
    let (given, calls) = match before.strip_suffix(',') {
        Some(given) => (given, JOINING.as_slice()),
        None => {
            let joined = before.strip_suffix('/');
            let called = || {
                before
                    .strip_suffix('(')?
                    .trim_end()
                    .strip_suffix(".joinpath")
            };
            let files = joined.or_else(called)?.trim_end();
            (files.strip_suffix(')')?, ["files"].as_slice())
        }
    };
    let (head, argument) = given.rsplit_once('(')?;
    let named = calls.contains(&last_word(head));
    named.then(|| package_named(file, argument.trim()))?
}

/// The package that an argument names: a text, `__package__` or `__name__`.
fn package_named(file: &File<'_>, argument: &str) -> Option<String> {
    if argument == "__package__" || argument == "__name__" {
        let package = file.graph().package_of(file.module?);
        return (!package.is_empty()).then(|| package.to_owned());
    }
    let quotes = ['"', '\''];
    let text = argument.strip_prefix(quotes)?.strip_suffix(quotes)?;
    (!text.contains(quotes)).then(|| text.to_owned())
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
        || call_before(text, literal).is_some_and(|call| JOINING.contains(&call))
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
    let (start, word) = (word.0, word.1.trim_end_matches(['.', '/']));
    let scheme = content.get(..start).unwrap_or_default();
    let is_url = word.starts_with("//") && scheme.ends_with(':');
    let rest = word.trim_start_matches("../").trim_start_matches("./");
    let bare = rest.trim_start_matches('/');
    let lead = word.len() - bare.len();
    let alone = lead == 0 && word == content.trim_end_matches('/');
    let may_be_short = alone || lead > 0 && word.starts_with("..");
    let Some((skipped, length, new)) = replacement(file, bare, may_be_short) else {
        return;
    };
    let from = literal.start as usize + start + lead + skipped;
    let span = ByteSpan::from_range(from..from + length);
    if found.covered(span) {
        return;
    }
    let old = span.of(file.text).unwrap_or_default();
    if is_url {
        // What lies there may be of another version, or somebody else's.
        let why = "a path in an address, which is not followed";
        return found.told.leave(span, Form::FilePath, old, why);
    }
    let reason = "the path of a file that moves";
    let mut reference = Reference::resolved(Form::FilePath, old, &new, reason);
    reference.evidence = Evidence::ExactPath;
    found.change(Edit::replace(span, new.as_str()), reference);
}

/// What of a path is that of something that moves: where it starts, how long it is, what it becomes.
fn replacement(file: &File<'_>, word: &str, may_be_short: bool) -> Option<(usize, usize, String)> {
    if let Some(found) = longest_known(file, word) {
        return Some(found);
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

/// The longest part of a path, counted from its end, that is that of something that moves.
fn longest_known(file: &File<'_>, word: &str) -> Option<(usize, usize, String)> {
    let separators = || word.match_indices('/').map(|(at, _)| at);
    let ends = separators().chain([word.len()]).rev();
    let starts: Vec<usize> = [0]
        .into_iter()
        .chain(separators().map(|at| at + 1))
        .collect();
    let parts = ends.flat_map(|end| starts.iter().map(move |start| (*start, end)));
    let mut known = parts.filter_map(|(start, end)| {
        let part = word.get(start..end).filter(|part| part.contains('/'))?;
        let new = file.mapping.paths.get(part)?;
        Some((start, end - start, new.clone()))
    });
    known.next()
}
