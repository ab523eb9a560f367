//! Mentions that are less than a full name: `old.py`, `optimization/old.py`, `optimization.old` in
//! strings, docstrings and comments. They are reported and never changed.

use std::cell::LazyCell;

use coalesce_model::{ByteSpan, Form, UnprovenKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    analysis::Use,
    facts::FromPart,
    graph::{Entity, PythonGraph},
    names::{is_or_below, is_word, occurrences},
    rewrite::{
        chains::module_of,
        file::{File, FileEdits},
    },
};

/// Reports what may name the changed modules by part of their names.
pub fn report(file: &File<'_>, found: &mut FileEdits) {
    let words = LazyCell::new(|| words_of(file.text));
    let mut prefixes: FxHashMap<&str, bool> = FxHashMap::default();
    for change in file.mapping.named_in_parts(file.text) {
        let mut segments = change.from.rsplit('.');
        let (Some(leaf), Some(parent)) = (segments.next(), segments.next()) else {
            continue;
        };
        // All of these have the last part of the name as a word of its own, but for a package that is completed: of
        // thousands of changes a file has few.
        let package = change.from.strip_suffix(leaf).unwrap_or_default();
        let begins = || occurrences(file.text, package).next().is_some();
        if !words.contains(leaf) && !*prefixes.entry(package).or_insert_with(begins) {
            continue;
        }
        named_by_leaf(file, (&change.from, leaf), found);
        // With two segments the dotted name is the full one.
        if segments.next().is_some() {
            mentions(file, &format!("{parent}/{leaf}"), Form::FilePath, found);
            mentions(file, &format!("{parent}.{leaf}"), Form::Prose, found);
        }
    }
}

/// All that may name a module by the last part of its name.
fn named_by_leaf(file: &File<'_>, (name, leaf): (&str, &str), found: &mut FileEdits) {
    mentions(file, &format!("{leaf}.py"), Form::FilePath, found);
    completed(file, name, leaf, found);
    begun(file, name, found);
    relative(file, name, found);
    looked_up(file, name, leaf, found);
    ended(file, name, found);
    joined(file, name, leaf, found);
}

/// The words of a text.
fn words_of(text: &str) -> FxHashSet<&str> {
    let words = text.split(|c| !is_word(c));
    words.filter(|word| !word.is_empty()).collect()
}

fn mentions(file: &File<'_>, name: &str, form: Form, found: &mut FileEdits) {
    for span in occurrences(file.text, name) {
        let mut known = found.told.not_rewritten.iter();
        let told = known.any(|other| other.span.start < span.end && span.start < other.span.end);
        if told || found.covered(span) || !in_text(file, span) {
            continue;
        }
        if form == Form::FilePath && is_of_another(file, span) {
            continue;
        }
        found.told.leave(span, form, name, "less than a full name");
        if form == Form::FilePath && is_opened(file, span) {
            let why = "the path of a file that moves, in code that looks for files";
            found.told.doubt(span, UnprovenKind::OwnPlace, name, why);
        }
    }
}

/// Whether the name of a file ends the path of another one, which the tree has and which does not move.
fn is_of_another(file: &File<'_>, name: ByteSpan) -> bool {
    let before = file.text.get(..name.start as usize).unwrap_or_default();
    let head = before.trim_end_matches(|c: char| is_word(c) || matches!(c, '/' | '.' | '-'));
    let path = file.text.get(head.len()..name.end as usize);
    let path = path
        .map(|path| path.trim_start_matches("./"))
        .unwrap_or_default();
    let may_move = || {
        let mut moving = file.mapping.paths.keys();
        moving.any(|moving| {
            let end = moving.strip_suffix(path);
            end.is_some_and(|above| above.is_empty() || above.ends_with('/'))
        })
    };
    path.contains('/') && file.mapping.has_file(path) && !may_move()
}

/// Whether a path is a string of its own, or stands in one of a file that looks for files beside itself or opens some.
fn is_opened(file: &File<'_>, span: ByteSpan) -> bool {
    let mut strings = file.analysis().strings.iter();
    let string = strings.find(|string| string.span.contains(span));
    let Some(string) = string.filter(|string| !string.documentation) else {
        return false;
    };
    // A text of nothing but a path is no message.
    let content = string.span.of(file.text).unwrap_or_default();
    let alone = string.span.end == span.end && !content.contains(char::is_whitespace);
    alone
        || ["__file__", "open(", "runpy", "subprocess"]
            .iter()
            .any(|word| file.text.contains(word))
}

/// Names that are put together at run time: `"pkg." + name`, `f"pkg.{name}"`. Where a file has the
/// prefix, it and every string that is the rest alone may name the module.
fn completed(file: &File<'_>, name: &str, leaf: &str, found: &mut FileEdits) {
    let prefix = name.strip_suffix(leaf).unwrap_or_default();
    let open = |span: &ByteSpan| {
        let rest = file.text.get(span.end as usize..).unwrap_or_default();
        rest.starts_with(['"', '\'']) || goes_on(file, name, rest)
    };
    let prefixes: Vec<ByteSpan> = occurrences(file.text, prefix)
        .filter(|span| {
            let of_nobody = is_said(file, *span) || is_remark(file.text, *span);
            open(span) && !of_nobody && !ends_sentence(file, *span)
        })
        .collect();
    if prefix.is_empty() || prefixes.is_empty() {
        return;
    }
    for span in literals_of(file, leaf) {
        if !found.covered(span) {
            let why = "a bare name beside a prefix that completes it";
            found.leave_open(span, name, why);
        }
    }
    for span in prefixes {
        if !found.covered(span) && !is_known_to_its_end(file, span) {
            begun_at(file, span, name, found);
        }
    }
}

/// The literals of a file that say a name and are no documentation.
fn literals_of<'f>(file: &'f File<'_>, name: &'f str) -> impl Iterator<Item = ByteSpan> + 'f {
    let strings = file.analysis().strings.iter();
    strings
        .filter(move |string| !string.documentation && string.span.of(file.text) == Some(name))
        .map(|string| string.span)
}

/// Tells of a prefix that is completed.
fn begun_at(file: &File<'_>, span: ByteSpan, name: &str, found: &mut FileEdits) {
    let why = "a prefix that is completed at run time; it may lead to the module";
    // The call around it is told already.
    let mut open = file.analysis().open.iter();
    if open.any(|open| open.span.contains(span)) {
        found.told.leave(span, Form::String, name, why);
    } else {
        found.leave_open(span, name, why);
    }
}

/// Whether a place is part of a call whose name is known to its end: of that nothing is open.
fn is_known_to_its_end(file: &File<'_>, span: ByteSpan) -> bool {
    let mut calls = file.analysis().run_time.iter();
    calls.any(|(call, ..)| call.from.span.contains(span))
}

/// Whether a name stands in a docstring, which nobody completes: `"""Utilities of pkg."""`.
fn is_said(file: &File<'_>, span: ByteSpan) -> bool {
    let mut strings = file.analysis().strings.iter();
    strings.any(|string| string.documentation && string.span.contains(span))
}

/// Whether a name stands in a comment, or is the end of an address: `# msg = "see https://host/pkg."`.
fn is_remark(text: &str, span: ByteSpan) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    line.trim_start().starts_with('#') || before.ends_with('/')
}

/// Whether a name with its point is the end of a sentence that nothing is put behind: `"Please report it to pkg."`. What
/// begins with a small letter, or has words of a statement or a command, may be a text that is completed.
fn ends_sentence(file: &File<'_>, span: ByteSpan) -> bool {
    let mut strings = file.analysis().strings.iter();
    let string = strings.find(|string| string.span.contains(span) && string.span.end == span.end);
    let Some(string) = string else { return false };
    let before = ByteSpan::new(string.span.start, span.start).of(file.text);
    let before = before.unwrap_or_default();
    let mut words = before.split_whitespace();
    let of_code = ["import", "from", "-m", "python"];
    let sentence = before.ends_with(' ')
        && before.starts_with(char::is_uppercase)
        && words.clone().count() > 1
        && !words.any(|word| of_code.contains(&word.to_lowercase().as_str()));
    let after = file.text.get(span.end as usize..).unwrap_or_default();
    let after = after.trim_start_matches(['"', '\'']).trim_start();
    sentence && after.starts_with([')', ','])
}

/// Whether a prefix with a gap behind it, `{…}` or `%s`, can come to be the name or one below it: `{…}(` cannot, and
/// `{…}.rest` only where something below is called so.
fn goes_on(file: &File<'_>, name: &str, rest: &str) -> bool {
    let behind = behind_gap(rest);
    // What else is there is no end that could be read.
    let Some(behind) = behind else {
        return rest.starts_with(['{', '%']);
    };
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let end = behind.find(|c| !part(c)).unwrap_or(behind.len());
    let (tail, stop) = behind.split_at(end);
    match stop.chars().next() {
        Some('{' | '%' | '\\') => return true,
        Some('"' | '\'' | ':') => {}
        _ => return false,
    }
    let Some(tail) = tail.strip_prefix('.').filter(|_| tail.len() > 1) else {
        return true;
    };
    has_module(file.graph(), name, tail)
}

/// Whether a module is called so, or lies below it, and has this end or something of this name.
fn has_module(graph: &PythonGraph, name: &str, tail: &str) -> bool {
    let (own, below) = (name.len(), format!("{name}."));
    let (last, end) = (tail.rsplit('.').next().unwrap_or(tail), format!(".{tail}"));
    let mut modules = graph.modules.iter().enumerate();
    modules.any(|(at, module)| {
        let full = &module.name;
        let is_below = full.len() == own && full == name || full.starts_with(&below);
        is_below && (full.ends_with(&end) || graph.member(at, last) != Entity::Missing)
    })
}

/// What stands behind a gap, `{…}` or `%s`.
fn behind_gap(rest: &str) -> Option<&str> {
    let Some(gap) = rest.strip_prefix('{') else {
        return rest.strip_prefix("%s");
    };
    let end = gap.find(['}', '"', '\'', '\n'])?;
    gap.get(end..)?.strip_prefix('}')
}

/// Ends of names that begin with a package above, where another file puts names together and imports them:
/// `preload("engine.default")` beside `import_module(f"{package}.{name}")`.
fn begun(file: &File<'_>, name: &str, found: &mut FileEdits) {
    let graph = file.graph();
    // Asked of all modules, and once.
    let imports = LazyCell::new(|| imports_by_value(graph, name));
    for string in &file.analysis().strings {
        let content = string.span.of(file.text).unwrap_or_default();
        if string.documentation || string.annotation || !content.contains('.') {
            continue;
        }
        let leads = name.match_indices('.').any(|(at, _)| {
            let (above, rest) = (name.get(..at), name.get(at + 1..).unwrap_or_default());
            let behind = content.strip_prefix(rest);
            behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('.'))
                && above
                    .is_some_and(|above| graph.find(None, &format!("{above}.{content}")).is_some())
        });
        let told = || graph.find(file.module, content).is_some() || found.covered(string.span);
        if leads && !told() && *imports {
            let why = "the end of a name, in a package that puts names together and imports them";
            found
                .told
                .doubt(string.span, UnprovenKind::DynamicImport, name, why);
        }
    }
}

/// Whether a module with the same outermost package imports what it is given.
fn imports_by_value(graph: &PythonGraph, name: &str) -> bool {
    let top = name.split('.').next();
    let mut modules = graph.modules.iter().zip(&graph.facts);
    modules.any(|(module, facts)| facts.imports_by_value && module.name.split('.').next() == top)
}

/// Relative names in texts that no call is seen to import, where another file imports what it is given:
/// `lazy(globals(), {"Server": ".old.server"})`.
fn relative(file: &File<'_>, name: &str, found: &mut FileEdits) {
    let strings = file.analysis().strings.iter();
    let strings = strings.filter(|string| !string.documentation && !found.covered(string.span));
    let spans = strings.map(|string| string.span);
    let leading: Vec<ByteSpan> = spans
        .filter(|span| leads_relatively(file, *span, name))
        .collect();
    if leading.is_empty() || !imports_by_value(file.graph(), name) {
        return;
    }
    let why = "a relative name, in a package that imports what it is given";
    for span in leading {
        found.told.leave(span, Form::String, name, why);
        found
            .told
            .doubt(span, UnprovenKind::DynamicImport, name, why);
    }
}

/// Whether a text names a module that changes, or one below it, as seen from its file, and does not from where both are
/// afterwards.
fn leads_relatively(file: &File<'_>, span: ByteSpan, name: &str) -> bool {
    let content = span.of(file.text).unwrap_or_default();
    let module = content.trim_start_matches('.');
    let level = content.len() - module.len();
    let end = module.find(|c| !is_word(c) && c != '.');
    let (module, rest) = module.split_at(end.unwrap_or(module.len()));
    if level == 0 || module.is_empty() || !(rest.is_empty() || rest.starts_with(':')) {
        return false;
    }
    let from = FromPart {
        level: u32::try_from(level).unwrap_or(u32::MAX),
        module: module.to_owned(),
        span,
    };
    let now = from.absolute(file.package).unwrap_or_default();
    is_or_below(&now, name) && from.absolute(&file.package_after) != file.absolute(&now)
}

/// Ends of names that are put together: `sys.modules[PACKAGE + ".old"]`, `f"{BASE}.old"`. Where a file imports by
/// texts, or has the rest of the name, such an end may lead to the module.
fn ended(file: &File<'_>, name: &str, found: &mut FileEdits) {
    let package = name.rsplit_once('.').map_or("", |(package, _)| package);
    let by_text = ["import_module", "__import__", "sys.modules"]
        .iter()
        .any(|word| file.text.contains(word));
    let mut strings = file.analysis().strings.iter();
    let rest = |text: &str| !package.is_empty() && text == package;
    if !by_text && !strings.any(|string| string.span.of(file.text).is_some_and(rest)) {
        return;
    }
    let ends = name.match_indices('.').filter_map(|(at, _)| name.get(at..));
    for end in ends {
        let places = memchr::memmem::find_iter(file.text.as_bytes(), end.as_bytes());
        for at in places {
            let span = ByteSpan::from_range(at..at + end.len());
            let why = why_put_together(file, span, by_text);
            if let Some(why) = why.filter(|_| !found.covered(span)) {
                found.leave_open(span, name, why);
            }
        }
    }
}

/// Why a part of a name that stands behind a gap or a quote may be completed before it.
fn why_put_together(file: &File<'_>, span: ByteSpan, by_text: bool) -> Option<&'static str> {
    let before = file.text.get(..span.start as usize)?;
    let after = file.text.get(span.end as usize..)?;
    let mut gaps = ["\"", "'", "}", "%s", ")s"].iter();
    if !gaps.any(|gap| before.ends_with(gap)) {
        return None;
    }
    if after.starts_with(['"', '\'']) {
        return Some("the end of a name that is put together; it may lead to the module");
    }
    let goes_on = by_text && after.starts_with('.') && in_code(file, span.start as usize);
    goes_on.then_some("the middle of a name that is put together; it may lead to the module")
}

/// Whether a place is in no docstring.
fn in_code(file: &File<'_>, at: usize) -> bool {
    let place = ByteSpan::from_range(at..at + 1);
    let mut strings = file.analysis().strings.iter();
    !strings.any(|string| string.documentation && string.span.contains(place))
}

/// Last names that are joined to packages at run time: `import_module(f"{app}.{related}")` beside `"tasks"`.
fn joined(file: &File<'_>, name: &str, leaf: &str, found: &mut FileEdits) {
    let by_text = ["import_module(", "__import__("]
        .iter()
        .any(|word| file.text.contains(word));
    if !by_text
        || !["}.{", " + \".\" + ", "%s.%s", "\".\".join(", "'.'.join("]
            .iter()
            .any(|join| file.text.contains(join))
    {
        return;
    }
    let strings = file.analysis().strings.iter();
    let alone =
        strings.filter(|string| !string.documentation && string.span.of(file.text) == Some(leaf));
    for span in alone.map(|string| string.span) {
        if !found.covered(span) {
            let why = "a bare name in a file that joins such names and imports them";
            found.told.leave(span, Form::String, name, why);
            found
                .told
                .doubt(span, UnprovenKind::DynamicImport, name, why);
        }
    }
}

/// Bare names by which a program looks a submodule up: `getattr(pkg.old, "gpu")` and
/// `__import__("pkg.old", fromlist=["gpu"])`.
fn looked_up(file: &File<'_>, name: &str, leaf: &str, found: &mut FileEdits) {
    let package = name
        .rsplit_once('.')
        .and_then(|(package, _)| file.graph().find(file.module, package));
    let strings = file.analysis().strings.iter();
    let bare = strings
        .filter(|string| !string.documentation && string.span.of(file.text) == Some(leaf))
        .map(|string| string.span);
    for span in bare {
        let before = file.text.get(..span.start as usize).unwrap_or_default();
        let before = before.trim_end_matches(['"', '\'']).trim_end();
        let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        let object = before.strip_suffix(',').map(str::trim_end);
        let module = object.and_then(|object| module_ending(file, object.len()));
        let attribute = module.is_some() && module == package;
        let listed = line.contains("fromlist") && line.trim_end().ends_with(['[', '(', ',']);
        if (attribute || listed) && !found.covered(span) {
            let why = "a bare name that is looked up in the package; it may name the module";
            found.leave_open(span, name, why);
        }
    }
}

/// The module that the use leads to which ends at a place.
fn module_ending(file: &File<'_>, at: usize) -> Option<usize> {
    let mut uses = file.analysis().uses.iter();
    let ends = |used: &&Use| {
        let last = used.chain.last();
        last.is_some_and(|last| last.span.end as usize == at)
    };
    uses.find(ends).and_then(|used| module_of(file, used))
}

/// Whether a place is in a string or a comment.
fn in_text(file: &File<'_>, span: ByteSpan) -> bool {
    if file
        .analysis()
        .strings
        .iter()
        .any(|string| string.span.contains(span))
    {
        return true;
    }
    let before = file.text.get(..span.start as usize).unwrap_or_default();
    before
        .rsplit(['\n', '\r'])
        .next()
        .is_some_and(|line| line.contains('#'))
}
