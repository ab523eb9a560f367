//! One file, ready to be compared: tokens as numbers, units, and what its comments allow.
//!
//! A token's number is a hash of its bytes, so that files need no common table of names and can be
//! read on any thread; two names that share a number by chance only make two units look a little
//! more alike.

use std::sync::Arc;

use coalesce_model::{
    ByteSpan, LanguageKind, Outline, OutlineToken, TokenClass, TreePath, UnitKind, outline::marks,
};
use xxhash_rust::xxh3::xxh3_64;

/// One token, in 12 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Hash of its bytes.
    pub id: u32,
    /// First byte in the text.
    pub start: u32,
    /// Bytes; longer tokens saturate, which only cuts what is shown of them.
    pub bytes: u16,
    /// What it is.
    pub class: TokenClass,
    /// Bits of [`marks`].
    pub marks: u8,
}

/// Stands for any local name.
const LOCAL: u32 = 0x4c4f_4341;
/// Stands for any message.
const PROSE: u32 = 0x5052_4f53;

impl Token {
    fn new(text: &str, token: &OutlineToken) -> Self {
        let bytes = text.as_bytes().get(token.span.range()).unwrap_or_default();
        let told = match token.class {
            TokenClass::Key => without_quotes(bytes),
            _ => bytes,
        };
        Self {
            id: id_of(told),
            start: token.span.start,
            bytes: u16::try_from(token.span.len()).unwrap_or(u16::MAX),
            class: token.class,
            marks: token.marks,
        }
    }

    /// Whether it has this mark.
    #[must_use]
    pub const fn has(&self, mark: u8) -> bool {
        self.marks & mark != 0
    }

    /// Its number when local names and messages do not count.
    #[must_use]
    pub const fn blind(&self) -> u32 {
        match self.class {
            TokenClass::Prose => PROSE,
            _ if self.has(marks::LOCAL) => LOCAL,
            _ => self.id,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn span(&self) -> ByteSpan {
        ByteSpan::new(self.start, self.start + u32::from(self.bytes))
    }
}

/// A string without its quotes, of which some languages have several kinds.
fn without_quotes(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'\'' | b'"', inside @ .., b'\'' | b'"'] => inside,
        _ => bytes,
    }
}

/// The number of a name.
#[must_use]
pub fn id_of(bytes: &[u8]) -> u32 {
    let hash = xxh3_64(bytes);
    // Both halves, so that no bit of the hash is lost.
    u32::try_from((hash ^ (hash >> 32)) & 0xffff_ffff).unwrap_or(0)
}

/// A part of a file that can be a copy of another one.
#[derive(Clone, Debug)]
pub struct Unit {
    /// What it is.
    pub kind: UnitKind,
    /// Number of its name; 0 for what has none.
    pub name: u32,
    /// Its name in the text.
    pub name_span: ByteSpan,
    /// The unit around it: an index into [`SourceFile::units`].
    pub parent: Option<u32>,
    /// First token.
    pub first: u32,
    /// First token of the body.
    pub body: u32,
    /// One past the last token.
    pub end: u32,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
    /// Why it may be a copy, as a comment in the text says.
    pub allowed: Option<String>,
}

impl Unit {
    /// Lines that it takes.
    #[must_use]
    pub const fn line_count(&self) -> u32 {
        self.lines.1 - self.lines.0 + 1
    }
}

/// One file, ready to be compared.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Where it is.
    pub path: TreePath,
    /// Its language.
    pub language: LanguageKind,
    /// Its text.
    pub text: Arc<str>,
    /// Tokens without comments and docstrings.
    pub tokens: Vec<Token>,
    /// Units, outer ones first; the module itself is the first.
    pub units: Vec<Unit>,
}

impl SourceFile {
    /// The file at `path`, of which the language made `outline`.
    #[must_use]
    pub fn new(path: TreePath, language: LanguageKind, text: Arc<str>, outline: &Outline) -> Self {
        let (tokens, places) = normal(&text, &outline.tokens);
        let place = |at: u32| places.get(at as usize).copied().unwrap_or(0);
        let units = outline.units.iter().map(|unit| Unit {
            kind: unit.kind,
            name: name_id(&text, unit.name),
            name_span: unit.name,
            parent: unit.parent,
            first: place(unit.first),
            body: place(unit.body),
            end: place(unit.end),
            lines: unit.lines,
            allowed: None,
        });
        let mut file = Self {
            path,
            language,
            tokens,
            units: units.collect(),
            text,
        };
        file.read_allowances();
        file.keep_texts_of_types();
        file
    }

    /// What a type says outside of its functions is its content, not a message: two of the same
    /// fields with other texts are two.
    fn keep_texts_of_types(&mut self) {
        let Self { tokens, units, .. } = self;
        let mut keep = vec![false; tokens.len()];
        // Units come outer ones first, so inner ones decide.
        for unit in units.iter() {
            let range = unit.first as usize..unit.end as usize;
            let inside = unit.kind == UnitKind::Class;
            keep.get_mut(range).unwrap_or_default().fill(inside);
        }
        for (token, _) in tokens.iter_mut().zip(keep).filter(|(_, keep)| *keep) {
            if token.class == TokenClass::Prose {
                token.class = TokenClass::Key;
            }
        }
    }

    /// The tokens of a unit, head included.
    #[must_use]
    pub fn tokens_of(&self, unit: &Unit) -> &[Token] {
        let range = unit.first as usize..unit.end as usize;
        self.tokens.get(range).unwrap_or_default()
    }

    /// The tokens of a unit's body.
    #[must_use]
    pub fn body_of(&self, unit: &Unit) -> &[Token] {
        let range = unit.body as usize..unit.end as usize;
        self.tokens.get(range).unwrap_or_default()
    }

    /// A unit's name with the names around it, module left out: `Class.method`.
    #[must_use]
    pub fn item_name(&self, unit: &Unit) -> String {
        let mut names = Vec::new();
        let mut next = Some(unit);
        while let Some(unit) = next {
            let name = unit.name_span.of(&self.text).unwrap_or("");
            if !name.is_empty() {
                names.push(name);
            }
            let parent = unit
                .parent
                .and_then(|parent| self.units.get(parent as usize));
            next = parent;
        }
        names.reverse();
        names.join(self.language.separator())
    }

    /// Finds `coalesce: allow(duplicate, reason)` and gives it to the unit that it stands in or
    /// before.
    fn read_allowances(&mut self) {
        const MARK: &[u8] = b"coalesce: allow(duplicate";
        let places: Vec<usize> = memchr::memmem::find_iter(self.text.as_bytes(), MARK).collect();
        for place in places {
            let after = self.text.get(place + MARK.len()..).unwrap_or("");
            let line_end = after.find('\n').unwrap_or(after.len());
            let inside = after.get(..line_end).unwrap_or("");
            let Some(reason) = inside.rsplit_once(')').map(|(reason, _)| reason) else {
                continue;
            };
            let reason = reason.trim_start_matches(',').trim().to_owned();
            let before = self.text.as_bytes().get(..place).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before).count() + 1;
            self.allow(u32::try_from(line).unwrap_or(u32::MAX), reason);
        }
    }

    /// The unit that begins on the next line of code, else the innermost around the line.
    fn allow(&mut self, line: u32, reason: String) {
        let text = Arc::clone(&self.text);
        let blank = |number: u32| {
            let line = text.lines().nth(number as usize - 1).unwrap_or("").trim();
            line.is_empty() || line.starts_with('#') || line.starts_with("//")
        };
        let mut next = line + 1;
        while (next as usize) < line as usize + 16 && blank(next) {
            next += 1;
        }
        let begins = |unit: &&mut Unit| unit.lines.0 == next && unit.kind != UnitKind::Module;
        if let Some(unit) = self.units.iter_mut().find(begins) {
            unit.allowed = Some(reason);
            return;
        }
        let around = |unit: &&mut Unit| unit.lines.0 <= line && line <= unit.lines.1;
        if let Some(unit) = self.units.iter_mut().rfind(around) {
            unit.allowed = Some(reason);
        }
    }
}

/// Tokens without what only layout asks for: a comma before a closing bracket, and the parts of a
/// string that goes on over lines. Also where each token went, and the end.
fn normal(text: &str, outlined: &[OutlineToken]) -> (Vec<Token>, Vec<u32>) {
    let mut tokens: Vec<Token> = Vec::with_capacity(outlined.len());
    let mut places = Vec::with_capacity(outlined.len() + 1);
    let is_string = |class| matches!(class, TokenClass::Key | TokenClass::Prose);
    let byte = |token: &Token| text.as_bytes().get(token.start as usize).copied();
    for outline in outlined {
        let token = Token::new(text, outline);
        if let Some(last) = tokens.last_mut() {
            let goes_on =
                is_string(last.class) && is_string(token.class) && !token.has(marks::STATEMENT);
            if goes_on {
                last.class = TokenClass::Prose;
                last.bytes = u16::try_from(token.span().end - last.start).unwrap_or(u16::MAX);
                places.push(u32::try_from(tokens.len() - 1).unwrap_or(u32::MAX));
                continue;
            }
            let closes = token.class == TokenClass::Punct
                && matches!(byte(&token), Some(b')' | b']' | b'}'));
            if closes && last.class == TokenClass::Punct && byte(last) == Some(b',') {
                tokens.pop();
            }
        }
        places.push(u32::try_from(tokens.len()).unwrap_or(u32::MAX));
        tokens.push(token);
    }
    places.push(u32::try_from(tokens.len()).unwrap_or(u32::MAX));
    (tokens, places)
}

fn name_id(text: &str, name: ByteSpan) -> u32 {
    if name.is_empty() {
        return 0;
    }
    name.of(text).map_or(0, |name| id_of(name.as_bytes()))
}
