//! `#[non_exhaustive]` binds other crates than the one that says it: they may neither make such a value by its fields, nor
//! list all of it.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{Check, Piece};
use crate::{
    facts::SourceFacts,
    lexer::{self, TokenKind},
    resolve::{ItemId, Res, Site},
};

impl Check<'_> {
    /// What uses a type that leaves, from outside of the crate that it goes to.
    pub(super) fn left_by_non_exhaustive(&mut self, piece: &Piece) {
        let to = self.mapping.world[piece.to].name.clone();
        if !self.is_named_in(piece, &|_, after| after != piece.to) {
            return;
        }
        self.words(piece, &mut |word, _| {
            (word == "non_exhaustive").then(|| {
                format!(
                    "it is named outside of `{to}`, where a literal or a `match` may not list all of \
                     its fields or variants any more"
                )
            })
        });
    }

    /// What leaves, and uses a type that does not go to the same crate.
    pub(super) fn leaves_non_exhaustive(&mut self, piece: &Piece) {
        let world = self.mapping.world;
        let Some(text) = self.mapping.texts.text(&world[piece.file].path) else {
            return;
        };
        let own = self.items_of(piece);
        let mut found = Vec::new();
        world.visit_file(&world[piece.file], &mut |facts, site| {
            let first = site.segments.first().map(|first| first.span);
            if first.is_some_and(|first| piece.span.contains(first)) {
                let used = self.used_open_ended((piece, &own), (facts, &site), &text);
                found.extend(used);
            }
        });
        for (span, name) in found {
            self.found.unproven.push(Unproven {
                path: world[piece.file].path.clone(),
                span: Some(span),
                kind: UnprovenKind::Equivalence,
                why: format!(
                    "`{name}` is `#[non_exhaustive]`, and another crate may neither make it by its fields nor list all of it"
                ),
                name,
            });
        }
    }

    /// The type, or enumeration, of another crate that a site makes or takes apart.
    fn used_open_ended(
        &self,
        (piece, own): (&Piece, &BTreeSet<ItemId>),
        (facts, site): (&SourceFacts, &Site<'_>),
        text: &str,
    ) -> Option<(ByteSpan, String)> {
        let world = self.mapping.world;
        let last = site.trace.steps.last()?;
        let is_apart = |item: &ItemId| {
            let home = world[*item].module;
            self.mapping.krate(home) == self.mapping.krate(piece.from)
                && self.mapping.after(home).krate != piece.to
                && !own.contains(item)
        };
        let span = site.segments.last()?.span;
        let mut led = last.all();
        let name = facts.name(site.segments.last()?.name).to_owned();
        let is_made = is_made_or_listed(text, site, span);
        let is_used = led.any(|(res, _)| match res {
            Res::Item(item) => is_apart(&item) && is_made && self.says(item).any(),
            // Who only makes one, or asks for one, may: a `match` has to be open, and a variant of its own may be bound.
            Res::Variant(item, _) if is_apart(&item) => {
                let said = self.says(item);
                said.of_all && is_arm(text, span) || said.of_parts && is_made
            }
            _ => false,
        });
        is_used.then_some((span, name))
    }

    /// Where the definition of an item says it.
    fn says(&self, item: ItemId) -> Said {
        let world = self.mapping.world;
        let mut said = Said::default();
        for (file, at) in &world[item].definitions {
            let fact = world.facts(*file).item(*at);
            let text = self.mapping.texts.text(&world[*file].path);
            let text = text.unwrap_or_default();
            for token in lexer::tokens(&text, fact.span) {
                if token.span.of(&text) == Some("non_exhaustive") {
                    let is_above = token.span.start < fact.name.span.start;
                    said.of_all |= is_above;
                    said.of_parts |= !is_above;
                }
            }
        }
        said
    }
}

/// What `#[non_exhaustive]` stands on.
#[derive(Default)]
struct Said {
    /// A type.
    of_all: bool,
    /// A variant.
    of_parts: bool,
}

impl Said {
    const fn any(&self) -> bool {
        self.of_all || self.of_parts
    }
}

/// Whether a path is the pattern of an arm of a `match`, or a part of one.
fn is_arm(text: &str, span: ByteSpan) -> bool {
    let start = span.end as usize;
    let end = text.floor_char_boundary(text.len().min(start + LONGEST_PATTERN));
    let tokens = lexer::tokens(text, ByteSpan::from_range(start..end));
    let opens = tokens
        .first()
        .is_some_and(|first| matches!(first.kind, TokenKind::Open(b'(' | b'{')));
    let next = match opens {
        true => lexer::closing(&tokens, 0).map(|close| close + 1),
        false => Some(0),
    };
    let word = |at: usize| tokens.get(at).and_then(|token| token.span.of(text));
    next.is_none_or(|at| match (word(at), word(at + 1)) {
        (Some("="), Some(">")) | (Some("if"), _) => true,
        // `a || b` is none.
        (Some("|"), other) => other != Some("|"),
        _ => false,
    })
}

/// So much of a text behind a path is looked at for the end of its pattern, in bytes.
const LONGEST_PATTERN: usize = 4096;

/// Whether a literal or a pattern of the type begins with a path: `Type { … }`, `Type(…)`.
fn is_made_or_listed(text: &str, site: &Site<'_>, span: ByteSpan) -> bool {
    let behind = text
        .get(span.end as usize..)
        .unwrap_or_default()
        .trim_start();
    let start = site
        .segments
        .first()
        .map_or(span.start, |first| first.span.start);
    let before = text.get(..start as usize).unwrap_or_default().trim_end();
    let is_head = ["->", "impl", "for", "dyn"]
        .iter()
        .any(|word| before.ends_with(word));
    !is_head && behind.starts_with(['{', '('])
}
