//! An item that gets another name where it is.

use coalesce_model::{Edit, LanguagePlan, finding::codes};

use super::{Moved, exports, reflection, refusal, source::Source};
use crate::rewrite::{export_list::ExportList, mapping::Mapping};

/// Renames an item and its uses in its own file; the old name must be bound once, the new one
/// nowhere that it would be read.
pub fn here(mapping: &Mapping<'_>, source: &Source, moved: &Moved, plan: &mut LanguagePlan) {
    let (analysis, item, name) = (&source.analysis, moved.item.as_str(), moved.name.as_str());
    let bindings = analysis.bindings(0, item);
    let imported = bindings.iter().any(|binding| binding.import.is_some());
    let uses: Vec<_> = analysis
        .uses
        .iter()
        .filter_map(|used| Some((used, used.chain.first()?)))
        .filter(|(used, root)| {
            root.text == item && analysis.binding_scope(used.scope, item) == Some(0)
        })
        .collect();
    let hidden = uses.iter().find(|(used, _)| {
        analysis
            .binding_scope(used.stands_in, name)
            .is_some_and(|scope| scope != 0)
    });
    let global = source
        .outline
        .globals
        .iter()
        .any(|(_, other)| other == name);
    let removed = !moved.travels();
    let taken = !removed && !analysis.bindings(0, name).is_empty();
    let captured = exports::reads_unbound(analysis, name);
    let why = if imported {
        "an import binds the old name, too"
    } else if hidden.is_some() || global {
        "the new name means something else where the old one is used"
    } else if taken || (captured && !removed) {
        "the new name is in use in this module"
    } else {
        let mut spans: Vec<_> = uses.iter().map(|(_, root)| root.span).collect();
        spans.extend(bindings.iter().map(|binding| binding.span));
        spans.extend(reflection::own_name(source, moved));
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
        return;
    };
    let span = bindings.first().map(|binding| binding.span);
    let message = format!("`{}` cannot become `{name}`: {why}", moved.change.from);
    let refused = refusal(&source.path, span, message, None);
    plan.refusals.push(refused.coded(codes::NAME_TAKEN));
}
