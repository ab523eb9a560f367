//! Imports of traits without a name (`use a::Shape as _`) that come to stand beside a glob which brings the trait: of the
//! two the glob serves, and the compiler warns of the other one.

use coalesce_model::Unproven;

use crate::regressions::{LintPlace, LintPlaces, Tree, linted_anew};
use crate::{
    facts::{LeafKind, VisibilityKind},
    resolve::{Found, Res, UseSite, World},
};

/// Such imports that the tree before has not.
pub(crate) fn nameless_beside_globs(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    linted_anew(
        after,
        (&imports(after.world), &|| imports(before.world)),
        ("unused_imports", &|name, _| {
            format!(
                "a glob brings `{name}` here as well, and the compiler warns of the import that gives it no name"
            )
        }),
    )
}

/// Those of a tree, by the modules that have them and what they bring.
fn imports(world: &World) -> LintPlaces {
    let mut found = LintPlaces::new();
    for (file, source) in world.sources() {
        world.visit_file(source, &mut |facts, site| {
            let UseSite::Leaf(at) = site.site else {
                return;
            };
            let leaf = facts.leaf(at);
            let is_nameless = leaf
                .alias
                .is_some_and(|alias| facts.name(alias.name) == "_");
            let is_private = facts.declaration_of(at).visibility.kind == VisibilityKind::Private;
            if leaf.kind != LeafKind::Name || !is_nameless || !is_private {
                return;
            }
            let here = world.module_of(site.space);
            let led = site.trace.steps.last().map(Found::items);
            for item in led.into_iter().flatten() {
                let name = world[item].name.clone();
                let mut bound = world.bindings(here, &name).iter();
                if bound.any(|one| one.glob && one.res == Res::Item(item)) {
                    let (span, said) = (leaf.span, String::new());
                    let key = (world[here].canonical.clone(), name);
                    found.insert(key, LintPlace { file, span, said });
                }
            }
        });
    }
    found
}
