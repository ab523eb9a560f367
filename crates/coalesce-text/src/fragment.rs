//! Code inside another text: what it says, and where each byte of it stands.

use coalesce_model::{ByteSpan, Edit};

/// A piece of code taken out of a document.
#[derive(Debug, Default)]
pub struct Fragment {
    /// The code, without prefixes and escapes.
    pub code: String,
    /// For each byte of the code the byte of the file.
    offsets: Vec<u32>,
    /// What a line break in new code is in the file: it carries the prefix of the lines.
    newline: String,
}

impl Fragment {
    /// Lines of a document, each with the bytes to leave out at its start.
    pub fn from_lines(text: &str, lines: &[(ByteSpan, usize)]) -> Self {
        let mut fragment = Self {
            newline: "\n".to_owned(),
            ..Self::default()
        };
        for (line, prefix) in lines {
            let content = line.of(text).unwrap_or_default();
            let (head, rest) = content.split_at_checked(*prefix).unwrap_or(("", content));
            // The prefix of a first line may be a prompt; that of the next ones is what new lines need.
            fragment.newline = format!("\n{head}");
            fragment.push(rest, line.start + u32::try_from(head.len()).unwrap_or(0));
        }
        fragment
    }

    /// The strings of a JSON list, escapes resolved.
    pub fn from_json_strings(text: &str, strings: &[ByteSpan]) -> Self {
        let mut fragment = Self::default();
        // A notebook may be one line.
        let (mut line, mut seen) = (0, 0);
        for span in strings {
            let between = text.get(seen..span.start as usize).unwrap_or_default();
            line = between.rfind('\n').map_or(line, |at| seen + at + 1);
            seen = span.start as usize;
            let line = text.get(line..seen).unwrap_or_default();
            let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
            fragment.newline = format!("\\n\",\n{indent}\"");
            fragment.push_json(span.of(text).unwrap_or_default(), span.start);
        }
        fragment
    }

    fn push(&mut self, code: &str, start: u32) {
        let end = start + u32::try_from(code.len()).unwrap_or(0);
        self.code.push_str(code);
        self.offsets.extend(start..end);
    }

    fn push_json(&mut self, escaped: &str, start: u32) {
        let mut rest = escaped.char_indices();
        while let Some((at, c)) = rest.next() {
            let decoded = if c == '\\' {
                let Some((_, escape)) = rest.next() else {
                    break;
                };
                unescaped(escape)
            } else {
                c
            };
            let offset = start + u32::try_from(at).unwrap_or(0);
            self.code.push(decoded);
            self.offsets
                .extend(std::iter::repeat_n(offset, decoded.len_utf8()));
        }
    }

    /// The place in the file of a span of the code.
    pub fn span(&self, span: ByteSpan) -> Option<ByteSpan> {
        let start = self.offsets.get(span.start as usize).copied();
        let last = span
            .end
            .checked_sub(1)
            .and_then(|last| self.offsets.get(last as usize))
            .map(|last| last + 1);
        match (start, last) {
            (_, None) => start.map(ByteSpan::empty),
            (None, Some(end)) if span.is_empty() => Some(ByteSpan::empty(end)),
            (Some(start), Some(_)) if span.is_empty() => Some(ByteSpan::empty(start)),
            (Some(start), Some(end)) if end >= start => Some(ByteSpan::new(start, end)),
            _ => None,
        }
    }

    /// An edit of the code as an edit of the file.
    pub fn edit(&self, edit: &Edit) -> Option<Edit> {
        let span = self.span(edit.span)?;
        Some(Edit::replace(span, edit.text.replace('\n', &self.newline)))
    }
}

/// What an escape in JSON stands for, by the character behind the backslash.
const fn unescaped(escape: char) -> char {
    match escape {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        // Longer escapes stand for text that is no code we would change.
        'u' => '\u{fffd}',
        other => other,
    }
}
