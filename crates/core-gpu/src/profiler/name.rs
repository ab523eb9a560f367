//! Names of spans as small numbers, so that a span is recorded without a look at its text.
//!
//! A name that stands in the program is found by its address in a table of the thread; the text is
//! looked up when the thread sees the address for the first time.

use std::{
    cell::Cell,
    collections::HashMap,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

/// Different names that are told apart; more share the first number.
pub const MOST_NAMES: usize = 4096;
/// What further names are called.
const OTHER: &str = "(other names)";
/// Places of a thread's table; a power of two.
const PLACES: usize = 64;

/// A span's name, interned. For names that are made while the program runs; those that stand in the
/// program need not be interned by hand. Names are never forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanName(u32);

impl SpanName {
    pub(super) const NONE: Self = Self(0);

    /// The name of that text. Takes a lock: keep the result.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(names().intern(text))
    }

    /// Its text. Takes a lock.
    #[must_use]
    pub fn text(self) -> String {
        let names = names();
        let text = names.texts.get(self.index());
        text.map_or_else(|| OTHER.to_owned(), Clone::clone)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn number(self) -> u32 {
        self.0
    }

    pub(super) fn from_number(number: u32) -> Self {
        Self(number)
    }
}

struct Names {
    by_text: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Names {
    fn intern(&mut self, text: &str) -> u32 {
        if let Some(number) = self.by_text.get(text) {
            return *number;
        }
        if self.texts.len() >= MOST_NAMES {
            return 0;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(0);
        self.by_text.insert(text.to_owned(), number);
        self.texts.push(text.to_owned());
        number
    }
}

fn names() -> MutexGuard<'static, Names> {
    static NAMES: OnceLock<Mutex<Names>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let mut names = Names {
            by_text: HashMap::new(),
            texts: Vec::new(),
        };
        names.intern(OTHER);
        Mutex::new(names)
    });
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Numbers of names that a thread has met, by the address and length of their text. A program's
/// texts stay where they are, so an address stands for one text.
pub struct Met([Cell<(usize, usize, u32)>; PLACES]);

impl Met {
    pub const fn new() -> Self {
        Self([const { Cell::new((0, 0, 0)) }; PLACES])
    }

    #[inline]
    pub fn name(&self, text: &'static str) -> SpanName {
        let (address, length) = (text.as_ptr().addr(), text.len());
        // Texts of a program lie side by side: their lengths spread them as well as anything.
        let place = (address ^ (address >> 6)) & (PLACES - 1);
        // The mask is the table's length, so that there is no check of the bound.
        let cell = &self.0[place];
        let (known_address, known_length, number) = cell.get();
        if known_address == address && known_length == length {
            return SpanName(number);
        }
        Self::meet(cell, text)
    }

    #[cold]
    fn meet(cell: &Cell<(usize, usize, u32)>, text: &'static str) -> SpanName {
        let name = SpanName::of(text);
        cell.set((text.as_ptr().addr(), text.len(), name.0));
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number_wherever_it_stands() {
        let met = Met::new();
        let here = met.name("a text");
        assert_eq!(here, met.name("a text"));
        assert_eq!(here, SpanName::of(&String::from("a text")));
        assert_ne!(here, met.name("another"));
        assert_eq!(here.text(), "a text");
    }

    #[test]
    fn a_part_of_a_text_is_another_name() {
        let met = Met::new();
        let whole: &'static str = "whole and part";
        let part = &whole[..5];
        assert_ne!(met.name(whole), met.name(part));
        assert_eq!(met.name(part).text(), "whole");
    }
}
