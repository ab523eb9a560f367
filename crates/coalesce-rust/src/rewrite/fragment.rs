//! Code that belongs to no crate: blocks of documents. Full names are followed there, and what imports of the block
//! bring by shorter ones.

mod documentation;
mod imports;

use std::{collections::BTreeMap, sync::Arc};

use coalesce_model::{ByteSpan, Edit, Evidence, Form, Rewrite, Safety, Texts, TreePath};

pub(super) use self::documentation::{documentation, documented_modules, included_documents};
use self::imports::{FragmentImports, Spelling};
use super::{
    mapping::Mapping,
    mentions,
    spell::written,
    use_tree::{self, LeafChange},
};
use crate::facts::{self, LeafKind, Namespaces, Segment, SourceFacts, UseDeclaration};

/// The references of a piece of code to what moves, and the edit of each.
pub(super) fn rewrite(mapping: &Mapping<'_>, code: &str) -> Vec<(Rewrite, Edit)> {
    let parsed = facts::document_code(code);
    let is_parsed = parsed.is_some();
    let facts = parsed.unwrap_or_else(|| facts::source_facts(code));
    let mut imports = FragmentImports::new(mapping, &facts);
    let mut found = Vec::new();
    for (at, path) in facts.paths.iter().enumerate() {
        let segments = facts.segments(path.segments);
        let spelling = match renamed(mapping, &facts, (segments, path.namespaces)) {
            Some((from, to)) if !imports.is_bound(path) => Some(Spelling {
                from,
                to,
                len: segments.len(),
            }),
            _ if is_parsed => imports.follow(at),
            _ => None,
        };
        let Some(Spelling { from, to, len }) = spelling else {
            continue;
        };
        let replaced = segments.get(..len).unwrap_or_default();
        if let (Some(first), Some(last)) = (replaced.first(), replaced.last()) {
            let span = first.span.cover(last.span);
            found.push((rewrite_of(span, from, &to), Edit::replace(span, to)));
        }
    }
    let spent = imports.spent();
    for declaration in &facts.uses {
        found.extend(rewrite_imports(
            &imports,
            (&facts, code),
            declaration,
            &spent,
        ));
    }
    found
}

/// The same of what one `use` declaration imports; `spent` are the leaves that bring nothing more of use.
fn rewrite_imports(
    imports: &FragmentImports<'_>,
    (facts, code): (&SourceFacts, &str),
    declaration: &UseDeclaration,
    spent: &BTreeMap<u32, (String, String)>,
) -> Vec<(Rewrite, Edit)> {
    let mut changes = BTreeMap::new();
    let mut first = None;
    for at in declaration.leaves.0..declaration.leaves.1 {
        let leaf = facts.leaf(at);
        let segments = facts.segments(leaf.segments);
        if let Some((from, to)) = spent.get(&at) {
            changes.insert(at, LeafChange::Drop);
            first.get_or_insert_with(|| rewrite_of(leaf.span, from.clone(), to));
            continue;
        }
        let new = renamed(imports.mapping, facts, (segments, Namespaces::ALL))
            .or_else(|| imports.follow_import(at));
        let Some((from, to)) = new else {
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
    (segments, wanted): (&[Segment], Namespaces),
) -> Option<(String, String)> {
    mentions::full_name_in(mapping, &names_of(facts, segments).join("::"), wanted)
}

/// The names of segments, as code writes them.
fn names_of(facts: &SourceFacts, segments: &[Segment]) -> Vec<String> {
    let names = segments.iter().map(|one| written(facts.name(one.name)));
    names.collect()
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
