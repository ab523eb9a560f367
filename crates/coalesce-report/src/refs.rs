//! The page of `refs`: a place a line, as a compiler prints it.

use std::collections::BTreeSet;

use coalesce_model::{
    Certainty, Form,
    envelope::{Envelope, Refs},
};

use crate::page::{DIM, PLAIN, Page, count, read_counts};

/// Writes the page.
pub fn write(page: &mut Page, envelope: &Envelope, refs: &Refs) {
    for reference in &refs.references {
        page.place(&reference.path, Some(reference.range));
        page.put(PLAIN, format_args!(": {}", reference.line_text));
        let (form, doubt) = (form(reference.form), doubt(reference.certainty));
        page.put(DIM, format_args!("  [{form}{doubt}]")).end();
    }
    for finding in &envelope.findings {
        page.finding(finding);
    }
    if !page.quiet() {
        page.gap();
        page.line(counts(refs));
    }
}

fn counts(refs: &Refs) -> String {
    let references = refs.references.iter();
    let files: BTreeSet<_> = references
        .clone()
        .map(|reference| &reference.path)
        .collect();
    let unsure = references.filter(|reference| reference.certainty != Certainty::Exact);
    format!(
        "{}: {} of {} in {}, {} of them not certain",
        read_counts(&refs.files),
        count(refs.references.len(), "reference"),
        refs.name,
        count(files.len(), "file"),
        unsure.count(),
    )
}

const fn doubt(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Exact => "",
        Certainty::Ambiguous => ", ambiguous",
        Certainty::Opaque => ", opaque",
    }
}

/// How a reference is written, in words.
pub const fn form(form: Form) -> &'static str {
    match form {
        Form::Import => "import",
        Form::ImportFrom => "imported name",
        Form::Glob => "star import",
        Form::Reexport => "re-export",
        Form::Path => "path",
        Form::Declaration => "declaration",
        Form::Binding => "assignment",
        Form::Attribute => "attribute",
        Form::Macro => "macro",
        Form::ExportList => "export list",
        Form::String => "string",
        Form::FilePath => "file path",
        Form::DocLink => "doc link",
        Form::DocCode => "code in docs",
        Form::Configuration => "configuration",
        Form::Prose => "prose",
        _ => "reference",
    }
}
