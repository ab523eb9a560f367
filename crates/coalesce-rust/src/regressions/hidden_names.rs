//! Names that stand beside a public glob which brings them as well, or may: others have what the glob brings no more,
//! and the compiler warns of that.
//!
//! Either of the two may be new: an import or a definition that arrives, or something that has become public where the
//! glob leads, perhaps in another crate.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{Tree, is_open_module};
use crate::{
    facts::{LeafKind, Namespaces, Origin, ScopeKind, SourceFacts, VisibilityKind},
    lints,
    resolve::{Binding, FileId, ItemId, ModuleId, Reach, Res, World},
};

/// What a public glob brings all of.
#[derive(Clone, Copy)]
enum GlobTarget {
    Module(ModuleId),
    /// The variants of an enumeration.
    Enumeration(ItemId),
    Unread,
}

/// A public glob.
struct PublicGlob {
    target: GlobTarget,
    said: String,
}

/// The public globs of each module.
struct GlobsByModule(BTreeMap<ModuleId, Vec<PublicGlob>>);

/// A name of a module that is not public, beside a public glob that may bring it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Hiding {
    module: String,
    name: String,
    /// What the glob is of.
    said: String,
}

/// What hides more than it did.
pub(crate) fn hidden_beside_globs(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let world = after.world;
    let now = hiding(world);
    if now.is_empty() {
        return Vec::new();
    }
    let then = hiding(before.world);
    let (most, were) = (counts(&now), counts(&then));
    let mut found = Vec::new();
    for (hiding, (file, span)) in now {
        let lint = ["hidden_glob_reexports", "warnings"];
        // A module that goes takes along what hid in it.
        let name = hiding.name.as_str();
        let is_new = !then.contains_key(&hiding) && most.get(name) > were.get(name);
        if !is_new || lints::is_off(world, (file, span.start), &lint, after.texts) {
            continue;
        }
        found.push(Unproven {
            path: world[file].path.clone(),
            span: Some(span),
            kind: UnprovenKind::Lint,
            why: format!(
                "`pub use {}::*` may bring `{}` as well, which this hides: others would not have it any more, and \
                 the compiler warns of that",
                hiding.said, hiding.name
            ),
            name: hiding.name,
        });
    }
    found.sort();
    found.dedup();
    found
}

/// The modules with public globs that others can name, and those whose names such globs show.
pub(super) fn modules_shown_by_globs(world: &World) -> BTreeSet<ModuleId> {
    GlobsByModule::of(world).shown_modules(world)
}

/// How often each name hides something.
fn counts(all: &BTreeMap<Hiding, (FileId, ByteSpan)>) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for hiding in all.keys() {
        *found.entry(hiding.name.clone()).or_default() += 1;
    }
    found
}

/// All that hides, and where it stands.
fn hiding(world: &World) -> BTreeMap<Hiding, (FileId, ByteSpan)> {
    let globs = GlobsByModule::of(world);
    let mut found = BTreeMap::new();
    let shown = globs.shown_modules(world);
    for (here, own) in globs.0.iter().filter(|(here, _)| shown.contains(*here)) {
        for glob in own {
            let shows_unread = globs.shows_unread(world, glob.target, &mut BTreeSet::new());
            for (name, bindings) in world.space(*here).names.iter() {
                let name = world.names.as_str(*name);
                let mut own = bindings
                    .iter()
                    .filter(|one| !one.glob && one.reach != Reach::Public);
                let hides =
                    own.find(|one| shows_unread || glob.brings(world, name, one.namespaces));
                let Some(place) = hides.and_then(|one| place_of(world, one)) else {
                    continue;
                };
                let hiding = Hiding {
                    module: world[*here].canonical.clone(),
                    name: name.to_owned(),
                    said: glob.said.clone(),
                };
                found.insert(hiding, place);
            }
        }
    }
    found
}

impl PublicGlob {
    fn brings(&self, world: &World, name: &str, namespaces: Namespaces) -> bool {
        match self.target {
            GlobTarget::Module(target) => world
                .bindings(target, name)
                .iter()
                .any(|one| one.reach == Reach::Public && one.namespaces.meets(namespaces)),
            GlobTarget::Enumeration(item) => {
                let of_variants = Namespaces::TYPE.or(Namespaces::VALUE);
                namespaces.meets(of_variants) && world.has_variant(item, name)
            }
            GlobTarget::Unread => false,
        }
    }
}

impl GlobsByModule {
    fn of(world: &World) -> Self {
        let mut found: BTreeMap<ModuleId, Vec<PublicGlob>> = BTreeMap::new();
        for (file, _) in world.sources() {
            for (here, glob) in public_globs(world, file) {
                found.entry(here).or_default().push(glob);
            }
        }
        Self(found)
    }

    /// The modules with globs that others can name, or whose names such modules show by globs.
    fn shown_modules(&self, world: &World) -> BTreeSet<ModuleId> {
        let open = self.0.keys().filter(|here| is_open_module(world, **here));
        let mut left: Vec<ModuleId> = open.copied().collect();
        let mut shown = BTreeSet::new();
        while let Some(module) = left.pop() {
            if shown.insert(module) {
                let globs = self.0.get(&module).into_iter().flatten();
                left.extend(globs.filter_map(|glob| match glob.target {
                    GlobTarget::Module(target) => Some(target),
                    GlobTarget::Enumeration(_) | GlobTarget::Unread => None,
                }));
            }
        }
        shown
    }

    /// Whether a module may show names that are not read: macros there may define them, or public globs bring them. What
    /// private globs bring is no matter.
    fn shows_unread(
        &self,
        world: &World,
        target: GlobTarget,
        seen: &mut BTreeSet<ModuleId>,
    ) -> bool {
        let module = match target {
            GlobTarget::Module(module) => module,
            GlobTarget::Enumeration(_) => return false,
            GlobTarget::Unread => return true,
        };
        if !world.space(module).opaque || !seen.insert(module) {
            return false;
        }
        let mut bodies = world.bodies_of(module);
        let mut globs = self.0.get(&module).into_iter().flatten();
        bodies.any(|body| world.facts(body.file).scope(body.scope).opaque)
            || globs.any(|glob| self.shows_unread(world, glob.target, seen))
    }
}

/// Where what a module has by a name stands in it.
fn place_of(world: &World, binding: &Binding) -> Option<(FileId, ByteSpan)> {
    if let Some((file, leaf)) = binding.import {
        let facts = world.facts(file);
        return is_code(facts, leaf).then(|| (file, facts.leaf(leaf).span));
    }
    match binding.res {
        Res::Module(module) => {
            let (file, at) = *world.declarations(module).first()?;
            Some((file, world.facts(file).module(at).name.span))
        }
        Res::Item(item) => {
            let (file, at) = *world[item].definitions.first()?;
            Some((file, world.facts(file).item(at).name.span))
        }
        Res::Variant(..) | Res::Member(..) | Res::External(_) => None,
    }
}

/// The public globs of a file, each with its module.
fn public_globs(world: &World, file: FileId) -> Vec<(ModuleId, PublicGlob)> {
    let facts = world.facts(file);
    let mut found = Vec::new();
    for (at, leaf) in (0_u32..).zip(&facts.leaves) {
        let is_public = facts.declaration_of(at).visibility.kind == VisibilityKind::Public;
        if leaf.kind != LeafKind::Glob || !is_public || !is_code(facts, at) {
            continue;
        }
        let Some((here, led)) = world.glob_found((file, at)) else {
            continue;
        };
        let target = match led.all().next() {
            Some((Res::Module(module), _)) => GlobTarget::Module(module),
            Some((Res::Item(item), _)) => GlobTarget::Enumeration(item),
            Some((Res::External(_), _)) | None => GlobTarget::Unread,
            Some(_) => continue,
        };
        let names = facts.segments(leaf.segments).iter();
        let names: Vec<&str> = names.map(|one| facts.name(one.name)).collect();
        let said = names.join("::");
        found.push((here, PublicGlob { target, said }));
    }
    found
}

/// Whether an import is one of a module.
pub(super) fn is_code(facts: &SourceFacts, leaf: u32) -> bool {
    let declaration = facts.declaration_of(leaf);
    let kind = facts.scope(declaration.scope).kind;
    declaration.origin == Origin::Code && matches!(kind, ScopeKind::File | ScopeKind::Module(_))
}
