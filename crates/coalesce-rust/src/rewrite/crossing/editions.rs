//! What another edition reads otherwise than the one that a text was written in.

use std::{collections::BTreeSet, ops::Range};

use coalesce_model::{ByteSpan, Finding, Texts, TreePath, Unproven, UnprovenKind, finding::codes};

use super::{
    Around, Check, Piece, captures,
    drops::Droppers,
    known_makers::KnownMakers,
    temporaries::{MovedDrop, moved_drops, unknown_drops},
};
use crate::{
    discover::Edition,
    facts::{Item, ItemKind, Segment},
    lexer::{self, Token, TokenKind},
    resolve::{CrateId, World},
    rewrite::mapping::refusal,
    syntax,
    words::{EDITIONS, text_of},
};

/// Types and traits that the preludes of later editions add.
const ADDED: [&str; 5] = ["TryFrom", "TryInto", "FromIterator", "Future", "IntoFuture"];

/// Those of their methods that code calls, each with what has it.
const METHODS_OF_ADDED: [(&str, &str); 5] = [
    ("try_from", "TryFrom"),
    ("try_into", "TryInto"),
    ("from_iter", "FromIterator"),
    ("poll", "Future"),
    ("into_future", "IntoFuture"),
];

impl Check<'_> {
    /// Older editions read newer code otherwise, unless there is nothing in it that they could.
    pub(super) fn edition(
        &mut self,
        (from, to): (CrateId, CrateId),
        path: &TreePath,
        pieces: &[Piece],
    ) {
        let world = self.mapping.world;
        let (old, new) = (world[from].edition, world[to].edition);
        let message = format!(
            "it is written in edition {}, and would be read in edition {}",
            old.year(),
            new.year()
        );
        let mut leaving = pieces.iter().filter(|piece| {
            !piece.whole && piece.to == to && self.mapping.krate(piece.from) == from
        });
        let between = (old.min(new), old.max(new));
        let is_known = old != Edition::E2015 && new != Edition::E2015;
        let other = match is_known {
            true => leaving.find_map(|piece| self.difference(piece, between)),
            false => Some(EditionDifference::whole(path.clone())),
        };
        if let Some(other) = other.filter(|_| new < old || old == Edition::E2015 && new != old) {
            let help = "`cargo fix --edition` brings the older crate up".to_owned();
            let refused = refusal(other.path, message)
                .coded(codes::FORBIDDEN_IN_TARGET)
                .with_help(help);
            self.found.refusals.push(Finding {
                span: other.span,
                ..refused
            });
        } else if new != old {
            let warning = Finding::warning(path.clone(), message);
            self.found.notes.push(warning);
        }
    }

    /// Words that the edition of the other crate reads otherwise, once each.
    pub(super) fn words_of_editions(&mut self, piece: &Piece) {
        let world = self.mapping.world;
        let (old, new) = (
            world[self.mapping.krate(piece.from)].edition,
            world[piece.to].edition,
        );
        let newer = EDITIONS.iter();
        let newer = newer.filter(|(edition, _)| old < *edition && *edition <= new);
        let alike = self.words_alike(piece);
        for (edition, section) in newer {
            let mut told = BTreeSet::new();
            self.words(piece, &mut |word, around| {
                let is_given = word == "into_iter" && is_called_on_parameter(around);
                let is_meant = around.is_meant(word) && !alike.contains(word) && !is_given;
                let why = text_of(section, word).filter(|_| is_meant)?;
                told.insert(word.to_owned())
                    .then(|| format!("it goes to edition {}: {why}", edition.year()))
            });
        }
    }

    /// References to what is `static mut`, which are errors from edition 2024 on.
    pub(super) fn references_of_editions(&mut self, piece: &Piece) {
        let world = self.mapping.world;
        let old = world[self.mapping.krate(piece.from)].edition;
        if old >= Edition::E2024 || world[piece.to].edition < Edition::E2024 {
            return;
        }
        let variables = mutable_statics(world, self.mapping.texts);
        self.words(piece, &mut |word, around| {
            let is_one = variables.contains(word) && may_be_referred_to(around);
            is_one.then(|| {
                "it goes to edition 2024: a reference to what is `static mut` is an error there"
                    .to_owned()
            })
        });
    }

    /// Values that the edition of the other crate drops at another time, once each.
    pub(super) fn drops_of_editions(&mut self, piece: &Piece) {
        let world = self.mapping.world;
        let (old, new) = (
            world[self.mapping.krate(piece.from)].edition,
            world[piece.to].edition,
        );
        let is_between = |edition| old < edition && edition <= new;
        if !is_between(Edition::E2021) && !is_between(Edition::E2024) {
            return;
        }
        let droppers = &self.droppers;
        let droppers = droppers.get_or_init(|| Droppers::of(world, self.mapping.texts));
        let found = self.told_of_syntax(piece, |file| {
            let mut told = BTreeSet::new();
            let found = moved_drops(file, droppers, (old, new)).into_iter();
            let once = found.filter(|one| told.insert((one.name.clone(), one.why)));
            let reason = |one: MovedDrop| {
                let why = format!("it goes to edition {}: {}", new.year(), one.why);
                (one.place, one.name, why)
            };
            once.map(reason).collect()
        });
        self.found.unproven.extend(found);
    }

    /// Functions whose result is hidden behind a trait, and comes to borrow in edition 2024 what they are given.
    pub(super) fn captures_of_editions(&mut self, piece: &Piece) {
        let world = self.mapping.world;
        let old = world[self.mapping.krate(piece.from)].edition;
        if old >= Edition::E2024 || world[piece.to].edition < Edition::E2024 {
            return;
        }
        let found = self.told_of_syntax(piece, |file| {
            let reason = |one: captures::Captured| {
                let why = "it goes to edition 2024: what it returns counts as borrowing what it is given there, unless \
                           `use<…>` says otherwise";
                (one.place, one.name, why.to_owned())
            };
            captures::captured(file).into_iter().map(reason).collect()
        });
        self.found.unproven.extend(found);
    }

    /// What is told of the syntax of what moves: where, of what, and why.
    fn told_of_syntax(
        &self,
        piece: &Piece,
        read: impl FnOnce(&syn::File) -> Vec<(Range<usize>, String, String)>,
    ) -> Vec<Unproven> {
        let path = &self.mapping.world[piece.file].path;
        let text = self.mapping.texts.text(path);
        let inside = text.as_deref().and_then(|text| inside(text, piece.span));
        let Some((start, code)) = inside else {
            return Vec::new();
        };
        let _trees = syntax::Trees::begin();
        let Ok(file) = syntax::parse_file(code) else {
            return Vec::new();
        };
        let told = read(&file).into_iter().map(|(place, name, why)| Unproven {
            path: path.clone(),
            span: Some(ByteSpan::from_range(start + place.start..start + place.end)),
            kind: UnprovenKind::Equivalence,
            name,
            why,
        });
        told.collect()
    }

    /// Words that the other edition reads as this one does: methods of traits that the code imports by itself, and the
    /// name that what moves gives up.
    fn words_alike(&self, piece: &Piece) -> BTreeSet<String> {
        let imported = METHODS_OF_ADDED
            .iter()
            .filter(|(_, name)| self.is_imported(piece, name));
        let mut found: BTreeSet<String> = imported.map(|(word, _)| (*word).to_owned()).collect();
        let chunk = self.set.chunk_at(piece.file, piece.span.start);
        let moving = chunk.map(|chunk| self.set.moving(chunk.moving));
        found.extend(moving.and_then(|moving| {
            let old = &self.mapping.world[moving.item].name;
            (*old != moving.name).then(|| old.clone())
        }));
        found
    }

    /// Whether the code of a piece has a trait of the standard library by an import of its module, or of its own.
    fn is_imported(&self, piece: &Piece, name: &str) -> bool {
        let world = self.mapping.world;
        let facts = world.facts(piece.file);
        let body = world.body_around(piece.file, piece.span.start);
        let scope = body.map(|body| world[body].scope);
        facts.leaves.iter().any(|leaf| {
            let segments = facts.segments(leaf.segments);
            let said = |segment: Option<&Segment>| segment.map(|one| facts.name(one.name));
            let is_there = scope == Some(facts.declaration(leaf.declaration).scope)
                || piece.span.contains(leaf.span);
            let is_standard = matches!(said(segments.first()), Some("std" | "core"));
            is_there && is_standard && said(segments.last()) == Some(name)
        })
    }

    /// The first place of a text that one of two editions reads otherwise, or does not know.
    fn difference(
        &self,
        piece: &Piece,
        (older, newer): (Edition, Edition),
    ) -> Option<EditionDifference> {
        let path = &self.mapping.world[piece.file].path;
        let whole = || Some(EditionDifference::whole(path.clone()));
        let Some(text) = self.mapping.texts.text(path) else {
            return whole();
        };
        let tokens = lexer::tokens(&text, piece.span);
        let sections: Vec<&str> = EDITIONS
            .iter()
            .filter(|(edition, _)| older < *edition && *edition <= newer)
            .map(|(_, section)| *section)
            .collect();
        let drops_later = older < Edition::E2024 && newer >= Edition::E2024;
        let other = tokens.iter().enumerate().find(|(at, _)| {
            let around = Around {
                text: &text,
                tokens: &tokens,
                at: *at,
            };
            !is_alike(&around, &sections, older)
        });
        if let Some((_, token)) = other {
            return Some(EditionDifference {
                path: path.clone(),
                span: Some(token.span),
            });
        }
        let are_alike = !drops_later || self.drops_alike(&text, piece, (older, newer));
        if are_alike { None } else { whole() }
    }

    /// Whether nothing in a text is dropped at another time by edition, and is known not to be.
    fn drops_alike(&self, text: &str, piece: &Piece, between: (Edition, Edition)) -> bool {
        let world = self.mapping.world;
        let Some((_, code)) = inside(text, piece.span) else {
            return false;
        };
        let _trees = syntax::Trees::begin();
        let Ok(file) = syntax::parse_file(code) else {
            return false;
        };
        let droppers = &self.droppers;
        let droppers = droppers.get_or_init(|| Droppers::of(world, self.mapping.texts));
        if !moved_drops(&file, droppers, between).is_empty() {
            return false;
        }
        let known = &self.known_makers;
        let known = known.get_or_init(|| KnownMakers::of(world, self.mapping.texts));
        unknown_drops(&file, droppers, known).is_empty()
    }
}

/// A place that two editions read apart.
struct EditionDifference {
    path: TreePath,
    span: Option<ByteSpan>,
}

impl EditionDifference {
    /// Somewhere in a file.
    const fn whole(path: TreePath) -> Self {
        Self { path, span: None }
    }
}

/// Whether a token says the same whatever the edition, from the older one on, as far as that can be told from what stands
/// beside it: until 2021 closures take what they use as a whole, and there are no strings of C; what a macro or an
/// `impl Trait` takes, and `if let` with more behind it, are those of later editions.
fn is_alike(around: &Around<'_>, sections: &[&str], older: Edition) -> bool {
    let Some(token) = around.tokens.get(around.at) else {
        return true;
    };
    let word = token.span.of(around.text).unwrap_or_default();
    match token.kind {
        TokenKind::Ident => {
            let listed = |section: &&str| text_of(section, word).is_some();
            let is_told = sections.iter().any(listed) && around.is_meant(word);
            let is_later = is_of_later_editions(word, around, older);
            !is_told && !is_later
        }
        TokenKind::Text { .. } => older >= Edition::E2021 || !word.starts_with('c'),
        _ => older >= Edition::E2021 || !token.is(b'|'),
    }
}

/// Whether a method is called on a variable that is declared as of a type parameter, or of a hidden type: what it has
/// goes by the bounds of that.
fn is_called_on_parameter(around: &Around<'_>) -> bool {
    let word = |at: usize| {
        let token = around.tokens.get(at);
        token
            .and_then(|one| one.span.of(around.text))
            .unwrap_or_default()
    };
    let Some(receiver) = around.at.checked_sub(2).filter(|_| around.at > 2) else {
        return false;
    };
    if word(receiver + 1) != "." || word(receiver - 1) == "." {
        return false;
    }
    let Some(all) = function_around(around) else {
        return false;
    };
    let is_parameter = |name: &str| {
        let mut places = all
            .clone()
            .filter(|at| word(*at) == name && word(at + 1) == ":");
        places.any(|at| at > 0 && matches!(word(at - 1), "<" | ","))
    };
    let declares = |at: &usize| {
        let is_path = word(at + 2) == ":";
        word(*at) == word(receiver) && word(at + 1) == ":" && !is_path
    };
    let mut types = all
        .clone()
        .filter(declares)
        .map(|at| word(at + 2))
        .peekable();
    types.peek().is_some()
        && types.all(|kind| {
            kind == "impl" || kind.starts_with(char::is_uppercase) && is_parameter(kind)
        })
}

/// The tokens of the innermost function whose body has a token, with its head.
fn function_around(around: &Around<'_>) -> Option<Range<usize>> {
    let tokens = around.tokens;
    let mut heads = (0..around.at).rev().filter(|at| {
        let is_word = |token: &Token| token.span.of(around.text) == Some("fn");
        let is_named = tokens.get(at + 1).is_some_and(|one| one.is_ident());
        is_named && tokens.get(*at).is_some_and(is_word)
    });
    heads.find_map(|head| {
        let mut bodies = (head..around.at).filter(|at| {
            let token = tokens.get(*at);
            token.is_some_and(|one| one.kind == TokenKind::Open(b'{'))
        });
        let end = lexer::closing(tokens, bodies.next()?)?;
        (end > around.at).then_some(head..end)
    })
}

/// Whether a word may begin what says something else in later editions, or is not there in older ones.
fn is_of_later_editions(word: &str, around: &Around<'_>, older: Edition) -> bool {
    let before = around.before().map(|one: &Token| one.kind);
    match word {
        "macro_rules" => true,
        "async" | "use" => older < Edition::E2021,
        // In the type of an argument it says the same.
        "impl" => match before {
            Some(TokenKind::Punct(punct)) => !matches!(punct, b':' | b';'),
            kind => kind == Some(TokenKind::Open(b'(')),
        },
        "let" => before == Some(TokenKind::Punct(b'&')) || begins_chain(around),
        _ => older < Edition::E2024 && ADDED.contains(&word),
    }
}

/// Whether the condition that a `let` begins goes on behind `&&`: a chain, which editions before 2024 do not know.
fn begins_chain(around: &Around<'_>) -> bool {
    if !is_condition(around) {
        return false;
    }
    let tokens = around.tokens;
    let mut at = around.at + 1;
    // The braces of a pattern stand before the value.
    let mut in_value = false;
    while let Some(token) = tokens.get(at) {
        match token.kind {
            TokenKind::Open(b'{') if in_value => return false,
            TokenKind::Close(_) | TokenKind::Punct(b';') => return false,
            TokenKind::Open(_) => match lexer::closing(tokens, at) {
                Some(close) => at = close,
                None => return false,
            },
            TokenKind::Punct(b'=') => in_value = true,
            TokenKind::Punct(b'&') if in_value => {
                let is_and = |next: &Token| next.is(b'&') && next.span.start == token.span.end;
                if tokens.get(at + 1).is_some_and(is_and) {
                    return true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

/// Whether a `let` stands behind `if` or `while`, and is no statement.
fn is_condition(around: &Around<'_>) -> bool {
    let before = around.before().and_then(|one| one.span.of(around.text));
    matches!(before, Some("if" | "while"))
}

/// The items of a text, and where they begin: between the braces of a module.
fn inside(text: &str, span: ByteSpan) -> Option<(usize, &str)> {
    let code = span.of(text)?;
    let start = span.start as usize;
    let own = code
        .strip_prefix('{')
        .and_then(|code| code.strip_suffix('}'));
    Some(own.map_or((start, code), |own| (start + 1, own)))
}

/// The names of what a tree declares as `static mut`.
fn mutable_statics(world: &World, texts: &dyn Texts) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        let mut statics = facts
            .items
            .iter()
            .filter(|item| item.kind == ItemKind::Static)
            .peekable();
        let text = statics.peek().and_then(|_| texts.text(&source.path));
        let Some(text) = text else { continue };
        let is_mutable = |item: &&Item| {
            let head = item.signature.start as usize..item.name.span.start as usize;
            text.get(head)
                .is_some_and(|head| head.trim_end().ends_with("mut"))
        };
        let names = statics
            .filter(is_mutable)
            .map(|item| facts.name(item.name.name));
        found.extend(names.map(str::to_owned));
    }
    found
}

/// Whether what stands around a word may take a reference to it: `&NAME`, `NAME.call()`, an argument of a macro.
fn may_be_referred_to(around: &Around<'_>) -> bool {
    let word = |by: usize, back: bool| {
        let at = if back {
            around.at.checked_sub(by)
        } else {
            Some(around.at + by)
        };
        let token = at.and_then(|at| around.tokens.get(at));
        token
            .and_then(|token| token.span.of(around.text))
            .unwrap_or_default()
    };
    let borrows = match word(1, true) {
        "&" => true,
        "mut" => word(2, true) == "&",
        _ => false,
    };
    let calls = word(1, false) == "." && matches!(word(3, false), "(" | ":");
    let opens = lexer::opening(around.tokens, around.at).and_then(|open| open.checked_sub(1));
    let is_of_macro = opens
        .and_then(|at| around.tokens.get(at))
        .is_some_and(|token| token.is(b'!'));
    let is_whole = matches!(word(1, false), "," | ")");
    borrows || calls || is_of_macro && is_whole && matches!(word(1, true), "," | "(")
}
