//! Places that show the full name of a type, where a type gets another one.
//!
//! What only people read is told as a note: what `Debug` writes, what a panic, a line of a log or an error says. By
//! every other text a program may decide.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Finding, Subject};

use super::Reader;
use crate::{
    facts::{ItemKind, Origin, SourceFacts},
    lexer::{self, Token, TokenKind},
    resolve::{FileId, ItemId, Res, UseSite},
    words::{GIVING_UP_MACROS, KEYWORDS, LOG_MACROS, PRELUDE},
};

mod messages;

use self::messages::Messages;

/// Derives that make a type an error.
const DERIVES_OF_ERRORS: [&str; 2] = ["Error", "Snafu"];

impl Reader<'_> {
    /// Tells the places that show the full name of a type.
    pub(super) fn names_of_types(&mut self) {
        let Some(name) = self.first_type() else {
            return;
        };
        let why = format!("this shows the full names of types, and that of `{name}` changes");
        let mut errors = None;
        for (file, source) in self.world.sources() {
            let text = self.texts.text(&source.path);
            let Some(text) = text.filter(|text| text.contains("type_name")) else {
                continue;
            };
            let shown = self.shown_in(file, &text);
            if shown.is_empty() {
                continue;
            }
            let errors = errors.get_or_insert_with(|| self.names_of_errors());
            let in_message = |span| self.is_in_message((file, &text), span);
            let messages = Messages::read(&text, errors, &in_message);
            let (for_people, others): (Vec<ByteSpan>, Vec<ByteSpan>) =
                shown.into_iter().partition(|span| messages.say(*span));
            if let Some(span) = others.first() {
                let said = span.of(&text).unwrap_or_default();
                self.tell(&source.path, *span, said, why.clone());
            } else if let Some(span) = for_people.first() {
                // What `Debug` writes and what a panic says is for people, and no program may rely on it.
                let message = format!("{why}, in what is written for people");
                let note = Finding::note(source.path.clone(), message);
                self.notes.push(note.at(*span));
            }
        }
    }

    /// A type that moves or gives way, or a trait that names the types that it is for.
    fn first_type(&self) -> Option<String> {
        let types = [
            ItemKind::Struct,
            ItemKind::Enum,
            ItemKind::Union,
            ItemKind::Trait,
        ];
        let mut replaced = self.relocation.replaced.keys();
        let given_way = replaced.find(|item| types.contains(&self.world[**item].kind));
        let of_pieces = || self.first_type_of_pieces(&types);
        given_way
            .map(|item| self.world[*item].name.clone())
            .or_else(of_pieces)
    }

    fn first_type_of_pieces(&self, types: &[ItemKind]) -> Option<String> {
        self.relocation.pieces.iter().find_map(|piece| {
            let facts = self.world.facts(piece.file);
            let mut items = facts.items.iter();
            let own =
                items.find(|item| types.contains(&item.kind) && piece.span.contains(item.span))?;
            Some(facts.name(own.name.name).to_owned())
        })
    }

    /// The places in a text that ask for the name of a type, which may be one that moves.
    fn shown_in(&self, file: FileId, text: &str) -> Vec<ByteSpan> {
        let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
        let shown = (0..tokens.len()).filter(|at| shows_type(&tokens, *at, text));
        let may_move = |at: &usize| {
            let argument = type_argument(&tokens, *at);
            argument.is_none_or(|argument| self.may_name_what_moves(file, argument, text))
        };
        let keeps_last = self.keeps_last_names();
        let says_more = |at: &usize| !(keeps_last && shows_last_name(&tokens, *at, text));
        shown
            .filter(says_more)
            .filter(may_move)
            .filter_map(|at| tokens.get(at))
            .map(|one| one.span)
            .collect()
    }

    /// Whether nothing gets another name than it has, but for those of the modules around it.
    fn keeps_last_names(&self) -> bool {
        let last = |name: &str| name.rsplit("::").next().map(str::to_owned);
        let mut changes = self.relocation.mapping.changes.iter();
        changes
            .all(|change| change.subject != Subject::Item || last(&change.from) == last(&change.to))
    }

    /// Whether types that stand between angle brackets may be, or hold, one that moves.
    fn may_name_what_moves(&self, file: FileId, argument: &[Token], text: &str) -> bool {
        let (Some(first), Some(last)) = (argument.first(), argument.last()) else {
            return true;
        };
        let around = first.span.cover(last.span);
        let mut read = BTreeSet::new();
        let mut moves = false;
        let source = &self.world[file];
        self.world.visit_file(source, &mut |facts, site| {
            let starts = site.segments.first().map(|one| one.span);
            if !starts.is_some_and(|start| around.contains(start)) {
                return;
            }
            read.extend(site.segments.iter().map(|one| one.span.start));
            let first = site.segments.first().map(|one| facts.name(one.name));
            let led = site
                .trace
                .steps
                .last()
                .into_iter()
                .flat_map(|one| one.all());
            let mut led = led.map(|(res, _)| res).peekable();
            moves |= match (first, led.peek()) {
                (_, Some(_)) => led.any(|res| self.may_be_moved(res)),
                (Some(name), None) => !PRELUDE.contains(name),
                (None, None) => true,
            } || !matches!(site.site, UseSite::Path(_));
        });
        let is_read = |one: &Token| match one.span.of(text).unwrap_or_default() {
            "Self" => !self.may_self_move(file, around, text),
            word => !one.is_ident() || KEYWORDS.contains(word) || read.contains(&one.span.start),
        };
        moves || !argument.iter().all(is_read)
    }

    /// Whether `Self` around a place may be a type that moves, or hold one.
    fn may_self_move(&self, file: FileId, place: ByteSpan, text: &str) -> bool {
        let sites = self.world.impls().iter();
        let around = sites.filter(|one| one.file == file && one.span.contains(place));
        let Some(nearest) = around.min_by_key(|one| one.span.len()) else {
            return true;
        };
        let tokens = lexer::tokens(text, nearest.span);
        let mut words = tokens.iter().map(|one| one.span.of(text));
        let head = words
            .by_ref()
            .skip_while(|word| *word != Some("impl"))
            .take_while(|word| *word != Some("{"));
        let is_plain = !head.flatten().any(|word| word == "<");
        let of = nearest.of.filter(|_| is_plain);
        of.is_none_or(|of| self.may_be_moved(Res::Item(of)))
    }

    /// Whether a name may lead to a type that moves.
    fn may_be_moved(&self, res: Res) -> bool {
        let Res::Item(item) = res else {
            return !matches!(res, Res::External(_) | Res::Module(_));
        };
        // Whatever an alias stands for.
        self.world[item].kind == ItemKind::TypeAlias || self.is_moved(item)
    }

    /// Whether a piece that moves defines an item, or another one takes its place.
    fn is_moved(&self, item: ItemId) -> bool {
        if self.relocation.replaced.contains_key(&item) {
            return true;
        }
        let mut definitions = self.world[item].definitions.iter();
        definitions.any(|(file, at)| {
            let span = self.world.facts(*file).item(*at).span;
            let mut pieces = self.relocation.pieces.iter();
            pieces.any(|piece| piece.file == *file && piece.span.contains(span))
        })
    }

    /// The names of types that are errors, by an `impl` or a derive.
    fn names_of_errors(&self) -> BTreeSet<String> {
        let world = self.world;
        let implementing = world
            .impls()
            .iter()
            .filter(|one| one.trait_name(world) == Some("Error"));
        let implementing = implementing.filter_map(|one| one.of);
        let mut found: BTreeSet<String> =
            implementing.map(|item| world[item].name.clone()).collect();
        for (file, _) in world.sources() {
            let facts = world.facts(file);
            let derived = derives_of_errors(facts);
            let items = facts.items.iter().filter(|item| {
                let head = ByteSpan::new(item.span.start, item.name.span.start);
                derived.iter().any(|derive| head.contains(*derive))
            });
            found.extend(items.map(|item| facts.name(item.name.name).to_owned()));
        }
        found
    }

    /// Whether a place stands in what a panic or a line of a log says.
    fn is_in_message(&self, (file, text): (FileId, &str), span: ByteSpan) -> bool {
        let facts = self.world.facts(file);
        let mut calls = facts
            .macro_calls
            .iter()
            .filter(|call| call.body.contains(span));
        calls.any(|call| {
            let path = facts.segments(facts.path(call.path).segments);
            let name = path.last().map_or("", |last| facts.name(last.name));
            message_of(name, call.body, text).is_some_and(|said| said.contains(span))
        })
    }
}

/// Where derives of a file stand that make a type an error.
fn derives_of_errors(facts: &SourceFacts) -> Vec<ByteSpan> {
    let derives = facts
        .paths
        .iter()
        .filter(|path| path.origin == Origin::Attribute);
    let last = derives.filter_map(|path| facts.segments(path.segments).last());
    last.filter(|last| DERIVES_OF_ERRORS.contains(&facts.name(last.name)))
        .map(|last| last.span)
        .collect()
}

/// Whether a token is the standard library's function that says the name of a type. What it is asked
/// about can only be said behind `::`; what is called `type_name` otherwise is somebody's own.
fn shows_type(tokens: &[Token], at: usize, text: &str) -> bool {
    let word = |at: usize| tokens.get(at).and_then(|one| one.span.of(text));
    let before = at.checked_sub(1).and_then(word);
    let follows = (word(at + 1), word(at + 2));
    match word(at) {
        _ if matches!(before, Some("." | "fn")) => false,
        Some("type_name") => matches!(follows, (Some(":"), Some(":")) | (Some("as"), _)),
        Some("type_name_of_val") => {
            !matches!(follows.0, Some(":")) || matches!(follows.1, Some(":"))
        }
        _ => false,
    }
}

/// Whether only what stands behind the last `::` is kept of what `type_name` says.
fn shows_last_name(tokens: &[Token], at: usize, text: &str) -> bool {
    let Some(argument) = type_argument(tokens, at) else {
        return false;
    };
    // `::<`, what is asked about, and `>`.
    let behind = tokens.iter().skip(at + argument.len() + 5);
    let words = behind.map(|token| token.span.of(text).unwrap_or_default());
    let words: Vec<&str> = words.take(10).collect();
    let keeps = |split, take| words == ["(", ")", ".", split, "(", "\"::\"", ")", ".", take, "("];
    keeps("rsplit", "next") || keeps("split", "last")
}

/// What `type_name` is asked about: the tokens between the angle brackets behind it.
fn type_argument(tokens: &[Token], at: usize) -> Option<&[Token]> {
    let colons = tokens.get(at + 1..at + 3)?;
    let open = at + 3;
    if !colons.iter().all(|one| one.is(b':')) || !tokens.get(open)?.is(b'<') {
        return None;
    }
    let mut depth = 0_usize;
    let close = (open..tokens.len()).find(|at| {
        let is = |at: usize, byte: u8| tokens.get(at).is_some_and(|one| one.is(byte));
        // `fn() -> T`
        let is_arrow = is(*at, b'>') && is(at - 1, b'-');
        depth += usize::from(is(*at, b'<'));
        depth -= usize::from(is(*at, b'>') && !is_arrow);
        depth == 0
    })?;
    tokens.get(open + 1..close)
}

/// What of the arguments of a macro says why a program gives up, or what it logs: behind what is asserted.
pub(super) fn message_of(name: &str, body: ByteSpan, text: &str) -> Option<ByteSpan> {
    let asserted = match name {
        "assert" | "debug_assert" | "ensure" => 1,
        "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => 2,
        "eprint" | "eprintln" => return Some(body),
        _ if GIVING_UP_MACROS.contains(name) || LOG_MACROS.contains(name) => return Some(body),
        _ => return None,
    };
    let mut depth = 0_usize;
    let mut commas = lexer::tokens(text, body).into_iter().filter(|token| {
        match token.kind {
            TokenKind::Open(_) => depth += 1,
            TokenKind::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is(b',')
    });
    let last = commas.nth(asserted - 1)?;
    Some(ByteSpan::new(last.span.end, body.end))
}
