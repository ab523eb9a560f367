//! Modules that go and leave nothing: who still names them stands in the way, and what may be run by
//! itself is not proven.
//!
//! Imports that bring nothing go along: `from stub import *`, and an import whose name is not used.
//! What goes away itself, or names something else by then, does not count.

use coalesce_model::{
    ByteSpan, ChangeKind, Edit, Finding, Form, LanguageGraph as _, LanguagePlan, Module,
    ModuleKind, Reference, Safety, Texts, TreePath, Unproven, UnprovenKind, finding::codes,
};

use ruff_python_ast::Stmt;

use crate::{
    analysis::{Analysis, predicates::is_run_as_program},
    facts::{ImportStatement, Leaf},
    graph::PythonGraph,
    names::is_word,
    parser,
    rewrite::{
        file::{FileEdits, Reference as Found},
        items::{refusal, source_line},
        mapping::Mapping,
        places::is_test,
    },
};

/// Users that a refusal names.
const TOLD: usize = 6;

/// Takes the imports that bring nothing out, and refuses a module that somebody names.
pub fn plan(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    for change in &mapping.changes {
        if change.kind != ChangeKind::Remove {
            continue;
        }
        let module = mapping.graph.find(None, &change.from);
        if let Some(module) = module.and_then(|module| mapping.graph.modules.get(module)) {
            one(mapping, module, texts, plan);
        }
    }
}

fn one(mapping: &Mapping<'_>, module: &Module, texts: &dyn Texts, plan: &mut LanguagePlan) {
    if let Some(other) = beside(mapping, module, texts) {
        let message = format!("`{}` cannot go: {other} lies in its package", module.name);
        let refused = refusal(&module.path, None, message, None);
        plan.refusals.push(refused.coded(codes::LOST_DEFINITION));
    }
    plan.unproven.extend(run_by_itself(module, texts));
    let references = mapping.graph.references(&module.name, texts);
    let mut users: Vec<String> = Vec::new();
    for reference in references {
        let prose = reference.form == Form::Prose;
        if prose || mapping.gone.contains(&reference.path) || is_rewritten(plan, &reference) {
            continue;
        }
        match spent(mapping.graph, module, &reference, texts) {
            Some(edit) => take_out_import(module, reference, edit, plan),
            None => users.push(place(&reference, texts)),
        }
    }
    users.extend(named_below(mapping, module, texts));
    plan.refusals.extend(still_named(module, users));
}

/// Takes out an import that brings nothing.
fn take_out_import(module: &Module, reference: Reference, edit: Edit, plan: &mut LanguagePlan) {
    let mut found = FileEdits::new(reference.path.clone());
    let (name, reason) = (&module.name, "it brings nothing, and the module goes");
    found.note(
        reference.span,
        Found::resolved(reference.form, name, "", reason),
    );
    plan.rewrites.extend(found.told.rewrites);
    let edits = plan.edits.entry(reference.path).or_default();
    if !edits.contains(&edit) {
        edits.push(edit);
    }
}

/// Where texts of sources name something of the module: `"pkg.mod.Item"`, `"pkg.mod:function"`.
fn named_below(mapping: &Mapping<'_>, module: &Module, texts: &dyn Texts) -> Vec<String> {
    let mut users = Vec::new();
    let below = [".", ":"].map(|end| format!("{}{end}", module.name));
    let paths = texts.paths().iter();
    let sources =
        paths.filter(|path| path.extension() == Some("py") && !mapping.gone.contains(*path));
    for path in sources {
        let text = texts.text(path).unwrap_or_default();
        if !below.iter().any(|name| text.contains(name.as_str())) {
            continue;
        }
        let analysis = Analysis::new(&text);
        let strings = analysis
            .strings
            .iter()
            .filter(|string| !string.documentation);
        let named = strings.filter(|string| {
            let content = string.span.of(&text).unwrap_or_default();
            let rest = below
                .iter()
                .find_map(|name| content.strip_prefix(name.as_str()));
            rest.is_some_and(|rest| {
                !rest.is_empty() && rest.chars().all(|c| is_word(c) || c == '.')
            })
        });
        users.extend(named.map(|string| place_of(path, string.span, &text)));
    }
    users
}

/// The refusal of a module that others name.
fn still_named(module: &Module, mut users: Vec<String>) -> Option<Finding> {
    if users.is_empty() {
        return None;
    }
    let more = users.len().saturating_sub(TOLD);
    users.truncate(TOLD);
    if more > 0 {
        users.push(format!("and {more} more"));
    }
    let message = format!("`{}` is still named: {}", module.name, users.join(", "));
    let help = "give its users another module first, with `[[replace]]` or `[[merge]]`";
    let refused = refusal(&module.path, None, message, Some(help));
    Some(refused.coded(codes::REMOVED_IN_USE))
}

/// What runs a module that nobody imports: a command, or pytest. Nobody knows whether one does.
fn run_by_itself(module: &Module, texts: &dyn Texts) -> Option<Unproven> {
    if module.kind != ModuleKind::Module {
        return None;
    }
    let file = module.path.file_name();
    let directory = module.path.parent();
    let package = directory.and_then(|directory| directory.join("__init__.py").ok());
    let is_program = || is_program(&texts.text(&module.path).unwrap_or_default());
    let why = if is_test(file) || file == "conftest.py" {
        "pytest finds it by its name"
    } else if file == "__main__.py" || is_program() {
        "it may be run by itself: `python -m`"
    } else if !package.is_some_and(|file| texts.exists(&file)) {
        "it lies in no package, and may be run by its path"
    } else {
        return None;
    };
    Some(Unproven {
        path: module.path.clone(),
        span: None,
        kind: UnprovenKind::NotExecuted,
        name: module.name.clone(),
        why: why.to_owned(),
    })
}

/// Whether a file has a part for when it is run.
fn is_program(text: &str) -> bool {
    let (parsed, _) = parser::parse_module(text);
    let mut statements = parser::statements(&parsed).iter();
    statements.any(|one| matches!(one, Stmt::If(found) if is_run_as_program(&found.test)))
}

/// A file in the directory of a package that is not the package.
fn beside(mapping: &Mapping<'_>, module: &Module, texts: &dyn Texts) -> Option<TreePath> {
    let directory = module.path.parent().filter(|_| module.package)?;
    let own = |path: &&TreePath| {
        path.strip_prefix(&directory).is_some()
            && !matches!(path.file_name(), "__init__.py" | "__init__.pyi")
            && !mapping.files.contains_key(*path)
    };
    // Modules below it that go by entries of their own go.
    let entry = |path: &TreePath| {
        let below = mapping.graph.module_of(path);
        let below = below.and_then(|below| mapping.graph.modules.get(below));
        below.is_some_and(|below| {
            let mut changes = mapping.changes.iter();
            changes.any(|change| change.from == below.name && change.shim.is_none())
        })
    };
    let mut paths = texts.paths().iter().filter(own);
    paths.find(|path| !entry(path)).cloned()
}

fn is_rewritten(plan: &LanguagePlan, reference: &Reference) -> bool {
    let mut rewrites = plan.rewrites.iter();
    rewrites.any(|rewrite| {
        rewrite.path == reference.path
            && rewrite.safety != Safety::ReportOnly
            && (rewrite.span.contains(reference.span) || reference.span.contains(rewrite.span))
    })
}

/// The edit that takes out an import which brings nothing.
fn spent(
    graph: &PythonGraph,
    module: &Module,
    reference: &Reference,
    texts: &dyn Texts,
) -> Option<Edit> {
    if !matches!(reference.form, Form::Import | Form::ImportFrom | Form::Glob) {
        return None;
    }
    let text = texts.text(&reference.path)?;
    let analysis = Analysis::new(&text);
    let mut imports = analysis.imports.iter();
    let (import, scope) = imports.find(|(import, _)| import.span.contains(reference.span))?;
    let [leaf] = import.leaves.as_slice() else {
        return None;
    };
    let nothing = match leaf.name.text == "*" {
        true => module.kind == ModuleKind::Stub,
        false => !is_package(graph, reference) && is_unused(&analysis, import, leaf),
    };
    let whole = import.top_level && !import.conditional && *scope == 0;
    if !nothing || !whole {
        return None;
    }
    source_line(&text, import.span)
}

/// Whether a reference stands in the file of a package, which may offer what it imports.
fn is_package(graph: &PythonGraph, reference: &Reference) -> bool {
    let user = graph.module_of(&reference.path);
    let user = user.and_then(|user| graph.modules.get(user));
    user.is_some_and(|user| user.package)
}

/// Whether nothing in the file uses what a leaf binds.
fn is_unused(analysis: &Analysis, import: &ImportStatement, leaf: &Leaf) -> bool {
    let name = leaf.bound();
    let alias = leaf.alias.as_ref();
    let passed_on = alias.is_some_and(|alias| alias.text == leaf.name.text);
    let listed = analysis
        .all
        .iter()
        .flatten()
        .any(|entry| entry.text == name);
    let dotted = import.from.is_none() && alias.is_none() && leaf.name.text.contains('.');
    let mut uses = analysis.uses.iter();
    let used = uses.any(|used| used.chain.first().is_some_and(|root| root.text == name));
    !(passed_on || listed || dotted || used)
}

fn place(reference: &Reference, texts: &dyn Texts) -> String {
    let text = texts.text(&reference.path).unwrap_or_default();
    place_of(&reference.path, reference.span, &text)
}

/// A file and a line.
fn place_of(path: &TreePath, span: ByteSpan, text: &str) -> String {
    let before = ByteSpan::new(0, span.start);
    let lines = before.of(text).unwrap_or_default().matches('\n').count();
    format!("{path}:{}", lines + 1)
}
