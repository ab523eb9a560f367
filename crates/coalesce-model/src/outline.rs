//! A source file as the duplicate finder sees it: its tokens without comments and docstrings, and
//! the units that they make up. Data only: languages fill it, nothing here reads a grammar.

pub mod brackets;
pub mod locals;

use crate::ByteSpan;

/// What a token is, as far as comparing needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum TokenClass {
    /// A name.
    Word,
    /// A word of the language, or one that stands in every method (`self`).
    Keyword,
    /// An operator or a bracket.
    Punct,
    /// A number.
    Number,
    /// A string without spaces: a key, a path, a format.
    Key,
    /// A string that people read: messages differ between copies without meaning.
    Prose,
}

/// What else is known of a token: bits of [`OutlineToken::marks`].
pub mod marks {
    /// A name that the function around it declares: a parameter or a variable.
    pub const LOCAL: u8 = 1;
    /// A name that is called.
    pub const CALLEE: u8 = 2;
    /// A name behind a `.` or `::`.
    pub const ATTRIBUTE: u8 = 4;
    /// The name of a parameter, where it is declared.
    pub const PARAMETER: u8 = 8;
    /// The name of a unit, where it is defined.
    pub const DEFINED: u8 = 16;
    /// The first token of a statement.
    pub const STATEMENT: u8 = 32;
    /// Part of an import statement.
    pub const IMPORT: u8 = 64;
    /// The keyword of an argument that is passed by name.
    pub const KEYWORD_ARGUMENT: u8 = 128;
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlineToken {
    /// Where it is, in bytes of the text.
    pub span: ByteSpan,
    /// What it is.
    pub class: TokenClass,
    /// Bits of [`marks`].
    pub marks: u8,
}

impl OutlineToken {
    /// Whether it has this mark.
    #[must_use]
    pub const fn has(self, mark: u8) -> bool {
        self.marks & mark != 0
    }

    /// How it is written in the text that it was read from.
    #[must_use]
    pub fn word(self, text: &str) -> &str {
        self.span.of(text).unwrap_or("")
    }
}

/// How a token of a list is written; empty where there is none.
#[must_use]
pub fn word_at<'t>(tokens: &[OutlineToken], at: usize, text: &'t str) -> &'t str {
    tokens.get(at).map_or("", |token| token.word(text))
}

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnitKind {
    /// The file as a whole, or a module inside of it.
    Module,
    /// A class, struct, enum or trait with its body.
    Class,
    /// An `impl` block.
    Impl,
    /// A function outside of classes.
    Function,
    /// A function of a class or `impl`.
    Method,
    /// A statement with a body, or a long statement, of a module itself.
    Block,
    /// A `try` around imports, wherever it stands.
    GuardedImport,
    /// Import statements in a row.
    Imports,
}

/// A part of a file that can be a copy of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineUnit {
    /// What it is.
    pub kind: UnitKind,
    /// Its name, empty for what has none.
    pub name: ByteSpan,
    /// The unit around it: an index into [`Outline::units`].
    pub parent: Option<u32>,
    /// First token: an index into [`Outline::tokens`].
    pub first: u32,
    /// First token of the body; equal to `first` for what has no head.
    pub body: u32,
    /// One past the last token.
    pub end: u32,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
}

impl OutlineUnit {
    /// Says where it ends: one past its last token, and on which line that stands.
    pub fn finish(&mut self, end: u32, line: u32) {
        self.end = end;
        self.lines.1 = line.max(self.lines.0);
    }
}

/// Tokens and units of one file. Units are sorted by their first token, outer ones first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Tokens, in order.
    pub tokens: Vec<OutlineToken>,
    /// Units, the module itself first.
    pub units: Vec<OutlineUnit>,
}
