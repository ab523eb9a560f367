//! Names that stand beside a public glob which brings them as well, or may: others have what the glob brings no more,
//! and the compiler warns of that.
//!
//! Either of the two may be new: an import or a definition that arrives, or something that has become public where the
//! glob leads, perhaps in another crate.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven};

use super::{LintPlace, LintPlaces, Tree, is_open_module, linted_anew};
use crate::{
    facts::{LeafKind, Namespaces, Origin, ScopeKind, SourceFacts, VisibilityKind},
    resolve::{Binding, FileId, Found, ItemId, ModuleId, Reach, Res, World},
};

/// What a public glob brings all of.
#[derive(Clone, Copy)]
pub(super) enum GlobTarget {
    Module(ModuleId),
    /// The variants of an enumeration.
    Enumeration(ItemId),
    Unread,
}

/// A public glob.
pub(super) struct PublicGlob {
    pub target: GlobTarget,
    said: String,
    pub place: (FileId, ByteSpan),
}

/// The public globs of each module.
pub(super) struct GlobsByModule(BTreeMap<ModuleId, Vec<PublicGlob>>);

/// A tree with its public globs.
pub(crate) struct TreeWithGlobs<'a> {
    pub(super) tree: Tree<'a>,
    pub(super) globs: GlobsByModule,
}

impl<'a> TreeWithGlobs<'a> {
    pub(crate) fn of(tree: Tree<'a>) -> Self {
        let globs = GlobsByModule::of(tree.world);
        Self { tree, globs }
    }

    /// The modules with public globs that others can name, and those whose names such globs show.
    pub(super) fn shown_modules(&self) -> BTreeSet<ModuleId> {
        self.globs.shown_modules(self.tree.world)
    }
}

/// What hides more than it did.
pub(crate) fn hidden_beside_globs(
    before: &TreeWithGlobs<'_>,
    after: &TreeWithGlobs<'_>,
) -> Vec<Unproven> {
    // A module that goes takes along what hid in it.
    linted_anew(
        after.tree,
        (&hiding(after, before.tree.world), &|| {
            hiding(before, before.tree.world)
        }),
        ("hidden_glob_reexports", &|name, one| {
            format!(
                "`pub use {}::*` may bring `{name}` as well, which this hides: others would not have it any more, and \
                 the compiler warns of that",
                one.said
            )
        }),
    )
}

/// All names that are not public, beside a public glob that may bring them; what a module defines by itself, or did in
/// the tree before, no macro there defines.
fn hiding(of: &TreeWithGlobs<'_>, before: &World) -> LintPlaces {
    let (world, globs) = (of.tree.world, &of.globs);
    let mut found = BTreeMap::new();
    let shown = globs.shown_modules(world);
    let globs_shown = globs.0.iter().filter(|(here, _)| shown.contains(*here));
    let globs_shown = globs_shown.flat_map(|(here, own)| own.iter().map(move |glob| (*here, glob)));
    for (here, glob) in globs_shown {
        let shows_unread = globs.shows_unread(world, glob.target, &mut BTreeSet::new());
        for (name, bindings) in world.space(here).names.iter() {
            let name = world.names.as_str(*name);
            let mut own = bindings
                .iter()
                .filter(|one| !one.glob && one.reach != Reach::Public);
            let hides = own.find(|one| {
                let is_read = || {
                    glob.defines(world, (world, name), one.namespaces)
                        || glob.defines(world, (before, name), one.namespaces)
                };
                glob.brings(world, name, one.namespaces) || shows_unread && !is_read()
            });
            let Some((file, span)) = hides.and_then(|one| place_of(world, one)) else {
                continue;
            };
            let key = (world[here].canonical.clone(), name.to_owned());
            let said = glob.said.clone();
            found.entry(key).or_insert(LintPlace { file, span, said });
        }
    }
    found
}

impl PublicGlob {
    /// Whether what it leads to defines a name under no condition, in one tree or another.
    fn defines(&self, own: &World, (world, name): (&World, &str), namespaces: Namespaces) -> bool {
        let GlobTarget::Module(target) = self.target else {
            return false;
        };
        let modules = world.modules_named(&own[target].canonical);
        let mut bindings = modules.iter().flat_map(|one| world.bindings(*one, name));
        bindings.any(|one| {
            let defined = one.import.is_none() && one.namespaces.meets(namespaces);
            defined && is_unconditional(world, one.res)
        })
    }

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
    pub fn of(world: &World) -> Self {
        let mut found: BTreeMap<ModuleId, Vec<PublicGlob>> = BTreeMap::new();
        for (file, _) in world.sources() {
            for (here, glob) in public_globs(world, file) {
                found.entry(here).or_default().push(glob);
            }
        }
        Self(found)
    }

    /// The modules that have some, with these.
    pub fn of_modules(&self) -> impl Iterator<Item = (ModuleId, &[PublicGlob])> {
        self.0.iter().map(|(here, own)| (*here, own.as_slice()))
    }

    /// The modules with globs that others can name, or whose names such modules show by globs.
    fn shown_modules(&self, world: &World) -> BTreeSet<ModuleId> {
        let open = self.0.keys().filter(|here| is_open_module(world, **here));
        let mut left: Vec<ModuleId> = open.copied().collect();
        let mut shown = BTreeSet::new();
        while let Some(module) = left.pop() {
            if !shown.insert(module) {
                continue;
            }
            let globs = self.0.get(&module).into_iter().flatten();
            left.extend(globs.filter_map(|glob| match glob.target {
                GlobTarget::Module(target) => Some(target),
                GlobTarget::Enumeration(_) | GlobTarget::Unread => None,
            }));
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

fn is_unconditional(world: &World, res: Res) -> bool {
    let Res::Item(item) = res else {
        return false;
    };
    let mut definitions = world[item].definitions.iter();
    definitions.any(|(file, at)| !world.facts(*file).item(*at).conditional)
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
        let Some(target) = target_of(&led) else {
            continue;
        };
        let names = facts.segments(leaf.segments).iter();
        let names: Vec<&str> = names.map(|one| facts.name(one.name)).collect();
        let glob = PublicGlob {
            target,
            said: names.join("::"),
            place: (file, leaf.span),
        };
        found.push((here, glob));
    }
    found
}

/// What a glob is of that leads to this; `None` of what has no names to bring.
fn target_of(led: &Found) -> Option<GlobTarget> {
    match led.all().next() {
        Some((Res::Module(module), _)) => Some(GlobTarget::Module(module)),
        Some((Res::Item(item), _)) => Some(GlobTarget::Enumeration(item)),
        Some((Res::External(_), _)) | None => Some(GlobTarget::Unread),
        Some(_) => None,
    }
}

/// Whether an import is one of a module.
pub(super) fn is_code(facts: &SourceFacts, leaf: u32) -> bool {
    let declaration = facts.declaration_of(leaf);
    let kind = facts.scope(declaration.scope).kind;
    declaration.origin == Origin::Code && matches!(kind, ScopeKind::File | ScopeKind::Module(_))
}
