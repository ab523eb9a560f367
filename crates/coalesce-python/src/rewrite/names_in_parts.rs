//! A module and a name of it that are told apart, as strings: `("pkg.a", "worker")`, and code in strings that runs
//! (`exec`). Neither is a name that could be followed.

use coalesce_model::{ByteSpan, Change, Form, ModuleKind, Subject, UnprovenKind};

use super::file::{File, FileEdits};
use crate::names::{is_word, occurrences_of_word};

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
    let strings = file.analysis().strings.iter();
    let strings: Vec<(ByteSpan, &str)> = strings
        .filter(|string| !string.documentation && !string.annotation)
        .filter_map(|string| Some((string.span, string.span.of(file.text)?)))
        .collect();
    let runs = ["exec(", "eval(", "compile("]
        .iter()
        .any(|word| file.text.contains(word));
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
            let told = beside && *text == last;
            let code = runs && text.contains("import ") && text.contains(last);
            let known = found
                .told
                .not_rewritten
                .iter()
                .any(|each| each.span == *span);
            if (told || code) && !known && !found.covered(*span) {
                let why = if told {
                    "its module stands in another string; both together may name it"
                } else {
                    "code in a string that may import it"
                };
                found.told.leave(*span, Form::String, &change.from, why);
                found
                    .told
                    .doubt(*span, UnprovenKind::DynamicImport, &change.from, why);
            }
        }
    }
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
    let behind_module = |text: &str| {
        let chain = text
            .strip_suffix(item)
            .and_then(|text| text.strip_suffix('.'));
        chain.is_some_and(|chain| chain.rsplit('.').next() == Some(stem))
    };
    for (span, text) in strings {
        let quotes = ['"', '\''];
        let before = file.text.get(..span.start as usize).unwrap_or_default();
        let before = before.trim_end_matches(quotes).trim_end();
        let after = file.text.get(span.end as usize..).unwrap_or_default();
        let after = after.trim_start_matches(quotes).trim_start();
        let calls = ["import_module(", "__import__(", "modules["];
        // Another attribute that is read at once is none of the item's.
        let other = after.strip_prefix([')', ']']).and_then(|after| {
            let name = after.strip_prefix('.')?.split(|c| !is_word(c)).next()?;
            Some(name != item)
        });
        let of_module = *text == module && calls.iter().any(|call| before.ends_with(call));
        let of_names = *text == item && before.ends_with("__dict__[");
        let of_chain = before.ends_with("attrgetter(") && behind_module(text);
        if of_module && other != Some(true) || of_names || of_chain {
            let why = "it is read of a module by a text; what is read so does not follow";
            found
                .told
                .doubt(*span, UnprovenKind::DynamicImport, &change.from, why);
        }
    }
}

/// Tells where a module that a definition leaves is named in a text of a file that imports by texts: what is read of it
/// there is not known.
fn by_text(
    file: &File<'_>,
    strings: &[(ByteSpan, &str)],
    (module, change): (&str, &Change),
    found: &mut FileEdits,
) {
    let imports = [
        "import_module(",
        "__import__(",
        "import_string(",
        "run_module(",
    ];
    let by_variable = imports.iter().any(|word| {
        let mut calls = file.text.match_indices(word);
        calls.any(|(at, _)| {
            let argument = file.text.get(at + word.len()..).unwrap_or_default();
            !argument.trim_start().starts_with(['"', '\''])
        })
    });
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
