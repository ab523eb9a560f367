//! Syntax trees of texts of the tree, as deep and as long as the facts of a file are read.

use proc_macro2::Span;
use syn::parse::Parse;

use crate::facts;

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
