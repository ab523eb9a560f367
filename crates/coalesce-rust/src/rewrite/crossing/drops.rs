//! Values without a name that are dropped at another time in another edition: those of a last expression and of what an
//! `if let` with an `else` asks since 2024, and what a closure takes along by parts since 2021.
//!
//! It matters where dropping does something that others see: of types of the tree with a `Drop`, of what holds one, and
//! of the standard library's locks and borrows. By names, since types of expressions are not known.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Texts};

use crate::{
    facts::{Item, ItemKind, SourceFacts},
    lexer::{self, Token, TokenKind},
    resolve::{FileId, World},
};

/// What is known of the types of a tree whose values do something when they are dropped.
#[derive(Default)]
pub(super) struct Droppers {
    /// The types.
    types: BTreeSet<String>,
    /// Functions and methods that return one.
    makers: BTreeSet<String>,
    /// The fields of the types.
    fields: BTreeSet<String>,
}

impl Droppers {
    pub fn of(world: &World, texts: &dyn Texts) -> Self {
        let mut found = Self::default();
        for site in world.impls() {
            let of = site.of.filter(|_| site.trait_name(world) == Some("Drop"));
            found.types.extend(of.map(|of| world[of].name.clone()));
        }
        if found.types.is_empty() {
            return found;
        }
        let sources: Vec<Source<'_>> = world
            .sources()
            .filter_map(|(file, source)| Some(Source::new(world, file, texts.text(&source.path)?)))
            .collect();
        while sources.iter().any(|source| found.hold_one(source)) {}
        for source in &sources {
            found.read_makers(source);
        }
        found
    }

    pub fn makes(&self, name: &str) -> bool {
        self.makers.contains(name) || self.types.contains(name)
    }

    pub fn is_type(&self, name: &str) -> bool {
        self.types.contains(name)
    }

    pub fn has_field(&self, name: &str) -> bool {
        self.fields.contains(name)
    }

    /// Adds the types of a file that hold one that is known; whether there was such.
    fn hold_one(&mut self, source: &Source<'_>) -> bool {
        let mut grew = false;
        for item in &source.facts.items {
            let is_type = matches!(
                item.kind,
                ItemKind::Struct | ItemKind::Enum | ItemKind::Union
            );
            let name = source.facts.name(item.name.name);
            let tokens = source.within(item);
            let holds = || {
                let mut words = tokens.iter().map(|token| source.said(token));
                words.any(|word| self.types.contains(word))
            };
            if is_type && (self.types.contains(name) || holds()) {
                grew |= self.types.insert(name.to_owned());
                let fields = tokens.windows(2).filter(
                    |pair| matches!(pair, [name, colon] if name.is_ident() && colon.is(b':')),
                );
                let fields = fields.filter_map(|pair| Some(source.said(pair.first()?).to_owned()));
                self.fields.extend(fields);
            }
        }
        grew
    }

    /// Adds the functions of a file that return one.
    fn read_makers(&mut self, source: &Source<'_>) {
        for (at, token) in source.tokens.iter().enumerate() {
            let name = source.tokens.get(at + 1).filter(|one| one.is_ident());
            let Some(name) = name.filter(|_| source.said(token) == "fn") else {
                continue;
            };
            let own = source.type_around(token.span);
            let returned = source.returned(at);
            let returns = returned.iter().any(|word| {
                let word = match *word {
                    "Self" => own.unwrap_or("Self"),
                    word => word,
                };
                self.types.contains(word)
            });
            if returns {
                self.makers.insert(source.said(name).to_owned());
            }
        }
    }
}

/// A file with its tokens.
struct Source<'w> {
    facts: &'w SourceFacts,
    text: std::sync::Arc<str>,
    tokens: Vec<Token>,
}

impl<'w> Source<'w> {
    fn new(world: &'w World, file: FileId, text: std::sync::Arc<str>) -> Self {
        let tokens = lexer::tokens(&text, ByteSpan::from_range(0..text.len()));
        Self {
            facts: world.facts(file),
            text,
            tokens,
        }
    }

    fn said(&self, token: &Token) -> &str {
        token.span.of(&self.text).unwrap_or_default()
    }

    fn within(&self, item: &Item) -> &[Token] {
        let starts = |at: u32| self.tokens.partition_point(|token| token.span.start < at);
        let range = starts(item.name.span.end)..starts(item.span.end);
        self.tokens.get(range).unwrap_or_default()
    }

    /// The type of the block around a place.
    fn type_around(&self, place: ByteSpan) -> Option<&'w str> {
        let mut impls = self.facts.impls.iter();
        let around = impls.find(|one| one.span.contains(place))?;
        let path = self.facts.path(around.self_path?);
        let last = self.facts.segments(path.segments).last()?;
        Some(self.facts.name(last.name))
    }

    /// The words of what the function at a token returns.
    fn returned(&self, at: usize) -> Vec<&str> {
        let returned = returned_by(&self.text, &self.tokens, at).into_iter();
        returned.map(|token| self.said(token)).collect()
    }
}

/// The tokens of what the function returns whose `fn` stands at a token: behind the arrow that follows its parameters,
/// up to its body or its bounds.
pub(super) fn returned_by<'t>(text: &str, tokens: &'t [Token], at: usize) -> Vec<&'t Token> {
    // Generic parameters may have lists and arrows of their own: `<F: Fn(u32) -> u32>`.
    let mut angles = 0_usize;
    let mut at = at;
    let open = loop {
        match tokens.get(at) {
            None => return Vec::new(),
            Some(token) if token.kind == TokenKind::Open(b'(') && angles == 0 => break at,
            Some(token) if token.is(b'<') => angles += 1,
            Some(token) if token.is(b'>') && !is_arrow_at(tokens, at.wrapping_sub(1)) => {
                angles = angles.saturating_sub(1);
            }
            Some(_) => {}
        }
        at += 1;
    };
    let Some(close) = lexer::closing(tokens, open) else {
        return Vec::new();
    };
    if !is_arrow_at(tokens, close + 1) {
        return Vec::new();
    }
    let mut nesting = 0_usize;
    let ends = |token: &&Token| {
        let is_end = token.kind == TokenKind::Open(b'{')
            || token.is(b';')
            || token.span.of(text) == Some("where");
        if nesting == 0 && is_end {
            return false;
        }
        match token.kind {
            TokenKind::Open(_) => nesting += 1,
            TokenKind::Close(_) => nesting = nesting.saturating_sub(1),
            _ => {}
        }
        true
    };
    tokens.iter().skip(close + 3).take_while(ends).collect()
}

fn is_arrow_at(tokens: &[Token], at: usize) -> bool {
    let is = |at: usize, punct| tokens.get(at).is_some_and(|token| token.is(punct));
    is(at, b'-') && is(at + 1, b'>')
}
