//! The methods that a text calls, each with what is known of what it is called on.

use std::collections::{BTreeMap, BTreeSet};

use crate::resolve::{ItemId, ModuleId};

/// What a method is called on that does not have it by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CalledOn {
    /// A type of the tree, which has no method of that name, in code of a module.
    Type(ItemId, ModuleId),
    /// A number, in code of a module.
    Number(ModuleId),
    /// A type of another library, or a parameter whose bounds are known and do not give the method, in code of
    /// a module.
    Other(ModuleId),
    /// Nobody can follow it, in code of a module, where this is known.
    Unknown(Option<ModuleId>),
    /// Nobody can follow it, and bounds that hold there may give it the method.
    Bounded,
    /// Text, as the standard library has it, in code of a module.
    Text(ModuleId),
    /// What takes bytes, as the standard library has it, in code of a module.
    Bytes(ModuleId),
    /// A macro may call it, or not.
    Doubtful,
}

/// Names of methods, with all that they are called on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Called(BTreeMap<String, BTreeSet<CalledOn>>);

impl Called {
    /// Methods of whose receivers nothing is known.
    pub fn on_unknown(names: impl IntoIterator<Item = String>) -> Self {
        let mut found = Self::default();
        found.extend_unknown(names, None);
        found
    }

    /// Notes one more call.
    pub fn add(&mut self, name: String, on: CalledOn) {
        self.0.entry(name).or_default().insert(on);
    }

    /// Notes calls in code of a module, of whose receivers nothing is known.
    pub fn extend_unknown(
        &mut self,
        names: impl IntoIterator<Item = String>,
        home: Option<ModuleId>,
    ) {
        for name in names {
            self.add(name, CalledOn::Unknown(home));
        }
    }

    /// Notes all that another list has.
    pub fn extend(&mut self, other: Self) {
        for (name, receivers) in other.0 {
            self.0.entry(name).or_default().extend(receivers);
        }
    }

    /// Keeps the methods of some names.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| keep(name));
    }

    /// Whether nothing is called.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a method of that name is called.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// What a method is called on.
    pub fn on(&self, name: &str) -> impl Iterator<Item = CalledOn> {
        self.0.get(name).into_iter().flatten().copied()
    }
}
