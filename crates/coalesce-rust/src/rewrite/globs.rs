//! What a glob import stops bringing when its file moves: names that the old parent keeps to itself.
//!
//! `use super::*` sees all that its parent sees. From elsewhere the same glob brings only what is
//! visible there, so the rest is imported by name, and private definitions are widened.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use coalesce_model::{ByteSpan, Edit, TreePath, Unproven, UnprovenKind};

use super::{
    macro_methods::called_names,
    method_calls::{self, calls::Called},
    needs::{Need, NeededThing},
    place::Place,
    spell::{Speller, spelled},
    traits::{self, Demand},
};
use crate::{
    facts::{ItemKind, LeafKind, Origin, ScopeId, SourceFacts, VisibilityKind},
    resolve::{Binding, FileId, ItemId, ModuleId, Reach, Res, Site, Sym, World},
};

/// What becomes of the globs of a file.
#[derive(Default)]
pub(super) struct Globs {
    /// Paths to import besides, by index of the declaration that holds the glob.
    pub besides: BTreeMap<u32, Vec<String>>,
    /// Globs that bring nothing any more that is used.
    pub spent: Vec<u32>,
    /// Traits imported besides that method calls may need, with the leaf of the glob.
    pub guessed: Vec<(u32, String)>,
}

/// What one glob brings to the code of one load.
#[derive(Default)]
struct Brought {
    /// Names that it brings no more.
    names: BTreeMap<String, Binding>,
    /// Whether it goes on bringing something.
    kept: bool,
    /// Of the names those of traits that method calls may need.
    guessed: BTreeSet<String>,
}

impl Globs {
    /// Imports what a glob brings no more to a place: whether there is such, and whether some of it is had otherwise.
    fn import(
        &mut self,
        speller: &Speller<'_>,
        (file, at): (FileId, u32),
        (by, brought): (&Place, Brought),
        needs: &mut Vec<Need>,
    ) -> (bool, bool) {
        let of = speller.mapping.world.facts(file).leaf(at).declaration;
        let (mut gone, mut kept) = (false, false);
        for (name, binding) in brought.names {
            let Some(path) = import_of(speller, by, (&name, &binding), needs) else {
                kept = true;
                continue;
            };
            gone = true;
            let list = self.besides.entry(of).or_default();
            if !list.contains(&path) {
                list.push(path);
            }
            if brought.guessed.contains(&name) {
                self.guessed.push((at, name));
            }
        }
        (gone, kept)
    }
}

/// What a glob brings to a module, by name.
pub(super) fn brought_by(
    world: &World,
    import: (FileId, u32),
    here: ModuleId,
) -> impl Iterator<Item = (Sym, &Binding)> {
    let names = world.space(here).names.iter();
    let all = names.flat_map(|(name, bindings)| bindings.iter().map(|one| (*name, one)));
    all.filter(move |(_, one)| one.glob && one.import == Some(import))
}

/// Whether a name is for everybody who can name its module: a public glob hands on no more than what
/// it brings is.
pub(super) fn is_public_binding(speller: &Speller<'_>, name: Sym, binding: &Binding) -> bool {
    fn is_public(
        speller: &Speller<'_>,
        name: Sym,
        binding: &Binding,
        seen: &mut BTreeSet<(FileId, u32)>,
    ) -> bool {
        if binding.reach != Reach::Public {
            return false;
        }
        let Some(import) = binding.import.filter(|_| binding.glob) else {
            return true;
        };
        let Some(target) = speller.glob_target(import) else {
            return true;
        };
        let bindings = speller.mapping.world.space(target).names.get(&name);
        let mut same = bindings.into_iter().flatten();
        seen.insert(import)
            && same.any(|one| one.res == binding.res && is_public(speller, name, one, seen))
    }
    is_public(speller, name, binding, &mut BTreeSet::new())
}

/// Keeps to its crate what a `pub use` of nothing else brings; `None` where it is of more.
pub(super) fn narrowed(facts: &SourceFacts, leaf: u32) -> Option<Edit> {
    let declaration = facts.declaration_of(leaf);
    let (first, last) = declaration.leaves;
    (last - first == 1).then(|| Edit::replace(declaration.visibility.span, "pub(crate)"))
}

/// What is said of a glob that brings nothing any more, unless a macro that is not read defines it.
pub(super) fn may_bring_nothing((path, span): (TreePath, ByteSpan), name: String) -> Unproven {
    let why = "all that it is known to bring leaves, and whether macros there define more is not: the \
               compiler may warn of it";
    Unproven {
        path,
        span: Some(span),
        kind: UnprovenKind::LeftUnused,
        name,
        why: why.to_owned(),
    }
}

/// Works out what the globs of a file no longer bring.
pub(super) fn globs(speller: &Speller<'_>, file: FileId, needs: &mut Vec<Need>) -> Globs {
    let mut found = Globs::default();
    let facts = speller.mapping.world.facts(file);
    let leaves = (0..).zip(&facts.leaves);
    let globs = leaves.filter(|(_, leaf)| leaf.kind == LeafKind::Glob);
    let targets: BTreeMap<u32, ModuleId> = globs
        .filter_map(|(at, _)| Some((at, speller.glob_target((file, at))?)))
        .collect();
    let mut loads = brought(speller, file, &targets);
    let called = CalledIn::default();
    for (at, target) in targets {
        let place = (file, at);
        let (mut gone, mut kept) = (false, false);
        for (load, brought) in &mut loads {
            let mut here = brought.remove(&at).unwrap_or_default();
            kept |= here.kept;
            kept |= methods(speller, (*load, place, &called), target, &mut here);
            let by = place_of(speller, *load, place);
            let imported = by.map(|by| found.import(speller, place, (&by, here), needs));
            let (goes, stays) = imported.unwrap_or_default();
            gone |= goes;
            kept |= stays;
        }
        if gone && !kept && is_alone(speller, place, target) {
            found.spent.push(at);
        }
    }
    found
}

/// What each glob of a file brings to each of its loads, by one walk over the places of each.
fn brought(
    speller: &Speller<'_>,
    file: FileId,
    targets: &BTreeMap<u32, ModuleId>,
) -> Vec<(usize, BTreeMap<u32, Brought>)> {
    let world = speller.mapping.world;
    if targets.is_empty() {
        return Vec::new();
    }
    let of_load = |load: &u32| {
        let load = *load as usize;
        let mut all: BTreeMap<u32, Brought> = BTreeMap::new();
        world.visit(load, &mut |facts, site| {
            let Some((at, target)) =
                used_glob(&site, file).and_then(|at| Some((at, *targets.get(&at)?)))
            else {
                return;
            };
            let Some(first) = site.segments.first() else {
                return;
            };
            let name = facts.name(first.name);
            let brought = all.entry(at).or_default();
            match hidden(speller, &site, target, name) {
                Some(binding) => _ = brought.names.insert(name.to_owned(), binding),
                None => brought.kept = true,
            }
        });
        (load, all)
    };
    world[file].loads.iter().map(of_load).collect()
}

/// Whether nobody but the module that has a glob may use what it brings.
fn is_alone(speller: &Speller<'_>, (file, leaf): (FileId, u32), target: ModuleId) -> bool {
    let world = speller.mapping.world;
    let opaque = world.space(target).opaque;
    let facts = world.facts(file);
    let found = facts.declaration_of(leaf);
    let mut modules = facts.modules.iter();
    !opaque
        && found.visibility.kind == VisibilityKind::Private
        && !modules.any(|module| module.scope == found.scope)
}

/// The glob of a file that brings the first name of a place.
fn used_glob(site: &Site<'_>, file: FileId) -> Option<u32> {
    let first = site.trace.steps.first();
    let first = first.filter(|first| first.glob && site.origin != Origin::FormatString)?;
    let (of, at) = first.import?;
    (of == file).then_some(at)
}

/// The names that the code of a scope calls as methods, as far as somebody has asked.
type CalledIn = RefCell<BTreeMap<(usize, ScopeId), Rc<Called>>>;

/// The binding of a name in the module of the glob that is seen before and not after.
fn hidden(speller: &Speller<'_>, site: &Site<'_>, target: ModuleId, name: &str) -> Option<Binding> {
    let world = speller.mapping.world;
    let before = world.module_of(site.space);
    let here = speller.mapping.after(before);
    let sym = world.names.get(name)?;
    let bindings = world.space(target).names.get(&sym)?;
    let mut known = bindings
        .iter()
        .filter(|binding| binding.reach.is_seen_from(world, before))
        .peekable();
    let first = known.peek().copied().copied();
    let seen = known.any(|binding| speller.sees(&here, binding.reach, target));
    first.filter(|_| !seen)
}

/// Traits that the old parent has for itself and nobody names: methods may need them. Whether the
/// glob goes on bringing such a trait.
fn methods(
    speller: &Speller<'_>,
    (load, place, called): (usize, (FileId, u32), &CalledIn),
    target: ModuleId,
    brought: &mut Brought,
) -> bool {
    let world = speller.mapping.world;
    let Some((before, methods)) = called_by_name(speller, load, place, called) else {
        return true;
    };
    let here = speller.mapping.after(before);
    let usage = OnceCell::new();
    let looks_like_trait = |name: &str| {
        let usage = usage.get_or_init(|| traits::Usage::of(world, target, speller.mapping.texts));
        usage.looks_like_trait(name)
    };
    let asked = traits::Asked {
        world,
        texts: speller.mapping.texts,
        looks: &looks_like_trait,
    };
    let followed = OnceCell::new();
    let mut kept = false;
    for (name, binding) in bound_traits(world, target) {
        let trait_of = (&*name, binding.res);
        let is_new =
            binding.reach.is_seen_from(world, before) && !brought.names.contains_key(&name);
        if !is_new || !asked.is_needed(trait_of, &methods) {
            continue;
        }
        if speller.sees(&here, binding.reach, target) {
            kept = true;
            continue;
        }
        let called = || called_in(speller, load, place).unwrap_or_else(|| (*methods).clone());
        match asked.demand(trait_of, followed.get_or_init(called)) {
            Demand::No => continue,
            Demand::Perhaps => _ = brought.guessed.insert(name.clone()),
            Demand::Yes => {}
        }
        brought.names.insert(name, *binding);
    }
    kept
}

/// What a module binds names to of which one may be a trait, by name: a module may have thousands of names, and
/// thousands of globs of them below it.
fn bound_traits(world: &World, module: ModuleId) -> Vec<(String, &Binding)> {
    let may_be_trait = |binding: &Binding| traits::may_be_trait(world, binding.res);
    let bound = world.space(module).names.iter();
    let bound = bound.filter(|(_, bindings)| bindings.iter().any(may_be_trait));
    let mut bound: Vec<_> = bound.collect();
    bound.sort_by_key(|(sym, _)| **sym);
    let each = bound.into_iter().flat_map(|(sym, bindings)| {
        let name = world.names.text(*sym).to_string();
        bindings.iter().map(move |one| (name.clone(), one))
    });
    each.collect()
}

/// The module that a glob stands in, and what its code calls as methods, by names alone.
fn called_by_name(
    speller: &Speller<'_>,
    load: usize,
    place: (FileId, u32),
    called: &CalledIn,
) -> Option<(ModuleId, Rc<Called>)> {
    let world = speller.mapping.world;
    let loaded = world.loads.get(load)?;
    let facts = world.facts(loaded.file);
    let scope = facts.declaration_of(place.1).scope;
    let space = *loaded.spaces.get(scope.0 as usize)?;
    let key = (load, scope);
    if let Some(known) = called.borrow().get(&key) {
        return Some((world.module_of(space), Rc::clone(known)));
    }
    let text = speller.mapping.texts.text(&world[loaded.file].path)?;
    let methods = called_names(world, speller.mapping.texts, &text, facts.scope(scope).span);
    let methods = Rc::new(Called::on_unknown(methods));
    called.borrow_mut().insert(key, Rc::clone(&methods));
    Some((world.module_of(space), methods))
}

/// The methods that the code of a glob calls, with what is known of what they are called on.
fn called_in(speller: &Speller<'_>, load: usize, place: (FileId, u32)) -> Option<Called> {
    let world = speller.mapping.world;
    let loaded = world.loads.get(load)?;
    let facts = world.facts(loaded.file);
    let scope = facts.declaration_of(place.1).scope;
    let home = world.module_of(*loaded.spaces.get(scope.0 as usize)?);
    let texts = speller.mapping.texts;
    let text = texts.text(&world[loaded.file].path)?;
    let called = (&*text, facts.scope(scope).span);
    Some(method_calls::called(world, home, called, texts))
}

fn is_macro(world: &World, item: ItemId) -> bool {
    let node = &world[item];
    node.kind == ItemKind::Macro
}

/// The tree that imports what a glob no longer brings; `None` when widening it is enough.
pub(super) fn import_of(
    speller: &Speller<'_>,
    by: &Place,
    (name, binding): (&str, &Binding),
    needs: &mut Vec<Need>,
) -> Option<String> {
    if let Some(import) = binding.import {
        let mut path = speller.absolute(import)?;
        path.extend(binding.glob.then(|| name.to_owned()));
        let krate = speller.krate_of(import)?;
        let path = speller.said_in(path, krate, by, needs);
        let tree = spelled(&path);
        return Some(match path.last().map(String::as_str) == Some(name) {
            true => tree,
            false => format!("{tree} as {name}"),
        });
    }
    let subject = match binding.res {
        // Macros are seen by where they stand.
        Res::Item(item) if is_macro(speller.mapping.world, item) => return None,
        Res::Item(item) => NeededThing::Item(item),
        Res::Module(module) => NeededThing::Module(module),
        _ => return None,
    };
    needs.push(Need::new(subject, by.clone()));
    None
}

/// Where the module that has an import is after.
fn place_of(speller: &Speller<'_>, load: usize, (file, leaf): (FileId, u32)) -> Option<Place> {
    let world = speller.mapping.world;
    let facts = world.facts(file);
    let scope = facts.declaration_of(leaf).scope;
    let space = world.loads.get(load)?.spaces.get(scope.0 as usize)?;
    Some(speller.mapping.after(world.module_of(*space)))
}
