//! Macros that are seen by where they stand.
//!
//! `macro_rules!` is in scope below its definition, in the modules declared there, and, where
//! `#[macro_use]` says so, in what follows the module around it. A module that moves out of that
//! scope while it calls the macro gets the macro by a path, or is refused.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Edit, Finding, Texts, TreePath};

use super::{
    macro_paths::Paths,
    mapping::{Mapping, refusal},
    place::Place,
    sight::Need,
    structure::Structure,
};
use crate::{
    facts::{ItemKind, Namespaces},
    resolve::{FileId, ItemId, ModuleId, Res, World},
};

/// From this byte of this file on, in this module and the modules declared there.
struct Anchor {
    module: ModuleId,
    file: FileId,
    at: u32,
}

/// What macros ask of the places that modules move to.
#[derive(Default)]
pub(super) struct Macros {
    /// Calls that would be out of scope.
    pub refusals: Vec<Finding>,
    /// Byte of a file of a module behind which modules that arrive have to be declared.
    pub behind: BTreeMap<(ModuleId, FileId), u32>,
    /// Paths for macros, and imports of those who call them.
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    /// The ways to those macros.
    pub needs: Vec<Need>,
}

/// Looks at every call of a macro in what moves.
pub(super) fn check(mapping: &Mapping<'_>, structure: &Structure, texts: &dyn Texts) -> Macros {
    let world = mapping.world;
    let mut found = Macros::default();
    let mut paths = Paths::new(mapping, texts);
    for file in &world.files {
        let moves = file.bodies.iter().any(|body| {
            let body = world.bodies.get(body.index());
            body.is_some_and(|body| mapping.is_changed(body.module))
        });
        if !moves || structure.deletes.contains(&file.path) {
            continue;
        }
        let mut told: BTreeSet<String> = BTreeSet::new();
        for load in &file.loads {
            world.visit(*load as usize, &mut |facts, site| {
                let [segment] = site.segments else { return };
                let (Some(step), user) = (site.trace.steps.first(), world.module_of(site.space))
                else {
                    return;
                };
                if step.import.is_some() || !mapping.is_changed(user) {
                    return;
                }
                for (res, namespaces) in step.all() {
                    let Res::Item(item) = res else { continue };
                    let name = facts.name(segment.name);
                    if namespaces.meets(Namespaces::MACRO)
                        && !is_in_scope(mapping, structure, item, user, &mut found.behind)
                        && paths.give(item, user).is_none()
                        && told.insert(name.to_owned())
                    {
                        let refused = out_of_scope(mapping, &file.path, name, user);
                        found.refusals.push(refused);
                    }
                }
            });
        }
    }
    found.edits = paths.edits;
    found.needs = paths.needs;
    found
}

fn out_of_scope(mapping: &Mapping<'_>, path: &TreePath, name: &str, user: ModuleId) -> Finding {
    let place = mapping.name_of(&mapping.after(user));
    let message =
        format!("`{name}!` would be out of scope in `{place}`: macro_rules are seen by position");
    Finding {
        help: Some(format!(
            "`pub(crate) use {name};` behind its definition gives it a path, which moves well"
        )),
        ..refusal(path.clone(), message)
    }
}

fn is_in_scope(
    mapping: &Mapping<'_>,
    structure: &Structure,
    item: ItemId,
    user: ModuleId,
    behind: &mut BTreeMap<(ModuleId, FileId), u32>,
) -> bool {
    let world = mapping.world;
    let Some(node) = world.items.get(item.index()) else {
        return true;
    };
    // Inside what moves, nothing changes its place.
    if node.kind != ItemKind::Macro
        || node.local
        || mapping.owner(node.module) == mapping.owner(user)
    {
        return true;
    }
    let place = mapping.after(user);
    node.definitions.iter().any(|(file, at)| {
        let definition = world
            .facts(*file)
            .and_then(|facts| facts.items.get(*at as usize));
        let Some(definition) = definition else {
            return true;
        };
        let first = Anchor {
            module: node.module,
            file: *file,
            at: definition.span.end,
        };
        anchors(world, first)
            .iter()
            .any(|anchor| covers(mapping, structure, anchor, &place, behind))
    })
}

/// Where a macro is in scope from: its module, and those around it that let it through.
fn anchors(world: &World, first: Anchor) -> Vec<Anchor> {
    let mut found = vec![first];
    while let Some(last) = found.last() {
        let declared = world
            .declarations(last.module)
            .into_iter()
            .find_map(|(file, at)| {
                let declaration = world.facts(file)?.modules.get(at as usize)?;
                let parent = world.module(last.module)?.parent?;
                let given = declaration.macro_use || world.gives_macros(last.module);
                given.then_some(Anchor {
                    module: parent,
                    file,
                    at: declaration.span.end,
                })
            });
        match declared {
            Some(outer) => found.push(outer),
            None => break,
        }
    }
    found
}

fn covers(
    mapping: &Mapping<'_>,
    structure: &Structure,
    anchor: &Anchor,
    place: &Place,
    behind: &mut BTreeMap<(ModuleId, FileId), u32>,
) -> bool {
    let home = mapping.after(anchor.module);
    if !place.is_within(&home) || place.path.len() == home.path.len() {
        return false;
    }
    let Some(name) = place.path.get(home.path.len()) else {
        return false;
    };
    let child = home.child(name);
    let world = mapping.world;
    let declared = mapping
        .at(&child)
        .filter(|_| !structure.made.contains_key(&child));
    match declared {
        Some(module) if Structure::is_in_place(mapping, module) => {
            let mut all = world.declarations(module).into_iter();
            all.any(|(file, at)| {
                let facts = world.facts(file);
                let found = facts.and_then(|facts| facts.modules.get(at as usize));
                file != anchor.file || found.is_none_or(|found| found.span.start >= anchor.at)
            })
        }
        _ => {
            let at = behind.entry((anchor.module, anchor.file)).or_default();
            *at = anchor.at.max(*at);
            true
        }
    }
}
