//! Members that a macro writes and keeps to the module which calls it: code that stands in there reads them, and
//! from elsewhere does not see them.
//!
//! What a macro makes is no item of the world: it goes by the words of its body and of its calls.

use std::{collections::BTreeSet, ops::Range};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::relocation::{Piece, Relocation};
use crate::{
    facts::SourceFacts,
    lexer::{self, Token, TokenKind},
    resolve::{FileId, ItemId, ModuleId, is_within},
};

/// What a macro makes where it is called.
struct Made {
    name: String,
    /// The modules that call it.
    homes: BTreeSet<ModuleId>,
    /// What its types may be called: words of its body behind the keyword of a type, and those of its calls.
    types: BTreeSet<String>,
    private: Private,
    /// Items that it makes for the module around the one that calls it, `pub(super)`; one that a call names is any
    /// word of that.
    restricted: BTreeSet<String>,
}

/// Words that items begin with.
const ITEMS: [&str; 9] = [
    "fn", "struct", "union", "enum", "trait", "type", "const", "static", "mod",
];

/// The members that a macro writes without a visibility.
#[derive(Default)]
struct Private {
    /// Whether tuples have some.
    positions: bool,
    /// Fields and functions by their names; one that a call names is any word of that.
    names: BTreeSet<String>,
}

/// Places of what moves that may read such a member, and will not see it.
pub(super) fn out_of_sight(relocation: &Relocation<'_>) -> Vec<Unproven> {
    let mapping = relocation.mapping;
    let world = mapping.world;
    if relocation.pieces.is_empty() {
        return Vec::new();
    }
    let made = world.expansions().macros().map(|(item, calls)| {
        let homes = calls.iter().map(|call| world.module_of(call.space));
        let files = calls.iter().map(|call| call.file).collect();
        Made::read(relocation, item, (homes.collect(), files))
    });
    let made: Vec<Made> = made.flatten().collect();
    let mut found = BTreeSet::new();
    let pieces = relocation.pieces.iter().filter(|piece| piece.members);
    for piece in pieces.filter(|_| !made.is_empty()) {
        let Some(text) = mapping.texts.text(&world[piece.file].path) else {
            continue;
        };
        let tokens = lexer::tokens(&text, piece.span);
        let left = made.iter().filter(|one| one.is_left_by(relocation, piece));
        found.extend(left.filter_map(|one| one.read_in(relocation, piece, (&text, &tokens))));
        let named = made.iter();
        found.extend(named.filter_map(|one| one.named_in(relocation, piece, (&text, &tokens))));
    }
    found.into_iter().collect()
}

impl Made {
    /// Of a macro that makes types with members of their own module; `None` of others.
    fn read(
        relocation: &Relocation<'_>,
        item: ItemId,
        (homes, files): (BTreeSet<ModuleId>, BTreeSet<FileId>),
    ) -> Option<Self> {
        let world = relocation.mapping.world;
        let (file, at) = *world[item].definitions.first()?;
        let text = relocation.mapping.texts.text(&world[file].path)?;
        let tokens = lexer::tokens(&text, world.facts(file).item(at).span);
        let mut made = Self {
            name: world[item].name.clone(),
            homes,
            types: BTreeSet::new(),
            private: Private::default(),
            restricted: BTreeSet::new(),
        };
        let is_named_by_calls = made.read_definition(&text, &tokens);
        let is_restricted_by_calls = made.read_restricted(&text, &tokens);
        if made.types.is_empty() && made.restricted.is_empty() && !is_restricted_by_calls {
            return None;
        }
        let words = files.iter().flat_map(|file| {
            let facts = world.facts(*file);
            facts.module_words.iter().map(|word| facts.name(*word))
        });
        let words: BTreeSet<String> = words.map(str::to_owned).collect();
        if is_named_by_calls {
            made.private.names.extend(words.iter().cloned());
        }
        if is_restricted_by_calls {
            made.restricted.extend(words.iter().cloned());
        }
        made.types.extend(words);
        Some(made)
    }

    /// Notes the types and the private members that a definition makes; whether calls name some of these.
    fn read_definition(&mut self, text: &str, tokens: &[Token]) -> bool {
        let word = |at: usize| tokens.get(at).and_then(|token| token.span.of(text));
        let mut is_named_by_calls = false;
        // What a trait and its `impl`s have is seen as the trait is.
        let mut of_trait = 0;
        for at in 0..tokens.len() {
            match word(at) {
                Some("trait" | "impl") => {
                    let end = end_of_trait(text, tokens, at);
                    of_trait = of_trait.max(end.unwrap_or_default());
                    // Of a type that others define it makes functions as well.
                    let of_type = (end.is_none() && word(at) == Some("impl")).then(|| word(at + 1));
                    let of_type = of_type.flatten().filter(|word| is_type_or_given(word));
                    self.types.extend(of_type.map(str::to_owned));
                }
                Some("struct" | "union" | "enum") => {
                    self.types.extend(word(at + 1).map(str::to_owned));
                    is_named_by_calls |= self.private.fields(text, tokens, at);
                }
                Some("fn") if at >= of_trait && !is_shown(text, tokens, at) => {
                    let name = word(at + 1);
                    is_named_by_calls |= name == Some("$");
                    let name = name.filter(|name| *name != "$");
                    self.private.names.extend(name.map(str::to_owned));
                }
                _ => {}
            }
        }
        is_named_by_calls
    }

    /// Notes the items that a definition keeps to the module around its call; whether calls name some of these.
    fn read_restricted(&mut self, text: &str, tokens: &[Token]) -> bool {
        let word = |at: usize| tokens.get(at).and_then(|token| token.span.of(text));
        let mut is_named_by_calls = false;
        for at in 0..tokens.len() {
            let is_item = word(at).is_some_and(|word| ITEMS.contains(&word));
            if !is_item || !is_for_the_module_around(text, tokens, at) {
                continue;
            }
            match word(at + 1) {
                Some("$") => is_named_by_calls = true,
                name => self.restricted.extend(name.map(str::to_owned)),
            }
        }
        is_named_by_calls
    }

    /// The first place of a piece that may name an item which a call has made for the module around it alone, where the
    /// piece leaves that.
    fn named_in(
        &self,
        relocation: &Relocation<'_>,
        piece: &Piece,
        (text, tokens): (&str, &[Token]),
    ) -> Option<Unproven> {
        let mapping = relocation.mapping;
        let world = mapping.world;
        // What goes along with the call goes on being around it, or is told by itself.
        let mut stay = self.homes.iter().filter(|home| !mapping.is_changed(**home));
        let leaves = stay.any(|home| {
            let outer = world[*home].parent;
            outer.is_some_and(|outer| {
                is_within(world, piece.from, outer) && !piece.to.is_within(&mapping.after(outer))
            })
        });
        let mut words = tokens.iter().filter(|token| token.is_ident());
        let token = words.find(|token| {
            let word = token.span.of(text);
            leaves && word.is_some_and(|word| self.restricted.contains(word))
        })?;
        let name = token.span.of(text)?.to_owned();
        Some(Unproven {
            path: world[piece.file].path.clone(),
            span: Some(token.span),
            kind: UnprovenKind::MacroBuiltPath,
            why: format!(
                "`{}!` makes items `pub(super)`, for the module around its call, and whether `{name}` is one is not known",
                self.name
            ),
            name,
        })
    }

    /// Whether a piece comes to where it does not see what a call has made.
    fn is_left_by(&self, relocation: &Relocation<'_>, piece: &Piece) -> bool {
        let mapping = relocation.mapping;
        self.homes.iter().any(|home| {
            is_within(mapping.world, piece.from, *home)
                && !piece.to.is_within(&mapping.after(*home))
        })
    }

    /// The first place of a piece that may read a private member.
    fn read_in(
        &self,
        relocation: &Relocation<'_>,
        piece: &Piece,
        (text, tokens): (&str, &[Token]),
    ) -> Option<Unproven> {
        let world = relocation.mapping.world;
        let mut words = tokens.iter().filter(|token| token.is_ident());
        let is_type = |name: &str| self.types.contains(name);
        if !words.any(|token| token.span.of(text).is_some_and(is_type)) {
            return None;
        }
        let facts = world.facts(piece.file);
        let member = (0..tokens.len()).find_map(|at| {
            let (token, name) = self.private_at(text, tokens, at)?;
            let receiver = at.checked_sub(2).and_then(|at| tokens.get(at));
            let is_self = receiver.is_some_and(|one| one.span.of(text) == Some("self"));
            let is_known = is_self && self.is_another_self(facts, token.span.start);
            (!is_known).then(|| (token.span, name.to_owned()))
        });
        member.map(|(span, name)| Unproven {
            path: world[piece.file].path.clone(),
            span: Some(span),
            kind: UnprovenKind::UnknownType,
            why: format!(
                "`{}!` makes types, or functions of them, with members that their own module alone sees, and whether `{name}` asks for one \
                 is not known",
                self.name
            ),
            name,
        })
    }

    /// Whether `self` is of a type that the macro does not make.
    fn is_another_self(&self, facts: &SourceFacts, at: u32) -> bool {
        let inside = |span: ByteSpan| span.start <= at && at < span.end;
        let around = facts.impls.iter().filter(|one| inside(one.span));
        let around = around.min_by_key(|one| one.span.len());
        let of = around.and_then(|one| facts.segments(facts.path(one.self_path?).segments).last());
        of.is_some_and(|last| !self.types.contains(facts.name(last.name)))
    }

    /// The private member that a token reads, or whose value it gives a new one of a type: behind a dot, behind a
    /// path, by the type itself.
    fn private_at<'t>(
        &self,
        text: &'t str,
        tokens: &[Token],
        at: usize,
    ) -> Option<(Token, &'t str)> {
        let token = *tokens.get(at)?;
        let word = |at: usize| tokens.get(at).and_then(|token| token.span.of(text));
        let name = word(at)?;
        let before = at.checked_sub(1).and_then(word);
        let is_position = name.bytes().all(|byte| byte.is_ascii_digit());
        let is_member = self.private.names.contains(name) || self.private.positions && is_position;
        if is_member && matches!(before, Some("." | ":")) {
            return Some((token, name));
        }
        let is_type = name.starts_with(char::is_uppercase) && self.types.contains(name);
        let made = match word(at + 1) {
            Some("(") => self.private.positions,
            Some("{") => {
                let field = word(at + 2).is_some_and(|field| self.private.names.contains(field));
                field && matches!(word(at + 3), Some(":" | "," | "}"))
            }
            _ => false,
        };
        (is_type && made).then_some((token, name))
    }
}

impl Private {
    /// Adds those of a type at its keyword; whether calls name some.
    fn fields(&mut self, text: &str, tokens: &[Token], keyword: usize) -> bool {
        let rest = tokens.iter().enumerate().skip(keyword);
        let mut open = rest.filter(|(_, token)| {
            token.is(b';') || matches!(token.kind, TokenKind::Open(b'(' | b'{'))
        });
        // Variants are seen as the type is.
        let is_enum = tokens.get(keyword).and_then(|token| token.span.of(text)) == Some("enum");
        let Some((open, token)) = open.next().filter(|_| !is_enum) else {
            return false;
        };
        let Some(close) = lexer::closing(tokens, open) else {
            return false;
        };
        if token.kind != TokenKind::Open(b'(') {
            return self.named_fields(text, tokens, open..close);
        }
        self.positions |= (open..close).any(|at| {
            let begins = at == open || tokens.get(at).is_some_and(|token| token.is(b','));
            let first = tokens.get(at + 1).and_then(|token| token.span.of(text));
            begins && at + 1 < close && first != Some("pub")
        });
        false
    }

    /// Adds those with names between the braces of a type; whether calls name some.
    fn named_fields(&mut self, text: &str, tokens: &[Token], braces: Range<usize>) -> bool {
        let word = |at: usize| tokens.get(at).and_then(|token| token.span.of(text));
        let mut is_named_by_calls = false;
        for at in braces.skip(1) {
            let is_field = tokens.get(at).is_some_and(|token| token.is_ident())
                && word(at + 1) == Some(":")
                && word(at + 2) != Some(":");
            let by_call = word(at.wrapping_sub(1)) == Some("$");
            let before = at.wrapping_sub(1 + usize::from(by_call));
            let begins = matches!(word(before), Some("{" | "," | "]" | "("));
            match (is_field && begins, by_call) {
                (true, true) => is_named_by_calls = true,
                (true, false) => self.names.extend(word(at).map(str::to_owned)),
                (false, _) => {}
            }
        }
        is_named_by_calls
    }
}

/// Whether a word is called like a type, or begins what a call gives.
fn is_type_or_given(word: &str) -> bool {
    word == "$" || word.starts_with(char::is_uppercase)
}

/// Where the braces of a trait, or of an `impl` of one, close; `None` of an `impl` of a type alone.
fn end_of_trait(text: &str, tokens: &[Token], keyword: usize) -> Option<usize> {
    let word = |at: usize| tokens.get(at).and_then(|token| token.span.of(text));
    let open = (keyword..tokens.len()).find(|at| word(*at) == Some("{"))?;
    // `for<'a>` is of a bound.
    let is_of_trait = word(keyword) == Some("trait")
        || (keyword..open).any(|at| word(at) == Some("for") && word(at + 1) != Some("<"));
    is_of_trait.then(|| lexer::closing(tokens, open)).flatten()
}

/// Whether an item says `pub(super)`, or `pub(in …)`.
fn is_for_the_module_around(text: &str, tokens: &[Token], keyword: usize) -> bool {
    let word = |at: Option<usize>| tokens.get(at?).and_then(|token| token.span.of(text));
    let qualifiers = ["const", "async", "unsafe", "extern"];
    let mut at = keyword.checked_sub(1);
    while word(at).is_some_and(|word| qualifiers.contains(&word)) {
        at = at.and_then(|at| at.checked_sub(1));
    }
    if word(at) != Some(")") {
        return false;
    }
    let before = tokens.get(..at.unwrap_or_default()).unwrap_or_default();
    let open = before
        .iter()
        .rposition(|token| token.kind == TokenKind::Open(b'('));
    let said = open.and_then(|open| word(Some(open + 1)));
    word(open.and_then(|open| open.checked_sub(1))) == Some("pub")
        && matches!(said, Some("super" | "in"))
}

/// Whether a function says `pub`, or may: its macro is given what stands before it.
fn is_shown(text: &str, tokens: &[Token], keyword: usize) -> bool {
    let before = tokens.get(..keyword).unwrap_or_default().iter().rev();
    let mut words = before.map(|token| (token, token.span.of(text)));
    let qualifiers = ["const", "async", "unsafe", "extern"];
    let first = words.find(|(_, word)| !word.is_some_and(|word| qualifiers.contains(&word)));
    first.is_some_and(|(token, word)| word == Some("pub") || token.is(b')'))
}
