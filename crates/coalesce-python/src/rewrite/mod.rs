//! From changes to a proposal: which files move, and what every file that names them becomes.
//!
//! Each file is judged by itself against one [`mapping::Mapping`]; nothing is written here.

mod accessors;
mod bare;
mod begun_by_names;
mod by_text;
mod chains;
mod discovery;
mod doctests;
mod documents;
mod entry_points;
pub(crate) mod export_list;
mod exports;
mod file;
mod finders;
mod handed;
mod hidden_modules;
mod imports;
mod introspection;
mod items;
mod keys;
mod lazy;
pub(crate) mod list;
mod log_formats;
mod log_records;
mod logger_filters;
mod lost;
mod mapping;
mod module_names;
mod module_reads;
mod module_values;
mod named_beside;
mod names_in_parts;
mod offers;
mod open_names;
mod own_place;
mod package_data;
mod parents;
mod paths;
mod paths_upward;
mod places;
mod pytest;
mod removal;
mod run_by_path;
mod run_time_asked;
mod run_time_reach;
mod search_path;
mod snippet;
mod strings;
mod structure;
mod tables;
mod template_tags;
mod type_checkers;
mod uses;
mod warning_filters;
mod words;

pub use accessors::rewrite as access;
pub(crate) use imports::relative;
pub use items::SHIM_OF_ITEMS;
pub(crate) use items::{
    Header, NameIndex, bound_for_certain, inside_functions, is_builtin, on_request, stays_as_bound,
    taken_from,
};
pub use items::{same_value, signatures_apart};
pub(crate) use list::remove as remove_from_list;
pub use mapping::Mapping;
pub(crate) use places::is_test;
pub(crate) use search_path::is_program;

use std::collections::BTreeMap;

use coalesce_model::{
    ByteSpan, Change, ChangeKind, Edit, Finding, Form, LanguagePlan, MemoryTexts, ModuleKind,
    Rewrite, Severity, Subject, Texts, TreePath, finding::codes, language::RewriteOptions,
};
use rayon::prelude::*;

use crate::{
    analysis::Analysis,
    graph::PythonGraph,
    project_edit,
    rewrite::file::{File, FileEdits},
};

/// In how many ways a set of changes could be worked out.
pub fn ways(changes: &[Change]) -> usize {
    let shimmed = |change: &Change| change.kind == ChangeKind::Move && change.shim.is_some();
    if moves_items(changes) {
        items::Way::ALL.len()
    } else if changes.iter().any(shimmed) {
        // With what was an attribute of its package bound there, and without.
        2
    } else {
        1
    }
}

fn moves_items(changes: &[Change]) -> bool {
    let moves =
        |change: &Change| change.subject == Subject::Item && change.kind == ChangeKind::Move;
    changes.iter().any(moves)
}

/// What leaves one file is held against each other piece of it: of more items no plan is made.
const MOST_ITEMS_OF_A_MODULE: usize = 4_000;

/// The refusal to plan for so many items of one module.
fn too_many_items(changes: &[Change]) -> Option<Finding> {
    let mut of_each: BTreeMap<&str, usize> = BTreeMap::new();
    let items = changes.iter().filter(|one| one.subject == Subject::Item);
    for (module, _) in items.filter_map(|change| change.from.rsplit_once('.')) {
        *of_each.entry(module).or_default() += 1;
    }
    let (module, count) = of_each
        .into_iter()
        .find(|(_, count)| *count > MOST_ITEMS_OF_A_MODULE)?;
    let message = format!(
        "{count} items of `{module}` change; plans are made for up to {MOST_ITEMS_OF_A_MODULE} of one module"
    );
    let help =
        "move, replace or merge the module, or migrate its items by several manifests, one after the other".to_owned();
    Some(Finding::refusal(TreePath::root(), message).with_help(help))
}

/// Works out the proposal for a set of changes.
pub fn rewrite(
    graph: &PythonGraph,
    changes: &[Change],
    options: RewriteOptions,
    texts: &dyn Texts,
) -> LanguagePlan {
    if let Some(refusal) = too_many_items(changes) {
        return LanguagePlan {
            refusals: vec![refusal],
            ..LanguagePlan::default()
        };
    }
    let way = items::Way::numbered(options.way);
    if way.along
        && let Some(more) = items::along(graph, changes, texts)
    {
        let mut plan = in_one_way(graph, &more.changes, options, texts);
        plan.notes.extend(more.notes);
        return plan;
    }
    in_one_way(graph, changes, options, texts)
}

fn in_one_way(
    graph: &PythonGraph,
    changes: &[Change],
    options: RewriteOptions,
    texts: &dyn Texts,
) -> LanguagePlan {
    let mapping = Mapping::new(graph, changes, texts);
    let mut plan = structure::plan(&mapping, texts);
    let files: Vec<(FileEdits, Vec<(Edit, usize)>)> = graph
        .modules
        .par_iter()
        .enumerate()
        .filter(|(module, _)| !mapping.goes_away(*module))
        .filter_map(|(module, found)| {
            let text = texts.text(&found.path)?;
            let concerned =
                mapping.mentioned(&text) || mapping.moves(module) || mapping.items.concerns(module);
            concerned.then(|| one_file(&mapping, module, &found.path, &text, options))
        })
        .collect();
    let mut edits: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
    for (file, made) in files {
        if !made.is_empty() {
            let made = made.into_iter().map(|(edit, _)| edit).collect();
            edits.insert(file.told.path.clone(), made);
        }
        plan.tell(file.told);
        plan.refusals.extend(file.refusals);
        plan.notes.extend(file.notes);
    }
    for (path, made) in edits {
        plan.edits.entry(path).or_default().extend(made);
    }
    tables::unknown(&mapping, texts, &mut plan);
    begun_by_names::check(&mapping, texts, &mut plan);
    keys::check(&mapping, texts, &mut plan);
    let binds = options.way == 0 || moves_items(changes);
    parents::plan(&mapping, binds, texts, &mut plan);
    places::check(&mapping, texts, &mut plan);
    search_path::check(&mapping, texts, &mut plan);
    entry_points::check(&mapping, texts, &mut plan);
    discovery::check(&mapping, texts, &mut plan);
    let readers = module_names::Readers::new(&mapping, texts);
    introspection::check(&mapping, &readers, texts, &mut plan);
    logger_filters::check(&mapping, &readers, texts, &mut plan);
    log_formats::check(&mapping, &readers, texts, &mut plan);
    log_records::check(&mapping, &readers, texts, &mut plan);
    warning_filters::check(&mapping, &readers, texts, &mut plan);
    module_values::packages(&mapping, texts, &mut plan);
    module_values::arrivals(&mapping, texts, &mut plan);
    package_data::check(&mapping, texts, &mut plan);
    pytest::check(&mapping, texts, &mut plan);
    items::plan(&mapping, options, texts, &mut plan);
    introspection::lists_read(&mapping, texts, &mut plan);
    removal::plan(&mapping, texts, &mut plan);
    project_edit::package_lists(&mapping, texts, &mut plan);
    project_edit::module_lists(&mapping, texts, &mut plan);
    project_edit::names_in_settings(&mapping, texts, &mut plan);
    project_edit::modules_in_heads(&mapping, texts, &mut plan);
    project_edit::checked_otherwise(&mapping, texts, &mut plan);
    project_edit::names_in_builds(&mapping, texts, &mut plan);
    doctests::check(&mapping, texts, &mut plan);
    by_place_and_name(&mapping, texts, &mut plan);
    template_tags::check(&mapping, texts, &mut plan);
    project_edit::check_what_is_built(&mapping, texts, &mut plan);
    plan
}

/// Whether a plan has another text for what stands at a place, or for a part of it.
pub(crate) fn is_edited(plan: &LanguagePlan, path: &TreePath, span: ByteSpan) -> bool {
    let mut edits = plan.edits.get(path).into_iter().flatten();
    edits.any(|edit| edit.span.start < span.end && span.start < edit.span.end)
}

/// The references of a piece of code that belongs to no module.
pub fn fragment(graph: &PythonGraph, changes: &[Change], code: &str) -> Vec<(Rewrite, Edit)> {
    let nothing = MemoryTexts::default();
    let mapping = Mapping::new(graph, changes, &nothing);
    if !mapping.mentioned(code) {
        return Vec::new();
    }
    let (found, edits) = snippet::rewrite_fragment(&mapping, code);
    edits
        .into_iter()
        .filter_map(|(edit, reference)| Some((found.told.rewrites.get(reference)?.clone(), edit)))
        .collect()
}

fn one_file(
    mapping: &Mapping<'_>,
    module: usize,
    path: &TreePath,
    text: &str,
    options: RewriteOptions,
) -> (FileEdits, Vec<(Edit, usize)>) {
    let analysis = Analysis::new(text);
    let file = File::new(mapping, Some(module), text, &analysis);
    let mut found = FileEdits::new(path.clone());
    passes(&file, options, &mut found);
    found.finish()
}

/// What a file, a package or a reader of types has by the place or the name of what goes.
fn by_place_and_name(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    hidden_modules::check(mapping, plan);
    items::unsaid_types(mapping, texts, plan);
    paths_upward::check(mapping, texts, plan);
    run_by_path::check(mapping, texts, plan);
}

/// All passes over one file.
fn passes(file: &File<'_>, options: RewriteOptions, found: &mut FileEdits) {
    imports::rewrite(file, found);
    if file.analysis().syntax_error.is_some() {
        broken(file, found);
        return;
    }
    tables::rewrite(file, found);
    chains::rewrite(file, found);
    exports::rewrite(file, found);
    exports::star_users(file, found);
    let kind = file
        .module
        .and_then(|module| graph_kind(file.mapping, module));
    strings::rewrite(file, options.prose || is_notice(kind), found);
    own_place::doubt(file, found);
    own_place::in_bytes(file, found);
    module_values::doubt(file, found);
    bare::report(file, found);
    names_in_parts::doubt(file, found);
    by_text::doubt(file, found);
    open_names::doubt(file, found);
    named_beside::doubt(file, found);
}

/// A redirect is a notice that sends its readers somewhere: what its text says has to be true.
fn is_notice(kind: Option<ModuleKind>) -> bool {
    matches!(kind, Some(ModuleKind::Redirect | ModuleKind::Shim))
}

fn graph_kind(mapping: &Mapping<'_>, module: usize) -> Option<ModuleKind> {
    mapping.graph.modules.get(module).map(|module| module.kind)
}

/// Of a file that does not parse, nothing but the import statements is trusted.
fn broken(file: &File<'_>, found: &mut FileEdits) {
    let whole = ByteSpan::from_range(0..file.text.len());
    for (span, name, _) in strings::full_names(file, whole) {
        if !found.covered(span) {
            found.told.leave(
                span,
                Form::Path,
                &name,
                "the file does not parse; only its import statements are rewritten",
            );
        }
    }
    if !found.told.rewrites.is_empty() {
        found.notes.push(Finding {
            code: codes::SYNTAX_ERROR,
            severity: Severity::Warning,
            path: found.told.path.clone(),
            span: file.analysis().syntax_error.as_ref().map(|(span, _)| *span),
            message: "does not parse; only its import statements are rewritten".to_owned(),
            help: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use coalesce_model::change::Uses;

    use super::*;

    #[test]
    fn no_plan_is_made_for_too_many_items_of_one_module() {
        let change = |module: &str, number: usize| Change {
            from: format!("p.{module}.f{number}"),
            to: format!("p.other.f{number}"),
            subject: Subject::Item,
            kind: ChangeKind::Move,
            shim: None,
            uses: Uses::default(),
        };
        let of = |module: &str, count: usize| -> Vec<Change> {
            (0..count).map(|number| change(module, number)).collect()
        };
        let most = of("a", MOST_ITEMS_OF_A_MODULE);
        assert!(too_many_items(&[most.clone(), of("b", 1)].concat()).is_none());
        let refused = too_many_items(&[most, vec![change("a", MOST_ITEMS_OF_A_MODULE)]].concat());
        assert!(refused.unwrap().message.contains("4001 items of `p.a`"));
    }
}
