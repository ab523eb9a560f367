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
    let own = world.bodies.iter();
    for body in own.filter(|body| body.module == home.module) {
        let Some((facts, text)) = Some(world.facts(body.file)).zip(home.text(body.file)) else {
            continue;
        };
        let leaves = (0_u32..).zip(&facts.leaves).map(|(at, _)| at);
        let shown = leaves.filter(|at| is_shown_by(facts, *at, body));
        let shown = shown.filter(|at| is_lacking(home, speller, facts, (body.file, *at)));
        let lines = shown.filter_map(|at| line_for(speller, facts, (body.file, at), &text));
        found.extend(lines);
    }
    let first = world[target].bodies.first();
    if let Some(body) = first.map(|body| &world[body]) {
        insert(home, body, &found, edits);
    }
}

/// Whether a leaf is one of a body, and seen by more than its module.
fn is_shown_by(facts: &SourceFacts, leaf: u32, body: &Body) -> bool {
    let declaration = facts.declaration_of(leaf);
    declaration.scope == body.scope && declaration.visibility.kind != VisibilityKind::Private
}

/// Whether the other module does not show what an import does, and may: both are of one crate.
fn is_lacking(
    home: &Home<'_>,
    speller: &Speller<'_>,
    facts: &SourceFacts,
    import: (FileId, u32),
) -> bool {
    let known = match (bound(facts, import), facts.leaf(import.1).kind) {
        (_, LeafKind::Glob) => {
            let path = speller.absolute(import);
            path.is_none_or(|path| globs(home, speller).contains(&path))
        }
        (Some(name), _) => shows(home, renamed(home.merge, &name)),
        (None, _) => true,
    };
    let krate = home.target().map(|target| home.world[target].krate);
    !known && speller.krate_of(import) == krate
}

/// The declaration that shows what an import does, from wherever it stands.
fn line_for(
    speller: &Speller<'_>,
    facts: &SourceFacts,
    import: (FileId, u32),
    text: &str,
) -> Option<String> {
    let path = speller.absolute(import)?;
    let declaration = facts.declaration_of(import.1);
    let visibility = declaration.visibility.span.of(text).unwrap_or_default();
    let conditions = declaration.cfg.iter();
    let conditions: String = conditions.map(|cfg| format!("#[cfg({cfg})]\n")).collect();
    let names: Vec<String> = path.iter().map(|name| written(name)).collect();
    let mut tree = names.join("::");
    if facts.leaf(import.1).kind == LeafKind::Glob {
        tree.push_str("::*");
    } else if let Some(name) = bound(facts, import).filter(|name| path.last() != Some(name)) {
        tree.push_str(&format!(" as {}", written(&name)));
    }
    Some(format!("{conditions}{visibility} use {tree};"))
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
        let leaves = (0_u32..).zip(&facts.leaves);
        let own = leaves.filter(|(_, leaf)| {
            leaf.kind == LeafKind::Glob && facts.declaration(leaf.declaration).scope == body.scope
        });
        found.extend(own.filter_map(|(at, _)| speller.absolute((body.file, at))));
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
    let line = lines::line_break(&text);
    let scope = facts.scope(body.scope);
    let (at, indent, lead) = match last {
        Some(last) => (
            lines::line_end(&text, last.span.end),
            lines::prefix(&text, last.span.start).unwrap_or_default(),
            String::new(),
        ),
        None => {
            let at = lines::end_within(&text, scope.items_start, scope.span);
            (at, "", lead_after_head(&text, at, line))
        }
    };
    let block = list.iter().flat_map(|one| one.lines());
    let block: String = block.map(|one| format!("{indent}{one}{line}")).collect();
    let path = home.set.path(body.file);
    edits.push(path, Edit::insert(at, format!("{lead}{block}")));
}

/// What stands between the head of a module, its documentation and attributes, and the first line that is put behind it.
fn lead_after_head(text: &str, at: u32, line: &str) -> String {
    let head = text.get(..at as usize).unwrap_or_default();
    match head {
        "" => String::new(),
        head if head.trim_end().ends_with('{') && head.ends_with('\n') => String::new(),
        head if head.ends_with('\n') => line.to_owned(),
        _ => format!("{line}{line}"),
    }
}
