//! A file as the planter sees it: its statements, what each binds and brings, and where its lines are.
//!
//! All of it is the outline and the grammar that the duplicate finder reads files by.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use coalesce_clones::SourceFile;
use coalesce_model::{
    ByteSpan, Edit, EditSet, LanguageKind, TokenClass, TreePath, UnitKind,
    grammar::{ImportLeaf, StatementKind, Tokens},
    outline::marks,
};
use coalesce_python::Python;
use coalesce_rust::Rust;

/// What a statement of a module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A function.
    Function,
    /// A class, struct, enum or trait.
    Type,
    /// An `impl` block.
    Impl,
    /// Something that binds one name to a value.
    Value,
    /// Imports.
    Import,
    /// Anything else.
    Other,
}

/// One statement of a module.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// What it binds; of an `impl` the type that it is for.
    pub names: Vec<String>,
    /// First token.
    pub first: u32,
    /// One past the last token.
    pub end: u32,
    /// First token of the body; equal to `first` for what has no head.
    pub body: u32,
    /// The token of the keyword of an import.
    pub keyword: u32,
    /// What an import brings.
    pub leaves: Vec<ImportLeaf>,
}

impl Part {
    /// Whether it is a definition that can be copied by itself.
    pub const fn is_item(&self) -> bool {
        matches!(self.kind, PartKind::Function | PartKind::Type)
    }

    /// Its only name.
    pub fn name(&self) -> &str {
        match self.names.as_slice() {
            [name] => name,
            _ => "",
        }
    }

    const fn with(kind: PartKind, names: Vec<String>, (first, end): (u32, u32)) -> Self {
        Self {
            kind,
            names,
            first,
            end,
            body: first,
            keyword: first,
            leaves: Vec::new(),
        }
    }
}

/// One file.
pub struct Code {
    /// Its tokens and units.
    pub file: SourceFile,
    /// Its statements, in order.
    pub parts: Vec<Part>,
}

impl Code {
    /// Reads a text; `None` where it is of no language that is planted.
    pub fn read(language: LanguageKind, path: &TreePath, text: &str) -> Option<Self> {
        let text = Arc::from(text);
        let file = match language {
            LanguageKind::Python => SourceFile::outlined(&Python, path, text)?,
            LanguageKind::Rust => SourceFile::outlined(&Rust, path, text)?,
            LanguageKind::Kernel => return None,
        };
        let mut code = Self {
            file,
            parts: Vec::new(),
        };
        code.read_parts();
        Some(code)
    }

    fn read_parts(&mut self) {
        let (mut at, end) = (0, self.file.count());
        while at < end {
            let unit = self.file.definition_at(at).and_then(|unit| self.unit(unit));
            match unit.filter(|unit| unit.end > at) {
                Some(unit) => {
                    let part = self.definition(unit);
                    at = part.end;
                    self.parts.push(part);
                }
                None => {
                    let next = self.file.grammar.statement_end(&self.file, (at, end));
                    let next = next.max(at + 1);
                    let parts = self.statement((at, next));
                    self.parts.extend(parts);
                    at = next;
                }
            }
        }
    }

    fn unit(&self, at: u32) -> Option<&coalesce_clones::Unit> {
        self.file.units.get(at as usize)
    }

    fn definition(&self, unit: &coalesce_clones::Unit) -> Part {
        let kind = match unit.kind {
            UnitKind::Function => PartKind::Function,
            UnitKind::Class => PartKind::Type,
            UnitKind::Impl => PartKind::Impl,
            _ => PartKind::Other,
        };
        let name = unit.name_span.of(self.text()).unwrap_or_default();
        Part {
            body: unit.body,
            ..Part::with(kind, vec![name.to_owned()], (unit.first, unit.end))
        }
    }

    fn statement(&self, range: (u32, u32)) -> Vec<Part> {
        let grammar = self.file.grammar;
        match grammar.statement(&self.file, range, false) {
            StatementKind::Nothing => Vec::new(),
            StatementKind::Imports(imports) => {
                // Those for type checkers stand in a statement of their own, which is left as it is.
                let plain =
                    matches!(imports.as_slice(), [(first, _, end)] if (*first, *end) == range);
                let parts = imports.into_iter().map(|(first, keyword, end)| {
                    let leaves = grammar.import_leaves(&self.file, (keyword, end));
                    let names = leaves.iter().map(|leaf| leaf.bound.clone()).collect();
                    let kind = if plain {
                        PartKind::Import
                    } else {
                        PartKind::Other
                    };
                    Part {
                        keyword,
                        leaves,
                        ..Part::with(kind, names, (first, end))
                    }
                });
                parts.collect()
            }
            StatementKind::Part { binds, .. } => {
                let kind = match binds.len() {
                    1 => PartKind::Value,
                    _ => PartKind::Other,
                };
                vec![Part::with(kind, binds, range)]
            }
        }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.file.text
    }

    /// Its language.
    pub const fn language(&self) -> LanguageKind {
        self.file.language
    }

    /// How a token is written.
    pub fn word(&self, at: u32) -> &str {
        self.file.word(at)
    }

    /// First byte of a token.
    pub fn start(&self, at: u32) -> usize {
        let bytes = self.file.bytes(at);
        bytes.map_or(self.text().len(), |(start, _)| start)
    }

    /// One past the last byte of a token.
    pub fn stop(&self, at: u32) -> usize {
        self.file
            .bytes(at)
            .map_or(self.text().len(), |(_, stop)| stop)
    }

    /// Where the line of a byte begins.
    pub fn line_start(&self, at: usize) -> usize {
        let before = self.text().get(..at).unwrap_or_default();
        before.rfind('\n').map_or(0, |line| line + 1)
    }

    /// Behind the end of the line of a byte.
    pub fn line_end(&self, at: usize) -> usize {
        let behind = self.text().get(at..).unwrap_or_default();
        behind
            .find('\n')
            .map_or(self.text().len(), |line| at + line + 1)
    }

    /// What stands before a byte on its line.
    pub fn indent(&self, at: usize) -> &str {
        self.text().get(self.line_start(at)..at).unwrap_or_default()
    }

    /// Whether a statement can be copied by itself: a definition, or a constant or a type of Rust.
    pub fn is_copyable(&self, part: &Part) -> bool {
        part.is_item() || self.keyword(part) == "const" || self.is_type(part)
    }

    /// Whether a statement defines a type; in Rust also one without a block.
    pub fn is_type(&self, part: &Part) -> bool {
        let keyword = self.keyword(part);
        part.kind == PartKind::Type || matches!(keyword, "struct" | "type" | "static")
    }

    /// Whether a definition is compiled for tests alone.
    pub fn is_for_tests(&self, part: &Part) -> bool {
        let head = (part.first, part.body.max(self.head(part)));
        self.file.grammar.is_for_tests(&self.file, head)
    }

    /// Whether a definition can be named from another module.
    pub fn is_seen(&self, part: &Part) -> bool {
        self.language() == LanguageKind::Python || self.word(self.head(part)) == "pub"
    }

    /// The modules of Rust that it declares as files: paths may begin with them.
    pub fn modules(&self) -> Vec<String> {
        let parts = self.parts.iter();
        let modules = parts.filter(|part| self.keyword(part) == "mod");
        modules.map(|part| part.name().to_owned()).collect()
    }

    /// What a value of Rust is declared by; empty for all else.
    fn keyword(&self, part: &Part) -> &str {
        let tokens: &dyn Tokens = &self.file;
        if self.language() != LanguageKind::Rust || part.kind != PartKind::Value {
            return "";
        }
        let head = self.head(part);
        match (self.word(head), self.word(head + 1)) {
            ("pub", "(") => self.word(tokens.behind_closing(head + 1, part.end)),
            ("pub", word) | (word, _) => word,
        }
    }

    /// Where a statement begins behind its attributes.
    fn head(&self, part: &Part) -> u32 {
        let tokens: &dyn Tokens = &self.file;
        let mut at = part.first;
        while self.word(at) == "#" && at < part.end {
            at = tokens.behind_closing(at + 1, part.end);
        }
        at
    }

    /// The one statement that binds a name; `None` where none or several do.
    pub fn part(&self, name: &str) -> Option<&Part> {
        let mut binding = self.parts.iter().filter(|part| {
            part.kind != PartKind::Impl && part.names.iter().any(|bound| bound == name)
        });
        let only = binding.next()?;
        binding.next().is_none().then_some(only)
    }

    /// Whether anything binds a name.
    pub fn binds(&self, name: &str) -> bool {
        let mut names = self.parts.iter().flat_map(|part| &part.names);
        names.any(|bound| bound == name)
    }

    /// The names that tokens say, those behind a dot and those of arguments aside.
    pub fn words(&self, (first, end): (u32, u32)) -> BTreeSet<String> {
        let not_meant = marks::ATTRIBUTE | marks::KEYWORD_ARGUMENT;
        let named = |at: &u32| self.file.is_name(*at) && !self.file.has(*at, not_meant);
        let words = (first..end)
            .filter(named)
            .map(|at| self.word(at).to_owned());
        words.collect()
    }

    /// The lines of a statement, with the comments right above it, and behind it what is indented.
    pub fn lines(&self, part: &Part) -> Range<usize> {
        let mut start = self.line_start(self.start(part.first));
        while let Some(above) = start.checked_sub(1) {
            let line = self.line_start(above);
            if !self.is_comment(self.text().get(line..above).unwrap_or_default()) {
                break;
            }
            start = line;
        }
        let mut end = self.line_end(self.stop(part.end.max(1) - 1).max(1) - 1);
        let mut next = end;
        while self.language() == LanguageKind::Python && next < self.text().len() {
            let line = self
                .text()
                .get(next..self.line_end(next))
                .unwrap_or_default();
            let blank = line.trim().is_empty();
            if !blank && !line.starts_with([' ', '\t']) {
                break;
            }
            next = self.line_end(next);
            end = if blank { end } else { next };
        }
        start..end
    }

    fn is_comment(&self, line: &str) -> bool {
        match self.language() {
            LanguageKind::Python => line.starts_with('#') && !line.starts_with("#!"),
            _ => line.starts_with("//") && !line.starts_with("//!"),
        }
    }

    /// The text of a statement.
    pub fn of(&self, part: &Part) -> &str {
        self.text().get(self.lines(part)).unwrap_or_default()
    }

    /// The text with some of it replaced; `None` where that does not fit together.
    pub fn edited(&self, edits: Vec<(Range<usize>, String)>) -> Option<String> {
        let edits = edits.into_iter();
        let edits = edits.map(|(range, text)| Edit::replace(ByteSpan::from_range(range), text));
        let set = EditSet::from_edits(self.text(), edits.collect()).ok()?;
        set.apply(self.text()).ok()
    }

    /// Whole numbers and decimals without more, as tokens.
    pub fn numbers(&self, (first, end): (u32, u32)) -> Vec<u32> {
        let plain = |at: &u32| {
            let token = self.file.tokens.get(*at as usize);
            let number = token.is_some_and(|token| token.class == TokenClass::Number);
            let behind_dot = *at > 0 && self.word(*at - 1) == ".";
            number && !behind_dot && is_plain(self.word(*at))
        };
        (first..end).filter(plain).collect()
    }

    /// Of each definition the names that it says, and those that its `impl`s say; of what is for tests alone nothing.
    pub fn uses(&self) -> BTreeMap<&str, BTreeSet<String>> {
        let mut uses: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for part in &self.parts {
            let product = part.kind != PartKind::Import && !self.is_for_tests(part);
            if product && !part.name().is_empty() {
                let words = self.words((part.first, part.end));
                uses.entry(part.name()).or_default().extend(words);
            }
        }
        uses
    }

    /// The definitions that come to mean something else when one does: it, and those that lead to it.
    pub fn reached_by(&self, changed: &str) -> BTreeSet<String> {
        let uses = self.uses();
        let mut reached = BTreeSet::from([changed.to_owned()]);
        loop {
            let more = uses.iter().filter(|(name, words)| {
                !reached.contains(**name) && words.iter().any(|word| reached.contains(word))
            });
            let more: Vec<String> = more.map(|(name, _)| (*name).to_owned()).collect();
            if more.is_empty() {
                return reached;
            }
            reached.extend(more);
        }
    }
}

fn is_plain(number: &str) -> bool {
    let (whole, rest) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(rest)
}
