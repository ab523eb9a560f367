//! Functions of which it is known that what they return does nothing when it is dropped, and keeps no borrow until then.
//!
//! By names: those of the tree, by the types that they say, and methods of the standard library.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{ByteSpan, Texts};

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

/// The functions of a tree whose names say that they make such values, each name of all that have it.
#[derive(Default)]
pub(super) struct KnownMakers(BTreeSet<String>);

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
        let mut types: BTreeSet<&str> = BTreeSet::new();
        for (file, _, tokens) in &sources {
            types.extend(types_without_lifetimes(world.facts(*file), tokens));
        }
        let mut found: BTreeMap<String, bool> = BTreeMap::new();
        for (_, text, tokens) in &sources {
            for (name, is_plain) in functions(text, tokens, &types) {
                let known = found.entry(name).or_insert(true);
                *known &= is_plain;
            }
        }
        let plain = found.into_iter().filter(|(_, is_plain)| *is_plain);
        Self(plain.map(|(name, _)| name).collect())
    }

    /// Whether all functions of that name are such.
    pub fn has_function(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The same of methods.
    pub fn has_method(&self, name: &str) -> bool {
        let lists = [&INHERENT_METHODS, &NUMBER_METHODS, &ORDINARY_METHODS];
        let is_standard = lists.iter().any(|list| list.contains(name));
        self.has_function(name) || is_standard && !HOLDING.contains(&name)
    }
}

/// The types of a file that keep no borrow.
fn types_without_lifetimes<'w>(
    facts: &'w SourceFacts,
    tokens: &[Token],
) -> impl Iterator<Item = &'w str> {
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
        (!keeps).then(|| facts.name(item.name.name))
    })
}

/// The functions of a text, each with whether what it returns is plain.
fn functions<'t>(
    text: &'t str,
    tokens: &'t [Token],
    types: &'t BTreeSet<&str>,
) -> impl Iterator<Item = (String, bool)> + 't {
    let said = |token: &Token| token.span.of(text).unwrap_or_default();
    let starts = tokens.iter().enumerate();
    let starts = starts.filter(move |(_, token)| said(token) == "fn");
    starts.filter_map(move |(at, _)| {
        let name = tokens.get(at + 1).filter(|one| one.is_ident())?;
        let ends = |token: &&Token| {
            let is_end = token.kind == TokenKind::Open(b'{') || token.is(b';');
            !is_end && said(token) != "where"
        };
        let head: Vec<&Token> = tokens.iter().skip(at).take_while(ends).collect();
        let arrow = head
            .windows(2)
            .rposition(|pair| matches!(pair, [dash, angle] if dash.is(b'-') && angle.is(b'>')));
        let behind = arrow.map_or(head.len(), |arrow| arrow + 2);
        let mut returned = head.iter().skip(behind).filter(|token| token.is_ident());
        let is_plain = returned.all(|token| {
            let word = said(token);
            match word.starts_with(char::is_uppercase) {
                true => word.len() == 1 || PLAIN.contains(&word) || types.contains(word),
                false => !matches!(word, "impl" | "dyn"),
            }
        });
        Some((said(name).to_owned(), is_plain))
    })
}
