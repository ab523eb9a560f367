//! Code that stands inside other text: doctests, fenced blocks, statements in templates.
//!
//! The lines of code are put together, rewritten as a piece of code of its own, and the edits are
//! led back to where the lines came from. An edit that would cross a line is not made.

use coalesce_model::{ByteSpan, Edit, Evidence, Form, Rewrite, Safety, TreePath};

use crate::{
    analysis::Analysis,
    rewrite::{
        chains,
        file::{File, FileEdits, Reference},
        imports,
        mapping::Mapping,
    },
};

/// A line of code within a file.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The code, without what stands before it on its line.
    pub span: ByteSpan,
    /// Where what stands before it begins: indentation, prompt.
    pub start: u32,
}

/// What kind of text the lines stand in.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    pub form: Form,
    pub reason: &'a str,
    pub safety: Safety,
    /// What ends a line there: a line break, or its escape.
    pub newline: &'a str,
}

impl<'a> Setting<'a> {
    /// What a rewrite of the code is in the text around it.
    fn reference(&self, rewrite: &'a Rewrite) -> Reference<'a> {
        Reference {
            form: self.form,
            evidence: Evidence::ExactName,
            from: &rewrite.from,
            to: &rewrite.to,
            reason: self.reason,
            safety: self.safety,
        }
    }
}

/// Rewrites a piece of code that belongs to no module.
pub fn rewrite_code(mapping: &Mapping<'_>, code: &str) -> (FileEdits, Vec<(Edit, usize)>) {
    let analysis = Analysis::new(code);
    let file = File::new(mapping, None, code, &analysis);
    let mut found = FileEdits::new(TreePath::root());
    imports::rewrite(&file, &mut found);
    chains::rewrite(&file, &mut found);
    found.finish()
}

/// Rewrites a piece of code that may show a session with prompts.
pub fn rewrite_fragment(mapping: &Mapping<'_>, code: &str) -> (FileEdits, Vec<(Edit, usize)>) {
    let whole = ByteSpan::from_range(0..code.len());
    let prompts: Vec<Line> = lines(code, whole)
        .into_iter()
        .filter_map(|line| code_line(code, line, &[">>>", "..."]))
        .collect();
    if prompts.is_empty() {
        return rewrite_code(mapping, code);
    }
    let mut found = FileEdits::new(TreePath::root());
    let setting = Setting {
        form: Form::DocCode,
        reason: "a session in a document",
        safety: Safety::Safe,
        newline: "\n",
    };
    rewrite(mapping, code, &prompts, setting, &mut found);
    found.finish()
}

/// The code of a session with prompts in a part of a text.
pub fn session_code(text: &str, span: ByteSpan) -> String {
    let prompts = |line| code_line(text, line, &[">>>", "..."]);
    let lines: Vec<Line> = lines(text, span).into_iter().filter_map(prompts).collect();
    JoinedLines::new(text, &lines).code
}

/// Where the code of a session uses a name that nothing in it binds: that of the module around it.
pub fn session_uses(text: &str, span: ByteSpan, name: &str) -> Vec<ByteSpan> {
    let prompts = |line| code_line(text, line, &[">>>", "..."]);
    let lines: Vec<Line> = lines(text, span).into_iter().filter_map(prompts).collect();
    let joined = JoinedLines::new(text, &lines);
    if !joined.code.contains(name) {
        return Vec::new();
    }
    let analysis = Analysis::new(&joined.code);
    let roots = analysis.uses.iter().filter_map(|used| {
        let root = used.chain.first().filter(|root| root.text == name)?;
        let bound = analysis.binding_scope(used.scope, name);
        bound.is_none().then_some(root.span)
    });
    let mut found: Vec<ByteSpan> = roots
        .filter_map(|root| Some(joined.place(root)?.0))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Lines of a text as one piece of code.
struct JoinedLines<'l> {
    lines: &'l [Line],
    code: String,
    /// Where in the code each line starts.
    starts: Vec<usize>,
}

impl<'l> JoinedLines<'l> {
    fn new(text: &str, lines: &'l [Line]) -> Self {
        let mut code = String::new();
        let mut starts = Vec::with_capacity(lines.len());
        for line in lines {
            starts.push(code.len());
            code.push_str(line.span.of(text).unwrap_or_default());
            code.push('\n');
        }
        Self {
            lines,
            code,
            starts,
        }
    }

    /// Where a part of the code stands in the text, and its line; `None` where it crosses one.
    fn place(&self, span: ByteSpan) -> Option<(ByteSpan, &'l Line)> {
        let at = self
            .starts
            .partition_point(|start| *start <= span.start as usize)
            .checked_sub(1)?;
        let (line, start) = (self.lines.get(at)?, *self.starts.get(at)?);
        let offset =
            |byte: u32| line.span.start + (byte - u32::try_from(start).unwrap_or(u32::MAX));
        let moved = ByteSpan::new(offset(span.start), offset(span.end));
        (moved.end <= line.span.end).then_some((moved, line))
    }

    /// An edit of the code as one of the text: lines that it inserts begin as the one that it changes.
    fn edit(&self, edit: &Edit, text: &str, newline: &str) -> Option<Edit> {
        let (span, line) = self.place(edit.span)?;
        let before = ByteSpan::new(line.start, line.span.start);
        let before = before.of(text).unwrap_or_default();
        let inserted = edit.text.replace("\r\n", "\n");
        let inserted = inserted.replace('\n', &format!("{newline}{before}"));
        Some(Edit::replace(span, inserted))
    }
}

/// Rewrites lines of code inside the text of a file.
pub fn rewrite(
    mapping: &Mapping<'_>,
    text: &str,
    lines: &[Line],
    setting: Setting<'_>,
    found: &mut FileEdits,
) {
    let joined = JoinedLines::new(text, lines);
    if !mapping.mentioned(&joined.code) {
        return;
    }
    let (inner, edits) = rewrite_code(mapping, &joined.code);
    for (at, rewrite) in inner.told.rewrites.iter().enumerate() {
        let place = joined.place(rewrite.span).map(|(span, _)| span);
        let Some(span) = place.filter(|span| !found.covered(*span)) else {
            continue;
        };
        let edits = || {
            edits
                .iter()
                .filter(|(_, of)| *of == at)
                .map(|(edit, _)| edit)
        };
        if edits().any(|edit| joined.place(edit.span).is_none()) {
            let why = "the change would cross a line of the text around it";
            found.told.leave(span, setting.form, &rewrite.from, why);
            continue;
        }
        found.note(span, setting.reference(rewrite));
        let edits = edits().filter_map(|edit| joined.edit(edit, text, setting.newline));
        edits.for_each(|edit| found.push(edit));
    }
}

/// The lines of a text between `span`, each without its end; escaped line breaks count where the
/// text has no real ones.
pub fn lines(text: &str, span: ByteSpan) -> Vec<ByteSpan> {
    let content = span.of(text).unwrap_or_default();
    let mut spans = Vec::new();
    let mut start = 0;
    let real = content.contains('\n');
    let ends = content
        .match_indices(if real { "\n" } else { "\\n" })
        .map(|(at, end)| (at, end.len()));
    for (at, length) in ends.chain([(content.len(), 0)]) {
        let line = content.get(start..at).unwrap_or_default();
        let kept = line.strip_suffix('\r').unwrap_or(line).len();
        let from = span.start as usize + start;
        spans.push(ByteSpan::from_range(from..from + kept));
        start = at + length;
    }
    spans
}

/// A line as code: what is left after its indentation and `prompt`.
pub fn code_line(text: &str, line: ByteSpan, prompts: &[&str]) -> Option<Line> {
    let content = line.of(text)?;
    let trimmed = content.trim_start_matches([' ', '\t']);
    let indentation = content.len() - trimmed.len();
    let prompt = prompts.iter().find_map(|prompt| {
        let rest = trimmed.strip_prefix(prompt)?;
        if rest.is_empty() {
            Some(prompt.len())
        } else {
            rest.starts_with(' ').then(|| prompt.len() + 1)
        }
    })?;
    let start = line.start + u32::try_from(indentation + prompt).unwrap_or(0);
    Some(Line {
        span: ByteSpan::new(start, line.end),
        start: line.start,
    })
}
