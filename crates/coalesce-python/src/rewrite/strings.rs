//! String literals of code: full names, relative names, statements in templates, and what names the
//! moved module outside of any literal.

use coalesce_model::{
    ByteSpan, Edit, Form, Safety, UnprovenKind,
    reference::{ends_with_module_option, ends_with_name_scheme},
};
use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;

use crate::{
    analysis::{Analysis, StringLiteral, Use},
    extract::{is_dotted, is_identifier},
    graph::Entity,
    names::{is_word, last_word, occurrences},
    parser::parse_module,
    rewrite::{
        documents,
        file::{File, FileEdits, Reference},
        imports::check_item,
        keys, lazy, paths,
        snippet::{self, Setting},
        warning_filters,
    },
};

/// Rewrites the literals of a file; prose only when `prose` says so.
pub fn rewrite(file: &File<'_>, prose: bool, found: &mut FileEdits) {
    let lazy = lazy::Lazy::new(file);
    for string in &file.analysis().strings {
        let Some(content) = string.span.of(file.text) else {
            continue;
        };
        let is_documentation =
            string.documentation || (content.contains('\n') && is_note(file.text, string.span));
        let mentioned = file.mapping.mentioned(content);
        match is_documentation {
            true if mentioned => documents::docstring(file, string.span, prose, found),
            false if mentioned || content.starts_with('.') => {
                literal(file, &lazy, string, content, found);
            }
            _ => {}
        }
    }
    paths::rewrite(file, found);
    outside(file, prose, found);
}

fn literal(
    file: &File<'_>,
    lazy: &lazy::Lazy<'_>,
    string: &StringLiteral,
    content: &str,
    found: &mut FileEdits,
) {
    if found.covered(string.span)
        || lazy.rewrite(string, content, found)
        || entry_points(file, string.span, content, found)
    {
        return;
    }
    let name = content.split_once(':').map_or(content, |(name, _)| name);
    let in_tree = || file.graph().find(None, content).is_some();
    let plain = content.contains('.') && !content.contains(['/', ' ', '\n']);
    if is_dotted(name) || plain && in_tree() {
        return full_name(file, string, name, content, found);
    }
    if is_identifier(content) {
        return single(file, string.span, content, found);
    }
    names_within(file, string, found);
}

/// What a longer text names: statements, regular expressions, full names.
fn names_within(file: &File<'_>, string: &StringLiteral, found: &mut FileEdits) {
    import_lines(file, string.span, Form::String, found);
    keys::expressions(file, string.span, found);
    for (span, name, new) in full_names(file, string.span) {
        let stands = string.annotation || names_module(file, string.span, span);
        if found.covered(span) || !stands {
            continue;
        }
        let reference = Reference::exact(Form::String, &name, &new, "a full name in a string");
        let reference = if string.annotation {
            reference
        } else {
            reference.needs_review()
        };
        found.change(Edit::replace(span, new.as_str()), reference);
        import_tail(file, span, &name, &new, found);
        let rest = file.text.get(span.end as usize..).unwrap_or_default();
        if let Some(rest) = rest.strip_prefix(':') {
            behind_colon(file, &name, rest, span, found);
        }
    }
}

/// Whether a name in a longer text stands for a module: that of one at the top may be any word, `"no gpu found"`. It does
/// where something of the module follows, as an argument of a tool, and where the text goes on elsewhere, `"gpu." + name`.
fn names_module(file: &File<'_>, literal: ByteSpan, span: ByteSpan) -> bool {
    let name = span.of(file.text).unwrap_or_default();
    let Some(module) = file
        .graph()
        .find(file.module, name)
        .filter(|_| !name.contains('.'))
    else {
        return true;
    };
    let (before, after) = (
        file.text.get(..span.start as usize).unwrap_or_default(),
        file.text.get(span.end as usize..).unwrap_or_default(),
    );
    let inside = ByteSpan::new(literal.start, span.start).of(file.text);
    let inside = inside.unwrap_or_default();
    let item = after
        .strip_prefix(" : ")
        .or_else(|| after.strip_prefix(':'));
    let item = item.unwrap_or_default();
    let end = item.find(|c| !is_word(c)).unwrap_or(item.len());
    let item = item.get(..end).unwrap_or_default();
    // `command = pkg:main`
    let is_entry_point = inside.trim_end().ends_with('=');
    let has_item = || is_entry_point || file.graph().member(module, item) != Entity::Missing;
    let goes_on = after.starts_with('.') && !inside.contains(char::is_whitespace);
    goes_on
        || !item.is_empty() && has_item()
        || ends_with_module_option(before)
        || warning_filters::ends_before_module(inside)
}

/// A string that is one full name, and perhaps an item of it behind a colon.
fn full_name(
    file: &File<'_>,
    string: &StringLiteral,
    name: &str,
    content: &str,
    found: &mut FileEdits,
) {
    let Some(new) = file.absolute(name) else {
        return;
    };
    if is_name_of_logger(file, string.span, name) {
        let why = "a logger is called like this, and loggers have no items";
        return found.told.leave(string.span, Form::String, name, why);
    }
    if is_group(file.text, string.span) {
        let why = "a group of entry points is called like this, and keeps its name";
        return found.told.leave(string.span, Form::String, name, why);
    }
    let start = string.span.start;
    let span = ByteSpan::new(start, start + u32::try_from(name.len()).unwrap_or(0));
    found.change(
        Edit::replace(span, new.as_str()),
        Reference::exact(Form::String, name, &new, "a string that is a full name"),
    );
    import_tail(file, span, name, &new, found);
    let rest = content.get(name.len()..);
    if let Some(rest) = rest.and_then(|rest| rest.strip_prefix(':')) {
        behind_colon(file, name, rest, span, found);
    }
    if !string.annotation {
        keys::doubt(file, string.span, name, found);
    }
}

/// Whether a text is the name of a group of entry points: where `setup` is given them, and where somebody asks for one.
fn is_group(text: &str, span: ByteSpan) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    let before = before.trim_end_matches(['"', '\'']).trim_end();
    let after = text.get(span.end as usize..).unwrap_or_default();
    let after = after.trim_start_matches(['"', '\'']).trim_start();
    let asked = ["group=", "namespace=", "iter_entry_points("];
    let table = before.rfind("entry_points").and_then(|at| before.get(at..));
    let in_table = table.is_some_and(|table| {
        table.contains('{') && table.matches('{').count() > table.matches('}').count()
    });
    asked.iter().any(|word| before.ends_with(word)) || in_table && after.starts_with(':')
}

/// Whether a text that reads like the name of an item is what a logger is got by.
fn is_name_of_logger(file: &File<'_>, span: ByteSpan, name: &str) -> bool {
    let before = file.text.get(..span.start as usize).unwrap_or_default();
    let call = before.trim_end_matches(['"', '\'']).trim_end();
    let called = call
        .strip_suffix('(')
        .map(|call| last_word(call).to_lowercase());
    called.is_some_and(|called| called.contains("logger"))
        && matches!(file.graph().lookup(name), Entity::Item(..))
}

/// Items behind the colon of an entry point: `pkg.old:f`.
fn entry_points(file: &File<'_>, within: ByteSpan, content: &str, found: &mut FileEdits) -> bool {
    let mut any = false;
    if !content.contains(':') {
        return any;
    }
    let moved = file.mapping.items.list.iter();
    for (moved, colon) in moved.flat_map(|moved| [(moved, ":"), (moved, " : ")]) {
        let Some((module, _)) = moved.change.from.rsplit_once('.') else {
            continue;
        };
        let (from, to) = (
            format!("{module}{colon}{}", moved.item),
            format!("{}{colon}{}", moved.parent, moved.name),
        );
        for span in occurrences(content, &from) {
            let start = within.start as usize + span.start as usize;
            let span = ByteSpan::from_range(start..start + from.len());
            let reference = Reference::exact(Form::String, &from, &to, "an entry point");
            found.change(Edit::replace(span, to.as_str()), reference);
            any = true;
        }
    }
    any
}

/// `__import__("a.b")` gives `a`: the attributes that lead on to `b` follow the name. What else becomes of it, as of
/// `__import__("a.b." + name)`, is not known.
fn import_tail(file: &File<'_>, span: ByteSpan, old: &str, new: &str, found: &mut FileEdits) {
    let Some((begin, end)) = import_call(file.text, span) else {
        return;
    };
    let split = |name: &str| {
        let (top, rest) = name.split_once('.')?;
        Some((top.to_owned(), rest.to_owned()))
    };
    let tail = file.text.get(end..).unwrap_or_default();
    if let (Some((old_top, old_rest)), Some((new_top, new_rest))) = (split(old), split(new))
        && old_top == new_top
        && let Some(rest) = tail
            .strip_prefix('.')
            .and_then(|tail| tail.strip_prefix(&old_rest))
        && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    {
        let place = ByteSpan::from_range(end + 1..end + 1 + old_rest.len());
        found.push(Edit::replace(place, new_rest));
        return;
    }
    if reads_another(tail, split(old), split(new)) {
        return;
    }
    if !is_alone(file.text, begin, tail) {
        let why =
            "`__import__` gives the first package of the name; what is read of it is not known";
        let kind = UnprovenKind::DynamicImport;
        found.told.doubt(span, kind, old, why);
    }
}

/// Whether nothing but a comment stands beside a call on its line.
fn is_alone(text: &str, begin: usize, tail: &str) -> bool {
    let line = |text: &str| text.chars().all(char::is_whitespace);
    let head = text.get(..begin).unwrap_or_default();
    let rest = tail.split(['\n', '\r', '#', ';']).next();
    line(head.rsplit(['\n', '\r']).next().unwrap_or_default()) && line(rest.unwrap_or_default())
}

/// Whether what follows `__import__("a.b.c")` reads a name of `a` that leads neither to the old module nor to the new one:
/// `a` stays what it is.
fn reads_another(tail: &str, old: Option<(String, String)>, new: Option<(String, String)>) -> bool {
    let (Some((old_top, old_rest)), Some((new_top, new_rest))) = (old, new) else {
        return false;
    };
    let read = tail.strip_prefix('.').unwrap_or_default();
    let read = read.split(|c| !is_word(c)).next().unwrap_or_default();
    let leads = |rest: &str| rest.split('.').next() == Some(read);
    let special = read.starts_with("__");
    old_top == new_top && !read.is_empty() && !special && !leads(&old_rest) && !leads(&new_rest)
}

/// Where a call of `__import__` begins and ends that has a text which begins with these bytes as its only argument.
fn import_call(text: &str, span: ByteSpan) -> Option<(usize, usize)> {
    let quotes = ['"', '\'', '\\'];
    let before = text.get(..span.start as usize)?;
    let opened = before.trim_end_matches(quotes);
    let quote = before.get(opened.len()..)?.chars().next_back()?;
    let opened = opened.strip_suffix(['f', 'F', 'r', 'R']).unwrap_or(opened);
    let begin = opened.strip_suffix("__import__(")?.len();
    let after = text.get(span.end as usize..)?;
    let closed = after.find(quote)?;
    let (mut depth, mut at) = (0_u32, span.end as usize + closed);
    for c in text.get(at..)?.chars() {
        at += c.len_utf8();
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => return Some((begin, at)),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Refuses an entry point of a module that gives way to one without the item: `pkg.old:item`.
fn behind_colon(file: &File<'_>, module: &str, rest: &str, span: ByteSpan, found: &mut FileEdits) {
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len());
    let item = rest.get(..end).unwrap_or_default();
    if let Some(module) = file.graph().find(file.module, module)
        && is_identifier(item)
        && file.graph().submodule(module, item).is_none()
    {
        check_item(file, module, item, span, found);
    }
}

/// A string that is a statement by itself: a note, not data.
fn is_note(text: &str, span: ByteSpan) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    let Some(before) = before
        .strip_suffix("\"\"\"")
        .or_else(|| before.strip_suffix("'''"))
    else {
        return false;
    };
    let before = before.trim_end_matches(['r', 'R', 'u', 'U', 'b', 'B']);
    let after = text.get(span.end as usize + 3..).unwrap_or_default();
    let line_ends = after.split(['\n', '\r']).next().unwrap_or_default();
    let alone = before
        .rsplit(['\n', '\r'])
        .next()
        .is_some_and(|line| line.trim().is_empty());
    let last = before.trim_end().chars().next_back();
    let continues = last.is_some_and(|c| "([{,=+:\\%".contains(c));
    alone && !continues && (line_ends.trim().is_empty() || line_ends.trim_start().starts_with('#'))
}

/// A top-level module named by a string, where nothing else can be meant.
fn single(file: &File<'_>, span: ByteSpan, content: &str, found: &mut FileEdits) {
    let before = file
        .text
        .get(..span.start as usize)
        .unwrap_or_default()
        .trim_end_matches(['"', '\'']);
    let calls = [
        "import_module(",
        "__import__(",
        "importorskip(",
        "sys.modules[",
        "modules.pop(",
        "find_spec(",
        "files(",
    ];
    let is_argument = || {
        let before = file.text.get(..span.start as usize);
        ends_with_module_option(before.unwrap_or_default())
    };
    let is_asked_for = calls.iter().any(|call| before.trim_end().ends_with(call));
    let Some(new) = file.absolute(content) else {
        return;
    };
    let beside = beside(file, span);
    if is_asked_for || is_argument() || beside == Beside::Module {
        found.change(
            Edit::replace(span, new.as_str()),
            Reference::exact(Form::String, content, &new, "a string that is a full name"),
        );
    } else if beside == Beside::Unknown {
        let why = "the `__name__` of something is held against it, which may be that of the module";
        found.told.leave(span, Form::String, content, why);
        let kind = UnprovenKind::RuntimeTable;
        found.told.doubt(span, kind, content, why);
    }
}

/// What a text is held against.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// The name of a module: `f.__module__ == "pkg"`.
    Module,
    /// The name of something that may be a module.
    Unknown,
    Other,
}

fn beside(file: &File<'_>, literal: ByteSpan) -> Beside {
    let mut known = file.analysis().beside_names.iter();
    let Some(asked) = known.find(|one| one.literal == literal) else {
        return Beside::Other;
    };
    let Some(owner) = asked.owner else {
        return Beside::Module;
    };
    let begins = |used: &&Use| {
        let first = used.chain.first();
        first.is_some_and(|first| first.span.start == owner.start)
    };
    let mut uses = file.analysis().uses.iter();
    let meaning = uses.find(begins).and_then(|used| {
        let mut links = used.chain.iter();
        let at = links.position(|link| link.span.end == owner.end)?;
        file.names.meanings(used).into_iter().nth(at)?.entity
    });
    match meaning {
        Some(Entity::Module(_)) => Beside::Module,
        Some(Entity::Item(..)) => Beside::Other,
        _ => Beside::Unknown,
    }
}

/// Import statements that stand on lines of a text: a template of generated code, `python -c`.
pub fn import_lines(file: &File<'_>, span: ByteSpan, form: Form, found: &mut FileEdits) {
    let text = file.text;
    let lines = snippet::lines(text, span);
    let setting = Setting {
        form,
        reason: "an import statement in a text",
        safety: Safety::NeedsReview,
        newline: line_end_within(text, span),
    };
    let mut lines = lines.iter();
    while let Some(line) = lines.next() {
        let Some(code) = import_line(text, *line) else {
            continue;
        };
        let mut block = vec![code];
        let content = code.span.of(text).unwrap_or_default();
        if content.contains('(') && !content.contains(')') {
            block.extend(up_to_bracket(text, &mut lines));
        }
        snippet::rewrite(file.mapping, text, &block, setting, found);
    }
}

/// What ends a line of a literal: a line break, or its escape.
fn line_end_within(text: &str, literal: ByteSpan) -> &'static str {
    let real = literal
        .of(text)
        .is_some_and(|content| content.contains('\n'));
    match real {
        false => "\\n",
        true if text.contains("\r\n") => "\r\n",
        true => "\n",
    }
}

/// The import statement that begins on a line, if one does.
fn import_line(text: &str, line: ByteSpan) -> Option<snippet::Line> {
    let code = snippet::code_line(text, line, &[">>>"])
        .or_else(|| snippet::code_line(text, line, &[""]))
        .or_else(|| indented(text, line))?;
    let content = code.span.of(text).unwrap_or_default();
    let is_import = content.starts_with("import ")
        || content.starts_with("from ") && content.contains(" import");
    is_import.then_some(code)
}

/// The lines up to the one that closes a bracket.
fn up_to_bracket(text: &str, lines: &mut std::slice::Iter<'_, ByteSpan>) -> Vec<snippet::Line> {
    let mut block = Vec::new();
    for line in lines {
        block.push(snippet::Line {
            span: *line,
            start: line.start,
        });
        if line.of(text).is_some_and(|line| line.contains(')')) {
            break;
        }
    }
    block
}

fn indented(text: &str, line: ByteSpan) -> Option<snippet::Line> {
    let content = line.of(text)?;
    let indentation =
        u32::try_from(content.len() - content.trim_start_matches([' ', '\t']).len()).ok()?;
    Some(snippet::Line {
        span: ByteSpan::new(line.start + indentation, line.end),
        start: line.start,
    })
}

/// The full names of what moves that stand alone in a part of the text: the place, the name, and
/// the name after.
pub fn full_names(file: &File<'_>, within: ByteSpan) -> Vec<(ByteSpan, String, String)> {
    let content = within.of(file.text).unwrap_or_default();
    let mut result: Vec<(ByteSpan, String, String)> = Vec::new();
    for change in file.mapping.named_in(content) {
        for at in occurrences(content, &change.from) {
            let Some(whole) = whole_name(content, at.start as usize) else {
                continue;
            };
            let start = within.start as usize + at.start as usize;
            let span = ByteSpan::from_range(start..start + whole.len());
            let new = file.absolute(whole);
            result.extend(new.map(|new| (span, whole.to_owned(), new)));
        }
    }
    result.sort();
    result.dedup_by(|a, b| a.0.start == b.0.start);
    result
}

/// The dotted name that begins at a place of a text, if it is one that stands alone.
fn whole_name(content: &str, at: usize) -> Option<&str> {
    let rest = content.get(at..).unwrap_or_default();
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
        .unwrap_or(rest.len());
    let whole = rest.get(..end).unwrap_or_default().trim_end_matches('.');
    // `https://host/pkg.old.html` is an address, `pkg-old.x` another word.
    let head = content.get(..at).unwrap_or_default();
    let touched = head.ends_with(['/', '-', '@']) && !ends_with_name_scheme(head);
    let apart = touched || whole.split('.').any(str::is_empty);
    (!apart).then_some(whole)
}

/// Spans, asked whether one of them holds another one.
struct Cover {
    /// Where each begins, and how far those up to it reach, sorted.
    reach: Vec<(u32, u32)>,
}

impl Cover {
    fn of(spans: impl Iterator<Item = ByteSpan>) -> Self {
        let mut reach: Vec<_> = spans.map(|span| (span.start, span.end)).collect();
        reach.sort_unstable();
        let mut furthest = 0;
        for (_, end) in &mut reach {
            furthest = furthest.max(*end);
            *end = furthest;
        }
        Self { reach }
    }

    fn contains(&self, span: ByteSpan) -> bool {
        let begun = self
            .reach
            .partition_point(|(start, _)| *start <= span.start);
        let last = begun.checked_sub(1).and_then(|last| self.reach.get(last));
        last.is_some_and(|(_, furthest)| span.end <= *furthest)
    }
}

/// Leaves out what a literal, an import or a chain accounts for.
fn leave_out_accounted(analysis: &Analysis, names: &mut Vec<(ByteSpan, String, String)>) {
    let literals = analysis.strings.iter().map(|string| string.span);
    let imports = analysis.imports.iter().map(|(import, _)| import.span);
    let accounted = Cover::of(literals.chain(imports));
    let chains = analysis.uses.iter().flat_map(|used| &used.chain);
    let segments: FxHashSet<u32> = chains.map(|segment| segment.span.start).collect();
    names.retain(|(span, ..)| !accounted.contains(*span) && !segments.contains(&span.start));
}

/// Full names that no literal, import or chain accounts for: comments and parts of f-strings.
fn outside(file: &File<'_>, prose: bool, found: &mut FileEdits) {
    let whole = ByteSpan::from_range(0..file.text.len());
    let mut names = full_names(file, whole);
    names.retain(|(span, ..)| !found.covered(*span));
    if !names.is_empty() {
        leave_out_accounted(file.analysis(), &mut names);
    }
    if names.is_empty() {
        return;
    }
    let (parsed, start) = parse_module(file.text);
    for (span, name, new) in names {
        let Some((kind, around)) = token_around(parsed.tokens(), start, span) else {
            continue;
        };
        match kind {
            TokenKind::Comment => documents::prose(span, &name, &new, prose, found),
            TokenKind::FStringMiddle | TokenKind::TStringMiddle
                if names_module(file, around, span) =>
            {
                let why = "a full name in a formatted string";
                let reference = Reference::exact(Form::String, &name, &new, why);
                found.change(Edit::replace(span, new.as_str()), reference.needs_review());
                import_tail(file, span, &name, &new, found);
            }
            _ => {}
        }
    }
}

/// What kind of token a place stands in, and where that is.
fn token_around(tokens: &[Token], start: u32, span: ByteSpan) -> Option<(TokenKind, ByteSpan)> {
    // Tokens stand one after another.
    let after = tokens.partition_point(|token| token.start().to_u32() + start <= span.start);
    let around = after.checked_sub(1).and_then(|last| tokens.get(last));
    let around = around.filter(|token| span.end <= token.end().to_u32() + start);
    around.map(|token| {
        let range = token.range();
        let range = ByteSpan::new(range.start().to_u32() + start, range.end().to_u32() + start);
        (token.kind(), range)
    })
}
