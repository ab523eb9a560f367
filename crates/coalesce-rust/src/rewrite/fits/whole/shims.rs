//! What stays at an old name, held against what it hands on to.

use super::{Fitting, Reliance, Whole};
use crate::{
    facts::ItemKind,
    rewrite::{items::moving::is_bound_public, public::is_way_for_others},
};

impl Fitting<'_, '_> {
    /// Functions and constants whose old name stays: it hands on what it is given, and is a user of what takes their
    /// place like any other.
    pub(super) fn shims(&self, whole: &mut Whole) {
        let world = self.mapping.world;
        for old in &self.found.shimmed {
            let node = &world[*old];
            let hands_on = matches!(node.kind, ItemKind::Function | ItemKind::Const);
            let known = || {
                is_way_for_others(self.mapping, node.module)
                    && is_bound_public(world, node.module, *old)
            };
            let place = self.names.definition(*old).filter(|_| hands_on && known());
            if let (Some((file, fact)), Some(new)) = (place, self.found.all.get(old)) {
                let reliance = Reliance {
                    path: &world[file].path,
                    span: fact.name.span,
                    name: None,
                    pair: (*old, *new),
                    // What it is given, it hands on.
                    is_consumed: true,
                };
                let mut found = Whole::default();
                self.judge(&reliance, &mut found);
                whole.add_new(found);
            }
        }
    }
}

impl Whole {
    /// Adds what is not told of another place already: of a user of the same names.
    fn add_new(&mut self, found: Self) {
        let is_told = |message: &str| self.refusals.iter().any(|told| told.message == message);
        let refusals = found.refusals.into_iter();
        let refusals: Vec<_> = refusals.filter(|one| !is_told(&one.message)).collect();
        let is_listed = |why: &str| self.unproven.iter().any(|listed| listed.why == why);
        let unproven = found.unproven.into_iter();
        let unproven: Vec<_> = unproven.filter(|one| !is_listed(&one.why)).collect();
        self.refusals.extend(refusals);
        self.unproven.extend(unproven);
    }
}
