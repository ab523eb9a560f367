//! Whole lines: how a declaration leaves a text without a scar, and where one is put in.

pub(super) use coalesce_model::lines::{line_break, line_end, line_start, with_spaces};
use coalesce_model::{ByteSpan, lines};

use crate::lexer::{self, TokenKind};

fn offset(at: usize) -> u32 {
    ByteSpan::from_range(0..at).end
}

/// What stands before a declaration on its line, if that is only space or the marks of a doc comment.
pub(super) fn prefix(text: &str, at: u32) -> Option<&str> {
    let prefix = text.get(line_start(text, at) as usize..at as usize)?;
    let mark = |c: char| c.is_whitespace() || matches!(c, '/' | '!' | '*' | '#');
    prefix.chars().all(mark).then_some(prefix)
}

/// A comment that follows on the same line, from the first byte after `span`.
pub(super) fn trailing_comment(text: &str, span: ByteSpan) -> Option<&str> {
    let end = line_end(text, span.end);
    let rest = text.get(span.end as usize..end as usize)?;
    rest.trim_start()
        .starts_with("//")
        .then(|| rest.trim_end_matches(['\n', '\r']))
}

/// The bytes that go when a declaration goes, with the comment that follows it on its line.
pub(super) fn removal(text: &str, span: ByteSpan) -> ByteSpan {
    let comment = trailing_comment(text, span).map_or(0, str::len);
    let with_comment = ByteSpan::new(span.start, span.end + offset(comment));
    let end = line_end(text, with_comment.end);
    let behind = text.get(with_comment.end as usize..end as usize);
    let is_last = behind.is_some_and(|behind| behind.trim().is_empty());
    match prefix(text, span.start) {
        Some(before) if before.trim().is_empty() => lines::removal(text, with_comment),
        // A line of a document goes with the marks of its comment.
        Some(_) if is_last => ByteSpan::new(line_start(text, span.start), end),
        _ => with_spaces(text, span),
    }
}

/// The span and the lines of comment directly above it.
pub(super) fn with_comments_above(text: &str, span: ByteSpan) -> ByteSpan {
    if prefix(text, span.start).is_none_or(|before| !before.trim().is_empty()) {
        return span;
    }
    let mut start = span.start;
    while let Some(end) = line_start(text, start).checked_sub(1) {
        let above = line_start(text, end);
        let line = text.get(above as usize..end as usize).unwrap_or_default();
        let own = line.trim_start();
        if !own.starts_with("//") || own.starts_with("//!") {
            break;
        }
        start = above + offset(line.len() - own.len());
    }
    ByteSpan::new(start, span.end)
}

/// Where the line of a byte begins; the byte itself where what is around it begins on that line.
pub(super) fn start_within(text: &str, at: u32, around: ByteSpan) -> u32 {
    let start = line_start(text, at);
    if start < around.start { at } else { start }
}

/// Where the line of a byte ends; the byte itself where what is around it ends on that line.
pub(super) fn end_within(text: &str, at: u32, around: ByteSpan) -> u32 {
    let end = line_end(text, at);
    let is_whole = around.start == 0 && around.end as usize == text.len();
    if end < around.end || is_whole {
        end
    } else {
        at
    }
}

/// Code at another depth: lines that start with `old` start with `new`, but for those that are part
/// of a literal.
pub(super) fn reindented(code: &str, old: &str, new: &str) -> String {
    let whole = ByteSpan::new(0, u32::try_from(code.len()).unwrap_or(u32::MAX));
    let literals: Vec<ByteSpan> = lexer::tokens(code, whole)
        .into_iter()
        .filter(|token| matches!(token.kind, TokenKind::Text { .. } | TokenKind::Literal))
        .map(|token| token.span)
        .filter(|span| span.of(code).is_some_and(|text| text.contains('\n')))
        .collect();
    let mut result = String::with_capacity(code.len());
    let mut at = 0;
    for line in code.split_inclusive('\n') {
        let inside = literals.iter().any(|span| span.start < at && at < span.end);
        let rest = line.strip_prefix(old).unwrap_or(line);
        if inside {
            result.push_str(line);
        } else if rest.trim().is_empty() {
            result.push_str(rest);
        } else {
            result.push_str(new);
            result.push_str(rest);
        }
        at += u32::try_from(line.len()).unwrap_or(0);
    }
    result
}

/// Code as it stands at a depth of a text with these line ends: rustc reads both kinds as one, in literals too.
pub(super) fn laid_out(code: &str, indent: &str, line: &str) -> String {
    let code = reindented(code, "", indent);
    code.replace("\r\n", "\n").replace('\n', line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_leaves_no_scar() {
        for (text, word, left) in [
            ("mod a;\nmod b;\n", "mod a;", "mod b;\n"),
            (
                "use x;\n\nmod a;\n\nfn f() {}\n",
                "mod a;",
                "use x;\n\nfn f() {}\n",
            ),
            ("mod a; // why\nmod b;\n", "mod a;", "mod b;\n"),
            ("{ mod a; mod b; }", "mod a;", "{ mod b; }"),
            (
                "x;\r\n\r\nmod a;\r\n\r\ny;\r\n",
                "mod a;",
                "x;\r\n\r\ny;\r\n",
            ),
            ("x;\nmod a;\n\ny;\n", "mod a;", "x;\n\ny;\n"),
        ] {
            let at = text.find(word).unwrap();
            let span = removal(text, ByteSpan::from_range(at..at + word.len()));
            let mut result = text.to_owned();
            result.replace_range(span.range(), "");
            assert_eq!(result, left, "{text:?}");
        }
    }

    #[test]
    fn code_changes_its_depth_and_literals_do_not() {
        let code = "mod a {\n        const T: &str = \"x\n        y\";\n\n    }\n";
        assert_eq!(
            reindented(code, "    ", ""),
            "mod a {\n    const T: &str = \"x\n        y\";\n\n}\n"
        );
        assert_eq!(reindented("a;\nb;", "", "  "), "  a;\n  b;");
    }
}
