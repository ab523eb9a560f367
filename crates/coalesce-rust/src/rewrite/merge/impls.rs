//! `impl`s of a module that gives way: which of them the other module has, method by method, and
//! which go along onto the type there.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding};
use syn::spanned::Spanned as _;

use super::{
    home::{Added, Home, renamed},
    note,
    types::Type,
};
use crate::{
    lexer,
    resolve::FileId,
    rewrite::{items::moving::Chunk, mapping::refusal},
};

/// What becomes of the `impl`s for what the other module has as well.
#[derive(Default)]
pub(super) struct Sorted {
    /// Texts that the other module has: whole `impl`s, and methods.
    pub cut: Vec<(FileId, ByteSpan)>,
    /// `impl`s of which something goes along.
    pub kept: Vec<(FileId, ByteSpan)>,
    /// What the other types have to derive from now on.
    pub added: Vec<Added>,
    pub notes: Vec<Finding>,
    pub refusals: Vec<Finding>,
}

impl Sorted {
    pub fn is_cut(&self, file: FileId, at: u32) -> bool {
        let mut cut = self.cut.iter();
        cut.any(|(of, span)| *of == file && span.start <= at && at < span.end)
    }

    pub fn is_kept(&self, file: FileId, chunk: &Chunk) -> bool {
        let mut kept = self.kept.iter();
        chunk.definition.is_none() && kept.any(|(of, span)| *of == file && *span == chunk.span)
    }
}

/// Sorts them.
pub(super) fn sort(home: &Home<'_>) -> Sorted {
    let mut sorted = Sorted::default();
    let theirs = heads_of_target(home);
    let mut known: BTreeMap<usize, Type> = BTreeMap::new();
    for (at, moving) in home.set.moving.iter().enumerate() {
        let covered = home.said_of(moving).is_none() && home.is_covered(moving);
        if let Some(primary) = home.primary(moving).filter(|_| covered) {
            let kind = Type::new(home, moving, primary);
            kind.derive(home, moving, &theirs, &mut sorted);
            known.insert(at, kind);
        }
    }
    for chunk in home
        .set
        .chunks
        .iter()
        .filter(|one| one.definition.is_none())
    {
        let own = home.is_of(chunk);
        let kind = known.get(&chunk.moving);
        if own && kind.is_none() {
            // It goes where its type goes.
            continue;
        }
        one(home, chunk, kind.filter(|_| own), &theirs, &mut sorted);
    }
    sorted
}

fn one(
    home: &Home<'_>,
    chunk: &Chunk,
    kind: Option<&Type>,
    theirs: &BTreeSet<String>,
    sorted: &mut Sorted,
) {
    let Some(text) = home.text(chunk.file) else {
        return;
    };
    let own = chunk.span.of(&text).unwrap_or_default();
    let Ok(parsed) = syn::parse_str::<syn::ItemImpl>(own) else {
        return;
    };
    let path = home.set.path(chunk.file);
    if let Some(head) = head(own, &parsed, &|name| renamed(home.merge, name).to_owned()) {
        let known = theirs.contains(&head)
            || kind.is_some_and(|kind| kind.heads.contains(&head) || kind.derives(&head));
        if known {
            sorted.cut.push((chunk.file, chunk.span));
        } else {
            let message = format!("`impl {head}` goes along: `{}` lacks it", home.merge.to);
            sorted.notes.push(note(path, chunk.span, message));
            sorted.kept.push((chunk.file, chunk.span));
        }
    } else if let Some(kind) = kind {
        methods(home, (chunk, &parsed), kind, own, sorted);
    } else {
        sorted.kept.push((chunk.file, chunk.span));
    }
    drop(parsed);
    proc_macro2::extra::invalidate_current_thread_spans();
}

/// The methods of an `impl` without a trait: those that the other type lacks go along.
fn methods(
    home: &Home<'_>,
    (chunk, parsed): (&Chunk, &syn::ItemImpl),
    kind: &Type,
    own: &str,
    sorted: &mut Sorted,
) {
    let mut cut = Vec::new();
    let mut kept = Vec::new();
    for item in &parsed.items {
        let range = item.span().byte_range();
        let start = chunk.span.start + u32::try_from(range.start).unwrap_or(0);
        let end = chunk.span.start + u32::try_from(range.end).unwrap_or(0);
        let span = ByteSpan::new(start, end);
        match name_of(item) {
            Some(name) if kind.there.names.contains(&name) => cut.push(span),
            Some(name) => kept.push((name, span, own.get(range).unwrap_or_default())),
            None => kept.push((String::new(), span, own.get(range).unwrap_or_default())),
        }
    }
    if kept.is_empty() {
        sorted.cut.push((chunk.file, chunk.span));
        return;
    }
    let path = home.set.path(chunk.file);
    for (name, span, text) in &kept {
        if let Some(missing) = kind.missing(text) {
            let message = format!(
                "`{name}` cannot go along: it uses `{missing}`, which `{}` lacks",
                kind.name
            );
            sorted.refusals.push(Finding {
                span: Some(*span),
                help: Some(format!(
                    "remove `{name}`, or give `{}` a `{missing}`",
                    kind.name
                )),
                ..refusal(path.clone(), message)
            });
        }
        let message = format!("`{name}` goes along: `{}` lacks it", kind.name);
        sorted.notes.push(note(path.clone(), *span, message));
    }
    sorted.kept.push((chunk.file, chunk.span));
    sorted
        .cut
        .extend(cut.into_iter().map(|span| (chunk.file, span)));
}

fn name_of(item: &syn::ImplItem) -> Option<String> {
    match item {
        syn::ImplItem::Fn(item) => Some(item.sig.ident.to_string()),
        syn::ImplItem::Const(item) => Some(item.ident.to_string()),
        syn::ImplItem::Type(item) => Some(item.ident.to_string()),
        _ => None,
    }
}

/// `Trait<X> for Type`, the ways to both left out; `None` without a trait.
fn head(text: &str, parsed: &syn::ItemImpl, name: &dyn Fn(&str) -> String) -> Option<String> {
    let (of, _) = parsed.trait_.as_ref()?;
    let of = bare(text.get(of.span().byte_range())?, name);
    let kind = bare(text.get(parsed.self_ty.span().byte_range())?, name);
    Some(format!("{of} for {kind}"))
}

/// Code without the ways before its names, in one spelling.
pub(super) fn bare(code: &str, name: &dyn Fn(&str) -> String) -> String {
    let whole = ByteSpan::from_range(0..code.len());
    let tokens = lexer::tokens(code, whole);
    let texts: Vec<&str> = tokens
        .iter()
        .map(|token| token.span.of(code).unwrap_or_default())
        .collect();
    let mut parts: Vec<String> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let colons = |at: usize| {
            let text = |at: usize| texts.get(at).copied();
            text(at) == Some("::") || (text(at) == Some(":") && text(at + 1) == Some(":"))
        };
        let text = texts.get(at).copied().unwrap_or_default();
        let way = token.is_ident() && colons(at + 1);
        if way || text == ":" || text == "::" {
            continue;
        }
        parts.push(if token.is_ident() {
            name(text)
        } else {
            text.to_owned()
        });
    }
    let joined = parts.join(" ");
    let marks = [(" <", "<"), ("< ", "<"), (" >", ">"), (" ,", ",")];
    marks
        .iter()
        .fold(joined, |code, (wide, narrow)| code.replace(wide, narrow))
}

/// The heads of the `impl`s in the other module.
fn heads_of_target(home: &Home<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let target = home.target();
    for body in home
        .world
        .bodies
        .iter()
        .filter(|body| Some(body.module) == target)
    {
        let Some((facts, text)) = home.world.facts(body.file).zip(home.text(body.file)) else {
            continue;
        };
        for fact in facts.impls.iter().filter(|fact| fact.scope == body.scope) {
            found.extend(head_at(&text, fact.span));
        }
    }
    found
}

/// The head of the `impl` at a place.
pub(super) fn head_at(text: &str, span: ByteSpan) -> Option<String> {
    let own = span.of(text)?;
    let parsed = syn::parse_str::<syn::ItemImpl>(own).ok()?;
    let found = head(own, &parsed, &str::to_owned);
    drop(parsed);
    proc_macro2::extra::invalidate_current_thread_spans();
    found
}
