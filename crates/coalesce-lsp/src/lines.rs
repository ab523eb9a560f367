//! Between byte offsets, which everything here is about, and the lines and columns of the protocol.

use std::ops::Range;

use coalesce_model::texts::start_of_text;
use lsp_types::{Position, PositionEncodingKind};

/// What a column counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Code units of UTF-16, as every client understands.
    #[default]
    Utf16,
}

impl Encoding {
    /// As the protocol calls it.
    #[must_use]
    pub const fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn length(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            Self::Utf16 => text.encode_utf16().count(),
        }
    }
}

/// A text whose lines are known. A byte-order mark counts in offsets and is no column: editors do not
/// show it.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    /// Offset of the first byte of each line.
    starts: Vec<usize>,
    encoding: Encoding,
}

impl<'t> Lines<'t> {
    /// Finds the lines of a text. They end as the protocol has it: `\n`, `\r\n` or `\r`.
    #[must_use]
    pub fn new(text: &'t str, encoding: Encoding) -> Self {
        let bytes = text.as_bytes();
        let mark = start_of_text(text) as usize;
        let mut starts = vec![mark];
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                starts.push(at + 1);
            }
        }
        Self {
            text,
            starts,
            encoding,
        }
    }

    /// The place of a byte.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let line = line.saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or_default();
        Position::new(number(line), number(self.encoding.length(before)))
    }

    /// The places of the ends of a range.
    #[must_use]
    pub fn range(&self, range: Range<usize>) -> lsp_types::Range {
        lsp_types::Range::new(self.position(range.start), self.position(range.end))
    }

    /// The byte at a place; `None` where the text has no such line. A column behind the end of a line
    /// is its end, as the protocol has it.
    #[must_use]
    pub fn offset(&self, position: Position) -> Option<usize> {
        let line = usize::try_from(position.line).ok()?;
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).copied();
        let line = self.text.get(start..end.unwrap_or(self.text.len()))?;
        let line = line.trim_end_matches(['\n', '\r']);
        let wanted = usize::try_from(position.character).ok()?;
        let mut column = 0;
        for (at, character) in line.char_indices() {
            if column >= wanted {
                return Some(start + at);
            }
            column += self.encoding.length(character.encode_utf8(&mut [0; 4]));
        }
        Some(start + line.len())
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_to_bytes_and_back() {
        let text = "\u{feff}a𝄞b\r\nx\rée\n";
        for (encoding, b) in [(Encoding::Utf16, 3), (Encoding::Utf8, 5)] {
            let lines = Lines::new(text, encoding);
            for (offset, place) in [(3, (0, 0)), (8, (0, b)), (11, (1, 0)), (13, (2, 0))] {
                let position = Position::new(place.0, place.1);
                assert_eq!(lines.position(offset), position);
                assert_eq!(lines.offset(position), Some(offset));
            }
            assert_eq!(lines.offset(Position::new(1, 99)), Some(12));
            assert_eq!(lines.offset(Position::new(3, 0)), Some(text.len()));
            assert_eq!(lines.offset(Position::new(4, 0)), None);
        }
    }
}
