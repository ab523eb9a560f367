//! Markdown as rustdoc reads it, by the parser that rustdoc has: blocks of code, and links with what they lead to.
//!
//! Nothing is known here of Rust. What is found are places in the lines that were given; what goes over two lines, or is
//! not written as it is meant (`a&#58;&#58;b`), has none.

use std::ops::Range;

use pulldown_cmark::{
    BrokenLink, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd,
};

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

/// What rustdoc reads besides CommonMark.
const EXTENSIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_SMART_PUNCTUATION);

/// Reads the lines of one text.
pub(super) fn read(lines: &[&str]) -> Markdown {
    let joined = JoinedLines::of(lines);
    let parser = Parser::new_with_broken_link_callback(&joined.text, EXTENSIONS, Some(named));
    let definitions = parser.reference_definitions().iter();
    let mut targets: Vec<Range<usize>> = definitions
        .filter_map(|(_, definition)| joined.place_of(&definition.dest))
        .collect();
    let mut code = Vec::new();
    let mut open: Option<CodeBlock> = None;
    for event in parser {
        match event {
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                ..
            }) if says_target(link_type) => targets.extend(joined.place_of(&dest_url)),
            Event::Start(Tag::CodeBlock(kind)) => open = Some(CodeBlock::of(&kind)),
            Event::Text(said) => {
                if let Some(block) = &mut open
                    && let Some(place) = joined.place_of(&said)
                {
                    joined.add_lines(&place, &mut block.lines);
                }
            }
            Event::End(TagEnd::CodeBlock) => code.extend(open.take()),
            _ => {}
        }
    }
    targets.sort_by_key(|place| place.start);
    let targets = targets.iter().filter_map(|place| joined.on_line(place));
    Markdown {
        code,
        targets: targets.collect(),
    }
}

/// What brackets lead to that nothing defines: whatever stands in them may be the name of an item.
fn named(link: BrokenLink<'_>) -> Option<(CowStr<'_>, CowStr<'_>)> {
    Some((link.reference, CowStr::Borrowed("")))
}

/// Whether a link says itself what it leads to; what a definition says is taken from there.
const fn says_target(link: LinkType) -> bool {
    matches!(
        link,
        LinkType::Inline
            | LinkType::ReferenceUnknown
            | LinkType::CollapsedUnknown
            | LinkType::ShortcutUnknown
    )
}

impl CodeBlock {
    fn of(kind: &CodeBlockKind<'_>) -> Self {
        let info = match kind {
            CodeBlockKind::Fenced(info) => info.to_string(),
            CodeBlockKind::Indented => String::new(),
        };
        Self {
            info,
            lines: Vec::new(),
        }
    }
}

/// Lines as one text, without the white space that all of them begin with.
struct JoinedLines {
    text: String,
    /// Where each line begins in the text, and how much of it was left out before.
    starts: Vec<(usize, usize)>,
}

impl JoinedLines {
    fn of(lines: &[&str]) -> Self {
        let blank = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
        let filled = lines.iter().filter(|line| !line.trim().is_empty());
        let margin = filled.map(|line| blank(line)).min().unwrap_or(0);
        let mut joined = Self {
            text: String::new(),
            starts: Vec::with_capacity(lines.len()),
        };
        for line in lines {
            let left_out = margin.min(blank(line));
            joined.starts.push((joined.text.len(), left_out));
            joined
                .text
                .push_str(line.get(left_out..).unwrap_or_default());
            joined.text.push('\n');
        }
        joined
    }

    /// Where a part of the text stands in it; nowhere where it is not written like this.
    fn place_of(&self, part: &CowStr<'_>) -> Option<Range<usize>> {
        let CowStr::Borrowed(part) = part else {
            return None;
        };
        let start = part
            .as_ptr()
            .addr()
            .checked_sub(self.text.as_ptr().addr())?;
        let place = start..start + part.len();
        (self.text.get(place.clone()) == Some(*part)).then_some(place)
    }

    /// Bytes of the text as those of a line; `None` for what goes over several.
    fn on_line(&self, place: &Range<usize>) -> Option<LineRange> {
        let after = self
            .starts
            .partition_point(|(start, _)| *start <= place.start);
        let line = after.checked_sub(1)?;
        let (start, left_out) = *self.starts.get(line)?;
        let is_one = !self.text.get(place.clone())?.contains('\n');
        is_one.then(|| LineRange {
            line,
            range: left_out + place.start - start..left_out + place.end - start,
        })
    }

    /// Adds the lines of a part of a block of code.
    fn add_lines(&self, place: &Range<usize>, lines: &mut Vec<LineRange>) {
        let mut at = place.start;
        let text = self.text.get(place.clone()).unwrap_or_default();
        for line in text.split_inclusive('\n') {
            let said = line.trim_end_matches(['\n', '\r']);
            let found = self.on_line(&(at..at + said.len()));
            at += line.len();
            match (lines.last_mut(), found) {
                (Some(last), Some(found)) if last.line == found.line => {
                    last.range.end = found.range.end.max(last.range.end);
                }
                (_, found) => lines.extend(found),
            }
        }
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
            ("[see [A] there](a::B)", &["A"]),
            (
                "| [A] | [b](a::B) |\n|---|---|\n| [`C`] | d |",
                &["A", "a::B", "`C`"],
            ),
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
            ("```\na\n    ```\nb\n```\n", &[": a|    ```|b"]),
            ("-\ttext\n\n\t```\n\ta\n\t```\n", &[": a"]),
        ] {
            assert_eq!(shown(text).0, expected, "{text}");
        }
    }
}
