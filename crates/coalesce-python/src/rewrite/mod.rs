//! From changes to a proposal: which files move, and what every file that names them becomes.
//!
//! Each file is judged by itself against one [`mapping::Mapping`]; nothing is written here.

mod code;
mod imports;
mod mapping;
mod structure;
mod strings;

use std::collections::BTreeMap;

use coalesce_model::{
    ByteSpan, Change, Edit, Evidence, Finding, Form, LanguagePlan, NotRewritten, Rewrite, Safety, Severity, Texts, TreePath,
    finding::codes, language::RewriteOptions,
};
use rayon::prelude::*;

use crate::{
    analysis::Analysis,
    graph::PythonGraph,
    names::Names,
    rewrite::{mapping::Mapping, strings::DocumentMode},
};

/// Works out the proposal for a set of changes.
pub fn rewrite(graph: &PythonGraph, changes: &[Change], options: RewriteOptions, texts: &dyn Texts) -> LanguagePlan {
    let mapping = Mapping::new(graph, changes, texts);
    let mut plan = structure::plan(&mapping, texts);
    let needles = mapping.needles();
    let mode = if options.prose { DocumentMode::Rewrite } else { DocumentMode::Keep };
    let files: Vec<FileEdits> = graph
        .modules
        .par_iter()
        .enumerate()
        .filter(|(module, _)| !mapping.goes_away(*module))
        .filter_map(|(module, found)| {
            let text = texts.text(&found.path)?;
            let mentioned = needles.iter().any(|needle| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some());
            (mentioned || mapping.moves(module)).then(|| file(&mapping, module, &found.path, &text, mode))
        })
        .collect();
    let mut edits: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
    for file in files {
        plan.rewrites.extend(file.rewrites);
        plan.not_rewritten.extend(file.not_rewritten);
        plan.refusals.extend(file.refusals);
        if !file.edits.is_empty() {
            edits.insert(file.path, file.edits);
        }
    }
    plan.edits.extend(edits);
    plan
}

/// The references of a piece of code that belongs to no module.
pub fn fragment(graph: &PythonGraph, changes: &[Change], code: &str) -> Vec<(Rewrite, Edit)> {
    let mapping = Mapping::new(graph, changes, &coalesce_model::MemoryTexts::default());
    let analysis = Analysis::new(code);
    let names = Names::new(graph, None, &analysis);
    let mut found = FileEdits::new(TreePath::root());
    imports::rewrite(&mapping, None, code, &names, &mut found);
    code::rewrite(&mapping, &names, &mut found);
    // An edit that adds or removes a name of a list belongs to the reference nearest before it.
    let reason = |edit: &Edit| {
        let before = found.rewrites.iter().filter(|rewrite| rewrite.span.start <= edit.span.start);
        before.max_by_key(|rewrite| rewrite.span.start).or(found.rewrites.first()).cloned()
    };
    found.edits.iter().filter_map(|edit| Some((reason(edit)?, edit.clone()))).collect()
}

fn file(mapping: &Mapping<'_>, module: usize, path: &TreePath, text: &str, mode: DocumentMode) -> FileEdits {
    let analysis = Analysis::new(text);
    let names = Names::new(mapping.graph, Some(module), &analysis);
    let mut found = FileEdits::new(path.clone());
    imports::rewrite(mapping, Some(module), text, &names, &mut found);
    code::rewrite(mapping, &names, &mut found);
    strings::rewrite(mapping, Some(module), text, &analysis, mode, &mut found);
    found
}

/// What becomes of one file.
struct FileEdits {
    path: TreePath,
    edits: Vec<Edit>,
    rewrites: Vec<Rewrite>,
    not_rewritten: Vec<NotRewritten>,
    refusals: Vec<Finding>,
}

impl FileEdits {
    fn new(path: TreePath) -> Self {
        Self { path, edits: Vec::new(), rewrites: Vec::new(), not_rewritten: Vec::new(), refusals: Vec::new() }
    }

    /// One reference that changes by one edit of its own.
    fn change(&mut self, edit: Edit, reference: Reference<'_>) {
        self.note(edit.span, reference);
        self.edits.push(edit);
    }

    /// A reference that changes by edits made elsewhere.
    fn note(&mut self, span: ByteSpan, reference: Reference<'_>) {
        self.rewrites.push(Rewrite {
            path: self.path.clone(),
            span,
            form: reference.form,
            evidence: reference.evidence,
            from: reference.from.to_owned(),
            to: reference.to.to_owned(),
            reason: reference.reason.to_owned(),
            safety: if reference.evidence == Evidence::Resolved { Safety::Safe } else { reference.safety },
        });
    }

    fn leave(&mut self, span: ByteSpan, form: Form, name: &str, why: &str) {
        self.not_rewritten.push(NotRewritten { path: self.path.clone(), span, form, name: name.to_owned(), why: why.to_owned() });
    }

    fn refuse(&mut self, span: ByteSpan, message: String, help: Option<String>) {
        self.refusals.push(Finding {
            code: codes::UNSAFE_CHANGE,
            severity: Severity::Error,
            path: self.path.clone(),
            span: Some(span),
            message,
            help,
        });
    }

    /// Whether an edit already covers these bytes.
    fn covered(&self, span: ByteSpan) -> bool {
        self.edits.iter().any(|edit| edit.span.start < span.end && span.start < edit.span.end)
    }
}

/// How a reference that changes is described.
#[derive(Clone, Copy)]
struct Reference<'a> {
    form: Form,
    evidence: Evidence,
    from: &'a str,
    to: &'a str,
    reason: &'a str,
    safety: Safety,
}

impl<'a> Reference<'a> {
    /// One that the imports of the tree resolve.
    fn resolved(form: Form, from: &'a str, to: &'a str, reason: &'a str) -> Self {
        Self { form, evidence: Evidence::Resolved, from, to, reason, safety: Safety::Safe }
    }
}
