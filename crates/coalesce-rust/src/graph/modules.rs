//! The modules and roots of a tree as the rest of Coalesce sees them.

use std::collections::BTreeSet;

use coalesce_model::{LanguageKind, Module, ModuleKind, Root};

use crate::{
    facts::{ScopeId, SourceFacts, VisibilityKind},
    resolve::{Body, BodyId, ModuleId, Reach, World},
};

/// The list, and where each body stands in it.
pub(super) struct Listed {
    pub modules: Vec<Module>,
    /// For each body its place in `modules`.
    pub of_body: Vec<usize>,
    /// For each module of the world its first place in `modules`.
    pub of_module: Vec<Option<usize>>,
}

/// One module for each body, sorted by name, path and place.
pub(super) fn modules(world: &World) -> Listed {
    let mut listed: Vec<(Module, usize)> = world
        .bodies
        .iter()
        .enumerate()
        .filter(|(_, body)| is_listed(world, body))
        .filter_map(|(at, body)| Some((module(world, body)?, at)))
        .collect();
    listed.sort_by(|(a, at), (b, bt)| {
        (&a.name, &a.path, a.inline, at).cmp(&(&b.name, &b.path, b.inline, bt))
    });
    let mut of_body = vec![0; world.bodies.len()];
    let mut of_module: Vec<Option<usize>> = vec![None; world.modules.len()];
    for (place, (_, body)) in listed.iter().enumerate() {
        if let Some(slot) = of_body.get_mut(*body) {
            *slot = place;
        }
        let module = world.bodies.get(*body).map(|body| body.module.index());
        if let Some(slot) = module.and_then(|module| of_module.get_mut(module)) {
            slot.get_or_insert(place);
        }
    }
    for (at, body) in world
        .bodies
        .iter()
        .enumerate()
        .filter(|(_, body)| !is_listed(world, body))
    {
        let mut module = body.module;
        while let (true, Some(parent)) = (world[module].local, world[module].parent) {
            module = parent;
        }
        let place = of_module
            .get(module.index())
            .copied()
            .flatten()
            .unwrap_or(0);
        if let Some(slot) = of_body.get_mut(at) {
            *slot = place;
        }
    }
    Listed {
        modules: listed.into_iter().map(|(module, _)| module).collect(),
        of_body,
        of_module,
    }
}

/// Whether a body is a module of the list: modules of blocks count as part of what is around them.
fn is_listed(world: &World, body: &Body) -> bool {
    let local = world[body.module].local;
    !body.included && !local
}

fn module(world: &World, body: &Body) -> Option<Module> {
    let node = &world[body.module];
    let facts = world.facts(body.file);
    let path = world[body.file].path.clone();
    let scope = facts.scope(body.scope);
    let inline = (body.scope != ScopeId(0)).then_some(scope.span);
    let lines = inline.map_or(facts.lines, |span| {
        facts.line_number(span.end.saturating_sub(1)) - facts.line_number(span.start) + 1
    });
    let root = node.parent.is_none();
    Some(Module {
        name: node.canonical.clone(),
        kind: kind(facts, body.scope, inline.is_none()),
        package: inline.is_none() && (root || path.file_name() == "mod.rs"),
        path,
        language: LanguageKind::Rust,
        lines,
        defines: defines(facts, body.scope),
        exports: exports(world, body.module),
        inline,
        also: also(world, body),
    })
}

fn kind(facts: &SourceFacts, scope: ScopeId, is_file: bool) -> ModuleKind {
    if is_file && facts.shim_marker.is_some() {
        return ModuleKind::Shim;
    }
    let defines = facts.items.iter().any(|item| item.scope == scope)
        || facts.impls.iter().any(|item| item.scope == scope)
        || facts.modules.iter().any(|module| module.scope == scope)
        || facts
            .macro_calls
            .iter()
            .any(|call| call.scope == scope && call.item_position)
        || facts.problem.is_some();
    let exports = facts
        .uses
        .iter()
        .any(|item| item.scope == scope && item.visibility.kind != VisibilityKind::Private)
        || facts
            .extern_crates
            .iter()
            .any(|item| item.scope == scope && item.visibility.kind != VisibilityKind::Private);
    match (defines, exports) {
        (true, _) => ModuleKind::Module,
        (false, true) => ModuleKind::Redirect,
        (false, false) => ModuleKind::Stub,
    }
}

fn defines(facts: &SourceFacts, scope: ScopeId) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut items: Vec<_> = facts
        .items
        .iter()
        .filter(|item| item.scope == scope)
        .collect();
    items.sort_by_key(|item| item.name.span.start);
    let names = items.into_iter().map(|item| facts.name(item.name.name));
    names
        .filter(|name| seen.insert(*name))
        .map(str::to_owned)
        .collect()
}

/// Names that can be seen outside the module, sorted.
fn exports(world: &World, module: ModuleId) -> Vec<String> {
    let mut names: Vec<String> = world
        .bound_names(module)
        .filter(|(_, reach)| *reach != Reach::Within(module))
        .map(|(name, _)| name.to_string())
        .filter(|name| name != "_")
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Canonical names that the same text has in other crates or places.
fn also(world: &World, body: &Body) -> Vec<String> {
    let bodies = world[body.file].bodies.as_slice();
    let other = |id: &BodyId| Some(&world[id]);
    let others = bodies
        .iter()
        .filter_map(other)
        .filter(|other| other.scope == body.scope && other.module != body.module);
    let names: BTreeSet<String> = others
        .map(|other| &world[other.module])
        .map(|node| node.canonical.clone())
        .collect();
    names.into_iter().collect()
}

/// The root file of each target, sorted by path and name.
pub(super) fn roots(world: &World) -> Vec<Root> {
    let mut roots: Vec<Root> = world
        .crates
        .iter()
        .map(|krate| {
            let targets = world
                .packages
                .get(krate.package)
                .map(|package| package.targets.as_slice());
            let target = targets.unwrap_or_default().iter().find(|target| {
                target.path == krate.root_file
                    && target.name == krate.name
                    && target.kind == krate.kind
            });
            Root {
                language: LanguageKind::Rust,
                path: krate.root_file.clone(),
                name: krate.name.clone(),
                kind: krate.kind.name().to_owned(),
                reason: target.map_or_else(String::new, |target| target.reason.clone()),
            }
        })
        .collect();
    roots.sort_by(|a, b| (&a.path, &a.name, &a.kind).cmp(&(&b.path, &b.name, &b.kind)));
    roots
}
