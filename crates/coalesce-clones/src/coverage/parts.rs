//! What a module, class or `impl` consists of, statement for statement: nothing of it is left out.
//!
//! Definitions come from the units of the file; what stands between them is cut into statements
//! here, by indentation in Python and by brackets in Rust. It says what there is, and compares
//! nothing.

use coalesce_model::{
    ByteSpan, LanguageKind, LineIndex, UnitKind,
    outline::{brackets, marks},
};
use rustc_hash::FxHashMap;

use super::{
    PartKind,
    imports::{self, Leaf},
};
use crate::source::{SourceFile, Token, Unit};

/// A range of tokens of the file.
pub(crate) type Range = (u32, u32);

/// One definition or statement.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub kind: PartKind,
    /// Its name; empty for statements that bind none, or several.
    pub name: String,
    /// Of an `impl` the type that it is for.
    pub of_type: String,
    /// Every name that it binds where it stands.
    pub binds: Vec<String>,
    /// Decorators, attributes, visibility and signature.
    pub head: Range,
    /// What is behind the head.
    pub body: Range,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
    /// What an import brings.
    pub leaf: Option<Leaf>,
    /// The unit that it was made of.
    pub unit: Option<u32>,
    /// What it consists of: members, fields, items.
    pub parts: Vec<Self>,
}

impl Part {
    /// All of its tokens.
    pub(crate) fn tokens(&self) -> Range {
        (self.head.0.min(self.body.0), self.body.1.max(self.head.1))
    }

    /// Whether it is compared by what it consists of.
    pub(crate) const fn is_container(&self) -> bool {
        matches!(
            self.kind,
            PartKind::Module
                | PartKind::Class
                | PartKind::Struct
                | PartKind::Enum
                | PartKind::Union
                | PartKind::Trait
                | PartKind::Impl
        )
    }
}

/// Reads the parts of one file.
pub(crate) struct Reader<'f> {
    pub file: &'f SourceFile,
    lines: LineIndex,
    /// Units that define something, by their first token.
    definitions: FxHashMap<u32, u32>,
}

impl<'f> Reader<'f> {
    pub(crate) fn new(file: &'f SourceFile) -> Self {
        let defines = |unit: &Unit| {
            !matches!(
                unit.kind,
                UnitKind::Block | UnitKind::GuardedImport | UnitKind::Imports
            )
        };
        let units = (0u32..).zip(&file.units).skip(1);
        let units = units.filter(|(_, unit)| defines(unit));
        Self {
            file,
            lines: LineIndex::new(&file.text),
            definitions: units.map(|(at, unit)| (unit.first, at)).collect(),
        }
    }

    /// The whole file.
    pub(crate) fn module(&self) -> Part {
        let end = u32::try_from(self.file.tokens.len()).unwrap_or(u32::MAX);
        Part {
            kind: PartKind::Module,
            name: String::new(),
            of_type: String::new(),
            binds: Vec::new(),
            head: (0, 0),
            body: (0, end),
            lines: (1, self.lines.line_count(&self.file.text).max(1)),
            leaf: None,
            unit: Some(0),
            parts: merged(self.parts((0, end), false)),
        }
    }

    pub(crate) fn token(&self, at: u32) -> Option<&Token> {
        self.file.tokens.get(at as usize)
    }

    pub(crate) fn word(&self, at: u32) -> &'f str {
        ByteSpan::text_under(self.token(at).map(Token::span), &self.file.text)
    }

    /// The line on which a token begins.
    pub(crate) fn line(&self, at: u32) -> u32 {
        self.token(at)
            .map_or(1, |token| self.lines.line_number(token.start))
    }

    /// First and last line of some tokens.
    pub(crate) fn lines(&self, (first, end): Range) -> (u32, u32) {
        let last = end.checked_sub(1).and_then(|last| self.token(last));
        let last = last.map_or(1, |last| {
            let end = last.span().end;
            self.lines
                .line_number(end.saturating_sub(1).max(last.start))
        });
        let first = self.line(first);
        (first, last.max(first))
    }

    /// Bytes before a token on its line.
    pub(crate) fn column(&self, at: u32) -> u32 {
        let start = self.token(at).map_or(0, |token| token.start);
        let line = self.lines.line_start(self.lines.line_number(start));
        start - line.unwrap_or(0).min(start)
    }

    fn parts(&self, (first, end): Range, in_type: bool) -> Vec<Part> {
        let (mut found, mut at) = (Vec::new(), first);
        while at < end {
            let unit = self.definitions.get(&at).copied();
            let unit = unit.and_then(|unit| Some((unit, self.file.units.get(unit as usize)?)));
            match unit.filter(|(_, unit)| unit.end > at && unit.end <= end) {
                Some((index, unit)) => {
                    found.push(self.definition(index, unit));
                    at = unit.end;
                }
                None => {
                    let next = self.statement_end(at, end).max(at + 1);
                    self.statement((at, next), in_type, &mut found);
                    at = next;
                }
            }
        }
        found
    }

    fn statement_end(&self, at: u32, end: u32) -> u32 {
        match self.file.language {
            LanguageKind::Python => self.indented_end(at, end),
            LanguageKind::Rust => self.bracketed_end(at, end),
            LanguageKind::Kernel if self.word(at) == "#" => self.directive_end(at, end),
            LanguageKind::Kernel => self.bracketed_end(at, end),
        }
    }

    /// Where a Python statement ends: at the next that stands no deeper and does not continue it.
    fn indented_end(&self, first: u32, end: u32) -> u32 {
        let column = self.column(first);
        let ends = |at: &u32| {
            let starts = self.token(*at).is_some_and(|t| t.has(marks::STATEMENT));
            starts && {
                let own = self.column(*at);
                let continues = matches!(self.word(*at), "else" | "elif" | "except" | "finally");
                own < column || (own == column && !continues)
            }
        };
        (first + 1..end).find(ends).unwrap_or(end)
    }

    /// Where a directive ends: with its line, or with the first that no backslash goes on from.
    fn directive_end(&self, first: u32, end: u32) -> u32 {
        let begins_line = |at: &u32| {
            let before = self
                .token(at.saturating_sub(1))
                .map(|token| token.span().end);
            let (Some(before), Some(own)) = (before, self.token(*at)) else {
                return true;
            };
            let between = self.file.text.get(before as usize..own.start as usize);
            let mut lines = between.unwrap_or("").split('\n');
            let last = lines.next_back();
            last.is_some() && lines.any(|line| !line.trim_end().ends_with('\\'))
        };
        (first + 1..end).find(begins_line).unwrap_or(end)
    }

    /// Where a Rust item without a unit ends: at its `;`, or at the bracket that closes its body.
    fn bracketed_end(&self, first: u32, end: u32) -> u32 {
        if self.word(first) == "#" && self.word(first + 1) == "!" {
            return self.closing(first + 2, end);
        }
        let keyword = self.word(self.rust_keyword(first, end));
        let to_semicolon = matches!(keyword, "use" | "const" | "static" | "type" | "extern");
        let mut depth = 0usize;
        for at in first..end {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                "}" => {
                    depth = depth.saturating_sub(1);
                    let foreign = keyword == "extern" && self.word(at + 1) != ";";
                    if depth == 0 && self.word(at + 1) != ";" && (!to_semicolon || foreign) {
                        return at + 1;
                    }
                }
                ";" if depth == 0 => return at + 1,
                _ if depth == 0 && at > first && self.definitions.contains_key(&at) => return at,
                _ => {}
            }
        }
        end
    }

    /// One past the bracket that closes the one at `open`.
    pub(crate) fn closing(&self, open: u32, end: u32) -> u32 {
        let word = |at: usize| self.word(u32::try_from(at).unwrap_or(u32::MAX));
        let behind = brackets::behind_closing(&word, open as usize..end as usize);
        u32::try_from(behind).unwrap_or(end)
    }

    /// The keyword of a Rust item, behind attributes, visibility and qualifiers.
    pub(crate) fn rust_keyword(&self, first: u32, end: u32) -> u32 {
        let mut at = first;
        while at < end {
            at = match self.word(at) {
                "#" => self.closing(at + 1, end),
                "pub" if self.word(at + 1) == "(" => self.closing(at + 1, end),
                "pub" | "unsafe" | "default" | "async" => at + 1,
                "const" if matches!(self.word(at + 1), "fn" | "unsafe" | "async" | "extern") => {
                    at + 1
                }
                // `extern "C" fn`, but not `extern crate` nor `extern "C" {`.
                "extern" if self.word(at + 2) == "fn" => at + 2,
                _ => return at,
            };
        }
        first
    }

    fn definition(&self, index: u32, unit: &Unit) -> Part {
        let rust = self.file.language != LanguageKind::Python;
        let kind = self.kind_of(unit);
        let closes = rust && unit.end > unit.body && self.word(unit.end - 1) == "}";
        let body = (unit.body, unit.end - u32::from(closes));
        let head_end = unit.body - u32::from(rust && self.word(unit.body.max(1) - 1) == "{");
        let name = match kind {
            PartKind::Impl => self.impl_name(unit, head_end),
            _ => unit.name_span.of(&self.file.text).unwrap_or("").to_owned(),
        };
        let parts = match kind {
            PartKind::Struct | PartKind::Enum | PartKind::Union => self.fields(body),
            PartKind::Class | PartKind::Trait | PartKind::Impl => self.parts(body, true),
            PartKind::Module => merged(self.parts(body, false)),
            _ => Vec::new(),
        };
        Part {
            kind,
            binds: match kind {
                PartKind::Impl => Vec::new(),
                _ => vec![name.clone()],
            },
            name,
            of_type: match kind {
                PartKind::Impl => unit.name_span.of(&self.file.text).unwrap_or("").to_owned(),
                _ => String::new(),
            },
            head: (unit.first, head_end),
            body,
            lines: self.lines((unit.first, unit.end)),
            leaf: None,
            unit: Some(index),
            parts,
        }
    }

    fn kind_of(&self, unit: &Unit) -> PartKind {
        let keyword = || match self.file.language {
            LanguageKind::Python => "class",
            LanguageKind::Rust => self.word(self.rust_keyword(unit.first, unit.body)),
            // Whatever stands before it: a struct's fields are compared one by one all the same.
            LanguageKind::Kernel => "class",
        };
        match unit.kind {
            UnitKind::Module => PartKind::Module,
            UnitKind::Impl => PartKind::Impl,
            UnitKind::Method => PartKind::Method,
            UnitKind::Function if keyword() == "macro_rules" => PartKind::Macro,
            UnitKind::Function => PartKind::Function,
            _ => match keyword() {
                "struct" => PartKind::Struct,
                "enum" => PartKind::Enum,
                "union" => PartKind::Union,
                "trait" | "auto" => PartKind::Trait,
                _ => PartKind::Class,
            },
        }
    }

    /// `impl Trait for Type`, without the generics of the `impl` itself and without bounds.
    fn impl_name(&self, unit: &Unit, end: u32) -> String {
        let header = self.impl_header(unit.first, end);
        format!("impl {}", self.text(header))
    }

    /// The tokens between `impl`, with its generics, and `where` or the body.
    pub(crate) fn impl_header(&self, first: u32, end: u32) -> Range {
        let keyword = self.rust_keyword(first, end);
        let (mut start, mut depth) = (keyword + 1, 0i32);
        if self.word(start) == "<" {
            for at in start..end {
                depth += i32::from(self.word(at) == "<") - i32::from(self.word(at) == ">");
                if depth == 0 {
                    start = at + 1;
                    break;
                }
            }
        }
        let stop = (start..end).find(|at| self.word(*at) == "where");
        (start, stop.unwrap_or(end))
    }

    /// The text of some tokens on one line.
    pub(crate) fn text(&self, (first, end): Range) -> String {
        let start = self.token(first).map_or(0, |token| token.start);
        let last = end.checked_sub(1).and_then(|last| self.token(last));
        let stop = last.map_or(start, |last| last.span().end).max(start);
        let text = self.file.text.get(start as usize..stop as usize);
        let words: Vec<&str> = text.unwrap_or("").split_whitespace().collect();
        words.join(" ")
    }

    /// Fields and variants: what stands between commas.
    fn fields(&self, (first, end): Range) -> Vec<Part> {
        let (mut found, mut start, mut depth) = (Vec::new(), first, 0i32);
        for at in first..=end {
            match self.word(at) {
                "(" | "[" | "{" | "<" if at < end => depth += 1,
                ")" | "]" | "}" | ">" if at < end => depth -= 1,
                "," if depth <= 0 && at < end => {
                    found.push(self.field((start, at)));
                    start = at + 1;
                }
                _ if at == end && start < end => found.push(self.field((start, end))),
                _ => {}
            }
        }
        found
    }

    fn field(&self, range: Range) -> Part {
        let name = self.rust_keyword(range.0, range.1);
        let text = self.word(name).to_owned();
        self.plain(PartKind::Field, text, range)
    }

    /// A part without a unit and without parts; all of it is body.
    fn plain(&self, kind: PartKind, name: String, range: Range) -> Part {
        let binds = if name.is_empty() {
            Vec::new()
        } else {
            vec![name.clone()]
        };
        Part {
            kind,
            name,
            of_type: String::new(),
            binds,
            head: (range.0, range.0),
            body: range,
            lines: self.lines(range),
            leaf: None,
            unit: None,
            parts: Vec::new(),
        }
    }

    fn statement(&self, range: Range, in_type: bool, found: &mut Vec<Part>) {
        match self.file.language {
            LanguageKind::Python => self.python_statement(range, found),
            LanguageKind::Rust => self.rust_statement(range, in_type, found),
            LanguageKind::Kernel => {
                found.push(self.plain(PartKind::Statement, String::new(), range));
            }
        }
    }

    fn python_statement(&self, range: Range, found: &mut Vec<Part>) {
        let is_import = self.token(range.0).is_some_and(|t| t.has(marks::IMPORT));
        if is_import {
            return self.imports(range, range.0, found);
        }
        if let Some(inside) = self.imports_for_type_checkers(range) {
            for import in inside {
                self.imports(import, import.0, found);
            }
            return;
        }
        let empty = matches!(self.text(range).as_str(), "pass" | "..." | ";" | "");
        if empty {
            return;
        }
        found.push(self.python_part(range));
    }

    /// What a Python statement is that neither imports nor defines by a block.
    fn python_part(&self, range: Range) -> Part {
        let binds = self.python_binds(range);
        let compound = (range.0 + 1..range.1)
            .any(|at| self.token(at).is_some_and(|t| t.has(marks::STATEMENT)));
        let kind = if binds.is_empty() || compound {
            PartKind::Statement
        } else {
            PartKind::Constant
        };
        let name = match (binds.as_slice(), compound) {
            ([name], false) => name.clone(),
            _ => String::new(),
        };
        let plain = self.plain(kind, name, range);
        Part { binds, ..plain }
    }

    /// The import statements of an `if TYPE_CHECKING:` that has nothing else, and no other branch.
    fn imports_for_type_checkers(&self, (first, end): Range) -> Option<Vec<Range>> {
        let starts = |at: &u32| self.token(*at).is_some_and(|t| t.has(marks::STATEMENT));
        let begin: Vec<u32> = (first + 1..end).filter(starts).collect();
        let colon = begin.first()?.checked_sub(1)?;
        let asked = (first + 1..colon)
            .map(|at| self.word(at))
            .collect::<String>();
        let is_for_types = self.word(first) == "if"
            && matches!(
                asked.as_str(),
                "TYPE_CHECKING" | "typing.TYPE_CHECKING" | "t.TYPE_CHECKING"
            );
        let is_import = |at: &u32| self.token(*at).is_some_and(|t| t.has(marks::IMPORT));
        if !is_for_types || !begin.iter().all(is_import) {
            return None;
        }
        let ends = begin.iter().skip(1).copied().chain([end]);
        Some(begin.iter().copied().zip(ends).collect())
    }

    /// The names that a Python statement binds, those of statements inside of it included.
    fn python_binds(&self, (first, end): Range) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut inside = None;
        for at in first..end {
            let starts = at == first || self.token(at).is_some_and(|t| t.has(marks::STATEMENT));
            if !starts || inside.is_some_and(|column| self.column(at) > column) {
                continue;
            }
            inside = None;
            let word = |ahead: u32| self.word(at + ahead);
            match word(0) {
                "def" | "class" => names.push(word(1).to_owned()),
                "async" => names.push(word(2).to_owned()),
                "import" | "from" => {
                    let next = (at + 1..end)
                        .find(|next| self.token(*next).is_some_and(|t| t.has(marks::STATEMENT)));
                    let leaves = imports::leaves(self, (at, next.unwrap_or(end)));
                    names.extend(leaves.into_iter().map(|leaf| leaf.bound));
                }
                _ => names.extend(self.python_targets(at, end)),
            }
            if matches!(word(0), "def" | "class" | "async") {
                inside = Some(self.column(at));
            }
        }
        names.sort();
        names.dedup();
        names
    }

    /// The targets of `a = …`, `a, b = …`, `a: T = …`, `a += …`.
    fn python_targets(&self, first: u32, end: u32) -> Vec<String> {
        let mut names = Vec::new();
        let mut at = first;
        while at < end {
            let token = self.token(at);
            let is_name = token.is_some_and(|t| t.class == coalesce_model::TokenClass::Word);
            match self.word(at) {
                "(" | "," | "*" | ")" => at += 1,
                "=" | ":" | "+=" | "-=" | "|=" | "*=" if !names.is_empty() => return names,
                name if is_name => {
                    names.push(name.to_owned());
                    at += 1;
                }
                _ => return Vec::new(),
            }
        }
        Vec::new()
    }

    fn rust_statement(&self, range: Range, in_type: bool, found: &mut Vec<Part>) {
        if matches!(self.text(range).as_str(), ";" | "") {
            return;
        }
        let keyword = self.rust_keyword(range.0, range.1);
        let name = self.word(keyword + 1);
        let kind = match self.word(keyword) {
            "use" => return self.imports(range, keyword, found),
            "extern" if name == "crate" => return self.imports(range, keyword, found),
            "const" | "static" if name != "_" => PartKind::Constant,
            "type" => PartKind::Alias,
            "struct" => PartKind::Struct,
            "enum" => PartKind::Enum,
            "trait" => PartKind::Trait,
            "mod" => PartKind::Module,
            "fn" if in_type => PartKind::Method,
            "fn" => PartKind::Function,
            _ => PartKind::Statement,
        };
        let name = match (kind, name) {
            (PartKind::Statement, _) => "",
            (_, "mut") => self.word(keyword + 2),
            (_, name) => name,
        };
        let plain = self.plain(kind, name.to_owned(), range);
        let callable = matches!(kind, PartKind::Function | PartKind::Method);
        found.push(if callable {
            // A declaration is all signature.
            Part {
                head: range,
                body: (range.1, range.1),
                ..plain
            }
        } else {
            plain
        });
    }

    /// One part for each name that an import statement brings.
    fn imports(&self, range: Range, keyword: u32, found: &mut Vec<Part>) {
        for leaf in imports::leaves(self, (keyword, range.1)) {
            let part = self.plain(PartKind::Import, leaf.bound.clone(), leaf.tokens);
            found.push(Part {
                head: (range.0, keyword),
                leaf: Some(leaf),
                ..part
            });
        }
    }
}

/// `impl` blocks of one header and without attributes are one: where a method stands among them has
/// no meaning.
fn merged(parts: Vec<Part>) -> Vec<Part> {
    let mut first: FxHashMap<String, usize> = FxHashMap::default();
    let mut kept: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        let plain = part.kind == PartKind::Impl && !part.name.contains(" for ");
        let known = first.get(&part.name).copied().filter(|_| plain);
        match known.and_then(|at| kept.get_mut(at)) {
            Some(before) => before.parts.extend(part.parts),
            None => {
                if plain {
                    first.insert(part.name.clone(), kept.len());
                }
                kept.push(part);
            }
        }
    }
    kept
}
