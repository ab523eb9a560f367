//! What a module that gives way to another one does when it is imported, and the other does not do.

use coalesce_model::{Change, ChangeKind, Subject, Unproven, UnprovenKind, change::Renames};

use super::Effects;
use crate::{facts::Effect, graph::PythonGraph};

/// The first such thing of each module that is replaced.
pub(super) fn lost(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    effects: &Effects<'_>,
) -> Vec<Unproven> {
    let replaces = |change: &&Change| {
        change.subject == Subject::Module && matches!(change.kind, ChangeKind::Replace { .. })
    };
    let replaced = Renames::new(changes.iter().filter(replaces), ".");
    let renames = Renames::new(changes, ".");
    let mut unproven = Vec::new();
    for (index, module) in before.modules.iter().enumerate() {
        if replaced.nearest(&module.name).is_none() {
            continue;
        }
        let Some(new) = renames.renamed(&module.name) else {
            continue;
        };
        let now = after.find(None, &new);
        let Some(now) = now.and_then(|now| after.facts.get(now)) else {
            continue;
        };
        let item_after = |item: &str| {
            let full = renames.renamed(&format!("{}.{item}", module.name));
            full.and_then(|full| Some(full.rsplit_once('.')?.1.to_owned()))
        };
        let stood = before.find(None, &new);
        let is_kept = |effect: &Effect| {
            let item = effect.item.as_deref().and_then(item_after);
            let same = |other: &Effect| {
                other.chain.last() == effect.chain.last()
                    && (other.item == item || other.item == effect.item)
            };
            // Of one that arrives in the same manifest the words alone are known.
            now.effects.iter().any(same)
                && stood.is_none_or(|stood| {
                    effects.is_repeated((index, effect), (stood, item.as_deref()))
                        || effects.is_repeated((index, effect), (stood, effect.item.as_deref()))
                })
        };
        let effect = first(index, before, effects, &is_kept);
        unproven.extend(effect.map(|effect| Unproven {
            path: module.path.clone(),
            span: Some(effect.span),
            kind: UnprovenKind::NotExecuted,
            name: module.name.clone(),
            why: told(effect, &new),
        }));
    }
    unproven.extend(items(before, changes, effects));
    unproven
}

/// Items that give way to others and register themselves: who looks for them where they are kept finds the other one, if
/// that one says the same, and nothing otherwise.
fn items(before: &PythonGraph, changes: &[Change], effects: &Effects<'_>) -> Vec<Unproven> {
    let replaces = |change: &&Change| {
        change.subject == Subject::Item && matches!(change.kind, ChangeKind::Replace { .. })
    };
    let replaced = changes.iter().filter(replaces);
    let lost = replaced.filter_map(|change| {
        let (module, item) = change.from.rsplit_once('.')?;
        let home = before.find(None, module)?;
        let (_, span) = effects.of_item(home, item)?;
        let mut own = before.facts.get(home)?.effects.iter();
        let decorator = own.find(|effect| effect.item.as_deref() == Some(item));
        let (target, other) = change.to.rsplit_once('.')?;
        let is_kept = decorator
            .zip(before.find(None, target))
            .is_some_and(|(effect, target)| {
                effects.is_repeated((home, effect), (target, Some(other)))
            });
        let path = before.modules.get(home)?.path.clone();
        (!is_kept).then(|| Unproven {
            path,
            span,
            kind: UnprovenKind::NotExecuted,
            name: change.from.clone(),
            why: format!(
                "it registers itself, and `{}` does not in the same words",
                change.to
            ),
        })
    });
    lost.collect()
}

/// The first effect of a module that is not kept, and does something to others.
fn first<'g>(
    module: usize,
    graph: &'g PythonGraph,
    effects: &Effects<'_>,
    is_kept: &dyn Fn(&Effect) -> bool,
) -> Option<&'g Effect> {
    let mut own = graph.facts.get(module)?.effects.iter();
    own.find(|effect| {
        let item = effect.item.as_deref();
        item.is_none_or(|item| effects.of_item(module, item).is_some()) && !is_kept(effect)
    })
}

fn told(effect: &Effect, new: &str) -> String {
    let what = match effect.chain.as_slice() {
        [] => "it calls something".to_owned(),
        chain => format!("it has `{}`", chain.join(".")),
    };
    format!("{what}, which is executed when it is imported; `{new}` does not do the same")
}
