//! Imports, resolved round by round until nothing changes.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{
    lookup::{Found, Lookup},
    names::{bind, reach, sym},
    order,
    tree::id,
    world::{Binding, FileId, ItemId, ModuleId, Reach, Res, Space, SpaceId, Sym, World},
};
use crate::facts::{Facts, LeafKind, Namespaces, SourceFacts, UseLeaf};

/// Imports of imports settle in a few rounds; a chain longer than this is left open.
const MOST_ROUNDS: usize = 64;

/// So many names are handed on by globs in one tree, and some more for each import; where another glob stands, anything may come from
/// it. A few hundred modules that all have globs of each other would hand on the cube of their number.
const MOST_BY_GLOBS: usize = 2_000_000;
const MOST_BY_IMPORT: usize = 2;

/// An import as one crate sees it.
struct Import {
    load: usize,
    space: SpaceId,
    file: FileId,
    leaf: u32,
    reach: Reach,
    /// Of each module that a glob names, how much of what came to it was taken.
    taken: FxHashMap<ModuleId, usize>,
}

/// Notes the name that an import without a target would bring.
fn note_unknown(world: &mut World, import: &Import) {
    let facts = world.facts(import.file);
    let leaf = facts.leaf(import.leaf);
    if leaf.kind == LeafKind::Glob
        || !(Lookup {
            world,
            load: import.load,
        })
        .leaf(facts, leaf, import.space)
        .is_empty()
    {
        return;
    }
    let bound = leaf
        .alias
        .or_else(|| facts.segments(leaf.segments).last().copied());
    let Some(sym) = bound.and_then(|bound| sym(world, import.file, bound.name.0)) else {
        return;
    };
    if let Some(space) = world.spaces.get_mut(import.space.0 as usize) {
        space.unknown.insert(sym);
    }
}

/// A glob passes on what is unknown in its module; whether that is news.
fn pass_on_unknown(world: &mut World, import: &mut Import) -> bool {
    let facts = world.facts(import.file);
    let leaf = facts.leaf(import.leaf);
    if leaf.kind != LeafKind::Glob {
        return false;
    }
    let found = Lookup {
        world,
        load: import.load,
    }
    .leaf(facts, leaf, import.space);
    let modules = found.all().filter_map(|(res, _)| match res {
        Res::Module(module) => Some(world.space(module)),
        _ => None,
    });
    let unknown: Vec<Sym> = modules
        .flat_map(|space| space.unknown.iter().copied())
        .collect();
    let Some(space) = world.spaces.get_mut(import.space.0 as usize) else {
        return false;
    };
    let before = space.unknown.len();
    space.unknown.extend(unknown);
    space.unknown.len() > before
}

fn imports(world: &World) -> Vec<Import> {
    let mut imports = Vec::new();
    for (at, load) in world.loads.iter().enumerate() {
        let facts = world.facts(load.file);
        for (leaf_at, leaf) in facts.leaves.iter().enumerate() {
            let declaration = facts.declaration(leaf.declaration);
            let Some(space) = load.spaces.get(declaration.scope.0 as usize).copied() else {
                continue;
            };
            let Some(module) = world.spaces.get(space.0 as usize).map(|space| space.module) else {
                continue;
            };
            let reach = reach(world, facts, module, declaration.visibility);
            imports.push(Import {
                load: at,
                space,
                file: load.file,
                leaf: id(leaf_at),
                reach,
                taken: FxHashMap::default(),
            });
        }
    }
    imports
}

/// Resolves one import as far as it goes now; whether something new came of it.
fn step(world: &mut World, import: &mut Import, left: &mut usize) -> bool {
    let source = &world[import.file];
    let facts = Arc::clone(&source.facts);
    let Facts::Source(facts) = &*facts else {
        return false;
    };
    let leaf = facts.leaf(import.leaf);
    let found = Lookup {
        world,
        load: import.load,
    }
    .leaf(facts, leaf, import.space);
    match leaf.kind {
        LeafKind::Glob => glob(world, import, found, left),
        LeafKind::Name | LeafKind::SelfModule => name(world, import, facts, leaf, found),
    }
}

fn name(
    world: &mut World,
    import: &Import,
    facts: &SourceFacts,
    leaf: &UseLeaf,
    found: Found,
) -> bool {
    let Some(sym) = bound_name(world, import, facts, leaf) else {
        return false;
    };
    let mut changed = false;
    for (res, namespaces) in found.all() {
        let res = whole_name(world, res, found.tail, facts, leaf);
        let own = Binding {
            res,
            namespaces,
            reach: import.reach,
            import: Some((import.file, import.leaf)),
            glob: false,
        };
        changed |= bind(world, import.space, sym, own);
    }
    changed
}

/// The name that a leaf brings: its alias, or the last one of its path.
fn bound_name(world: &World, import: &Import, facts: &SourceFacts, leaf: &UseLeaf) -> Option<Sym> {
    let last = || facts.segments(leaf.segments).last().copied();
    let bound = leaf.alias.or_else(last)?;
    sym(world, import.file, bound.name.0)
}

/// Something outside, by its whole name: what an import binds is not told apart otherwise.
fn whole_name(world: &mut World, res: Res, tail: u16, facts: &SourceFacts, leaf: &UseLeaf) -> Res {
    let Res::External(base) = res else { return res };
    let segments = facts.segments(leaf.segments);
    let mut name = world.names.text(base).to_string();
    for segment in segments
        .iter()
        .skip(segments.len().saturating_sub(tail as usize))
    {
        name.push_str("::");
        name.push_str(facts.name(segment.name));
    }
    Res::External(world.names.intern(&name))
}

fn glob(world: &mut World, import: &mut Import, found: Found, left: &mut usize) -> bool {
    let mut changed = false;
    if found.is_empty() || found.opaque {
        changed |= opaque(world, import.space);
    }
    for (res, _) in found.all() {
        match res {
            Res::Module(module) => changed |= glob_of_module(world, import, module, left),
            Res::Item(item) => changed |= glob_of_enum(world, import, item),
            Res::External(name) => changed |= glob_of_external(world, import.space, name),
            Res::Variant(..) | Res::Member(..) => changed |= opaque(world, import.space),
        }
    }
    changed
}

/// A glob of something outside brings names that nobody knows, unless it is of the standard library: its names
/// are known to be others.
fn glob_of_external(world: &mut World, space: SpaceId, name: Sym) -> bool {
    let name = world.names.text(name);
    let first = name.split("::").next().unwrap_or_default();
    if ["std", "core", "alloc"].contains(&first) {
        return bring_standard(world, space);
    }
    opaque(world, space)
}

/// Notes that a space has a glob of the standard library; whether that is new.
fn bring_standard(world: &mut World, space: SpaceId) -> bool {
    !std::mem::replace(&mut space_mut(world, space).std_glob, true)
}

fn opaque(world: &mut World, space: SpaceId) -> bool {
    let Some(space) = world.spaces.get_mut(space.0 as usize) else {
        return false;
    };
    !std::mem::replace(&mut space.opaque, true)
}

fn space_mut(world: &mut World, space: SpaceId) -> &mut Space {
    let space = world.spaces.get_mut(space.0 as usize);
    space.expect("invariant: a space's number is its place in the table")
}

/// Brings what the module has and this glob has not taken yet. Of `left` names, those that it brings
/// are used up.
fn glob_of_module(
    world: &mut World,
    import: &mut Import,
    module: ModuleId,
    left: &mut usize,
) -> bool {
    let from = world.module_spaces.get(module.index()).copied();
    let Some(from) = from.filter(|from| *from != import.space) else {
        return false;
    };
    if *left == 0 {
        return opaque(world, import.space);
    }
    let space = space_mut(world, from);
    let (from_opaque, from_std) = (space.opaque, space.std_glob);
    let seen = names_to_take(world, import, module, from);
    let mut changed = from_opaque && opaque(world, import.space);
    changed |= from_std && bring_standard(world, import.space);
    let Some(rest) = left.checked_sub(seen.len()) else {
        *left = 0;
        return changed | opaque(world, import.space);
    };
    *left = rest;
    changed | bring(world, import, seen)
}

/// What a glob has not taken yet of the names of a module, those that it must not see left out.
fn names_to_take(
    world: &mut World,
    import: &mut Import,
    module: ModuleId,
    from: SpaceId,
) -> Vec<(Sym, Binding)> {
    let importer = world.module_of(import.space);
    let is_outside = world.in_doc_code(import.space);
    let taken = import.taken.entry(module).or_default();
    let space = space_mut(world, from);
    let mut seen = space.names.not_handed_on(*taken).to_vec();
    *taken += seen.len();
    seen.retain(|(_, binding)| {
        binding.reach == Reach::Public
            || (!is_outside && binding.reach.is_seen_from(world, importer))
    });
    seen
}

/// Brings names by a glob; whether one of them is new.
fn bring(world: &mut World, import: &Import, names: Vec<(Sym, Binding)>) -> bool {
    let mut changed = false;
    for (sym, binding) in names {
        let own = Binding {
            reach: import.reach,
            import: Some((import.file, import.leaf)),
            glob: true,
            ..binding
        };
        changed |= bind(world, import.space, sym, own);
    }
    changed
}

fn glob_of_enum(world: &mut World, import: &Import, item: ItemId) -> bool {
    let Some(variants) = world.variants.get(&item).cloned() else {
        return opaque(world, import.space);
    };
    let mut changed = false;
    for sym in variants {
        let binding = Binding {
            res: Res::Variant(item, sym),
            namespaces: Namespaces::TYPE.or(Namespaces::VALUE),
            reach: import.reach,
            import: Some((import.file, import.leaf)),
            glob: true,
        };
        changed |= bind(world, import.space, sym, binding);
    }
    changed
}

/// Resolves imports until nothing changes: group by group of crates, since names come only from
/// crates of the same group and of those before.
pub(super) fn resolve(world: &mut World) {
    let mut imports = by_group(world);
    let count: usize = imports.iter().map(Vec::len).sum();
    let mut left = MOST_BY_GLOBS + MOST_BY_IMPORT * count;
    for group in &mut imports {
        settle(world, group, |world, import| step(world, import, &mut left));
    }
    for space in &mut world.spaces {
        space.names.forget_handed_on();
    }
    for import in imports.iter().flatten() {
        note_unknown(world, import);
    }
    for group in &mut imports {
        settle(world, group, pass_on_unknown);
    }
}

/// The imports of each group of crates that name each other.
fn by_group(world: &World) -> Vec<Vec<Import>> {
    let groups = order::groups(&world.crates);
    let mut sorted: Vec<Vec<Import>> = Vec::new();
    sorted.resize_with(groups.len(), Vec::new);
    for import in imports(world) {
        let space = world.spaces.get(import.space.0 as usize);
        let module = space.map(|space| &world[space.module]);
        let group = module.and_then(|module| groups.get(module.krate.index()));
        if let Some(list) = group.and_then(|group| sorted.get_mut(*group)) {
            list.push(import);
        }
    }
    sorted
}

/// Takes each import in turn until a round brings nothing new.
fn settle(
    world: &mut World,
    imports: &mut [Import],
    mut step: impl FnMut(&mut World, &mut Import) -> bool,
) {
    for _ in 0..MOST_ROUNDS {
        let mut changed = false;
        for import in &mut *imports {
            changed |= step(world, import);
        }
        if !changed {
            break;
        }
    }
}
