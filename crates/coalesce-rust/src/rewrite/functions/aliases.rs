//! Paths that lead to a method by another name of its type: `type Gpu = Device<u8>;` and `Gpu::method`, or by what
//! a trait calls it, which is not followed.

use coalesce_model::{ByteSpan, UnprovenKind};

use super::{
    sources::{ParsedFile, Sources},
    uses::{FileInWork, MethodPlaces, UsesOfMethod},
    values::Value,
    written::HowTaken,
};
use crate::{
    facts::{ItemKind, Namespaces},
    lexer::{Token, TokenKind},
    resolve::{Found, ItemId, Res},
    syntax,
};

/// How many aliases of aliases are followed.
const DEEPEST: usize = 8;

/// Types that are called so everywhere.
const OF_THE_LANGUAGE: [&str; 17] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize", "str",
];

impl Sources<'_> {
    /// What the methods are of that are named by an item: an alias has those of what it stands for.
    fn stands_for(&self, item: ItemId) -> Value {
        match self.world[item].kind {
            ItemKind::TypeAlias => self.alias(item, &[], 0),
            _ => Value::Item(item, Vec::new()),
        }
    }

    /// The arguments that an alias gives its type, where every module says them alike.
    fn arguments_by_alias(&self, alias: ItemId, depth: usize) -> Option<Vec<String>> {
        let (source, ty, parameters) = self.aliased(alias)?;
        let syn::Type::Path(path) = &*ty else {
            return None;
        };
        let at = path.path.segments.len().checked_sub(1)?;
        if let Some(Res::Item(item)) = source.leads_to(&path.path, at, Namespaces::TYPE)
            && self.world[item].kind == ItemKind::TypeAlias
        {
            let is_plain = path.path.segments.iter().all(|one| one.arguments.is_none());
            let inner = (is_plain && depth < DEEPEST).then_some(item);
            return self.arguments_by_alias(inner?, depth + 1);
        }
        let last = path.path.segments.last();
        said_everywhere(&source, last.filter(|_| parameters.is_empty())?)
    }
}

impl MethodPlaces<'_, '_> {
    /// Whether an item is the type, or another name of it.
    pub(super) fn is_type(&self, item: ItemId) -> bool {
        item == self.method.of
            || matches!(self.sources.stands_for(item), Value::Item(of, _) if of == self.method.of)
    }

    /// The item by which a step of a path names a member of the type; else whether it may be one by an alias of
    /// what is not known.
    pub(super) fn owner(&self, step: &Found) -> Result<ItemId, bool> {
        let owners = step.all().filter_map(|(res, _)| match res {
            Res::Member(item, _) => Some(item),
            _ => None,
        });
        let owners: Vec<ItemId> = owners.collect();
        let known = owners.iter().find(|item| self.is_type(**item));
        known
            .copied()
            .ok_or_else(|| owners.iter().any(|item| self.may_be_type(*item)))
    }

    fn may_be_type(&self, item: ItemId) -> bool {
        self.sources.world[item].kind == ItemKind::TypeAlias
            && self.sources.stands_for(item) == Value::Unknown
    }

    /// The arguments of the type that the path which ends with a name says by an alias. What that says and the path
    /// of a function cannot is told where nothing else says it.
    pub(super) fn given_by_alias(
        &self,
        work: &FileInWork<'_>,
        (alias, name): (ItemId, ByteSpan),
        uses: &mut UsesOfMethod,
    ) -> Option<Vec<String>> {
        let needs_some = !self.written.dropped && !self.written.carried.is_empty();
        let said = self.sources.arguments_by_alias(alias, 0);
        let said = said.filter(|said| !said.is_empty() && self.written.by_arguments);
        if needs_some && said.is_none() && !self.is_inferred(work, name) {
            let why = format!(
                "`{}` says here of which type it is, and the path of a function says nothing of that",
                self.sources.world[alias].name
            );
            self.doubt(work, name, UnprovenKind::UnknownType, why, uses);
        }
        said
    }

    /// Whether the compiler knows the type by what the path is given, or given to.
    fn is_inferred(&self, work: &FileInWork<'_>, name: ByteSpan) -> bool {
        if self.written.taken == HowTaken::Nothing {
            return false;
        }
        let tokens = work.tokens;
        let at = tokens.partition_point(|token| token.span.start < name.end);
        let called = tokens.get(at).map(|token| token.kind);
        match called {
            Some(TokenKind::Open(b'(')) => is_place(tokens.get(at + 1..).unwrap_or_default()),
            // `values.map(Alias::method)`: a method is called on what is known.
            Some(TokenKind::Close(b')')) => is_argument(tokens.get(..at).unwrap_or_default()),
            _ => false,
        }
    }

    /// Paths by what a trait calls the type, `<T as Trait>::Name::method` and `Self::Name::method`: which type that
    /// is, is not followed.
    pub(super) fn is_by_associated_type(&self, tokens: &[Token], at: usize, text: &str) -> bool {
        let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
        let is_colon = |back: usize| before(back).is_some_and(|one| one.is(b':'));
        let named = before(3).is_some_and(|one| one.is_ident());
        let outer = before(6);
        let colons = [1, 2, 4, 5].into_iter().all(is_colon);
        named
            && colons
            && outer.is_some_and(|one| one.is(b'>') || one.span.of(text) == Some("Self"))
    }
}

/// The type arguments of a name in a path, where each is one that every module says alike.
fn said_everywhere(source: &ParsedFile, of: &syn::PathSegment) -> Option<Vec<String>> {
    let said = syntax::arguments_of(&of.arguments).into_iter().map(|ty| {
        let span = syn::spanned::Spanned::span(ty);
        let span = ByteSpan::new(source.start(span), source.end(span));
        let said = span.of(&source.text)?;
        OF_THE_LANGUAGE.contains(&said).then(|| said.to_owned())
    });
    said.collect()
}

/// Whether the first argument of a call is a variable, a field, or a reference to one.
fn is_place(arguments: &[Token]) -> bool {
    let mut named = false;
    for token in arguments {
        match token.kind {
            TokenKind::Ident => named = true,
            TokenKind::Punct(b'&' | b'.') => {}
            TokenKind::Punct(b',') | TokenKind::Close(b')') => return named,
            _ => return false,
        }
    }
    false
}

/// Whether a path, with which the tokens end, is all that a method is given.
fn is_argument(tokens: &[Token]) -> bool {
    let is_path = |token: &&Token| token.is_ident() || token.is(b':');
    let mut before = tokens.iter().rev().skip_while(is_path);
    let open = before.next().map(|token| token.kind);
    let method = before.next().is_some_and(|one| one.is_ident());
    let dot = before.next().is_some_and(|token| token.is(b'.'));
    open == Some(TokenKind::Open(b'(')) && method && dot
}
