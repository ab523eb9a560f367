//! Full names and file paths in string literals, docstrings and comments.

use coalesce_model::{ByteSpan, Edit, Evidence, Form, Safety};

use crate::{
    analysis::{Analysis, StringLiteral},
    names::occurrences,
    rewrite::{FileEdits, Reference, mapping::Mapping},
};

/// What becomes of full names in prose.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DocumentMode {
    Keep,
    Rewrite,
}

/// Rewrites full names and paths outside of code.
pub fn rewrite(mapping: &Mapping<'_>, module: Option<usize>, text: &str, analysis: &Analysis, mode: DocumentMode, found: &mut FileEdits) {
    let mut spans: Vec<(ByteSpan, Option<&StringLiteral>)> = Vec::new();
    for change in mapping.changes {
        for span in occurrences(text, &change.from) {
            let literal = analysis.strings.iter().find(|string| string.span.contains(span));
            spans.push((span, literal));
        }
    }
    spans.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    let in_code = |span: ByteSpan| {
        let imports = analysis.imports.iter().any(|(import, _)| import.span.contains(span));
        imports || analysis.uses.iter().any(|found| found.chain.first().is_some_and(|root| root.span.start <= span.start) && found.chain.last().is_some_and(|last| last.span.end >= span.end))
    };
    for (span, literal) in spans {
        if !found.covered(span) && !in_code(span) {
            name(mapping, text, span, literal, mode, found);
        }
    }
    paths(mapping, text, analysis, found);
    if let Some(module) = module {
        relative_names(mapping, module, text, analysis, found);
    }
}

fn name(mapping: &Mapping<'_>, text: &str, span: ByteSpan, literal: Option<&StringLiteral>, mode: DocumentMode, found: &mut FileEdits) {
    let rest = text.get(span.start as usize..).unwrap_or_default();
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
    let whole = rest.get(..end).unwrap_or_default().trim_end_matches('.');
    let Some((length, new)) = mapping.dotted(whole) else { return };
    let old = whole.get(..length).unwrap_or_default();
    let span = ByteSpan::new(span.start, span.start + u32::try_from(length).unwrap_or(0));
    let line_start = text.get(..span.start as usize).and_then(|before| before.rfind(['\n', '\r'])).map_or(0, |at| at + 1);
    let before = text.get(line_start..span.start as usize).unwrap_or_default();
    let code_line = is_import_prefix(before);
    let (form, evidence, safety, reason) = match literal {
        Some(literal) if literal.documentation && code_line => (Form::DocCode, Evidence::ExactName, Safety::Safe, "an import in a docstring"),
        Some(literal) if !literal.documentation => {
            let alone = literal.span.start == span.start;
            let safety = if alone { Safety::Safe } else { Safety::NeedsReview };
            (Form::String, Evidence::ExactName, safety, if alone { "a string that is a full name" } else { "a full name in a string" })
        }
        _ if mode == DocumentMode::Rewrite => (Form::Prose, Evidence::Prose, Safety::NeedsReview, "a full name in prose"),
        _ => {
            found.leave(span, Form::Prose, old, "prose; `--docs rewrite` changes it");
            return;
        }
    };
    found.change(Edit::replace(span, new.clone()), Reference { form, evidence, from: old, to: &new, reason, safety });
}

/// Whether a line up to a name makes the name that of an imported module.
fn is_import_prefix(before: &str) -> bool {
    let line = before.trim_start().trim_start_matches(">>>").trim_start_matches("...").trim_start();
    line == "from " || line == "import " || (line.starts_with("import ") && line.trim_end().ends_with(','))
}

/// Paths of files that move, in strings: `pkg/old/mod.py`, and the directory of a package.
fn paths(mapping: &Mapping<'_>, text: &str, analysis: &Analysis, found: &mut FileEdits) {
    let mut moves: Vec<(String, String)> =
        mapping.files.iter().map(|(from, to)| (from.as_str().to_owned(), to.as_str().to_owned())).collect();
    let directories = mapping.files.iter().filter(|(from, _)| from.file_stem() == "__init__");
    moves.extend(directories.filter_map(|(from, to)| Some((from.parent()?.as_str().to_owned(), to.parent()?.as_str().to_owned()))));
    // The longest path first: a file before its directory.
    moves.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
    for (from, to) in moves {
        if !from.contains('/') {
            continue;
        }
        for span in occurrences(text, &from) {
            let in_string = analysis.strings.iter().any(|string| !string.documentation && string.span.contains(span));
            let next = text.get(span.end as usize..).and_then(|rest| rest.chars().next());
            let ends = !next.is_some_and(|c| c == '.' && !from.ends_with(".py") || c == '-');
            if in_string && ends && !found.covered(span) {
                let reference = Reference { form: Form::FilePath, evidence: Evidence::ExactPath, from: &from, to: &to, reason: "the path of a file that moves", safety: Safety::Safe };
                found.change(Edit::replace(span, to.clone()), reference);
            }
        }
    }
}

/// Strings such as `".old"` in a package's table of lazy names.
fn relative_names(mapping: &Mapping<'_>, module: usize, text: &str, analysis: &Analysis, found: &mut FileEdits) {
    let graph = mapping.graph;
    let package = graph.package_of(module).to_owned();
    if !graph.modules.get(module).is_some_and(|module| module.package) {
        return;
    }
    for string in analysis.strings.iter().filter(|string| !string.documentation) {
        let Some(content) = string.span.of(text) else { continue };
        let Some(name) = content.strip_prefix('.').filter(|name| !name.is_empty() && name.split('.').all(crate::extract::is_identifier)) else { continue };
        let full = format!("{package}.{name}");
        let Some(new) = graph.find(Some(module), &full).and_then(|target| mapping.new_name(target)) else { continue };
        let Some(relative) = super::imports::relative(&mapping.package_after(module), new) else {
            found.leave(string.span, Form::String, &full, "a relative name cannot lead to another top-level package");
            continue;
        };
        if relative != content && !found.covered(string.span) {
            let reference = Reference { form: Form::String, evidence: Evidence::ExactName, from: &full, to: new, reason: "a relative name in a package", safety: Safety::Safe };
            found.change(Edit::replace(string.span, relative), reference);
        }
    }
}
