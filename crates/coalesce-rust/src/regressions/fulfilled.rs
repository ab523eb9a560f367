//! `#[expect]` of what the compiler says or does not by how far something is seen: where that changes, the lint may
//! come to find nothing, and the compiler warns of the expectation.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, TreePath, Unproven, UnprovenKind};

use super::{Tree, is_open};
use crate::{
    lints,
    resolve::{Body, FileId, ItemId, ModuleId, Target, World, is_within},
};

/// How an attribute begins that expects a lint.
const EXPECTS: &str = "#[expect(";

/// Lints that ask who can name something.
const OF_REACH: [&str; 8] = [
    "dead_code",
    "missing_debug_implementations",
    "missing_docs",
    "private_bounds",
    "private_interfaces",
    "unnameable_types",
    "unreachable_pub",
    "unused",
];

/// The expectations of items that others come to see, or see no more.
pub(crate) fn expectations_in_doubt(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let world = after.world;
    let expecting: Vec<(ItemId, FileId, ByteSpan)> = expecting(after);
    if expecting.is_empty() {
        return Vec::new();
    }
    let old = before.world;
    let were = items_by_name(old);
    let mut found = Vec::new();
    for (item, file, span) in expecting {
        let node = &world[item];
        let alike = were.get(node.name.as_str()).into_iter().flatten();
        let alike = alike.filter(|one| old[**one].kind == node.kind);
        let alike: Vec<ItemId> = alike.copied().collect();
        if !was_seen_as_far((old, &alike), (world, item)) {
            found.push(in_doubt(&world[file].path, span, &node.name));
        }
    }
    found
}

fn items_by_name(world: &World) -> BTreeMap<&str, Vec<ItemId>> {
    let mut found: BTreeMap<&str, Vec<ItemId>> = BTreeMap::new();
    for item in (0..).map(ItemId).take(world.items.len()) {
        found
            .entry(world[item].name.as_str())
            .or_default()
            .push(item);
    }
    found
}

/// Whether an item was seen by others as now: the one of its full name, or where there is none, one like it.
fn was_seen_as_far((old, alike): (&World, &[ItemId]), (world, item): (&World, ItemId)) -> bool {
    let name = world.name_of(&Target::Item(item));
    let is_it = |one: &ItemId| old.name_of(&Target::Item(*one)) == name;
    let is_kept = alike.iter().any(is_it);
    let is_seen = is_open(world, item);
    let mut were = alike.iter().filter(|one| !is_kept || is_it(one));
    were.any(|one| is_open(old, *one) == is_seen)
}

fn in_doubt(path: &TreePath, span: ByteSpan, name: &str) -> Unproven {
    Unproven {
        path: path.clone(),
        span: Some(span),
        kind: UnprovenKind::Lint,
        name: name.to_owned(),
        why: format!(
            "a lint is expected here, `{name}` comes to be seen by others, or by others no more, and what is \
             expected may not be found then: the compiler warns of that"
        ),
    }
}

/// Modules of which something is expected as a whole, at their head or their declaration, and that definitions leave: the
/// lint may have been found in those.
pub(crate) fn expectations_left(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let (old, new) = (before.world, after.world);
    let mut found = Vec::new();
    for body in &new.bodies {
        let said = said_of_body(after, body);
        // Imports that nobody uses stay where they are.
        let is_of_code = |one: &lints::Said| one.level == "expect" && one.lint != "unused_imports";
        let Some(expected) = said.into_iter().find(is_of_code) else {
            continue;
        };
        let name = &new[body.module].canonical;
        let was = old.modules_named(name).into_iter().next();
        let Some(lost) = was.and_then(|was| lost_from((old, was), (new, body.module))) else {
            continue;
        };
        found.push(left_by(new, body, &expected.lint, lost));
    }
    found.sort();
    found.dedup();
    found
}

/// What is told of a module, of which a lint is expected, where `lost` leaves it.
fn left_by(world: &World, body: &Body, lint: &str, lost: String) -> Unproven {
    let start = world.facts(body.file).scope(body.scope).span.start;
    Unproven {
        path: world[body.file].path.clone(),
        span: Some(ByteSpan::empty(start)),
        kind: UnprovenKind::Lint,
        why: format!(
            "`{lint}` is expected of all that stands here, and `{lost}`, which leaves, may be what it was found in: the \
             compiler warns where it finds nothing"
        ),
        name: lost,
    }
}

/// What the head of a body and the line that declares it say of lints.
fn said_of_body(tree: Tree<'_>, body: &Body) -> Vec<lints::Said> {
    let world = tree.world;
    let mut said = lints::of_head(world, body, tree.texts);
    said.extend(lints::of_declaration(world, body, tree.texts));
    said
}

/// A definition that a module had, or one in it, and has no more.
fn lost_from((old, was): (&World, ModuleId), (new, is): (&World, ModuleId)) -> Option<String> {
    let count = |world: &World, of: ModuleId| {
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        let own = world
            .items
            .iter()
            .filter(|one| is_within(world, one.module, of));
        for one in own {
            *found.entry(one.name.clone()).or_default() += one.definitions.len();
        }
        found
    };
    let now = count(new, is);
    let then = count(old, was).into_iter();
    let mut lost = then.filter(|(name, count)| now.get(name).is_none_or(|now| now < count));
    lost.next().map(|(name, _)| name)
}

/// The items with such an expectation in their text, or in that of their `impl`s.
fn expecting(tree: Tree<'_>) -> Vec<(ItemId, FileId, ByteSpan)> {
    let world = tree.world;
    let mut found = Vec::new();
    let says = |file: FileId| {
        let text = tree.texts.text(&world[file].path);
        text.filter(|text| text.contains(EXPECTS))
    };
    if !world.sources().any(|(file, _)| says(file).is_some()) {
        return found;
    }
    for (item, node) in (0..).map(ItemId).zip(&world.items) {
        let own = node.definitions.iter();
        let own = own.map(|(file, at)| (*file, world.facts(*file).item(*at).span));
        let blocks = world.impls_of(item).map(|one| (one.file, one.span));
        let mut all = own.chain(blocks);
        let place = all.find_map(|(file, span)| {
            let text = says(file)?;
            Some((file, expectation_in(&text, span)?))
        });
        found.extend(place.map(|(file, span)| (item, file, span)));
    }
    found
}

/// The first attribute of a span that expects such a lint.
fn expectation_in(text: &str, span: ByteSpan) -> Option<ByteSpan> {
    let own = span.of(text)?;
    own.match_indices(EXPECTS).find_map(|(at, _)| {
        let start = span.start + u32::try_from(at).ok()?;
        let said = lints::said(text, ByteSpan::new(start, span.end));
        let mut said = said.iter().filter(|one| one.level == "expect");
        said.any(|one| OF_REACH.contains(&one.lint.as_str()))
            .then(|| ByteSpan::empty(start))
    })
}
