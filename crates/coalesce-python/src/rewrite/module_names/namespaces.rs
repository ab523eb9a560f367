//! Names of a module that become part of a namespace in which annotations are evaluated: `**vars(sys.modules[f.__module__])`,
//! `namespace.update(vars(getmodule(cls)))`. A definition that goes elsewhere takes along what its annotations name, so that
//! it finds it there.

use super::{innermost_function, spellings::Place};
use crate::{
    analysis::Analysis,
    names::{is_word, last_word, places_of_word},
};

use coalesce_model::ByteSpan;

/// Whether a table of names whose call ends a text is put into another one: `**vars(`, `.update(vars(`.
fn is_merged(before: &str) -> bool {
    let table = before.strip_suffix("vars(").map(str::trim_end);
    table.is_some_and(|head| head.ends_with("**") || head.ends_with(".update("))
}

/// Whether the module that is looked up by a name at a place gives its names to a namespace alone.
pub(super) fn is_merged_lookup(before: &str) -> bool {
    let word = before.trim_end_matches(|c: char| is_word(c) || c == '.');
    let lookup = word.strip_suffix("modules[");
    lookup.is_some_and(|head| is_merged(head.strip_suffix("sys.").unwrap_or(head)))
}

/// Whether the module that a place gives does: it is called by a name of the function, of which all uses ask whether there
/// is one, or give its names to a namespace.
pub(super) fn is_merged_module(text: &str, place: &Place) -> bool {
    let Some(call) = text
        .get(..place.object)
        .and_then(|before| before.rfind("getmodule("))
    else {
        return false;
    };
    let head = text.get(..call).unwrap_or_default();
    let head = head.strip_suffix("inspect.").unwrap_or(head);
    if is_merged(head) {
        return true;
    }
    let Some(target) = head
        .strip_suffix("= ")
        .map(|head| head.trim_end_matches([':', ' ']))
    else {
        return false;
    };
    let name = last_word(target);
    let analysis = Analysis::new(text);
    let here = ByteSpan::from_range(call..call + 1);
    let code = innermost_function(&analysis, here).and_then(|function| {
        let code = function.span.of(text)?;
        Some((function.span.start as usize, code))
    });
    let Some((start, code)) = code.filter(|_| !name.is_empty()) else {
        return false;
    };
    let bound = (target.len() - name.len()).checked_sub(start);
    let mut uses = places_of_word(code, name).filter(|at| Some(*at) != bound);
    uses.all(|at| {
        let before = code.get(..at).unwrap_or_default();
        is_merged(before) || is_asked_for(before)
    })
}

/// Whether a name that stands behind a text is asked whether it is something: `if name`, `and name`.
fn is_asked_for(before: &str) -> bool {
    let before = before.trim_end();
    ["if", "and", "or", "not"].contains(&last_word(before))
}
