//! Names that a star import comes to bring, where the file means something else by them.

use coalesce_model::{LanguagePlan, Texts, finding::codes};

use super::{is_exported, reads_unbound, stars_by_base};
use crate::{
    analysis::Analysis,
    graph::Entity,
    rewrite::{
        items::{Moved, builtins::is_builtin, refusal},
        mapping::Mapping,
    },
};

/// What arrives in a module that a file imports with a star.
pub(super) fn check(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    (user, base): (usize, usize),
    plan: &mut LanguagePlan,
) {
    let items = mapping.items.list.iter();
    for moved in items.filter(|moved| moved.target == Some(base) && moved.source != user) {
        gains(mapping, texts, user, moved, plan);
    }
}

fn gains(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    user: usize,
    moved: &Moved,
    plan: &mut LanguagePlan,
) {
    let (graph, name) = (mapping.graph, moved.name.as_str());
    let listed = moved
        .target
        .and_then(|target| graph.facts.get(target)?.all.as_ref());
    if name.starts_with('_')
        || !moved.travels()
        || (listed.is_some() && !is_exported(mapping, moved.source, &moved.item))
    {
        return;
    }
    let other = match graph.member(user, name) {
        Entity::Item(module, item) => mapping.items.index(module, &item).is_none(),
        Entity::Module(_) | Entity::External => true,
        Entity::Missing | Entity::Opaque => false,
    };
    let concerned = match other {
        true => Some(user),
        false if is_builtin(name) => reading_unbound(mapping, texts, user, name),
        false => None,
    };
    let Some(module) = concerned.and_then(|module| graph.modules.get(module)) else {
        return;
    };
    let (own, parent) = (&module.name, &moved.parent);
    let message = match other {
        true => format!(
            "`{own}` has a `{name}` of its own, which the star import of `{parent}` would hide or bring along"
        ),
        false => format!(
            "`{own}` uses the built-in `{name}`, which the star import of `{parent}` would hide"
        ),
    };
    let refused = refusal(&module.path, None, message, None);
    plan.refusals.push(refused.coded(codes::NAME_TAKEN));
}

/// The module that uses a name which nothing in it binds: one itself, or one that has it from there by star imports.
fn reading_unbound(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    user: usize,
    name: &str,
) -> Option<usize> {
    let graph = mapping.graph;
    let mut open = vec![user];
    let mut seen: Vec<usize> = Vec::new();
    while let Some(module) = open.pop() {
        if seen.contains(&module) {
            continue;
        }
        seen.push(module);
        let path = graph.modules.get(module).map(|module| &module.path);
        let text = path.and_then(|path| texts.text(path));
        if text.is_some_and(|text| reads_unbound(&Analysis::new(&text), name)) {
            return Some(module);
        }
        if is_exported(mapping, module, name) {
            let facts = graph.facts.iter().enumerate();
            let further = facts.filter(|(other, facts)| {
                let stars = stars_by_base(mapping, *other, facts);
                stars.into_iter().any(|(base, _)| base == module)
            });
            open.extend(further.map(|(other, _)| other));
        }
    }
    None
}
