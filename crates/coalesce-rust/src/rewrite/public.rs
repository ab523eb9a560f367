//! Whether other crates can name a module.

use coalesce_model::Severity;

use super::{mapping::Mapping, place::Place};
use crate::{
    discover::TargetKind,
    facts::VisibilityKind,
    resolve::{Binding, ModuleId},
};

/// Whether another crate can name the module by its own path.
pub(super) fn is_public(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    !is_in_program(mapping, module) && all_public(mapping, module, |_| false)
}

/// Whether another crate names the module in a way that ends when it leaves its place: by its own path,
/// through a glob, or through a re-export of a module around it. A re-export of itself goes along.
pub(super) fn is_named_in_place(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    !is_in_program(mapping, module)
        && all_public(mapping, module, |at| {
            is_shown(mapping, at, move |import| at != module || import.glob)
        })
}

/// Whether another crate names what stands in the module through it, by its path or a re-export.
pub(super) fn is_way_for_others(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    !is_in_program(mapping, module)
        && all_public(mapping, module, |at| is_shown(mapping, at, |_| true))
}

/// Whether a module that others can name re-exports another one by such an import.
fn is_shown<'m>(
    mapping: &'m Mapping<'_>,
    module: ModuleId,
    such: impl Fn(&Binding) -> bool + 'm,
) -> bool {
    reexporters(mapping, module, such).any(|space| is_public(mapping, space))
}

/// The modules that re-export another one by such an import.
fn reexporters<'m>(
    mapping: &'m Mapping<'_>,
    module: ModuleId,
    such: impl Fn(&Binding) -> bool + 'm,
) -> impl Iterator<Item = ModuleId> + 'm {
    let shown = mapping.world.reexporters(module).iter();
    shown
        .filter(move |(_, by)| such(by))
        .map(|(shows, _)| *shows)
}

/// Whether the module says `pub` all the way up, or a re-export does. The compiler takes what is
/// declared so for used, in programs too, though no other crate can name anything of a program.
pub(super) fn is_declared_public(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    is_declared_public_with(mapping, module, &[])
}

fn is_declared_public_with(mapping: &Mapping<'_>, module: ModuleId, opened: &[ModuleId]) -> bool {
    let is_reexported = |at| reexporters(mapping, at, |_| true).next().is_some();
    let is_open = |at| opened.contains(&at) || is_declared_pub(mapping, at);
    walk_up(mapping, module, is_reexported, is_open)
}

fn is_declared_pub(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    let world = mapping.world;
    world.declarations(module).iter().any(|(file, index)| {
        let facts = world.facts(*file);
        facts.module(*index).visibility.kind == VisibilityKind::Public
    })
}

/// Whether the module is part of a program, a test, an example or another target that is no library.
pub(super) fn is_in_program(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    let krate = &mapping.world[mapping.krate(module)];
    krate.kind != TargetKind::Lib
}

/// Whether another crate can name what is declared `pub` in a place after, by its path or a re-export,
/// where declarations of some modules are `opened`.
pub(super) fn is_reachable_after(
    mapping: &Mapping<'_>,
    place: &Place,
    opened: &[ModuleId],
) -> bool {
    mapping.at(place).is_some_and(|module| {
        !is_in_program(mapping, module) && is_declared_public_with(mapping, module, opened)
    })
}

/// How a widening in a place after is told: what lets other crates in is a warning, all else a note.
pub(super) fn severity_of_widening(mapping: &Mapping<'_>, home: &Place, written: &str) -> Severity {
    if written.trim_end() == "pub" && is_reachable_after(mapping, home, &[]) {
        Severity::Warning
    } else {
        Severity::Note
    }
}

fn all_public(mapping: &Mapping<'_>, module: ModuleId, enough: impl Fn(ModuleId) -> bool) -> bool {
    walk_up(mapping, module, enough, |at| is_declared_pub(mapping, at))
}

/// Whether one of the modules up to the root is `enough`, or all of them are open.
fn walk_up(
    mapping: &Mapping<'_>,
    module: ModuleId,
    enough: impl Fn(ModuleId) -> bool,
    is_open: impl Fn(ModuleId) -> bool,
) -> bool {
    let mut at = module;
    loop {
        if enough(at) {
            return true;
        }
        let Some(parent) = mapping.world[at].parent else {
            return true;
        };
        if !is_open(at) {
            return false;
        }
        at = parent;
    }
}
