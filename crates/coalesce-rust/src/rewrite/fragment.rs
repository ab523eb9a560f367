//! Code that belongs to no crate: fenced blocks of documents. Only full names are followed there.

use std::{collections::BTreeMap, sync::Arc};

use coalesce_model::{ByteSpan, Edit, Evidence, Form, Rewrite, Safety, Texts, TreePath};

use super::{
    mapping::Mapping,
    mentions,
    spell::written,
    use_tree::{self, LeafChange},
};
use crate::facts::{self, LeafKind, Segment, SourceFacts, UseDeclaration};

/// The references of a piece of code to what moves, and the edit of each.
pub(super) fn rewrite(mapping: &Mapping<'_>, code: &str) -> Vec<(Rewrite, Edit)> {
    let facts = facts::source_facts(code);
    let mut found = Vec::new();
    for path in &facts.paths {
        let segments = facts.segments(path.segments);
        let Some((from, to)) = renamed(mapping, &facts, segments) else {
            continue;
        };
        if let (Some(first), Some(last)) = (segments.first(), segments.last()) {
            let span = first.span.cover(last.span);
            found.push((rewrite_of(span, from, &to), Edit::replace(span, to)));
        }
    }
    for declaration in &facts.uses {
        found.extend(rewrite_imports(mapping, (&facts, code), declaration));
    }
    found
}

/// The same of what one `use` declaration imports.
fn rewrite_imports(
    mapping: &Mapping<'_>,
    (facts, code): (&SourceFacts, &str),
    declaration: &UseDeclaration,
) -> Vec<(Rewrite, Edit)> {
    let mut changes = BTreeMap::new();
    let mut first = None;
    for at in declaration.leaves.0..declaration.leaves.1 {
        let leaf = facts.leaf(at);
        let segments = facts.segments(leaf.segments);
        let Some((from, to)) = renamed(mapping, facts, segments) else {
            continue;
        };
        let path: Vec<String> = to.split("::").map(str::to_owned).collect();
        let bound = leaf.alias.or_else(|| segments.last().copied());
        let bound = bound.map(|bound| facts.name(bound.name).to_owned());
        let alias = bound.filter(|bound| leaf.kind != LeafKind::Glob && Some(bound) != path.last());
        changes.insert(at, LeafChange::Path { path, alias });
        first.get_or_insert_with(|| rewrite_of(leaf.span, from, &to));
    }
    let Some(rewrite) = first else {
        return Vec::new();
    };
    let edits = use_tree::edit(facts, code, declaration, &changes, &[]).into_iter();
    edits.map(|edit| (rewrite.clone(), edit)).collect()
}

fn renamed(
    mapping: &Mapping<'_>,
    facts: &SourceFacts,
    segments: &[Segment],
) -> Option<(String, String)> {
    let names: Vec<String> = segments
        .iter()
        .map(|segment| written(facts.name(segment.name)))
        .collect();
    mentions::full_name(mapping, &names.join("::"))
}

fn rewrite_of(span: ByteSpan, from: String, to: &str) -> Rewrite {
    Rewrite {
        path: TreePath::root(),
        span,
        form: Form::DocCode,
        evidence: Evidence::ExactName,
        from,
        to: to.to_owned(),
        reason: "names what moves".to_owned(),
        safety: Safety::Safe,
    }
}

/// The texts of a piece of code that stands in no file of the tree: none are needed.
pub(super) struct NoTexts;

impl Texts for NoTexts {
    fn text(&self, _path: &TreePath) -> Option<Arc<str>> {
        None
    }

    fn paths(&self) -> &[TreePath] {
        &[]
    }
}
