//! A module and a name of it that are told apart, as strings: `("pkg.a", "worker")`, and code in strings that runs
//! (`exec`). Neither is a name that could be followed.

use coalesce_model::{ByteSpan, Change, ModuleKind, Subject, UnprovenKind};

use super::file::{File, FileEdits};
use crate::{
    analysis::LazyForm,
    names::{code_before, is_word, occurrences_of_word},
};

const READ_BY_TEXTS: &str =
    "a module named in a text, in a file that imports by texts; what is read of it is not known";
const SHIM_LOSES: &str = "this shim leads to the module that it leaves, and not to it any more: `shim = true` of the entry keeps it there for the shim, too";

/// Whether a file is what a migration left of a module.
fn is_shim(file: &File<'_>) -> bool {
    let modules = &file.mapping.graph.modules;
    let own = file.module.and_then(|module| modules.get(module));
    own.is_some_and(|own| own.kind == ModuleKind::Shim)
}

/// Tells where a file has both the name of a module that an item leaves and that of the item, and where code in
/// a string imports what changes.
pub fn doubt(file: &File<'_>, found: &mut FileEdits) {
    let strings = texts_of(file);
    let mut runners = ["exec(", "eval(", "compile("].iter();
    let runs = runners.any(|word| file.text.contains(word));
    for change in file.mapping.named_in(file.text) {
        let Some((above, last)) = change.from.rsplit_once('.') else {
            continue;
        };
        if change.subject == Subject::Item && change.shim.is_none() {
            read_by_text(file, &strings, (above, last), change, found);
        }
        // A short name is a word as well.
        let beside = above.contains('.') && strings.iter().any(|(_, text)| *text == above);
        if beside && change.subject == Subject::Item && change.kind.carries_text() {
            by_text(file, &strings, (above, change), found);
        }
        for (span, text) in &strings {
            let known = found.told.not_rewritten.iter();
            let known = known.map(|each| each.span).any(|each| each == *span);
            let why = if beside && *text == last {
                "its module stands in another string; both together may name it"
            } else if runs && text.contains("import ") && text.contains(last) {
                "code in a string that may import it"
            } else {
                continue;
            };
            if !known && !found.covered(*span) {
                found.leave_open(*span, &change.from, why);
            }
        }
    }
}

/// What the literals of a file say that are no documentation, no types, and no entries of a table that is read as imports.
fn texts_of<'t>(file: &File<'t>) -> Vec<(ByteSpan, &'t str)> {
    let strings = file.analysis().strings.iter();
    let tabled = loads_by_tables(file);
    strings
        .filter(|string| !string.documentation && !string.annotation)
        .filter(|string| !(tabled && is_entry(file, string.span)))
        .filter_map(|string| Some((string.span, string.span.of(file.text)?)))
        .collect()
}

/// Tells where an item is read of what a text names: `import_module("pkg.old").f`, `sys.modules["pkg.old"]`,
/// `old.__dict__["f"]`, `attrgetter("old.f")`. The names of modules follow there, those of items do not.
fn read_by_text(
    file: &File<'_>,
    strings: &[(ByteSpan, &str)],
    (module, item): (&str, &str),
    change: &Change,
    found: &mut FileEdits,
) {
    if !occurrences_of_word(file.text, item) {
        return;
    }
    let stem = module.rsplit('.').next().unwrap_or(module);
    for (span, text) in strings {
        let of_module = *text == module && is_read_of_module(file.text, *span, item);
        let before = code_before(file.text, span.start);
        let of_names = *text == item && before.ends_with("__dict__[");
        let of_chain = before.ends_with("attrgetter(") && ends_with_chain(text, stem, item);
        if of_module || of_names || of_chain {
            let why = "it is read of a module by a text; what is read so does not follow";
            let kind = UnprovenKind::DynamicImport;
            found.told.doubt(*span, kind, &change.from, why);
        }
    }
}

/// Whether a text ends with `stem.item`.
fn ends_with_chain(text: &str, stem: &str, item: &str) -> bool {
    let chain = text
        .strip_suffix(item)
        .and_then(|text| text.strip_suffix('.'));
    chain.is_some_and(|chain| chain.rsplit('.').next() == Some(stem))
}

/// Whether a module is imported by a text, and no other name than this one is read of it at once.
fn is_read_of_module(text: &str, literal: ByteSpan, item: &str) -> bool {
    let after = text.get(literal.end as usize..).unwrap_or_default();
    let after = after.trim_start_matches(['"', '\'']).trim_start();
    // Another attribute that is read at once is none of the item's.
    let other = after.strip_prefix([')', ']']).and_then(|after| {
        let name = after.strip_prefix('.')?.split(|c| !is_word(c)).next()?;
        Some(name != item)
    });
    let before = code_before(text, literal.start);
    let mut calls = ["import_module(", "__import__(", "run_module(", "modules["].iter();
    calls.any(|call| before.ends_with(call)) && other != Some(true)
}

/// Tells where a module that a definition leaves is named in a text of a file that imports by texts: what is read of it
/// there is not known.
fn by_text(
    file: &File<'_>,
    strings: &[(ByteSpan, &str)],
    (module, change): (&str, &Change),
    found: &mut FileEdits,
) {
    let by_variable = imports_by_variable(file.text);
    if !by_variable || change.shim.is_some() {
        return;
    }
    let named = strings.iter().map(|(span, text)| (*span, *text));
    let named: Vec<_> = named
        .filter(|(span, text)| *text == module && !found.covered(*span))
        .collect();
    let why = match is_shim(file) {
        true => SHIM_LOSES,
        false => READ_BY_TEXTS,
    };
    for (span, _) in named {
        found
            .told
            .doubt(span, UnprovenKind::DynamicImport, &change.from, why);
    }
}

/// Whether a file imports by a text that is no literal.
fn imports_by_variable(text: &str) -> bool {
    imports_by_variables(text).next().is_some()
}

/// The calls of a file that import by a text that is no literal.
fn imports_by_variables(text: &str) -> impl Iterator<Item = usize> {
    let imports = [
        "import_module(",
        "__import__(",
        "import_string(",
        "run_module(",
    ];
    imports.into_iter().flat_map(move |word| {
        let calls = text.match_indices(word).map(|(at, _)| at);
        calls.filter(move |at| {
            let argument = text.get(at + word.len()..).unwrap_or_default();
            !argument.trim_start().starts_with(['"', '\''])
        })
    })
}

/// Whether all that a file imports by a variable is what its `__getattr__` looks up in tables that are read whole.
fn loads_by_tables(file: &File<'_>) -> bool {
    let analysis = file.analysis();
    let lazy = &analysis.lazy;
    if lazy.imports.is_empty() || !lazy.unknown.is_empty() || !lazy.perhaps.is_empty() {
        return false;
    }
    let mut definitions = analysis.definitions.iter();
    let asked = definitions.find(|each| each.class.is_none() && each.name == "__getattr__");
    asked.is_some_and(|asked| {
        imports_by_variables(file.text).all(|at| asked.span.contains(ByteSpan::from_range(at..at)))
    })
}

/// Whether a literal is the name, or the module, of an entry of a table that is read as imports.
fn is_entry(file: &File<'_>, literal: ByteSpan) -> bool {
    let mut imports = file.analysis().lazy.imports.iter();
    imports.any(|each| {
        let from = each.import.from.as_ref().map(|from| from.span);
        let names = each.import.leaves.iter().flat_map(|leaf| {
            let alias = leaf.alias.as_ref().map(|alias| alias.span);
            alias.into_iter().chain([leaf.name.span])
        });
        matches!(each.form, LazyForm::Module(_))
            && from.into_iter().chain(names).any(|span| span == literal)
    })
}
