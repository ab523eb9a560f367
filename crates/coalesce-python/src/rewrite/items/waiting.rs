//! An import at the head of a module that goes into the functions that use it.
//!
//! Only where that is no more than a question of when: all names of the statement are read in plain functions alone, and
//! nobody asks the module for them. A function that something else translates (`@numba.njit`), a type, a doctest or a look
//! at the module's names keeps the import where it is.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit};

use super::{
    cut,
    outline::{BodyStart, Function, Kind, Outline},
};
use crate::{
    analysis::{Analysis, Use},
    facts::{ImportStatement, Leaf},
    names::occurrences_of_word,
};

/// Longer lines are laid out one name below the other.
const LINE: usize = 88;

/// Decorators that leave the body of a function to Python.
const PLAIN: [&str; 8] = [
    "@staticmethod",
    "@classmethod",
    "@property",
    "@abstractmethod",
    "@abc.abstractmethod",
    "@contextmanager",
    "@contextlib.contextmanager",
    "@override",
];

/// Words of modules whose functions may be translated, or whose texts and types may be read.
const LOOKED_AT: [&str; 9] = [
    "jit",
    "njit",
    "numba",
    "triton",
    "vectorize",
    "guvectorize",
    "stencil",
    "getsource",
    "get_type_hints",
];

/// Functions by which names may be looked up by their texts.
const BY_TEXT: [&str; 5] = ["eval", "exec", "globals", "locals", "vars"];

/// Whether a module may look its names up by their texts: `eval(…)`, `builtins.eval(…)`, `frame.eval(…)`, or `eval` as a
/// value. A word of its prose does not.
pub(crate) fn looks_up_names(text: &str, analysis: &Analysis) -> bool {
    let mut links = analysis.uses.iter().flat_map(|used| &used.chain);
    links.any(|link| BY_TEXT.contains(&link.text.as_str()))
        || BY_TEXT.iter().any(|word| {
            let called = format!(".{word}(");
            memchr::memmem::find(text.as_bytes(), called.as_bytes()).is_some()
        })
}

/// What of `inspect` asks for no name of a module and for no text of a function.
const INSPECTED: [&str; 16] = [
    "Parameter",
    "Signature",
    "cleandoc",
    "currentframe",
    "getdoc",
    "getfullargspec",
    "getouterframes",
    "isabstract",
    "isawaitable",
    "isclass",
    "iscoroutinefunction",
    "isfunction",
    "isgeneratorfunction",
    "ismethod",
    "ismodule",
    "signature",
];

/// Whether `inspect` may read what a function is made of, or the names of a module.
fn is_inspected(text: &str, analysis: &Analysis) -> bool {
    let mut uses = analysis.uses.iter().map(|used| used.chain.as_slice());
    occurrences_of_word(text, "inspect")
        && (uses.any(|chain| match chain {
            [module, function, ..] if module.text == "inspect" => {
                !INSPECTED.contains(&function.text.as_str())
            }
            [module] => module.text == "inspect",
            _ => false,
        }) || analysis.imports.iter().any(|(import, _)| {
            let from = import.from.as_ref();
            from.is_some_and(|from| from.module == "inspect")
                || import
                    .leaves
                    .iter()
                    .any(|leaf| leaf.name.text == "inspect" && leaf.bound() != "inspect")
        }))
}

/// The import statement at a place.
pub(super) fn import_at(analysis: &Analysis, span: ByteSpan) -> Option<&ImportStatement> {
    let mut imports = analysis.imports.iter().map(|(import, _)| import);
    imports.find(|import| import.span == span)
}

/// The edits of a text, when it can be done.
pub fn inside_functions(text: &str, span: ByteSpan) -> Option<Vec<Edit>> {
    let analysis = Analysis::new(text);
    let import = import_at(&analysis, span)?;
    let looked_at = LOOKED_AT.iter().any(|word| occurrences_of_word(text, word));
    if looked_at || looks_up_names(text, &analysis) || is_inspected(text, &analysis) {
        return None;
    }
    let outline = Outline::new(text);
    let mut inserted: BTreeMap<BodyStart, Vec<&Leaf>> = BTreeMap::new();
    for leaf in &import.leaves {
        for entry in entries(text, (&analysis, &outline), leaf)? {
            inserted.entry(entry).or_default().push(leaf);
        }
    }
    let newline = cut::newline(text);
    let mut edits = vec![Edit::delete(own_lines(text, &outline, import)?)];
    edits.extend(inserted.into_iter().map(|(entry, leaves)| {
        let statement = spelled(text, import, (&entry.indentation, &leaves));
        let blank = blank_before(text, entry.at);
        let lines = format!("{}{blank}", entry.text(&statement));
        Edit::insert(entry.at, lines.replace('\n', newline))
    }));
    Some(edits)
}

/// The blank line between an import and a definition that follows it.
fn blank_before(text: &str, at: u32) -> &'static str {
    let rest = text.get(at as usize..).unwrap_or_default().trim_start();
    let apart = ["def ", "async def ", "class ", "@"];
    match apart.iter().any(|head| rest.starts_with(head)) {
        true => "\n",
        false => "",
    }
}

/// Where the functions begin that use what a leaf binds.
fn entries(
    text: &str,
    (analysis, outline): (&Analysis, &Outline),
    leaf: &Leaf,
) -> Option<Vec<BodyStart>> {
    let name = leaf.bound();
    if !is_bound_once(text, (analysis, outline), name) {
        return None;
    }
    let mut entries: Vec<BodyStart> = Vec::new();
    for used in &analysis.uses {
        let Some(root) = used.chain.first().filter(|root| root.text == name) else {
            continue;
        };
        if analysis.binding_scope(used.scope, name) != Some(0) {
            continue;
        }
        let entry = entry_for(text, outline, used, root.span)?;
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    (!entries.is_empty()).then_some(entries)
}

/// Whether an import alone binds a name, and no text says it.
fn is_bound_once(text: &str, (analysis, outline): (&Analysis, &Outline), name: &str) -> bool {
    let declared = outline.globals.iter().any(|(_, global)| global == name);
    let bound = analysis.bindings(0, name).len();
    let mut strings = analysis.strings.iter();
    let quoted = strings.any(|string| {
        let text = string.span.of(text).unwrap_or_default();
        text.trim_matches(['"', '\'']) == name
            || (text.contains(">>>") && occurrences_of_word(text, name))
    });
    !declared && bound == 1 && !quoted
}

/// Where the function begins that a use stands in, if that may import for itself.
fn entry_for(text: &str, outline: &Outline, used: &Use, root: ByteSpan) -> Option<BodyStart> {
    let mut functions = outline.functions.iter();
    let function = functions.find(|function| function.span.contains(root))?;
    let entry = function.entry.clone()?;
    // Decorators and defaults stand before the body.
    let before = used.annotation || used.store || root.start < entry.at;
    (!before && is_plain(text, function)).then_some(entry)
}

/// Whether nothing but Python itself reads the body of a function.
fn is_plain(text: &str, function: &Function) -> bool {
    let lines = function.span.of(text).unwrap_or_default().lines();
    let above = lines.map(str::trim).take_while(|line| {
        let heads = ["def ", "async def "];
        !heads.iter().any(|head| line.starts_with(head))
    });
    let mut decorators = above.filter(|line| !line.is_empty() && !line.starts_with('#'));
    decorators.all(|line| PLAIN.contains(&line))
}

/// The lines of a statement that shares them with nothing else, with blank ones that would be too many without it.
fn own_lines(text: &str, outline: &Outline, import: &ImportStatement) -> Option<ByteSpan> {
    whole_lines(text, outline, import).map(|lines| cut::with_blanks(text, lines))
}

/// The lines of a statement that shares them with nothing else.
pub(super) fn whole_lines(
    text: &str,
    outline: &Outline,
    import: &ImportStatement,
) -> Option<ByteSpan> {
    let mut statements = outline.statements.iter();
    let statement = statements.find(|each| each.span.contains(import.span))?;
    let start = cut::line_start(text, statement.span.start);
    let before = text.get(start as usize..statement.span.start as usize)?;
    let end = cut::line_end(text, statement.span.end);
    let tail = text.get(statement.span.end as usize..end as usize)?.trim();
    let alone = before.is_empty() && (tail.is_empty() || tail.starts_with('#'));
    (statement.kind == Kind::Import && alone).then(|| ByteSpan::new(start, end))
}

/// The statement with these of its names.
fn spelled(
    text: &str,
    import: &ImportStatement,
    (indentation, leaves): (&str, &[&Leaf]),
) -> String {
    let names: Vec<&str> = leaves
        .iter()
        .map(|leaf| leaf.span.of(text).unwrap_or_default())
        .collect();
    match &import.from {
        None => format!("import {}", names.join(", ")),
        Some(from) => from_line(from.span.of(text).unwrap_or_default(), indentation, &names),
    }
}

/// A `from` statement, laid out one name below the other where its line would be too long.
pub(super) fn from_line(module: &str, indentation: &str, names: &[&str]) -> String {
    let line = format!("from {module} import {}", names.join(", "));
    if indentation.len() + line.len() <= LINE || names.len() == 1 {
        return line;
    }
    let entries: Vec<String> = names
        .iter()
        .map(|name| format!("{indentation}    {name},\n"))
        .collect();
    format!("from {module} import (\n{}{indentation})", entries.concat())
}
