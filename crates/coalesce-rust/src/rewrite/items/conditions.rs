//! Conditions of the new place that users of an item do not have.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Finding};

use super::{
    super::{
        conditions::{self, Arrival, conditions_of},
        mapping::refusal,
    },
    moving::{Chunk, Moving, Set},
    scan::Scan,
};
use crate::{facts::ItemKind, resolve::FileId};

/// What would be gone under some condition, and is used without.
pub(super) fn check(set: &Set<'_>, scan: &Scan) -> Vec<Finding> {
    let moving = set.moving.iter().enumerate();
    moving
        .filter(|(_, moving)| !moving.gives_way())
        .filter_map(|(at, moving)| one(set, scan, at, moving))
        .collect()
}

/// Of texts in which something becomes `pub`, those that go where docs are asked for.
pub(super) fn undocumented(
    set: &Set<'_>,
    shown: &BTreeSet<(FileId, ByteSpan)>,
) -> BTreeSet<(FileId, ByteSpan)> {
    let asked = |chunk: &&Chunk| {
        let lint = ("missing_docs", &["warn", "deny"][..]);
        conditions::set_at(set.mapping, &set.moving(chunk.moving).to, lint).is_some()
    };
    let chunks = set.chunks.iter();
    chunks
        .filter(|chunk| shown.contains(&(chunk.file, chunk.span)))
        .filter(asked)
        .filter(|chunk| !is_documented(set, chunk))
        .map(|chunk| (chunk.file, chunk.span))
        .collect()
}

/// Whether a definition without members has docs.
fn is_documented(set: &Set<'_>, chunk: &Chunk) -> bool {
    let text = set.mapping.texts.text(&set.path(chunk.file));
    let own = text.as_deref().and_then(|text| chunk.span.of(text));
    let single = {
        let moving = set.moving(chunk.moving);
        let kind = moving.kind;
        matches!(
            kind,
            ItemKind::Function | ItemKind::Const | ItemKind::Static
        )
    };
    single && own.is_some_and(|own| own.lines().any(|line| line.trim_start().starts_with("///")))
}

fn one(set: &Set<'_>, scan: &Scan, at: usize, moving: &Moving<'_>) -> Option<Finding> {
    let chunks = set.chunks.iter().filter(|chunk| chunk.moving == at);
    let mut known = conditions_of(set.mapping, moving.home);
    // What stands on every piece of it already is nothing new.
    let said = chunks.clone().map(|chunk| {
        let own = chunk.cfg.iter();
        let own = own.filter_map(|one| one.strip_prefix("#[cfg(")?.strip_suffix(")]"));
        own.map(conditions::plain).collect::<BTreeSet<String>>()
    });
    known.extend(said.reduce(|all, one| &all & &one).unwrap_or_default());
    let arrival = Arrival {
        before: moving.change.from.clone(),
        after: set.name_after(moving),
        known,
        from: set.mapping.krate(moving.home),
        to: moving.to.clone(),
        has_shim: moving.shim,
        has_impls: chunks.clone().any(|chunk| chunk.definition.is_none()),
        users: scan.users.get(&at).into_iter().flatten().collect(),
    };
    let message = conditions::refused(set.mapping, &arrival)?;
    Some(refusal(set.mapping.file_of(moving.home), message))
}
