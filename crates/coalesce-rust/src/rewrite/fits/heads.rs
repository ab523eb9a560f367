//! What a type or a trait takes and asks for, as text of which the names are what they lead to, so that two heads that
//! are spelled in two modules can be held against each other.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::ByteSpan;
use syn::spanned::Spanned as _;

use super::names::{FileNames, Names};
use crate::{
    lexer,
    resolve::{ItemId, ModuleId, Res},
};

/// A definition whose parts are read.
pub(super) struct Home<'h, 'n> {
    pub names: &'h Names<'n>,
    /// Items that give way, each with the one in its place.
    pub pairs: &'h BTreeMap<ItemId, ItemId>,
    pub file: &'h FileNames,
    pub module: ModuleId,
    /// What `Self` is.
    pub own: Option<ItemId>,
    /// Where its text starts in the file.
    pub start: u32,
}

/// What a definition takes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Takes {
    pub lifetimes: usize,
    /// What each type or constant is: a constant is of a type.
    pub kinds: Vec<Option<String>>,
    pub bounds: BTreeSet<String>,
    /// The defaults, by places.
    pub defaults: Vec<Option<String>>,
}

impl Home<'_, '_> {
    /// A part of the definition, by what its names lead to; `parameters` are told by their places.
    pub fn meant(&self, span: proc_macro2::Span, parameters: &[String]) -> String {
        let range = span.byte_range();
        let from = self.start as usize;
        let text = &self.file.text;
        let tokens = lexer::tokens(
            text,
            ByteSpan::from_range(from + range.start..from + range.end),
        );
        let word = |at: usize| tokens.get(at).and_then(|one| one.span.of(text));
        let mut found: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let leads_on = word(at + 1) == Some(":") && word(at + 2) == Some(":");
            if token.is_ident() && leads_on {
                at += 3;
                continue;
            }
            found.push(self.word(token.span, parameters));
            at += 1;
        }
        found.join(" ")
    }

    fn word(&self, span: ByteSpan, parameters: &[String]) -> String {
        let said = span.of(&self.file.text).unwrap_or_default();
        if let Some(at) = parameters.iter().position(|known| known == said) {
            return format!("#{at}");
        }
        if let Some(own) = self.own.filter(|_| said == "Self") {
            return self.name_after(own);
        }
        let led = self.names.leads_to(self.file, self.module, span);
        let mut items = led.into_iter().filter_map(|res| match res {
            Res::Item(item) => Some(item),
            _ => None,
        });
        match (items.next(), items.next()) {
            (Some(item), None) => self.name_after(item),
            _ => said.to_owned(),
        }
    }

    fn name_after(&self, item: ItemId) -> String {
        let after = self.pairs.get(&item).copied().unwrap_or(item);
        self.names.name_of(Res::Item(after))
    }

    /// What a definition takes.
    pub fn takes(&self, generics: &syn::Generics, around: &[String]) -> Takes {
        let mut parameters = around.to_vec();
        parameters.extend(super::signature::parameters(generics));
        let mut made = Takes {
            lifetimes: generics.lifetimes().count(),
            ..Takes::default()
        };
        for parameter in &generics.params {
            self.parameter(parameter, &parameters, &mut made);
        }
        self.clause(generics, &parameters, &mut made);
        made
    }

    fn parameter(&self, parameter: &syn::GenericParam, parameters: &[String], made: &mut Takes) {
        match parameter {
            syn::GenericParam::Lifetime(_) => {}
            syn::GenericParam::Type(one) => {
                let name = self.meant(one.ident.span(), parameters);
                let bounds = one.bounds.iter();
                let bounds = bounds.map(|bound| self.bound(&name, bound, parameters));
                made.bounds.extend(bounds);
                made.kinds.push(None);
                let default = one.default.as_ref();
                let default = default.map(|(_, kind)| self.meant(kind.span(), parameters));
                made.defaults.push(default);
            }
            syn::GenericParam::Const(one) => {
                made.kinds.push(Some(self.meant(one.ty.span(), parameters)));
                let default = one.default.as_ref();
                let default = default.map(|(_, value)| self.meant(value.span(), parameters));
                made.defaults.push(default.map(without_braces));
            }
        }
    }

    /// What is asked for behind `where`.
    fn clause(&self, generics: &syn::Generics, parameters: &[String], made: &mut Takes) {
        let clause = generics.where_clause.iter();
        for predicate in clause.flat_map(|clause| &clause.predicates) {
            match predicate {
                syn::WherePredicate::Type(typed) => {
                    let name = self.meant(typed.bounded_ty.span(), parameters);
                    let bounds = typed.bounds.iter();
                    let bounds = bounds.map(|bound| self.bound(&name, bound, parameters));
                    made.bounds.extend(bounds);
                }
                other => _ = made.bounds.insert(self.meant(other.span(), parameters)),
            }
        }
    }

    fn bound(&self, name: &str, bound: &syn::TypeParamBound, parameters: &[String]) -> String {
        format!("{name}: {}", self.meant(bound.span(), parameters))
    }
}

/// A value without braces around one expression: `{ 4 }` is `4`.
fn without_braces(value: String) -> String {
    let inner = value
        .strip_prefix("{ ")
        .and_then(|rest| rest.strip_suffix(" }"));
    let inner = inner.filter(|inner| !inner.contains(['{', '}', ';']));
    inner.map(str::to_owned).unwrap_or(value)
}

impl Takes {
    /// What of another head users of this one may not fit, in words.
    pub fn apart(&self, new: &Self) -> Option<String> {
        if self.lifetimes != new.lifetimes {
            return Some(format!(
                "it takes {} lifetimes, and not {}",
                new.lifetimes, self.lifetimes
            ));
        }
        let besides = new.defaults.get(self.kinds.len()..);
        let needs_more = besides.is_none_or(|more| more.iter().any(Option::is_none));
        if !new.kinds.starts_with(&self.kinds) || needs_more {
            return Some("it takes other types or constants".to_owned());
        }
        let more = new.bounds.difference(&self.bounds).next();
        more.map(|bound| format!("it asks for `{bound}`"))
    }
}
