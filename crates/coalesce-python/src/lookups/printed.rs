//! Expressions that are printed as they stand, `f"{LIMIT=}"`: what such a text shows is another one where a name in it is.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Texts, TreePath, Unproven, UnprovenKind};

use super::is_changed;
use crate::{analysis::Analysis, graph::PythonGraph};

/// Where an expression is printed.
#[derive(Clone, PartialEq, Eq)]
struct Place {
    path: TreePath,
    span: ByteSpan,
    /// The definitions around it, by their names.
    around: String,
}

/// The places of each text that is printed.
type Printed = BTreeMap<String, Vec<Place>>;

/// The expressions that are printed otherwise in the planned tree.
pub(super) fn changed(
    (before, before_texts): (&PythonGraph, &dyn Texts),
    (after, after_texts): (&PythonGraph, &dyn Texts),
) -> Vec<Unproven> {
    let is = printed((after, after_texts), before);
    if is.is_empty() {
        return Vec::new();
    }
    let was = printed((before, before_texts), after);
    let new: Vec<&Place> = more(&is, &was).map(|(_, place)| place).collect();
    let mut lost: Vec<(&String, &Place)> = more(&was, &is).collect();
    // What goes with a definition that gives way is printed by nobody: what is there still, in other words, is told first.
    let around: BTreeSet<&str> = new.iter().map(|place| place.around.as_str()).collect();
    lost.sort_by_key(|(_, place)| !around.contains(place.around.as_str()));
    let told = lost.into_iter().map(|(text, place)| Unproven {
        path: place.path.clone(),
        span: Some(place.span),
        kind: UnprovenKind::OwnPlace,
        name: text.clone(),
        why: "`=` prints this expression as it stands, and it is another one afterwards".to_owned(),
    });
    told.take(new.len()).collect()
}

/// The places that one tree has more of than the other one: of each text those whose definition does not print it there.
fn more<'p>(
    printed: &'p Printed,
    other: &'p Printed,
) -> impl Iterator<Item = (&'p String, &'p Place)> {
    printed.iter().flat_map(move |(text, places)| {
        let known = other.get(text).map_or(&[][..], Vec::as_slice);
        let prints = |place: &&Place| known.iter().any(|known| known.around == place.around);
        let mut own: Vec<&Place> = places.iter().collect();
        own.sort_by_key(prints);
        let count = places.len().saturating_sub(known.len());
        own.into_iter().take(count).map(move |place| (text, place))
    })
}

/// The texts that the files of a tree print of their expressions which are not the same in the other one, and where.
fn printed((graph, texts): (&PythonGraph, &dyn Texts), other: &PythonGraph) -> Printed {
    let mut found = Printed::new();
    for (module, own) in graph.modules.iter().enumerate() {
        let there = other.module_of(&own.path);
        let stays = there.is_some_and(|there| !is_changed((graph, module), (other, there)));
        let text = texts.text(&own.path).filter(|_| !stays);
        let Some(text) = text.filter(|text| may_print(text)) else {
            continue;
        };
        let analysis = Analysis::new(&text);
        for span in &analysis.printed {
            let written = span.of(&text).unwrap_or_default().to_owned();
            found.entry(written).or_default().push(Place {
                path: own.path.clone(),
                span: *span,
                around: around(&analysis, *span),
            });
        }
    }
    found
}

/// The names of the definitions around a place.
fn around(analysis: &Analysis, span: ByteSpan) -> String {
    let around = analysis.definitions.iter();
    let around = around.filter(|definition| definition.span.contains(span));
    let names: Vec<&str> = around.map(|definition| definition.name.as_str()).collect();
    names.join(".")
}

/// Whether a text may print an expression as it stands: `{x=}`, `{x = !r}`, `{x=:>10}`.
fn may_print(text: &str) -> bool {
    let mut signs = memchr::memchr_iter(b'=', text.as_bytes());
    signs.any(|at| {
        let rest = text.get(at + 1..).unwrap_or_default();
        rest.trim_start().starts_with(['}', '!', ':'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_print_are_seen() {
        for (text, expected) in [
            ("f'{x=}'", true),
            ("f'{x = }'", true),
            ("f'{x = !r}'", true),
            ("f'{x = :>10}'", true),
            ("x = {}", false),
            ("x == y", false),
        ] {
            assert_eq!(may_print(text), expected, "{text}");
        }
    }
}
