//! Files of Rust that no module loads, as those that a test compiles by itself: what they name by a full name is told.
//!
//! Nobody knows by which crates such a file is read, so that it is not changed.

use coalesce_model::{ByteSpan, Form, NotRewritten};

use super::mapping::Mapping;
use crate::facts::{LeafKind, SegmentRange, SourceFacts};

/// The first place of each file that says the full name of what changes.
pub(super) fn places(mapping: &Mapping<'_>) -> Vec<NotRewritten> {
    let world = mapping.world;
    let unloaded = world
        .sources()
        .filter(|(_, source)| source.bodies.is_empty());
    let told = unloaded.filter_map(|(file, source)| {
        let (span, name, form) = first_place(mapping, world.facts(file))?;
        Some(NotRewritten {
            path: source.path.clone(),
            span,
            form,
            name,
            why: "no module loads this file, and what reads it is not known".to_owned(),
        })
    });
    told.collect()
}

fn first_place(mapping: &Mapping<'_>, facts: &SourceFacts) -> Option<(ByteSpan, String, Form)> {
    let leaves = facts.leaves.iter().map(|leaf| {
        let form = match leaf.kind {
            LeafKind::Glob => Form::Glob,
            _ => Form::ImportFrom,
        };
        (leaf.segments, form)
    });
    let paths = facts.paths.iter().map(|path| (path.segments, Form::Path));
    let said = leaves.chain(paths);
    let named = said.filter_map(|(segments, form)| {
        let (span, name) = full_name(facts, segments)?;
        let is_one = |from: &str| {
            let rest = name.strip_prefix(from);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let mut changes = mapping.changes.iter();
        let is_named = changes.any(|change| change.from.contains("::") && is_one(&change.from));
        is_named.then_some((span, name, form))
    });
    named.min_by_key(|(span, ..)| *span)
}

/// What segments say, and where.
fn full_name(facts: &SourceFacts, segments: SegmentRange) -> Option<(ByteSpan, String)> {
    let segments = facts.segments(segments);
    let span = segments.first()?.span.cover(segments.last()?.span);
    let names: Vec<&str> = segments.iter().map(|one| facts.name(one.name)).collect();
    Some((span, names.join("::")))
}
