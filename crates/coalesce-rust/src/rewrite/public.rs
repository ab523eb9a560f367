//! Whether other crates can name a module.

use coalesce_model::Severity;

use super::{mapping::Mapping, place::Place};
use crate::{
    discover::TargetKind,
    facts::VisibilityKind,
    resolve::{Binding, ModuleId, Reach, Res, SpaceKind},
};

/// Whether another crate can name the module by its own path.
pub(super) fn is_public(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    !is_in_program(mapping, module) && all_public(mapping, module, |_| false)
}

/// Whether another crate may name the module, by its own path or through a re-export.
pub(super) fn is_reachable(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    !is_in_program(mapping, module) && is_declared_public(mapping, module)
}

/// Whether another crate names the module in a way that ends when it leaves its place: by its own path,
/// through a glob, or through a re-export of a module around it. A re-export of itself goes along.
pub(super) fn is_named_in_place(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    !is_in_program(mapping, module)
        && all_public(mapping, module, |at| {
            is_shown(mapping, at, |import| at != module || import.glob)
        })
}

/// Whether another crate names what stands in the module through it, by its path or a re-export.
pub(super) fn is_way_for_others(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    !is_in_program(mapping, module)
        && all_public(mapping, module, |at| is_shown(mapping, at, |_| true))
}

/// Whether a module that others can name re-exports another one by such an import.
fn is_shown(mapping: &Mapping<'_>, module: ModuleId, such: impl Fn(&Binding) -> bool) -> bool {
    let world = mapping.world;
    let spaces = world.spaces.iter();
    let mut spaces = spaces.filter(|space| space.kind == SpaceKind::Module);
    spaces.any(|space| {
        let mut bindings = space.names.values().flatten();
        let shown = bindings.any(|binding| {
            binding.import.is_some()
                && binding.reach == Reach::Public
                && binding.res == Res::Module(module)
                && such(binding)
        });
        shown && is_public(mapping, space.module)
    })
}

/// Whether the module says `pub` all the way up, or a re-export does. The compiler takes what is
/// declared so for used, in programs too, though no other crate can name anything of a program.
pub(super) fn is_declared_public(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    all_public(mapping, module, |module| is_reexported(mapping, module))
}

/// Whether the module is part of a program, a test, an example or another target that is no library.
pub(super) fn is_in_program(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    let krate = &mapping.world[mapping.krate(module)];
    krate.kind != TargetKind::Lib
}

/// Whether what is declared `pub` in a place after can be named by another crate.
pub(super) fn is_reachable_after(mapping: &Mapping<'_>, place: &Place) -> bool {
    mapping
        .at(place)
        .is_some_and(|module| is_reachable(mapping, module))
}

/// How a widening in a place after is told: what lets other crates in is a warning, all else a note.
pub(super) fn severity_of_widening(mapping: &Mapping<'_>, home: &Place, written: &str) -> Severity {
    if written.trim_end() == "pub" && is_reachable_after(mapping, home) {
        Severity::Warning
    } else {
        Severity::Note
    }
}

fn all_public(mapping: &Mapping<'_>, module: ModuleId, enough: impl Fn(ModuleId) -> bool) -> bool {
    let world = mapping.world;
    let mut at = module;
    while let Some(node) = Some(&world[at]) {
        if enough(at) {
            return true;
        }
        let Some(parent) = node.parent else {
            return true;
        };
        let public = world.declarations(at).iter().any(|(file, index)| {
            let facts = world.facts(*file);
            facts.module(*index).visibility.kind == VisibilityKind::Public
        });
        if !public {
            return false;
        }
        at = parent;
    }
    false
}

fn is_reexported(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    mapping.world.spaces.iter().any(|space| {
        space.names.values().flatten().any(|binding| {
            binding.import.is_some()
                && binding.reach == Reach::Public
                && binding.res == Res::Module(module)
        })
    })
}
