//! What a module that gives way to another one does when it is imported, and the other does not do.

use coalesce_model::{
    Change, ChangeKind, Module, Subject, Unproven, UnprovenKind, change::Renames,
};

use super::Effects;
use crate::{
    facts::{Effect, PythonFacts},
    graph::PythonGraph,
};

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
    let replacements = Replacements {
        before,
        after,
        renames: Renames::new(changes, "."),
        effects,
    };
    let modules = before.modules.iter().enumerate();
    let modules = modules.filter(|(_, module)| replaced.nearest(&module.name).is_some());
    let lost = modules.filter_map(|(index, module)| replacements.lost(index, module));
    let mut unproven: Vec<Unproven> = lost.collect();
    unproven.extend(items(before, changes, effects));
    unproven
}

/// Modules that give way to others.
struct Replacements<'g> {
    before: &'g PythonGraph,
    after: &'g PythonGraph,
    renames: Renames<'g>,
    effects: &'g Effects<'g>,
}

impl Replacements<'_> {
    /// What a module does that the one does not that it gives way to.
    fn lost(&self, index: usize, module: &Module) -> Option<Unproven> {
        let new = self.renames.renamed(&module.name)?;
        let now = self.after.facts.get(self.after.find(None, &new)?)?;
        let stood = self.before.find(None, &new);
        let is_kept = |effect: &Effect| {
            let item = effect.item.as_deref();
            let item = item.and_then(|item| self.item_after(module, item));
            self.is_kept((index, effect), item.as_deref(), (stood, now))
        };
        let effect = first(index, self.before, self.effects, &is_kept)?;
        Some(Unproven {
            path: module.path.clone(),
            span: Some(effect.span),
            kind: UnprovenKind::NotExecuted,
            name: module.name.clone(),
            why: told(effect, &new),
        })
    }

    /// What an item of a module is called afterwards.
    fn item_after(&self, module: &Module, item: &str) -> Option<String> {
        let full = self.renames.renamed(&format!("{}.{item}", module.name))?;
        Some(full.rsplit_once('.')?.1.to_owned())
    }

    /// Whether the module that takes the place does the same for the item that `item` is afterwards.
    fn is_kept(
        &self,
        (index, effect): (usize, &Effect),
        item: Option<&str>,
        (stood, now): (Option<usize>, &PythonFacts),
    ) -> bool {
        let same = |other: &Effect| {
            let other_item = other.item.as_deref();
            other.chain.last() == effect.chain.last()
                && (other_item == item || other.item == effect.item)
        };
        let is_repeated = |stood: usize| {
            let repeats = |item| self.effects.is_repeated((index, effect), (stood, item));
            repeats(item) || repeats(effect.item.as_deref())
        };
        // Of one that arrives in the same manifest the words alone are known.
        now.effects.iter().any(same) && stood.is_none_or(is_repeated)
    }
}

/// Items that give way to others and register themselves: who looks for them where they are kept finds the other one, if
/// that one says the same, and nothing otherwise.
fn items(before: &PythonGraph, changes: &[Change], effects: &Effects<'_>) -> Vec<Unproven> {
    let replaces = |change: &&Change| {
        change.subject == Subject::Item && matches!(change.kind, ChangeKind::Replace { .. })
    };
    let replaced = changes.iter().filter(replaces);
    let lost = replaced.filter_map(|change| lost_item(before, change, effects));
    lost.collect()
}

fn lost_item(before: &PythonGraph, change: &Change, effects: &Effects<'_>) -> Option<Unproven> {
    let (module, item) = change.from.rsplit_once('.')?;
    let home = before.find(None, module)?;
    let (_, span) = effects.of_item(home, item)?;
    let mut own = before.facts.get(home)?.effects.iter();
    let decorator = own.find(|effect| effect.item.as_deref() == Some(item));
    let (target, other) = change.to.rsplit_once('.')?;
    let is_kept = decorator
        .zip(before.find(None, target))
        .is_some_and(|(effect, target)| effects.is_repeated((home, effect), (target, Some(other))));
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
