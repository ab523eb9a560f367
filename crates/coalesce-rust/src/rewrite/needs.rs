//! What code asks for where it stands after the changes: to see a module or an item, or that its package
//! depends on another one.

use std::collections::{BTreeMap, BTreeSet};

use super::place::Place;
use crate::resolve::{CrateId, ItemId, ModuleId, Sym};

/// What has to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NeededThing {
    /// The declaration of a module.
    Module(ModuleId),
    /// The definition of an item.
    Item(ItemId),
    /// A library of the tree, which the user's package has to depend on.
    Crate(CrateId, Purpose),
    /// A library from elsewhere, by the name that this crate has for it.
    External(Sym, CrateId, Purpose),
}

/// What a package needs another one for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    /// Its code.
    Code,
    /// The code in its documents, which is run as tests.
    Documents,
}

/// That something has to be seen from a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Need {
    pub subject: NeededThing,
    /// The module after the changes that names it.
    pub by: Place,
    /// What there asks for it, for people.
    pub because: Option<Because>,
}

impl Need {
    pub fn new(subject: NeededThing, by: Place) -> Self {
        let because = None;
        Self {
            subject,
            by,
            because,
        }
    }

    /// The same with what asks for it.
    pub fn because(self, because: Because) -> Self {
        let because = Some(because);
        Self { because, ..self }
    }
}

/// What a module needs a library for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Because {
    /// It names this there.
    Names(String),
    /// It keeps a shim of this.
    Shim(String),
}

/// All needs, by what has to be seen.
#[derive(Debug, Default)]
pub(super) struct Needs {
    pub by_subject: BTreeMap<NeededThing, BTreeSet<Place>>,
    because: BTreeMap<(CrateId, Place), BTreeSet<Because>>,
}

/// How far a thing has to be seen.
pub(super) enum Width {
    Public,
    Within(Place),
}

impl Needs {
    pub fn extend(&mut self, needs: Vec<Need>) {
        for need in needs {
            if let (NeededThing::Crate(of, _), Some(because)) = (need.subject, need.because) {
                let known = self.because.entry((of, need.by.clone())).or_default();
                known.insert(because);
            }
            let places = self.by_subject.entry(need.subject).or_default();
            places.insert(need.by);
        }
    }

    /// What packages have to depend on, and the modules that need it.
    pub fn dependencies(&self) -> impl Iterator<Item = (NeededThing, &BTreeSet<Place>)> {
        let all = self
            .by_subject
            .iter()
            .map(|(subject, users)| (*subject, users));
        all.filter(|(subject, _)| {
            matches!(subject, NeededThing::Crate(..) | NeededThing::External(..))
        })
    }

    /// Why a module needs a library.
    pub fn because(&self, of: CrateId, by: &Place) -> impl Iterator<Item = &Because> {
        let found = self.because.get(&(of, by.clone()));
        found.into_iter().flatten()
    }

    /// The least that all users of a subject defined at `home` need.
    pub fn width(&self, subject: NeededThing, home: &Place) -> Width {
        let mut reach = home.clone();
        for user in self.by_subject.get(&subject).into_iter().flatten() {
            match reach.common(user) {
                Some(common) => reach = common,
                None => return Width::Public,
            }
        }
        Width::Within(reach)
    }
}
