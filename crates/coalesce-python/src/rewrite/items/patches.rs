//! Names of a module that others set by a string: `mock.patch("pkg.old.f")`.
//!
//! What is set has to be what is read. So a module that goes on using an item which is set like that
//! reads it through the module that has it now, and a name that only the moved definition read is
//! set where that is.

use std::{collections::BTreeSet, sync::Arc};

use coalesce_model::{
    ByteSpan, Edit, Evidence, Form, LanguagePlan, NotRewritten, Rewrite, Safety, Texts, TreePath,
    Unproven, UnprovenKind,
};

use super::{
    Edits, Moved,
    builtins::is_builtin,
    name_index::NameIndex,
    needs::Origin,
    outline::Outline,
    place::{Arriving, Block, Left},
    set_by_parts::{self, sets},
    source::Source,
    waiting::looks_up_names,
};
use crate::{
    analysis::{Analysis, Binding},
    graph::Entity,
    names::{Names, occurrences},
    rewrite::{imports::relative, is_edited, mapping::Mapping},
};

/// Whether a full name stands at the start of a string in a file that patches, or its last part is
/// set on the module.
pub fn is_set(names: &NameIndex<'_>, full: &str) -> bool {
    let by_string = |text: &str| sets(text) && places(text, full).next().is_some();
    names.may_name(full)
        && (sources(names.texts).any(|(_, text)| by_string(&text))
            || set_by_parts::find(names, full).is_some())
}

/// Whether a file that patches has a full name as a text.
pub fn is_set_by_full_name(names: &NameIndex<'_>, full: &str) -> bool {
    let sets_it = |text: &str| sets(text) && is_set_in_full(text, full);
    names.may_name(full) && sources(names.texts).any(|(_, text)| sets_it(&text))
}

/// Whether a name of a module, whose text this is, is what one statement of it binds, whenever somebody reads it.
pub fn stays_as_bound(names: &NameIndex<'_>, full: &str, text: &str) -> bool {
    let name = full.rsplit('.').next().unwrap_or_default();
    let outline = Outline::new(text);
    let mut globals = outline.globals.iter();
    let analysis = Analysis::new(text);
    analysis.bindings(0, name).len() == 1
        && !looks_up_names(text, &analysis)
        && !globals.any(|(_, global)| global == name)
        && !is_set(names, full)
}

/// The files that set names of modules, with their texts.
pub(super) fn setters(texts: &dyn Texts) -> Vec<(TreePath, Arc<str>)> {
    let found = sources(texts).filter(|(_, text)| sets(text));
    found.map(|(path, text)| (path.clone(), text)).collect()
}

/// Whether one of these files sets a name, by its full name or by its parts.
pub(super) fn is_set_by(
    names: &NameIndex<'_>,
    setters: &[(TreePath, Arc<str>)],
    full: &str,
) -> bool {
    let called = names.called(set_by_parts::module_of(full));
    let mut setters = setters.iter();
    setters.any(|(_, text)| {
        places(text, full).next().is_some() || set_by_parts::is_set_in(text, full, &called)
    })
}

/// Whether a text sets a name by its full name: `"old.requests"`, and not `"old.requests.get"`, which sets what is the same
/// for whoever imported it.
pub(super) fn is_set_in_full(text: &str, full: &str) -> bool {
    places(text, full).any(|span| {
        let rest = text.get(span.end as usize..).unwrap_or_default();
        rest.starts_with(['"', '\''])
    })
}

/// All sources, with their texts.
pub(super) fn sources<'t>(
    texts: &'t dyn Texts,
) -> impl Iterator<Item = (&'t TreePath, Arc<str>)> + 't {
    let paths = texts.paths().iter();
    let paths = paths.filter(|path| path.extension() == Some("py"));
    paths.filter_map(|path| Some((path, texts.text(path)?)))
}

/// Where a string begins with a full name.
fn places<'t>(text: &'t str, full: &'t str) -> impl Iterator<Item = ByteSpan> + 't {
    occurrences(text, full).filter(|span| {
        let before = text.get(..span.start as usize).unwrap_or_default();
        before.ends_with(['"', '\''])
    })
}

/// The import of the module that has an item now, unless the file has it, and the uses that read it
/// there.
pub fn through_module(
    mapping: &Mapping<'_>,
    source: &Source,
    moved: &Moved,
    uses: &[(ByteSpan, bool)],
) -> Option<(Option<String>, Vec<Edit>)> {
    let (above, leaf) = moved.parent.rsplit_once('.')?;
    let analysis = &source.analysis;
    let name = format!("{leaf}.{}", moved.name);
    let edits = uses
        .iter()
        .map(|(span, _)| Edit::replace(*span, name.as_str()));
    let edits: Vec<Edit> = edits.collect();
    let known = analysis.bindings(0, leaf);
    let names = Names::new(mapping.graph, Some(source.module), analysis);
    let same = |binding: &Binding| {
        names.import(binding).is_some_and(|(import, leaf)| {
            let found = mapping.graph.leaf_entity(source.module, import, leaf);
            import.top_level
                && moved
                    .target
                    .is_some_and(|target| found == Entity::Module(target))
        })
    };
    let shadowed = is_bound_inside(analysis, leaf);
    if !known.is_empty() && known.iter().all(same) && !shadowed {
        return Some((None, edits));
    }
    let mut uses = analysis.uses.iter();
    let used = uses.any(|used| used.chain.first().is_some_and(|root| root.text == leaf));
    if !known.is_empty() || shadowed || used {
        return None;
    }
    Some((Some(import_of(mapping, source, above, leaf)), edits))
}

/// Whether something within a module binds a name for itself.
fn is_bound_inside(analysis: &Analysis, name: &str) -> bool {
    let mut inner = analysis.scopes.iter().skip(1);
    inner.any(|scope| scope.bindings.contains_key(name))
}

/// The import of a module, with dots where the file has such imports.
fn import_of(mapping: &Mapping<'_>, source: &Source, above: &str, leaf: &str) -> String {
    let mut imports = source.analysis.imports.iter();
    let dots = imports.any(|(import, _)| import.from.as_ref().is_some_and(|from| from.level > 0));
    let package = mapping.package_after(source.module);
    let parent = dots.then(|| relative(&package, above)).flatten();
    let parent = parent.unwrap_or_else(|| above.to_owned());
    format!("from {parent} import {leaf}")
}

/// Items that their old modules go on reading as names of their own: what is set by the old name is
/// what they read, so the strings that set it stay.
pub fn keep(
    mapping: &Mapping<'_>,
    names: &NameIndex<'_>,
    copies: &BTreeSet<usize>,
    plan: &mut LanguagePlan,
) {
    let copies = copies
        .iter()
        .filter_map(|index| mapping.items.list.get(*index));
    for moved in copies.filter(|moved| names.may_name(&moved.change.from)) {
        let full = &moved.change.from;
        let setting = sources(names.texts).filter(|(_, text)| sets(text));
        for (path, text) in setting {
            places(&text, full).for_each(|span| stays(path, span, moved, plan));
        }
    }
}

fn stays(path: &TreePath, span: ByteSpan, moved: &Moved, plan: &mut LanguagePlan) {
    let Some(edits) = plan.edits.get_mut(path) else {
        return;
    };
    let before = edits.len();
    edits.retain(|edit| !(edit.span == span && edit.text == moved.change.to));
    if edits.len() == before {
        return;
    }
    let full = &moved.change.from;
    plan.rewrites
        .retain(|rewrite| !(rewrite.path == *path && rewrite.span == span));
    let to = &moved.change.to;
    let why = format!("it is set for the readers in the old module alone; others read `{to}`");
    plan.unproven.push(patched(path, span, full, why));
    plan.not_rewritten.push(NotRewritten {
        path: path.clone(),
        span,
        form: Form::String,
        name: full.clone(),
        why: "the old module goes on reading this name of its own".to_owned(),
    });
}

fn patched(path: &TreePath, span: ByteSpan, name: &str, why: String) -> Unproven {
    Unproven {
        path: path.clone(),
        span: Some(span),
        kind: UnprovenKind::Patch,
        name: name.to_owned(),
        why,
    }
}

/// Strings that set a name of the old module which the definitions have taken along.
pub fn follow(
    mapping: &Mapping<'_>,
    names: &NameIndex<'_>,
    arriving: &Arriving,
    plan: &mut LanguagePlan,
    edits: &mut Edits,
) {
    for block in &arriving.blocks {
        let moved = mapping.items.list.get(block.index);
        let mut lefts = arriving.left.iter();
        let left = lefts.find(|left| left.source.path == block.path);
        let Some((moved, left)) = moved.zip(left) else {
            continue;
        };
        let module = mapping.graph.modules.get(left.source.module);
        let Some(module) = module.filter(|_| !left.source.is_stub()) else {
            continue;
        };
        for name in taken_along(left, block) {
            let full = format!("{}.{name}", module.name);
            let new = format!("{}.{name}", moved.parent);
            if names.may_name(&full) {
                plan.unproven.extend(set_by_parts_of(names, (&full, &new)));
                let stays = still_used(left, &name);
                set_elsewhere(names.texts, (&full, &new), stays, plan, edits);
            }
        }
    }
}

/// What a definition has by imports that go along with it, or is built in.
fn taken_along(left: &Left, block: &Block) -> BTreeSet<String> {
    let imported = block.needs.iter();
    let imported = imported.filter(|need| matches!(need.origin, Origin::Import { .. }));
    let imported = imported.map(|need| need.name.clone());
    imported.chain(built_in(left, block)).collect()
}

/// That somebody sets a name without spelling it out.
fn set_by_parts_of(names: &NameIndex<'_>, (full, new): (&str, &str)) -> Option<Unproven> {
    let path = set_by_parts::find(names, full)?;
    Some(Unproven {
        path,
        span: None,
        kind: UnprovenKind::Patch,
        name: full.to_owned(),
        why: format!("it is set here; the moved definition reads `{new}`"),
    })
}

/// What is built in and used by a definition: a test may put a name of the module before it.
fn built_in(left: &Left, block: &Block) -> Vec<String> {
    let analysis = &left.source.analysis;
    let roots = analysis.uses_in(&block.extents).filter_map(|used| {
        let root = used.chain.first()?;
        let free = analysis.binding_scope(used.scope, &root.text).is_none();
        (free && is_builtin(&root.text)).then(|| root.text.clone())
    });
    roots.collect()
}

fn still_used(left: &Left, name: &str) -> bool {
    left.source.analysis.uses_of(name).any(|used| {
        let root = used.chain.first();
        root.is_some_and(|root| !left.extents.iter().any(|extent| extent.contains(root.span)))
    })
}

fn set_elsewhere(
    texts: &dyn Texts,
    (full, new): (&str, &str),
    stays: bool,
    plan: &mut LanguagePlan,
    edits: &mut Edits,
) {
    let files = texts.paths().iter();
    for path in files.filter(|path| path.extension() == Some("py")) {
        let Some(text) = texts.text(path).filter(|text| text.contains(full)) else {
            continue;
        };
        for span in places(&text, full) {
            // `old.requests.get` sets a name of `requests`, whoever imported that.
            let whole = text
                .get(span.end as usize..)
                .is_some_and(|rest| rest.starts_with(['"', '\'']));
            if stays && whole {
                keep_for_old(path, span, (full, new), plan);
            } else if !stays && !is_edited(plan, path, span) {
                let own = edits.entry(path.clone()).or_default();
                own.push(Edit::replace(span, new));
                plan.rewrites.push(follows(path, span, (full, new)));
            }
        }
    }
}

/// A string that sets what the old module goes on reading.
fn keep_for_old(
    path: &TreePath,
    span: ByteSpan,
    (full, new): (&str, &str),
    plan: &mut LanguagePlan,
) {
    plan.not_rewritten.push(NotRewritten {
        path: path.clone(),
        span,
        form: Form::String,
        name: full.to_owned(),
        why: format!(
            "the moved definition reads `{new}` instead; the old module still has its own"
        ),
    });
    plan.unproven.push(Unproven {
        path: path.clone(),
        span: Some(span),
        kind: UnprovenKind::Patch,
        name: full.to_owned(),
        why: format!("it is set for what stays; the moved definition reads `{new}`"),
    });
}

fn follows(path: &TreePath, span: ByteSpan, (full, new): (&str, &str)) -> Rewrite {
    Rewrite {
        path: path.clone(),
        span,
        form: Form::String,
        evidence: Evidence::ExactName,
        from: full.to_owned(),
        to: new.to_owned(),
        reason: "the import has gone along with what uses it".to_owned(),
        safety: Safety::NeedsReview,
    }
}
