//! The inside of paragraphs: definitions of references, and links.

use std::{collections::BTreeSet, ops::Range};

use super::LineRange;

/// A paragraph or heading, its lines joined.
#[derive(Default)]
pub(super) struct Paragraph {
    text: String,
    /// Where each line begins in the text, which line it is, and how much of that was left out before.
    lines: Vec<(usize, usize, usize)>,
    /// Whether an entry of a list begins with it.
    is_entry: bool,
}

impl Paragraph {
    pub(super) fn of_entry(is_entry: bool) -> Self {
        Self {
            is_entry,
            ..Self::default()
        }
    }

    pub(super) fn push(&mut self, line: usize, from: usize, text: &str) {
        if !self.lines.is_empty() {
            self.text.push('\n');
        }
        self.lines.push((self.text.len(), line, from));
        self.text.push_str(text);
    }

    /// Bytes of the text as bytes of a line; `None` for what goes over several.
    fn place(&self, range: &Range<usize>) -> Option<LineRange> {
        let at = self
            .lines
            .partition_point(|(start, ..)| *start <= range.start);
        let (start, line, from) = *self.lines.get(at.checked_sub(1)?)?;
        let is_one = !self.text.get(range.clone())?.contains('\n');
        is_one.then(|| LineRange {
            line,
            range: from + range.start - start..from + range.end - start,
        })
    }
}

/// What the links of paragraphs lead to, in order of the paragraphs.
pub(super) fn targets(paragraphs: &[Paragraph]) -> Vec<LineRange> {
    let mut labels = BTreeSet::new();
    let mut heads = Vec::new();
    for paragraph in paragraphs {
        let mut head = ParagraphHead::of(paragraph);
        labels.append(&mut head.labels);
        heads.push(head);
    }
    let mut found = Vec::new();
    for (paragraph, head) in paragraphs.iter().zip(heads) {
        let links = TextLinks {
            text: &paragraph.text,
            labels: &labels,
            openers: Vec::new(),
            found: Vec::new(),
        };
        let links = links.read(head.end);
        let targets = head.targets.into_iter().chain(links);
        found.extend(targets.filter_map(|range| paragraph.place(&range)));
    }
    found
}

/// What a paragraph begins with that is none of its text.
#[derive(Default)]
struct ParagraphHead {
    labels: BTreeSet<String>,
    targets: Vec<Range<usize>>,
    end: usize,
}

impl ParagraphHead {
    fn of(paragraph: &Paragraph) -> Self {
        let text = paragraph.text.as_str();
        let mut head = Self::default();
        let tasks = ["[ ] ", "[x] ", "[X] "];
        if paragraph.is_entry && tasks.iter().any(|task| text.starts_with(task)) {
            head.end = 4;
            return head;
        }
        while let Some(definition) = Definition::at(text, head.end) {
            head.labels.insert(definition.label);
            head.targets.push(definition.target);
            head.end = definition.end;
        }
        if text
            .get(head.end..)
            .is_some_and(|rest| rest.starts_with("[^"))
        {
            let note = label_end(text, head.end);
            let note =
                note.filter(|end| text.get(*end..).is_some_and(|rest| rest.starts_with(':')));
            head.end = note.map_or(head.end, |end| end + 1);
        }
        head
    }
}

/// `[label]: target "title"`
struct Definition {
    label: String,
    target: Range<usize>,
    end: usize,
}

impl Definition {
    fn at(text: &str, start: usize) -> Option<Self> {
        let close = label_end(text, start)?;
        let label = text.get(start + 1..close - 1)?;
        if label.trim().is_empty() || label.starts_with('^') {
            return None;
        }
        let rest = text.get(close..)?;
        let target = close + 1 + blank(rest.strip_prefix(':')?)?;
        let (target, end) = target_at(text, target, false)?;
        let behind = text.get(end..)?;
        let line_end = end + behind.find('\n').unwrap_or(behind.len());
        let title = blank(behind).filter(|len| *len > 0);
        let title = title.and_then(|len| title_end(text, end + len));
        let title = title.and_then(|end| end_of_line(text, end));
        let end = match title {
            Some(end) => end,
            None if text.get(end..line_end)?.trim().is_empty() => line_end,
            None => return None,
        };
        Some(Self {
            label: normalized(label),
            target,
            end: (end + 1).min(text.len()),
        })
    }
}

/// How labels are compared.
fn normalized(label: &str) -> String {
    let words: Vec<&str> = label.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// One past the `]` of a label that begins at a place.
fn label_end(text: &str, start: usize) -> Option<usize> {
    let rest = text.get(start..)?.strip_prefix('[')?;
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' => return None,
            b']' => return Some(start + at + 2),
            _ => {}
        }
    }
    None
}

/// How much white space a text begins with, at most one line break in it.
fn blank(text: &str) -> Option<usize> {
    let len = text.len() - text.trim_start().len();
    let breaks = text.get(..len)?.matches('\n').count();
    (breaks <= 1).then_some(len)
}

/// The end of a line, where nothing follows on it.
fn end_of_line(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let len = rest.find('\n').unwrap_or(rest.len());
    rest.get(..len)?.trim().is_empty().then_some(at + len)
}

/// One past a title that begins at a place.
fn title_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let close = match rest.as_bytes().first()? {
        b'"' => b'"',
        b'\'' => b'\'',
        b'(' => b')',
        _ => return None,
    };
    let mut escaped = false;
    for (len, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == close => return Some(at + len + 1),
            _ => {}
        }
    }
    None
}

/// A target that begins at a place, and one past it; in parentheses it ends with them.
fn target_at(text: &str, at: usize, in_parentheses: bool) -> Option<(Range<usize>, usize)> {
    let rest = text.get(at..)?;
    if let Some(inner) = rest.strip_prefix('<') {
        let len = inner.find(['>', '\n', '<'])?;
        let is_closed = inner.get(len..)?.starts_with('>');
        return is_closed.then_some((at + 1..at + 1 + len, at + len + 2));
    }
    let mut depth = 0_usize;
    let mut len = 0;
    for byte in rest.bytes() {
        match byte {
            _ if byte.is_ascii_whitespace() => break,
            b'(' => depth += 1,
            b')' if depth == 0 && in_parentheses => break,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        len += 1;
    }
    (len > 0 && depth == 0).then_some((at..at + len, at + len))
}

struct Opener {
    /// One past the bracket.
    at: usize,
    is_image: bool,
    /// Links hold no links.
    is_active: bool,
}

/// The links of one text.
struct TextLinks<'t> {
    text: &'t str,
    labels: &'t BTreeSet<String>,
    openers: Vec<Opener>,
    found: Vec<Range<usize>>,
}

impl TextLinks<'_> {
    fn read(mut self, start: usize) -> Vec<Range<usize>> {
        let bytes = self.text.as_bytes();
        let mut at = start;
        while let Some(byte) = bytes.get(at) {
            at = match byte {
                b'\\' => at + 2,
                b'`' => self.behind_ticks(at),
                b'<' => self.behind_tag(at),
                b'!' if bytes.get(at + 1) == Some(&b'[') => self.open(at + 2, true),
                b'[' => self.open(at + 1, false),
                b']' => self.close(at),
                _ => at + 1,
            };
        }
        self.found
    }

    fn open(&mut self, at: usize, is_image: bool) -> usize {
        self.openers.push(Opener {
            at,
            is_image,
            is_active: true,
        });
        at
    }

    /// One past the code that begins at a place, or past its ticks where nothing ends it.
    fn behind_ticks(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let len = rest.bytes().take_while(|byte| *byte == b'`').count();
        let mut from = len;
        while let Some(next) = rest.get(from..).and_then(|rest| rest.find('`')) {
            let start = from + next;
            let ticks = rest.bytes().skip(start).take_while(|byte| *byte == b'`');
            let ticks = ticks.count();
            from = start + ticks;
            if ticks == len {
                return at + from;
            }
        }
        at + len
    }

    /// One past the tag or address that begins at a place.
    fn behind_tag(&self, at: usize) -> usize {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        let opens = rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!'));
        let end = rest.find(['>', '<']).filter(|_| opens);
        let end = end.filter(|end| rest.as_bytes().get(*end) == Some(&b'>'));
        end.map_or(at + 1, |end| at + end + 2)
    }

    /// Ends the link that a bracket closes; gives where to go on.
    fn close(&mut self, at: usize) -> usize {
        let Some(opener) = self.openers.pop().filter(|opener| opener.is_active) else {
            return at + 1;
        };
        let label = opener.at..at;
        let (target, end, is_name) = self
            .inline_target(at + 1)
            .map(|(target, end)| (target, end, false))
            .or_else(|| self.reference(label.clone(), at + 1))
            .unwrap_or((label, at + 1, true));
        if opener.is_image {
            return end;
        }
        let name = self.text.get(target.clone()).unwrap_or_default();
        if !(is_name && (name.starts_with('^') || self.labels.contains(&normalized(name)))) {
            self.found.push(target);
        }
        for opener in self.openers.iter_mut().filter(|one| !one.is_image) {
            opener.is_active = false;
        }
        end
    }

    /// `(target "title")`, and one past it.
    fn inline_target(&self, at: usize) -> Option<(Range<usize>, usize)> {
        let rest = self.text.get(at..)?.strip_prefix('(')?;
        let start = at + 1 + blank(rest)?;
        let (target, end) = target_at(self.text, start, true)?;
        let space = blank(self.text.get(end..)?)?;
        let end = title_end(self.text, end + space)
            .filter(|_| space > 0)
            .unwrap_or(end);
        let end = end + blank(self.text.get(end..)?)?;
        let closed = self.text.get(end..)?.starts_with(')');
        closed.then_some((target, end + 1))
    }

    /// `[label]` or `[]` behind a text, and one past it; what is looked up is a name.
    fn reference(&self, label: Range<usize>, at: usize) -> Option<(Range<usize>, usize, bool)> {
        let end = label_end(self.text, at)?;
        let inner = at + 1..end - 1;
        let is_empty = self.text.get(inner.clone())?.trim().is_empty();
        Some((if is_empty { label } else { inner }, end, true))
    }
}
