//! Features without which code is not compiled: a dependency that such code alone needs is optional,
//! and these features turn it on.
//!
//! A gate is a set of features of which at least one is on wherever the code is compiled.

use std::collections::BTreeSet;

use coalesce_cargo::{
    dependencies::Entry,
    features::{self, Features},
};
use syn::{Meta, Token, punctuated::Punctuated};

use crate::syntax;

/// The features of one package, as far as gates go by them.
pub(super) struct Package<'p> {
    pub features: &'p Features,
}

impl Package<'_> {
    /// The features that have to turn a dependency on, when code under these conditions needs it and
    /// came by what these features turn on; `None` where it is needed whatever features are on.
    pub fn gate(
        &self,
        conditions: &BTreeSet<BTreeSet<String>>,
        turned_on: Option<&BTreeSet<String>>,
    ) -> Option<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        for of_module in conditions {
            let gate = self.gate_of(of_module, turned_on);
            found.extend(gate.or_else(|| turned_on.cloned())?);
        }
        (!found.is_empty()).then_some(found)
    }

    /// The features that turn the providers on, where all of these are optional.
    pub fn activators(&self, providers: &[&Entry]) -> Option<BTreeSet<String>> {
        let optional = providers.iter().all(|entry| entry.is("optional"));
        let found: BTreeSet<String> = providers
            .iter()
            .flat_map(|entry| features::activators(self.features, entry))
            .collect();
        (optional && !found.is_empty()).then_some(found)
    }

    /// The gate that the conditions of a module are; where it comes by optional providers, one that
    /// turns those on.
    fn gate_of(
        &self,
        conditions: &BTreeSet<String>,
        turned_on: Option<&BTreeSet<String>>,
    ) -> Option<BTreeSet<String>> {
        let all: Vec<BTreeSet<String>> = conditions.iter().flat_map(|one| gates(one)).collect();
        let fits = |gate: &&BTreeSet<String>| {
            turned_on.is_some_and(|turned_on| {
                let mut gate = gate.iter();
                gate.all(|name| features::reaches(self.features, name, turned_on))
            })
        };
        match turned_on {
            Some(_) => all.iter().find(fits).cloned(),
            None => all.into_iter().min_by_key(BTreeSet::len),
        }
    }

    /// Whether a dependency that is there is on wherever a gate holds.
    pub fn is_on(&self, entry: &Entry, gate: &BTreeSet<String>) -> bool {
        let turned_on = features::activators(self.features, entry);
        let mut gate = gate.iter();
        gate.all(|name| features::reaches(self.features, name, &turned_on))
    }
}

/// The gates that a condition is: each says on its own that one of its features is on.
fn gates(condition: &str) -> Vec<BTreeSet<String>> {
    let _trees = syntax::Trees::begin();
    syntax::parse::<Meta>(condition).map_or_else(|_| Vec::new(), |meta| gates_of(&meta))
}

fn gates_of(meta: &Meta) -> Vec<BTreeSet<String>> {
    match meta {
        Meta::NameValue(pair) if pair.path.is_ident("feature") => gates_of_value(&pair.value),
        Meta::List(list) => gates_of_list(list),
        _ => Vec::new(),
    }
}

/// The gate that the name of a feature is.
fn gates_of_value(value: &syn::Expr) -> Vec<BTreeSet<String>> {
    let syn::Expr::Lit(literal) = value else {
        return Vec::new();
    };
    match &literal.lit {
        syn::Lit::Str(name) => vec![BTreeSet::from([name.value()])],
        _ => Vec::new(),
    }
}

/// The gates that `all(…)` and `any(…)` are.
fn gates_of_list(list: &syn::MetaList) -> Vec<BTreeSet<String>> {
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    let Ok(parts) = list.parse_args_with(parser) else {
        return Vec::new();
    };
    let of_parts: Vec<Vec<BTreeSet<String>>> = parts.iter().map(gates_of).collect();
    if list.path.is_ident("all") {
        return of_parts.into_iter().flatten().collect();
    }
    let any = list.path.is_ident("any") && of_parts.iter().all(|gates| !gates.is_empty());
    let firsts = of_parts
        .into_iter()
        .filter_map(|gates| gates.into_iter().next());
    let union: BTreeSet<String> = firsts.flatten().collect();
    if any && !union.is_empty() {
        vec![union]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_gates_where_they_ask_for_features() {
        let names = |gate: &BTreeSet<String>| gate.iter().cloned().collect::<Vec<_>>().join("|");
        for (condition, expected) in [
            ("feature=\"a\"", vec!["a"]),
            ("all(feature=\"a\",unix)", vec!["a"]),
            ("all(feature=\"a\",feature=\"b\")", vec!["a", "b"]),
            ("any(feature=\"a\",feature=\"b\")", vec!["a|b"]),
            ("any(feature=\"a\",unix)", vec![]),
            ("not(feature=\"a\")", vec![]),
            (
                "all(any(feature=\"a\",feature=\"b\"),not(test))",
                vec!["a|b"],
            ),
            ("unix", vec![]),
        ] {
            let found: Vec<String> = gates(condition).iter().map(names).collect();
            assert_eq!(found, expected, "{condition}");
        }
    }
}
