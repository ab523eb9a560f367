//! Documentation: links that name items, and code blocks.
//!
//! Lines of `///` and `//!` that follow each other make one text; other forms of `#[doc]` are
//! texts of their own. Code blocks of Rust are read as statements of a crate of their own.

use std::ops::Range;

use coalesce_model::ByteSpan;
use syn::parse::Parser;

use super::{
    DocCode, Namespaces, Origin, ScopeId, ScopeKind,
    extract::Extractor,
    places::Places,
    source::{Builder, index, is_path},
    tokens,
};
use crate::lexer;

/// One `doc` attribute.
#[derive(Clone, Copy)]
pub(super) struct DocLine {
    /// The comment or attribute.
    pub span: ByteSpan,
    /// `//!`
    pub inner: bool,
    /// The scope that it stands in.
    pub scope: ScopeId,
}

/// The ids and names in `// coalesce: item shim ID NAME`, which stands above the shim of an item.
pub(super) fn item_shims(text: &str) -> Vec<(Box<str>, Box<str>)> {
    let marker = "// coalesce: item shim ";
    if !text.contains(marker) {
        return Vec::new();
    }
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix(marker));
    lines
        .filter_map(|rest| rest.trim().split_once(' '))
        .map(|(id, name)| (id.into(), name.trim().into()))
        .collect()
}

/// The id in `// coalesce: shim ID`, which stands in the first lines of a shim.
pub(super) fn shim_marker(text: &str) -> Option<Box<str>> {
    let line = text
        .lines()
        .take(8)
        .find_map(|line| line.trim().strip_prefix("// coalesce: shim "))?;
    Some(Box::from(line.trim()))
}

/// Reads the collected documentation.
pub(super) fn read(builder: &mut Builder<'_>, mut lines: Vec<DocLine>) {
    lines.sort_by_key(|line| line.span.start);
    let mut rest = lines.as_slice();
    while let Some((first, _)) = rest.split_first() {
        let same = rest
            .windows(2)
            .take_while(|pair| follows(builder.text, pair))
            .count()
            + 1;
        let (block, after) = rest.split_at(same.min(rest.len()));
        builder.scope = first.scope;
        let content: Vec<ByteSpan> = block
            .iter()
            .flat_map(|line| content_lines(builder.text, line.span))
            .collect();
        Block {
            builder,
            lines: &content,
        }
        .read();
        rest = after;
    }
    builder.scope = ScopeId(0);
    builder.origin = Origin::Code;
}

/// Whether two doc lines belong to one text: only white space between them.
fn follows(text: &str, pair: &[DocLine]) -> bool {
    let [first, second] = pair else { return false };
    let between = text.get(first.span.end as usize..second.span.start as usize);
    first.inner == second.inner
        && first.scope == second.scope
        && between.is_some_and(|text| text.trim().is_empty())
}

/// The lines of a doc comment without its marks.
fn content_lines(text: &str, span: ByteSpan) -> Vec<ByteSpan> {
    let comment = span.of(text).unwrap_or_default();
    if comment.starts_with("///") || comment.starts_with("//!") {
        return vec![ByteSpan::new(span.start + 3, span.end)];
    }
    let block = comment.starts_with("/**") || comment.starts_with("/*!");
    let Some((start, end)) = content_bounds(comment, block) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    let mut at = start;
    let content = comment.get(start..end).unwrap_or_default();
    for line in content.split_inclusive('\n') {
        let star = block && at != start;
        let skip = if star { star_length(line) } else { 0 };
        let kept = line.trim_end_matches(['\n', '\r']).len();
        let from = span.start + index(at + skip.min(kept));
        lines.push(ByteSpan::new(from, span.start + index(at + kept)));
        at += line.len();
    }
    lines
}

/// What a link on a line leads to, `text` being between its brackets: what is in `(…)`, `[…]` or behind `:`.
fn link_target(line: &str, text: Range<usize>) -> Range<usize> {
    let after = line.get(text.end + 1..).unwrap_or_default();
    let from = text.end + 2;
    if let Some(target) = after.strip_prefix('(') {
        from..from + target.find([')', ' ']).unwrap_or(target.len())
    } else if let Some(target) = after.strip_prefix('[') {
        from..from + target.find(']').unwrap_or(target.len())
    } else if let Some(target) = after.strip_prefix(':') {
        let blank = target.len() - target.trim_start().len();
        from + blank..from + blank + target.trim().len()
    } else {
        text
    }
}

/// Where to look for what a link calls `kind@name`.
fn namespaces_of(kind: &str) -> Namespaces {
    match kind {
        "fn" | "function" | "method" | "const" | "constant" | "static" | "value" => {
            Namespaces::VALUE
        }
        "macro" | "derive" => Namespaces::MACRO,
        _ => Namespaces::TYPE,
    }
}

/// A name without `()` or `!`.
fn without_call(name: &str) -> &str {
    name.strip_suffix("()")
        .or(name.strip_suffix("!()"))
        .or(name.strip_suffix('!'))
        .unwrap_or(name)
}

/// Where the content of a block comment, or else of a string, begins and ends.
fn content_bounds(comment: &str, block: bool) -> Option<(usize, usize)> {
    if block {
        return Some((3, comment.len().saturating_sub(2).max(3)));
    }
    let open = comment.find('"')?;
    let close = comment.rfind('"').unwrap_or(open + 1);
    Some((open + 1, close.max(open + 1)))
}

/// How long the blanks and the star are that a line begins with; nothing without a star.
fn star_length(line: &str) -> usize {
    let trimmed = line.trim_start();
    if trimmed.starts_with('*') {
        line.len() - trimmed.len() + 1
    } else {
        0
    }
}

struct Block<'l, 'b, 't> {
    builder: &'b mut Builder<'t>,
    lines: &'l [ByteSpan],
}

impl Block<'_, '_, '_> {
    fn read(&mut self) {
        let mut at = 0;
        while let Some(line) = self.lines.get(at).copied() {
            let text = self.builder.slice(line);
            match fence(text) {
                Some(fence) => at = self.fenced(at, fence),
                None => {
                    self.links(line);
                    at += 1;
                }
            }
        }
    }

    /// Reads a fenced block; gives the line after it.
    fn fenced(&mut self, at: usize, fence: Fence<'_>) -> usize {
        let body = self.lines.get(at + 1..).unwrap_or_default();
        let len = body
            .iter()
            .take_while(|line| !fence.closes(self.builder.slice(**line)))
            .count();
        let code = body.get(..len).unwrap_or_default();
        if is_rust(fence.info) {
            self.code(code);
        }
        at + len + 2
    }

    fn code(&mut self, lines: &[ByteSpan]) {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            return;
        };
        let lines: Vec<ByteSpan> = lines
            .iter()
            .map(|line| visible(self.builder.slice(*line), *line))
            .collect();
        let code = lines
            .iter()
            .flat_map(|line| [self.builder.slice(*line), "\n"]);
        let code: String = code.collect();
        if !code.contains("::") && !code.contains("use ") {
            return;
        }
        let span = first.cover(*last);
        let outer = self
            .builder
            .open_scope(ScopeKind::DocCode, span, span.start);
        let origin = std::mem::replace(&mut self.builder.origin, Origin::DocCode);
        let scope = self.builder.scope;
        self.builder.facts.doc_code.push(DocCode { scope, span });
        self.parse(&code, &lines);
        self.builder.origin = origin;
        self.builder.scope = outer;
    }

    fn parse(&mut self, code: &str, lines: &[ByteSpan]) {
        let shallow = lexer::depth(code);
        if shallow.nesting < 30
            && shallow.chain < 200
            && let Ok(statements) = syn::Block::parse_within.parse_str(code)
        {
            let starts = lines.iter().map(|line| line.start).collect();
            let places = Places::of_lines(self.builder.text, starts);
            let mark = self.builder.enter_item();
            Extractor::new(&places, self.builder).statements(&statements);
            self.builder.leave(mark);
            return;
        }
        let tokens: Vec<lexer::Token> = lines
            .iter()
            .flat_map(|line| lexer::tokens(self.builder.text, *line))
            .collect();
        tokens::loose_code(self.builder, &tokens);
    }

    /// Links of one line: `[a::b]`, ``[`a::b`]``, `[text](a::b)`, `[text]: a::b`.
    fn links(&mut self, line: ByteSpan) {
        let text = self.builder.slice(line);
        if !text.contains('[') {
            return;
        }
        self.builder.origin = Origin::DocLink;
        let mut at = 0;
        while let Some(open) = text.get(at..).and_then(|rest| rest.find('[')) {
            let start = at + open + 1;
            let rest = text.get(start..).unwrap_or_default();
            let Some(close) = rest.find(']') else { break };
            let target = link_target(text, start..start + close);
            self.link(
                text.get(target.clone()).unwrap_or_default(),
                line.start + index(target.start),
            );
            at = if target.start == start {
                start + close + 1
            } else {
                target.end
            };
        }
        self.builder.origin = Origin::Code;
    }

    fn link(&mut self, text: &str, start: u32) {
        let mut at = 0;
        let mut end = text.len();
        let ticks = text.starts_with('`') && text.ends_with('`') && text.len() > 1;
        if ticks {
            at += 1;
            end -= 1;
        }
        let mut namespaces = Namespaces::ALL;
        let inner = text.get(at..end).unwrap_or_default();
        if let Some((kind, _)) = inner.split_once('@') {
            at += kind.len() + 1;
            namespaces = namespaces_of(kind);
        }
        let inner = text.get(at..end).unwrap_or_default();
        let name = inner.split_once('#').map_or(inner, |(name, _)| name);
        let name = name.split_once('<').map_or(name, |(name, _)| name);
        let bare = without_call(name);
        if bare.len() < name.len() {
            namespaces = if name.contains('!') {
                Namespaces::MACRO
            } else {
                Namespaces::VALUE
            };
        }
        if is_path(bare) {
            let from = start + index(at);
            self.builder
                .path_in_text(ByteSpan::new(from, from + index(bare.len())), namespaces);
        }
    }
}

/// A line of code without the `# ` that hides it; inner attributes are emptied.
fn visible(text: &str, line: ByteSpan) -> ByteSpan {
    let trimmed = text.trim_start();
    let blank = index(text.len() - trimmed.len());
    if trimmed.starts_with("#![") || trimmed == "#" {
        return ByteSpan::empty(line.end);
    }
    let skip = if trimmed.starts_with("# ") {
        blank + 2
    } else if trimmed.starts_with("##") {
        blank + 1
    } else {
        0
    };
    ByteSpan::new((line.start + skip).min(line.end), line.end)
}

/// The first line of a code block.
#[derive(Clone, Copy)]
struct Fence<'t> {
    mark: u8,
    len: usize,
    info: &'t str,
}

impl Fence<'_> {
    fn closes(&self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.len && text.bytes().all(|byte| byte == self.mark)
    }
}

fn fence(line: &str) -> Option<Fence<'_>> {
    let text = line.trim_start();
    let mark = *text
        .as_bytes()
        .first()
        .filter(|byte| matches!(byte, b'`' | b'~'))?;
    let len = text.bytes().take_while(|byte| *byte == mark).count();
    let info = text.get(len..).unwrap_or_default().trim();
    (len >= 3 && !info.contains('`')).then_some(Fence { mark, len, info })
}

/// Whether rustdoc takes a block with this information for Rust.
fn is_rust(info: &str) -> bool {
    info.split([',', ' ', '{', '}'])
        .filter(|word| !word.is_empty())
        .all(|word| {
            matches!(
                word,
                "rust"
                    | "ignore"
                    | "no_run"
                    | "should_panic"
                    | "compile_fail"
                    | "test_harness"
                    | "standalone"
            ) || word.starts_with("edition20")
                || word.starts_with("ignore-")
                || (word.len() == 5
                    && word.starts_with('E')
                    && word.ends_with(|c: char| c.is_ascii_digit()))
        })
}
