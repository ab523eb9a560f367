//! Names that items take from others when they arrive.
//!
//! An item hides what globs and preludes bring by its name, in its module and in those that have all of
//! that by a glob; where two globs bring it, it is ambiguous. Code there that means another one would
//! mean it from then on, or nothing.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Finding, Unproven, UnprovenKind, finding::codes};

use super::{
    imports::home_of,
    moving::{Moving, Set},
};
use crate::{
    facts::{LeafKind, Namespaces, Origin, SourceFacts},
    lexer,
    resolve::{FileId, ModuleId, Res, Site, UseSite},
    rewrite::{mapping::refusal, walk::is_of_module},
    words::PRELUDE,
};

/// Code that would mean an item that arrives, and means something else now.
pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for moving in &set.moving {
        let home = set.mapping.at(&moving.to);
        if let Some(home) = home.filter(|_| arrives(set, moving)) {
            found.extend(taken(set, moving, home));
        }
    }
    found
}

/// Whether a definition comes to a module, or gets another name there.
fn arrives(set: &Set<'_>, moving: &Moving<'_>) -> bool {
    let renamed = set.world()[moving.item].name != moving.name;
    !moving.gives_way() && (renamed || !set.is_in_place(moving))
}

/// The modules that have all of another one by a glob, and that one.
pub(super) fn with_all_of(set: &Set<'_>, home: ModuleId) -> BTreeSet<ModuleId> {
    let world = set.world();
    let speller = set.mapping.speller();
    let mut found = BTreeSet::from([home]);
    for (file, _) in world.sources() {
        for (at, leaf) in (0..).zip(&world.facts(file).leaves) {
            let leaf_at = (file, at);
            let glob = leaf.kind == LeafKind::Glob && is_of_module(world, leaf_at);
            if glob && speller.glob_target(leaf_at) == Some(home) {
                found.extend(home_of(world, leaf_at));
            }
        }
    }
    found
}

fn taken(set: &Set<'_>, moving: &Moving<'_>, home: ModuleId) -> Option<Finding> {
    let world = set.world();
    let users = with_all_of(set, home);
    for (file, source) in world.sources() {
        let mut names = world.facts(file).names.iter();
        if !names.any(|known| **known == *moving.name) {
            continue;
        }
        let mut other: Option<ByteSpan> = None;
        world.visit_file(source, &mut |facts, site| {
            let Some(first) = site.segments.first() else {
                return;
            };
            let own = facts.name(first.name) == moving.name
                && users.contains(&world.module_of(site.space))
                && set.chunk_at(file, first.span.start).is_none();
            if own && means_another(set, moving, home, (facts, &site)) {
                other = other.or(Some(first.span));
            }
        });
        if let Some(span) = other {
            let message = format!(
                "`{}` means something else here, and would mean `{}`, or be ambiguous",
                moving.name,
                set.name_after(moving)
            );
            let help = "give it another name, or import by name what is meant here".to_owned();
            return Some(
                refusal(source.path.clone(), message)
                    .coded(codes::NAME_TAKEN)
                    .at(span)
                    .with_help(help),
            );
        }
    }
    None
}

/// Whether the first name of a site is brought by a glob or a prelude, and is not the item that moves.
fn means_another(
    set: &Set<'_>,
    moving: &Moving<'_>,
    home: ModuleId,
    (facts, site): (&SourceFacts, &Site<'_>),
) -> bool {
    let read = matches!(
        site.origin,
        Origin::Code | Origin::KnownMacro | Origin::MacroArguments | Origin::Attribute
    );
    let UseSite::Path(path) = site.site else {
        return false;
    };
    let path = facts.path(path);
    let spaces = set.world()[moving.item].namespaces;
    let wanted = match site.segments.len() {
        1 => path.namespaces,
        _ => Namespaces::TYPE,
    };
    if !read || path.leading_colons || !wanted.meets(spaces) {
        return false;
    }
    let Some(step) = site.trace.steps.first() else {
        return false;
    };
    let alike = |spaces_of: Namespaces| spaces_of.meets(spaces);
    let mut led = step
        .all()
        .filter(|(_, spaces_of)| alike(*spaces_of))
        .peekable();
    if led.peek().is_none() {
        return step.is_empty() && !step.opaque && PRELUDE.contains(&moving.name);
    }
    let here = set.world().module_of(site.space);
    let same = |res: Res| match res {
        Res::Item(item) => set.of(item).is_some(),
        _ => false,
    };
    // What a module imports by name stays what is meant in the others.
    let weak =
        step.glob || (step.import.is_none() && here == home && is_of_prelude(set, step.all()));
    weak && !led.any(|(res, _)| same(res))
}

fn is_of_prelude(set: &Set<'_>, mut led: impl Iterator<Item = (Res, Namespaces)>) -> bool {
    led.any(|(res, _)| match res {
        Res::External(full) => {
            let full = set.world().names.as_str(full);
            ["std::", "core::", "alloc::"]
                .iter()
                .any(|one| full.starts_with(one))
        }
        _ => false,
    })
}

/// Calls of macros among the items of a module that name what arrives there: they may define it as well.
pub(super) fn macro_words(set: &Set<'_>) -> Vec<Unproven> {
    let world = set.world();
    let mut found = Vec::new();
    for moving in set.moving.iter().filter(|moving| arrives(set, moving)) {
        let Some(home) = set.mapping.at(&moving.to) else {
            continue;
        };
        for body in world.bodies_of(home) {
            found.extend(words_in(set, moving, (body.file, body.scope)));
        }
    }
    found
}

fn words_in(
    set: &Set<'_>,
    moving: &Moving<'_>,
    (file, scope): (FileId, crate::facts::ScopeId),
) -> Option<Unproven> {
    let world = set.world();
    let facts = world.facts(file);
    let path = &world[file].path;
    let text = set.mapping.texts.text(path)?;
    let mut calls = facts.macro_calls.iter();
    let word = calls.find_map(|call| {
        let own = call.item_position && call.scope == scope;
        let stays = own && set.chunk_at(file, call.body.start).is_none();
        let tokens = stays.then(|| lexer::tokens(&text, call.body))?;
        let mut before = None;
        tokens.into_iter().find(|token| {
            let path = before
                .replace(*token)
                .is_some_and(|one| one.is(b':') || one.is(b'.'));
            !path && token.is_ident() && token.span.of(&text) == Some(moving.name.as_str())
        })
    })?;
    Some(Unproven {
        path: path.clone(),
        span: Some(word.span),
        kind: UnprovenKind::MacroArgument,
        name: moving.name.clone(),
        why: format!(
            "a macro is given this name where `{}` arrives, and may define it too",
            set.name_after(moving)
        ),
    })
}
