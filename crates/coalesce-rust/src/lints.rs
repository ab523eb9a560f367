//! Which lints are on where: by attributes of modules and items, and by what manifests say of packages.

use std::collections::BTreeMap;

use coalesce_cargo::lints::lints;
use coalesce_model::{ByteSpan, Texts};

use crate::{
    facts::SourceFacts,
    lexer::{self, Token, TokenKind},
    resolve::{Body, CrateId, FileId, World},
};

/// Lints by name, and whether they are on.
pub(crate) type Levels = BTreeMap<String, bool>;

/// Words of attributes that set a lint, and whether they turn it on.
const LEVELS: &[(&str, bool)] = &[
    ("allow", false),
    ("expect", false),
    ("warn", true),
    ("deny", true),
    ("forbid", true),
];

/// A lint that an attribute sets.
pub(crate) struct Said {
    pub lint: String,
    pub level: &'static str,
    pub is_on: bool,
    /// Whether it is said under a condition alone, by `cfg_attr`.
    pub is_conditional: bool,
}

/// What the attributes say that a text begins with, also those of `cfg_attr`.
pub(crate) fn said(text: &str, span: ByteSpan) -> Vec<Said> {
    said_by(text, &lexer::attribute_tokens(text, span))
}

/// The same by the tokens of the attributes.
fn said_by(text: &str, tokens: &[Token]) -> Vec<Said> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(close) = attribute_end(tokens, at) {
        let attribute = tokens.get(at..close).unwrap_or_default();
        found.extend(said_in(text, attribute));
        at = close + 1;
    }
    found
}

/// What one attribute says.
fn said_in(text: &str, attribute: &[Token]) -> Vec<Said> {
    let is_conditional = attribute
        .iter()
        .any(|word| word.span.of(text) == Some("cfg_attr"));
    let mut found = Vec::new();
    for (start, word) in attribute.iter().enumerate() {
        let word = word.span.of(text).unwrap_or_default();
        let level = LEVELS.iter().find(|(level, _)| *level == word);
        if let Some((level, is_on)) = level {
            let list = attribute.get(start + 1..).unwrap_or_default();
            let named = listed(text, list).into_iter();
            found.extend(named.map(|lint| Said {
                lint,
                level,
                is_on: *is_on,
                is_conditional,
            }));
        }
    }
    found
}

/// Whether the attributes that a text begins with say `#[deprecated]`.
pub(crate) fn says_deprecated(text: &str, span: ByteSpan) -> bool {
    let tokens = lexer::attribute_tokens(text, span);
    let words = tokens.iter().map(|token| token.span.of(text));
    let words: Vec<&str> = words.map(Option::unwrap_or_default).collect();
    let mut starts = words.windows(3);
    starts.any(|said| said == ["#", "[", "deprecated"])
}

/// The token that closes the attribute at `at`.
fn attribute_end(tokens: &[Token], at: usize) -> Option<usize> {
    let hash = tokens.get(at).filter(|token| token.is(b'#'))?;
    let inner = tokens.get(at + 1)?.is(b'!');
    let open = at + 1 + usize::from(inner);
    let brackets = tokens.get(open)?.kind == TokenKind::Open(b'[');
    (hash.is(b'#') && brackets)
        .then(|| lexer::closing(tokens, open))
        .flatten()
}

/// The paths of a list in parentheses, up to a `reason = "…"`.
fn listed(text: &str, tokens: &[Token]) -> Vec<String> {
    let (Some(open), Some(close)) = (tokens.first(), lexer::closing(tokens, 0)) else {
        return Vec::new();
    };
    if open.kind != TokenKind::Open(b'(') {
        return Vec::new();
    }
    let mut found = vec![String::new()];
    for token in tokens.get(1..close).unwrap_or_default() {
        let word = token.span.of(text).unwrap_or_default();
        match (token.kind, found.last_mut()) {
            (TokenKind::Punct(b','), _) => found.push(String::new()),
            (_, Some(last)) => last.push_str(word),
            (_, None) => {}
        }
    }
    found.retain(|lint| !lint.is_empty() && !lint.contains('='));
    found
}

/// What the head of a body says of lints: of a file, or between the braces of a module.
pub(crate) fn of_head(world: &World, body: &Body, texts: &dyn Texts) -> Vec<Said> {
    let scope = world.facts(body.file).scope(body.scope);
    let Some(text) = texts.text(&world[body.file].path) else {
        return Vec::new();
    };
    let start = scope.span.start + u32::from(body.scope.0 != 0);
    said(&text, ByteSpan::new(start, scope.items_start.max(start)))
}

/// What the line that declares a body says of lints.
pub(crate) fn of_declaration(world: &World, body: &Body, texts: &dyn Texts) -> Vec<Said> {
    let Some((outer, at)) = body.declared else {
        return Vec::new();
    };
    let outer = &world[outer];
    let attributes = world.facts(outer.file).module(at).attributes;
    let own = attributes.zip(texts.text(&world[outer.file].path));
    own.map_or_else(Vec::new, |(span, text)| said(&text, span))
}

/// What is on in a body of a module: by its package, the modules around it, and itself.
pub(crate) fn around(world: &World, body: &Body, texts: &dyn Texts) -> Levels {
    let mut levels = match body.declared {
        Some((outer, _)) => around(world, &world[outer], texts),
        None => of_package(world, world[body.module].krate, texts),
    };
    set(&mut levels, of_declaration(world, body, texts));
    set(&mut levels, of_head(world, body, texts));
    levels
}

/// Whether a lint that is off by itself is on in a body of a module.
pub(crate) fn is_on(world: &World, body: &Body, lint: &str, texts: &dyn Texts) -> bool {
    around(world, body, texts).get(lint) == Some(&true)
}

/// Whether a lint that is on by itself is off at a place of a file, wherever that is compiled: by what the
/// definitions around it say, innermost first, then the modules, then the package. `names` are its own name and
/// those of its groups.
pub(crate) fn is_off(
    world: &World,
    place: (FileId, u32),
    names: &[&str],
    texts: &dyn Texts,
) -> bool {
    is_off_by(world, place, (names, true), texts)
}

/// The same of what the compiler says before it reads the attributes of the very thing that the place is on, as it
/// does of conditions.
pub(crate) fn is_off_around(
    world: &World,
    place: (FileId, u32),
    names: &[&str],
    texts: &dyn Texts,
) -> bool {
    is_off_by(world, place, (names, false), texts)
}

/// The same by the definitions around, and where `counts_own` by the one in whose attributes the place stands.
fn is_off_by(
    world: &World,
    (file, at): (FileId, u32),
    (names, counts_own): (&[&str], bool),
    texts: &dyn Texts,
) -> bool {
    let Some(text) = texts.text(&world[file].path) else {
        return false;
    };
    let facts = world.facts(file);
    let Some(body) = world.body_around(file, at).map(|body| &world[body]) else {
        return false;
    };
    let attributes = spans_around(facts, at, facts.scope(body.scope).span)
        .into_iter()
        .map(|span| lexer::attribute_tokens(&text, span));
    let counts =
        |tokens: &Vec<Token>| counts_own || tokens.last().is_none_or(|last| last.span.end <= at);
    let decided = attributes
        .filter(counts)
        .find_map(|tokens| decided(&said_by(&text, &tokens), names));
    decided.unwrap_or_else(|| is_off_in(world, body, names, texts))
}

/// The definitions around a place that stand inside of a span, the innermost first.
fn spans_around(facts: &SourceFacts, at: u32, inside: ByteSpan) -> Vec<ByteSpan> {
    let contains = |span: &ByteSpan| span.start <= at && at < span.end;
    let items = facts.items.iter().map(|one| one.span);
    let impls = facts.impls.iter().map(|one| one.span);
    let uses = facts.uses.iter().map(|one| one.span);
    let all = items.chain(impls).chain(uses);
    let mut spans: Vec<ByteSpan> = all
        .filter(|span| contains(span) && inside.start <= span.start && span.end <= inside.end)
        .collect();
    spans.sort_by_key(|span| span.len());
    spans
}

/// Whether a lint that is on by itself is off in a body, by its head and what is around it.
fn is_off_in(world: &World, body: &Body, names: &[&str], texts: &dyn Texts) -> bool {
    if let Some(is_off) = decided(&of_head(world, body, texts), names) {
        return is_off;
    }
    let Some((outer, _)) = body.declared else {
        let levels = package_levels(world, world[body.module].krate, texts);
        let mut own = levels
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()));
        return own.next_back().is_some_and(|(_, level)| level == "allow");
    };
    decided(&of_declaration(world, body, texts), names)
        .unwrap_or_else(|| is_off_in(world, &world[outer], names, texts))
}

/// Whether the attributes of one thing turn a lint off; `None` where they say nothing of it, or may not.
fn decided(said: &[Said], names: &[&str]) -> Option<bool> {
    let own = said.iter().rev();
    let mut own = own.filter(|said| names.contains(&said.lint.as_str()));
    own.find(|said| said.is_on || !said.is_conditional)
        .map(|said| !said.is_on)
}

fn set(levels: &mut Levels, said: Vec<Said>) {
    levels.extend(said.into_iter().map(|said| (said.lint, said.is_on)));
}

/// What the package of a crate says.
fn of_package(world: &World, krate: CrateId, texts: &dyn Texts) -> Levels {
    let levels = package_levels(world, krate, texts).into_iter();
    levels
        .map(|(lint, level)| (lint, level != "allow"))
        .collect()
}

/// What the manifest of a crate's package says of lints, and that of its workspace where it is asked.
pub(crate) fn package_levels(
    world: &World,
    krate: CrateId,
    texts: &dyn Texts,
) -> Vec<(String, String)> {
    lints(texts, &world.package_of(krate).directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attributes_of_a_head_are_read_and_no_others() {
        let text = "//! Docs.\n#![deny(missing_docs, clippy::panic, reason = \"so\")]\n\
                    #![cfg_attr(not(test), warn(unreachable_pub))]\n#[allow(dead_code)]\n\
                    pub fn f() { #[warn(unused_results)] g() }\n";
        let found = said(text, ByteSpan::from_range(0..text.len()));
        let found: Vec<_> = found
            .iter()
            .map(|said| (said.lint.as_str(), said.level, said.is_on))
            .collect();
        assert_eq!(
            found,
            [
                ("missing_docs", "deny", true),
                ("clippy::panic", "deny", true),
                ("unreachable_pub", "warn", true),
                ("dead_code", "allow", false),
            ]
        );
    }
}
