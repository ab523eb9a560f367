//! Private globs that brought something wherever they are there, and now only under a condition.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven};

use super::{Named, UNUSED_IMPORT, Warning, is_trait, sites_of};
use crate::{
    facts::{LeafKind, SourceFacts, VisibilityKind},
    resolve::{Binding, FileId, Found, ModuleId, Res, Site, Sym, Target, UseSite, World},
};

const IDLE_GLOB: Warning = Warning {
    lints: UNUSED_IMPORT.lints,
    why: "all that this glob brings is there under a condition, and the compiler warns of it without that",
};

/// A glob of a module, the conditions that it stands under, and whether what it brings is there wherever
/// it is.
struct BringingGlob {
    leaf: u32,
    here: ModuleId,
    target: ModuleId,
    span: ByteSpan,
    own: BTreeSet<String>,
    always: Option<bool>,
}

/// The private globs of a file, and what is known of who goes through them.
#[derive(Default)]
struct ReadGlobs {
    globs: BTreeMap<u32, BringingGlob>,
    /// The names that paths have by them.
    used: BTreeSet<(u32, Sym)>,
    /// What macros define may be traits: the conditions of imports that lead there, by module.
    unknown: BTreeMap<ModuleId, Vec<BTreeSet<String>>>,
}

impl Named<'_> {
    /// Private globs that brought something wherever they are there, and now only under a condition.
    pub(super) fn globs_in_part(&mut self, before: &mut Named<'_>) -> Vec<Unproven> {
        let mut found = Vec::new();
        for (file, was) in self.changed_files(before) {
            let served = before.globs(was);
            let idle = self.globs(file).into_iter().filter(|(name, (_, brings))| {
                let brought = served.get(name).is_some_and(|(_, brings)| *brings);
                brought && !brings
            });
            let told =
                idle.filter_map(|(name, (span, _))| self.unused((file, span), &name.1, &IDLE_GLOB));
            found.extend(told);
        }
        found
    }

    /// The private globs of a file by their module and what they bring all of, and whether they bring
    /// something wherever they are there. Those that bring nothing at all are settled elsewhere.
    fn globs(&mut self, file: FileId) -> BTreeMap<(String, String), (ByteSpan, bool)> {
        let world = self.tree.world;
        let mut read = self.read_globs(file);
        let homes: BTreeSet<ModuleId> = read.globs.values().map(|glob| glob.here).collect();
        for here in homes {
            self.settle(file, here, &mut read);
        }
        let unsettled = read.globs.values_mut();
        for glob in unsettled.filter(|glob| glob.always.is_none()) {
            if let Some(unknown) = read.unknown.get(&glob.target) {
                let mut unknown = unknown.iter();
                glob.always = Some(unknown.any(|conditions| conditions.is_subset(&glob.own)));
            }
        }
        let name = |module: ModuleId| world.name_of(&Target::Module(module));
        let brings = read.globs.into_values().filter_map(|glob| {
            let key = (name(glob.here), name(glob.target));
            glob.always.map(|always| (key, (glob.span, always)))
        });
        brings.collect()
    }

    /// Settles whether the globs of a module bring something always, by the names that it has from them.
    fn settle(&mut self, file: FileId, here: ModuleId, read: &mut ReadGlobs) {
        let world = self.tree.world;
        let names = world.space(here).names.iter();
        let all = names.flat_map(|(name, bindings)| bindings.iter().map(move |one| (name, one)));
        for (name, one) in all {
            let import = one.import.filter(|(of, _)| *of == file);
            let Some(glob) = import.and_then(|(_, at)| read.globs.get_mut(&at)) else {
                continue;
            };
            let open = glob.here == here && glob.always != Some(true);
            let is_used = read.used.contains(&(glob.leaf, *name));
            if open && (is_trait(world, one.res) || is_used) {
                let conditions = self.of_brought(glob.target, *name, one);
                glob.always = Some(conditions.is_subset(&glob.own));
            }
        }
    }

    fn read_globs(&mut self, file: FileId) -> ReadGlobs {
        let world = self.tree.world;
        let mut read = ReadGlobs::default();
        for (facts, site) in sites_of(world, file) {
            for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                let own = step.import.filter(|(of, _)| *of == file && step.glob);
                let name = world.names.get(facts.name(segment.name));
                let used = own.zip(name).map(|((_, leaf), name)| (leaf, name));
                read.used.extend(used);
            }
            let here = world.module_of(site.space);
            let is_leaf = matches!(site.site, UseSite::Leaf(_));
            if is_leaf && site.trace.steps.last().is_none_or(Found::is_empty) {
                let conditions = self.conditions_of(file, &site);
                read.unknown.entry(here).or_default().extend(conditions);
            }
            if let Some(glob) = self.bringing_glob(file, facts, &site) {
                read.globs.entry(glob.leaf).or_insert(glob);
            }
        }
        read
    }

    /// The private glob that a site is.
    fn bringing_glob(
        &mut self,
        file: FileId,
        facts: &SourceFacts,
        site: &Site<'_>,
    ) -> Option<BringingGlob> {
        let world = self.tree.world;
        let (leaf, target) = private_glob(world, facts, site)?;
        let own = self.conditions_of_import(file, site)?;
        Some(BringingGlob {
            leaf,
            here: world.module_of(site.space),
            target,
            span: facts.leaf(leaf).span,
            own,
            always: None,
        })
    }

    /// The conditions under which a module has a name that a glob brings to another one.
    fn of_brought(&mut self, target: ModuleId, name: Sym, one: &Binding) -> BTreeSet<String> {
        let world = self.tree.world;
        let mut found = self.conditions.of_module(target);
        let inner = world.space(target).names.get(&name);
        let inner = inner
            .into_iter()
            .flatten()
            .find(|inner| inner.res == one.res);
        match inner.and_then(|inner| inner.import) {
            Some(import) => found.extend(self.conditions.of_import(import)),
            None => match one.res {
                Res::Item(item) => found.extend(self.conditions.of_item(item)),
                Res::Module(module) => found.extend(self.conditions.of_module(module)),
                _ => {}
            },
        }
        found
    }
}

/// The leaf of a private glob, and the module that it brings all of, where that is known.
fn private_glob(world: &World, facts: &SourceFacts, site: &Site<'_>) -> Option<(u32, ModuleId)> {
    let UseSite::Leaf(at) = site.site else {
        return None;
    };
    let leaf = facts.leaf(at);
    let visibility = facts.declaration(leaf.declaration).visibility.kind;
    if visibility != VisibilityKind::Private || leaf.kind != LeafKind::Glob {
        return None;
    }
    let target = site.trace.steps.last()?.module()?;
    (!world.space(target).opaque).then_some((at, target))
}
