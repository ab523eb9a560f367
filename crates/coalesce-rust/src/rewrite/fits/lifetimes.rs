//! Which references of a signature have to live as long as which others.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

/// The lifetimes of a signature in order of their places, those that are left out filled in as the language does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lifetimes {
    /// Equal numbers are one lifetime.
    places: Vec<usize>,
    /// How many of the places are of parameters.
    given: usize,
    /// Bounds between lifetimes, which are not compared.
    is_bounded: bool,
}

/// `'static`.
const STATIC: usize = 0;

/// Numbers lifetimes as they come.
#[derive(Default)]
struct Numbering {
    named: BTreeMap<String, usize>,
    places: Vec<usize>,
    last: usize,
    /// What one that is left out is, in a result.
    left_out: Option<usize>,
}

impl Lifetimes {
    pub fn of(parsed: &syn::Signature) -> Self {
        let mut numbering = Numbering::default();
        let mut receiver = None;
        for input in &parsed.inputs {
            let before = numbering.places.len();
            numbering.visit_fn_arg(input);
            if matches!(input, syn::FnArg::Receiver(_)) {
                receiver = numbering.places.get(before).copied();
            }
        }
        let given = numbering.places.len();
        // A method's result lives as long as `&self`, a function's as long as the only reference it takes.
        let first = numbering.places.first().copied();
        let only = first.filter(|first| numbering.places.iter().all(|one| one == first));
        numbering.left_out = receiver.or(only);
        numbering.visit_return_type(&parsed.output);
        let mut parameters = parsed.generics.lifetimes();
        let clause = parsed.generics.where_clause.iter();
        let mut predicates = clause.flat_map(|clause| &clause.predicates);
        Self {
            given,
            is_bounded: parameters.any(|one| !one.bounds.is_empty())
                || predicates.any(|one| matches!(one, syn::WherePredicate::Lifetime(_))),
            places: numbering.places,
        }
    }

    /// Whether who calls a function with the other lifetimes can call one with these: nothing has to live as long
    /// as something else that did not have to before.
    pub fn allow(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        if self.is_bounded || self.places.len() != other.places.len() || self.given != other.given {
            return false;
        }
        let both: Vec<(usize, usize)> = self
            .places
            .iter()
            .copied()
            .zip(other.places.iter().copied())
            .collect();
        let is_static = both
            .iter()
            .take(self.given)
            .any(|(own, old)| *own == STATIC && *old != STATIC);
        let ties = both.iter().enumerate().any(|(at, (own, old))| {
            let mut later = both.iter().skip(at + 1);
            *own != STATIC && later.any(|(other, before)| other == own && before != old)
        });
        !is_static && !ties
    }
}

impl Numbering {
    fn next(&mut self) -> usize {
        self.last += 1;
        self.last
    }

    fn add(&mut self, lifetime: Option<&syn::Lifetime>) {
        let name = lifetime.map(|lifetime| lifetime.ident.to_string());
        let number = match name.as_deref() {
            Some("static") => STATIC,
            Some(name) if name != "_" => {
                let known = self.named.get(name).copied();
                known.unwrap_or_else(|| {
                    let number = self.next();
                    self.named.insert(name.to_owned(), number);
                    number
                })
            }
            _ => self.left_out.unwrap_or_else(|| self.next()),
        };
        self.places.push(number);
    }
}

impl<'ast> Visit<'ast> for Numbering {
    fn visit_receiver(&mut self, receiver: &'ast syn::Receiver) {
        match &receiver.kind {
            syn::ReceiverKind::Reference(_, lifetime, _) => self.add(lifetime.as_ref()),
            kind => visit::visit_receiver_kind(self, kind),
        }
    }

    fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
        self.add(reference.lifetime.as_ref());
        self.visit_type(&reference.elem);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        self.add(Some(lifetime));
    }

    // What a function in a parameter takes is its own.
    fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}

    fn visit_parenthesized_generic_arguments(
        &mut self,
        _: &'ast syn::ParenthesizedGenericArguments,
    ) {
    }
}

#[cfg(test)]
mod tests {
    use super::Lifetimes;

    #[test]
    fn ties_that_were_not_there_are_seen() {
        let of = |text: &str| Lifetimes::of(&syn::parse_str::<syn::Signature>(text).unwrap());
        for (old, new, allowed) in [
            (
                "fn f<'a>(a: &'a str, b: &str) -> &'a str",
                "fn f<'x>(a: &'x str, c: &str) -> &'x str",
                true,
            ),
            (
                "fn f<'a>(a: &'a str, b: &str) -> &'a str",
                "fn f<'a>(a: &'a str, b: &'a str) -> &'a str",
                false,
            ),
            (
                "fn f<'a>(a: &'a str, b: &'a str) -> &'a str",
                "fn f<'a>(a: &'a str, b: &str) -> &'a str",
                true,
            ),
            (
                "fn f<'a>(a: &'a str, b: &str) -> &'a str",
                "fn f<'a>(a: &str, b: &'a str) -> &'a str",
                false,
            ),
            (
                "fn f(a: &str) -> &str",
                "fn f<'a>(a: &'a str) -> &'a str",
                true,
            ),
            (
                "fn f(a: &str) -> &str",
                "fn f(a: &'static str) -> &str",
                false,
            ),
            (
                "fn f(a: &str) -> &str",
                "fn f(a: &str) -> &'static str",
                true,
            ),
            (
                "fn f(&self, a: &str) -> &str",
                "fn f<'a>(&self, a: &'a str) -> &'a str",
                false,
            ),
            (
                "fn f(&self, a: &str) -> &str",
                "fn f<'a>(&'a self, a: &str) -> &'a str",
                true,
            ),
            ("fn f(a: Cow<'_, str>)", "fn f<'a>(a: Cow<'a, str>)", true),
            (
                "fn f<'a, 'b>(a: &'a u8, b: &'b u8)",
                "fn f<'a, 'b: 'a>(a: &'a u8, b: &'b u8)",
                false,
            ),
        ] {
            assert_eq!(of(new).allow(&of(old)), allowed, "{old} / {new}");
        }
    }
}
