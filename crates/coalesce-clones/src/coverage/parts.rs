//! What a module, class or `impl` consists of, statement for statement: nothing of it is left out.
//!
//! Definitions come from the units of the file; what stands between them is cut into statements
//! as the grammar of the language says. It says what there is, and compares nothing.

pub(crate) use coalesce_model::grammar::TokenRange as Range;
use coalesce_model::{
    LineIndex, UnitKind,
    grammar::{ImportLeaf, PartKind, StatementKind, Tokens},
};
use rustc_hash::FxHashMap;

use crate::source::{SourceFile, Token, Unit};

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
    pub leaf: Option<ImportLeaf>,
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
}

impl<'f> Reader<'f> {
    pub(crate) fn new(file: &'f SourceFile) -> Self {
        Self {
            file,
            lines: LineIndex::new(&file.text),
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
        self.file.word(at)
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

    fn parts(&self, (first, end): Range, in_type: bool) -> Vec<Part> {
        let (mut found, mut at) = (Vec::new(), first);
        while at < end {
            let unit = self.file.definition_at(at);
            let unit = unit.and_then(|unit| Some((unit, self.file.units.get(unit as usize)?)));
            match unit.filter(|(_, unit)| unit.end > at && unit.end <= end) {
                Some((index, unit)) => {
                    found.push(self.definition(index, unit));
                    at = unit.end;
                }
                None => {
                    let grammar = self.file.grammar;
                    let next = grammar.statement_end(self.file, (at, end)).max(at + 1);
                    self.statement((at, next), in_type, &mut found);
                    at = next;
                }
            }
        }
        found
    }

    fn definition(&self, index: u32, unit: &Unit) -> Part {
        let braces = self.file.lexicon().has_braces();
        let kind = self.kind_of(unit);
        let closes = braces && unit.end > unit.body && self.word(unit.end - 1) == "}";
        let body = (unit.body, unit.end - u32::from(closes));
        let head_end = unit.body - u32::from(braces && self.word(unit.body.max(1) - 1) == "{");
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
        let head = (unit.first, unit.body);
        let grammar = self.file.grammar;
        match unit.kind {
            UnitKind::Module => PartKind::Module,
            UnitKind::Impl => PartKind::Impl,
            UnitKind::Method => PartKind::Method,
            kind => grammar.definition(self.file, head, kind != UnitKind::Function),
        }
    }

    /// The token of the word that says what is declared.
    pub(crate) fn keyword(&self, range: Range) -> u32 {
        self.file.grammar.keyword(self.file, range)
    }

    /// `impl Trait for Type`, without the generics of the `impl` itself and without bounds.
    fn impl_name(&self, unit: &Unit, end: u32) -> String {
        let header = self.impl_header(unit.first, end);
        format!("impl {}", self.text(header))
    }

    /// The tokens between `impl`, with its generics, and `where` or the body.
    pub(crate) fn impl_header(&self, first: u32, end: u32) -> Range {
        let keyword = self.keyword((first, end));
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
    pub(crate) fn text(&self, range: Range) -> String {
        let tokens: &dyn Tokens = self.file;
        let words: Vec<&str> = tokens.between(range).split_whitespace().collect();
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
        let name = self.keyword(range);
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
        match self.file.grammar.statement(self.file, range, in_type) {
            StatementKind::Nothing => {}
            StatementKind::Imports(imports) => {
                for (first, keyword, end) in imports {
                    self.imports((first, end), keyword, found);
                }
            }
            StatementKind::Part { kind, name, binds } => {
                let plain = self.plain(kind, name, range);
                let (head, body) = match kind.is_callable() {
                    // A declaration is all signature.
                    true => (range, (range.1, range.1)),
                    false => (plain.head, plain.body),
                };
                found.push(Part {
                    binds,
                    head,
                    body,
                    ..plain
                });
            }
        }
    }

    /// One part for each name that an import statement brings.
    fn imports(&self, range: Range, keyword: u32, found: &mut Vec<Part>) {
        for leaf in self.import_leaves((keyword, range.1)) {
            let part = self.plain(PartKind::Import, leaf.bound.clone(), leaf.tokens);
            found.push(Part {
                head: (range.0, keyword),
                leaf: Some(leaf),
                ..part
            });
        }
    }

    /// What an import statement brings that begins with its keyword.
    pub(crate) fn import_leaves(&self, range: Range) -> Vec<ImportLeaf> {
        self.file.grammar.import_leaves(self.file, range)
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
