//! Names without a point in hand-written lists: packages at the top, and modules that are in no package, `py-modules`. What
//! is listed there goes by its new name, what is gone goes from the list, and modules that come into being join it.

use std::collections::BTreeSet;

use coalesce_model::{
    ByteSpan, Change, ChangeKind, Edit, Evidence, Form, LanguagePlan, Rewrite, Safety, Subject,
    Texts, TreePath,
};

use super::{Entry, ListKind, insertion, join_edit, joined, lists, project_files};
use crate::rewrite::{Mapping, remove_from_list};

/// Brings the lists of modules up to date.
pub fn module_lists(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let new = new_modules(mapping);
    let at_top = |change: &Change| !change.from.contains('.');
    if new.is_empty() && !mapping.changes.iter().any(at_top) {
        return;
    }
    for (path, text) in project_files(texts) {
        let found = new
            .iter()
            .filter(|(_, file)| is_looked_for(mapping, &path, file.as_ref()));
        let new: BTreeSet<&str> = found.map(|(name, _)| *name).collect();
        for list in lists(&path, &text, ListKind::Modules) {
            update(mapping, (&path, &text), &list, &new, plan);
        }
        for list in lists(&path, &text, ListKind::Packages) {
            rename_packages(mapping, (&path, &text), &list, plan);
        }
    }
}

/// Modules in no package that are there after the plan and were not before, each with its file.
fn new_modules<'m>(mapping: &'m Mapping<'_>) -> BTreeSet<(&'m str, Option<TreePath>)> {
    let graph = mapping.graph;
    let modules = mapping.changes.iter();
    let modules = modules.filter(|change| change.kind == ChangeKind::Move);
    let modules = modules.filter_map(|change| {
        let module = graph.modules.get(graph.find(None, &change.from)?)?;
        let file = mapping.files.get(&module.path).cloned();
        (!module.package).then_some((change.to.as_str(), file))
    });
    let items = mapping.items.list.iter();
    let items = items.filter(|moved| moved.travels() && moved.target.is_none());
    let items = items.map(|moved| (moved.parent.as_str(), moved.path_after(mapping)));
    let all = modules.chain(items);
    all.filter(|(name, _)| !name.contains('.')).collect()
}

/// Whether the build of a project file looks for modules at the top where a file is: beside it, or in a folder that it
/// or a file beside it says.
fn is_looked_for(mapping: &Mapping<'_>, project: &TreePath, file: Option<&TreePath>) -> bool {
    let Some(folder) = file.and_then(TreePath::parent) else {
        return true;
    };
    let around = project.parent().unwrap_or_else(TreePath::root);
    let declared = mapping.graph.projects.iter();
    let mut declared = declared
        .filter(|(path, _)| path.parent().unwrap_or_else(TreePath::root) == around)
        .flat_map(|(_, facts)| &facts.declared_roots);
    folder == around || declared.any(|(root, _)| around.join(root).is_ok_and(|root| root == folder))
}

/// The name of an entry after the plan; none where nothing is left that it names.
fn after<'e>(mapping: &'e Mapping<'_>, entry: &'e Entry) -> Option<&'e str> {
    let mut changes = mapping.changes.iter();
    let change = changes.find(|change| {
        change.subject == Subject::Module && change.from == entry.name && change.shim.is_none()
    });
    match change {
        None => Some(&entry.name),
        Some(change) if change.kind == ChangeKind::Move && !change.to.contains('.') => {
            Some(&change.to)
        }
        Some(_) => None,
    }
}

fn update(
    mapping: &Mapping<'_>,
    (path, text): (&TreePath, &str),
    list: &[Entry],
    new: &BTreeSet<&str>,
    plan: &mut LanguagePlan,
) {
    let known = |entry: &Entry| mapping.graph.find(None, &entry.name).is_some();
    if !list.iter().any(known) {
        return;
    }
    let names: Vec<Option<&str>> = list.iter().map(|entry| after(mapping, entry)).collect();
    for (entry, name) in list.iter().zip(&names) {
        if let Some(name) = name.filter(|name| *name != entry.name) {
            rename((path, text), entry, name, plan);
        }
    }
    let edits = plan.edits.entry(path.clone()).or_default();
    let gone: Vec<bool> = names.iter().map(Option::is_none).collect();
    let spans: Vec<_> = list.iter().map(|entry| entry.span).collect();
    let Some(last) = gone.iter().rposition(|gone| !gone) else {
        edits.extend(whole(text, &spans).map(Edit::delete));
        return;
    };
    let removal = remove_from_list(text, &spans, &gone);
    edits.extend(removal.spans.into_iter().map(Edit::delete));
    let Some(last) = list.get(last) else { return };
    for name in new.iter().filter(|name| !names.contains(&Some(**name))) {
        join_edit(edits, insertion(path, text, last, name));
        plan.notes.push(joined(path, last, name, "modules"));
    }
    if edits.is_empty() {
        plan.edits.remove(path);
    }
}

/// Packages at the top go by their new names; a shim that stays is listed as one that comes into being.
fn rename_packages(
    mapping: &Mapping<'_>,
    file: (&TreePath, &str),
    list: &[Entry],
    plan: &mut LanguagePlan,
) {
    for entry in list.iter().filter(|entry| !entry.name.contains('.')) {
        let mut changes = mapping.changes.iter();
        let change = changes.find(|change| {
            change.kind == ChangeKind::Move && change.from == entry.name && change.to != entry.name
        });
        if let Some(change) = change {
            rename(file, entry, &change.to, plan);
        }
    }
}

fn rename((path, text): (&TreePath, &str), entry: &Entry, name: &str, plan: &mut LanguagePlan) {
    let written = entry.span.of(text).unwrap_or_default();
    let edit = Edit::replace(entry.span, written.replace(&entry.name, name));
    plan.edits.entry(path.clone()).or_default().push(edit);
    plan.rewrites.push(Rewrite {
        path: path.clone(),
        span: entry.span,
        form: Form::Configuration,
        evidence: Evidence::ExactName,
        from: entry.name.clone(),
        to: name.to_owned(),
        reason: "a name in a list of a project file".to_owned(),
        safety: Safety::Safe,
    });
}

/// All entries of a list, with the comma behind the last.
fn whole(text: &str, entries: &[ByteSpan]) -> Option<ByteSpan> {
    let (first, last) = entries.first().zip(entries.last())?;
    let comma = text.get(last.end as usize..)?.starts_with(',');
    Some(ByteSpan::new(first.start, last.end + u32::from(comma)))
}
