//! A module that is asked for and held against one that is named: `inspect.getmodule(f) is module`. That comes out
//! otherwise for what leaves that module, or comes to it.

use coalesce_model::{ByteSpan, Change};

use super::spellings::Place;
use crate::{
    analysis::Analysis,
    graph::Entity,
    names::{Names, is_word},
    rewrite::mapping::Mapping,
};

const COMPARING: [&str; 4] = ["is not ", "is ", "== ", "!= "];

/// The name of the module that what is asked for at a place is held against; none where that is not known.
pub(super) fn with(
    mapping: &Mapping<'_>,
    (module, text): (usize, &str),
    place: &Place,
) -> Option<String> {
    if !place.is_module {
        return None;
    }
    let rest = text.get(place.end..)?.strip_prefix(' ')?;
    let other = COMPARING
        .iter()
        .find_map(|operator| rest.strip_prefix(operator))?;
    let start = text.len() - other.len();
    let length = other
        .find(|c: char| !is_word(c) && c != '.')
        .unwrap_or(other.len());
    // What a call or an entry gives is another thing than its name says.
    if other.get(length..)?.starts_with(['(', '[']) {
        return None;
    }
    let whole = ByteSpan::from_range(start..start + length);
    let analysis = Analysis::new(text);
    let used = analysis.uses.iter().find(|used| {
        let ends = used.chain.first().zip(used.chain.last());
        ends.is_some_and(|(first, last)| {
            first.span.start == whole.start && last.span.end == whole.end
        })
    })?;
    let names = Names::new(mapping.graph, Some(module), &analysis);
    let last = names.meanings(used).pop()?;
    match last.entity {
        Some(Entity::Module(other)) => Some(mapping.graph.modules.get(other)?.name.clone()),
        _ => None,
    }
}

/// Whether a definition leaves a module by a change, or comes to it.
pub(super) fn is_end_of(change: &Change, module: &str) -> bool {
    [&change.from, &change.to].into_iter().any(|name| {
        let home = name.rsplit_once('.').map(|(home, _)| home);
        home == Some(module)
    })
}
