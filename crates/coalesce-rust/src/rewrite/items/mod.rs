//! Moving and replacing single items: functions, types, traits, constants, statics, macros.
//!
//! The text of a definition goes with the comments above it and with the `impl`s of its type that
//! stand in the same module. What it names is imported in its new module or spelled out; its old
//! module imports it back where it goes on naming it; imports that nobody needs go. `macro_rules!`
//! are found by path once they have moved.

pub(super) mod arrive;
mod bare_calls;
pub(super) mod bodies;
mod called;
pub(super) mod conditions;
mod expansions;
pub(super) mod facades;
mod forward;
mod handed;
pub(super) mod imports;
mod macros;
mod made_traits;
pub(super) mod moving;
pub(super) mod orphans;
pub(super) mod replace;
mod rules;
pub(super) mod shims;
mod taken;
mod unseen;
pub(super) mod visibility;

pub(super) use forward::reexport_of_macro;
pub(super) use imports::between;
pub(crate) use rules::is_exported;
pub(super) use rules::{imports, is_attribute, is_redefined};

use coalesce_model::{ByteSpan, Edit, Finding, Unproven, UnprovenKind};

use self::moving::Set;
use super::scan::{self, Scan};
use crate::resolve::FileId;

/// What reading the definitions that move and their users does not prove.
pub(super) fn unproven(set: &Set<'_>, scan: &Scan) -> Vec<Unproven> {
    if set.moving.is_empty() {
        return Vec::new();
    }
    let mut found = guessed(set, scan);
    found.extend(made_traits::unknown(set));
    found.extend(taken::macro_words(set));
    found.extend(unseen::places(set));
    found
}

/// What cannot move, as only items are asked.
pub(super) fn forbidden(set: &Set<'_>, scan: &Scan) -> Vec<Finding> {
    if set.moving.is_empty() {
        return Vec::new();
    }
    let mut found = macros::check(set, scan);
    found.extend(macros::fragments(set));
    found.extend(macros::given_by_crates(set));
    found.extend(handed::check(set, scan));
    found.extend(replace::check(set));
    found.extend(conditions::check(set, scan));
    found.extend(taken::check(set));
    found
}

/// Imports that stand on both sides because method calls there may need them.
fn guessed(set: &Set<'_>, scan: &Scan) -> Vec<Unproven> {
    let imports = scan.guessed.iter();
    let imports = imports.filter_map(|import| guessed_import(set, *import));
    let calls = scan.guessed_calls.iter();
    let calls = calls.map(|(file, span, name)| guessed_call(set, (*file, *span), name));
    imports.chain(calls).collect()
}

fn guessed_import(set: &Set<'_>, (file, leaf): (FileId, u32)) -> Option<Unproven> {
    let facts = set.world().facts(file);
    let leaf = facts.leaf(leaf);
    let name = facts.segments(leaf.segments).last()?;
    let name = facts.name(name.name);
    Some(Unproven {
        path: set.path(file),
        span: Some(leaf.span),
        kind: UnprovenKind::UnknownType,
        name: name.to_owned(),
        why: format!(
            "methods are called here and in what moves, and which of them `{name}` gives is not \
             known: both import it"
        ),
    })
}

fn guessed_call(set: &Set<'_>, (file, span): (FileId, ByteSpan), name: &str) -> Unproven {
    Unproven {
        path: set.path(file),
        span: Some(span),
        kind: UnprovenKind::UnknownType,
        name: name.to_owned(),
        why: format!(
            "methods are called here on what nobody can follow, and whether one of them is of `{name}`, \
             which is imported for them, is not known"
        ),
    }
}

/// Edits, deletions that overlap made one.
pub(crate) fn merged(edits: Vec<Edit>) -> Vec<Edit> {
    let mut result: Vec<Edit> = Vec::new();
    for edit in edits {
        if !result.last_mut().is_some_and(|last| last.takes_in(&edit)) {
            result.push(edit);
        }
    }
    result
}
