//! `unused_qualifications`, where it is on: paths that say more than they have to, since a name behind their first one is in
//! scope where they come to stand.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{TreePath, Unproven};

use super::{LintPlace, LintPlaces, Tree, is_changed, linted_anew, said_anew};
use crate::{
    facts::{Origin, SourceFacts},
    lints,
    resolve::{Binding, FileId, ModuleId, Res, Site, UseSite, World},
};

const LINT: &str = "unused_qualifications";

/// The paths that come to say more than they have to.
pub(crate) fn needless_qualifications(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    linted_anew(
        after,
        (&needless(after, before.world), &|| {
            needless(before, after.world)
        }),
        (LINT, &|_, one| {
            format!(
                "`{LINT}` is on here, and `{}` may be said by less: the compiler warns of that",
                one.said
            )
        }),
    )
}

/// A path that says more than it has to.
pub(crate) struct NeedlessPath {
    pub file: FileId,
    /// Where it begins.
    pub start: u32,
    pub said: String,
    /// The name by which it could begin.
    pub name: String,
}

/// The paths that come to say more than they have to where the lint speaks of it.
pub(crate) fn needless_paths(before: Tree<'_>, after: Tree<'_>) -> Vec<NeedlessPath> {
    let now = needless(after, before.world);
    if now.is_empty() {
        return Vec::new();
    }
    let then = needless(before, after.world);
    let new = said_anew(&now, &then).into_iter();
    new.map(|(name, one)| NeedlessPath {
        file: one.file,
        start: one.span.start,
        said: one.said.clone(),
        name: name.to_owned(),
    })
    .collect()
}

/// Whether the lint may be on somewhere, by the words of manifests and of the heads of crates.
pub(crate) fn may_be_on(tree: Tree<'_>) -> bool {
    let world = tree.world;
    let says = |path: &TreePath| {
        let text = tree.texts.text(path);
        text.is_some_and(|text| text.contains(LINT))
    };
    let mut roots = world.crates.iter().map(|krate| &krate.root_file);
    let manifests = (0..world.packages.len()).map(|package| world.manifest_of(package));
    let workspace = TreePath::root().join("Cargo.toml").ok();
    roots.any(says) || manifests.chain(workspace).any(|path| says(&path))
}

/// Such paths of the files that are not the same in another tree.
fn needless(tree: Tree<'_>, other: &World) -> LintPlaces {
    let world = tree.world;
    let mut found = LintPlaces::new();
    let mut count: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (file, source) in world.sources() {
        if !is_changed(world, other, file) {
            continue;
        }
        let bodies = source.bodies.iter().map(|body| &world[*body]);
        let on = bodies.filter(|body| lints::is_on(world, body, LINT, tree.texts));
        let on: BTreeSet<ModuleId> = on.map(|body| body.module).collect();
        if on.is_empty() {
            continue;
        }
        world.visit_file(source, &mut |facts, site| {
            let module = world.module_of(site.space);
            if !on.contains(&module) {
                return;
            }
            let Some((shorter, said)) = shortened(world, facts, &site) else {
                return;
            };
            let home = world[module].canonical.clone();
            // Each place of a name counts.
            let number = count.entry((home.clone(), shorter.clone())).or_default();
            *number += 1;
            let key = (format!("{home} {number}"), shorter);
            if let Some(first) = site.segments.first() {
                let span = first.span;
                found.insert(key, LintPlace { file, span, said });
            }
        });
    }
    found
}

/// The name by which a path could begin, and what it says.
fn shortened(world: &World, facts: &SourceFacts, site: &Site<'_>) -> Option<(String, String)> {
    let is_path = matches!(site.site, UseSite::Path(_))
        && matches!(site.origin, Origin::Code | Origin::KnownMacro);
    if !is_path || site.segments.len() < 2 {
        return None;
    }
    let module = world.module_of(site.space);
    let said = site.segments.iter().map(|one| facts.name(one.name));
    let said: Vec<&str> = said.collect();
    let steps = site.trace.steps.iter().zip(&said).skip(1);
    for (step, name) in steps {
        let is_known = |res: Res| !matches!(res, Res::Member(..));
        let mut meant = step.all().filter(|(res, _)| is_known(*res)).peekable();
        if meant.peek().is_none() {
            break;
        }
        if meant.all(|(res, _)| is_said_by(world, module, name, res)) {
            return Some(((*name).to_owned(), said.join("::")));
        }
    }
    let name = begins_outside(world, module, (site, &said))?;
    Some((name.to_owned(), said.join("::")))
}

/// Whether a name alone leads to something in a module: what a glob brings of it is hidden by what the module has itself.
fn is_said_by(world: &World, module: ModuleId, name: &str, res: Res) -> bool {
    let bound = world.bindings(module, name);
    let hides = |brought: &Binding| {
        let mut own = bound.iter().filter(|one| !one.glob);
        brought.glob && own.any(|one| one.namespaces.meets(brought.namespaces))
    };
    bound.iter().any(|one| one.res == res && !hides(one))
}

/// The name by which a path into another package could begin, whose steps nobody has read: the module imports it by
/// the same full name.
fn begins_outside<'n>(
    world: &World,
    module: ModuleId,
    (site, said): (&Site<'_>, &[&'n str]),
) -> Option<&'n str> {
    // What is outside stays what it was first: the names behind it are not followed.
    let mut steps = site.trace.steps.iter().enumerate();
    let outside = steps.find_map(|(at, step)| {
        let mut all = step.all();
        all.find_map(|(res, _)| match res {
            Res::External(full) => Some((at, full)),
            _ => None,
        })
    });
    let (at, full) = outside?;
    let mut full = world.names.text(full).to_string();
    for (place, name) in said.iter().copied().enumerate().skip(at) {
        if place > at {
            full.push_str("::");
            full.push_str(name);
        }
        let mut bound = world.bindings(module, name).iter();
        let is_bound =
            |res: Res| matches!(res, Res::External(own) if *world.names.text(own) == *full);
        if place > 0 && bound.any(|one| is_bound(one.res)) {
            return Some(name);
        }
    }
    None
}
