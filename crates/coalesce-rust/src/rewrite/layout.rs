//! Which file and which directory a module has, before and after.

use std::collections::BTreeMap;

use coalesce_model::TreePath;

use crate::{
    discover::TargetKind,
    facts::{ModuleDeclaration, ScopeKind},
    resolve::{Body, BodyId, ModuleId, World},
};

/// The declaration that brings a body in.
pub(super) fn declaration_of<'w>(
    world: &'w World,
    body: &Body,
) -> Option<(&'w Body, &'w ModuleDeclaration)> {
    let (outer, at) = body.declared?;
    let outer = &world[outer];
    let declaration = world.facts(outer.file).module(at);
    Some((outer, declaration))
}

/// Whether a body is the braces of an inline module.
pub(super) fn is_inline(world: &World, body: &Body) -> bool {
    matches!(
        world.facts(body.file).scope(body.scope).kind,
        ScopeKind::Module(_)
    )
}

/// The directory of files of modules that a body declares, with files at their paths in `moved`.
pub(super) fn directory(
    world: &World,
    body: BodyId,
    moved: &BTreeMap<TreePath, TreePath>,
) -> Option<TreePath> {
    let body = &world[body];
    let path = &world[body.file].path;
    // The root of a library that moves is declared from then on.
    let declared = moved.contains_key(path) && is_library(world, body);
    let path = moved.get(path).unwrap_or(path);
    if is_inline(world, body) {
        let outer = body.declared?.0;
        let name = &world[body.module].name;
        return directory(world, outer, moved)?.join(name).ok();
    }
    let parent = path.parent()?;
    if (owns_directory(world, body) && !declared) || path.file_name() == "mod.rs" {
        Some(parent)
    } else {
        parent.join(path.file_stem()).ok()
    }
}

/// Whether a body is the root file of a library.
fn is_library(world: &World, body: &Body) -> bool {
    let node = &world[body.module];
    node.parent.is_none() && !body.included && world[node.krate].kind == TargetKind::Lib
}

/// Whether modules declared in a file are beside it: a root, an included file, one that is named by
/// `#[path]`.
pub(super) fn owns_directory(world: &World, body: &Body) -> bool {
    match declaration_of(world, body) {
        None => true,
        Some((_, declaration)) => body.included || by_path(world, body, declaration),
    }
}

/// Whether the file of a body is named by a `#[path]` of its declaration.
pub(super) fn by_path(world: &World, body: &Body, declaration: &ModuleDeclaration) -> bool {
    let path = &world[body.file].path;
    let named = |value: &str| {
        let last = value.rsplit('/').next().unwrap_or(value);
        path.file_name() == last
    };
    declaration
        .path_attributes
        .iter()
        .any(|attribute| named(&attribute.value))
}

/// Whether the neighbours of a new module keep their submodules in `name/mod.rs`; where there are no
/// neighbours, whether the crate does.
pub(super) fn prefers_mod_rs(world: &World, parent: ModuleId) -> bool {
    let node = &world[parent];
    let (with, without) = styles(world, node.children.iter().copied());
    if with + without > 0 {
        return with > without;
    }
    let all = (0_u32..).zip(&world.modules).map(|(at, _)| ModuleId(at));
    let own = all.filter(|module| world[*module].krate == node.krate);
    let (with, without) = styles(world, own);
    with > without
}

/// How many of these modules are `name/mod.rs`, and how many are `name.rs` with modules below.
fn styles(world: &World, modules: impl Iterator<Item = ModuleId>) -> (usize, usize) {
    let (mut with, mut without) = (0, 0);
    let nodes = modules.map(|module| &world[module]);
    let bodies = nodes.flat_map(|node| node.bodies.iter().map(move |body| (node, &world[body])));
    for (node, body) in bodies {
        let declared = body.declared.is_some() && !is_inline(world, body);
        match world[body.file].path.file_name() {
            "mod.rs" if declared => with += 1,
            _ if declared && !node.children.is_empty() => without += 1,
            _ => {}
        }
    }
    (with, without)
}
