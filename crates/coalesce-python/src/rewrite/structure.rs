//! Files: what moves, what goes, which packages and shims come into being.

use std::collections::BTreeSet;

use coalesce_model::{
    Change, ChangeKind, FileMove, Finding, LanguagePlan, NewFile, Severity, Texts, TreePath,
    finding::codes,
};

use crate::{rewrite::mapping::Mapping, shim};

/// The file operations of a set of changes.
pub fn plan(mapping: &Mapping<'_>, texts: &dyn Texts) -> LanguagePlan {
    let moves = mapping.files.iter().map(|(from, to)| FileMove {
        from: from.clone(),
        to: to.clone(),
    });
    let mut plan = LanguagePlan {
        moves: moves.collect(),
        deletes: mapping.gone.iter().cloned().collect(),
        ..LanguagePlan::default()
    };
    let arriving: BTreeSet<TreePath> = mapping.files.values().cloned().collect();
    for change in mapping.changes {
        if change.kind == ChangeKind::Move {
            packages(mapping, change, texts, &arriving, &mut plan);
        }
        if change.shim.is_some() {
            shims(mapping, change, &mut plan);
        }
    }
    plan.creates.sort();
    plan.creates.dedup();
    plan
}

/// Regular packages on the way to a moved module that do not exist yet.
fn packages(
    mapping: &Mapping<'_>,
    change: &Change,
    texts: &dyn Texts,
    arriving: &BTreeSet<TreePath>,
    plan: &mut LanguagePlan,
) {
    let Some(module) = mapping
        .graph
        .find(None, &change.from)
        .and_then(|index| mapping.graph.modules.get(index))
    else {
        return;
    };
    let Some(target) = mapping.files.get(&module.path) else {
        return;
    };
    let mut depth = change.to.split('.').count() - 1;
    let mut directory = target.parent();
    if module.package {
        directory = directory.and_then(|directory| directory.parent());
    }
    while let Some(package) = directory.filter(|package| depth > 0 && !package.is_root()) {
        depth -= 1;
        let Ok(file) = package.join("__init__.py") else {
            return;
        };
        if !texts.is_directory(&package) && !texts.exists(&file) && !arriving.contains(&file) {
            let reason = format!("makes the package that `{}` moves to", change.from);
            plan.notes.push(Finding {
                code: codes::UNSAFE_CHANGE,
                severity: Severity::Note,
                path: file.clone(),
                span: None,
                message: format!("a new package, made for `{}`", change.to),
                help: None,
            });
            plan.creates.push(NewFile {
                path: file,
                text: String::new(),
                reason,
            });
        }
        directory = package.parent();
    }
}

/// A shim for the module and for each module below it.
fn shims(mapping: &Mapping<'_>, change: &Change, plan: &mut LanguagePlan) {
    let Some(request) = &change.shim else { return };
    let below = format!("{}.", change.from);
    for (index, module) in mapping.graph.modules.iter().enumerate() {
        let own = module.name == change.from || module.name.starts_with(&below);
        let touched =
            mapping.files.contains_key(&module.path) || mapping.gone.contains(&module.path);
        let nearer = mapping.changes.iter().any(|other| {
            other.from.len() > change.from.len()
                && (module.name == other.from
                    || module.name.starts_with(&format!("{}.", other.from)))
        });
        if !own || !touched || nearer || module.path.extension() != Some("py") {
            continue;
        }
        let renames = match &change.kind {
            ChangeKind::Replace { rename } if module.name == change.from => rename.clone(),
            _ => Vec::new(),
        };
        let text = shim::text(&shim::Shim {
            old: &module.name,
            new: &mapping.name_after(index),
            request,
            exports: &module.exports,
            renames: &renames,
        });
        let reason = format!("keeps `{}` working until it is removed", module.name);
        plan.creates.push(NewFile {
            path: module.path.clone(),
            text,
            reason,
        });
    }
}
