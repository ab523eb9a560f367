//! `impl`s that rustc allows in one crate and not in another: of a type and a trait that would both be of
//! other crates, and those that may meet once a trait has gone.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, finding::codes};

use super::{Check, Piece};
use crate::{
    facts::ItemKind,
    lexer::{self, Token, TokenKind},
    resolve::{CrateId, FileId, Found, ImplSite, ItemId, Res, UseSite, World},
    rewrite::mapping::{Mapping, refusal},
};

impl Check<'_> {
    /// `impl`s that would be in another crate than both their trait and their type.
    pub(super) fn orphans(&mut self, pieces: &[Piece]) {
        let mapping = self.mapping;
        for (one, krate) in impls_left(mapping, pieces) {
            let mut around = pieces.iter().filter(|piece| piece.holds(one));
            let moved = around.find(|piece| self.moves_items() || piece.from == one.module);
            let home = moved.map_or(mapping.after(one.module).krate, |piece| piece.to);
            let local = |item: Option<ItemId>| item.map(|item| self.crate_after(item) == home);
            let (of, by) = (local(one.of), local(one.by));
            let touched = moved.is_some() || of == Some(false) || by == Some(false);
            let allowed = of == Some(true) || (!one.is_inherent() && by == Some(true));
            let was = |item: ItemId| mapping.krate(mapping.world[item].module) == krate;
            if !touched || allowed || ![one.of, one.by].into_iter().flatten().any(was) {
                continue;
            }
            self.refuse_orphan(
                one,
                "this `impl` would be in another crate than its trait and its type",
            );
        }
    }

    /// `impl`s of a foreign trait for a foreign type, of which an argument was the crate's own:
    /// `impl From<Own> for u32`.
    pub(super) fn orphan_arguments(&mut self, pieces: &[Piece]) {
        let mapping = self.mapping;
        let world = mapping.world;
        for (one, krate) in impls_left(mapping, pieces) {
            let home = match pieces.iter().find(|piece| piece.holds(one)) {
                Some(piece) => piece.to,
                None => mapping.after(one.module).krate,
            };
            let own =
                |item: Option<ItemId>| item.is_some_and(|item| self.crate_after(item) == home);
            if one.is_inherent() || own(one.of) || own(one.by) {
                continue;
            }
            let path = &world[one.file].path;
            let text = mapping.texts.text(path).unwrap_or_default();
            let named = items_named_at(world, one.file, &arguments_of_trait(&text, one.span));
            let was = |item: &ItemId| mapping.krate(world[*item].module) == krate;
            if named.iter().any(was) && !named.iter().any(|item| own(Some(*item))) {
                self.refuse_orphan(
                    one,
                    "this `impl` would have no type and no trait of its own crate",
                );
            }
        }
    }

    fn refuse_orphan(&mut self, one: &ImplSite, message: &str) {
        let path = self.mapping.world[one.file].path.clone();
        let refused = refusal(path, message).coded(codes::FORBIDDEN_IN_TARGET);
        let help = "move the type, or the trait, along with it".to_owned();
        self.found
            .refusals
            .push(refused.at(one.span).with_help(help));
    }

    /// `impl<T: Moved> Trait for T` beside one for a type of another crate: whether that has the trait
    /// which moves is for its new crate to say, and both may meet.
    pub(super) fn blankets(&mut self, pieces: &[Piece]) {
        let mapping = self.mapping;
        let world = mapping.world;
        let moved = traits_defined_in(world, pieces);
        if moved.is_empty() {
            return;
        }
        for one in world.impls().iter().filter(|one| one.of.is_none()) {
            let Some(by) = one.by.filter(|_| self.is_bound_by(one, &moved)) else {
                continue;
            };
            if self.meets_another(one, by) && moved.iter().all(|item| !self.is_of(one, *item)) {
                let path = world[one.file].path.clone();
                let message = "this `impl` would meet another one: whether a foreign type has the trait that \
                               moves is not for this crate to say any more";
                let refused = refusal(path, message).coded(codes::FORBIDDEN_IN_TARGET);
                self.found.refusals.push(refused.at(one.span));
            }
        }
    }

    /// Whether an item is of the crate that an `impl` will stand in.
    fn is_of(&self, one: &ImplSite, item: ItemId) -> bool {
        self.crate_after(item) == self.mapping.after(one.module).krate
    }

    /// Whether the crate of an `impl` of the trait `by` has another one of it, for a foreign type.
    fn meets_another(&self, one: &ImplSite, by: ItemId) -> bool {
        let mapping = self.mapping;
        let home = mapping.after(one.module).krate;
        let mut others = mapping.world.impls().iter();
        others.any(|other| {
            let own = other.of.is_some_and(|item| self.crate_after(item) == home);
            let same = other.file == one.file && other.span == one.span;
            let meets = other.by == Some(by) && mapping.after(other.module).krate == home;
            meets && !same && !own
        })
    }

    /// Whether the head of an `impl` of a trait names one of these traits besides.
    fn is_bound_by(&self, one: &ImplSite, traits: &BTreeSet<ItemId>) -> bool {
        let world = self.mapping.world;
        let text = self
            .mapping
            .texts
            .text(&world[one.file].path)
            .unwrap_or_default();
        let head = lexer::tokens(&text, one.span).into_iter();
        let end = head
            .take_while(|token| token.kind != TokenKind::Open(b'{'))
            .last()
            .map_or(one.span.end, |last| last.span.end);
        let head = ByteSpan::new(one.span.start, end);
        let mut found = false;
        world.visit_file(&world[one.file], &mut |_, site| {
            let UseSite::Path(path) = site.site else {
                return;
            };
            let inside = site
                .segments
                .first()
                .is_some_and(|first| head.contains(first.span));
            let mut steps = site.trace.steps.iter().flat_map(Found::all);
            found |= inside
                && one.fact.trait_path != Some(path)
                && steps.any(|(res, _)| matches!(res, Res::Item(item) if traits.contains(&item)));
        });
        found
    }
}

impl Piece {
    /// Whether an `impl` stands in it.
    fn holds(&self, one: &ImplSite) -> bool {
        self.file == one.file && self.span.contains(one.span)
    }
}

/// The `impl`s of crates that something leaves, each with its crate.
fn impls_left<'w>(
    mapping: &'w Mapping<'_>,
    pieces: &[Piece],
) -> impl Iterator<Item = (&'w ImplSite, CrateId)> {
    let from: BTreeSet<CrateId> = pieces.iter().map(|one| mapping.krate(one.from)).collect();
    let impls = mapping.world.impls().iter();
    let impls = impls.map(|one| (one, mapping.krate(one.module)));
    impls.filter(move |(_, krate)| from.contains(krate))
}

/// The items that paths of a file lead to whose last segment stands at one of these places.
fn items_named_at(world: &World, file: FileId, places: &BTreeSet<ByteSpan>) -> BTreeSet<ItemId> {
    let mut named = BTreeSet::new();
    world.visit_file(&world[file], &mut |_, site| {
        let last = site.segments.last();
        if !last.is_some_and(|last| places.contains(&last.span)) {
            return;
        }
        let led = site.trace.steps.last().into_iter().flat_map(Found::all);
        named.extend(led.filter_map(|(res, _)| match res {
            Res::Item(item) => Some(item),
            _ => None,
        }));
    });
    named
}

/// The last names of the types that a trait is given in the head of an `impl`, not those inside of them.
fn arguments_of_trait(text: &str, span: ByteSpan) -> BTreeSet<ByteSpan> {
    let tokens = lexer::tokens(text, span);
    let mut depth = 0_i32;
    let mut found = BTreeSet::new();
    // `impl<T>` opens before the trait.
    let generic = tokens.get(1).is_some_and(|one| one.is(b'<'));
    let mut behind = !generic;
    let mut before: Option<Token> = None;
    for token in &tokens {
        let word = token.span.of(text).unwrap_or_default();
        if token.kind == TokenKind::Open(b'{') || (depth == 0 && behind && word == "for") {
            break;
        }
        let arrow = before.is_some_and(|before| before.is(b'-'));
        if token.is(b'<') {
            depth += 1;
        } else if token.is(b'>') && !arrow {
            depth -= 1;
            behind |= depth == 0;
        } else if depth == 1 && behind && token.is_ident() {
            found.insert(token.span);
        }
        before = Some(*token);
    }
    found
}

/// The traits that are defined in what moves.
fn traits_defined_in(world: &World, pieces: &[Piece]) -> BTreeSet<ItemId> {
    let items = pieces.iter().flat_map(|piece| {
        let facts = world.facts(piece.file);
        let own = facts.items.iter();
        let own = own.filter(|one| piece.span.contains(one.span));
        own.flat_map(|item| world.items_of(piece.from, facts.name(item.name.name)))
    });
    items
        .filter(|item| world[item].kind == ItemKind::Trait)
        .collect()
}
