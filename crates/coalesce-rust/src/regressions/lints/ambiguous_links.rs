//! Links of documentation that come to lead to two things of one name: a module and a function, a type and a macro.
//! rustdoc warns of each, and asks for `mod@`.

use coalesce_model::{ByteSpan, Unproven};

use crate::regressions::{LintPlace, LintPlaces, Tree, is_open_module, linted_anew};
use crate::{
    facts::{ItemKind, Namespaces, Origin},
    resolve::{Found, Res, World},
};

/// Such links that the tree before has not.
pub(crate) fn ambiguous_links(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    linted_anew(
        after,
        (&links(after.world), &|| links(before.world)),
        ("rustdoc::broken_intra_doc_links", &|name, _| {
            format!(
                "`{name}` leads to two things now, and rustdoc warns of a link that does not say which"
            )
        }),
    )
}

/// The links that lead to two things, by the modules that have them and what they say.
fn links(world: &World) -> LintPlaces {
    let mut found = LintPlaces::new();
    for (file, source) in world.sources() {
        world.visit_file(source, &mut |facts, site| {
            let here = world.module_of(site.space);
            let last = site.trace.steps.last();
            let is_link = site.origin == Origin::DocLink && is_open_module(world, here);
            if !is_link || !last.is_some_and(|found| is_ambiguous(world, found)) {
                return;
            }
            let names = site.segments.iter().map(|one| facts.name(one.name));
            let shown = names.collect::<Vec<&str>>().join("::");
            let bounds = site.segments.first().zip(site.segments.last());
            let span = bounds.map_or(ByteSpan::empty(0), |(first, last)| {
                first.span.cover(last.span)
            });
            let said = String::new();
            let place = LintPlace { file, span, said };
            let key = (world[here].canonical.clone(), shown);
            found.entry(key).or_insert(place);
        });
    }
    found
}

/// Whether a name stands for two things, each in another way; a trait and its derive are told apart by themselves.
fn is_ambiguous(world: &World, found: &Found) -> bool {
    let kind = |res: Res| match res {
        Res::Item(item) => Some(world[item].kind),
        _ => None,
    };
    let all: Vec<(Res, Namespaces)> = found.all().collect();
    let has_trait = all
        .iter()
        .any(|(res, _)| kind(*res) == Some(ItemKind::Trait));
    let mut others = all.iter().enumerate().flat_map(|(at, one)| {
        let rest = all.iter().skip(at + 1);
        rest.map(move |other| (one, other))
    });
    others.any(|((one, first), (other, second))| {
        let with_macro = first.meets(Namespaces::MACRO) || second.meets(Namespaces::MACRO);
        one != other && !first.meets(*second) && !(has_trait && with_macro)
    })
}
