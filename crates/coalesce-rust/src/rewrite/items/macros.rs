//! Macros that moved text calls and that are seen by where they stand.

use coalesce_model::{ByteSpan, Finding};

use super::{
    super::{mapping::refusal, place::Place},
    moving::Set,
    scan::Scan,
};
use crate::resolve::{FileId, ItemId, ModuleId};

/// Calls that would be out of scope in the new place.
pub(super) fn check(set: &Set<'_>, scan: &Scan) -> Vec<Finding> {
    let mut found = Vec::new();
    for ((item, place), (file, span)) in &scan.macros {
        if is_seen(set, *item, place) {
            continue;
        }
        let name = set.world().items.get(item.index());
        let name = name.map_or("", |node| node.name.as_str());
        found.push(Finding {
            span: Some(*span),
            help: Some("macros are in scope below their definition; move that up".to_owned()),
            ..refusal(
                set.path(*file),
                format!(
                    "`{name}!` would be out of scope in `{}`",
                    set.mapping.name_of(place)
                ),
            )
        });
    }
    found
}

/// Whether the end of the module at a place sees a macro by where it stands.
fn is_seen(set: &Set<'_>, item: ItemId, place: &Place) -> bool {
    let world = set.world();
    let Some(node) = world.items.get(item.index()) else {
        return false;
    };
    let Some((file, at)) = node.definitions.first().copied() else {
        return false;
    };
    let fact = world
        .facts(file)
        .and_then(|facts| facts.items.get(at as usize));
    let Some(fact) = fact else { return false };
    let mut scope = (node.module, file, fact.span.end);
    while let Some(outer) = given(set, scope.0) {
        scope = outer;
    }
    is_below(set, scope, place)
}

/// Where a module gives its macros to the one around it.
fn given(set: &Set<'_>, module: ModuleId) -> Option<(ModuleId, FileId, u32)> {
    let world = set.world();
    let parent = world.module(module)?.parent?;
    let declarations = world.declarations(module);
    let (file, at) = *declarations.first()?;
    let declaration = world.facts(file)?.modules.get(at as usize)?;
    let gives = declaration.macro_use || world.gives_macros(module);
    gives.then_some((parent, file, declaration.span.end))
}

fn is_below(set: &Set<'_>, (module, file, at): (ModuleId, FileId, u32), place: &Place) -> bool {
    let around = set.mapping.after(module);
    if !place.is_within(&around) {
        return false;
    }
    let Some(name) = place.path.get(around.path.len()) else {
        // What arrives stands at the end.
        return true;
    };
    let world = set.world();
    let Some(child) = set.mapping.at(&around.child(name)) else {
        return false;
    };
    world.declarations(child).iter().any(|(declared, index)| {
        let facts = world.facts(*declared);
        let span = facts
            .and_then(|facts| facts.modules.get(*index as usize))
            .map(|one| one.span);
        let span: ByteSpan = span.unwrap_or_default();
        *declared == file && span.start > at
    })
}
