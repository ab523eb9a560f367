//! Macros that modules call by their plain names and leave the scope of: they get the macro by a
//! path, or are refused.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Change, Edit, Finding, TreePath, finding::codes};

use super::{
    items::is_redefined,
    macro_paths::Paths,
    macro_scope::{Arriving, is_another_seen, is_seen},
    mapping::{Mapping, refusal},
    needs::Need,
    place::Place,
    structure::{Structure, gives_macros},
};
use crate::{
    facts::{ItemKind, Namespaces, Origin},
    resolve::{FileId, ItemId, ModuleId, Res, Site, SourceFile, is_within, parts},
};

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
pub(super) fn check(mapping: &Mapping<'_>, structure: &Structure) -> Macros {
    let world = mapping.world;
    let mut found = Macros::default();
    let mut paths = Paths::new(mapping);
    let mut arriving = Some(Arriving {
        structure,
        behind: BTreeMap::new(),
    });
    for file in &world.files {
        let mut modules = file.bodies.iter().map(|body| world[body].module);
        let moves = modules.any(|module| mapping.is_changed(module));
        if moves && !structure.deletes.contains(&file.path) {
            let by = (&mut paths, &mut arriving);
            found.refusals.extend(calls_out_of_scope(mapping, file, by));
        }
    }
    hand_out(mapping, structure, &mut paths, &mut found.refusals);
    found.refusals.extend(modules_put_together(mapping));
    found.behind = arriving.map(|arriving| arriving.behind).unwrap_or_default();
    found.edits = paths.edits;
    found.needs = paths.needs;
    found
}

/// Calls of a file in what moves whose macros are out of scope there and have no path: the first of each name.
fn calls_out_of_scope(
    mapping: &Mapping<'_>,
    file: &SourceFile,
    (paths, arriving): (&mut Paths<'_>, &mut Option<Arriving<'_>>),
) -> Vec<Finding> {
    let world = mapping.world;
    let mut refusals = Vec::new();
    let mut told: BTreeSet<String> = BTreeSet::new();
    world.visit_file(file, &mut |facts, site| {
        let [segment] = site.segments else { return };
        let name = facts.name(segment.name);
        let user = world.module_of(site.space);
        for item in macros_by_place(&site).filter(|_| mapping.is_changed(user)) {
            let leaves = mapping.owner(world[item].module) != mapping.owner(user);
            let refused = if leaves && is_redefined(world, item) {
                redefined(&file.path, name)
            } else if is_in_scope(mapping, item, user, arriving) || paths.give(item, user).is_some()
            {
                continue;
            } else if is_another_seen(mapping, item, &mapping.after(user)) {
                another(mapping, &file.path, name, &mapping.after(user))
            } else {
                out_of_scope(mapping, &file.path, name, user)
            };
            let is_new = told.insert(name.to_owned());
            refusals.extend(is_new.then_some(refused));
        }
    });
    refusals
}

/// The macros that a plain name means by where it stands.
fn macros_by_place(site: &Site<'_>) -> impl Iterator<Item = ItemId> {
    let step = site.trace.steps.first();
    let step = step.filter(|step| step.import.is_none() && site.segments.len() == 1);
    let led = step.into_iter().flat_map(|step| step.all());
    led.filter_map(|(res, namespaces)| match res {
        Res::Item(item) if namespaces.meets(Namespaces::MACRO) => Some(item),
        _ => None,
    })
}

/// Gives the macros of modules that leave, and that others saw by where they stood, to these by a path.
fn hand_out(
    mapping: &Mapping<'_>,
    structure: &Structure,
    paths: &mut Paths<'_>,
    refusals: &mut Vec<Finding>,
) {
    let world = mapping.world;
    for giving in &structure.giving {
        let mut all = true;
        for file in &world.files {
            world.visit_file(file, &mut |_, site| {
                let user = world.module_of(site.space);
                for item in given_to(mapping, *giving, &site) {
                    // Who calls the macro around it is not known here.
                    let is_body = site.origin == Origin::MacroBody;
                    all &= !is_body && paths.give(item, user).is_some();
                }
            });
        }
        if !all {
            let name = &world[*giving].canonical;
            refusals.push(refusal(mapping.file_of(*giving), gives_macros(name)));
        }
    }
}

/// The macros of a module that code outside of it calls by where they stand.
fn given_to(mapping: &Mapping<'_>, giving: ModuleId, site: &Site<'_>) -> Vec<ItemId> {
    let world = mapping.world;
    let inside = |module: ModuleId| is_within(world, module, giving);
    let is_document = matches!(site.origin, Origin::DocLink | Origin::DocCode);
    if is_document || inside(world.module_of(site.space)) {
        return Vec::new();
    }
    let given = macros_by_place(site).filter(|item| {
        let node = &world[*item];
        node.kind == ItemKind::Macro && !node.local && inside(node.module)
    });
    given.collect()
}

/// Calls of macros that put together a path to a module that leaves from parts that nobody sees in one place.
fn modules_put_together(mapping: &Mapping<'_>) -> Vec<Finding> {
    let world = mapping.world;
    let roots = mapping.roots.iter().zip(mapping.changes);
    let leaving = roots.filter_map(|(root, change)| {
        let (module, _) = root.as_ref().filter(|_| change.shim.is_none())?;
        let node = &world[*module];
        Some(((node.parent?, node.name.as_str()), change))
    });
    put_together(mapping, leaving.collect())
}

/// Calls of macros that put together a path to what changes, each by the module that has it and its name there.
pub(super) fn put_together(
    mapping: &Mapping<'_>,
    changing: Vec<((ModuleId, &str), &Change)>,
) -> Vec<Finding> {
    let (sought, changes): (Vec<_>, Vec<_>) = changing.into_iter().unzip();
    let found = parts(mapping.world, mapping.texts, &sought).into_iter();
    found
        .filter_map(|part| {
            let from = &changes.get(*part.of.first()?)?.from;
            let message =
                format!("a macro puts a path to `{from}` together from this and parts of its own");
            let path = mapping.world[part.file].path.clone();
            Some(refusal(path, message).at(part.span))
        })
        .collect()
}

/// A macro that has several definitions, of which the one that is meant depends on the place.
pub(super) fn redefined(path: &TreePath, name: &str) -> Finding {
    let message = format!("`{name}!` is defined several times, and the place of a call picks one");
    let help = "give the definitions names of their own first".to_owned();
    refusal(path.clone(), message)
        .coded(codes::TIED_TO_PLACE)
        .with_help(help)
}

/// A call that would read another macro of the name in its new place.
pub(super) fn another(
    mapping: &Mapping<'_>,
    path: &TreePath,
    name: &str,
    place: &Place,
) -> Finding {
    let place = mapping.name_of(place);
    let message = format!("`{name}!` would be another macro of that name in `{place}`");
    let help = "give the definitions names of their own first".to_owned();
    refusal(path.clone(), message)
        .coded(codes::TIED_TO_PLACE)
        .with_help(help)
}

fn out_of_scope(mapping: &Mapping<'_>, path: &TreePath, name: &str, user: ModuleId) -> Finding {
    let place = mapping.name_of(&mapping.after(user));
    let message =
        format!("`{name}!` would be out of scope in `{place}`: macro_rules are seen by position");
    let refused = refusal(path.clone(), message).coded(codes::OUT_OF_REACH);
    refused.with_help(format!(
        "`pub(crate) use {name};` behind its definition gives it a path, which moves well"
    ))
}

fn is_in_scope(
    mapping: &Mapping<'_>,
    item: ItemId,
    user: ModuleId,
    arriving: &mut Option<Arriving<'_>>,
) -> bool {
    let node = &mapping.world[item];
    let world = mapping.world;
    // Another crate's is reached by a path, or comes from the root (`implicit`): procedural macros among them.
    let foreign = world[node.module].krate != world[user].krate;
    // Inside what moves, nothing changes its place.
    foreign
        || node.kind != ItemKind::Macro
        || node.local
        || mapping.owner(node.module) == mapping.owner(user)
        || is_seen(mapping, item, &mapping.after(user), arriving)
}
