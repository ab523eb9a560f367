//! What a crate has of the standard library. One that is `#![no_std]` has neither `std` nor what the
//! prelude of `std` adds to that of `core`, unless it says so.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Tree,
    conditions::{Conditions, inside},
};
use crate::{
    facts::{Namespaces, ScopeKind, SourceFacts},
    resolve::{CrateId, Found, Res, Site, UseSite},
    rewrite::condition_of_no_std,
};

/// Types and traits that the prelude of `std` has, and that of `core` lacks.
const TYPES: [&str; 5] = ["Box", "String", "ToOwned", "ToString", "Vec"];
/// Macros that the prelude of `std` has, and that of `core` lacks.
const MACROS: [&str; 8] = [
    "dbg",
    "eprint",
    "eprintln",
    "format",
    "print",
    "println",
    "thread_local",
    "vec",
];
/// Those of them that `alloc` has.
const OF_ALLOC: [&str; 2] = ["format", "vec"];

/// Conditions of which one has to hold, each of several that all have to.
pub(super) type Alternatives = BTreeSet<BTreeSet<String>>;

/// What a crate has, and when; crates with `std` are left out.
#[derive(Default)]
struct Has {
    /// The prelude of `std`.
    prelude: Alternatives,
    /// `std`, `alloc` and whatever else `extern crate` names.
    crates: BTreeMap<String, Alternatives>,
    /// Those whose macros come with them.
    macros: BTreeMap<String, Alternatives>,
}

impl Has {
    /// When a path that begins with `std` or `alloc` leads there; `None` where it always does. `around` is when
    /// an `extern crate` around it brings the name.
    fn needed_by_path(&self, name: &str, around: Alternatives) -> Option<Alternatives> {
        let mut when = self.crates.get(name).cloned().unwrap_or_default();
        when.extend(around);
        if name == "std" {
            when.extend(self.prelude.iter().cloned());
        }
        (!is_always(&when)).then_some(when)
    }

    /// When a word alone names something of the prelude; `None` where it does not.
    fn needed_by_word(&self, name: &str, is_macro: bool) -> Option<Alternatives> {
        if TYPES.contains(&name) && !is_macro {
            return Some(self.prelude.clone());
        }
        if !MACROS.contains(&name) || !is_macro {
            return None;
        }
        let of_macros = |of: &str| self.macros.get(of).into_iter().flatten().cloned();
        let mut when = self.prelude.clone();
        when.extend(of_macros("std"));
        if OF_ALLOC.contains(&name) {
            when.extend(of_macros("alloc"));
        }
        Some(when)
    }
}

/// What crates have of the standard library, each root read once.
#[derive(Default)]
pub(super) struct Standard {
    crates: BTreeMap<CrateId, Option<Has>>,
}

impl Standard {
    /// When the crate of a site has what the site names of the standard library; `None` where it
    /// always has, or names nothing of it.
    pub fn needed(
        &mut self,
        (tree, conditions): (Tree<'_>, &mut Conditions<'_>),
        krate: CrateId,
        (facts, site): (&SourceFacts, &Site<'_>),
    ) -> Option<Alternatives> {
        let first = site.trace.steps.first()?;
        let name = facts.name(site.segments.first()?.name);
        let has = self
            .crates
            .entry(krate)
            .or_insert_with(|| read(tree, conditions, krate));
        let named = first.import.is_none() && is_of_standard(tree, first, name);
        let around = match named {
            true => declared_around(tree, conditions, (facts, site), name),
            false => Alternatives::new(),
        };
        let Some(has) = has.as_ref() else {
            // `std` is there without a word, `alloc` never is.
            let mut declared = tree.world.declared_crates(krate).into_iter();
            let is_declared = declared.any(|(_, bound)| bound == name);
            return (name == "alloc" && named && !is_declared).then_some(around);
        };
        if matches!(name, "std" | "alloc") && named {
            return has.needed_by_path(name, around);
        }
        let plain = site.segments.len() == 1 && first.is_empty() && !first.opaque;
        plain.then(|| has.needed_by_word(name, is_macro(facts, site)))?
    }
}

/// Whether a name leads to the library from outside that is called so.
fn is_of_standard(tree: Tree<'_>, found: &Found, name: &str) -> bool {
    let mut all = found.all();
    all.any(|(res, _)| matches!(res, Res::External(full) if tree.world.names.as_str(full) == name))
}

/// When an `extern crate` in the module of the site, or in a block around it, brings the name.
fn declared_around(
    tree: Tree<'_>,
    conditions: &mut Conditions<'_>,
    (facts, site): (&SourceFacts, &Site<'_>),
    name: &str,
) -> Alternatives {
    let body = tree.world.body_of(site);
    let file = tree.world[body].file;
    let around = std::iter::successors(Some(site.scope), |at| match facts.scope(*at).kind {
        ScopeKind::Block => facts.scope(*at).parent,
        _ => None,
    });
    let scopes: Vec<_> = around.collect();
    let declared = facts.extern_crates.iter().filter(|one| {
        let bound = one.alias.unwrap_or(one.name);
        scopes.contains(&one.scope) && facts.name(bound.name) == name
    });
    let conditions = declared.map(|one| conditions.at_place(file, body, one.name.span.start));
    conditions.collect()
}

fn is_macro(facts: &SourceFacts, site: &Site<'_>) -> bool {
    let UseSite::Path(at) = site.site else {
        return false;
    };
    let path = facts.path(at);
    path.namespaces == Namespaces::MACRO
}

/// Reads the root of a crate; `None` where it has `std` whatever happens.
fn read(tree: Tree<'_>, conditions: &mut Conditions<'_>, krate: CrateId) -> Option<Has> {
    let world = tree.world;
    let found = &world[krate];
    let without = condition_of_no_std(&tree.texts.text(&found.root_file)?)?;
    let without: String = without.split_whitespace().collect();
    let mut has = Has::default();
    if !without.is_empty() {
        has.prelude.insert(BTreeSet::from([negated(&without)]));
    }
    let root = &world[found.root?];
    let body = *root.bodies.first()?;
    let file = world[body].file;
    let facts = world.facts(file);
    for declared in facts.extern_crates.iter().filter(|one| one.scope.0 == 0) {
        let bound = declared.alias.unwrap_or(declared.name);
        let name = facts.name(bound.name).to_owned();
        let when = conditions.at_place(file, body, declared.name.span.start);
        if declared.macro_use {
            let macros = has.macros.entry(name.clone()).or_default();
            macros.insert(when.clone());
        }
        has.crates.entry(name).or_default().insert(when);
    }
    Some(has)
}

/// Whether one of these conditions is the opposite of another one: `std` by itself, and without it
/// `extern crate no_std_compat as std`.
fn is_always(when: &Alternatives) -> bool {
    let single = |all: &BTreeSet<String>| match all.len() {
        1 => all.first().cloned(),
        _ => None,
    };
    let mut single = when.iter().filter_map(single);
    single.any(|one| {
        let opposite = negated(&one);
        // Conditions that all have to hold are told one by one.
        let each = inside(&opposite, "all").map(|parts| parts.into_iter().map(str::to_owned));
        when.contains(&BTreeSet::from([opposite.clone()]))
            || each.is_some_and(|each| when.contains(&each.collect()))
    })
}

/// The opposite of a condition.
fn negated(condition: &str) -> String {
    let each = |parts: Vec<&str>| {
        let parts: Vec<String> = parts.into_iter().map(negated).collect();
        parts.join(",")
    };
    if let Some(parts) = inside(condition, "not") {
        return parts.join(",");
    }
    if let Some(parts) = inside(condition, "all") {
        return format!("any({})", each(parts));
    }
    if let Some(parts) = inside(condition, "any") {
        return format!("all({})", each(parts));
    }
    format!("not({condition})")
}

#[cfg(test)]
mod tests {
    use super::negated;

    #[test]
    fn the_opposite_of_a_condition() {
        for (condition, expected) in [
            ("not(feature=\"std\")", "feature=\"std\""),
            ("test", "not(test)"),
            (
                "all(not(test),not(feature=\"std\"))",
                "any(test,feature=\"std\")",
            ),
        ] {
            assert_eq!(negated(condition), expected);
        }
    }
}
