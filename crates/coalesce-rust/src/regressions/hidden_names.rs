//! Imports that come to stand beside a public glob which brings their name as well, or may: others have the name by
//! the glob no more, and the compiler warns of that.

use std::collections::BTreeSet;

use coalesce_model::{Unproven, UnprovenKind};

use super::{Tree, is_changed};
use crate::{
    facts::{LeafKind, Origin, ScopeKind, SourceFacts, VisibilityKind},
    lints,
    resolve::{FileId, Found, ModuleId, Reach, Res, Site, UseSite, World},
};

/// A public glob of a module.
struct PublicGlob {
    here: ModuleId,
    /// What it brings all of; `None` of what is not read.
    target: Option<ModuleId>,
    said: String,
}

/// A private import that gives its module a name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    module: String,
    name: String,
}

/// Such imports in files that both trees have.
pub(crate) fn hidden_by_imports(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let (old, new) = (before.world, after.world);
    let mut found = Vec::new();
    for (file, source) in new.sources() {
        let was = old.file_at(&source.path);
        let Some(was) = was.filter(|_| is_changed(new, old, file)) else {
            continue;
        };
        let globs = public_globs(new, file);
        if globs.is_empty() {
            continue;
        }
        let known: BTreeSet<Named> = imports(old, was).map(|(named, ..)| named).collect();
        for (named, here, leaf) in imports(new, file) {
            let brings = |glob: &&PublicGlob| glob.here == here && glob.may_bring(new, &named.name);
            let Some(glob) = globs.iter().find(brings) else {
                continue;
            };
            let span = new.facts(file).leaf(leaf).span;
            let lint = ["hidden_glob_reexports", "warnings"];
            if known.contains(&named) || lints::is_off(new, (file, span.start), &lint, after.texts)
            {
                continue;
            }
            found.push(Unproven {
                path: source.path.clone(),
                span: Some(span),
                kind: UnprovenKind::Lint,
                why: format!(
                    "`pub use {}::*` may bring `{}` as well, which this import hides: others would not have it \
                     any more, and the compiler warns of that",
                    glob.said, named.name
                ),
                name: named.name,
            });
        }
    }
    found.sort();
    found.dedup();
    found
}

impl PublicGlob {
    fn may_bring(&self, world: &World, name: &str) -> bool {
        let Some(target) = self.target else {
            return true;
        };
        let mut bindings = world.bindings(target, name).iter();
        world.space(target).opaque || bindings.any(|one| one.reach == Reach::Public)
    }
}

fn public_globs(world: &World, file: FileId) -> Vec<PublicGlob> {
    let mut found = Vec::new();
    world.visit_file(&world[file], &mut |facts, site| {
        let Some(leaf) = leaf_of(facts, &site, VisibilityKind::Public) else {
            return;
        };
        if facts.leaf(leaf).kind != LeafKind::Glob {
            return;
        }
        let mut led = site.trace.steps.last().into_iter().flat_map(Found::all);
        let target = match led.next() {
            Some((Res::Module(module), _)) => Some(module),
            Some((Res::External(_), _)) | None => None,
            Some(_) => return,
        };
        let names = site.segments.iter().map(|one| facts.name(one.name));
        found.push(PublicGlob {
            here: world.module_of(site.space),
            target,
            said: names.collect::<Vec<_>>().join("::"),
        });
    });
    found
}

/// The private imports of names in a file, each with its module and its leaf.
fn imports(world: &World, file: FileId) -> impl Iterator<Item = (Named, ModuleId, u32)> {
    let mut found = Vec::new();
    world.visit_file(&world[file], &mut |facts, site| {
        let Some(leaf) = leaf_of(facts, &site, VisibilityKind::Private) else {
            return;
        };
        let fact = facts.leaf(leaf);
        let bound = fact.alias.or_else(|| site.segments.last().copied());
        let Some(bound) = bound.filter(|_| fact.kind != LeafKind::Glob) else {
            return;
        };
        let here = world.module_of(site.space);
        let named = Named {
            module: world[here].canonical.clone(),
            name: facts.name(bound.name).to_owned(),
        };
        found.push((named, here, leaf));
    });
    found.into_iter()
}

/// The leaf of an import of a module, with that visibility.
fn leaf_of(facts: &SourceFacts, site: &Site<'_>, visibility: VisibilityKind) -> Option<u32> {
    let UseSite::Leaf(leaf) = site.site else {
        return None;
    };
    let declaration = facts.declaration_of(leaf);
    let kind = facts.scope(declaration.scope).kind;
    (declaration.origin == Origin::Code
        && declaration.visibility.kind == visibility
        && matches!(kind, ScopeKind::File | ScopeKind::Module(_)))
    .then_some(leaf)
}
