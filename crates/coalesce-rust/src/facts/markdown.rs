//! Markdown as rustdoc reads it, as far as names stand in it: blocks of code, and links with what they lead to.
//!
//! Containers (quotes, entries of lists) are followed line by line, as CommonMark has it. `[name]: other` is the
//! definition of a reference only where a paragraph begins with it and nothing but a target and a title follow; a
//! link before a colon is a link otherwise.

mod inlines;

use std::ops::Range;

use inlines::Paragraph;

/// Bytes of one of the lines that were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineRange {
    pub line: usize,
    pub range: Range<usize>,
}

/// A block of code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CodeBlock {
    /// What stands behind the fence; nothing where the block is only indented.
    pub info: String,
    pub lines: Vec<LineRange>,
}

/// What is read of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Markdown {
    pub code: Vec<CodeBlock>,
    /// What links lead to, as it is written.
    pub targets: Vec<LineRange>,
}

/// Reads the lines of one text.
pub(super) fn read(lines: &[&str]) -> Markdown {
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    let margin = filled.map(|line| blank_at(line, 0).bytes).min();
    let mut blocks = Blocks {
        lines,
        ..Blocks::default()
    };
    for (at, line) in lines.iter().enumerate() {
        blocks.line(at, margin.unwrap_or(0).min(line.len()));
    }
    blocks.close();
    Markdown {
        code: blocks.code,
        targets: inlines::targets(&blocks.paragraphs),
    }
}

/// White space that a line goes on with.
struct Blank {
    /// In columns: a tab counts as four.
    width: usize,
    bytes: usize,
}

fn blank_at(line: &str, at: usize) -> Blank {
    let rest = line.get(at..).unwrap_or_default();
    let blank = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    let mut found = Blank { width: 0, bytes: 0 };
    for byte in blank {
        found.width += if byte == b'\t' { 4 } else { 1 };
        found.bytes += 1;
    }
    found
}

/// So many columns of white space make a line one of code.
const CODE_INDENTATION: usize = 4;

/// What a line may stand in.
#[derive(Clone, Copy)]
enum Container {
    Quote,
    /// An entry of a list, with the columns that its text is indented by.
    Entry(usize),
}

/// The block that is open below all containers.
#[derive(Default)]
enum LeafBlock {
    #[default]
    None,
    Paragraph(Paragraph),
    /// With the number of containers around it.
    Fenced(Fence, CodeBlock, usize),
    Indented(CodeBlock),
    /// Up to a line with this in it, or else up to an empty one.
    Html(Option<&'static str>),
}

#[derive(Clone, Copy)]
struct Fence {
    mark: u8,
    len: usize,
}

impl Fence {
    fn is_closed_by(self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.len && text.bytes().all(|byte| byte == self.mark)
    }
}

/// The fence that a text begins with, and what stands behind it.
fn fence(text: &str) -> Option<(Fence, &str)> {
    let first = text.as_bytes().first();
    let mark = *first.filter(|byte| matches!(byte, b'`' | b'~'))?;
    let len = text.bytes().take_while(|byte| *byte == mark).count();
    let info = text.get(len..).unwrap_or_default().trim();
    let opens = len >= 3 && !(mark == b'`' && info.contains('`'));
    opens.then_some((Fence { mark, len }, info))
}

/// The blocks of a text, while its lines are read.
#[derive(Default)]
struct Blocks<'t> {
    lines: &'t [&'t str],
    containers: Vec<Container>,
    leaf: LeafBlock,
    code: Vec<CodeBlock>,
    paragraphs: Vec<Paragraph>,
}

/// Where in a line reading has come to.
#[derive(Clone, Copy)]
struct Cursor {
    line: usize,
    at: usize,
    /// How many of the open containers the line goes on with.
    matched: usize,
    /// Whether the line itself opened the innermost container.
    is_fresh: bool,
}

impl<'t> Blocks<'t> {
    fn line(&mut self, line: usize, margin: usize) {
        let mut cursor = self.follow_containers(line, margin);
        if let LeafBlock::Fenced(fence, block, depth) = &mut self.leaf {
            if cursor.matched >= *depth {
                let text = rest_of(self.lines, cursor);
                if fence.is_closed_by(text) {
                    self.close();
                } else {
                    block.lines.push(rest_range(self.lines, cursor));
                }
                return;
            }
            self.close();
        }
        if rest_of(self.lines, cursor).trim().is_empty() {
            self.empty_line(cursor);
            return;
        }
        if let LeafBlock::Html(end) = self.leaf
            && cursor.matched == self.containers.len()
        {
            let is_last = end.is_some_and(|end| rest_of(self.lines, cursor).contains(end));
            if is_last {
                self.close();
            }
            return;
        }
        while self.open_container(&mut cursor) {}
        self.leaf(cursor);
    }

    /// Holds a line against the containers that are open.
    fn follow_containers(&self, line: usize, margin: usize) -> Cursor {
        let text = self.lines.get(line).copied().unwrap_or_default();
        let mut cursor = Cursor {
            line,
            at: margin,
            matched: 0,
            is_fresh: false,
        };
        for container in &self.containers {
            let blank = blank_at(text, cursor.at);
            let rest = text.get(cursor.at + blank.bytes..).unwrap_or_default();
            match container {
                Container::Quote if blank.width < CODE_INDENTATION && rest.starts_with('>') => {
                    cursor.at += blank.bytes + 1;
                    cursor.at += blank_at(text, cursor.at).bytes.min(1);
                }
                Container::Entry(_) if rest.trim().is_empty() => {}
                Container::Entry(width) if blank.width >= *width => {
                    cursor.at += (*width).min(blank.bytes);
                }
                _ => break,
            }
            cursor.matched += 1;
        }
        cursor
    }

    fn empty_line(&mut self, cursor: Cursor) {
        match &mut self.leaf {
            LeafBlock::Indented(block) => block.lines.push(rest_range(self.lines, cursor)),
            LeafBlock::Html(Some(_)) => {}
            _ => self.close(),
        }
        self.containers.truncate(cursor.matched);
    }

    /// Opens the container that a line begins with here; whether there is one.
    fn open_container(&mut self, cursor: &mut Cursor) -> bool {
        let text = self.lines.get(cursor.line).copied().unwrap_or_default();
        let blank = blank_at(text, cursor.at);
        if blank.width >= CODE_INDENTATION {
            return false;
        }
        let rest = text.get(cursor.at + blank.bytes..).unwrap_or_default();
        let container = if rest.starts_with('>') {
            cursor.at += blank.bytes + 1;
            cursor.at += blank_at(text, cursor.at).bytes.min(1);
            Container::Quote
        } else {
            let interrupts = self.is_continued(*cursor) && cursor.matched == self.containers.len();
            let marker = list_marker(rest, interrupts);
            let Some(marker) = marker.filter(|_| !is_break(rest)) else {
                return false;
            };
            let behind = blank_at(rest, marker);
            let is_plain = (1..=CODE_INDENTATION).contains(&behind.width)
                && rest.len() > marker + behind.bytes;
            let (width, bytes) = match is_plain {
                true => (behind.width, behind.bytes),
                false => (1, behind.bytes.min(1)),
            };
            cursor.at += blank.bytes + marker + bytes;
            Container::Entry(blank.width + marker + width)
        };
        self.close();
        self.containers.truncate(cursor.matched);
        self.containers.push(container);
        cursor.matched += 1;
        cursor.is_fresh = true;
        true
    }

    /// Whether a paragraph is open that the line at a place may go on with.
    fn is_continued(&self, cursor: Cursor) -> bool {
        matches!(self.leaf, LeafBlock::Paragraph(_)) && !cursor.is_fresh
    }

    /// What a line is below its containers.
    fn leaf(&mut self, mut cursor: Cursor) {
        let text = self.lines.get(cursor.line).copied().unwrap_or_default();
        let blank = blank_at(text, cursor.at);
        let continues = self.is_continued(cursor);
        if blank.width >= CODE_INDENTATION && !continues {
            return self.indented(cursor);
        }
        cursor.at += blank.bytes;
        let rest = rest_of(self.lines, cursor);
        if rest.is_empty() {
            return self.close();
        }
        let is_inside = cursor.matched == self.containers.len();
        if blank.width >= CODE_INDENTATION {
            return self.push(cursor);
        }
        if let Some((fence, info)) = fence(rest) {
            self.begin(cursor);
            let block = CodeBlock {
                info: info.to_owned(),
                lines: Vec::new(),
            };
            self.leaf = LeafBlock::Fenced(fence, block, cursor.matched);
        } else if is_heading(rest) {
            self.begin(cursor);
            self.push(cursor);
            self.close();
        } else if is_break(rest) || continues && is_inside && is_underline(rest) {
            self.begin(cursor);
        } else if let Some(end) = html_end(rest) {
            self.begin(cursor);
            let is_whole = end.is_some_and(|end| rest.contains(end));
            self.leaf = if is_whole {
                LeafBlock::None
            } else {
                LeafBlock::Html(end)
            };
        } else {
            if !continues {
                self.begin(cursor);
            }
            self.push(cursor);
        }
    }

    /// A line of code that is only indented.
    fn indented(&mut self, mut cursor: Cursor) {
        let is_inside = cursor.matched == self.containers.len();
        if !(is_inside && matches!(self.leaf, LeafBlock::Indented(_))) {
            self.begin(cursor);
            self.leaf = LeafBlock::Indented(CodeBlock::default());
        }
        let text = self.lines.get(cursor.line).copied().unwrap_or_default();
        let tab = text.as_bytes().get(cursor.at) == Some(&b'\t');
        cursor.at += if tab { 1 } else { CODE_INDENTATION };
        if let LeafBlock::Indented(block) = &mut self.leaf {
            block.lines.push(rest_range(self.lines, cursor));
        }
    }

    /// Ends what was open, and the containers that a line does not go on with.
    fn begin(&mut self, cursor: Cursor) {
        self.close();
        self.containers.truncate(cursor.matched);
    }

    /// Adds a line to the paragraph that is open, or to a new one.
    fn push(&mut self, cursor: Cursor) {
        if !matches!(self.leaf, LeafBlock::Paragraph(_)) {
            self.leaf = LeafBlock::Paragraph(Paragraph::of_entry(cursor.is_fresh));
        }
        if let LeafBlock::Paragraph(paragraph) = &mut self.leaf {
            paragraph.push(cursor.line, cursor.at, rest_of(self.lines, cursor));
        }
    }

    /// Ends the block that is open.
    fn close(&mut self) {
        match std::mem::take(&mut self.leaf) {
            LeafBlock::Paragraph(paragraph) => self.paragraphs.push(paragraph),
            LeafBlock::Fenced(_, block, _) | LeafBlock::Indented(block) => self.code.push(block),
            LeafBlock::None | LeafBlock::Html(_) => {}
        }
    }
}

fn rest_of<'t>(lines: &'t [&'t str], cursor: Cursor) -> &'t str {
    let line = lines.get(cursor.line).copied().unwrap_or_default();
    line.get(cursor.at..).unwrap_or_default()
}

fn rest_range(lines: &[&str], cursor: Cursor) -> LineRange {
    let len = lines.get(cursor.line).map_or(0, |line| line.len());
    LineRange {
        line: cursor.line,
        range: cursor.at.min(len)..len,
    }
}

/// How long the marker of an entry of a list is that a text begins with. One that ends a paragraph has a text, and 1 for
/// its number.
fn list_marker(text: &str, ends_paragraph: bool) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text.get(..digits).unwrap_or_default();
    let mark = *text.as_bytes().get(digits)?;
    let is_marker = match digits {
        0 => matches!(mark, b'-' | b'*' | b'+'),
        1..=9 => matches!(mark, b'.' | b')') && (!ends_paragraph || number == "1"),
        _ => false,
    };
    let rest = text.get(digits + 1..).unwrap_or_default();
    let is_apart = rest.is_empty() || rest.starts_with([' ', '\t']);
    let fits = !ends_paragraph || !rest.trim().is_empty();
    (is_marker && is_apart && fits).then_some(digits + 1)
}

/// Whether a line is `---`, `***` or `___`.
fn is_break(text: &str) -> bool {
    let marks = text.trim_end().bytes().filter(|byte| *byte != b' ');
    let mut marks = marks.filter(|byte| *byte != b'\t').peekable();
    let first = marks.peek().copied().unwrap_or_default();
    let all: Vec<u8> = marks.collect();
    matches!(first, b'-' | b'*' | b'_') && all.len() >= 3 && all.iter().all(|one| *one == first)
}

/// Whether a line makes the paragraph above it a heading.
fn is_underline(text: &str) -> bool {
    let text = text.trim_end();
    let all = |mark: u8| text.bytes().all(|byte| byte == mark);
    !text.is_empty() && (all(b'=') || all(b'-'))
}

fn is_heading(text: &str) -> bool {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = text.get(level..).unwrap_or_default();
    (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// The elements that begin a block of HTML in CommonMark, as far as documentation has them.
const HTML_BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// Where a block of HTML ends that a text begins with: at a mark, or at an empty line.
fn html_end(text: &str) -> Option<Option<&'static str>> {
    let rest = text.strip_prefix('<')?;
    if rest.starts_with("!--") {
        return Some(Some("-->"));
    }
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let len = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let name = rest.get(..len).unwrap_or_default().to_ascii_lowercase();
    let behind = rest.get(len..).unwrap_or_default();
    let is_whole = behind.is_empty() || behind.starts_with([' ', '\t', '>', '/']);
    match name.as_str() {
        _ if !is_whole => None,
        "pre" => Some(Some("</pre>")),
        "script" => Some(Some("</script>")),
        "style" => Some(Some("</style>")),
        "textarea" => Some(Some("</textarea>")),
        name => HTML_BLOCKS.contains(&name).then_some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> (Vec<String>, Vec<String>) {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines);
        let said = |one: &LineRange| lines[one.line][one.range.clone()].to_owned();
        let code = found.code.iter().map(|block| {
            let lines: Vec<String> = block.lines.iter().map(said).collect();
            format!("{}: {}", block.info, lines.join("|").trim_end_matches('|'))
        });
        (code.collect(), found.targets.iter().map(said).collect())
    }

    #[test]
    fn links_lead_to_what_stands_behind_them_or_in_them() {
        for (text, expected) in [
            ("[`A`]", &["`A`"][..]),
            ("[text](a::B)", &["a::B"]),
            ("[text](<a::B> \"title\")", &["a::B"]),
            ("[text][a::B] and [a::C][]", &["a::B", "a::C"]),
            ("[one\ntwo](a::B)", &["a::B"]),
            ("[`[T]`](a::B) ![`c`](d.png)", &["a::B"]),
            ("`[A]` ``[`B`]`` \\[C] [D\\]", &[]),
            ("[`[u8]`](a::B)", &["a::B"]),
            ("<!-- [A] -->\n[B]", &["B"]),
            ("<div>\n[A]\n\n[B]", &["B"]),
            ("[^A]: [B] of it", &["B"]),
            ("- [x] [B]", &["B"]),
            ("# [A] #\n[B]\n===", &["A", "B"]),
        ] {
            assert_eq!(shown(text).1, expected, "{text}");
        }
    }

    #[test]
    fn a_definition_begins_a_paragraph_and_has_a_target_alone() {
        for (text, expected) in [
            ("[`A`]: a::B", &["a::B"][..]),
            ("[`A`]: a::B \"title\"", &["a::B"]),
            ("[`A`]: a::B\n  'title'", &["a::B"]),
            ("[`A`]: a::B\n'title' of", &["a::B"]),
            ("[`A`]:\n  a::B", &["a::B"]),
            ("[`A`]: <a::B>", &["a::B"]),
            ("See [`A`].\n\n[`A`]: a::B", &["a::B"]),
            ("[`A`]: which kind", &["`A`"]),
            ("- [`A`]: which kind\n- [`C`]: other", &["`A`", "other"]),
            ("* [`A`]: a::B", &["a::B"]),
            ("> [`A`]: quoted text", &["`A`"]),
            ("> [`A`]: a::B", &["a::B"]),
            ("text\n[`A`]: a::B", &["`A`"]),
            ("[`A`]: a::B\n[`C`]: a::D", &["a::B", "a::D"]),
            ("[`A`]:", &["`A`"]),
            ("[`A`]:\n\na::B", &["`A`"]),
            ("1. [`A`]: most", &["most"]),
            ("text\n2. [`A`]: most", &["`A`"]),
            ("    - [`A`]: which kind", &["`A`"]),
            ("[it][`A`]: text", &["`A`"]),
            ("[A B]: a::B\n\n[a\nb] [c][a b]", &["a::B"]),
        ] {
            assert_eq!(shown(text).1, expected, "{text}");
        }
    }

    #[test]
    fn code_is_fenced_or_indented() {
        for (text, expected) in [
            ("```rust\na\n\n  b\n```\n[c]", &["rust: a||  b"][..]),
            ("~~~\na\n```\n~~~", &[": a|```"]),
            (" text\n\n     a\n\n     b\n text", &[": a||b"]),
            ("text\n    lazy\n", &[]),
            ("- text\n\n  more\n\n      a\n", &[": a"]),
            ("- text\n\n    more\n", &[]),
            ("-     a\n", &[": a"]),
            ("> ```\n> a\n> ```\n", &[": a"]),
            ("> ```\n> a\nb\n", &[": a"]),
            ("1. text\n   ```\n   a\n   ```\n", &[": a"]),
            ("# Title\n    a\n", &[": a"]),
        ] {
            assert_eq!(shown(text).0, expected, "{text}");
        }
    }
}
