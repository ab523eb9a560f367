//! Calls in the code of documents that are documentation (`#![doc = include_str!("../README.md")]`): what they are called on
//! is not read there, so they are told.

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{found::Method, sources::Sources};
use crate::{facts, rewrite::fragment::included_documents};

/// Where such documents call something of the method's name.
pub(super) fn calls(sources: &Sources<'_>, method: &Method<'_>) -> Vec<Unproven> {
    let mut found = Vec::new();
    for path in included_documents(sources.world) {
        let Some(text) = sources.texts.text(&path) else {
            continue;
        };
        let dotted = format!(".{}", method.name);
        if !text.contains(&dotted) {
            continue;
        }
        let code = facts::document(&text).code;
        let lines = code.iter().flatten().map(|(line, _)| *line);
        for name in lines.filter_map(|line| call_in(&text, line, &dotted)) {
            found.push(Unproven {
                path: path.clone(),
                span: Some(name),
                kind: UnprovenKind::UnknownType,
                name: method.change.from.clone(),
                why: format!(
                    "what this is called on is not known: if it is `{}`, that is gone",
                    method.change.from
                ),
            });
        }
    }
    found
}

/// The name in the first call of a line that says it behind a dot.
fn call_in(text: &str, line: ByteSpan, dotted: &str) -> Option<ByteSpan> {
    let said = line.of(text)?;
    let mut places = said.match_indices(dotted);
    let at = places.find_map(|(at, _)| {
        let behind = said.get(at + dotted.len()..)?.trim_start();
        (behind.starts_with('(') || behind.starts_with("::")).then_some(at)
    })?;
    let start = line.start as usize + at + 1;
    Some(ByteSpan::from_range(start..start + dotted.len() - 1))
}
