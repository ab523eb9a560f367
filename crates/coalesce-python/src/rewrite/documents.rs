//! Docstrings and comments: doctests, fenced code and links change; prose only when asked for.

use coalesce_model::{ByteSpan, Edit, Evidence, Form, Safety};

use crate::rewrite::{
    file::{File, FileEdits, Reference},
    snippet::{self, Line, Setting},
    strings,
};

/// Rewrites the code and the links of a docstring, and its prose when `prose` says so.
pub fn docstring(file: &File<'_>, span: ByteSpan, prose: bool, found: &mut FileEdits) {
    let text = file.text;
    let lines = snippet::lines(text, span);
    let setting = |reason| Setting {
        form: Form::DocCode,
        reason,
        safety: Safety::Safe,
        newline: newline(text),
    };
    let prompts: Vec<Line> = lines
        .iter()
        .filter_map(|line| snippet::code_line(text, *line, &[">>>", "..."]))
        .collect();
    if !prompts.is_empty() {
        snippet::rewrite(file.mapping, text, &prompts, setting("a doctest"), found);
    }
    for block in fenced(text, &lines) {
        snippet::rewrite(
            file.mapping,
            text,
            &block,
            setting("a code block of a docstring"),
            found,
        );
    }
    if prose {
        strings::import_lines(file, span, Form::DocCode, found);
    }
    for (span, name, new) in strings::full_names(file, span) {
        if found.covered(span) {
            continue;
        }
        if in_role(text, span) {
            let reference = Reference::exact(Form::DocLink, &name, &new, "a link in a docstring");
            found.change(Edit::replace(span, new.as_str()), reference);
        } else {
            self::prose(span, &name, &new, prose, found);
        }
    }
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A full name in prose.
pub fn prose(span: ByteSpan, name: &str, new: &str, rewrite: bool, found: &mut FileEdits) {
    if rewrite {
        let reference = Reference {
            evidence: Evidence::Prose,
            ..Reference::resolved(Form::Prose, name, new, "a full name in prose")
        };
        found.change(Edit::replace(span, new), reference.needs_review());
    } else {
        found.told.leave(
            span,
            Form::Prose,
            name,
            "prose; `--docs rewrite` changes it",
        );
    }
}

/// The blocks between fences, without the indentation that their lines share.
fn fenced(text: &str, lines: &[ByteSpan]) -> Vec<Vec<Line>> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, bool, Vec<ByteSpan>)> = None;
    for line in lines {
        let content = line.of(text).unwrap_or_default().trim_start();
        let mut fences = ["```", "~~~"].into_iter();
        let fence = fences.find(|fence| content.starts_with(fence));
        match (&mut open, fence) {
            (None, Some(fence)) => open = Some((fence, is_python(content), Vec::new())),
            (Some((opened, python, block)), Some(fence)) if *opened == fence => {
                blocks.extend(python.then(|| dedented(text, block)));
                open = None;
            }
            (Some((_, _, block)), _) => block.push(*line),
            (None, None) => {}
        }
    }
    blocks
}

/// Whether the line that opens a fence says that Python stands in it, or nothing.
fn is_python(opening: &str) -> bool {
    let info = opening.trim_start_matches(['`', '~']).trim().to_lowercase();
    info.is_empty() || info.starts_with("py") || info.starts_with("{code")
}

fn dedented(text: &str, block: &[ByteSpan]) -> Vec<Line> {
    let indentation = |line: &ByteSpan| {
        let content = line.of(text).unwrap_or_default();
        (!content.trim().is_empty()).then(|| content.len() - content.trim_start().len())
    };
    let shared = block.iter().filter_map(indentation).min().unwrap_or(0);
    let line = |line: &ByteSpan| {
        let start = (line.start + u32::try_from(shared).unwrap_or(0)).min(line.end);
        Line {
            span: ByteSpan::new(start, line.end),
            start: line.start,
        }
    };
    block.iter().map(line).collect()
}

/// Whether a name stands in a role of reStructuredText: ``:func:`~pkg.mod.f` ``.
fn in_role(text: &str, span: ByteSpan) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    let before = before
        .strip_suffix('~')
        .or_else(|| before.strip_suffix('!'))
        .unwrap_or(before);
    // A title may stand before the target: :func:`the title <pkg.mod.f>`.
    ends_with_role(before)
        || before
            .strip_suffix('<')
            .and_then(|before| before.rfind(":`").and_then(|at| before.get(..at + 2)))
            .is_some_and(|before| {
                ends_with_role(before)
                    && text
                        .get(span.end as usize..)
                        .is_some_and(|rest| rest.starts_with(">`") || rest.starts_with('>'))
            })
}

/// Whether a role of reStructuredText stands at the end of a text.
fn ends_with_role(before: &str) -> bool {
    let role = before.strip_suffix(":`").map(|rest| {
        rest.rsplit(|c: char| !(c.is_alphanumeric() || c == ':' || c == '_'))
            .next()
            .unwrap_or_default()
    });
    role.is_some_and(|role| role.starts_with(':') && role.len() > 1)
}
