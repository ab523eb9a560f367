//! `unused_qualifications`, where it is on: paths that say more than they have to, since a name behind their first one is in
//! scope where they come to stand.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::Unproven;

use super::{LintPlace, LintPlaces, Tree, is_changed, linted_anew};
use crate::{
    facts::{Origin, SourceFacts},
    lints,
    resolve::{ModuleId, Res, Site, UseSite, World},
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
    let is_path = matches!(site.site, UseSite::Path(_)) && site.origin == Origin::Code;
    if !is_path || site.segments.len() < 2 {
        return None;
    }
    let module = world.module_of(site.space);
    let said = site.segments.iter().map(|one| facts.name(one.name));
    let said: Vec<&str> = said.collect();
    let steps = site.trace.steps.iter().zip(site.segments).skip(1);
    for (step, segment) in steps {
        let name = facts.name(segment.name);
        let bound = world.bindings(module, name);
        let is_known = |res: Res| !matches!(res, Res::Member(..) | Res::Variant(..));
        let mut meant = step.all().filter(|(res, _)| is_known(*res)).peekable();
        meant.peek()?;
        if meant.all(|(res, _)| bound.iter().any(|one| one.res == res)) {
            return Some((name.to_owned(), said.join("::")));
        }
    }
    None
}
