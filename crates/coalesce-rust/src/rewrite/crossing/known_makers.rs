//! Functions of which it is known that what they return does nothing when it is dropped, and keeps no borrow until then.
//!
//! By names: those of the tree, by the types that they say, and methods of the standard library.

use std::{collections::BTreeMap, sync::Arc};

use coalesce_model::{ByteSpan, Texts};

use super::drops::returned_by;
use crate::{
    facts::{ItemKind, SourceFacts},
    lexer::{self, Token, TokenKind},
    resolve::{FileId, World},
    words::{INHERENT_METHODS, NUMBER_METHODS, ORDINARY_METHODS},
};

/// Types of the standard library that are dropped without a borrow of what they are made of.
const PLAIN: [&str; 28] = [
    "Arc",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "Box",
    "Cow",
    "Duration",
    "Err",
    "Error",
    "HashMap",
    "HashSet",
    "Instant",
    "NonZeroU32",
    "NonZeroUsize",
    "None",
    "Ok",
    "Option",
    "Ordering",
    "OsString",
    "Path",
    "PathBuf",
    "PhantomData",
    "Rc",
    "Result",
    "Self",
    "Some",
    "String",
    "Vec",
];

/// Methods of the standard library that give what ends a borrow when it is dropped.
const HOLDING: [&str; 4] = ["drain", "extract_if", "splice", "peek_mut"];

/// The functions of a tree by their names, each with whether all of that name make such values.
#[derive(Default)]
pub(super) struct KnownMakers(BTreeMap<String, bool>);

impl KnownMakers {
    pub fn of(world: &World, texts: &dyn Texts) -> Self {
        let sources: Vec<(FileId, Arc<str>, Vec<Token>)> = world
            .sources()
            .filter_map(|(file, source)| {
                let text = texts.text(&source.path)?;
                let tokens = lexer::tokens(&text, ByteSpan::from_range(0..text.len()));
                Some((file, text, tokens))
            })
            .collect();
        // A name is of all types that have it.
        let mut types: BTreeMap<&str, bool> = BTreeMap::new();
        for (file, _, tokens) in &sources {
            for (name, is_plain) in types_of(world.facts(*file), tokens) {
                *types.entry(name).or_insert(true) &= is_plain;
            }
        }
        let mut found: BTreeMap<String, bool> = BTreeMap::new();
        for (_, text, tokens) in &sources {
            for (name, is_plain) in functions(text, tokens, &types) {
                let known = found.entry(name).or_insert(true);
                *known &= is_plain;
            }
        }
        Self(found)
    }

    /// Whether all functions of that name are such, and there is one.
    pub fn has_function(&self, name: &str) -> bool {
        self.0.get(name) == Some(&true)
    }

    /// The same of methods: those of the tree, or else of the standard library.
    pub fn has_method(&self, name: &str) -> bool {
        let lists = [&INHERENT_METHODS, &NUMBER_METHODS, &ORDINARY_METHODS];
        let is_standard = || lists.iter().any(|list| list.contains(name));
        let known = self.0.get(name).copied();
        known.unwrap_or_else(|| is_standard() && !HOLDING.contains(&name))
    }
}

/// The types of a file, each with whether its values keep no borrow.
fn types_of<'w>(facts: &'w SourceFacts, tokens: &[Token]) -> impl Iterator<Item = (&'w str, bool)> {
    let types = facts.items.iter().filter(|item| {
        matches!(
            item.kind,
            ItemKind::Struct | ItemKind::Enum | ItemKind::Union
        )
    });
    let starts = |at: u32| tokens.partition_point(|token| token.span.start < at);
    types.filter_map(move |item| {
        let own = tokens.get(starts(item.span.start)..starts(item.span.end))?;
        let keeps = own.iter().any(|token| token.kind == TokenKind::Lifetime);
        Some((facts.name(item.name.name), !keeps))
    })
}

/// The functions of a text, each with whether what it returns is plain: of nothing but types that are known, since a type
/// parameter stands for any.
fn functions<'t>(
    text: &'t str,
    tokens: &'t [Token],
    types: &'t BTreeMap<&str, bool>,
) -> impl Iterator<Item = (String, bool)> + 't {
    let said = |token: &Token| token.span.of(text).unwrap_or_default();
    let starts = tokens.iter().enumerate();
    let starts = starts.filter(move |(_, token)| said(token) == "fn");
    starts.filter_map(move |(at, _)| {
        let name = tokens.get(at + 1).filter(|one| one.is_ident())?;
        let returned = returned_by(text, tokens, at).into_iter();
        let mut words = returned.filter(|token| token.is_ident()).map(said);
        let is_plain = words.all(|word| match word.starts_with(char::is_uppercase) {
            true => PLAIN.contains(&word) || types.get(word) == Some(&true),
            false => !matches!(word, "impl" | "dyn"),
        });
        Some((said(name).to_owned(), is_plain))
    })
}
