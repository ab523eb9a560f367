//! Names that stand beside a public glob which brings them as well, or may: others have what the glob brings no more,
//! and the compiler warns of that.
//!
//! Either of the two may be new: an import or a definition that arrives, or something that has become public where the
//! glob leads, perhaps in another crate.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::Tree;
use crate::{
    facts::{LeafKind, Namespaces, Origin, ScopeKind, SourceFacts, VisibilityKind},
    lints,
    resolve::{Binding, FileId, ModuleId, Reach, Res, World},
};

/// A public glob of a module.
struct PublicGlob {
    here: ModuleId,
    /// What it brings all of; `None` of what is not read.
    target: Option<ModuleId>,
    said: String,
}

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
    let mut found = Vec::new();
    for (hiding, (file, span)) in now {
        let lint = ["hidden_glob_reexports", "warnings"];
        if then.contains_key(&hiding) || lints::is_off(world, (file, span.start), &lint, after.texts)
        {
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

/// All that hides, and where it stands.
fn hiding(world: &World) -> BTreeMap<Hiding, (FileId, ByteSpan)> {
    let mut found = BTreeMap::new();
    for (file, _) in world.sources() {
        for glob in public_globs(world, file) {
            for (name, bindings) in world.space(glob.here).names.iter() {
                let name = world.names.as_str(*name);
                let mut own = bindings
                    .iter()
                    .filter(|one| !one.glob && one.reach != Reach::Public);
                let hides = own.find(|one| glob.may_bring(world, name, one.namespaces));
                let Some(place) = hides.and_then(|one| place_of(world, one)) else {
                    continue;
                };
                let hiding = Hiding {
                    module: world[glob.here].canonical.clone(),
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
    fn may_bring(&self, world: &World, name: &str, namespaces: Namespaces) -> bool {
        let Some(target) = self.target else {
            return true;
        };
        let mut bindings = world.bindings(target, name).iter();
        world.space(target).opaque
            || bindings
                .any(|one| one.reach == Reach::Public && one.namespaces.meets(namespaces))
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

fn public_globs(world: &World, file: FileId) -> Vec<PublicGlob> {
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
            Some((Res::Module(module), _)) => Some(module),
            Some((Res::External(_), _)) | None => None,
            Some(_) => continue,
        };
        let names = facts.segments(leaf.segments).iter();
        let names: Vec<&str> = names.map(|one| facts.name(one.name)).collect();
        found.push(PublicGlob {
            here,
            target,
            said: names.join("::"),
        });
    }
    found
}

/// Whether an import is one of a module.
fn is_code(facts: &SourceFacts, leaf: u32) -> bool {
    let declaration = facts.declaration_of(leaf);
    let kind = facts.scope(declaration.scope).kind;
    declaration.origin == Origin::Code && matches!(kind, ScopeKind::File | ScopeKind::Module(_))
}
