//! Which names each space defines: modules, items, crates.

use std::sync::Arc;

use super::{
    tree::id,
    world::{
        Binding, FileId, ItemId, ItemNode, ModuleId, Reach, Res, SpaceId, SpaceKind, Sym, World,
    },
};
use crate::facts::{
    Facts, Item, ItemKind, Namespaces, ScopeId, SourceFacts, Visibility, VisibilityKind,
};

/// Binds what every file defines.
pub(super) fn define(world: &mut World) {
    for load in 0..world.loads.len() {
        Definitions { world, load }.collect();
    }
    share_macros(world);
}

struct Definitions<'w> {
    world: &'w mut World,
    load: usize,
}

impl Definitions<'_> {
    fn collect(&mut self) {
        let Some(load) = self.world.loads.get(self.load) else {
            return;
        };
        let file = load.file;
        let source = &self.world[file];
        let facts = Arc::clone(&source.facts);
        let Facts::Source(facts) = &*facts else {
            return;
        };
        self.modules(facts, file);
        self.items(facts, file);
        self.extern_crates(facts, file);
    }

    /// The space of a scope, and the module that it is of or in.
    fn space(&self, scope: ScopeId) -> Option<(SpaceId, ModuleId)> {
        let spaces = &self.world.load(self.load).spaces;
        let space = *spaces.get(scope.0 as usize)?;
        Some((space, self.world.module_of(space)))
    }

    fn modules(&mut self, facts: &SourceFacts, file: FileId) {
        for (at, declaration) in facts.modules.iter().enumerate() {
            let Some((space, owner)) = self.space(declaration.scope) else {
                continue;
            };
            let name = facts.name(declaration.name.name);
            let child = self.world.children.get(&(owner, name.to_owned()));
            let local = self.world.local_modules.get(&(self.load, id(at)));
            let Some(child) = local.or(child).copied() else {
                continue;
            };
            let reach = reach(self.world, facts, owner, declaration.visibility);
            let Some(sym) = sym(self.world, file, declaration.name.name.0) else {
                continue;
            };
            let binding = Binding {
                res: Res::Module(child),
                namespaces: Namespaces::TYPE,
                reach,
                import: None,
                glob: false,
            };
            bind(self.world, space, sym, binding);
        }
    }

    fn items(&mut self, facts: &SourceFacts, file: FileId) {
        for (at, item) in (0..).zip(&facts.items) {
            self.define(facts, file, at, item);
        }
    }

    /// Binds the name of an item that a file defines.
    fn define(&mut self, facts: &SourceFacts, file: FileId, at: u32, item: &Item) {
        let Some((space, owner)) = self.space(item.scope) else {
            return;
        };
        let visible = reach(self.world, facts, owner, item.visibility);
        let Some(sym) = sym(self.world, file, item.name.name.0) else {
            return;
        };
        let new = ItemNode {
            module: owner,
            name: facts.name(item.name.name).to_owned(),
            kind: item.kind,
            namespaces: item.namespaces,
            local: self.is_in_block(space),
            definitions: vec![(file, at)],
        };
        let node = self.item(space, sym, new);
        self.add_variants(node, file, item);
        let binding = defined(Res::Item(node), item.namespaces, visible);
        bind(self.world, space, sym, binding);
        if item.kind == ItemKind::Macro && item.exported {
            self.export(owner, sym, binding);
        }
    }

    fn is_in_block(&self, space: SpaceId) -> bool {
        let space = self.world.spaces.get(space.0 as usize);
        space.is_some_and(|space| space.kind != SpaceKind::Module)
    }

    fn add_variants(&mut self, node: ItemId, file: FileId, item: &Item) {
        let variants = item.variants.iter();
        let variants: Vec<Sym> = variants
            .filter_map(|variant| sym(self.world, file, variant.name.0))
            .collect();
        if !variants.is_empty() {
            let known = self.world.variants.entry(node).or_default();
            known.extend(variants);
        }
    }

    /// Binds a macro at the root of its crate.
    fn export(&mut self, owner: ModuleId, sym: Sym, binding: Binding) {
        let root = self.world.space_of(root_of(self.world, owner));
        let reach = Reach::Public;
        bind(self.world, root, sym, Binding { reach, ..binding });
    }

    /// The item of that name in the space: a variant of one that is there, or a new one.
    fn item(&mut self, space: SpaceId, sym: Sym, new: ItemNode) -> ItemId {
        let same = self.defined_before(space, sym, new.namespaces);
        if let Some(same) = same
            && let Some(node) = self.world.items.get_mut(same.index())
        {
            // A name with more variants than that is none that anybody wrote by hand.
            let first = new.definitions.first();
            let mut latest = node.definitions.iter().rev().take(LATEST);
            if !latest.any(|known| Some(known) == first) {
                node.definitions.extend(new.definitions);
            }
            node.namespaces = node.namespaces.or(new.namespaces);
            return same;
        }
        self.world.items.push(new);
        ItemId(id(self.world.items.len() - 1))
    }

    /// The item of a name that the space defines already in one of these namespaces.
    fn defined_before(&self, space: SpaceId, sym: Sym, namespaces: Namespaces) -> Option<ItemId> {
        let space = self.world.spaces.get(space.0 as usize)?;
        let mut bindings = space.names.get(&sym)?.iter();
        bindings.find_map(|binding| match binding.res {
            Res::Item(item) if binding.import.is_none() && binding.namespaces.meets(namespaces) => {
                Some(item)
            }
            _ => None,
        })
    }

    fn extern_crates(&mut self, facts: &SourceFacts, file: FileId) {
        for declaration in &facts.extern_crates {
            let Some((space, owner)) = self.space(declaration.scope) else {
                continue;
            };
            let root = root_of(self.world, owner);
            let name = facts.name(declaration.name.name).to_owned();
            let res = if name == "self" {
                Some(Res::Module(root))
            } else {
                extern_crate(self.world, owner, &name)
            };
            let res = res.unwrap_or_else(|| Res::External(self.world.names.intern(&name)));
            let bound = declaration.alias.unwrap_or(declaration.name);
            let Some(sym) = sym(self.world, file, bound.name.0) else {
                continue;
            };
            let visible = reach(self.world, facts, owner, declaration.visibility);
            let binding = defined(res, Namespaces::TYPE, visible);
            bind(self.world, space, sym, binding);
            if owner == root {
                self.add_extern(root, bound.name.0, facts, res);
            }
        }
    }

    /// A renamed `extern crate` of the root is visible everywhere.
    fn add_extern(&mut self, root: ModuleId, name: u32, facts: &SourceFacts, res: Res) {
        let target = match res {
            Res::Module(module) => Some(self.world[module].krate),
            _ => None,
        };
        let krate = self.world[root].krate;
        let krate = &mut self.world[krate];
        let name = facts.name(crate::facts::NameId(name));
        if name == "_" || krate.externs.iter().any(|(known, _)| known == name) {
            return;
        }
        krate.externs.push((name.to_owned(), target));
        krate.externs.sort();
    }
}

/// The crate that `name` names without a declaration, in the crate of `module`.
pub(super) fn extern_crate(world: &mut World, module: ModuleId, name: &str) -> Option<Res> {
    let krate = world[module].krate;
    let krate = &world[krate];
    let (_, target) = krate
        .externs
        .iter()
        .filter(|(known, _)| known == name)
        .max_by_key(|(_, target)| target.is_some())?;
    match target.and_then(|target| world[target].root) {
        Some(root) => Some(Res::Module(root)),
        None => Some(Res::External(world.names.intern(name))),
    }
}

/// The world's name of a file's name.
pub(super) fn sym(world: &World, file: FileId, name: u32) -> Option<Sym> {
    world
        .file_names
        .get(file.index())?
        .get(name as usize)
        .copied()
}

/// The root of the crate of a module.
pub(super) fn root_of(world: &World, module: ModuleId) -> ModuleId {
    let mut at = module;
    while let Some(parent) = world[at].parent {
        at = parent;
    }
    at
}

pub(super) fn reach(
    world: &World,
    facts: &SourceFacts,
    module: ModuleId,
    visibility: Visibility,
) -> Reach {
    match visibility.kind {
        VisibilityKind::Public => Reach::Public,
        VisibilityKind::Private | VisibilityKind::SelfModule => Reach::Within(module),
        VisibilityKind::Super => Reach::Within(world[module].parent.unwrap_or(module)),
        VisibilityKind::Crate => Reach::Within(root_of(world, module)),
        VisibilityKind::In(path) => {
            let segments = facts.segments(facts.path(path).segments);
            let names = segments.iter().map(|segment| facts.name(segment.name));
            Reach::Within(around(world, module, names))
        }
    }
}

/// The module around another one that a `pub(in path)` in it names; of a path that leads elsewhere, which does
/// not compile, the root.
fn around<'n>(world: &World, module: ModuleId, names: impl Iterator<Item = &'n str>) -> ModuleId {
    let root = root_of(world, module);
    let mut above = vec![module];
    while let Some(parent) = above.last().and_then(|at| world[*at].parent) {
        above.push(parent);
    }
    let mut at = None;
    for name in names {
        let known: Option<ModuleId> = at;
        let next = match name {
            "crate" | "$crate" => Some(root),
            "self" => known.or(Some(module)),
            "super" => world[known.unwrap_or(module)].parent,
            // Of an edition in which paths begin at the root.
            _ => {
                let outer = known.unwrap_or(root);
                let mut inner = above.iter().copied();
                inner.find(|at| world[*at].parent == Some(outer) && world[*at].name == name)
            }
        };
        let Some(next) = next else { return root };
        at = Some(next);
    }
    at.unwrap_or(root)
}

/// Adds a binding; whether it is new.
pub(super) fn bind(world: &mut World, space: SpaceId, name: Sym, binding: Binding) -> bool {
    let Some(space) = world.spaces.get_mut(space.0 as usize) else {
        return false;
    };
    space.names.bind(name, binding)
}

/// So many variants of a name are compared with the next one: a file may define one name in each line.
const LATEST: usize = 64;

/// Macros of `#[macro_use] mod m;` are seen in the module around it, too.
fn share_macros(world: &mut World) {
    for (from, to) in macro_givers(world).into_iter().rev() {
        let macros = macros_of(world, from, to);
        let Some(space) = world.module_spaces.get(to.index()).copied() else {
            continue;
        };
        for (sym, binding) in macros {
            bind(world, space, sym, binding);
        }
    }
}

/// The modules whose macros the module around them sees, each with that one.
fn macro_givers(world: &World) -> Vec<(ModuleId, ModuleId)> {
    let mut shared: Vec<(ModuleId, ModuleId)> = Vec::new();
    for body in &world.bodies {
        let Some((outer, at)) = body.declared else {
            continue;
        };
        let outer = &world[outer];
        let declared = world.facts(outer.file).module(at);
        let own = world.facts(body.file);
        if declared.macro_use || own.gives_macros(body.scope) {
            shared.push((body.module, outer.module));
        }
    }
    shared
}

/// The macros of a module as the module `to` has them, by number of their names.
fn macros_of(world: &World, module: ModuleId, to: ModuleId) -> Vec<(Sym, Binding)> {
    let space = world.space(module);
    let mut names: Vec<(&Sym, &[Binding])> = space.names.iter().collect();
    names.sort_by_key(|(sym, _)| **sym);
    let reach = Reach::Within(to);
    let mut macros: Vec<(Sym, Binding)> = Vec::new();
    for (sym, bindings) in names {
        let of_macros = bindings
            .iter()
            .filter(|binding| binding.namespaces.meets(Namespaces::MACRO));
        macros.extend(of_macros.map(|binding| (*sym, Binding { reach, ..*binding })));
    }
    macros
}

/// A name that a definition binds.
fn defined(res: Res, namespaces: Namespaces, reach: Reach) -> Binding {
    Binding {
        res,
        namespaces,
        reach,
        import: None,
        glob: false,
    }
}

impl Reach {
    /// Whether code in `module` sees what has this reach.
    pub(crate) fn is_seen_from(self, world: &World, module: ModuleId) -> bool {
        match self {
            Self::Public => true,
            Self::Within(scope) => is_within(world, module, scope),
        }
    }
}

/// Whether `module` is `scope` or inside it.
pub(crate) fn is_within(world: &World, module: ModuleId, scope: ModuleId) -> bool {
    let mut at = Some(module);
    while let Some(module) = at {
        if module == scope {
            return true;
        }
        at = world[module].parent;
    }
    false
}
