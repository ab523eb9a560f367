//! The units of a Rust file: functions, types, `impl` blocks, modules and imports, from tokens alone.
//!
//! It builds no tree: keywords say where a unit begins and brackets where it ends, in macro bodies
//! and broken files as well. A function without body is no unit.

mod locals;
#[cfg(test)]
mod tests;

use coalesce_model::{
    ByteSpan, LineIndex, Outline, OutlineToken, OutlineUnit, TokenClass, UnitKind,
    outline::{marks, word_at},
};

use crate::lexer::{self, Token, TokenKind};

/// Tokens and units of `text`.
pub fn outline(text: &str) -> Outline {
    let lexed = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let tokens = without_doc_attributes(text, convert(text, &lexed));
    let mut outline = Builder::new(text, tokens).read();
    locals::mark(text, &mut outline);
    outline
}

/// Our tokens, with operators of two bytes joined.
fn convert(text: &str, lexed: &[Token]) -> Vec<OutlineToken> {
    let mut tokens: Vec<OutlineToken> = Vec::with_capacity(lexed.len());
    for token in lexed {
        if let Some(last) = tokens.last_mut()
            && last.class == TokenClass::Punct
            && last.span.end == token.span.start
            && is_pair(text, last.span.cover(token.span))
        {
            last.span = last.span.cover(token.span);
            continue;
        }
        tokens.push(OutlineToken {
            span: token.span,
            class: class(text, token),
            marks: 0,
        });
    }
    tokens
}

fn is_pair(text: &str, span: ByteSpan) -> bool {
    matches!(
        span.of(text),
        Some(
            "::" | "->"
                | "=>"
                | "=="
                | "!="
                | "<="
                | ">="
                | "&&"
                | "||"
                | ".."
                | "+="
                | "-="
                | "*="
                | "/="
                | "..="
        )
    )
}

fn class(text: &str, token: &Token) -> TokenClass {
    match token.kind {
        TokenKind::Ident if token.span.of(text).is_some_and(is_keyword) => TokenClass::Keyword,
        TokenKind::Ident => TokenClass::Word,
        TokenKind::Lifetime => TokenClass::Keyword,
        TokenKind::Text { content } => {
            let spaced = content
                .of(text)
                .is_some_and(|content| content.contains(' '));
            if spaced {
                TokenClass::Prose
            } else {
                TokenClass::Key
            }
        }
        TokenKind::Literal => TokenClass::Number,
        TokenKind::Punct(_) | TokenKind::Open(_) | TokenKind::Close(_) => TokenClass::Punct,
    }
}

/// `#[doc = "…"]` says what a comment says.
fn without_doc_attributes(text: &str, tokens: Vec<OutlineToken>) -> Vec<OutlineToken> {
    let is_doc = |at: usize| is_doc_attribute(text, &tokens, at);
    if !(0..tokens.len()).any(is_doc) {
        return tokens;
    }
    let (mut kept, mut at) = (Vec::with_capacity(tokens.len()), 0);
    while let Some(token) = tokens.get(at) {
        if is_doc(at) {
            at += 6;
        } else {
            kept.push(*token);
            at += 1;
        }
    }
    kept
}

/// Whether `#[doc = …]` begins at a token.
fn is_doc_attribute(text: &str, tokens: &[OutlineToken], at: usize) -> bool {
    let word = |at: usize| tokens.get(at).and_then(|token| token.span.of(text));
    word(at) == Some("#")
        && word(at + 1) == Some("[")
        && word(at + 2) == Some("doc")
        && word(at + 3) == Some("=")
        && word(at + 5) == Some("]")
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "as" | "async"
            | "await"
            | "break"
            | "const"
            | "continue"
            | "crate"
            | "dyn"
            | "else"
            | "enum"
            | "extern"
            | "false"
            | "fn"
            | "for"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "match"
            | "mod"
            | "move"
            | "mut"
            | "pub"
            | "ref"
            | "return"
            | "self"
            | "Self"
            | "static"
            | "struct"
            | "super"
            | "trait"
            | "true"
            | "type"
            | "union"
            | "unsafe"
            | "use"
            | "where"
            | "while"
            | "yield"
    )
}

/// A unit whose closing bracket has not come.
struct Open {
    unit: u32,
    /// Brackets that were open before its body.
    depth: usize,
}

struct Builder<'t> {
    text: &'t str,
    lines: LineIndex,
    tokens: Vec<OutlineToken>,
    units: Vec<OutlineUnit>,
    open: Vec<Open>,
    depth: usize,
    /// First token of the statement or item that is being read.
    start: u32,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str, tokens: Vec<OutlineToken>) -> Self {
        Self {
            text,
            lines: LineIndex::new(text),
            tokens,
            units: Vec::new(),
            open: Vec::new(),
            depth: 0,
            start: 0,
        }
    }

    fn word(&self, at: u32) -> &str {
        word_at(&self.tokens, at as usize, self.text)
    }

    fn count(&self) -> u32 {
        u32::try_from(self.tokens.len()).unwrap_or(u32::MAX)
    }

    fn line(&self, token: u32) -> u32 {
        let start = self
            .tokens
            .get(token as usize)
            .map(|token| token.span.start);
        start.map_or(1, |start| self.lines.line_number(start))
    }

    fn read(mut self) -> Outline {
        let module = self.add(UnitKind::Module, ByteSpan::empty(0), 0, 0);
        self.open.push(Open {
            unit: module,
            depth: 0,
        });
        self.mark_start(0);
        let mut at = 0;
        while at < self.count() {
            at = self.step(at);
        }
        while let Some(open) = self.open.pop() {
            self.finish(open.unit, self.count());
        }
        Outline {
            tokens: self.tokens,
            units: self.units,
        }
    }

    fn mark_start(&mut self, at: u32) {
        self.start = at;
        if let Some(token) = self.tokens.get_mut(at as usize) {
            token.marks |= marks::STATEMENT;
        }
    }

    /// Reads one token, or the head of an item; returns where to go on.
    fn step(&mut self, at: u32) -> u32 {
        let next = match self.word(at) {
            "{" => {
                self.depth += 1;
                self.mark_start(at + 1);
                at + 1
            }
            "(" | "[" => {
                self.depth += 1;
                at + 1
            }
            ")" | "]" => {
                self.depth = self.depth.saturating_sub(1);
                // An attribute belongs to the item behind it.
                at + 1
            }
            "}" => {
                self.depth = self.depth.saturating_sub(1);
                self.close(at + 1);
                self.mark_start(at + 1);
                at + 1
            }
            ";" => {
                self.mark_start(at + 1);
                at + 1
            }
            _ => self.item(at),
        };
        next.max(at + 1)
    }

    fn close(&mut self, end: u32) {
        while self.open.len() > 1
            && let Some(open) = self.open.last()
            && self.depth <= open.depth
        {
            let unit = open.unit;
            self.open.pop();
            self.finish(unit, end);
        }
    }

    fn item(&mut self, at: u32) -> u32 {
        let class = |at: u32| self.tokens.get(at as usize).map(|token| token.class);
        if class(at) != Some(TokenClass::Keyword) {
            return self.macro_definition(at);
        }
        let named = class(at + 1) == Some(TokenClass::Word);
        match self.word(at) {
            "fn" if named => {
                let kind = self.kind_of_function();
                self.head(at, at + 1, kind)
            }
            "struct" | "enum" | "trait" | "union" if named => {
                self.head(at, at + 1, UnitKind::Class)
            }
            "mod" if named => self.head(at, at + 1, UnitKind::Module),
            "impl" if self.starts_item(at) => {
                let name = self.impl_name(at);
                self.head(at, name, UnitKind::Impl)
            }
            "use" if self.start_keyword(at) => self.import(at),
            "const" | "static" if named && self.start_keyword(at) && self.at_module() => {
                self.constant(at)
            }
            _ => at + 1,
        }
    }

    /// A method stands in a type.
    fn kind_of_function(&self) -> UnitKind {
        if self.in_type() {
            UnitKind::Method
        } else {
            UnitKind::Function
        }
    }

    /// Reads the head of a `macro_rules!`, or one word; returns where to go on.
    fn macro_definition(&mut self, at: u32) -> u32 {
        if self.word(at) == "macro_rules" && self.word(at + 1) == "!" {
            return self.head(at, at + 2, UnitKind::Function);
        }
        at + 1
    }

    /// Whether only attributes, `pub`, `unsafe` and `default` stand before it in its statement.
    fn starts_item(&self, at: u32) -> bool {
        let mut depth = 0usize;
        (self.start..at).all(|at| match self.word(at) {
            "[" | "(" => {
                depth += 1;
                true
            }
            "]" | ")" => {
                depth = depth.saturating_sub(1);
                true
            }
            "#" | "pub" | "unsafe" | "default" => true,
            _ => depth > 0,
        })
    }

    fn start_keyword(&self, at: u32) -> bool {
        self.starts_item(at)
    }

    fn in_type(&self) -> bool {
        let around = self
            .open
            .last()
            .and_then(|open| self.units.get(open.unit as usize));
        around.is_some_and(|unit| matches!(unit.kind, UnitKind::Impl | UnitKind::Class))
    }

    fn at_module(&self) -> bool {
        let around = self
            .open
            .last()
            .and_then(|open| self.units.get(open.unit as usize));
        around.is_some_and(|unit| unit.kind == UnitKind::Module)
    }

    /// The last word of the type that an `impl` is for.
    fn impl_name(&self, at: u32) -> u32 {
        let (mut name, mut angles) = (at, 0i32);
        for place in at + 1..self.count() {
            let token = self.tokens.get(place as usize);
            match self.word(place) {
                "{" | "where" | ";" => break,
                "<" => angles += 1,
                ">" => angles -= 1,
                _ if angles == 0 && token.is_some_and(|token| token.class == TokenClass::Word) => {
                    name = place;
                }
                _ => {}
            }
        }
        name
    }

    /// The head of an item up to its body; a head without one is no unit.
    fn head(&mut self, keyword: u32, name: u32, kind: UnitKind) -> u32 {
        let mut depth = 0usize;
        for at in keyword + 1..self.count() {
            match self.word(at) {
                "(" | "[" => depth += 1,
                // It closes what was open before, as in `link!("library" fn name());`.
                ")" | "]" if depth == 0 => return at,
                ")" | "]" => depth -= 1,
                ";" if depth == 0 => {
                    // `struct Name(…);` is a declaration without a body to compare.
                    self.mark_start(at + 1);
                    return at + 1;
                }
                "{" if depth == 0 => {
                    self.begin(name, kind, at + 1);
                    return at + 1;
                }
                "}" if depth == 0 => return at,
                _ => {}
            }
        }
        self.count()
    }

    fn begin(&mut self, name: u32, kind: UnitKind, body: u32) {
        let span = match self.tokens.get_mut(name as usize) {
            Some(token) => {
                token.marks |= marks::DEFINED;
                token.span
            }
            None => ByteSpan::empty(0),
        };
        let unit = self.add(kind, span, self.start, body);
        self.open.push(Open {
            unit,
            depth: self.depth,
        });
        self.depth += 1;
        self.mark_start(body);
    }

    fn add(&mut self, kind: UnitKind, name: ByteSpan, first: u32, body: u32) -> u32 {
        let line = self.line(first);
        self.units.push(OutlineUnit {
            kind,
            name,
            parent: self.open.last().map(|open| open.unit),
            first,
            body,
            end: first,
            lines: (line, line),
        });
        u32::try_from(self.units.len() - 1).unwrap_or(u32::MAX)
    }

    fn finish(&mut self, unit: u32, end: u32) {
        let last = end.checked_sub(1).map_or(1, |last| self.line(last));
        if let Some(unit) = self.units.get_mut(unit as usize) {
            unit.finish(end, last);
        }
    }

    /// A `use` up to its `;`.
    fn import(&mut self, keyword: u32) -> u32 {
        let end = (keyword..self.count())
            .find(|at| self.word(*at) == ";")
            .map_or(self.count(), |at| at + 1);
        let first = self.start;
        self.mark_import(first..end);
        let joins = self
            .units
            .last()
            .is_some_and(|unit| unit.kind == UnitKind::Imports && unit.end == first);
        if self.at_module() {
            if !joins {
                self.add(UnitKind::Imports, ByteSpan::empty(0), first, first);
            }
            let unit = u32::try_from(self.units.len() - 1).unwrap_or(u32::MAX);
            self.finish(unit, end);
        }
        self.mark_start(end);
        end
    }

    fn mark_import(&mut self, tokens: std::ops::Range<u32>) {
        let tokens = tokens.start as usize..tokens.end as usize;
        for token in self.tokens.get_mut(tokens).unwrap_or_default() {
            token.marks |= marks::IMPORT;
        }
    }

    /// A constant of a module: a table can be a copy.
    fn constant(&mut self, keyword: u32) -> u32 {
        let mut depth = 0usize;
        let ends = |at: &u32| {
            match self.word(*at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                ";" => return depth == 0,
                _ => {}
            }
            false
        };
        let Some(end) = (keyword..self.count()).find(ends).map(|at| at + 1) else {
            return keyword + 1;
        };
        let name = self
            .tokens
            .get(keyword as usize + 1)
            .map_or(ByteSpan::empty(0), |token| token.span);
        let unit = self.add(UnitKind::Block, name, self.start, self.start);
        self.finish(unit, end);
        self.mark_start(end);
        end
    }
}
