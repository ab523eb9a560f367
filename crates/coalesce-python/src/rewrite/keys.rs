//! Texts that read like the name of a module and may be something else: keys, and what is compared with data. And
//! names as regular expressions have them.

use coalesce_model::{ByteSpan, Edit, Form, UnprovenKind};

use crate::{
    names::{is_word, last_word, occurrences},
    rewrite::file::{File, FileEdits, Reference},
};

/// Words before `[` that are no names.
const KEYWORDS: [&str; 12] = [
    "and", "await", "else", "if", "in", "is", "lambda", "not", "or", "return", "yield", "case",
];

/// Methods whose first argument is a key, or a beginning of one.
const KEYED: [&str; 6] = [
    "get",
    "pop",
    "setdefault",
    "startswith",
    "endswith",
    "has_key",
];

/// Doubts a text that follows a move, where it is a key of something other than the modules, or is held against what
/// need not be the name of one.
pub fn doubt(file: &File<'_>, span: ByteSpan, name: &str, found: &mut FileEdits) {
    let before = file.text.get(..span.start as usize).unwrap_or_default();
    let after = file.text.get(span.end as usize..).unwrap_or_default();
    if is_other(before, after) {
        let why = "it reads like the name of what changes, and follows; here it may be a key, or part of the data";
        found
            .told
            .doubt(span, UnprovenKind::RuntimeTable, name, why);
    }
}

/// Whether a text between these two is a key of, or is compared with, something that need not be a module.
fn is_other(before: &str, after: &str) -> bool {
    let quotes = ['"', '\''];
    let before = before.trim_end_matches(quotes);
    let before = before
        .strip_suffix(['r', 'R', 'u', 'U'])
        .unwrap_or(before)
        .trim_end();
    let after = after.trim_start_matches(quotes).trim_start();
    if let Some(owner) = before.strip_suffix('[') {
        let owner = owner.trim_end();
        let name = last_word(owner);
        let is_key = owner.ends_with([')', ']']) || !name.is_empty() && !KEYWORDS.contains(&name);
        return is_key && after.starts_with(']') && !is_of_modules(name);
    }
    if let Some(call) = before.strip_suffix('(') {
        let method = last_word(call);
        let Some(owner) = call
            .strip_suffix(method)
            .and_then(|rest| rest.strip_suffix('.'))
        else {
            return false;
        };
        return KEYED.contains(&method) && !is_of_modules(last_word(owner));
    }
    let compared = before
        .strip_suffix("==")
        .or_else(|| before.strip_suffix("!="));
    let right = after
        .strip_prefix("==")
        .or_else(|| after.strip_prefix("!="));
    match (compared, right) {
        (Some(left), _) => !is_of_modules(last_word(left.trim_end())),
        (_, Some(right)) => !is_of_modules(first_chain_end(right.trim_start())),
        _ => false,
    }
}

/// The last name of the chain that a text begins with.
fn first_chain_end(text: &str) -> &str {
    let end = text
        .find(|c: char| !is_word(c) && c != '.')
        .unwrap_or(text.len());
    last_word(text.get(..end).unwrap_or_default())
}

/// Whether something of this name has to do with modules.
fn is_of_modules(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = [
        "mod", "package", "pkg", "logger", "qualname", "fullname", "import", "path", "dotted",
        "__name__",
    ];
    words.iter().any(|word| name.contains(word))
}

/// Names as regular expressions have them: `pkg\.old`.
pub fn expressions(file: &File<'_>, within: ByteSpan, found: &mut FileEdits) {
    let content = within.of(file.text).unwrap_or_default();
    if !content.contains("\\.") {
        return;
    }
    for change in file.mapping.named_in(content) {
        for dot in ["\\\\.", "\\."] {
            let from = change.from.replace('.', dot);
            if from == change.from {
                continue;
            }
            for at in occurrences(content, &from) {
                let start = (within.start + at.start) as usize;
                let span = ByteSpan::from_range(start..start + from.len());
                if found.covered(span) {
                    continue;
                }
                let to = change.to.replace('.', dot);
                let reason = "a full name in a regular expression";
                let reference = Reference::exact(Form::String, &from, &to, reason);
                found.change(Edit::replace(span, to.as_str()), reference.needs_review());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_comparisons_are_told_from_names_of_modules() {
        for (text, expected) in [
            ("state[\"@\"]", true),
            ("load()['@']", true),
            ("sys.modules[\"@\"]", false),
            ("modules.get(\"@\")", false),
            ("weights.get(\"@\", 0)", true),
            ("for x in [\"@\"]:", false),
            ("names = [\"@\"]", false),
            ("if key == \"@\":", true),
            ("if f.__module__ == \"@\":", false),
            ("if \"@\" == key:", true),
            ("if \"@\" != cls.__module__:", false),
            ("key.startswith(\"@\")", true),
            ("import_module(\"@\")", false),
            ("patch(\"@\")", false),
        ] {
            let (before, after) = text.split_once('@').unwrap_or_default();
            assert_eq!(is_other(before, after), expected, "{text}");
        }
    }
}
