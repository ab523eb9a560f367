//! Byte spans and the way from a byte to a line and a column.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A half-open range of bytes, `start..end`, in the original text of one file.
///
/// Offsets are 32 bits: the tree reader skips larger files, and says so.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
pub struct ByteSpan {
    /// First byte, 0-based.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl ByteSpan {
    /// The span `start..end`.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        debug_assert!(start <= end);
        Self { start, end }
    }

    /// The span of a slice range; offsets beyond 4 GiB saturate.
    #[must_use]
    pub fn from_range(range: std::ops::Range<usize>) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self::new(clamp(range.start), clamp(range.end))
    }

    /// An empty span: a place between two bytes.
    #[must_use]
    pub const fn empty(at: u32) -> Self {
        Self { start: at, end: at }
    }

    /// Length in bytes.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether it covers no byte.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The same bytes as a slice index.
    #[must_use]
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The text under the span, or `None` when it is not inside `text` or cuts a character.
    #[must_use]
    pub fn of(self, text: &str) -> Option<&str> {
        text.get(self.range())
    }

    /// The text under the span; empty where there is no span, or it is not inside of `text`.
    #[must_use]
    pub fn text_under(span: Option<Self>, text: &str) -> &str {
        span.and_then(|span| span.of(text)).unwrap_or("")
    }

    /// Whether `other` lies wholly inside.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn cover(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// Spans in their order; those that meet or overlap are one.
    #[must_use]
    pub fn united(mut spans: Vec<Self>) -> Vec<Self> {
        spans.sort();
        let mut result: Vec<Self> = Vec::with_capacity(spans.len());
        for span in spans {
            match result.last_mut() {
                Some(last) if span.start <= last.end => *last = last.cover(span),
                _ => result.push(span),
            }
        }
        result
    }

    /// The span moved right by `bytes`.
    #[must_use]
    pub const fn shifted(self, bytes: u32) -> Self {
        Self {
            start: self.start + bytes,
            end: self.end + bytes,
        }
    }
}

/// A place as a person reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line number, 1-based.
    pub line: u32,
    /// Column in characters, 1-based.
    pub column: u32,
}

/// Where the lines of one text start; `\n`, `\r\n` and a lone `\r` each end one.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
    /// Of a text with long lines, the characters before each multiple of [`STEP`] bytes: columns are not counted
    /// from the beginning of such a line again and again.
    characters: Vec<u32>,
}

/// Bytes that are counted through for a column.
const STEP: usize = 4096;

/// Characters that begin in some bytes of UTF-8.
fn count_characters(bytes: &[u8]) -> u32 {
    let begin = bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80);
    u32::try_from(begin.count()).unwrap_or(u32::MAX)
}

impl LineIndex {
    /// Indexes `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        // Counting is a fraction of looking, and the list does not grow line by line.
        let mut starts = Vec::with_capacity(memchr::memchr_iter(b'\n', bytes).count() + 1);
        starts.push(0);
        if memchr::memchr(b'\r', bytes).is_none() {
            let ends = memchr::memchr_iter(b'\n', bytes);
            starts.extend(ends.map(|at| ByteSpan::from_range(at..at + 1).end));
            return Self::of_lines(starts, bytes);
        }
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let crlf = bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
            if !crlf {
                starts.push(ByteSpan::from_range(at..at + 1).end);
            }
        }
        Self::of_lines(starts, bytes)
    }

    fn of_lines(starts: Vec<u32>, bytes: &[u8]) -> Self {
        let ends = starts.iter().skip(1).map(|start| *start as usize);
        let mut lines = starts.iter().zip(ends.chain([bytes.len()]));
        let mut characters = Vec::new();
        if lines.any(|(start, end)| end.saturating_sub(*start as usize) > STEP) {
            let mut before = 0;
            for piece in bytes.chunks(STEP) {
                characters.push(before);
                before += count_characters(piece);
            }
        }
        Self { starts, characters }
    }

    /// Characters in front of a byte that are known, and the byte up to which they were counted.
    fn counted(&self, offset: usize) -> Option<(u32, usize)> {
        let step = offset / STEP;
        Some((*self.characters.get(step)?, step * STEP))
    }

    /// Number of lines, as an editor counts them: the last one counts when it holds text.
    #[must_use]
    pub fn line_count(&self, text: &str) -> u32 {
        let ends_open = self
            .starts
            .last()
            .is_some_and(|start| (*start as usize) < text.len());
        let full = u32::try_from(self.starts.len()).unwrap_or(u32::MAX);
        full - u32::from(!ends_open)
    }

    /// The line number (1-based) of a byte.
    #[must_use]
    pub fn line_number(&self, offset: u32) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }

    /// First byte of a 1-based line, or `None` when there is no such line.
    #[must_use]
    pub fn line_start(&self, line_number: u32) -> Option<u32> {
        self.starts
            .get(line_number.checked_sub(1)? as usize)
            .copied()
    }

    /// Line and column of a byte of `text`, which must be the text that was indexed.
    #[must_use]
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let line = self.line_number(offset);
        let start = self.line_start(line).unwrap_or(0) as usize;
        let end = (offset as usize).min(text.len());
        let before = text.as_bytes().get(start..end).unwrap_or_default();
        let rest = |from: usize, to: usize| {
            let between = text.as_bytes().get(from..to).unwrap_or_default();
            count_characters(between)
        };
        let characters = match (self.counted(start), self.counted(end)) {
            (Some((to_start, from)), Some((to_end, at))) if before.len() > STEP => {
                to_end + rest(at, end) - to_start - rest(from, start)
            }
            _ => count_characters(before),
        };
        let bom = u32::from(start == 0 && before.starts_with("\u{feff}".as_bytes()));
        let column = characters.min(u32::MAX - 1) + 1 - bom;
        Position { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_long_lines_are_those_of_counting() {
        let long = "aé漢🦀".repeat(3_000);
        let text = format!("\u{feff}{long}\nshort\r\n{long}");
        let index = LineIndex::new(&text);
        assert!(!index.characters.is_empty());
        let mut column = 0;
        let mut line = 1;
        for (at, found) in text.char_indices() {
            column += u32::from(found != '\u{feff}');
            let expected = Position {
                line,
                column: column.max(1),
            };
            assert_eq!(index.position(&text, at as u32), expected, "{at}");
            if found == '\n' {
                (line, column) = (line + 1, 0);
            }
        }
        assert!(LineIndex::new("short\n").characters.is_empty());
    }

    #[test]
    fn every_line_ending_counts_once() {
        let text = "a\nb\r\nc\rd";
        let index = LineIndex::new(text);
        assert_eq!(index.line_count(text), 4);
        assert_eq!(index.position(text, 5), Position { line: 3, column: 1 });
        assert_eq!(index.position(text, 7), Position { line: 4, column: 1 });
    }

    #[test]
    fn columns_count_characters_not_bytes_and_not_the_bom() {
        let text = "\u{feff}é = 1";
        assert_eq!(
            LineIndex::new(text).position(text, 3),
            Position { line: 1, column: 1 }
        );
        assert_eq!(
            LineIndex::new(text).position(text, 6),
            Position { line: 1, column: 3 }
        );
    }

    #[test]
    fn an_empty_text_has_no_line() {
        assert_eq!(LineIndex::new("").line_count(""), 0);
        assert_eq!(LineIndex::new("x\n").line_count("x\n"), 1);
    }
}
