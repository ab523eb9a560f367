//! `impl`s of a module that gives way: which of them the other module has, method by method, and
//! which go along onto the type there.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding, finding::codes};
use syn::spanned::Spanned as _;

use super::{
    home::{Added, Home},
    note,
    types::Type,
};
use crate::{
    lexer,
    resolve::{FileId, ItemId, ModuleId},
    rewrite::{items::moving::Chunk, mapping::refusal},
    syntax,
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

/// Sorts them: those of the module, and those for its types and of its traits that stand elsewhere.
pub(super) fn sort(home: &Home<'_>) -> Sorted {
    let mut sorted = Sorted::default();
    let covered = home.covered();
    let all = blocks(home, &covered);
    let target = home.target();
    let primaries: BTreeSet<ItemId> = covered.values().copied().collect();
    let there = |block: &&Block| {
        let named = [block.of, block.by].into_iter().flatten();
        Some(block.module) == target || named.into_iter().any(|item| primaries.contains(&item))
    };
    let theirs: BTreeSet<Key> = all.iter().filter(there).filter_map(Block::key).collect();
    let mut types: BTreeMap<ItemId, Type> = BTreeMap::new();
    for moving in &home.set.moving {
        if let Some(primary) = covered.get(&moving.item) {
            let kind = Type::new(home, moving, *primary);
            kind.derive(home, moving, &theirs, &mut sorted);
            types.insert(moving.item, kind);
        }
    }
    let sorting = Sorting {
        home,
        covered: &covered,
        theirs: &theirs,
        types: &types,
    };
    for block in all.iter().filter(|block| !there(block)) {
        sorting.one(block, &mut sorted);
    }
    sorted
}

/// What two `impl`s of one trait for one type have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// `Trait<X> for Type`, in the names of the other module.
    pub head: String,
    /// The type there, and the trait, where they are in the tree.
    pub of: Option<ItemId>,
    pub by: Option<ItemId>,
}

/// An `impl`.
struct Block {
    module: ModuleId,
    file: FileId,
    span: ByteSpan,
    of: Option<ItemId>,
    by: Option<ItemId>,
    /// Its head, the type and the trait being those of the other module; `None` without a trait.
    head: Option<Key>,
}

impl Block {
    fn key(&self) -> Option<Key> {
        self.head.clone()
    }
}

/// The `impl`s in both modules, and those elsewhere that name what both have.
fn blocks(home: &Home<'_>, covered: &BTreeMap<ItemId, ItemId>) -> Vec<Block> {
    let world = home.world;
    let target = home.target();
    let named: BTreeSet<ItemId> = covered.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let after = |item: ItemId| covered.get(&item).copied().unwrap_or(item);
    let blocks = world.impls().iter().filter_map(|one| {
        let own = one.module == home.module || Some(one.module) == target;
        let mut both = [one.of, one.by].into_iter().flatten();
        if !own && !both.any(|item| named.contains(&item)) {
            return None;
        }
        let head = head_at(&home.text(one.file)?, one.span, &|name| {
            home.name_there(name)
        });
        Some(Block {
            module: one.module,
            file: one.file,
            span: one.span,
            of: one.of,
            by: one.by,
            head: head.map(|head| Key {
                head,
                of: one.of.map(after),
                by: one.by.map(after),
            }),
        })
    });
    blocks.collect()
}

struct Sorting<'s, 'h> {
    home: &'s Home<'h>,
    covered: &'s BTreeMap<ItemId, ItemId>,
    theirs: &'s BTreeSet<Key>,
    types: &'s BTreeMap<ItemId, Type>,
}

impl Sorting<'_, '_> {
    fn one(&self, block: &Block, sorted: &mut Sorted) {
        let _trees = syntax::Trees::begin();
        let home = self.home;
        let chunk = home.set.chunk_at(block.file, block.span.start);
        let chunk = chunk.filter(|_| block.module == home.module);
        let taken = |chunk: &Chunk| {
            let moving = home.set.moving(chunk.moving);
            self.covered.contains_key(&moving.item)
        };
        if chunk.is_some_and(|chunk| home.is_of(chunk) && !taken(chunk)) {
            // It goes where its type goes.
            return;
        }
        let span = chunk.map_or(block.span, |chunk| chunk.span);
        let kind = block.of.and_then(|of| self.types.get(&of));
        if let Some(key) = &block.head {
            let derived = kind.is_some_and(|kind| kind.derives(&key.head));
            let is_there = derived || self.theirs.contains(key);
            if is_there || chunk.is_some() {
                self.sort_whole((block.file, span), key, is_there, sorted);
            }
            return;
        }
        let text = home.text(block.file).unwrap_or_default();
        let parsed = syntax::parse::<syn::ItemImpl>(block.span.of(&text).unwrap_or_default());
        match (kind, &parsed) {
            (Some(kind), Ok(parsed)) => {
                let places = (block, span, chunk.is_some());
                methods(home, places, parsed, kind, sorted);
            }
            _ if chunk.is_some() => sorted.kept.push((block.file, span)),
            _ => {}
        }
    }

    /// Has an `impl` of a trait go, where the other module has it, or else go along.
    fn sort_whole(
        &self,
        place: (FileId, ByteSpan),
        key: &Key,
        is_there: bool,
        sorted: &mut Sorted,
    ) {
        let (head, to) = (&key.head, &self.home.merge.to);
        let message = if is_there {
            format!("`impl {head}` goes: `{to}` has it")
        } else {
            format!("`impl {head}` goes along: `{to}` lacks it")
        };
        let path = self.home.set.path(place.0);
        sorted.notes.push(note(path, place.1, message));
        let list = if is_there {
            &mut sorted.cut
        } else {
            &mut sorted.kept
        };
        list.push(place);
    }
}

/// The methods of an `impl` without a trait: those that the other type lacks go along.
fn methods(
    home: &Home<'_>,
    (block, whole, inside): (&Block, ByteSpan, bool),
    parsed: &syn::ItemImpl,
    kind: &Type,
    sorted: &mut Sorted,
) {
    let text = home.text(block.file).unwrap_or_default();
    let (cut, kept) = members_of(parsed, block.span.start, kind);
    if kept.is_empty() {
        sorted.cut.push((block.file, whole));
        return;
    }
    let path = home.set.path(block.file);
    for (name, span) in kept {
        if let Some(missing) = kind.missing(span.of(&text).unwrap_or_default()) {
            let refused = refusal(path.clone(), lacks(kind, &name, &missing));
            let help = format!("remove `{name}`, or give `{}` a `{missing}`", kind.name);
            let refused = refused.coded(codes::LOST_DEFINITION);
            sorted.refusals.push(refused.at(span).with_help(help));
        }
        if inside {
            let message = format!("`{name}` goes along: `{}` lacks it", kind.name);
            sorted.notes.push(note(path.clone(), span, message));
        }
    }
    if inside {
        sorted.kept.push((block.file, whole));
    }
    let cut = cut.into_iter().map(|span| (block.file, span));
    sorted.cut.extend(cut);
}

/// The name of a member of an `impl`.
pub(in super::super) fn member_name(item: &syn::ImplItem) -> Option<String> {
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
    Some(without_lifetime_names(&format!("{of} for {kind}")))
}

/// A head in which each lifetime is `'_`: by another name it is of the same type.
fn without_lifetime_names(head: &str) -> String {
    let mut parts = head.split('\'');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |head, part| {
        let goes_on = |letter: char| letter.is_alphanumeric() || letter == '_';
        format!("{head}'_{}", part.trim_start_matches(goes_on))
    })
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

/// The head of the `impl` at a place, `Trait<X> for Type` without ways; `None` without a trait.
pub(in super::super) fn head_at(
    text: &str,
    span: ByteSpan,
    name: &dyn Fn(&str) -> String,
) -> Option<String> {
    let _trees = syntax::Trees::begin();
    let own = span.of(text)?;
    let parsed = syntax::parse::<syn::ItemImpl>(own).ok()?;

    head(own, &parsed, name)
}

/// The members that the other type has as well, and those that go along, with their names.
fn members_of(
    parsed: &syn::ItemImpl,
    start: u32,
    kind: &Type,
) -> (Vec<ByteSpan>, Vec<(String, ByteSpan)>) {
    let (mut cut, mut kept) = (Vec::new(), Vec::new());
    let place = |at: usize| start + u32::try_from(at).unwrap_or(0);
    for item in &parsed.items {
        let range = item.span().byte_range();
        let span = ByteSpan::new(place(range.start), place(range.end));
        match member_name(item) {
            Some(name) if kind.there.names.contains(&name) => cut.push(span),
            name => kept.push((name.unwrap_or_default(), span)),
        }
    }
    (cut, kept)
}

/// Why a member cannot go along.
fn lacks(kind: &Type, name: &str, missing: &str) -> String {
    format!(
        "`{name}` cannot go along: it uses `{missing}`, which `{}` lacks",
        kind.name
    )
}
