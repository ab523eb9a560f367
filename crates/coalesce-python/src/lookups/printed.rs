//! Expressions that are printed as they stand, `f"{LIMIT=}"`: what such a text shows is another one where a name in it is.

use std::{collections::BTreeMap, sync::Arc};

use coalesce_model::{ByteSpan, Texts, TreePath, Unproven, UnprovenKind};

use crate::{analysis::Analysis, graph::PythonGraph};

/// Where an expression is printed.
type Place = (TreePath, ByteSpan);

/// The expressions that are printed otherwise in the planned tree.
pub(super) fn changed(
    (before, before_texts): (&PythonGraph, &dyn Texts),
    (after, after_texts): (&PythonGraph, &dyn Texts),
) -> Vec<Unproven> {
    let is_same = |graph: &PythonGraph, module: usize, other: &PythonGraph| {
        let own = graph.modules.get(module).map(|own| &own.path);
        let there = own.and_then(|path| other.module_of(path));
        let there = there.and_then(|there| other.facts.get(there));
        let facts = graph.facts.get(module);
        facts
            .zip(there)
            .is_some_and(|(facts, there)| Arc::ptr_eq(facts, there))
    };
    let is = printed(after, after_texts, |module| !is_same(after, module, before));
    if is.is_empty() {
        return Vec::new();
    }
    let mut was = printed(before, before_texts, |module| {
        !is_same(before, module, after)
    });
    // What goes with a definition that gives way is printed by nobody.
    let before_it = |text: &String| was.get(text).map_or(0, Vec::len);
    let new = is
        .iter()
        .map(|(text, places)| places.len().saturating_sub(before_it(text)));
    let new = new.sum();
    for (text, places) in &is {
        if let Some(known) = was.get_mut(text) {
            known.truncate(known.len().saturating_sub(places.len()));
        }
    }
    let lost = was.into_iter().flat_map(|(text, places)| {
        let told = move |(path, span)| Unproven {
            path,
            span: Some(span),
            kind: UnprovenKind::OwnPlace,
            name: text.clone(),
            why: "`=` prints this expression as it stands, and it is another one afterwards"
                .to_owned(),
        };
        places.into_iter().map(told)
    });
    lost.take(new).collect()
}

/// The texts that the files of some modules print of their expressions, and where.
fn printed(
    graph: &PythonGraph,
    texts: &dyn Texts,
    counts: impl Fn(usize) -> bool,
) -> BTreeMap<String, Vec<Place>> {
    let mut found: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for (module, own) in graph.modules.iter().enumerate() {
        if !counts(module) {
            continue;
        }
        let text = texts.text(&own.path).unwrap_or_default();
        let may_print = ["=}", "= }", "=!", "=:"]
            .iter()
            .any(|end| text.contains(end));
        if !may_print {
            continue;
        }
        for span in Analysis::new(&text).printed {
            let written = span.of(&text).unwrap_or_default().to_owned();
            found
                .entry(written)
                .or_default()
                .push((own.path.clone(), span));
        }
    }
    found
}
