//! Documentation: links that name items, and code blocks.
//!
//! Lines of `///` and `//!` that follow each other make one text; other forms of `#[doc]` are
//! texts of their own. Code blocks of Rust are read as statements of a crate of their own.

use coalesce_model::ByteSpan;
use syn::parse::Parser;

use super::{
    DocCode, Namespaces, Origin, ScopeId, ScopeKind, SourceFacts,
    extract::Extractor,
    markdown::{self, LineRange},
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

/// The facts of a text that is the code of a document and nothing else; `None` where it does not parse.
pub(super) fn code_alone(code: &str) -> Option<SourceFacts> {
    let mut at = 0;
    let lines = code.split_inclusive('\n').map(|line| {
        let start = at;
        at += line.len();
        ByteSpan::from_range(start..start + line.trim_end_matches(['\n', '\r']).len())
    });
    let lines: Vec<ByteSpan> = lines.collect();
    let mut builder = Builder::new(code);
    let mut block = Block {
        builder: &mut builder,
        lines: &lines,
    };
    block.code(&lines).then_some(builder.facts)
}

/// A document: its links as facts, and its blocks of Rust, each line with its line break and the bytes before the code.
pub(crate) struct Document {
    pub facts: SourceFacts,
    pub code: Vec<Vec<(ByteSpan, usize)>>,
}

/// Reads a document that code has for its documentation.
pub(crate) fn document(text: &str) -> Document {
    let mut at = 0;
    let whole = text.split_inclusive('\n').map(|line| {
        at += line.len();
        ByteSpan::from_range(at - line.len()..at)
    });
    let whole: Vec<ByteSpan> = whole.collect();
    let lines = whole.iter().map(|line| {
        let said = line.of(text).unwrap_or_default();
        let len = said.trim_end_matches(['\n', '\r']).len();
        ByteSpan::new(line.start, line.start + index(len))
    });
    let lines: Vec<ByteSpan> = lines.collect();
    let said: Vec<&str> = lines
        .iter()
        .map(|line| line.of(text).unwrap_or_default())
        .collect();
    let markdown = markdown::read(&said);
    let mut builder = Builder::new(text);
    let mut block = Block {
        builder: &mut builder,
        lines: &lines,
    };
    block.links(&markdown.targets);
    let blocks = markdown.code.iter().filter(|block| is_rust(&block.info));
    let code = blocks.map(|block| {
        let lines = block.lines.iter();
        let lines = lines.filter_map(|line| Some((*whole.get(line.line)?, line.range.start)));
        lines.collect()
    });
    Document {
        code: code.collect(),
        facts: builder.facts,
    }
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
        let lines: Vec<&str> = self
            .lines
            .iter()
            .map(|line| self.builder.slice(*line))
            .collect();
        let markdown = markdown::read(&lines);
        for block in markdown.code.iter().filter(|block| is_rust(&block.info)) {
            let lines: Vec<ByteSpan> = block
                .lines
                .iter()
                .filter_map(|line| self.place(line))
                .collect();
            self.code(&lines);
        }
        self.links(&markdown.targets);
    }

    fn links(&mut self, targets: &[LineRange]) {
        self.builder.origin = Origin::DocLink;
        for target in targets {
            if let Some(place) = self.place(target) {
                self.link(self.builder.slice(place), place.start);
            }
        }
        self.builder.origin = Origin::Code;
    }

    /// The bytes of the file that a part of a line stands at.
    fn place(&self, part: &LineRange) -> Option<ByteSpan> {
        let start = self.lines.get(part.line)?.start;
        Some(ByteSpan::new(
            start + index(part.range.start),
            start + index(part.range.end),
        ))
    }

    /// Reads the lines of a block of code; whether they were parsed.
    fn code(&mut self, lines: &[ByteSpan]) -> bool {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            return false;
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
            return false;
        }
        let span = first.cover(*last);
        let outer = self
            .builder
            .open_scope(ScopeKind::DocCode, span, span.start);
        let origin = std::mem::replace(&mut self.builder.origin, Origin::DocCode);
        let scope = self.builder.scope;
        self.builder.facts.doc_code.push(DocCode { scope, span });
        let is_parsed = self.parse(&code, &lines);
        self.builder.origin = origin;
        self.builder.scope = outer;
        is_parsed
    }

    fn parse(&mut self, code: &str, lines: &[ByteSpan]) -> bool {
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
            return true;
        }
        let tokens: Vec<lexer::Token> = lines
            .iter()
            .flat_map(|line| lexer::tokens(self.builder.text, *line))
            .collect();
        tokens::loose_code(self.builder, &tokens);
        false
    }

    /// What a link leads to: `a::b`, `` `a::b` ``, `fn@a::b`, `a::b()`.
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
            let span = ByteSpan::new(from, from + index(bare.len()));
            if bare.starts_with("Self::") {
                self.builder.facts.own_links.push(span);
            }
            self.builder.path_in_text(span, namespaces);
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

/// Whether rustdoc takes a block with this information for Rust: it says so, or nothing that is not known.
fn is_rust(info: &str) -> bool {
    let words = info
        .split([',', ' ', '\t', '{', '}'])
        .filter(|word| !word.is_empty());
    let (mut says_rust, mut says_other) = (false, false);
    for word in words {
        match word {
            "rust" => says_rust = true,
            "ignore" | "no_run" | "should_panic" => says_rust = !says_other,
            _ if word.starts_with("ignore-") => says_rust = !says_other,
            "test_harness" | "compile_fail" => says_rust |= !says_other,
            "standalone" | "standalone_crate" => {}
            _ if word.starts_with("edition20") => {}
            _ if is_error_code(word) => says_rust |= !says_other,
            _ => says_other = true,
        }
    }
    says_rust || !says_other
}

/// `E0277`
fn is_error_code(word: &str) -> bool {
    let digits = word.strip_prefix('E').unwrap_or_default();
    digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
}
