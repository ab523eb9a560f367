//! Modules that are held as values while an item leaves them: `return numpy_like`, `use(pkg.a)`.
//!
//! Where a module is not followed by an attribute, what is read of it is read elsewhere, through a variable.

use coalesce_model::UnprovenKind;

use super::file::{File, FileEdits};
use crate::{analysis::Use, graph::Entity, names::last_word};

/// Calls that are told the attribute beside the module; those are looked at by name.
const BY_NAME: [&str; 6] = [
    "delattr", "getattr", "hasattr", "object", "patch", "setattr",
];

/// Tells each place where a module that an item leaves is taken as a value.
pub fn doubt(file: &File<'_>, found: &mut FileEdits) {
    let mapping = file.mapping;
    let leaves = |module: usize| {
        let mut items = mapping.items.list.iter();
        items.find(|moved| {
            moved.source == module
                && moved.travels()
                && !moved.follows
                && moved.change.shim.is_none()
        })
    };
    if mapping.items.list.is_empty() {
        return;
    }
    for used in &file.analysis().uses {
        if used.store || used.assigned || used.annotation || is_looked_up_by_name(file, used) {
            continue;
        }
        let meanings = file.names.meanings(used);
        let whole = meanings.len() == used.chain.len();
        let Some(Entity::Module(module)) = meanings.last().and_then(|last| last.entity.clone())
        else {
            continue;
        };
        let span = used.chain.first().zip(used.chain.last());
        if let (Some(moved), Some((first, last)), true) = (leaves(module), span, whole) {
            let why = "the module is taken as a value; what is read of it elsewhere is not known";
            found.doubt(
                first.span.cover(last.span),
                UnprovenKind::UnknownType,
                &moved.change.from,
                why,
            );
        }
    }
}

/// `getattr(module, "name")` and its kin, and `reload(module)`.
fn is_looked_up_by_name(file: &File<'_>, used: &Use) -> bool {
    let (Some(first), Some(last)) = (used.chain.first(), used.chain.last()) else {
        return true;
    };
    let before = file
        .text
        .get(..first.span.start as usize)
        .unwrap_or_default();
    let after = file.text.get(last.span.end as usize..).unwrap_or_default();
    let Some(call) = before.trim_end().strip_suffix('(') else {
        return false;
    };
    let callee = last_word(call);
    let argument = after.trim_start().strip_prefix(',').map(str::trim_start);
    callee == "reload" || (argument.is_some_and(is_whole_literal) && BY_NAME.contains(&callee))
}

/// Whether an argument is one string literal and nothing else.
fn is_whole_literal(argument: &str) -> bool {
    let Some(quote) = argument.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return false;
    };
    let rest = argument
        .get(1..)
        .and_then(|inside| inside.split_once(quote));
    rest.is_some_and(|(_, rest)| rest.trim_start().starts_with([',', ')']))
}
