//! What is known of methods in a whole tree: who has one by its name, and what macros call.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::world::{ItemId, ModuleId};

/// Who has a method by its name.
#[derive(Debug, Default)]
pub(crate) struct MethodHomes {
    /// Functions that types of the tree have by themselves, or may have by what macros write.
    pub inherent: FxHashSet<String>,
    /// Traits of the tree by the names of their functions.
    pub traits: FxHashMap<String, Vec<ItemId>>,
    /// Names of traits that objects are of, with those of the traits above them.
    pub shown: FxHashSet<String>,
    /// Traits of the tree with an `impl` for what is no type of it: a type parameter, an alias, a text.
    pub open: FxHashSet<ItemId>,
    /// Those of them with functions that a module has in scope, by any name.
    pub in_scope: FxHashSet<(ItemId, ModuleId)>,
}

/// The methods that macros of the tree call, by the names of the macros.
#[derive(Debug, Default)]
pub(crate) struct MacroMethods {
    pub by_name: FxHashMap<String, SaidByMacro>,
    /// What macros say that another macro makes, by a name that it is given.
    pub unnamed: Option<SaidByMacro>,
}

/// What the bodies of all macros of a name say.
#[derive(Debug, Default)]
pub(crate) struct SaidByMacro {
    pub methods: BTreeSet<String>,
    /// Those of them that only some arms or definitions call, or that an import of the body may give.
    pub doubtful: BTreeSet<String>,
    /// How many definitions and arms have been read.
    pub read: usize,
    /// The macros that they call by name.
    pub calls: BTreeSet<String>,
    /// Whether they call a macro whose name they are given.
    pub calls_given: bool,
    /// Whether they call methods whose names they are given.
    pub takes_names: bool,
    /// The names of methods that they put together.
    pub pasted: BTreeSet<PastedName>,
    /// What they give to the macros that they call.
    pub words: BTreeSet<String>,
}

impl SaidByMacro {
    /// Notes what another definition says.
    pub fn extend(&mut self, other: Self) {
        if self.read > 0 {
            let apart = self.methods.symmetric_difference(&other.methods);
            let apart: Vec<String> = apart.cloned().collect();
            self.doubtful.extend(apart);
        }
        self.read += other.read.max(1);
        self.doubtful.extend(other.doubtful);
        self.methods.extend(other.methods);
        self.calls.extend(other.calls);
        self.calls_given |= other.calls_given;
        self.takes_names |= other.takes_names;
        self.pasted.extend(other.pasted);
        self.words.extend(other.words);
    }
}

/// A name that a macro puts together: how it begins and how it ends, whatever stands between.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PastedName {
    pub start: String,
    pub end: String,
}

impl PastedName {
    /// Whether it may be a name.
    pub fn may_be(&self, name: &str) -> bool {
        name.len() >= self.start.len() + self.end.len()
            && name.starts_with(&self.start)
            && name.ends_with(&self.end)
    }
}
