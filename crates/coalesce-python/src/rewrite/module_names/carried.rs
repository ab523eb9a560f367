//! What changes take along, and what is worked out once for all who ask.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use coalesce_model::ByteSpan;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::Analysis;

/// A piece of code that a change takes to another module, and all of the file that it is in.
pub(in crate::rewrite) struct Carried {
    pub(in crate::rewrite) file: Arc<str>,
    pub(super) span: ByteSpan,
    /// Once somebody asks.
    analysis: OnceLock<Analysis>,
    /// What its classes are made of, once somebody asks.
    pub(super) above: OnceLock<Option<FxHashSet<String>>>,
}

impl Carried {
    pub(super) fn new(file: Arc<str>, span: ByteSpan) -> Self {
        Self {
            file,
            span,
            analysis: OnceLock::new(),
            above: OnceLock::new(),
        }
    }

    pub(in crate::rewrite) fn text(&self) -> &str {
        self.span.of(&self.file).unwrap_or_default()
    }

    /// That of the whole file.
    pub(super) fn analysis(&self) -> &Analysis {
        self.analysis.get_or_init(|| Analysis::new(&self.file))
    }
}

/// What is worked out by a name, each once.
pub(super) type ByName<T> = Mutex<FxHashMap<String, T>>;

/// What is known by a name, or is worked out now.
pub(super) fn known<T: Clone>(all: &ByName<T>, name: &str, find: impl FnOnce() -> T) -> T {
    let lock = || all.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = lock().get(name) {
        return found.clone();
    }
    let found = find();
    lock().insert(name.to_owned(), found.clone());
    found
}
