//! Links of documentation that come to say a target which their text leads to by itself: an import arrives, or what
//! they lead to does, and rustdoc warns of each.

use coalesce_model::{ByteSpan, Unproven};

use super::{LintPlace, LintPlaces, Tree, is_open_module, linted_anew};
use crate::{
    facts::{ItemKind, Origin, SourceFacts},
    resolve::{FileId, ModuleId, Res, Site, SourceFile, World},
};

/// Such links that the tree before has not.
pub(crate) fn redundant_links(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let now = links(after);
    let then = || links(before);
    linted_anew(
        after,
        (&now, &then),
        ("rustdoc::redundant_explicit_links", &|name, _| {
            format!("`{name}` leads there by itself now, and rustdoc warns of the target behind it")
        }),
    )
}

/// The links with a target that their text leads to, by the modules that have them and their texts.
fn links(tree: Tree<'_>) -> LintPlaces {
    let sources = tree.world.sources();
    let texts = sources.filter_map(|(file, source)| {
        let text = tree.texts.text(&source.path)?;
        text.contains("](")
            .then(|| links_of(tree.world, (file, source), &text))
    });
    let mut found = LintPlaces::new();
    for (key, place) in texts.flatten() {
        found.entry(key).or_insert(place);
    }
    found
}

/// Those of one file, in order.
fn links_of(
    world: &World,
    (file, source): (FileId, &SourceFile),
    text: &str,
) -> Vec<((String, String), LintPlace)> {
    let mut found = Vec::new();
    world.visit_file(source, &mut |facts, site| {
        let link = (site.origin == Origin::DocLink).then(|| shown(facts, &site, text));
        let Some((shown, span)) = link.flatten() else {
            return;
        };
        let here = world.module_of(site.space);
        if is_open_module(world, here) && leads_by_itself(world, here, shown, &site) {
            let key = (world[here].canonical.clone(), shown.to_owned());
            let said = String::new();
            found.push((key, LintPlace { file, span, said }));
        }
    });
    found
}

/// Whether the name that a link shows leads where its target does.
fn leads_by_itself(world: &World, here: ModuleId, shown: &str, site: &Site<'_>) -> bool {
    let by_itself = world.bindings(here, shown);
    // A macro is in no module by its name.
    let is_macro = |res: Res| matches!(res, Res::Item(item) if world[item].kind == ItemKind::Macro);
    let target = site.trace.steps.last().into_iter();
    let mut target = target.flat_map(|step| step.all()).map(|(res, _)| res);
    target.any(|res| !is_macro(res) && by_itself.iter().any(|one| one.res == res))
}

/// The text of a link, where that is one name and its target stands behind it.
fn shown<'t>(facts: &SourceFacts, site: &Site<'_>, text: &'t str) -> Option<(&'t str, ByteSpan)> {
    let first = site.segments.first()?;
    let before = text.get(..first.span.start as usize)?;
    let before = before.strip_suffix('`').unwrap_or(before);
    let before = before.strip_suffix("](")?;
    let open = before.rfind('[')? + 1;
    let label = before.get(open..)?;
    let name = label.trim_matches('`');
    let name = name.strip_suffix("()").unwrap_or(name);
    let is_name = !name.is_empty() && name.chars().all(|one| one.is_alphanumeric() || one == '_');
    // One that is spelled so already is told by its old place.
    let is_short = site.segments.len() == 1 && facts.name(first.name) == name;
    let span = ByteSpan::from_range(open..open + label.len());
    (is_name && !is_short).then_some((name, span))
}
