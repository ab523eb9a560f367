//! Constants that come to where a pattern has their name: it binds a variable no more, and compares instead.
//!
//! Local variables begin with a small letter, and constants rarely do; so do unit structs, and variants that an import
//! brings.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{Tree, said_anew};
use crate::{
    facts::{ItemKind, Namespaces},
    lexer::{self, Token, TokenKind},
    resolve::{FileId, ModuleId, Res, World, id},
};

/// The places that may bind a name, of modules that have come to have a constant of it.
pub(crate) fn captured_names(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let now = captured(after);
    if now.is_empty() {
        return Vec::new();
    }
    let then = captured(before);
    let new = said_anew(&now, &then).into_iter();
    let told = new.map(|(name, (file, span))| Unproven {
        path: after.world[*file].path.clone(),
        span: Some(*span),
        kind: UnprovenKind::UnknownType,
        name: name.to_owned(),
        why: format!(
            "a constant called `{name}` comes to be in scope here, and a pattern that bound a variable of its name \
             would compare with it"
        ),
    });
    told.collect()
}

/// By modules and names of constants, places there that may bind one.
fn captured(tree: Tree<'_>) -> BTreeMap<(String, String), (FileId, ByteSpan)> {
    let world = tree.world;
    let mut found = BTreeMap::new();
    for (home, name) in constants(world) {
        for body in world.bodies_of(home) {
            let span = world.facts(body.file).scope(body.scope).span;
            let text = tree.texts.text(&world[body.file].path);
            let bound = text.and_then(|text| binding_of(world, (body.file, &text, span), &name));
            if let Some(bound) = bound {
                let key = (world[home].canonical.clone(), name.clone());
                found.entry(key).or_insert((body.file, bound));
            }
        }
    }
    found
}

/// What modules have that a pattern compares with, by names in small letters.
fn constants(world: &World) -> Vec<(ModuleId, String)> {
    let mut found = Vec::new();
    for home in (0..id(world.modules.len())).map(ModuleId) {
        for (name, bindings) in world.space(home).names.iter() {
            let name = world.names.as_str(*name);
            let is_small = name.starts_with(|first: char| first.is_lowercase());
            if is_small && bindings.iter().any(|one| is_compared_with(world, one.res)) {
                found.push((home, name.to_owned()));
            }
        }
    }
    found
}

fn is_compared_with(world: &World, res: Res) -> bool {
    match res {
        Res::Variant(..) => true,
        Res::Item(item) => {
            let has_value = || {
                let mut definitions = world[item].definitions.iter();
                definitions.any(|(file, at)| {
                    let fact = world.facts(*file).item(*at);
                    fact.namespaces.meets(Namespaces::VALUE)
                })
            };
            match world[item].kind {
                ItemKind::Const | ItemKind::Static => true,
                ItemKind::Struct => has_value(),
                _ => false,
            }
        }
        _ => false,
    }
}

/// The first place of a body that may be a pattern which binds a name.
fn binding_of(
    world: &World,
    (file, text, span): (FileId, &str, ByteSpan),
    name: &str,
) -> Option<ByteSpan> {
    let facts = world.facts(file);
    let mut own: BTreeSet<u32> = facts.items.iter().map(|one| one.name.span.start).collect();
    world.visit_file(&world[file], &mut |_, site| {
        own.extend(site.segments.iter().map(|one| one.span.start));
    });
    let tokens = lexer::tokens(text, span);
    let mut at = (0..tokens.len()).filter(|at| {
        let token = tokens.get(*at);
        token.is_some_and(|one| one.span.of(text) == Some(name) && !own.contains(&one.span.start))
            && may_bind(text, &tokens, *at)
    });
    let first = at.next().and_then(|at| tokens.get(at));
    first.map(|token| token.span)
}

/// Whether a name may be bound at a place, by what stands around it.
fn may_bind(text: &str, tokens: &[Token], at: usize) -> bool {
    let near = |at: Option<usize>| at.and_then(|at| tokens.get(at));
    let before = near(at.checked_sub(1));
    let word = before.and_then(|one| one.span.of(text)).unwrap_or_default();
    let is_member = before.is_some_and(|one| one.is(b'.') || one.is(b'\''));
    let is_path = before.is_some_and(|one| one.is(b':'))
        && near(at.checked_sub(2)).is_some_and(|one| one.is(b':'));
    let behind = near(Some(at + 1)).map(|one| one.kind);
    // `name: value` of a literal binds nothing, and `name: Type` of a parameter does.
    let is_called = matches!(
        behind,
        Some(TokenKind::Open(b'(') | TokenKind::Punct(b'!' | b'.' | b'?'))
    );
    !is_member && !is_path && !is_called && !matches!(word, "fn" | "mod" | "use" | "as")
}
