//! Links in documentation that the bodies of macros write: they are read where the macro is called, which may be anywhere,
//! so those that say the name of what changes are told.

use coalesce_model::{ByteSpan, Change, LanguagePlan, Unproven, UnprovenKind};

use super::mapping::Mapping;
use crate::{
    facts::{self, ItemKind},
    resolve::FileId,
};

/// Tells them, but for what keeps its old name besides.
pub(super) fn tell(mapping: &Mapping<'_>, plan: &mut LanguagePlan) {
    let changes = mapping.changes.iter();
    let changes: Vec<&Change> = changes.filter(|change| change.shim.is_none()).collect();
    if changes.is_empty() {
        return;
    }
    for (file, source) in mapping.world.sources() {
        for (span, names) in links_of(mapping, file) {
            let last = |change: &&&Change| change.from.rsplit("::").next().map(str::to_owned);
            let mut named = changes.iter();
            let change =
                named.find(|change| last(change).is_some_and(|last| names.contains(&last)));
            let edits = plan.edits.get(&source.path).into_iter().flatten();
            let is_edited = edits.into_iter().any(|edit| edit.span.contains(span));
            if let Some(change) = change.filter(|_| !is_edited) {
                plan.unproven.push(Unproven {
                    path: source.path.clone(),
                    span: Some(span),
                    kind: UnprovenKind::MacroBuiltPath,
                    name: change.from.clone(),
                    why: "documentation that a macro writes links to this, and is read where the macro is called"
                        .to_owned(),
                });
            }
        }
    }
}

/// The links in documentation of the bodies of macros, with the names of each.
fn links_of(mapping: &Mapping<'_>, file: FileId) -> Vec<(ByteSpan, Vec<String>)> {
    let world = mapping.world;
    let items = world.facts(file).items.iter();
    let macros = items.filter(|item| item.kind == ItemKind::Macro);
    let macros: Vec<ByteSpan> = macros.map(|item| item.span).collect();
    let text = mapping.texts.text(&world[file].path);
    let Some(text) = text.filter(|_| !macros.is_empty()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for body in macros {
        // Its own documentation stands before it.
        let own = body.of(&text).and_then(|own| own.find("macro_rules"));
        let start = body.start as usize + own.unwrap_or(0);
        let mut at = start;
        let mut block: Vec<(usize, &str)> = Vec::new();
        let inside = text.get(start..body.end as usize).unwrap_or_default();
        for line in inside.split_inclusive('\n') {
            let blank = line.len() - line.trim_start().len();
            match line.trim_start().strip_prefix("///") {
                Some(said) => block.push((at + blank + 3, said)),
                None => found.extend(links_in(&std::mem::take(&mut block))),
            }
            at += line.len();
        }
        found.extend(links_in(&block));
    }
    found
}

/// The links in lines that follow each other, each given with its place.
fn links_in(block: &[(usize, &str)]) -> Vec<(ByteSpan, Vec<String>)> {
    if block.is_empty() {
        return Vec::new();
    }
    let said: String = block.iter().map(|(_, said)| *said).collect();
    let document = facts::document(&said);
    let facts = &document.facts;
    let place = |at: u32| {
        let mut from = 0;
        let line = block.iter().find(|(_, said)| {
            from += said.len();
            (at as usize) < from
        });
        line.map(|(start, said)| start + at as usize + said.len() - from)
    };
    let links = facts.paths.iter().filter_map(|path| {
        let segments = facts.segments(path.segments);
        let (first, last) = (segments.first()?, segments.last()?);
        let start = place(first.span.start)?;
        let length = (last.span.end - first.span.start) as usize;
        let names = segments.iter().map(|one| facts.name(one.name).to_owned());
        Some((ByteSpan::from_range(start..start + length), names.collect()))
    });
    links.collect()
}
