//! Macros that moved text calls and that are seen by where they stand.

use coalesce_model::{Finding, finding::codes};

use super::{
    super::{macro_scope::is_seen, macros::redefined, mapping::refusal},
    moving::Set,
    rules,
    scan::Scan,
};
use crate::resolve::{ModuleId, parts};

/// Calls that would be out of scope in the new place.
pub(super) fn check(set: &Set<'_>, scan: &Scan) -> Vec<Finding> {
    let mut found = Vec::new();
    for ((item, place), (file, span)) in &scan.macros {
        if rules::is_redefined(set.world(), *item) {
            let name = &set.world()[item].name;
            found.push(redefined(&set.path(*file), name).at(*span));
            continue;
        }
        if is_seen(set.mapping, *item, place, &mut None) {
            continue;
        }
        let name = &set.world()[item];
        let name = name.name.as_str();
        found.push(
            refusal(
                set.path(*file),
                format!(
                    "`{name}!` would be out of scope in `{}`",
                    set.mapping.name_of(place)
                ),
            )
            .coded(codes::OUT_OF_REACH)
            .at(*span)
            .with_help(format!(
                "`pub(crate) use {name};` behind its definition gives it a path, if that can be"
            )),
        );
    }
    found
}

/// Calls of macros that put together a path to what moves from parts that nobody sees in one place.
pub(super) fn fragments(set: &Set<'_>) -> Vec<Finding> {
    let world = set.world();
    let sought: Vec<(ModuleId, &str)> = set
        .moving
        .iter()
        .map(|moving| {
            let node = &world[moving.item];
            (moving.home, node.name.as_str())
        })
        .collect();
    let found = parts(world, set.mapping.texts, &sought).into_iter();
    found
        .filter_map(|part| {
            let from = &set.moving(*part.of.first()?).change.from;
            let message =
                format!("a macro puts a path to `{from}` together from this and parts of its own");
            Some(refusal(set.path(part.file), message).at(part.span))
        })
        .collect()
}
