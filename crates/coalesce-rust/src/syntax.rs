//! Syntax trees of texts of the tree, as deep and as long as the facts of a file are read.

use std::{cell::Cell, marker::PhantomData};

use proc_macro2::Span;
use syn::parse::Parse;

use crate::facts;

thread_local! {
    /// How many readers of this thread hold syntax trees.
    static READERS: Cell<u32> = const { Cell::new(0) };
}

/// Says that syntax trees are in use, for as long as it lives.
///
/// Every text that is parsed is remembered by its thread, for the places of its tokens. A reader that has done with its
/// trees lets go of that; but what one reader calls may read, too, and what it let go of would be the caller's as well:
/// places asked for later are a panic. So it is the outermost reader of a thread that lets go.
pub(crate) struct Trees(PhantomData<*const ()>);

impl Trees {
    /// Begins to read: before the first tree is made, so that it outlives all of them.
    pub(crate) fn begin() -> Self {
        READERS.set(READERS.get() + 1);
        Self(PhantomData)
    }
}

impl Drop for Trees {
    fn drop(&mut self) {
        READERS.set(READERS.get() - 1);
        if READERS.get() == 0 {
            proc_macro2::extra::invalidate_current_thread_spans();
        }
    }
}

/// Parses a part of a file; what the whole file would not be parsed for is an error here, too.
pub(crate) fn parse<T: Parse>(text: &str) -> syn::Result<T> {
    bounded(text)?;
    syn::parse_str(text)
}

/// Parses a file, a byte-order mark and a `#!` line before it.
pub(crate) fn parse_file(text: &str) -> syn::Result<syn::File> {
    bounded(text)?;
    syn::parse_file(text)
}

fn bounded(text: &str) -> syn::Result<()> {
    match facts::is_parsed(text) {
        true => Ok(()),
        false => Err(syn::Error::new(
            Span::call_site(),
            "too deep or too long to be parsed",
        )),
    }
}

#[cfg(test)]
mod tests {
    use syn::spanned::Spanned as _;

    use super::*;

    #[test]
    fn places_outlive_a_reader_that_another_one_calls() {
        let _trees = Trees::begin();
        let outer = parse_file("fn outer() {}\n").expect("it parses");
        {
            let _trees = Trees::begin();
            drop(parse_file("fn inner() {}\n"));
        }
        let place = outer.items.first().expect("a function").span();
        assert_eq!(place.byte_range(), 0..13);
    }
}
