//! Whole lines: how a declaration leaves a text without a scar, and where one is put in.

use coalesce_model::ByteSpan;

use crate::lexer::{self, TokenKind};

/// The line break that a text uses.
pub(super) fn line_break(text: &str) -> &'static str {
    let first = text.find('\n').unwrap_or(0);
    if first > 0 && text.as_bytes().get(first - 1) == Some(&b'\r') {
        "\r\n"
    } else {
        "\n"
    }
}

/// First byte of the line that holds `at`.
pub(super) fn line_start(text: &str, at: u32) -> u32 {
    let before = text.get(..at as usize).unwrap_or_default();
    offset(before.rfind('\n').map_or(0, |end| end + 1))
}

/// First byte after the line that holds `at`, its break included.
pub(super) fn line_end(text: &str, at: u32) -> u32 {
    let after = text.get(at as usize..).unwrap_or_default();
    let length = after.find('\n').map_or(after.len(), |end| end + 1);
    at + offset(length)
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
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

/// The span and the spaces behind it.
pub(super) fn with_spaces(text: &str, span: ByteSpan) -> ByteSpan {
    let after = text.get(span.end as usize..).unwrap_or_default();
    let spaces = after.len() - after.trim_start_matches([' ', '\t']).len();
    ByteSpan::new(span.start, span.end + offset(spaces))
}

/// The bytes that go when a declaration goes: its lines where it has them for itself, and one of two
/// blank lines that would meet.
pub(super) fn removal(text: &str, span: ByteSpan) -> ByteSpan {
    let (start, end) = (line_start(text, span.start), line_end(text, span.end));
    let before = text
        .get(start as usize..span.start as usize)
        .unwrap_or_default();
    let after = text
        .get(span.end as usize..end as usize)
        .unwrap_or_default();
    let comment = trailing_comment(text, span).is_some();
    if !before.trim().is_empty() || !(after.trim().is_empty() || comment) {
        return with_spaces(text, span);
    }
    let next_end = line_end(text, end);
    let next = text
        .get(end as usize..next_end as usize)
        .unwrap_or_default();
    let above = text.get(..start as usize).unwrap_or_default();
    let above = above.trim_end_matches([' ', '\t']);
    let opens = above.is_empty()
        || above.trim_end().ends_with('{')
        || above.ends_with("\n\n")
        || above.ends_with("\n\r\n");
    let blank_next = next.trim().is_empty() && !next.is_empty();
    if opens && blank_next {
        ByteSpan::new(start, next_end)
    } else {
        ByteSpan::new(start, end)
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
