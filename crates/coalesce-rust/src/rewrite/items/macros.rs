//! Macros that moved text calls and that are seen by where they stand.

use coalesce_model::{Finding, finding::codes};

use super::{
    super::{
        given_macros,
        macro_scope::{is_another_seen, is_seen},
        macros::{another, put_together, redefined},
        mapping::refusal,
        place::Place,
    },
    moving::{Moving, Set},
    rules,
    scan::Scan,
};

/// Calls that would be out of scope in the new place.
pub(super) fn check(set: &Set<'_>, scan: &Scan) -> Vec<Finding> {
    let mut found = Vec::new();
    for ((item, place), (file, span)) in &scan.macros {
        let name = &set.world()[item].name;
        let refused = if rules::is_redefined(set.world(), *item) {
            redefined(&set.path(*file), name)
        } else if is_seen(set.mapping, *item, place, &mut None) {
            continue;
        } else if is_another_seen(set.mapping, *item, place) {
            another(set.mapping, &set.path(*file), name, place)
        } else {
            let message = format!(
                "`{name}!` would be out of scope in `{}`",
                set.mapping.name_of(place)
            );
            let help = format!(
                "`pub(crate) use {name};` behind its definition gives it a path, if that can be"
            );
            refusal(set.path(*file), message)
                .coded(codes::OUT_OF_REACH)
                .with_help(help)
        };
        found.push(refused.at(*span));
    }
    found
}

/// Calls of macros that put together a path to what moves from parts that nobody sees in one place.
pub(super) fn fragments(set: &Set<'_>) -> Vec<Finding> {
    let world = set.world();
    let sought = set.moving.iter().map(|moving| {
        let name = world[moving.item].name.as_str();
        ((moving.home, name), moving.change)
    });
    put_together(set.mapping, sought.collect())
}

/// Calls of exported macros that leave, or lose their name, in crates that have them by `#[macro_use] extern crate`.
pub(super) fn given_by_crates(set: &Set<'_>) -> Vec<Finding> {
    let world = set.world();
    let leaves = |moving: &&Moving<'_>| {
        let stays = moving.named_at == Place::root(set.mapping.krate(moving.home))
            && moving.name == world[moving.item].name;
        rules::is_exported(world, moving.item) && !stays
    };
    let leaving = set.moving.iter().filter(leaves).map(|moving| {
        let name = world[moving.item].name.as_str();
        (set.mapping.krate(moving.home), name)
    });
    given_macros::given_by_crates(set.mapping, &leaving.collect())
}
