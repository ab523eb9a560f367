//! Guarded imports that fail where a module raises by itself, and would not any more: the item is in another module.

use coalesce_model::{Change, LanguagePlan, Subject, Texts, Unproven, UnprovenKind};

use super::{Raises, raises_in};
use crate::{
    graph::Entity,
    parser::{parse_module, statements},
    rewrite::mapping::Mapping,
};

/// Tells the guarded imports of an item that leaves a module which may raise when it is imported.
pub fn check(mapping: &Mapping<'_>, change: &Change, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let Some((source, item)) = left(mapping, change) else {
        return;
    };
    let module = mapping.graph.modules.get(source);
    let text = module.and_then(|module| texts.text(&module.path));
    let text = text.filter(|text| text.contains("raise"));
    let Some((module, text)) = module.zip(text) else {
        return;
    };
    let (parsed, start) = parse_module(&text);
    let Some(Raises::Always(_) | Raises::Perhaps(_)) = raises_in(statements(&parsed), start) else {
        return;
    };
    let entity = Entity::Item(source, item.to_owned());
    let why = format!(
        "this import fails where `{}` raises, and its failure is caught; it would succeed there",
        module.name
    );
    for (user, facts) in mapping.graph.facts.iter().enumerate() {
        let leaves = facts.import_leaves();
        let guarded = leaves.filter(|(import, leaf)| {
            import.guard.hides_failure() && mapping.graph.leaf_entity(user, import, leaf) == entity
        });
        let path = mapping.graph.modules.get(user).map(|user| &user.path);
        let told = guarded.zip(std::iter::repeat(path));
        plan.unproven.extend(told.filter_map(|((_, leaf), path)| {
            Some(Unproven {
                path: path?.clone(),
                span: Some(leaf.name.span),
                kind: UnprovenKind::GuardedImport,
                name: change.from.clone(),
                why: why.clone(),
            })
        }));
    }
}

/// The module that an item leaves for one which does not import it, and the item.
fn left<'c>(mapping: &Mapping<'_>, change: &'c Change) -> Option<(usize, &'c str)> {
    let (from, item) = change.from.rsplit_once('.')?;
    let (to, _) = change.to.rsplit_once('.')?;
    let source = mapping.graph.find(None, from)?;
    let target = mapping.graph.find(None, to);
    let stays = change.subject != Subject::Item
        || change.shim.is_some()
        || mapping.goes_away(source)
        || mapping.name_after(source) == to
        || target.is_some_and(|target| mapping.loads(target, source));
    (!stays).then_some((source, item))
}
