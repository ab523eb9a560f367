//! Calls of macros among the items of a module of which nothing stays: what one makes has no name here, and it goes
//! with the item that it is given (`derive_encode!(Job { name });`).

use std::collections::BTreeSet;

use coalesce_model::ByteSpan;

use super::{called, moving::Set};
use crate::{
    facts::MacroCall,
    resolve::{Body, FileId, Found, ModuleId, Res},
};

/// A call, and what it goes with.
pub(super) struct BareCall {
    pub moving: usize,
    pub file: FileId,
    pub span: ByteSpan,
}

/// All of them that are given something which leaves.
pub(super) fn find(set: &Set<'_>) -> Vec<BareCall> {
    let homes: BTreeSet<ModuleId> = set.moving.iter().map(|moving| moving.home).collect();
    let whole = homes.into_iter().filter(|home| set.is_whole(*home));
    let bodies = whole.flat_map(|home| set.world().bodies_of(home));
    bodies.flat_map(|body| find_in(set, body)).collect()
}

fn find_in(set: &Set<'_>, body: &Body) -> Vec<BareCall> {
    let (world, file) = (set.world(), body.file);
    let facts = world.facts(file);
    let declares = |call: &MacroCall| {
        let mut items = facts.items.iter().map(|one| one.span);
        let mut uses = facts.uses.iter().map(|one| one.span);
        let mut modules = facts.modules.iter().map(|one| one.span);
        let is_inside = |span: ByteSpan| call.body.contains(span);
        items.any(is_inside) || uses.any(is_inside) || modules.any(is_inside)
    };
    let is_bare = |call: &&MacroCall| {
        call.item_position && call.scope == body.scope && !call.body.is_empty() && !declares(call)
    };
    let calls: Vec<ByteSpan> = facts
        .macro_calls
        .iter()
        .filter(is_bare)
        .map(|call| call.body)
        .collect();
    let given = given_to(set, file, &calls);
    let text = set.mapping.texts.text(&set.path(file));
    let text = text.unwrap_or_default();
    let found = calls.iter().zip(given).filter_map(|(call, moving)| {
        Some(BareCall {
            moving: moving?,
            file,
            span: called::statement(&text, *call)?,
        })
    });
    found.collect()
}

/// The first of what leaves that is named in each call.
fn given_to(set: &Set<'_>, file: FileId, calls: &[ByteSpan]) -> Vec<Option<usize>> {
    let mut found = vec![None; calls.len()];
    let world = set.world();
    world.visit_inside(&world[file], calls, &mut |at, _, site| {
        let led = site.trace.steps.iter().flat_map(Found::all);
        let mut moving = led.filter_map(|(res, _)| match res {
            Res::Item(item) => set.of(item),
            _ => None,
        });
        if let Some(known) = found.get_mut(at) {
            *known = known.or_else(|| moving.next());
        }
    });
    found
}
