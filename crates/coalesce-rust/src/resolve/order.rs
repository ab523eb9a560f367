//! The crates in the order in which their imports can be settled: each after those that it names.
//!
//! Crates that name each other (by dev-dependencies) are one group. Knows nothing of what is
//! resolved.

use coalesce_model::components;

use super::world::Crate;

/// The group of each crate: no crate names one of a later group.
pub(super) fn groups(crates: &[Crate]) -> Vec<usize> {
    let named = |krate: &Crate| {
        let known = krate.externs.iter();
        known
            .filter_map(|(_, known)| known.map(super::CrateId::index))
            .collect()
    };
    components(&crates.iter().map(named).collect::<Vec<_>>())
}
