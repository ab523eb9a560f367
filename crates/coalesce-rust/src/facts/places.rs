//! From the parser's positions to bytes of the file.

use coalesce_model::ByteSpan;
use proc_macro2::Span;

use super::source::index;
use crate::lexer;

/// Turns the parser's positions into bytes of the file.
pub(super) struct Places<'t> {
    text: &'t str,
    ascii: bool,
    lines: Vec<u32>,
}

impl<'t> Places<'t> {
    /// For a text whose parsed part starts at `base`.
    pub fn new(text: &'t str, base: u32) -> Self {
        let rest = text.as_bytes().get(base as usize..).unwrap_or_default();
        let mut lines = vec![base];
        lines.extend(memchr::memchr_iter(b'\n', rest).map(|at| base + index(at) + 1));
        Self {
            text,
            ascii: text.is_ascii(),
            lines,
        }
    }

    /// For code whose lines start at these bytes of the file.
    pub fn of_lines(text: &'t str, lines: Vec<u32>) -> Self {
        // Nothing is read but these lines: a file may have thousands of such pieces.
        let first = lines.iter().min().map_or(0, |line| *line as usize);
        let last = lines.iter().max().map_or(0, |line| *line as usize);
        let bytes = text.as_bytes();
        let rest = bytes.get(last..).unwrap_or_default();
        let end = last + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        Self {
            text,
            ascii: bytes.get(first..end).unwrap_or_default().is_ascii(),
            lines,
        }
    }

    /// The first byte of a token.
    pub fn start(&self, span: Span) -> u32 {
        let place = span.start();
        let line = self
            .lines
            .get(place.line.saturating_sub(1))
            .or(self.lines.last())
            .copied()
            .unwrap_or(0);
        if self.ascii {
            return line + index(place.column);
        }
        let rest = self.text.get(line as usize..).unwrap_or_default();
        let bytes: usize = rest.chars().take(place.column).map(char::len_utf8).sum();
        line + index(bytes)
    }

    /// One past the single character at `span`: a delimiter, a `;`, the end of a doc comment.
    pub fn past(&self, span: Span) -> u32 {
        let start = self.start(span);
        let rest = self.text.get(start as usize..).unwrap_or_default();
        start
            + rest
                .chars()
                .next()
                .map_or(0, |character| index(character.len_utf8()))
    }

    /// The place of an identifier.
    pub fn ident(&self, ident: &syn::Ident) -> ByteSpan {
        let start = self.start(ident.span());
        ByteSpan::new(start, lexer::ident_end(self.text, start))
    }

    /// What stands between two delimiters.
    pub fn between(&self, delimiters: &proc_macro2::extra::DelimSpan) -> ByteSpan {
        let open = self.past(delimiters.open());
        ByteSpan::new(open, self.start(delimiters.close()).max(open))
    }

    /// From the first to the last token of a stream.
    pub fn tokens(&self, tokens: &proc_macro2::TokenStream) -> Option<ByteSpan> {
        let start = tokens.clone().into_iter().next()?.span();
        let last = tokens.clone().into_iter().last()?;
        let start = self.start(start);
        let end = match last {
            proc_macro2::TokenTree::Group(group) => self.past(group.span_close()),
            other => self.start(other.span()) + index(other.to_string().len()),
        };
        Some(ByteSpan::new(start, end.max(start)))
    }
}
