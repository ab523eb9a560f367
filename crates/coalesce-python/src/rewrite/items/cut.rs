//! Where a definition begins and ends as text, and how it is cut out.

use coalesce_model::{ByteSpan, Edit, texts::start_of_text};

use super::outline::{Kind, Outline, Statement};

/// The line break of a text.
pub fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The start of the line of `at`.
pub fn line_start(text: &str, at: u32) -> u32 {
    let before = text.get(..at as usize).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    offset(start).max(start_of_text(text))
}

/// The end of the comments that head a file.
pub fn heading_end(text: &str, outline: &Outline) -> u32 {
    let first = outline.statements.first();
    let first = first.map_or(u32::MAX, |first| first.span.start);
    let mut at = start_of_text(text);
    while at < first {
        let end = line_end(text, at);
        let line = text.get(at as usize..end as usize).unwrap_or_default();
        if !line.starts_with('#') || end > first {
            break;
        }
        at = end;
    }
    at
}

/// The end of the line of `at`, with its line break.
pub fn line_end(text: &str, at: u32) -> u32 {
    let rest = text.get(at as usize..).unwrap_or_default();
    rest.find('\n')
        .map_or(offset(text.len()), |end| at + offset(end) + 1)
}

/// Whole lines of a statement: comments directly above come along, unless they head the file.
/// `None` when it shares a line with something else.
pub fn extent(text: &str, statement: &Statement) -> Option<ByteSpan> {
    let start = line_start(text, statement.span.start);
    let before = text.get(start as usize..statement.span.start as usize)?;
    let end = line_end(text, statement.span.end);
    let tail = text.get(statement.span.end as usize..end as usize)?.trim();
    if !before.is_empty() || !(tail.is_empty() || tail.starts_with('#')) {
        return None;
    }
    let mut first = start;
    while first > 0 {
        let above = line_start(text, first - 1);
        let line = text.get(above as usize..first as usize)?;
        if !line.starts_with('#') || line.starts_with("# coalesce:") {
            break;
        }
        first = above;
    }
    // What heads the file is not about its first definition.
    let heads = line_start(text, 0) == first && first != start;
    Some(ByteSpan::new(if heads { start } else { first }, end))
}

/// Extents with nothing but blank lines between them are one.
pub fn joined(text: &str, mut extents: Vec<ByteSpan>) -> Vec<ByteSpan> {
    extents.sort();
    let mut result: Vec<ByteSpan> = Vec::new();
    for extent in extents {
        let blank = |last: &ByteSpan| {
            let between = text.get(last.end as usize..extent.start as usize);
            between.is_some_and(|between| between.trim().is_empty())
        };
        match result.last_mut().filter(|last| blank(last)) {
            Some(last) => last.end = extent.end,
            None => result.push(extent),
        }
    }
    result
}

/// An extent with as many of the blank lines around it that what is left stands apart as before.
pub fn with_blanks(text: &str, extent: ByteSpan) -> ByteSpan {
    let before = text.get(..extent.start as usize).unwrap_or_default();
    let after = text.get(extent.end as usize..).unwrap_or_default();
    let kept = before.trim_end_matches([' ', '\t', '\r', '\n']);
    let rest = before.get(kept.len()..).unwrap_or_default();
    let content = kept.len() + rest.find('\n').map_or(0, |at| at + 1);
    let blank_before = before.get(content..).unwrap_or_default();
    let next = after.trim_start_matches([' ', '\t', '\r', '\n']);
    let gap = after.get(..after.len() - next.len()).unwrap_or_default();
    // What follows keeps its indentation, if it has any.
    let gap = gap.rfind('\n').map_or(0, |at| at + 1);
    let blank_after = after.get(..gap).unwrap_or_default();
    let lines = |blank: &str| blank.matches('\n').count();
    if next.is_empty() {
        let start = if kept.is_empty() { 0 } else { content };
        return ByteSpan::from_range(start..text.len());
    }
    if kept.is_empty() || lines(blank_before) >= lines(blank_after) {
        ByteSpan::new(extent.start, extent.end + offset(blank_after.len()))
    } else {
        ByteSpan::new(offset(content), extent.end)
    }
}

/// An extent with the blank lines before it, when it is indented and the last of its block: they
/// parted it from what is left of the block.
pub fn last_of_block(text: &str, extent: ByteSpan) -> ByteSpan {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = extent.of(text).map_or(0, indent);
    let after = text.get(extent.end as usize..).unwrap_or_default();
    let next = after.lines().next().unwrap_or_default();
    if own > 0 && !next.trim().is_empty() && indent(next) < own {
        with_blanks_before(text, extent)
    } else {
        extent
    }
}

/// An extent with the blank lines before it, unless they part it from a docstring.
pub fn with_blanks_before(text: &str, extent: ByteSpan) -> ByteSpan {
    let before = text.get(..extent.start as usize).unwrap_or_default();
    let kept = before.trim_end();
    let end = before.get(kept.len()..).and_then(|blank| blank.find('\n'));
    match end.filter(|_| !kept.ends_with(['"', '\''])) {
        Some(end) => ByteSpan::new(offset(kept.len() + end + 1), extent.end),
        None => extent,
    }
}

/// The text of a part of a file with the edits inside it made.
pub fn edited(text: &str, span: ByteSpan, edits: &[Edit]) -> String {
    let edits = edits
        .iter()
        .filter(|edit| span.start <= edit.span.start && edit.span.end <= span.end);
    let mut inside: Vec<&Edit> = edits
        .filter(|edit| !edit.span.is_empty() || !edit.text.is_empty())
        .collect();
    inside.sort_by_key(|edit| edit.span);
    let mut result = String::new();
    let mut at = span.start;
    for edit in inside {
        if edit.span.start < at {
            continue;
        }
        let kept = ByteSpan::new(at, edit.span.start).of(text);
        result.push_str(kept.unwrap_or_default());
        result.push_str(&edit.text);
        at = edit.span.end;
    }
    result.push_str(ByteSpan::new(at, span.end).of(text).unwrap_or_default());
    result
}

/// Edits of one file: insertions at one place follow each other, one at the start of a replacement
/// becomes part of it.
pub fn merged(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| edit.span);
    let mut result: Vec<Edit> = Vec::with_capacity(edits.len());
    let mut own: Vec<Edit> = Vec::new();
    for edit in edits {
        own.retain(|other| other.span == edit.span);
        if own.contains(&edit) {
            continue;
        }
        own.push(edit.clone());
        if result.last_mut().is_some_and(|last| last.takes_in(&edit)) {
            continue;
        }
        match result.last_mut() {
            Some(last) if last.span.is_empty() && last.span.start == edit.span.start => {
                last.text = with_import(&last.text, &edit.text);
                last.span = edit.span;
            }
            _ => result.push(edit),
        }
    }
    result
}

/// One insertion after another; lines that import from one module are one line.
fn with_import(first: &str, second: &str) -> String {
    let parts = |line: &str| {
        let (head, names) = line.strip_suffix('\n')?.split_once(" import ")?;
        let plain = !names.contains(['\n', '(', '#']) && head.trim_start().starts_with("from ");
        plain.then(|| (head.to_owned(), names.to_owned()))
    };
    match (parts(first), parts(second)) {
        (Some((head, names)), Some((other, more))) if head == other => {
            format!("{head} import {names}, {more}\n")
        }
        _ => format!("{first}{second}"),
    }
}

/// Lines that import from one module as one line, in the order in which they come.
pub fn joined_imports(lines: Vec<String>) -> Vec<String> {
    let mut result: Vec<String> = Vec::new();
    for line in lines {
        let head = line
            .split_once(" import ")
            .map(|(head, _)| format!("{head} import "));
        let known = head
            .as_ref()
            .filter(|head| head.starts_with("from "))
            .and_then(|head| {
                let same = |other: &&mut String| other.starts_with(head.as_str());
                result.iter_mut().find(same)
            });
        match (known, line.split_once(" import ")) {
            (Some(known), Some((_, names))) => known.push_str(&format!(", {names}")),
            _ => result.push(line),
        }
    }
    result
}

/// Where the imports that go head the file, the blank lines below them go too.
pub fn at_top(text: &str, edits: &[Edit]) -> Option<Edit> {
    let mut end = line_start(text, 0);
    let deleted = |edit: &&Edit| edit.text.is_empty() && !edit.span.is_empty();
    let mut gone: Vec<ByteSpan> = edits.iter().filter(deleted).map(|edit| edit.span).collect();
    gone.sort();
    for span in gone {
        if span.start == end {
            end = span.end;
        }
    }
    let put = |edit: &Edit| !edit.text.is_empty() && edit.span.start <= end;
    if edits.iter().any(put) {
        return None;
    }
    let rest = text.get(end as usize..)?;
    let blank = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
    let span = ByteSpan::new(end, end + offset(blank));
    (end > 3 && blank > 0).then(|| Edit::delete(span))
}

/// Whether a statement is a function or a class, which stand two lines apart.
pub fn stands_apart(kind: Kind) -> bool {
    matches!(kind, Kind::Function { .. } | Kind::Class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::items::outline::Outline;

    #[test]
    fn what_is_left_stands_apart_as_before() {
        for (before, name, after) in [
            ("A = 1\nB = 2\nC = 3\n", "B", "A = 1\nC = 3\n"),
            (
                "A = 1\nB = 2\n\n\ndef g(): ...\n",
                "B",
                "A = 1\n\n\ndef g(): ...\n",
            ),
            (
                "A = 1\n\n\n# f\n@d\ndef f():\n    pass  # x\n\n\ndef g(): ...\n",
                "f",
                "A = 1\n\n\ndef g(): ...\n",
            ),
            ("A = 1\n\n\ndef f(): ...\n", "f", "A = 1\n"),
            (
                "# head\ndef f(): ...\n\n\nA = 1\n",
                "f",
                "# head\n\n\nA = 1\n",
            ),
            ("def f(): ...\n", "f", ""),
        ] {
            let outline = Outline::new(before);
            let statement = outline
                .statements
                .iter()
                .find(|statement| statement.name.as_deref() == Some(name))
                .unwrap();
            let span = with_blanks(before, extent(before, statement).unwrap());
            let mut text = before.to_owned();
            text.replace_range(span.start as usize..span.end as usize, "");
            assert_eq!(text, after, "{before}");
        }
    }
}
