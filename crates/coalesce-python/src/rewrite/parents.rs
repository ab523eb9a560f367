//! Modules that were attributes of their packages, and stay so behind a shim.
//!
//! `from .old import *` in a package made `old` an attribute of it, for whoever writes
//! `import pkg; pkg.old.f()`. When the statement names another module and nobody imports the shim,
//! nothing does: the package goes on binding the name, to the module that has what the shim forwards.
//! Where that would execute a module too early, it does not, and that is told.

use coalesce_model::{
    Change, ChangeKind, Edit, Evidence, Finding, Form, LanguagePlan, Module, Rewrite, Safety,
    Severity, Texts, finding::codes,
};

use crate::{
    analysis::Analysis,
    extract::SHIM_ATTRIBUTE,
    facts::ImportStatement,
    names::is_or_below,
    rewrite::{file::File, imports::relative, items::Header, lost, mapping::Mapping},
};

/// Binds what would be lost, or tells that it is.
pub fn plan(mapping: &Mapping<'_>, binds: bool, texts: &dyn Texts, plan: &mut LanguagePlan) {
    for change in &mapping.changes {
        let leaves = matches!(change.kind, ChangeKind::Move | ChangeKind::Replace { .. });
        if leaves && change.shim.is_some() {
            keep(mapping, change, binds, texts, plan);
        }
    }
}

/// What somebody has to know who reads the old module from its package.
fn lost(change: &Change, package: &Module) -> Finding {
    let old = &change.from;
    Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Warning,
        path: package.path.clone(),
        span: None,
        message: format!(
            "`{old}` is no attribute of its package any more before somebody imports it: to bind it there would \
             execute `{}` too early",
            change.to
        ),
        help: Some(format!(
            "who reads it from `{}` writes `import {old}`",
            package.name
        )),
    }
}

fn keep(
    mapping: &Mapping<'_>,
    change: &Change,
    binds: bool,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) -> Option<()> {
    let graph = mapping.graph;
    let (above, leaf) = change.from.rsplit_once('.')?;
    let (module, package) = (graph.find(None, &change.from)?, graph.find(None, above)?);
    // Of a namespace package there is no file.
    let top = graph.find(None, above.split('.').next()?);
    let own = graph.modules.get(package)?;
    // The last question follows all that is imported.
    if !stays(mapping, package)
        || graph.binds(package, leaf)
        || !lost::loads_before(mapping, package, module)
    {
        return None;
    }
    if !binds {
        plan.notes.push(lost(change, own));
        return None;
    }
    bind(mapping, (own, change), (&change.to, leaf), texts, plan);
    // What loaded the module on its way loads its package no more.
    let top = top.filter(|top| *top != package && stays(mapping, *top))?;
    let outer = graph.modules.get(top)?;
    if mapping.lost.contains(above) {
        let last = above.rsplit('.').next().unwrap_or(above);
        let direct = above.matches('.').count() == 1;
        let bound = if direct {
            last.to_owned()
        } else {
            format!("_{last}")
        };
        bind(mapping, (outer, change), (above, &bound), texts, plan);
    }
    Some(())
}

/// Whether a package is a file that stays where it is.
fn stays(mapping: &Mapping<'_>, package: usize) -> bool {
    let own = mapping.graph.modules.get(package);
    own.is_some_and(|own| own.package && own.path.extension() == Some("py"))
        && mapping.new_name(package).is_none()
}

/// Makes a package import a module under a name.
fn bind(
    mapping: &Mapping<'_>,
    (own, change): (&Module, &Change),
    (target, bound): (&str, &str),
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) -> Option<()> {
    let text = texts.text(&own.path)?;
    let analysis = Analysis::new(&text);
    let file = File::new(
        mapping,
        mapping.graph.module_of(&own.path),
        &text,
        &analysis,
    );
    let statement = statement((own, change), (target, bound), &analysis)?;
    let mut imports = analysis.imports.iter().map(|(import, _)| import);
    let loading = imports.rfind(|import| {
        let plain = import.eager && import.top_level && !import.conditional;
        plain && leads_below(&file, import, &change.from)
    });
    let edit = match loading {
        Some(import) => {
            let (at, before) = file.place_after(import);
            Edit::insert(at, format!("{before}{statement}"))
        }
        None => {
            let header = Header::of(&text);
            Edit::insert(header.at, header.text(&[statement]))
        }
    };
    plan.rewrites.push(Rewrite {
        path: own.path.clone(),
        span: edit.span,
        form: Form::Reexport,
        evidence: Evidence::Resolved,
        from: change.from.clone(),
        to: change.to.clone(),
        reason: format!(
            "`{}` goes on being an attribute of its package",
            change.from
        ),
        safety: Safety::Safe,
    });
    let edits = plan.edits.entry(own.path.clone()).or_default();
    // Statements at one place are one edit.
    let mut known = edits.iter_mut();
    match known.find(|other| other.span == edit.span && edit.span.is_empty()) {
        Some(other) => other.text.push_str(&edit.text),
        None => edits.push(edit),
    }
    Some(())
}

/// Whether a statement executes a module or one below it.
fn leads_below(file: &File<'_>, import: &ImportStatement, name: &str) -> bool {
    let covers = |other: &str| is_or_below(other, name);
    let base = import.base(file.package);
    let mut leaves = import.leaves.iter();
    base.as_deref().is_some_and(covers)
        || leaves.any(|leaf| {
            let full = import.full_name(leaf, file.package);
            full.is_some_and(|full| covers(&full))
        })
}

fn statement(
    (package, change): (&Module, &Change),
    (target, bound): (&str, &str),
    analysis: &Analysis,
) -> Option<String> {
    let manifest = &change.shim.as_ref()?.manifest;
    let mut imports = analysis.imports.iter();
    let dots = imports.any(|(import, _)| import.from.as_ref().is_some_and(|from| from.level > 0));
    let marker = format!("  # noqa: F401  {SHIM_ATTRIBUTE}{manifest}");
    let Some((parent, name)) = target.rsplit_once('.') else {
        return Some(format!("import {target} as {bound}{marker}"));
    };
    let parent = dots
        .then(|| relative(&package.name, parent))
        .flatten()
        .unwrap_or_else(|| parent.to_owned());
    let alias = if name == bound {
        String::new()
    } else {
        format!(" as {bound}")
    };
    Some(format!("from {parent} import {name}{alias}{marker}"))
}
