//! Private functions and constants that only what gives way has named: they go with it, since the
//! compiler would call them dead.

use std::collections::BTreeSet;

use coalesce_model::ByteSpan;

use super::moving::{Chunk, Set};
use crate::{
    facts::{Item, ItemKind, Origin, VisibilityKind},
    lexer,
    resolve::{Body, FileId, ModuleId, is_within},
};

/// An item that goes along: what it goes with, its file, its place among the file's items, its text.
pub(super) struct Orphan {
    pub moving: usize,
    pub file: FileId,
    pub item: u32,
    pub span: ByteSpan,
}

/// All of them; what only another one has named goes, too.
pub(super) fn orphans(set: &Set<'_>) -> Vec<Orphan> {
    let mut found: Vec<Orphan> = Vec::new();
    let mut gone: Vec<(usize, FileId, ByteSpan)> = Vec::new();
    for chunk in set.chunks.iter().filter(|chunk| gives_way(set, chunk)) {
        gone.push((chunk.moving, chunk.file, chunk.span));
    }
    let homes: BTreeSet<ModuleId> = gone
        .iter()
        .map(|(moving, ..)| set.moving(*moving).home)
        .collect();
    while let Some(next) = homes.iter().find_map(|home| orphan(set, *home, &gone)) {
        gone.push((next.moving, next.file, next.span));
        found.push(next);
    }
    found
}

/// Whether a text goes away for another one by itself: of a module that goes as a whole, somebody
/// else settles what becomes of each part.
fn gives_way(set: &Set<'_>, chunk: &Chunk) -> bool {
    let whole = |home| set.is_whole(home);
    set.is_dropped(chunk) && chunk.definition.is_some() && !whole(set.moving(chunk.moving).home)
}

/// One private item of a module that only what is gone names.
fn orphan(set: &Set<'_>, home: ModuleId, gone: &[(usize, FileId, ByteSpan)]) -> Option<Orphan> {
    let mut bodies = set.world().bodies_of(home);
    bodies.find_map(|body| orphan_in(set, body, gone))
}

/// The same of one text of its module.
fn orphan_in(set: &Set<'_>, body: &Body, gone: &[(usize, FileId, ByteSpan)]) -> Option<Orphan> {
    let file = body.file;
    let text = set.mapping.texts.text(&set.path(file))?;
    let facts = set.world().facts(file);
    let mut items = (0_u32..).zip(&facts.items).filter(|(_, item)| {
        let known = gone
            .iter()
            .any(|(_, of, span)| *of == file && span.contains(item.name.span));
        !known && item.scope == body.scope && may_go(item, &text)
    });
    items.find_map(|(at, item)| {
        let name = facts.name(item.name.name);
        let moving = named_by(set, body.module, (name, (file, item.span)), gone)?;
        Some(Orphan {
            moving,
            file,
            item: at,
            span: item.span,
        })
    })
}

/// Whether nothing but code that names it can want an item.
fn may_go(item: &Item, text: &str) -> bool {
    let attributes = ByteSpan::new(item.span.start, item.signature.start);
    let said = attributes.of(text).unwrap_or_default();
    let plain = said.matches("#[").count() == said.matches("#[inline").count();
    matches!(
        item.kind,
        ItemKind::Function | ItemKind::Const | ItemKind::Static
    ) && item.origin == Origin::Code
        && item.visibility.kind == VisibilityKind::Private
        && plain
        && !item.conditional
}

/// What is gone and names an item, where nothing else does, in code or in a string (`"{LIMIT}"`).
/// Comments do not count.
fn named_by(
    set: &Set<'_>,
    home: ModuleId,
    (name, own): (&str, (FileId, ByteSpan)),
    gone: &[(usize, FileId, ByteSpan)],
) -> Option<usize> {
    let world = set.world();
    let mut found = None;
    for (file, source) in world.sources() {
        let mut modules = source.bodies.iter().map(|body| world[body].module);
        let sees = modules.any(|module| is_within(world, module, home));
        let text = set.mapping.texts.text(&source.path).filter(|_| sees);
        let said = text.map_or_else(Vec::new, |text| places_of(name, &text));
        let is_own = |span: &ByteSpan| file == own.0 && own.1.contains(*span);
        for place in said.into_iter().filter(|span| !is_own(span)) {
            let by = gone
                .iter()
                .find(|(_, of, span)| *of == file && span.contains(place));
            found = Some(by?.0);
        }
    }
    found
}

/// Where a text says a name, in strings as well.
fn places_of(name: &str, text: &str) -> Vec<ByteSpan> {
    if !text.contains(name) {
        return Vec::new();
    }
    let whole = ByteSpan::from_range(0..text.len());
    let tokens = lexer::tokens(text, whole).into_iter();
    let named = tokens.filter(|token| {
        let word = token.span.of(text).unwrap_or_default();
        match token.kind {
            lexer::TokenKind::Text { .. } => word.contains(name),
            _ => word.strip_prefix("r#").unwrap_or(word) == name,
        }
    });
    named.map(|token| token.span).collect()
}
