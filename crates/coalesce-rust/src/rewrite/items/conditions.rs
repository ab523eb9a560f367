//! Conditions of the new place that users of an item do not have.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding, finding::codes};

use super::{
    super::{
        conditions::{self, Arrival, Asks, conditions_of},
        mapping::refusal,
        place::Place,
        public::is_reachable_after,
    },
    moving::{Chunk, Moving, Set},
    scan::Scan,
};
use crate::{facts::VisibilityKind, regressions::has_all_docs, resolve::FileId};

/// What would be gone under some condition, and is used without.
pub(super) fn check(set: &Set<'_>, scan: &Scan) -> Vec<Finding> {
    let mut chunks: BTreeMap<usize, Vec<&Chunk>> = BTreeMap::new();
    for chunk in &set.chunks {
        chunks.entry(chunk.moving).or_default().push(chunk);
    }
    let moving = set.moving.iter().enumerate();
    let moving = moving.filter(|(_, moving)| !moving.gives_way());
    moving
        .filter_map(|(at, moving)| {
            let own = chunks.get(&at).map(Vec::as_slice);
            let users = scan.users.get(&at).into_iter().flatten().collect();
            one(set, moving, own.unwrap_or_default(), users)
        })
        .collect()
}

/// Of texts that others come to see, those without docs that go where docs are asked for: `shown` are
/// those in which something becomes `pub`, the others come from where nobody asks.
pub(in crate::rewrite) fn undocumented(
    set: &Set<'_>,
    shown: &BTreeSet<(FileId, ByteSpan)>,
) -> BTreeSet<(FileId, ByteSpan)> {
    let mut asks = Asks::new(set.mapping);
    let is_shown = |chunk: &Chunk| shown.contains(&(chunk.file, chunk.span));
    // With a type, what its blocks have is shown.
    let types = set.chunks.iter().filter(|chunk| is_shown(chunk));
    let types: BTreeSet<usize> = types.map(|chunk| chunk.moving).collect();
    let chunks = set.chunks.iter();
    // On the call of a macro it would say nothing.
    let chunks = chunks.filter(|chunk| !chunk.is_call && !set.is_dropped(chunk));
    let found = chunks.filter(|chunk| {
        let moving = set.moving(chunk.moving);
        let rules = moving.rules.as_ref();
        let comes = rules.is_some_and(|rules| rules.gains_export)
            || is_shown(chunk)
            || chunk.definition.is_none() && types.contains(&chunk.moving)
            || !asks.at(&set.mapping.after(moving.home)) && is_seen(set, chunk);
        comes && asks.at(&moving.to) && !is_documented(set, chunk)
    });
    found.map(|chunk| (chunk.file, chunk.span)).collect()
}

/// Whether others can name what a text defines, where it arrives.
fn is_seen(set: &Set<'_>, chunk: &Chunk) -> bool {
    let moving = set.moving(chunk.moving);
    if let Some(rules) = &moving.rules {
        return rules.exported;
    }
    let facts = set.world().facts(chunk.file);
    let defined = chunk.definition.map(|at| facts.item(at));
    defined.is_none_or(|item| item.visibility.kind == VisibilityKind::Public)
        && is_reachable_after(set.mapping, &moving.to, &[])
}

/// Whether all of a definition that others see has docs.
fn is_documented(set: &Set<'_>, chunk: &Chunk) -> bool {
    let text = set.mapping.texts.text(&set.path(chunk.file));
    let own = text.as_deref().and_then(|text| chunk.span.of(text));
    own.is_some_and(has_all_docs)
}

fn one(
    set: &Set<'_>,
    moving: &Moving<'_>,
    chunks: &[&Chunk],
    users: Vec<&Place>,
) -> Option<Finding> {
    let mut known = conditions_of(set.mapping, moving.home);
    known.extend(said_by_all(chunks));
    let arrival = Arrival {
        before: moving.change.from.clone(),
        after: set.name_after(moving),
        known,
        from: set.mapping.krate(moving.home),
        to: moving.to.clone(),
        has_shim: moving.shim,
        has_impls: chunks.iter().any(|chunk| chunk.definition.is_none()),
        users,
    };
    let message = conditions::refused(set.mapping, &arrival)?;
    let refused = refusal(set.mapping.file_of(moving.home), message);
    Some(refused.coded(codes::MISSING_CONDITION))
}

/// The conditions that stand on every piece of something already, and are nothing new.
fn said_by_all(chunks: &[&Chunk]) -> BTreeSet<String> {
    let said = chunks.iter().map(|chunk| {
        let own = chunk.cfg.iter();
        let own = own.filter_map(|one| one.strip_prefix("#[cfg(")?.strip_suffix(")]"));
        own.map(conditions::plain).collect::<BTreeSet<String>>()
    });
    said.reduce(|all, one| &all & &one).unwrap_or_default()
}
