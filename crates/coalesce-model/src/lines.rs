//! Lines of a text by byte offset, whatever the language: how a statement leaves a text without a
//! scar, and where one is put in.

use crate::ByteSpan;

/// The line break that a text uses.
#[must_use]
pub fn line_break(text: &str) -> &'static str {
    let first = text.find('\n').unwrap_or(0);
    if first > 0 && text.as_bytes().get(first - 1) == Some(&b'\r') {
        "\r\n"
    } else {
        "\n"
    }
}

/// First byte of the line that holds `at`.
#[must_use]
pub fn line_start(text: &str, at: u32) -> u32 {
    let before = text.get(..at as usize).unwrap_or_default();
    offset(before.rfind('\n').map_or(0, |end| end + 1))
}

/// First byte after the line that holds `at`, its break included.
#[must_use]
pub fn line_end(text: &str, at: u32) -> u32 {
    let after = text.get(at as usize..).unwrap_or_default();
    at + offset(after.find('\n').map_or(after.len(), |end| end + 1))
}

fn offset(at: usize) -> u32 {
    ByteSpan::from_range(0..at).end
}

/// The span and the spaces behind it.
#[must_use]
pub fn with_spaces(text: &str, span: ByteSpan) -> ByteSpan {
    let after = text.get(span.end as usize..).unwrap_or_default();
    let spaces = after.len() - after.trim_start_matches([' ', '\t']).len();
    ByteSpan::new(span.start, span.end + offset(spaces))
}

/// The bytes that go when a statement goes: its lines where it has them for itself, and one of two
/// blank lines that would meet. A comment behind it that goes along is part of `span`.
#[must_use]
pub fn removal(text: &str, span: ByteSpan) -> ByteSpan {
    let (start, end) = (line_start(text, span.start), line_end(text, span.end));
    let part = |start: u32, end: u32| ByteSpan::new(start, end).of(text).unwrap_or_default();
    let alone = part(start, span.start).trim().is_empty() && part(span.end, end).trim().is_empty();
    if !alone {
        return with_spaces(text, span);
    }
    let next_end = line_end(text, end);
    let next = part(end, next_end);
    let above = part(0, start).trim_end_matches([' ', '\t']);
    let opens = above.is_empty()
        || above.trim_end().ends_with('{')
        || above.ends_with("\n\n")
        || above.ends_with("\n\r\n");
    if opens && next.trim().is_empty() && !next.is_empty() {
        ByteSpan::new(start, next_end)
    } else {
        ByteSpan::new(start, end)
    }
}

/// The lines of a text without their ends, each with its first byte.
///
/// ```
/// use coalesce_model::lines::placed_lines;
/// let lines: Vec<_> = placed_lines("a\r\nb").collect();
/// assert_eq!(lines, [(0, "a"), (3, "b")]);
/// ```
pub fn placed_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line.trim_end_matches(['\n', '\r']))
    })
}
