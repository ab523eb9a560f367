//! The units of a Python file: functions, classes, blocks and imports, from logical lines alone.
//!
//! It builds no tree and knows no expressions: indentation says where a unit ends.

mod lexer;
mod locals;
#[cfg(test)]
mod tests;

use coalesce_model::{
    ByteSpan, Outline, OutlineToken, OutlineUnit, TokenClass, UnitKind,
    outline::{brackets, marks, word_at},
};

use lexer::Line;

/// A statement of a module with so many tokens is a block of its own, if it is no definition.
const LONG_STATEMENT: u32 = 40;

/// Tokens and units of `text`.
pub fn outline(text: &str) -> Outline {
    let (tokens, lines) = lexer::read(text);
    let (tokens, lines) = without_docstrings(text, tokens, &lines);
    let mut builder = Builder {
        text,
        tokens,
        units: Vec::with_capacity(lines.len() / 8 + 1),
        open: Vec::new(),
        decorated: None,
        last_line: 1,
    };
    builder.read(&lines);
    let mut outline = Outline {
        tokens: builder.tokens,
        units: builder.units,
    };
    locals::mark(text, &mut outline);
    outline
}

/// Strings that stand alone as a statement go, and so do lines that become empty.
fn without_docstrings(
    text: &str,
    tokens: Vec<OutlineToken>,
    lines: &[Line],
) -> (Vec<OutlineToken>, Vec<Line>) {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut left = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let end = lines
            .get(at + 1)
            .map_or(tokens.len(), |next| next.first as usize);
        let of_line = tokens.get(line.first as usize..end).unwrap_or_default();
        let is_text = |token: &OutlineToken| is_text(text, token);
        if of_line.iter().all(is_text) {
            continue;
        }
        left.push(Line {
            first: u32::try_from(kept.len()).unwrap_or(u32::MAX),
            ..*line
        });
        kept.extend_from_slice(of_line);
    }
    (kept, left)
}

/// Whether a token is a string with something in it.
fn is_text(text: &str, token: &OutlineToken) -> bool {
    matches!(token.class, TokenClass::Prose | TokenClass::Key)
        && token.span.of(text).is_some_and(|text| !text.is_empty())
}

/// A unit that has not ended yet.
struct Open {
    /// Index of the unit; `None` for a statement that is only of interest for its indentation.
    unit: u32,
    indent: u32,
    is_block: bool,
}

struct Builder<'t> {
    text: &'t str,
    tokens: Vec<OutlineToken>,
    units: Vec<OutlineUnit>,
    open: Vec<Open>,
    /// First token and line of decorators that wait for what they decorate.
    decorated: Option<(u32, u32)>,
    last_line: u32,
}

impl Builder<'_> {
    fn word(&self, at: u32) -> &str {
        word_at(&self.tokens, at as usize, self.text)
    }

    fn token_count(&self) -> u32 {
        u32::try_from(self.tokens.len()).unwrap_or(u32::MAX)
    }

    fn read(&mut self, lines: &[Line]) {
        let module = self.unit(UnitKind::Module, ByteSpan::empty(0), 0, 0, 1);
        self.open.push(Open {
            unit: module,
            indent: 0,
            is_block: false,
        });
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let end = lines
                .get(at + 1)
                .map_or(self.token_count(), |next| next.first);
            self.close(line);
            self.line(line, end, lines.get(at + 1));
            self.last_line = line.last;
            at += 1;
        }
        while let Some(open) = self.open.pop() {
            self.finish(open.unit, self.token_count());
        }
    }

    fn unit(&mut self, kind: UnitKind, name: ByteSpan, first: u32, body: u32, line: u32) -> u32 {
        let parent = self.open.last().map(|open| open.unit);
        self.units.push(OutlineUnit {
            kind,
            name,
            parent,
            first,
            body,
            end: first,
            lines: (line, line),
        });
        u32::try_from(self.units.len() - 1).unwrap_or(u32::MAX)
    }

    fn finish(&mut self, unit: u32, end: u32) {
        if let Some(unit) = self.units.get_mut(unit as usize) {
            unit.finish(end, self.last_line);
        }
    }

    /// Ends the units that a line of this indentation is no part of.
    fn close(&mut self, line: &Line) {
        while self.open.len() > 1 {
            let Some(open) = self.open.last() else { return };
            let continues =
                open.is_block && open.indent == line.indent && self.continues(line.first);
            if open.indent < line.indent || continues {
                return;
            }
            let unit = open.unit;
            self.open.pop();
            self.finish(unit, line.first);
        }
    }

    fn continues(&self, at: u32) -> bool {
        matches!(self.word(at), "else" | "elif" | "except" | "finally")
    }

    fn line(&mut self, line: &Line, end: u32, next: Option<&Line>) {
        let first = line.first;
        let keyword = |at: u32| {
            let token = self.tokens.get(at as usize);
            token.filter(|token| token.class == TokenClass::Keyword)?;
            Some(self.word(at))
        };
        let second = keyword(first + 1);
        match keyword(first) {
            Some("def" | "class") => self.define(line, first, end),
            Some("async") if second == Some("def") => self.define(line, first + 1, end),
            Some("import" | "from") => self.import(line, end),
            Some("try") if self.guards_import(next) => self.block(line, UnitKind::GuardedImport),
            Some("else" | "elif" | "except" | "finally") => {}
            Some("if") if self.word(first + 1) == "__name__" => {}
            Some("if" | "try" | "for" | "while" | "with") if self.at_module() => {
                self.block(line, UnitKind::Block);
            }
            _ if self.word(first) == "@" => {
                self.decorated.get_or_insert((first, line.number));
            }
            _ => self.long_statement(line, end),
        }
    }

    fn at_module(&self) -> bool {
        self.open.len() == 1
    }

    fn guards_import(&self, next: Option<&Line>) -> bool {
        next.is_some_and(|next| matches!(self.word(next.first), "import" | "from"))
    }

    fn define(&mut self, line: &Line, keyword: u32, end: u32) {
        let kind = self.kind_of_definition(keyword);
        let name = self
            .tokens
            .get_mut(keyword as usize + 1)
            .map_or(ByteSpan::empty(0), |token| {
                token.marks |= marks::DEFINED;
                token.span
            });
        let (first, number) = self.decorated.take().unwrap_or((line.first, line.number));
        let body = self.body(keyword, end);
        let unit = self.unit(kind, name, first, body, number);
        self.open.push(Open {
            unit,
            indent: line.indent,
            is_block: false,
        });
    }

    fn kind_of_definition(&self, keyword: u32) -> UnitKind {
        let is_class = self.word(keyword) == "class";
        let parent = self
            .open
            .last()
            .and_then(|open| self.units.get(open.unit as usize));
        let in_class = parent.is_some_and(|parent| parent.kind == UnitKind::Class);
        match (is_class, in_class) {
            (true, _) => UnitKind::Class,
            (false, true) => UnitKind::Method,
            (false, false) => UnitKind::Function,
        }
    }

    /// The token after the colon that ends the head.
    fn body(&self, keyword: u32, end: u32) -> u32 {
        let word = |at: usize| word_at(&self.tokens, at, self.text);
        let head = keyword as usize..end as usize;
        let colon = brackets::end_of_part(&word, head, &[":"]);
        u32::try_from(colon + 1).unwrap_or(end).min(end)
    }

    fn block(&mut self, line: &Line, kind: UnitKind) {
        let unit = self.unit(
            kind,
            ByteSpan::empty(0),
            line.first,
            line.first,
            line.number,
        );
        self.open.push(Open {
            unit,
            indent: line.indent,
            is_block: true,
        });
    }

    fn import(&mut self, line: &Line, end: u32) {
        let tokens = self.tokens.get_mut(line.first as usize..end as usize);
        for token in tokens.unwrap_or_default() {
            token.marks |= marks::IMPORT;
        }
        if !self.at_module() {
            return;
        }
        if let Some(unit) = self.units.last_mut()
            && unit.kind == UnitKind::Imports
            && unit.end == line.first
        {
            unit.end = end;
            unit.lines.1 = line.last;
            return;
        }
        let name = ByteSpan::empty(0);
        let unit = self.unit(UnitKind::Imports, name, line.first, line.first, line.number);
        self.close_unit(unit, line, end);
    }

    fn long_statement(&mut self, line: &Line, end: u32) {
        if !self.at_module() || end - line.first < LONG_STATEMENT {
            return;
        }
        let name = self
            .tokens
            .get(line.first as usize)
            .map_or(ByteSpan::empty(0), |token| token.span);
        let unit = self.unit(UnitKind::Block, name, line.first, line.first, line.number);
        self.close_unit(unit, line, end);
    }

    fn close_unit(&mut self, unit: u32, line: &Line, end: u32) {
        if let Some(unit) = self.units.get_mut(unit as usize) {
            unit.end = end;
            unit.lines.1 = line.last;
        }
    }
}
