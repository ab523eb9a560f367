//! Syntax trees of texts of the tree, as deep and as long as the facts of a file are read.

use std::{cell::Cell, marker::PhantomData};

use proc_macro2::Span;
use syn::{
    parse::{Parse, Parser as _},
    visit::Visit,
};

use crate::{facts, old_names};

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
    parse_any_edition(text, syn::parse_str)
}

/// Parses a text as the newest edition reads it, or as one that has some of its keywords for names.
pub(crate) fn parse_any_edition<T>(
    text: &str,
    parse: impl Fn(&str) -> syn::Result<T>,
) -> syn::Result<T> {
    parse(text).or_else(|error| {
        let older = old_names::renamed(text).and_then(|text| parse(&text).ok());
        older.ok_or(error)
    })
}

/// Parses a file, a byte-order mark and a `#!` line before it.
pub(crate) fn parse_file(text: &str) -> syn::Result<syn::File> {
    bounded(text)?;
    parse_any_edition(text, syn::parse_file)
}

/// Parses what stands in a block.
pub(crate) fn parse_statements(text: &str) -> syn::Result<Vec<syn::Stmt>> {
    bounded(text)?;
    parse_any_edition(text, |text| syn::Block::parse_within.parse_str(text))
}

/// The type arguments of a path.
pub(crate) fn arguments_of(arguments: &syn::PathArguments) -> Vec<&syn::Type> {
    let syn::PathArguments::AngleBracketed(list) = arguments else {
        return Vec::new();
    };
    let types = list.args.iter().filter_map(|one| match one {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// Visits what a variable is given, and what is done where its pattern does not fit; gives the former.
pub(crate) fn visit_given<'ast>(
    visitor: &mut impl Visit<'ast>,
    local: &'ast syn::Local,
) -> Option<&'ast syn::Expr> {
    let init = local.init.as_ref()?;
    visitor.visit_expr(&init.expr);
    if let Some((_, diverge)) = &init.diverge {
        visitor.visit_expr(diverge);
    }
    Some(&init.expr)
}

/// Reads functions with the variables that they see.
pub(crate) trait FunctionReader<'ast>: Visit<'ast> + Sized {
    /// Reads something that has names of its own, and forgets them.
    fn within(&mut self, read: impl FnOnce(&mut Self));

    /// Forgets all variables: a function sees none of the one around it, nor its `self`.
    fn forget_variables(&mut self);

    /// Takes type parameters in.
    fn generics(&mut self, generics: &syn::Generics);

    /// Takes a parameter in.
    fn input(&mut self, input: &syn::FnArg);

    /// Reads a function, or the head of one.
    fn function(&mut self, signature: &syn::Signature, block: Option<&'ast syn::Block>) {
        self.within(|reader| {
            reader.forget_variables();
            reader.generics(&signature.generics);
            for input in &signature.inputs {
                reader.input(input);
            }
            if let Some(block) = block {
                reader.visit_block(block);
            }
        });
    }
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
