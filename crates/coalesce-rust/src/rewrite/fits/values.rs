//! Where two definitions that do not read alike differ by a value: the one is a copy of the other that was tuned.
//!
//! Texts are held against each other function by function. Names that are another one throughout have no meaning;
//! numbers, texts, operators and constants do. What is written in another way altogether is not judged.

use std::collections::BTreeMap;

use coalesce_model::ByteSpan;
use syn::spanned::Spanned as _;

use super::{
    meaning::{Assumed, Comparison, DefinitionPair, Meaning, Piece, Word, words},
    names::FileNames,
};
use crate::{
    facts::ItemKind,
    lexer::{self, TokenKind},
    resolve::{ItemId, ModuleId, Res},
    syntax,
    words::{GIVING_UP_MACROS, INHERENT_METHODS, ORDINARY_METHODS, PRIMITIVES},
};

/// What two definitions have at one place, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApartValues {
    pub old: String,
    pub new: String,
}

/// A part of a definition that is held against the one of its name.
struct ComparedPart {
    piece: Piece,
    /// What a constant is.
    value: Option<ByteSpan>,
}

/// The trait of an `impl` and the name of a function or constant in it; nothing for what is no member.
type PartName = (String, String);

/// Macros that log and a method, whose texts people read and programs do not, like those of what gives up.
const SPEAKING: [&str; 7] = ["debug", "error", "expect", "info", "log", "trace", "warn"];

/// Methods without arguments that make another value of the same kind.
const TURNING_METHODS: [&str; 7] = [
    "abs",
    "not",
    "rev",
    "to_lowercase",
    "to_uppercase",
    "trim",
    "wrapping_neg",
];

impl Comparison<'_, '_> {
    /// The first value that two definitions do not have in common, where they read alike but for values.
    pub fn values_apart(&self, old: ItemId, new: ItemId) -> Option<ApartValues> {
        let (mine, others) = (self.parts(old), self.parts(new));
        let both = mine.iter().filter_map(|(name, own)| {
            let there = others.get(name)?;
            Some(pairs_of_alternatives(own, there))
        });
        let mut both = both.flatten();
        both.find_map(|(one, other)| self.parts_apart((one, other), (old, new)))
    }

    /// A definition, and the functions and constants of its `impl`s; several of one name where each is under a condition.
    fn parts(&self, item: ItemId) -> BTreeMap<PartName, Vec<ComparedPart>> {
        let _trees = syntax::Trees::begin();
        let mut found: BTreeMap<PartName, Vec<ComparedPart>> = BTreeMap::new();
        let pieces = self.all_pieces(item);
        let node = &self.names.world[item];
        // What types make of a trait is theirs, and no part of it.
        let own = match node.kind {
            ItemKind::Trait => node.definitions.len(),
            _ => pieces.len(),
        };
        for piece in pieces.into_iter().take(own) {
            let names = self.names.file(piece.file);
            let code = names.as_ref().and_then(|names| piece.span.of(&names.text));
            let Some(parsed) = code.and_then(|code| syntax::parse(code).ok()) else {
                continue;
            };
            let behind = |range: std::ops::Range<usize>| {
                let start = piece.span.start as usize;
                ByteSpan::from_range(start + range.start..start + range.end)
            };
            for read in parts_of(&parsed) {
                let span = behind(read.span);
                let value = read.value.map(behind);
                let piece = Piece { span, ..piece };
                let known = found.entry(read.name).or_default();
                known.push(ComparedPart { piece, value });
            }
        }
        found
    }

    fn parts_apart(
        &self,
        (one, other): (&ComparedPart, &ComparedPart),
        items: (ItemId, ItemId),
    ) -> Option<ApartValues> {
        let (Some(old), Some(new)) = (one.value, other.value) else {
            return self.texts_apart((&one.piece, &other.piece), items);
        };
        let (left, right) = (
            self.names.file(one.piece.file)?,
            self.names.file(other.piece.file)?,
        );
        let (mine, others) = (words(&left, old), words(&right, new));
        let is_same = mine.len() == others.len()
            && mine
                .iter()
                .zip(&others)
                .all(|(x, y)| x.text == y.text || is_one_value(x, y));
        let written = |span: ByteSpan, text: &str| {
            let code = span.of(text).unwrap_or_default();
            code.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        (!is_same).then(|| ApartValues {
            old: written(old, &left.text),
            new: written(new, &right.text),
        })
    }

    /// The first value that two texts do not have in common; `None` where something else differs as well.
    fn texts_apart(
        &self,
        (one, other): (&Piece, &Piece),
        items: (ItemId, ItemId),
    ) -> Option<ApartValues> {
        let (left, right) = (self.names.file(one.file)?, self.names.file(other.file)?);
        let (mine, others) = (words(&left, one.span), words(&right, other.span));
        let (mut renamed, mut first) = (Renamed::default(), None);
        let (mut at, mut there) = (0, 0);
        while let Some((x, y)) = mine.get(at).zip(others.get(there)) {
            if x.text != y.text
                && let Some((own, its)) = inserted((&mine, at), (&others, there))
            {
                let (end, end_there) = (at + own, there + its);
                first.get_or_insert_with(|| ApartValues {
                    old: joined(&mine, at..end + 1),
                    new: joined(&others, there..end_there + 1),
                });
                (at, there) = (end, end_there);
                continue;
            }
            let own = self.constant_at((&left, one.module), &mine, at);
            let its = self.constant_at((&right, other.module), &others, there);
            let (own, its) = either_known((own.as_ref(), x), (its.as_ref(), y));
            let is_other = match (own, its) {
                (Some(own), Some(its)) => self.are_other_constants((own, its), items),
                (Some(named), None) => !self.is_value_of(named, y),
                (None, Some(named)) => !self.is_value_of(named, x),
                (None, None) if is_one_value(x, y) => false,
                (None, None) if is_meant_otherwise((&mine, at), (&others, there)) => true,
                (None, None) if renamed.takes(x.text, y.text) => false,
                (None, None) if is_value(x) && is_value(y) => true,
                (None, None) if renamed.knows(x.text, y.text) => true,
                (None, None) => return None,
            };
            let (end, end_there) = (end_of(own, at), end_of(its, there));
            if is_other && !is_spoken(&mine, at) {
                first.get_or_insert_with(|| ApartValues {
                    old: joined(&mine, at..end),
                    new: joined(&others, there..end_there),
                });
            }
            (at, there) = (end, end_there);
        }
        let is_read = at == mine.len() && there == others.len();
        first.filter(|_| is_read)
    }

    /// The constant that the path at a word leads to, or that it is by its name alone (`u32::MAX`).
    fn constant_at(
        &self,
        (file, module): (&FileNames, ModuleId),
        words: &[Word<'_>],
        at: usize,
    ) -> Option<NamedConstant> {
        let text = |at: usize| words.get(at).map_or("", |word: &Word<'_>| word.text);
        let is_step = at >= 2 && text(at - 1) == ":" && text(at - 2) == ":";
        if !words.get(at)?.is_name || is_step {
            return None;
        }
        let mut last = at;
        while text(last + 1) == ":" && text(last + 2) == ":" && is_word(text(last + 3)) {
            last += 3;
        }
        let led = self.leads_to(file, module, words.get(last)?);
        let is_const = |item: &ItemId| is_constant(self.names.world[*item].kind);
        let item = match led.first() {
            Some(Res::Item(item)) if is_const(item) => Some(*item),
            Some(Res::Member(..) | Res::External(_)) | None => None,
            _ => return None,
        };
        let is_called_so = last > at && is_upper(text(last)) && text(last + 1) != "(";
        (item.is_some() || is_called_so).then_some(NamedConstant {
            end: last + 1,
            item,
        })
    }

    /// Whether a literal is what a constant is written as.
    fn is_value_of(&self, constant: &NamedConstant, literal: &Word<'_>) -> bool {
        let Some(item) = constant.item else {
            return false;
        };
        let parts = self.parts(item);
        let mut parts = parts.values().flatten().peekable();
        parts.peek().is_some()
            && parts.all(|part| {
                let value = part.value.zip(self.names.file(part.piece.file));
                value.is_some_and(|(value, file)| match &*words(&file, value) {
                    [one] => one.text == literal.text || is_one_value(one, literal),
                    _ => false,
                })
            })
    }

    /// Whether the one constant is not what the other one is.
    fn are_other_constants(
        &self,
        (known, there): (&NamedConstant, &NamedConstant),
        of: (ItemId, ItemId),
    ) -> bool {
        let Some(items) = known.item.zip(there.item) else {
            return true;
        };
        let sides = DefinitionPair {
            items,
            spaces: None,
        };
        items != of
            && items.0 != items.1
            && self.pairs.get(&items.0) != Some(&items.1)
            && self.items(sides, &mut Assumed::new()) == Meaning::OtherText
            && self.values_apart(items.0, items.1).is_some()
    }
}

/// A path that leads to a constant.
struct NamedConstant {
    /// Behind its last word.
    end: usize,
    /// Nothing where it is one of a type or of another library.
    item: Option<ItemId>,
}

/// The constants that are held against each other, or against a literal: one of both is of the tree. All else is held
/// against each other word by word.
fn either_known<'c>(
    (own, word): (Option<&'c NamedConstant>, &Word<'_>),
    (its, there): (Option<&'c NamedConstant>, &Word<'_>),
) -> (Option<&'c NamedConstant>, Option<&'c NamedConstant>) {
    let is_asked = match (own, its) {
        (Some(own), Some(its)) => own.item.is_some() || its.item.is_some(),
        (Some(_), None) => is_literal(there),
        (None, Some(_)) => is_literal(word),
        (None, None) => false,
    };
    if is_asked { (own, its) } else { (None, None) }
}

/// Behind the path at a word, or behind the word.
fn end_of(constant: Option<&NamedConstant>, at: usize) -> usize {
    constant.map_or(at + 1, |constant| constant.end)
}

fn joined(words: &[Word<'_>], range: std::ops::Range<usize>) -> String {
    let words = words.get(range).unwrap_or_default().iter();
    words.map(|word| word.text).collect()
}

/// Whether a name is written like that of a constant.
fn is_upper(name: &str) -> bool {
    let is_of_constant = |one: char| one.is_ascii_uppercase() || one.is_ascii_digit() || one == '_';
    name.len() > 1 && name.chars().all(is_of_constant)
}

/// What is held against what: one by one where there are as many on both sides, or else each against each.
fn pairs_of_alternatives<'p>(
    own: &'p [ComparedPart],
    there: &'p [ComparedPart],
) -> Vec<(&'p ComparedPart, &'p ComparedPart)> {
    if own.len() == there.len() {
        return own.iter().zip(there).collect();
    }
    let each = own
        .iter()
        .flat_map(|one| there.iter().map(move |other| (one, other)));
    each.collect()
}

pub(super) const fn is_constant(kind: ItemKind) -> bool {
    matches!(kind, ItemKind::Const | ItemKind::Static)
}

/// Names that are another one throughout.
#[derive(Default)]
struct Renamed<'t> {
    there: BTreeMap<&'t str, &'t str>,
    back: BTreeMap<&'t str, &'t str>,
}

impl<'t> Renamed<'t> {
    /// Whether two names were both met before: as those of others.
    fn knows(&self, word: &str, other: &str) -> bool {
        self.there.contains_key(word) && self.back.contains_key(other)
    }

    /// Whether a word may be the other one, by all that was met before.
    fn takes(&mut self, word: &'t str, other: &'t str) -> bool {
        if !is_word(word) || !is_word(other) {
            return word == other;
        }
        *self.there.entry(word).or_insert(other) == other
            && *self.back.entry(other).or_insert(word) == word
    }
}

/// How many words one of two texts has besides at a place, by which a value becomes another one: a sign, or a method that
/// turns what it is called on.
fn inserted(
    (mine, at): (&[Word<'_>], usize),
    (others, there): (&[Word<'_>], usize),
) -> Option<(usize, usize)> {
    let (x, y) = (mine.get(at)?, others.get(there)?);
    match (turning(mine, at, y), turning(others, there, x)) {
        (0, 0) => None,
        (0, more) => Some((0, more)),
        (more, _) => Some((more, 0)),
    }
}

/// How long a sign or a method is that stands in front of what the other text has.
fn turning(words: &[Word<'_>], at: usize, other: &Word<'_>) -> usize {
    let text = |at: usize| words.get(at).map_or("", |word: &Word<'_>| word.text);
    let are_names = |at: usize| is_word(text(at)) && is_word(other.text);
    let is_plain = is_word(other.text) || is_literal(other);
    match text(at) {
        "!" | "-" if is_plain && (text(at + 1) == other.text || are_names(at + 1)) => 1,
        name if TURNING_METHODS.contains(&name)
            && at.checked_sub(1).is_some_and(|before| text(before) == ".")
            && text(at + 2) == ")"
            && text(at + 3) == "." =>
        {
            4 * usize::from(text(at + 4) == other.text)
        }
        "." if TURNING_METHODS.contains(&text(at + 1)) && text(at + 3) == ")" => {
            4 * usize::from(text(at + 4) == other.text)
        }
        _ => 0,
    }
}

/// Whether two words at a place cannot be two names of one thing: keywords, primitive types, methods of the standard
/// library.
fn is_meant_otherwise(
    (mine, at): (&[Word<'_>], usize),
    (others, there): (&[Word<'_>], usize),
) -> bool {
    let text =
        |words: &[Word<'_>], at: usize| words.get(at).map_or("", |word| word.text).to_owned();
    let (x, y) = (text(mine, at), text(others, there));
    let leaves = |word: &str| matches!(word, "break" | "continue" | "return");
    let is_method = |word: &str| INHERENT_METHODS.contains(word) || ORDINARY_METHODS.contains(word);
    let is_called = |words: &[Word<'_>], at: usize| {
        at > 0 && text(words, at - 1) == "." && text(words, at + 1) == "("
    };
    let are_methods = is_called(mine, at) && is_called(others, there);
    x != y
        && is_word(&x)
        && is_word(&y)
        && (leaves(&x)
            || leaves(&y)
            || at > 0
                && text(mine, at - 1) == "as"
                && PRIMITIVES.contains(&x)
                && PRIMITIVES.contains(&y)
            || are_methods && is_method(&x) && is_method(&y))
}

/// Whether a text is a name, and no value.
fn is_word(text: &str) -> bool {
    let mut letters = text.chars();
    let begins = letters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_');
    begins
        && !matches!(text, "true" | "false")
        && letters.all(|one| one.is_alphanumeric() || one == '_')
}

/// Whether a word is a literal or an operator.
fn is_value(word: &Word<'_>) -> bool {
    const OPERATORS: &str = "+-*/%&|^!<>=.";
    let is_operator = |kind| match kind {
        TokenKind::Punct(byte) => OPERATORS.contains(char::from(byte)),
        _ => false,
    };
    is_literal(word) || kind_of(word).is_some_and(is_operator)
}

fn is_literal(word: &Word<'_>) -> bool {
    kind_of(word).is_some_and(|kind| match kind {
        TokenKind::Literal | TokenKind::Text { .. } => true,
        _ => matches!(word.text, "true" | "false"),
    })
}

fn kind_of(word: &Word<'_>) -> Option<TokenKind> {
    let whole = ByteSpan::from_range(0..word.text.len());
    lexer::tokens_from(word.text, whole).map(|token| token.kind)
}

/// Whether two literals are one number (`255`, `0xff`, `2_55u8`).
fn is_one_value(word: &Word<'_>, other: &Word<'_>) -> bool {
    let number = |text: &str| match syn::parse_str(text) {
        Ok(syn::Lit::Int(number)) => Some(number.base10_digits().to_owned()),
        Ok(syn::Lit::Float(number)) => Some(number.base10_digits().to_owned()),
        _ => None,
    };
    let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let are_numbers = is_number(word.text) && is_number(other.text);
    are_numbers && number(word.text).is_some_and(|one| number(other.text) == Some(one))
}

/// Whether a text stands in what is said to people.
fn is_spoken(words: &[Word<'_>], at: usize) -> bool {
    let text = |at: usize| words.get(at).map(|word| word.text).unwrap_or_default();
    if !text(at).ends_with('"') && !text(at).ends_with('#') {
        return false;
    }
    let Some(open) = opening_around(&text, at) else {
        return false;
    };
    let before = |back: usize| open.checked_sub(back).map(&text).unwrap_or_default();
    let name = if before(1) == "!" {
        before(2)
    } else {
        before(1)
    };
    SPEAKING.contains(&name) || GIVING_UP_MACROS.contains(name)
}

/// The bracket that a word stands in.
fn opening_around<'t>(text: &impl Fn(usize) -> &'t str, at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    (0..at).rev().find(|before| match text(*before) {
        ")" | "]" | "}" => {
            depth += 1;
            false
        }
        "(" | "[" | "{" if depth == 0 => true,
        "(" | "[" | "{" => {
            depth -= 1;
            false
        }
        _ => false,
    })
}

/// A part as a parser reads it.
struct ReadPart {
    name: PartName,
    span: std::ops::Range<usize>,
    value: Option<std::ops::Range<usize>>,
}

/// The members of an `impl` or a trait, and anything else as a whole.
fn parts_of(item: &syn::Item) -> Vec<ReadPart> {
    let whole = |value: Option<&syn::Expr>| ReadPart {
        name: PartName::default(),
        span: item.span().byte_range(),
        value: value.map(|value| value.span().byte_range()),
    };
    match item {
        syn::Item::Impl(block) => members_of_impl(block),
        syn::Item::Trait(defined) => members_of_trait(defined),
        syn::Item::Const(defined) => vec![whole(Some(&defined.expr))],
        syn::Item::Static(defined) => vec![whole(Some(&defined.expr))],
        syn::Item::Fn(defined) => vec![ReadPart {
            span: without_attributes(&defined.sig, &defined.block),
            ..whole(None)
        }],
        _ => vec![whole(None)],
    }
}

fn members_of_impl(block: &syn::ItemImpl) -> Vec<ReadPart> {
    let of = block.trait_.as_ref();
    let of = of.and_then(|(path, _)| path.segments.last());
    let of = of.map(|last| last.ident.to_string()).unwrap_or_default();
    let members = block.items.iter().filter_map(|member| match member {
        syn::ImplItem::Fn(function) => {
            let span = without_attributes(&function.sig, &function.block);
            Some((&function.sig.ident, span, None))
        }
        syn::ImplItem::Const(constant) => Some((
            &constant.ident,
            member.span().byte_range(),
            Some(&constant.expr),
        )),
        _ => None,
    });
    members.map(|member| member_part(&of, member)).collect()
}

fn members_of_trait(defined: &syn::ItemTrait) -> Vec<ReadPart> {
    let members = defined.items.iter().filter_map(|member| match member {
        syn::TraitItem::Fn(function) => {
            Some((&function.sig.ident, member.span().byte_range(), None))
        }
        syn::TraitItem::Const(constant) => {
            let value = constant.default.as_ref().map(|(_, value)| value);
            Some((&constant.ident, member.span().byte_range(), value))
        }
        _ => None,
    });
    members.map(|member| member_part("", member)).collect()
}

/// A member of a trait, or of what is of it.
fn member_part(
    of: &str,
    (name, span, value): (
        &proc_macro2::Ident,
        std::ops::Range<usize>,
        Option<&syn::Expr>,
    ),
) -> ReadPart {
    ReadPart {
        name: (of.to_owned(), name.to_string()),
        span,
        value: value.map(|value| value.span().byte_range()),
    }
}

/// A function from its signature on: of alternatives, each stands under another condition.
fn without_attributes(signature: &syn::Signature, block: &syn::Block) -> std::ops::Range<usize> {
    signature.span().byte_range().start..block.span().byte_range().end
}
