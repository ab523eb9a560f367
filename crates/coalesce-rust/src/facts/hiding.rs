//! Where a name would lead to something local: a variable, a parameter, a generic parameter, or what a block defines or
//! imports for itself.
//!
//! Facts leave out local names, since hardly anybody asks for them; here the text is read once more with one name in
//! mind.

use std::collections::BTreeMap;

use super::{
    Namespaces, ScopeId, ScopeKind, SourceFacts, extract, parse,
    parse::Source,
    source::{Builder, Watched},
};
use crate::{lexer, syntax};

/// The paths of a text, by the first byte of each, that would lead to something local if they began with `name`, and in
/// which namespaces that is. Of a text that does not parse nothing is known.
pub(crate) fn hiding(text: &str, name: &str) -> BTreeMap<u32, Namespaces> {
    if !text.contains(name) {
        return BTreeMap::new();
    }
    let read = parse::guarded(lexer::depth(text), || {
        let _trees = syntax::Trees::begin();
        let source = Source::new(text);
        let file = source.parse()?;
        let mut builder = Builder::new(text);
        builder.watched = Some(Watched {
            name,
            hidden: Vec::new(),
        });
        let builder = extract::read(&source, &file, builder);
        let watched = builder.watched.map(|watched| watched.hidden);
        Ok((builder.facts, watched.unwrap_or_default()))
    });
    let Ok((facts, locals)) = read else {
        return BTreeMap::new();
    };
    let mut found = by_blocks(&facts, name);
    for (at, namespaces) in locals {
        let known = found.entry(at).or_default();
        *known = known.or(namespaces);
    }
    found
}

/// The paths in blocks that have a name for themselves.
fn by_blocks(facts: &SourceFacts, name: &str) -> BTreeMap<u32, Namespaces> {
    let own = names_of_blocks(facts, name);
    let mut found = BTreeMap::new();
    for path in facts.paths.iter().filter(|_| !own.is_empty()) {
        let first = facts.segments(path.segments).first();
        let namespaces = namespaces_in(facts, path.scope, &own);
        if let Some(first) = first.filter(|_| namespaces != Namespaces::default()) {
            found.insert(first.span.start, namespaces);
        }
    }
    found
}

/// The scopes of blocks that define or import a name.
fn names_of_blocks(facts: &SourceFacts, name: &str) -> BTreeMap<ScopeId, Namespaces> {
    let mut own: BTreeMap<ScopeId, Namespaces> = BTreeMap::new();
    let mut add = |scope: ScopeId, namespaces: Namespaces| {
        if matches!(
            facts.scope(scope).kind,
            ScopeKind::Block | ScopeKind::DocCode
        ) {
            let known = own.entry(scope).or_default();
            *known = known.or(namespaces);
        }
    };
    for item in &facts.items {
        if facts.name(item.name.name) == name {
            add(item.scope, item.namespaces);
        }
    }
    for module in &facts.modules {
        if facts.name(module.name.name) == name {
            add(module.scope, Namespaces::TYPE);
        }
    }
    for leaf in &facts.leaves {
        let bound = leaf.alias.or(facts.segments(leaf.segments).last().copied());
        if bound.is_some_and(|bound| facts.name(bound.name) == name) {
            add(facts.declaration(leaf.declaration).scope, Namespaces::ALL);
        }
    }
    own
}

/// The namespaces in which the blocks around a scope, and itself, have a name.
fn namespaces_in(
    facts: &SourceFacts,
    scope: ScopeId,
    own: &BTreeMap<ScopeId, Namespaces>,
) -> Namespaces {
    let (mut found, mut next) = (Namespaces::default(), Some(scope));
    while let Some(at) = next {
        found = found.or(own.get(&at).copied().unwrap_or_default());
        let scope = facts.scope(at);
        next = scope.parent.filter(|_| scope.kind == ScopeKind::Block);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::hiding;
    use crate::facts::Namespaces;

    /// What is hidden among the uses of `cost`, by their numbers.
    fn hidden(text: &str) -> Vec<usize> {
        let found = hiding(text, "price");
        let starts = text.match_indices("cost").map(|(at, _)| at);
        let numbered = starts.enumerate().filter(|(_, at)| {
            let at = u32::try_from(*at).expect("a short text");
            let namespaces = found.get(&at).copied().unwrap_or_default();
            namespaces.meets(Namespaces::VALUE)
        });
        numbered.map(|(number, _)| number).collect()
    }

    #[test]
    fn variables_and_parameters_hide() {
        assert_eq!(hidden("fn a() { cost(); let price = 1; cost(); }"), [1]);
        assert_eq!(hidden("fn a(price: u8) { cost() } fn b() { cost() }"), [0]);
        assert_eq!(hidden("fn a() { f(|price| cost(price)); cost() }"), [0]);
        assert_eq!(
            hidden("fn a() { let price = 1; assert_eq!(cost(), price) }"),
            [0]
        );
    }

    #[test]
    fn what_a_block_has_hides() {
        assert_eq!(
            hidden("fn a() { fn price() {} cost() } fn b() { cost() }"),
            [0]
        );
        assert_eq!(hidden("fn a() { use b::price; { cost() } }"), [0]);
        assert!(hidden("fn price() {} fn a() { cost() }").is_empty());
    }
}
