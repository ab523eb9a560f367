//! Globs that brought a module which leaves, and bring nothing any more that somebody needs.
//!
//! A private glob goes where nobody uses anything else by it, and a public one where all that others saw by
//! it leaves. Where parts of the crate use by a public one what others never saw, it stays for the crate alone.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Edit, Finding, Unproven};

use super::{
    globs,
    mapping::{Mapping, refusal},
    traits,
    walk::is_of_module,
};
use crate::{
    facts::VisibilityKind,
    resolve::{Binding, FileId, Found, ModuleId, Res, SpaceKind, Sym},
};

/// What becomes of globs that stay in their files.
#[derive(Default)]
pub(super) struct IdleGlobs {
    /// Those that change, by file and leaf.
    pub changes: BTreeMap<FileId, BTreeMap<u32, Idle>>,
    pub refusals: Vec<Finding>,
    pub unproven: Vec<Unproven>,
}

/// What becomes of a glob.
#[derive(Clone)]
pub(super) enum Idle {
    Goes,
    /// It is for its crate alone from now on.
    Narrows(Edit),
}

/// A glob of a module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Glob {
    import: (FileId, u32),
    here: ModuleId,
}

/// Finds the globs that brought what leaves, and what becomes of them.
pub(super) fn find(mapping: &Mapping<'_>) -> IdleGlobs {
    let mut found = IdleGlobs::default();
    for glob in globs_of_leaving(mapping) {
        let (file, leaf) = glob.import;
        let facts = mapping.world.facts(file);
        let (path, span) = (mapping.world[file].path.clone(), facts.leaf(leaf).span);
        let changes = found.changes.entry(file);
        match (Rest::of(mapping, glob), globs::narrowed(facts, leaf)) {
            (Rest::Nothing, _) => _ = changes.or_default().insert(leaf, Idle::Goes),
            (Rest::Hidden, Some(edit)) => {
                changes.or_default().insert(leaf, Idle::Narrows(edit));
            }
            (Rest::Hidden, None) => {
                let message = "a public glob would bring nothing public any more, and parts of the crate use \
                               by it what is not: give it a `use` of its own";
                found.refusals.push(refusal(path, message).at(span));
            }
            (Rest::Unknown, _) => {
                let name = mapping.world[glob.here].canonical.to_string();
                found
                    .unproven
                    .push(globs::may_bring_nothing((path, span), name));
            }
            (Rest::Something, _) => {}
        }
    }
    found
}

/// The globs by which modules that stay have modules that leave.
fn globs_of_leaving(mapping: &Mapping<'_>) -> BTreeSet<Glob> {
    let world = mapping.world;
    let roots = mapping.roots.iter().flatten().map(|(root, _)| *root);
    let leaving: BTreeSet<ModuleId> = roots.filter(|root| leaves(mapping, *root)).collect();
    let is_leaving = |one: &&Binding| matches!(one.res, Res::Module(module) if one.glob && leaving.contains(&module));
    let spaces = world.spaces.iter();
    let modules = spaces.filter(|space| space.kind == SpaceKind::Module);
    let globs = modules.flat_map(|space| {
        let brought = space.names.values().flatten().filter(is_leaving);
        let here = space.module;
        brought.filter_map(move |one| {
            Some(Glob {
                import: one.import?,
                here,
            })
        })
    });
    let mut globs: BTreeSet<Glob> = globs.collect();
    globs.retain(|glob| {
        let module = world[glob.import.0].bodies.iter();
        let mut module = module.map(|body| world[body].module);
        is_of_module(world, glob.import)
            && !mapping.is_changed(glob.here)
            && module.any(|module| module == glob.here)
    });
    globs
}

/// Whether a module goes away from its parent, without a shim.
fn leaves(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    let parent = mapping.world[module].parent;
    let shim = mapping
        .change_of(module)
        .is_some_and(|change| change.shim.is_some());
    mapping.is_root(module)
        && !shim
        && parent
            .is_some_and(|parent| mapping.after(module).parent() != Some(mapping.after(parent)))
}

/// What a glob is left with.
enum Rest {
    Something,
    /// What others never saw, and parts of the crate use.
    Hidden,
    /// What macros define, if they define anything.
    Unknown,
    Nothing,
}

impl Rest {
    fn of(mapping: &Mapping<'_>, glob: Glob) -> Self {
        let world = mapping.world;
        let facts = world.facts(glob.import.0);
        let visibility = facts.declaration_of(glob.import.1).visibility.kind;
        let is_public = visibility == VisibilityKind::Public;
        if !is_public && visibility != VisibilityKind::Private {
            return Self::Something;
        }
        let gone =
            |one: &Binding| matches!(one.res, Res::Module(module) if leaves(mapping, module));
        let rest = globs::brought_by(world, glob.import, glob.here);
        let rest: Vec<(Sym, &Binding)> = rest.filter(|(_, one)| !gone(one)).collect();
        let speller = mapping.speller();
        let mut all = rest.iter();
        if is_public && all.any(|(name, one)| globs::is_public_binding(&speller, *name, one)) {
            return Self::Something;
        }
        let is_needed = is_rest_needed(mapping, glob, &rest);
        let target = speller.glob_target(glob.import);
        let is_opaque = target.is_none_or(|target| world.space(target).opaque);
        match (is_needed, is_public) {
            _ if is_opaque && (is_public || !is_needed) => Self::Unknown,
            (false, _) => Self::Nothing,
            (true, true) => Self::Hidden,
            (true, false) => Self::Something,
        }
    }
}

/// Whether a path goes through a glob to something that stays, in its module or by a glob of that.
fn is_used(mapping: &Mapping<'_>, glob: Glob) -> bool {
    let world = mapping.world;
    let mut used = false;
    for load in 0..world.loads.len() {
        world.visit(load, &mut |facts, site| {
            for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                used = used || serves_step(mapping, glob, step, facts.name(segment.name));
            }
        });
    }
    used
}

/// Whether a step of a path, by a name, goes through a glob to something that stays.
fn serves_step(mapping: &Mapping<'_>, glob: Glob, step: &Found, name: &str) -> bool {
    let world = mapping.world;
    let mut led = step.all();
    let goes = led.any(|(res, _)| matches!(res, Res::Module(module) if leaves(mapping, module)));
    let Some(import) = step.import.filter(|_| !goes) else {
        return false;
    };
    let mut bound = world.bindings(glob.here, name).iter();
    import == glob.import
        || (step.glob
            && mapping.speller().glob_target(import) == Some(glob.here)
            && bound.any(|one| one.import == Some(glob.import)))
}

/// Whether somebody needs what a glob brings and that stays.
fn is_rest_needed(mapping: &Mapping<'_>, glob: Glob, rest: &[(Sym, &Binding)]) -> bool {
    let mut all = rest.iter();
    !rest.is_empty()
        && (all.any(|(_, one)| traits::may_be_trait(mapping.world, one.res))
            || is_used(mapping, glob))
}
