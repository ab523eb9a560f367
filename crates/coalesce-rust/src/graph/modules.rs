//! The modules and roots of a tree as the rest of Coalesce sees them.

use std::collections::BTreeSet;

use coalesce_model::{LanguageKind, Module, ModuleKind, Root};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    facts::{Item, ScopeId, SourceFacts, VisibilityKind},
    resolve::{Body, Crate, FileId, ModuleId, Reach, Res, World},
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
    let mut found = Listed {
        modules: Vec::new(),
        of_body: vec![0; world.bodies.len()],
        of_module: vec![None; world.modules.len()],
    };
    for (module, body) in sorted_modules(world) {
        found.push(world, module, body);
    }
    found.place_others(world);
    found
}

impl Listed {
    /// Adds a module, which the body at `at` is.
    fn push(&mut self, world: &World, module: Module, at: usize) {
        let place = self.modules.len();
        self.modules.push(module);
        if let Some(slot) = self.of_body.get_mut(at) {
            *slot = place;
        }
        let module = world.bodies.get(at).map(|body| body.module.index());
        if let Some(slot) = module.and_then(|module| self.of_module.get_mut(module)) {
            slot.get_or_insert(place);
        }
    }

    /// Gives bodies that are not listed the place of the module around them.
    fn place_others(&mut self, world: &World) {
        let bodies = world.bodies.iter().enumerate();
        for (at, body) in bodies.filter(|(_, body)| !is_listed(world, body)) {
            let mut module = body.module;
            while let (true, Some(parent)) = (world[module].local, world[module].parent) {
                module = parent;
            }
            let place = self.of_module.get(module.index()).copied().flatten();
            if let Some(slot) = self.of_body.get_mut(at) {
                *slot = place.unwrap_or(0);
            }
        }
    }
}

/// The modules of the list, each with the index of its body.
fn sorted_modules(world: &World) -> Vec<(Module, usize)> {
    let mut contents: FxHashMap<FileId, Contents<'_>> = FxHashMap::default();
    let mut listed: Vec<(Module, usize)> = world
        .bodies
        .iter()
        .enumerate()
        .filter(|(_, body)| is_listed(world, body))
        .filter_map(|(at, body)| {
            let contents = contents.entry(body.file);
            let contents = contents.or_insert_with(|| Contents::of(world, body.file));
            Some((module(world, body, contents)?, at))
        })
        .collect();
    listed.sort_by(|(a, at), (b, bt)| {
        (&a.name, &a.path, a.inline, at).cmp(&(&b.name, &b.path, b.inline, bt))
    });
    listed
}

/// Whether a body is a module of the list: modules of blocks count as part of what is around them.
fn is_listed(world: &World, body: &Body) -> bool {
    let local = world[body.module].local;
    !body.included && !local
}

/// What the scopes of a file have: it may be thousands of modules.
#[derive(Default)]
struct Contents<'f> {
    items: FxHashMap<ScopeId, Vec<&'f Item>>,
    /// Scopes that define something, named or not.
    defining: FxHashSet<ScopeId>,
    /// Scopes that pass something on.
    exporting: FxHashSet<ScopeId>,
    /// Scopes with imports under a condition.
    choosing: FxHashSet<ScopeId>,
    /// The modules that a scope is the text of.
    modules: FxHashMap<ScopeId, Vec<ModuleId>>,
}

impl<'f> Contents<'f> {
    fn of(world: &'f World, file: FileId) -> Self {
        let facts = world.facts(file);
        let mut contents = Self::default();
        for body in world[file].bodies.iter().map(|id| &world[id]) {
            let modules = contents.modules.entry(body.scope).or_default();
            modules.push(body.module);
        }
        for item in &facts.items {
            contents.items.entry(item.scope).or_default().push(item);
        }
        let calls = facts.macro_calls.iter().filter(|call| call.item_position);
        contents.defining = contents.items.keys().copied().collect();
        let others = facts.impls.iter().map(|found| found.scope);
        let others = others.chain(facts.modules.iter().map(|found| found.scope));
        contents
            .defining
            .extend(others.chain(calls.map(|call| call.scope)));
        let conditional = facts.uses.iter().filter(|item| !item.cfg.is_empty());
        contents.choosing.extend(conditional.map(|item| item.scope));
        contents.exporting.extend(exporting(facts));
        contents
    }
}

/// The scopes that pass something on.
fn exporting(facts: &SourceFacts) -> impl Iterator<Item = ScopeId> {
    let uses = facts.uses.iter().map(|item| (item.scope, item.visibility));
    let crates = facts.extern_crates.iter();
    let crates = crates.map(|item| (item.scope, item.visibility));
    let seen = uses
        .chain(crates)
        .filter(|(_, visibility)| visibility.kind != VisibilityKind::Private);
    seen.map(|(scope, _)| scope)
}

fn module(world: &World, body: &Body, contents: &Contents<'_>) -> Option<Module> {
    let node = &world[body.module];
    let facts = world.facts(body.file);
    let path = world[body.file].path.clone();
    let scope = facts.scope(body.scope);
    let inline = is_inline(body).then_some(scope.span);
    let lines = inline.map_or(facts.lines, |span| {
        facts.line_number(span.end.saturating_sub(1)) - facts.line_number(span.start) + 1
    });
    let root = node.parent.is_none();
    Some(Module {
        name: node.canonical.clone(),
        kind: kind_of(world, body, contents),
        package: inline.is_none() && (root || path.file_name() == "mod.rs"),
        path,
        language: LanguageKind::Rust,
        lines,
        defines: defines((facts, contents), body.scope),
        exports: exports(world, body.module),
        inline,
        also: also(world, body, contents),
    })
}

/// Whether a module stands in the text of another.
fn is_inline(body: &Body) -> bool {
    body.scope != ScopeId(0)
}

/// What a module is there for; one that leads to nothing of the tree redirects nobody.
fn kind_of(world: &World, body: &Body, contents: &Contents<'_>) -> ModuleKind {
    let facts = world.facts(body.file);
    match kind((facts, contents), body.scope, !is_inline(body)) {
        ModuleKind::Redirect if !leads_into_tree(world, body, contents) => ModuleKind::Module,
        kind => kind,
    }
}

fn kind(
    (facts, contents): (&SourceFacts, &Contents<'_>),
    scope: ScopeId,
    is_file: bool,
) -> ModuleKind {
    if is_file && facts.shim_marker.is_some() {
        return ModuleKind::Shim;
    }
    let defines = contents.defining.contains(&scope) || facts.problem.is_some();
    match (defines, contents.exporting.contains(&scope)) {
        (true, _) => ModuleKind::Module,
        (false, true) => ModuleKind::Redirect,
        (false, false) => ModuleKind::Stub,
    }
}

/// Whether all that a module of re-exports offers has its home in the tree. A prelude is a list on purpose,
/// a choice between conditions is an abstraction, and what comes from elsewhere has no other home here.
fn leads_into_tree(world: &World, body: &Body, contents: &Contents<'_>) -> bool {
    let node = &world[body.module];
    if node.name == "prelude" || contents.choosing.contains(&body.scope) {
        return false;
    }
    let offered = world.offered(body.module);
    let mut offered = offered.peekable();
    offered.peek().is_some() && offered.all(|res| !matches!(res, Res::External(_)))
}

fn defines((facts, contents): (&SourceFacts, &Contents<'_>), scope: ScopeId) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut items = contents.items.get(&scope).cloned().unwrap_or_default();
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
fn also(world: &World, body: &Body, contents: &Contents<'_>) -> Vec<String> {
    let modules = contents.modules.get(&body.scope).into_iter().flatten();
    let others = modules.filter(|other| **other != body.module);
    let names: BTreeSet<String> = others
        .map(|other| world[*other].canonical.clone())
        .collect();
    names.into_iter().collect()
}

/// The root file of each target, sorted by path and name.
pub(super) fn roots(world: &World) -> Vec<Root> {
    let mut roots: Vec<Root> = world
        .crates
        .iter()
        .map(|krate| Root {
            language: LanguageKind::Rust,
            path: krate.root_file.clone(),
            name: krate.name.clone(),
            kind: krate.kind.name().to_owned(),
            reason: reason_of(world, krate),
        })
        .collect();
    roots.sort_by(|a, b| (&a.path, &a.name, &a.kind).cmp(&(&b.path, &b.name, &b.kind)));
    roots
}

/// Why the target of a crate is one.
fn reason_of(world: &World, krate: &Crate) -> String {
    let targets = world
        .packages
        .get(krate.package)
        .map(|package| package.targets.as_slice());
    let target = targets.unwrap_or_default().iter().find(|target| {
        target.path == krate.root_file && target.name == krate.name && target.kind == krate.kind
    });
    target.map_or_else(String::new, |target| target.reason.clone())
}
