//! Documents and notebooks: code in them is code, the rest is prose.

use coalesce_model::{ByteSpan, Documentation, Evidence, Form, Safety, UnprovenKind};

use crate::{
    Found, Reason, Spans, TextRewriter, blocks::blocks, fragment::Fragment, line_before,
    line_behind,
};

/// Rewrites a Markdown or similar document.
pub fn rewrite(rewriter: &TextRewriter<'_>, text: &str, found: &mut Found) {
    let (blocks, language) = (blocks(text), rewriter.graph.grammar().lexicon());
    let path = &found.told.path;
    let own = rewriter
        .graph
        .documentation(rewriter.changes, path, rewriter.texts);
    match own {
        Some(own) => documentation(rewriter, text, own, found),
        None => {
            let own = blocks.iter().filter(|block| block.speaks(language));
            let code = own.map(|block| Fragment::from_lines(text, &block.lines));
            rewrite_code(rewriter, &code.collect::<Vec<_>>(), found);
        }
    }
    let mut fenced = Spans::default();
    for block in &blocks {
        fenced.insert(block.span);
    }
    for (span, from, to) in rewriter.names(text) {
        if found.covered(span) || found.is_left(span) {
            continue;
        }
        let code = fenced.contain(span) || is_import_line(text, span);
        let mut around = blocks.iter().filter(|block| block.span.start <= span.start);
        let block = around.rfind(|block| span.end <= block.span.end);
        if block.is_some_and(|block| keeps_its_name(text, block.span, &from)) {
            continue;
        }
        match reason(text, span, code, rewriter.prose) {
            Some(reason) => found.change(span, &from, &to, reason),
            None => {
                let why = "prose; `--docs rewrite` changes it";
                found.leave(span, Form::Prose, &from, why);
            }
        }
    }
}

/// Rewrites a document that code has for its documentation: what is code there, the language says.
fn documentation(rewriter: &TextRewriter<'_>, text: &str, own: Documentation, found: &mut Found) {
    let code = own.code.iter();
    let code = code.map(|lines| Fragment::from_lines(text, lines));
    rewrite_code(rewriter, &code.collect::<Vec<_>>(), found);
    for span in own.divided {
        let why = "several modules have this document for their documentation, and it leads to different things there";
        let name = span.of(text).unwrap_or_default();
        found.leave(span, Form::DocLink, name, why);
        found.told.doubt(span, UnprovenKind::UnknownType, name, why);
    }
    for (mut rewrite, edit) in own.links {
        if !found.covered(edit.span) {
            rewrite.path = found.told.path.clone();
            found.edit(edit);
            found.told.rewrites.push(rewrite);
        }
    }
}

/// Whether a piece of code imports a package at the top by its name, which the code goes on using: `import new as pkg`.
fn keeps_its_name(text: &str, block: ByteSpan, name: &str) -> bool {
    let statement = format!("import {name}");
    let code = block.of(text).unwrap_or_default();
    !name.contains(['.', ':'])
        && code.match_indices(&statement).any(|(at, found)| {
            let rest = code.get(at + found.len()..).unwrap_or_default();
            rest.is_empty() || rest.starts_with(['\n', '\r', ',', ' ', ';'])
        })
}

/// Why a full name in a document changes: in code, where the document links to it, and in prose when that is asked for.
fn reason(text: &str, span: ByteSpan, code: bool, prose: bool) -> Option<Reason> {
    let exact = |form, text| Reason {
        form,
        evidence: Evidence::ExactName,
        safety: Safety::Safe,
        text,
    };
    if code {
        return Some(exact(Form::DocCode, "a full name in code of a document"));
    }
    if is_link(text, span) {
        let reason = "a full name that a document links to";
        return Some(exact(Form::DocLink, reason));
    }
    prose.then_some(Reason {
        form: Form::Prose,
        evidence: Evidence::Prose,
        safety: Safety::NeedsReview,
        text: "a full name in prose",
    })
}

/// Rewrites the code cells of a notebook; every other byte of the JSON stays.
pub fn notebook(rewriter: &TextRewriter<'_>, text: &str, found: &mut Found) {
    let cells = code_cells(text).into_iter();
    let code = cells.map(|strings| Fragment::from_json_strings(text, &strings));
    rewrite_code(rewriter, &code.collect::<Vec<_>>(), found);
    for (span, from, _) in rewriter.names(text) {
        if !found.covered(span) {
            found.leave(span, Form::Prose, &from, "outside the code of the notebook");
        }
    }
    rewriter.places.elsewhere(text, found);
}

/// Rewrites a plain text that is code and nothing else, and tells of names that stand in a line by themselves: a
/// program may read either.
pub fn plain(rewriter: &TextRewriter<'_>, text: &str, found: &mut Found) {
    if rewriter.graph.is_code(text) {
        let mut at = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            at += line.len();
            (ByteSpan::from_range(at - line.len()..at), 0)
        });
        let lines: Vec<(ByteSpan, usize)> = lines.collect();
        rewrite_code(rewriter, &[Fragment::from_lines(text, &lines)], found);
        return;
    }
    for (span, from, _) in rewriter.names(text) {
        let (head, tail) = (line_before(text, span.start), line_behind(text, span.end));
        if head.trim().is_empty() && tail.trim().is_empty() && rewriter.separator == "." {
            let why = "a name by itself in a plain text, which a program may read";
            found.leave(span, Form::Prose, &from, why);
            found.doubt(span, &from, why);
        }
    }
}

fn rewrite_code(rewriter: &TextRewriter<'_>, fragments: &[Fragment], found: &mut Found) {
    let codes: Vec<&str> = fragments.iter().map(|one| one.code.as_str()).collect();
    let rewritten = rewriter.graph.rewrite_fragments(rewriter.changes, &codes);
    for (fragment, rewrites) in fragments.iter().zip(rewritten) {
        for (mut rewrite, edit) in rewrites {
            let (Some(edit), Some(span)) = (fragment.edit(&edit), fragment.span(rewrite.span))
            else {
                continue;
            };
            if found.covered(edit.span) {
                continue;
            }
            rewrite.path = found.told.path.clone();
            rewrite.span = span;
            rewrite.form = Form::DocCode;
            found.edit(edit);
            found.told.rewrites.push(rewrite);
        }
    }
}

/// Whether a name is what a role or a directive of reStructuredText leads to: `` :mod:`a.b` ``,
/// `` :func:`text <a.b>` ``, `.. automodule:: a.b`.
fn is_link(text: &str, span: ByteSpan) -> bool {
    let line = line_before(text, span.start);
    let directive = line
        .trim()
        .strip_prefix(".. ")
        .and_then(|rest| rest.strip_suffix("::"));
    let names = ["auto", "py:", "module", "currentmodule"];
    if directive.is_some_and(|name| names.iter().any(|start| name.starts_with(start))) {
        return true;
    }
    // `::: pkg.mod` and `[text][pkg.mod]` of Markdown, a line of `autosummary`.
    let behind = || line_behind(text, span.end);
    let reference = line.ends_with("][") || line.ends_with('[') && behind().contains("][]");
    let before = text.get(..span.start as usize).unwrap_or_default();
    if line.trim() == ":::" || reference || is_listed(before, line) {
        return true;
    }
    let plain = line.trim_end_matches(['~', '!']);
    let titled = line
        .strip_suffix('<')
        .and_then(|head| Some(head.rsplit_once('`')?.0));
    let opening = plain.strip_suffix('`').or(titled);
    opening
        .and_then(|head| head.strip_suffix(':'))
        .is_some_and(|head| {
            let role = head.rsplit([' ', '(', '[', ',']).next().unwrap_or_default();
            role.starts_with(':') && role.len() > 1
        })
}

/// So many lines above a name are looked through for the directive whose list it may stand in.
const LONGEST_LIST: usize = 1000;

/// Whether a line is an entry of a list of names that a directive holds.
fn is_listed(before: &str, line: &str) -> bool {
    let indentation = line.len() - line.trim_start().len();
    if indentation == 0 || !line.trim().trim_start_matches('~').is_empty() {
        return false;
    }
    let mut above = before.lines().rev().skip(1).take(LONGEST_LIST);
    let head = above.find(|other| {
        let own = other.len() - other.trim_start().len();
        !other.trim().is_empty() && own < indentation
    });
    head.is_some_and(|head| head.trim_start().starts_with(".. autosummary::"))
}

/// Whether the line up to a name is an import, prompts aside.
fn is_import_line(text: &str, span: ByteSpan) -> bool {
    let line = line_before(text, span.start).trim_start();
    let line = line.trim_start_matches(">>>").trim_start();
    matches!(line, "from " | "import " | "use " | "pub use ")
}

/// The strings of the `source` of each code cell. Keys stand in alphabetical order in a notebook,
/// so that `cell_type` comes before `source`.
fn code_cells(text: &str) -> Vec<Vec<ByteSpan>> {
    let mut cells = Vec::new();
    let (mut kind, mut from) = (None, 0);
    for (at, key) in text.match_indices("\"source\"") {
        let between = text.get(from..at).unwrap_or_default();
        let last = between.rfind("\"cell_type\"").map(|found| from + found);
        (kind, from) = (last.or(kind), at);
        let code = kind
            .and_then(|kind| text.get(kind + 11..kind + 30))
            .is_some_and(|value| value.trim_start_matches([':', ' ']).starts_with("\"code\""));
        if code {
            cells.push(strings(text, at + key.len()));
        }
    }
    cells
}

/// The contents of the string, or of the strings of the list, that follow a key.
fn strings(text: &str, start: usize) -> Vec<ByteSpan> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = start;
    let mut list = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'[' => list = true,
            b']' | b'}' => break,
            b'"' => {
                let end = string_end(bytes, at + 1);
                found.push(ByteSpan::from_range(at + 1..end));
                at = end;
                if !list {
                    break;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_directives_lead_to_names() {
        for (text, expected) in [
            (":mod:`p.old`", true),
            ("see (:py:func:`~p.old.f`)", true),
            ("see :class:`the class <p.old.C>`", true),
            (".. automodule:: p.old", true),
            ("   .. currentmodule:: p.old", true),
            ("`p.old`", false),
            ("``p.old``", false),
            ("Use p.old", false),
            (".. note:: p.old", false),
            ("<p.old>", false),
            ("::: p.old", true),
            ("[the class][p.old.C]", true),
            (".. autosummary::\n   :toctree: api\n\n   p.old.C", true),
            ("- a list\n\n   p.old.C", false),
        ] {
            let start = text.find("p.old").unwrap();
            let span = ByteSpan::from_range(start..start + 5);
            assert_eq!(is_link(text, span), expected, "{text}");
        }
    }
}
