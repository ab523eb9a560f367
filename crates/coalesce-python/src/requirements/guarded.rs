//! Imports whose failure is caught: what makes them fail or succeed must stay the same.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Allowed, ByteSpan, Finding, Module, finding::codes};

use super::{Libraries, Needs, Pair, advice, refusal};
use crate::{
    facts::{ImportStatement, Leaf},
    graph::Entity,
};

/// How an import ends, as far as the tree says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// What it names is not there.
    Dead,
    /// It is there, and needs these libraries that its module does not need itself.
    Alive(Libraries),
    /// It is outside of the tree, or nobody knows.
    Other,
}

/// Where an import stands: what it binds, and the how manieth of that name it is.
type Key = (String, usize);

/// What changes for a guarded import, and for one that nobody sees fail.
///
/// `alone` is whether nothing else is refused that a requirement would allow.
pub fn changed((old, new): (&Needs<'_>, &Needs<'_>), pairs: &[Pair], alone: bool) -> Vec<Finding> {
    let mut differing = Vec::new();
    for (before, after) in pairs {
        let (was, is) = (outcomes(old, *before, true), outcomes(new, *after, true));
        if was.is_empty() || is.is_empty() || is_allowed(old, new, (*before, *after)) {
            continue;
        }
        for (key, (outcome, span)) in &was {
            if let Some((now, _)) = is.get(key)
                && let Some((why, library)) = difference(new, outcome, now)
            {
                let message = format!("the guarded import of `{}` {why}", key.0);
                differing.push(Differing {
                    module: old.graph.modules.get(*before),
                    span: *span,
                    message,
                    library,
                });
            }
        }
    }
    let mut findings = refused(differing, &new.graph.allowed, alone);
    findings.extend(hidden(old, new, pairs));
    findings
}

/// An import that ends in another way.
struct Differing<'g> {
    module: Option<&'g Module>,
    span: ByteSpan,
    message: String,
    /// The library that makes the difference.
    library: Option<String>,
}

/// The refusals, one of them with the line that allows all.
fn refused(differing: Vec<Differing<'_>>, allowed: &Allowed, alone: bool) -> Vec<Finding> {
    let named = differing.iter().filter_map(|one| one.module);
    let modules_of: Vec<&str> = named.map(|module| module.name.as_str()).collect();
    let modules: BTreeSet<&str> = modules_of.iter().copied().collect();
    let libraries: Option<BTreeSet<&str>> =
        differing.iter().map(|one| one.library.as_deref()).collect();
    let mut line = advice::guarded_imports(allowed, &modules);
    if let Some(libraries) = libraries.filter(|libraries| alone && !libraries.is_empty()) {
        let other = advice::requirements(allowed, &libraries);
        line = format!("{line} (or {other})");
    }
    let first = modules_of.first().copied().unwrap_or_default();
    let refusals = differing.iter().enumerate().filter_map(|(at, one)| {
        let path = one.module?.path.clone();
        let told_for = (at > 0).then_some(first);
        let help = advice::help(&line, told_for, differing.len());
        let refused = refusal(path, Some(one.span), one.message.clone(), Some(help));
        Some(refused.coded(codes::CHANGED_GUARD))
    });
    refusals.collect()
}

fn is_allowed(old: &Needs<'_>, new: &Needs<'_>, (before, after): Pair) -> bool {
    let allowed = &new.graph.allowed.guarded_imports;
    allowed
        .iter()
        .any(|name| name == old.name(before) || name == new.name(after))
}

/// What a difference means, and the library that makes it.
fn difference(new: &Needs<'_>, was: &Outcome, is: &Outcome) -> Option<(String, Option<String>)> {
    let counts = |library: &&String| !new.is_always_there(library) && !new.is_allowed(library);
    match (was, is) {
        (Outcome::Dead, Outcome::Alive(_)) => {
            Some(("fails now and would succeed".to_owned(), None))
        }
        (Outcome::Alive(_), Outcome::Dead) => Some((
            "succeeds now and would fail without a word".to_owned(),
            None,
        )),
        (Outcome::Alive(had), Outcome::Alive(has)) => {
            let more = has.difference(had).find(counts);
            let less = had.difference(has).find(counts);
            match (more, less) {
                (Some(library), _) => {
                    let why = format!(
                        "would fail without a word where `{library}` is missing, and does not now"
                    );
                    Some((why, Some(library.clone())))
                }
                (None, Some(library)) => {
                    let why =
                        format!("fails now where `{library}` is missing, and would succeed there");
                    Some((why, Some(library.clone())))
                }
                (None, None) => None,
            }
        }
        _ => None,
    }
}

/// The outcomes of the imports of a module, guarded ones or the others.
fn outcomes(needs: &Needs<'_>, module: usize, guarded: bool) -> BTreeMap<Key, (Outcome, ByteSpan)> {
    let mut found = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let Some(facts) = needs.graph.facts.get(module) else {
        return found;
    };
    for import in facts
        .imports
        .iter()
        .filter(|import| import.guard.hides_failure() == guarded)
    {
        for leaf in &import.leaves {
            let bound = match leaf.bound() {
                "" => leaf.name.text.rsplit('.').next().unwrap_or_default(),
                bound => bound,
            };
            let count = counts.entry(bound.to_owned()).or_default();
            *count += 1;
            let outcome = outcome(needs, module, import, leaf);
            found.insert((bound.to_owned(), *count), (outcome, leaf.name.span));
        }
    }
    found
}

fn outcome(needs: &Needs<'_>, module: usize, import: &ImportStatement, leaf: &Leaf) -> Outcome {
    match needs.graph.leaf_entity(module, import, leaf) {
        Entity::Missing => Outcome::Dead,
        Entity::Module(_) | Entity::Item(..) => {
            let (targets, _) = needs.reaches(module, import, leaf);
            let all: Libraries = targets
                .iter()
                .flat_map(|target| needs.package_around(*target).into_iter().chain([*target]))
                .flat_map(|target| needs.of(target))
                .collect();
            // What the module needs anyway makes no difference to one of its imports.
            Outcome::Alive(all.difference(&needs.of(module)).cloned().collect())
        }
        Entity::External | Entity::Opaque => Outcome::Other,
    }
}

/// Imports that lead to something of the tree, and would lead to what nobody can look at.
fn hidden(old: &Needs<'_>, new: &Needs<'_>, pairs: &[Pair]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (before, after) in pairs {
        let is_shim = new
            .graph
            .facts
            .get(*after)
            .is_some_and(|facts| facts.shim.is_some());
        if is_shim {
            continue;
        }
        for guarded in [false, true] {
            let is = outcomes(new, *after, guarded);
            for (key, (was, span)) in outcomes(old, *before, guarded) {
                let lost = matches!(was, Outcome::Alive(_))
                    && is
                        .get(&key)
                        .is_some_and(|(is, _)| is_lost(new, *after, &key, is));
                if let (true, Some(module)) = (lost, old.graph.modules.get(*before)) {
                    let message = format!(
                        "after the migration, nothing of the tree would be behind the import of `{}`",
                        key.0
                    );
                    let refused = refusal(module.path.clone(), Some(span), message, None);
                    findings.push(refused.coded(codes::CHANGED_GUARD));
                }
            }
        }
    }
    findings
}

/// Whether an import that leads nowhere in the tree names a package of it.
fn is_lost(new: &Needs<'_>, module: usize, key: &Key, outcome: &Outcome) -> bool {
    let Some(facts) = new
        .graph
        .facts
        .get(module)
        .filter(|_| *outcome == Outcome::Other)
    else {
        return false;
    };
    let mut leaves = facts.imports.iter().flat_map(|import| {
        let leaves = import.leaves.iter();
        leaves.map(move |leaf| (import, leaf))
    });
    leaves.any(|(import, leaf)| {
        leaf.bound() == key.0
            && new.graph.base_module(module, import).is_none()
            && new.graph.leaf_entity(module, import, leaf) == Entity::Opaque
    })
}
