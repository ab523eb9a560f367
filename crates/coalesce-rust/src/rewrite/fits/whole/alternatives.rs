//! Functions that are defined under several conditions, held against what takes their place.

use coalesce_model::{Unproven, UnprovenKind};

use super::{Fitting, Reliance};
use crate::{facts::ItemKind, resolve::ItemId};

impl Fitting<'_, '_> {
    /// That a function is defined under several conditions, and is called another way under each.
    pub(super) fn unread_signature(&self, reliance: &Reliance<'_>) -> Option<Unproven> {
        let (old, new) = reliance.pair;
        let is_function = |item: ItemId| self.mapping.world[item].kind == ItemKind::Function;
        let is_unread = |item: ItemId| {
            let known = self.definitions.get(&item);
            self.mapping.world[item].definitions.len() > 1
                && known.is_none_or(|known| known.own.is_none())
        };
        let both = [old, new];
        let unread = both.into_iter().find(|item| is_unread(*item))?;
        let is_asked = both.into_iter().all(is_function) && old != new;
        is_asked.then(|| Unproven {
            path: reliance.path.clone(),
            span: Some(reliance.span),
            kind: UnprovenKind::UnknownType,
            name: self.name_of(old),
            why: format!(
                "`{}` is called another way under each of its conditions: whether this fits, the names do not tell",
                self.name_of(unread)
            ),
        })
    }
}
