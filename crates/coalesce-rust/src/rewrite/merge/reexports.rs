//! Names that a module which gives way shows by `pub use`, and that the one in its place lacks.

use std::collections::BTreeSet;

use coalesce_model::Edit;

use super::{
    Edits,
    home::{Home, renamed},
};
use crate::{
    facts::{LeafKind, SourceFacts, VisibilityKind},
    resolve::{Body, FileId, Reach},
    rewrite::{
        lines,
        mapping::Mapping,
        spell::{Speller, written},
    },
};

/// Shows them in the other module as well.
pub(super) fn bring(home: &Home<'_>, edits: &mut Edits) {
    let world = home.world;
    let Some(target) = home.target() else { return };
    let nothing = Mapping::new(world, &[], home.texts);
    let speller = &nothing.speller();
    let mut found = BTreeSet::new();
    for body in world
        .bodies
        .iter()
        .filter(|body| body.module == home.module)
    {
        let Some((facts, text)) = Some(world.facts(body.file)).zip(home.text(body.file)) else {
            continue;
        };
        for (at, leaf) in facts.leaves.iter().enumerate() {
            let declaration = facts.declaration(leaf.declaration);
            let private = declaration.visibility.kind == VisibilityKind::Private;
            if declaration.scope != body.scope || private {
                continue;
            }
            let import = (body.file, u32::try_from(at).unwrap_or(u32::MAX));
            let Some(path) = speller.absolute(import) else {
                continue;
            };
            let bound = bound(facts, import);
            let known = match (&bound, leaf.kind) {
                (_, LeafKind::Glob) => globs(home, speller).contains(&path),
                (Some(name), _) => shows(home, renamed(home.merge, name)),
                (None, _) => true,
            };
            if known || speller.krate_of(import) != Some(nothing.krate(target)) {
                continue;
            }
            let visibility = declaration.visibility.span.of(&text).unwrap_or_default();
            let conditions: String = declaration
                .cfg
                .iter()
                .map(|cfg| format!("#[cfg({cfg})]\n"))
                .collect();
            let names: Vec<String> = path.iter().map(|name| written(name)).collect();
            let mut tree = names.join("::");
            if leaf.kind == LeafKind::Glob {
                tree.push_str("::*");
            } else if let Some(name) = bound.filter(|name| path.last() != Some(name)) {
                tree.push_str(&format!(" as {}", written(&name)));
            }
            found.insert(format!("{conditions}{visibility} use {tree};"));
        }
    }
    let first = world[target].bodies.first();
    if let Some(body) = first.map(|body| &world[body]) {
        insert(home, body, &found, edits);
    }
}

fn bound(facts: &SourceFacts, (_, at): (FileId, u32)) -> Option<String> {
    let leaf = facts.leaf(at);
    let segments = facts.segments(leaf.segments);
    let name = leaf.alias.or(segments.last().copied())?;
    let name = facts.name(name.name);
    (name != "_").then(|| name.to_owned())
}

/// Whether the other module shows a name.
fn shows(home: &Home<'_>, name: &str) -> bool {
    let Some(target) = home.target() else {
        return false;
    };
    let bindings = Some(home.world.space(target))
        .zip(home.world.names.get(name))
        .and_then(|(space, sym)| space.names.get(&sym));
    let mut bindings = bindings.into_iter().flatten();
    bindings.any(|binding| binding.import.is_none() || binding.reach != Reach::Within(target))
}

/// The modules that the other one has globs of.
fn globs(home: &Home<'_>, speller: &Speller<'_>) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let target = home.target();
    let bodies = home.world.bodies.iter();
    for body in bodies.filter(|body| Some(body.module) == target) {
        let facts = home.world.facts(body.file);
        for (at, leaf) in facts.leaves.iter().enumerate() {
            let own = facts.declaration(leaf.declaration);
            let own = own.scope == body.scope;
            if own && leaf.kind == LeafKind::Glob {
                let import = (body.file, u32::try_from(at).unwrap_or(u32::MAX));
                found.extend(speller.absolute(import));
            }
        }
    }
    found
}

/// Puts declarations behind the imports of a body.
fn insert(home: &Home<'_>, body: &Body, list: &BTreeSet<String>, edits: &mut Edits) {
    let Some((facts, text)) = Some(home.world.facts(body.file)).zip(home.text(body.file)) else {
        return;
    };
    if list.is_empty() {
        return;
    }
    let uses = facts.uses.iter().filter(|one| one.scope == body.scope);
    let last = uses.max_by_key(|one| one.span.start);
    let (at, indent) = match last {
        Some(last) => (
            lines::line_end(&text, last.span.end),
            lines::prefix(&text, last.span.start).unwrap_or_default(),
        ),
        None => (facts.scope(body.scope).items_start, ""),
    };
    let line = lines::line_break(&text);
    let block: String = list
        .iter()
        .flat_map(|one| one.lines())
        .map(|one| format!("{indent}{one}{line}"))
        .collect();
    let path = home.set.path(body.file);
    edits.push(path, Edit::insert(at, block));
}
