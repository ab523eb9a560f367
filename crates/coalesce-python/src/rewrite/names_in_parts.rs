//! A module and a name of it that are told apart, as strings: `("pkg.a", "worker")`, and code in strings that runs
//! (`exec`). Neither is a name that could be followed.

use coalesce_model::{ByteSpan, Form, UnprovenKind};

use super::file::{File, FileEdits};

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
    for change in file.mapping.all {
        let Some((above, last)) = change.from.rsplit_once('.') else {
            continue;
        };
        // A short name is a word as well.
        let beside = above.contains('.') && strings.iter().any(|(_, text)| *text == above);
        for (span, text) in &strings {
            let told = beside && *text == last;
            let code = runs && text.contains("import ") && text.contains(last);
            let known = found.not_rewritten.iter().any(|each| each.span == *span);
            if (told || code) && !known && !found.covered(*span) {
                let why = if told {
                    "its module stands in another string; both together may name it"
                } else {
                    "code in a string that may import it"
                };
                found.leave(*span, Form::String, &change.from, why);
                found.doubt(*span, UnprovenKind::DynamicImport, &change.from, why);
            }
        }
    }
}
