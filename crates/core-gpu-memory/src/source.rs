//! Who asks for memory: names, interned once, so that accounting is an index and never a lookup.
//!
//! Names are never forgotten; a program has as many as it writes into its code, not one for each
//! allocation.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, OnceLock, PoisonError},
};

/// Who an allocation is for. Copying is free; two sources are equal if their names are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(u16);

#[derive(Default)]
struct Names {
    by_name: HashMap<String, u16>,
    names: Vec<String>,
}

fn names() -> &'static Mutex<Names> {
    static NAMES: OnceLock<Mutex<Names>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names = Names::default();
        names.intern(Source::UNNAMED_NAME);
        Mutex::new(names)
    })
}

impl Names {
    fn intern(&mut self, name: &str) -> u16 {
        if let Some(index) = self.by_name.get(name) {
            return *index;
        }
        let index = u16::try_from(self.names.len()).unwrap_or(Source::LAST);
        if index >= Source::LAST {
            // The table is full: that many names are no names.
            return 0;
        }
        self.by_name.insert(name.to_owned(), index);
        self.names.push(name.to_owned());
        index
    }
}

impl Source {
    const UNNAMED_NAME: &'static str = "unnamed";
    /// Sources have 15 bits in a block's state word.
    const LAST: u16 = (1 << 15) - 1;

    /// For requests that nobody put a name to. Also what a name becomes after 32,767 others.
    pub const UNNAMED: Source = Source(0);

    /// The source of that name, made if it is new. Takes a lock: keep the result.
    #[must_use]
    pub fn named(name: &str) -> Source {
        let mut names = names().lock().unwrap_or_else(PoisonError::into_inner);
        Source(names.intern(name))
    }

    /// The name that it was made with. Takes a lock.
    #[must_use]
    pub fn name(self) -> String {
        let names = names().lock().unwrap_or_else(PoisonError::into_inner);
        let name = names.names.get(self.index());
        name.cloned()
            .unwrap_or_else(|| Source::UNNAMED_NAME.to_owned())
    }

    /// Small and dense, for tables.
    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    pub(crate) fn from_index(index: usize) -> Source {
        Source(u16::try_from(index).unwrap_or(0))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Source({:?})", self.name())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_equal_sources() {
        let one = Source::named("optimiser state");
        assert_eq!(one, Source::named("optimiser state"));
        assert_ne!(one, Source::named("activations"));
        assert_eq!(one.name(), "optimiser state");
        assert_eq!(Source::named("unnamed"), Source::UNNAMED);
    }
}
