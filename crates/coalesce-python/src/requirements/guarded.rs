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
        let module = old.graph.modules.get(*before);
        for (key, (outcome, span)) in &was {
            let now = is.get(key).map(|(now, _)| now);
            let Some((why, library)) = now.and_then(|now| difference(new, outcome, now)) else {
                continue;
            };
            differing.push(Differing {
                module,
                span: *span,
                message: format!("the guarded import of `{}` {why}", key.0),
                library,
            });
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
            let (library, why) = difference_of_libraries(
                had.difference(has).find(counts),
                has.difference(had).find(counts),
            )?;
            Some((why, Some(library.clone())))
        }
        _ => None,
    }
}

/// What it means that an import needs a library less, or more, of which the latter counts first.
fn difference_of_libraries<'l>(
    less: Option<&'l String>,
    more: Option<&'l String>,
) -> Option<(&'l String, String)> {
    let why = match (more, less) {
        (Some(library), _) => {
            format!("would fail without a word where `{library}` is missing, and does not now")
        }
        (None, Some(library)) => {
            format!("fails now where `{library}` is missing, and would succeed there")
        }
        (None, None) => return None,
    };
    Some((more.or(less)?, why))
}

/// The outcomes of the imports of a module, guarded ones or the others.
fn outcomes(needs: &Needs<'_>, module: usize, guarded: bool) -> BTreeMap<Key, (Outcome, ByteSpan)> {
    let mut found = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let Some(facts) = needs.graph.facts.get(module) else {
        return found;
    };
    let leaves = facts.import_leaves();
    for (import, leaf) in leaves.filter(|(import, _)| import.guard.hides_failure() == guarded) {
        let bound = match leaf.bound() {
            "" => leaf.name.text.rsplit('.').next().unwrap_or_default(),
            bound => bound,
        };
        let count = counts.entry(bound.to_owned()).or_default();
        *count += 1;
        let outcome = outcome(needs, module, import, leaf);
        found.insert((bound.to_owned(), *count), (outcome, leaf.name.span));
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
        let facts = new.graph.facts.get(*after);
        if facts.is_some_and(|facts| facts.shim.is_some()) {
            continue;
        }
        for guarded in [false, true] {
            findings.extend(hidden_in(old, new, (*before, *after), guarded));
        }
    }
    findings
}

fn hidden_in(
    old: &Needs<'_>,
    new: &Needs<'_>,
    (before, after): Pair,
    guarded: bool,
) -> Vec<Finding> {
    let is = outcomes(new, after, guarded);
    let found = outcomes(old, before, guarded).into_iter();
    let lost = found.filter_map(|(key, (was, span))| {
        let now = is.get(&key);
        let is_lost = matches!(was, Outcome::Alive(_))
            && now.is_some_and(|(now, _)| is_lost(new, after, &key, now));
        let module = old.graph.modules.get(before).filter(|_| is_lost)?;
        let message = format!(
            "after the migration, nothing of the tree would be behind the import of `{}`",
            key.0
        );
        let refused = refusal(module.path.clone(), Some(span), message, None);
        Some(refused.coded(codes::CHANGED_GUARD))
    });
    lost.collect()
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
    let mut leaves = facts.import_leaves();
    leaves.any(|(import, leaf)| {
        leaf.bound() == key.0
            && new.graph.base_module(module, import).is_none()
            && new.graph.leaf_entity(module, import, leaf) == Entity::Opaque
    })
}
