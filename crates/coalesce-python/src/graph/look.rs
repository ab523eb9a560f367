//! One look for a name across modules: how far it went, and what it has found on the way. Star
//! imports lead to other star imports, and files of types back to the modules that they describe: without
//! a memory, two files of each other's stars take as long as there are ways through them.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::Entity;

/// Looks that went no further than this remember nothing: most names are found there.
pub(super) const REMEMBERED: usize = 2;

/// What modules have under names, as far as a look has found it; `None` while it is being found.
pub(super) type Known = RefCell<FxHashMap<(usize, Box<str>), Option<Entity>>>;

/// Where a look is.
#[derive(Clone, Copy)]
pub(super) struct Look<'k> {
    /// Imports, star imports and files of types that it has followed.
    pub depth: usize,
    known: &'k Known,
}

impl<'k> Look<'k> {
    pub fn new(known: &'k Known) -> Self {
        Self { depth: 0, known }
    }

    /// One step further.
    pub fn further(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }

    /// What was found before under a name of a module. A way that leads back to where it came from says
    /// nothing.
    pub fn begin(self, module: usize, name: &str) -> Option<Entity> {
        let mut known = self.known.borrow_mut();
        let key = (module, Box::from(name));
        match known.get(&key) {
            Some(found) => Some(found.clone().unwrap_or(Entity::Opaque)),
            None => {
                known.insert(key, None);
                None
            }
        }
    }

    /// Remembers what was found.
    pub fn end(self, module: usize, name: &str, found: &Entity) {
        let key = (module, Box::from(name));
        self.known.borrow_mut().insert(key, Some(found.clone()));
    }
}
