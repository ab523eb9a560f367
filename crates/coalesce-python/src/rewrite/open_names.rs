//! Texts that say the module of an item and leave what follows to the program: `"pkg.a." + name`, `f"pkg.a.{name}"`,
//! `MODULE = "pkg.a"` beside `f"{MODULE}.f"`, `f"from pkg.a import {name}"`, `Timer("a.f()", "from pkg import a")`.
//!
//! Which item such a text leads to is known when the program runs. It is told where a literal of the tree says the item, or,
//! in a file that patches, what the definition reads.

use coalesce_model::{ByteSpan, Change, Subject, UnprovenKind};
use rustc_hash::FxHashSet;

use super::{
    file::{File, FileEdits},
    items::sets,
};
use crate::{
    analysis::Analysis,
    names::{is_word, occurrences},
};

/// Tells the texts of a file that may lead to an item which leaves the module that they say.
pub fn doubt(file: &File<'_>, found: &mut FileEdits) {
    let patches = std::cell::LazyCell::new(|| sets(file.text));
    let mut told = FxHashSet::default();
    let changes = file.mapping.named_in(file.text);
    for change in changes.filter(|change| change.subject == Subject::Item) {
        let Some((module, item)) = change.from.rsplit_once('.') else {
            continue;
        };
        if change.shim.is_some() && !*patches {
            continue;
        }
        for span in opened(file, module, item) {
            let is_sought = || is_said(file, item) || *patches && reads_what_is_said(file, change);
            if !told.contains(&span) && !is_known(found, span) && is_sought() {
                told.insert(span);
                let why = format!(
                    "it may be completed to `{}` when the program runs",
                    change.from
                );
                found
                    .told
                    .doubt(span, UnprovenKind::DynamicImport, &change.from, &why);
            }
        }
    }
}

/// Whether a place is told, or rewritten, already.
fn is_known(found: &FileEdits, span: ByteSpan) -> bool {
    let mut doubted = found.told.unproven.iter().filter_map(|one| one.span);
    found.covered(span) || doubted.any(|one| span.contains(one) || one.contains(span))
}

/// The places of a file that say a module and leave what follows open.
fn opened(file: &File<'_>, module: &str, item: &str) -> Vec<ByteSpan> {
    let text = file.text;
    let places = occurrences(text, module).filter(|span| {
        let (before, after) = around(text, *span);
        let code =
            before.ends_with("from ") && is_gap(after.strip_prefix(" import ").unwrap_or_default());
        let whole = before.ends_with(['"', '\'']) && after.starts_with(['"', '\'']);
        code || is_open(before, after)
            || whole && is_completed(file, *span) && !is_documentation(file, *span)
    });
    let mut found: Vec<ByteSpan> = places.collect();
    found.extend(code_beside(file, module, item));
    found
}

fn around(text: &str, span: ByteSpan) -> (&str, &str) {
    let (start, end) = (span.start as usize, span.end as usize);
    (
        text.get(..start).unwrap_or_default(),
        text.get(end..).unwrap_or_default(),
    )
}

/// Whether a text begins with the module, and a dot and a gap follow: `"pkg.a."`, `f"pkg.a.{name}`, `"pkg.a.%s"`.
fn is_open(before: &str, after: &str) -> bool {
    let Some(rest) = after.strip_prefix('.') else {
        return false;
    };
    before.ends_with(['"', '\'']) && (rest.starts_with(['"', '\'']) || is_gap(rest))
}

/// Whether a text begins with something that is put in when the program runs.
fn is_gap(text: &str) -> bool {
    text.starts_with('{') || text.starts_with("%s") || text.starts_with("%(")
}

/// Whether a file completes texts by a dot and a name: `f"{MODULE}.f"`, `"%s.f" % MODULE`, `MODULE + ".f"`,
/// `".".join([MODULE, name])`; what a literal is added to, too.
fn is_completed(file: &File<'_>, literal: ByteSpan) -> bool {
    let text = file.text;
    let added = around(text, literal).1.get(1..).unwrap_or_default();
    let joins = ["\".\".join(", "'.'.join(", "%s.%s", "}.{"];
    added.trim_start().starts_with('+')
        || joins.iter().any(|join| text.contains(join))
        || ends_of_names(text)
}

/// Whether a text has a literal, or the rest of one behind a gap, that begins with a dot and a name and has nothing else.
fn ends_of_names(text: &str) -> bool {
    let starts = ["\".", "'.", "}.", "%s.", ")s."];
    starts.iter().any(|start| {
        text.match_indices(start).any(|(at, start)| {
            let rest = text.get(at + start.len()..).unwrap_or_default();
            let end = rest
                .find(|c: char| !is_word(c) && c != '.')
                .unwrap_or(rest.len());
            end > 0
                && rest
                    .get(end..)
                    .is_some_and(|rest| rest.starts_with(['"', '\'']))
        })
    })
}

fn is_documentation(file: &File<'_>, span: ByteSpan) -> bool {
    let mut strings = file.analysis().strings.iter();
    strings.any(|string| string.span.contains(span) && (string.documentation || string.annotation))
}

/// Code in one text that imports the module, beside code in another one that reads the item of it.
fn code_beside(file: &File<'_>, module: &str, item: &str) -> Vec<ByteSpan> {
    let (above, stem) = module.rsplit_once('.').unwrap_or(("", module));
    let read = format!("{stem}.{item}");
    let imported = [
        format!("from {above} import {stem}"),
        format!("import {module}"),
    ];
    if !imported
        .iter()
        .any(|import| file.text.contains(import.as_str()))
        || !file.text.contains(&read)
    {
        return Vec::new();
    }
    let strings = file.analysis().strings.iter();
    let strings = strings.filter(|string| !string.documentation && !string.annotation);
    let texts: Vec<(ByteSpan, &str)> = strings
        .filter_map(|string| Some((string.span, string.span.of(file.text)?)))
        .collect();
    let imports = |text: &str| {
        imported
            .iter()
            .any(|import| occurrences(text, import).next().is_some())
    };
    let has = texts.iter().any(|(_, text)| imports(text));
    let reading = texts
        .into_iter()
        .filter(|(_, text)| has && occurrences(text, &read).next().is_some());
    reading.map(|(span, _)| span).collect()
}

/// Whether a literal of the tree that is no entry of `__all__` is this name, or ends with it, or calls it.
fn is_said(file: &File<'_>, name: &str) -> bool {
    let mut mentioning = file.mapping.mentioning(name).iter();
    mentioning.any(|(_, text)| says(text, name))
}

fn says(text: &str, name: &str) -> bool {
    let quoted = text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + name.len()..).unwrap_or_default();
        before.ends_with(['"', '\'', '.']) && after.starts_with(['"', '\'', '(', ' '])
    });
    if !quoted {
        return false;
    }
    let analysis = Analysis::new(text);
    let listed = |span: ByteSpan| {
        let mut all = analysis.all.iter().flatten();
        all.any(|entry| entry.span == span)
    };
    let mut strings = analysis.strings.iter();
    strings.any(|string| {
        let said = string.span.of(text).unwrap_or_default();
        let said = said.split(['(', ' ']).next().unwrap_or_default();
        !string.documentation && said.rsplit('.').next() == Some(name) && !listed(string.span)
    })
}

/// Whether a literal of this file is a name that the definition of an item reads.
fn reads_what_is_said(file: &File<'_>, change: &Change) -> bool {
    let Some((module, item)) = change.from.rsplit_once('.') else {
        return false;
    };
    let module = file.graph().find(None, module);
    let mut mentioning = file.mapping.mentioning(item).iter();
    let Some((_, text)) = mentioning.find(|(each, _)| Some(*each) == module) else {
        return true;
    };
    let analysis = Analysis::new(text);
    let own = analysis.definitions.iter();
    let own = own.filter(|each| each.class.is_none() && each.name == item);
    let spans: Vec<ByteSpan> = own.map(|each| each.span).collect();
    let mut roots = analysis
        .uses_in(&spans)
        .filter_map(|used| used.chain.first());
    roots.any(|root| says(file.text, &root.text))
}
