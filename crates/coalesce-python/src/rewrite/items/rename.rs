//! An item that gets another name where it is, or gives way to another one there.

use coalesce_model::{ByteSpan, Edit, LanguagePlan, finding::codes};

use super::{
    Moved, exports, reflection, refusal,
    source::{Source, early},
};
use crate::{
    analysis::{Analysis, Use},
    facts::Spanned,
    rewrite::{export_list::ExportList, mapping::Mapping, snippet::session_uses},
};

/// What stands in the way of uses of an item that are to say another name of its module.
fn in_the_way(source: &Source, moved: &Moved) -> Option<&'static str> {
    let (analysis, item, name) = (&source.analysis, moved.item.as_str(), moved.name.as_str());
    let mut bindings = analysis.bindings(0, item).iter();
    let hidden = uses_of(analysis, item).any(|(used, _)| {
        analysis
            .binding_scope(used.stands_in, name)
            .is_some_and(|scope| scope != 0)
    });
    let mut globals = source.outline.globals.iter();
    if bindings.any(|binding| binding.import.is_some()) {
        Some("an import binds the old name, too")
    } else if hidden || globals.any(|(_, other)| other == name) {
        Some("the new name means something else where the old one is used")
    } else {
        None
    }
}

/// The uses of a name of the module itself, each with the name at its beginning.
fn uses_of<'a>(
    analysis: &'a Analysis,
    item: &'a str,
) -> impl Iterator<Item = (&'a Use, &'a Spanned)> {
    let uses = analysis.uses.iter();
    let uses = uses.filter_map(|used| Some((used, used.chain.first()?)));
    uses.filter(move |(used, root)| {
        root.text == item && analysis.binding_scope(used.scope, item) == Some(0)
    })
}

/// Whether an item can give way to another one of its module: its definition goes, and uses say the other name. Where they
/// cannot, that is refused: the other one needs it, or is bound only after it is used.
pub fn gives_way(source: &Source, moved: &Moved, plan: &mut LanguagePlan) -> bool {
    let (analysis, item, name) = (&source.analysis, moved.item.as_str(), moved.name.as_str());
    let of = |name: &str| -> Vec<ByteSpan> {
        let own = analysis.definitions.iter();
        let own = own.filter(|each| each.class.is_none() && each.name == name);
        own.map(|each| each.span).collect()
    };
    let (old, new) = (of(item), of(name));
    let within = |spans: &[ByteSpan], at: ByteSpan| spans.iter().any(|span| span.contains(at));
    let bound = analysis.bindings(0, name).first();
    let called = early(analysis, &source.outline);
    let early_use = uses_of(analysis, item).any(|(used, root)| {
        let before = bound.is_none_or(|bound| root.span.start < bound.span.start);
        before && used.eager && !used.store && !within(&old, root.span)
    });
    let below = bound.is_none_or(|bound| old.iter().any(|old| old.end <= bound.span.start));
    let why = in_the_way(source, moved).or_else(|| {
        if uses_of(analysis, item).any(|(_, root)| within(&new, root.span)) {
            Some("that uses it")
        } else if early_use || below && called.contains(item) {
            Some("it is used before the other one is bound")
        } else {
            None
        }
    });
    if let Some(why) = why {
        refuse(source, moved, why, plan);
    }
    why.is_none()
}

/// Where examples in the documentation of a file use a name of the module.
pub fn in_examples(
    source: &Source,
    item: &str,
    counts: impl Fn(ByteSpan) -> bool,
) -> Vec<ByteSpan> {
    let strings = source.analysis.strings.iter();
    let documents = strings.filter(|string| string.documentation && counts(string.span));
    let uses = documents.flat_map(|string| session_uses(&source.text, string.span, item));
    uses.collect()
}

fn refuse(source: &Source, moved: &Moved, why: &str, plan: &mut LanguagePlan) {
    let bindings = source.analysis.bindings(0, &moved.item);
    let span = bindings.first().map(|binding| binding.span);
    let message = format!(
        "`{}` cannot become `{}`: {why}",
        moved.change.from, moved.name
    );
    let refused = refusal(&source.path, span, message, None);
    plan.refusals.push(refused.coded(codes::NAME_TAKEN));
}

/// Renames an item and its uses in its own file; the old name must be bound once, the new one
/// nowhere that it would be read.
pub fn here(mapping: &Mapping<'_>, source: &Source, moved: &Moved, plan: &mut LanguagePlan) {
    let (analysis, item, name) = (&source.analysis, moved.item.as_str(), moved.name.as_str());
    let bindings = analysis.bindings(0, item);
    let taken = !analysis.bindings(0, name).is_empty() || exports::reads_unbound(analysis, name);
    let why = in_the_way(source, moved);
    if let Some(why) = why.or(taken.then_some("the new name is in use in this module")) {
        return refuse(source, moved, why, plan);
    }
    let mut spans: Vec<_> = uses_of(analysis, item).map(|(_, root)| root.span).collect();
    spans.extend(bindings.iter().map(|binding| binding.span));
    spans.extend(reflection::own_name(source, moved));
    spans.extend(in_examples(source, item, |_| true));
    spans.sort();
    spans.dedup();
    let edits = plan.edits.entry(source.path.clone()).or_default();
    edits.extend(spans.into_iter().map(|span| Edit::replace(span, name)));
    let listed = ExportList::new(&source.text);
    let entries = listed.entries.iter().filter(|entry| entry.name == item);
    if moved.change.shim.is_none() {
        edits.extend(entries.map(|entry| Edit::replace(entry.span, name)));
    } else if entries.count() > 0 {
        edits.extend(listed.put_in(&[name]));
    }
    if moved.change.shim.is_some() && source.path.extension() == Some("py") {
        super::shims::append(mapping, source, (&[moved], &[]), None, edits);
    }
}
